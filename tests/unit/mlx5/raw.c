/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw.c - golden bytes of frames on raw packet QPs, through both entry points: with and without a
 * header in the WQE, TSO, checksums; and what a received frame says about its checksums.
 */
#include "providers/mlx5/data/poll.h"
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "util/bits.h"

static uint8_t frame[64];

#define HEADER " 0001 02030405 06070809 0a0b0c0d 0e0f1011"

static struct rig *raw_rig(uint32_t sq_pi, uint32_t min_header)
{
	struct rig *rig =
		rig_new(&(struct rig_options){ .sq_pi = sq_pi, .type = IBV_QPT_RAW_PACKET });

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
	/* All of the first buffer and the start of the second are header. */
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

/* 54 bytes of headers from byte 14 of the segment on: 20 of them behind the end of the ring. */
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

static void only_right_checksums_of_ipv4_are_said_to_be_so(void **state)
{
	static const struct {
		uint8_t hds_ip_ext, l4_hdr_type_etc;
		bool ok;
	} cases[] = { { 0x06, 0x08, true },
		      { 0x06, 0x04, false },
		      { 0x02, 0x08, false },
		      { 0x04, 0x08, false },
		      { 0x00, 0x00, false } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig *rig = raw_rig(0, 0);
		struct ibv_sge sge = { .addr = 0x1000, .length = 0x10, .lkey = 1 };
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
		struct ibv_wc wc;

		rig->qp->rq.special = RQ_OTHER;
		assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
		rig_complete(rig,
			     &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND, .byte_cnt = 60 });
		((uint8_t *)rig->cq->buf.addr)[28] = cases[i].hds_ip_ext;
		((uint8_t *)rig->cq->buf.addr)[29] = cases[i].l4_hdr_type_etc;
		assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
		assert_int_equal(wc.wc_flags, cases[i].ok ? IBV_WC_IP_CSUM_OK : 0);
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
		cmocka_unit_test(only_right_checksums_of_ipv4_are_said_to_be_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
