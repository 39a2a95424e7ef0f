/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send_raw_test.c - golden bytes of frames on raw packet QPs, through both entry points: with
 * and without a header in the WQE, TSO, checksums; and what a received frame says about its
 * checksums.
 *
 * Covers: providers/mlx5/data/post_send_raw.c, providers/mlx5/data/send_wr_raw.c,
 * providers/mlx5/data/raw.h
 */
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/send_wqe.h"
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "tests/lib/frame_wr.h"
#include "util/bits.h"

static uint8_t frame[64];

#define HEADER " 0001 02030405 06070809 0a0b0c0d 0e0f1011"

static struct rig *raw_rig(uint32_t sq_pi, uint32_t min_header)
{
	struct rig *rig = rig_new(&(struct rig_options){
		.sq_pi = sq_pi, .type = IBV_QPT_RAW_PACKET, .bf_max = 4 * WQE_BB });

	for (unsigned int i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)i;
	rig->qp->min_header = min_header;
	rig->qp->max_tso_header = 128;
	rig->qp->rq.checksums = true;
	return rig;
}

static int frame_post(struct rig *rig, unsigned int flags, uint32_t first, uint32_t second)
{
	struct ibv_sge sges[] = {
		{ .addr = (uintptr_t)frame, .length = first, .lkey = 0x42 },
		{ .addr = (uintptr_t)frame + first, .length = second, .lkey = 0x43 }
	};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = flags, .sg_list = sges };
	struct ibv_send_wr *bad;

	wr.num_sge = second ? 2 : 1;
	return mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad);
}

static void a_newer_device_needs_no_header(void **state)
{
	struct rig *rig = raw_rig(0, 0);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(frame_post(rig, IBV_SEND_SIGNALED, 64, 0), 0);
	check_bytes(rig_sq(rig, 0), "0000000a 12345603 00000008 00000000"
				    " 00000000 00000000 00000000 00000000 00000040 00000042");
	qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 0x42, (uintptr_t)frame, 64);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 1), "0000010a 12345603 00000008 00000000"
				    " 00000000 c0000000 00000000 00000000 00000040 00000042");
	rig_free(rig);
}

static void an_older_device_has_the_header_in_the_wqe(void **state)
{
	struct rig *rig = raw_rig(0, 18);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	const struct ibv_sge sges[] = {
		{ .addr = (uintptr_t)frame, .length = 10, .lkey = 0x42 },
		{ .addr = (uintptr_t)frame + 10, .length = 54, .lkey = 0x43 }
	};

	(void)state;
	/* The header takes the first buffer and the start of the second, since 18 bytes go inline
	 * and the first has only 10. */
	assert_int_equal(frame_post(rig, 0, 10, 54), 0);
	check_bytes(rig_sq(rig, 0), "0000000a 12345604 00000000 00000000"
				    " 00000000 00000000 00000000 0012" HEADER " 0000002e 00000043");
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, 2, sges);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 1), "0000010a 12345604 00000000 00000000"
				    " 00000000 00000000 00000000 0012" HEADER " 0000002e 00000043");
	assert_int_equal(frame_post(rig, 0, 17, 0), EINVAL);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 0x42, (uintptr_t)frame, 17);
	assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	rig_free(rig);
}

static void an_inline_frame_is_header_and_rest(void **state)
{
	struct rig *rig = raw_rig(7, 18);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(frame_post(rig, IBV_SEND_INLINE, 20, 20), 0);
	check_bytes(rig_sq(rig, 7), "0000070a 12345605 00000000 00000000"
				    " 00000000 00000000 00000000 0012" HEADER
				    " 80000016 12131415 16171819 1a1b1c1d");
	check_bytes(rig_sq(rig, 8), "1e1f2021 22232425 26270000");
	rig_free(rig);

	rig = raw_rig(7, 18);
	qpx = &rig->qp->vqp.qp_ex;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, frame, 40);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 7), "0000070a 12345605 00000000 00000000"
				    " 00000000 00000000 00000000 0012" HEADER
				    " 80000016 12131415 16171819 1a1b1c1d");
	check_bytes(rig_sq(rig, 8), "1e1f2021 22232425 26270000");
	rig_free(rig);
}

/* 54 bytes of headers start at byte 14 of the segment: 20 of them wrap to the start of the ring. */
static void tso_headers_go_over_the_end_of_the_ring(void **state)
{
	struct rig *rig = raw_rig(7, 0);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_sge sge = { .addr = 0x1000, .length = 0x4000, .lkey = 0x42 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO, .sg_list = &sge, .num_sge = 1 }, *bad;

	(void)state;
	wr.tso.hdr = frame;
	wr.tso.hdr_sz = 54;
	wr.tso.mss = 1460;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 7), "0000070e 12345607 00000000 00000000"
				    " 00000000 000005b4 00000000 0036" HEADER
				    " 12131415 16171819 1a1b1c1d 1e1f2021");
	check_bytes(rig_sq(rig, 8), "22232425 26272829 2a2b2c2d 2e2f3031");
	check_bytes(rig_sq(rig, 8) + 32, "00004000 00000042 00000000 00001000");
	rig_free(rig);

	rig = raw_rig(7, 0);
	qpx = &rig->qp->vqp.qp_ex;
	ibv_wr_start(qpx);
	ibv_wr_send_tso(qpx, frame, 54, 1460);
	ibv_wr_set_sge(qpx, 0x42, 0x1000, 0x4000);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 7), "0000070e 12345607 00000000 00000000"
				    " 00000000 000005b4 00000000 0036" HEADER);
	check_bytes(rig_sq(rig, 8) + 32, "00004000 00000042 00000000 00001000");
	ibv_wr_start(qpx);
	ibv_wr_send_tso(qpx, frame, 129, 1460);
	ibv_wr_set_sge(qpx, 0x42, 0x1000, 0x4000);
	assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	rig_free(rig);
}

static int frame_build(struct rig *rig, const struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	frame_wr_begin(qpx, wr);
	ibv_wr_set_sge(qpx, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length);
	return ibv_wr_complete(qpx);
}

static void assert_all_ways_alike(const struct ibv_send_wr *like, uint32_t at, uint32_t min_header)
{
	struct rig *one = raw_rig(at, min_header), *list = raw_rig(at, min_header);
	struct rig *built = raw_rig(at, min_header);
	const size_t size = (size_t)(built->qp->sq.end - built->qp->sq.buf);
	struct ibv_send_wr wr = *like, next = *like, *bad;
	struct ibv_wc wc;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(mlx5_post_send(&one->qp->vqp.qp, &wr, &bad), 0);
		assert_int_equal(frame_build(built, &wr), 0);
	}
	wr.next = &next;
	assert_int_equal(mlx5_post_send(&list->qp->vqp.qp, &wr, &bad), 0);
	assert_memory_equal(one->qp->sq.buf, built->qp->sq.buf, size);
	assert_memory_equal(list->qp->sq.buf, built->qp->sq.buf, size);
	assert_memory_equal(one->uar, built->uar, RIG_PAGE);
	assert_int_equal(rig_dbrec(one, MLX5_SND_DBR), rig_dbrec(built, MLX5_SND_DBR));
	assert_int_equal(rig_dbrec(list, MLX5_SND_DBR), rig_dbrec(built, MLX5_SND_DBR));
	rig_complete(one, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ, .wqe_counter = (uint16_t)at });
	assert_int_equal(mlx5_poll_cq(&one->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, like->wr_id);
	assert_int_equal(wc.opcode, like->opcode == IBV_WR_TSO ? IBV_WC_TSO : IBV_WC_SEND);
	assert_int_equal(one->qp->sq.wq.tail, at + 1);
	rig_free(one);
	rig_free(list);
	rig_free(built);
}

static void all_ways_put_the_same_frame(void **state)
{
	struct ibv_sge sge = { .addr = (uintptr_t)frame, .length = sizeof(frame), .lkey = 0x42 };
	struct ibv_send_wr wr = {
		.wr_id = 0x77, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1
	};

	(void)state;
	for (unsigned int flags = 0; flags < 32; flags++) {
		wr.send_flags = flags & ~(unsigned int)IBV_SEND_INLINE;
		for (sge.length = 17; sge.length < 21; sge.length++) {
			assert_all_ways_alike(&wr, flags % 8, 0);
			if (sge.length >= 18)
				assert_all_ways_alike(&wr, flags % 8, 18);
		}
	}
}

static void all_ways_put_the_same_large_send(void **state)
{
	struct ibv_sge sge = { .addr = 0x1000, .length = 0x4000, .lkey = 0x42 };
	struct ibv_send_wr wr = {
		.wr_id = 0x78, .opcode = IBV_WR_TSO, .sg_list = &sge, .num_sge = 1
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)i;
	wr.tso.hdr = frame;
	wr.tso.mss = 1460;
	for (uint16_t size = 14; size <= sizeof(frame); size++) {
		wr.tso.hdr_sz = size;
		wr.send_flags = size & 1 ? IBV_SEND_SIGNALED : IBV_SEND_IP_CSUM;
		for (uint32_t at = 4; at < 8; at++)
			assert_all_ways_alike(&wr, at, size & 2 ? 18 : 0);
	}
}

static void frames_that_cannot_be_sent_are_refused(void **state)
{
	struct ibv_sge sge = { .addr = (uintptr_t)frame, .length = 60, .lkey = 0x42 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_IP_CSUM,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .tso = { frame, 54, 100 } },
			   *bad;
	struct rig *rig = raw_rig(0, 18);

	(void)state;
	rig->qp->rq.checksums = false;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
	wr.opcode = IBV_WR_TSO;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
	wr.send_flags = 0;
	rig->qp->max_tso_header = 53;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
	wr.opcode = IBV_WR_SEND;
	sge.length = 17;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
	assert_int_equal(rig->qp->sq.pi, 0);
	sq_permit(&rig->qp->sq, false);
	sge.length = 60;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), ENOMEM);
	sq_permit(&rig->qp->sq, true);
	for (int i = 0; i < 8; i++)
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), ENOMEM);
	rig_free(rig);
}

/* If the device needs no inline header, the library refuses headers shorter than Ethernet's and
 * empty frames itself. */
static void frames_without_ethernet_headers_are_refused(void **state)
{
	struct rig *rig = raw_rig(0, 0);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_sge sge = { .addr = (uintptr_t)frame, .length = 60, .lkey = 0x42 }, empty = sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO, .sg_list = &sge, .num_sge = 1 }, *bad;

	(void)state;
	wr.tso.hdr = frame;
	for (wr.tso.hdr_sz = 0; wr.tso.hdr_sz < 14; wr.tso.hdr_sz++) {
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
		ibv_wr_start(qpx);
		ibv_wr_send_tso(qpx, frame, wr.tso.hdr_sz, 100);
		ibv_wr_set_sge(qpx, sge.lkey, sge.addr, sge.length);
		assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	}
	empty.length = 0;
	for (int i = 0; i < 3; i++) {
		wr = (struct ibv_send_wr){ .opcode = IBV_WR_SEND, .sg_list = &empty };
		wr.num_sge = i > 0;
		wr.send_flags = i > 1 ? IBV_SEND_INLINE : 0;
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
		ibv_wr_start(qpx);
		ibv_wr_send(qpx);
		if (i > 1)
			ibv_wr_set_inline_data(qpx, frame, 0);
		else
			ibv_wr_set_sge_list(qpx, (size_t)wr.num_sge, &empty);
		assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	}
	assert_int_equal(rig->qp->sq.pi, 0);
	rig_free(rig);
}

static const struct checksums {
	uint8_t hds_ip_ext, l4_hdr_type_etc;
	bool ok;
} checksums[] = { { 0x06, 0x08, true },  { 0x06, 0x04, false }, { 0xff, 0xfb, true },
		  { 0x02, 0x08, false }, { 0x04, 0x08, false }, { 0x00, 0x00, false } };

static void frame_receive(struct rig *rig, const struct checksums *sums, uint64_t wr_id)
{
	const uint32_t entry = rig->cq_pi % (rig->cq->mask + 1);
	struct ibv_sge sge = { .addr = 0x1000, .length = 0x10, .lkey = 1 };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
					     .byte_cnt = 60,
					     .flags_rqpn = 1 << 28 });
	((uint8_t *)rig->cq->buf.addr)[entry * 64 + 28] = sums->hds_ip_ext;
	((uint8_t *)rig->cq->buf.addr)[entry * 64 + 29] = sums->l4_hdr_type_etc;
}

static void assert_frame(const struct ibv_wc *wc, const struct checksums *sums, uint64_t wr_id)
{
	assert_int_equal(wc->status, IBV_WC_SUCCESS);
	assert_int_equal(wc->opcode, IBV_WC_RECV);
	assert_int_equal(wc->wr_id, wr_id);
	assert_int_equal(wc->byte_len, 60);
	assert_int_equal(wc->wc_flags, IBV_WC_GRH | (sums->ok ? IBV_WC_IP_CSUM_OK : 0));
}

static struct rig *checking_rig(uint8_t special)
{
	struct rig *rig = raw_rig(0, 0);

	rig->qp->rq.special = special;
	return rig;
}

static void only_right_checksums_of_ipv4_are_said_to_be_so(void **state)
{
	(void)state;
	for (uint8_t special = RQ_CHECKED; special <= RQ_OTHER; special++) {
		struct rig *rig = checking_rig(special);
		struct ibv_wc wc;

		for (unsigned int i = 0; i < 4 * ARRAY_SIZE(checksums); i++) {
			const struct checksums *sums = &checksums[i % ARRAY_SIZE(checksums)];

			frame_receive(rig, sums, i);
			assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
			assert_frame(&wc, sums, i);
		}
		rig_free(rig);
	}
}

/* Runs of sends and of frames alternate, so the loops of the two kinds call each other. */
static void frames_and_sends_complete_in_one_poll(void **state)
{
	struct rig *rig = checking_rig(RQ_CHECKED);
	struct ibv_wc wc[8];

	(void)state;
	for (unsigned int round = 0; round < 16; round++) {
		const unsigned int sends = round & 3;

		for (unsigned int i = 0; i < sends; i++) {
			const uint16_t at = (uint16_t)rig->qp->sq.pi;

			assert_int_equal(frame_post(rig, IBV_SEND_SIGNALED, 64, 0), 0);
			rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ,
							     .wqe_counter = at });
		}
		for (unsigned int i = 0; i < 4; i++)
			frame_receive(rig, &checksums[i], i);
		assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 8, wc), sends + 4);
		for (unsigned int i = 0; i < sends; i++) {
			assert_int_equal(wc[i].opcode, IBV_WC_SEND);
			assert_int_equal(wc[i].wc_flags, 0);
		}
		for (unsigned int i = 0; i < 4; i++)
			assert_frame(&wc[sends + i], &checksums[i], i);
	}
	rig_free(rig);
}

/* A frame inside its CQE and an error leave the fast loop, as it handles neither; later frames
 * enter it again. */
static void what_is_no_usual_frame_is_taken_among_them(void **state)
{
	struct rig *rig = checking_rig(RQ_CHECKED);
	uint8_t to[16] = { 0 };
	struct ibv_sge sge = { .addr = (uintptr_t)to, .length = sizeof(to), .lkey = 1 };
	struct ibv_recv_wr wr = { .wr_id = 9, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_wc wc;

	(void)state;
	for (int i = 0; i < 4; i++) {
		frame_receive(rig, &checksums[0], 5);
		assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
		assert_frame(&wc, &checksums[0], 5);
		assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
		if (i & 1)
			rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_ERR,
							     .syndrome = 5 });
		else
			rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
							     .byte_cnt = 16,
							     .payload = (const char *)frame });
		assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
		assert_int_equal(wc.wr_id, 9);
		assert_int_equal(wc.status, i & 1 ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
		if (!(i & 1))
			assert_memory_equal(to, frame, sizeof(to));
	}
	rig_free(rig);
}

static void extended_readers_tell_checksums_of_frames(void **state)
{
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	for (uint8_t special = RQ_CHECKED; special <= RQ_OTHER; special++) {
		struct rig *rig = checking_rig(special);
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;

		for (unsigned int i = 0; i < ARRAY_SIZE(checksums); i += 2) {
			frame_receive(rig, &checksums[i], 7);
			frame_receive(rig, &checksums[i + 1], 8);
			assert_int_equal(ibv_start_poll(cqx, &attr), 0);
			for (unsigned int j = 0; j < 2; j++) {
				assert_int_equal(cqx->wr_id, 7 + j);
				assert_int_equal(cqx->status, IBV_WC_SUCCESS);
				assert_int_equal(ibv_wc_read_opcode(cqx), IBV_WC_RECV);
				assert_int_equal(
					ibv_wc_read_wc_flags(cqx),
					IBV_WC_GRH | (checksums[i + j].ok ? IBV_WC_IP_CSUM_OK : 0));
				assert_int_equal(ibv_next_poll(cqx), j ? ENOENT : 0);
			}
			ibv_end_poll(cqx);
		}
		rig_free(rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_newer_device_needs_no_header),
		cmocka_unit_test(an_older_device_has_the_header_in_the_wqe),
		cmocka_unit_test(an_inline_frame_is_header_and_rest),
		cmocka_unit_test(tso_headers_go_over_the_end_of_the_ring),
		cmocka_unit_test(all_ways_put_the_same_frame),
		cmocka_unit_test(all_ways_put_the_same_large_send),
		cmocka_unit_test(frames_that_cannot_be_sent_are_refused),
		cmocka_unit_test(frames_without_ethernet_headers_are_refused),
		cmocka_unit_test(only_right_checksums_of_ipv4_are_said_to_be_so),
		cmocka_unit_test(frames_and_sends_complete_in_one_poll),
		cmocka_unit_test(what_is_no_usual_frame_is_taken_among_them),
		cmocka_unit_test(extended_readers_tell_checksums_of_frames),
	};

	return RIG_RUN(tests);
}
