/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wqe_raw_test.c - ring bytes of a raw packet QP: equal for ibv_post_send() and ibv_wr_*,
 * with the frame's address in the control segment, and TSO headers across 64-byte pieces.
 *
 * Covers: providers/mlx4/data/send_wqe.h, providers/mlx4/data/post_send.c,
 * providers/mlx4/data/send_wr.c
 */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "tests/lib/frame_wr.h"
#include "util/bits.h"

/* A frame: its destination address first */
static uint8_t frame[256];

static const struct rig_options options = {
	.type = IBV_QPT_RAW_PACKET,
	.send_sge = 4,
	.max_inline = 100,
	.second_port_is_ethernet = true,
	.checksums = true,
	.port = 2,
	.tso_header = 128,
};

static struct rig *new_rig(void)
{
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(0x10 + i);
	return rig_new(&options);
}

static int by_wr(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	struct ibv_data_buf bufs[4];

	frame_wr_begin(qpx, wr);
	for (int i = 0; i < wr->num_sge; i++)
		bufs[i] = (struct ibv_data_buf){ (void *)(uintptr_t)wr->sg_list[i].addr,
						 wr->sg_list[i].length };
	if (wr->send_flags & IBV_SEND_INLINE)
		ibv_wr_set_inline_data_list(qpx, (size_t)wr->num_sge, bufs);
	else
		ibv_wr_set_sge_list(qpx, (size_t)wr->num_sge, wr->sg_list);
	return ibv_wr_complete(qpx);
}

static void expect_by_both(struct ibv_send_wr wr, const char *hex)
{
	struct ibv_send_wr *bad;

	for (int call = 0; call < 2; call++) {
		struct rig *rig = new_rig();

		if (call)
			assert_int_equal(by_wr(&rig->qp->vqp.qp_ex, &wr), 0);
		else
			assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		check_bytes(rig_slot(rig, 0), hex);
		rig_free(rig);
	}
}

/* Low halves of SGE addresses are of this process, so those words are not compared. */
static void frame_by_pointer(void **state)
{
	struct ibv_sge sges[] = { { (uintptr_t)frame, 60, 0xabcd } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sges, .num_sge = 1 };

	(void)state;
	expect_by_both(wr, "0000000a 00000002 10110002 12131415 0000003c 0000abcd");
	wr.send_flags = IBV_SEND_SIGNALED;
	expect_by_both(wr, "0000000a 00000002 1011000e 12131415 0000003c 0000abcd");
	wr.send_flags = IBV_SEND_IP_CSUM;
	expect_by_both(wr, "0000000a 00000002 10110032 12131415 0000003c 0000abcd");
}

static void address_in_several_buffers(void **state)
{
	struct ibv_sge sges[] = { { (uintptr_t)frame, 1, 0xa1 },
				  { (uintptr_t)frame + 1, 0, 0xa2 },
				  { (uintptr_t)frame + 1, 3, 0xa3 },
				  { (uintptr_t)frame + 4, 56, 0xa4 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sges, .num_sge = 4 };

	(void)state;
	expect_by_both(wr, "0000000a 00000005 10110002 12131415 00000001 000000a1");
	wr.send_flags = IBV_SEND_INLINE;
	expect_by_both(wr, "0000000a 00000006 10110002 12131415"
			   "8000002c 10111213 14151617 18191a1b 1c1d1e1f 20212223 24252627 28292a2b"
			   "2c2d2e2f 30313233 34353637 38393a3b"
			   "80000010 3c3d3e3f 40414243 44454647 48494a4b");
}

/* The Ethernet header alone is in the first piece, so the data have segments of their own. */
static void short_header(void **state)
{
	struct ibv_sge sge = { (uintptr_t)frame, 3000, 0xabcd };
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .send_flags = IBV_SEND_IP_CSUM,
				  .tso = { .hdr = frame, .hdr_sz = 14, .mss = 1000 } };

	(void)state;
	expect_by_both(wr, "0000000e 00000004 10110032 12131415"
			   "03e8000e 10111213 14151617 18191a1b 1c1d0000 00000000 00000000 00000000"
			   "00000bb8 0000abcd");
}

/* A header of 60 bytes is the longest without an extra flag. It ends in the second piece, whose
 * first word must be written last, as it replaces the stamp. */
static void header_over_a_piece(void **state)
{
	struct ibv_sge sge = { (uintptr_t)frame, 3000, 0xabcd };
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .tso = { .hdr = frame, .hdr_sz = 60, .mss = 1460 } };

	(void)state;
	expect_by_both(wr, "0000000e 00000006 10110002 12131415"
			   "05b4003c 10111213 14151617 18191a1b 1c1d1e1f 20212223 24252627 28292a2b"
			   "2c2d2e2f 30313233 34353637 38393a3b"
			   "3c3d3e3f 40414243 44454647 48494a4b 00000bb8 0000abcd");
}

static void long_header_says_so(void **state)
{
	struct ibv_sge sge = { (uintptr_t)frame, 3000, 0xabcd };
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .tso = { .hdr = frame, .hdr_sz = 110, .mss = 1460 } };

	(void)state;
	expect_by_both(wr, "0000004e 0000000a 10110002 12131415"
			   "05b4006e 10111213 14151617 18191a1b 1c1d1e1f 20212223 24252627 28292a2b"
			   "2c2d2e2f 30313233 34353637 38393a3b"
			   "3c3d3e3f 40414243 44454647 48494a4b 4c4d4e4f 50515253 54555657 58595a5b"
			   "5c5d5e5f 60616263 64656667 68696a6b 6c6d6e6f 70717273 74757677 78797a7b"
			   "7c7d");
}

static void what_cannot_be_sent_is_refused(void **state)
{
	struct ibv_sge sge = { (uintptr_t)frame, 60, 0xabcd };
	struct ibv_send_wr wr = { .opcode = IBV_WR_TSO, .sg_list = &sge, .num_sge = 1 }, *bad;
	struct rig *rig = new_rig();
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	static const uint16_t sizes[] = { 0, 1, 13, 129 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint16_t size = sizes[i];

		wr.tso.hdr = frame;
		wr.tso.hdr_sz = size;
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
		ibv_wr_start(qpx);
		ibv_wr_send_tso(qpx, frame, size, 100);
		ibv_wr_set_sge(qpx, sge.lkey, sge.addr, sge.length);
		assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	}
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
	assert_null(qpx->wr_send_imm);
	rig_free(rig);
}

/* The control segment copies the frame's first bytes, so an empty frame is refused. The adapter
 * refuses shorter ones itself. */
static void frame_without_bytes_is_refused(void **state)
{
	struct ibv_sge sges[] = { { (uintptr_t)frame, 0, 1 }, { (uintptr_t)frame, 0, 1 } };
	struct ibv_send_wr again = { .opcode = IBV_WR_SEND }, wr = { .opcode = IBV_WR_SEND }, *bad;
	struct rig *rig = new_rig();
	struct ibv_qp *qp = &rig->qp->vqp.qp;

	(void)state;
	for (int i = 0; i < 12; i++) {
		wr.sg_list = again.sg_list = i % 3 ? sges : NULL;
		wr.num_sge = again.num_sge = i % 3;
		wr.send_flags = again.send_flags = i / 3 % 2 ? IBV_SEND_INLINE : 0;
		wr.next = i / 6 ? &again : NULL;
		assert_int_equal(mlx4_post_send(qp, &wr, &bad), EINVAL);
		assert_ptr_equal(bad, &wr);
		assert_int_equal(by_wr(&rig->qp->vqp.qp_ex, &wr), EINVAL);
	}
	assert_int_equal(rig->qp->sq.wq.head, 0);
	sges[1].length = 1;
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_SEND, .sg_list = sges, .num_sge = 2 };
	assert_int_equal(mlx4_post_send(qp, &wr, &bad), 0);
	rig_free(rig);
}

/* A refused frame leaves the stamps of its slot, so the slot is no WQE. */
static void refused_frame_leaves_its_slot(void **state)
{
	struct ibv_sge sges[4];
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sges, .num_sge = 4 }, *bad;
	struct rig *rig = new_rig();
	uint8_t was[128];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sges); i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)frame, 0, 1 };
	memcpy(was, rig_slot(rig, 0), sizeof(was));
	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
	assert_memory_equal(rig_slot(rig, 0), was, sizeof(was));
	rig_free(rig);
}

static void checksums_are_refused_where_the_device_has_none(void **state)
{
	struct ibv_sge sge = { (uintptr_t)frame, 60, 0xabcd };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_IP_CSUM,
				  .sg_list = &sge,
				  .num_sge = 1 },
			   *bad;
	struct rig_options without = options;
	struct rig *rig;

	(void)state;
	without.checksums = false;
	rig = rig_new(&without);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), EINVAL);
		wr.send_flags |= IBV_SEND_INLINE;
	}
	rig_free(rig);
}

static void received_checksums_are_told(void **state)
{
	static const struct {
		uint32_t status;
		unsigned int flags;
	} cases[] = { { 0x10400004, IBV_WC_IP_CSUM_OK },
		      { 0x00400004, 0 },
		      { 0x10400000, 0 },
		      { 0x11000004, 0 } };
	struct rig *rig = new_rig();
	struct ibv_recv_wr wr = { .wr_id = 7 }, *bad;
	struct ibv_wc wc;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
		rig_complete(rig, &(struct rig_cqe){ .opcode = 1,
						     .byte_count = 60,
						     .status = cases[i].status });
		assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
		assert_int_equal(wc.wc_flags, cases[i].flags);
		assert_int_equal(wc.opcode, IBV_WC_RECV);
		assert_int_equal(wc.byte_len, 60);
	}
	rig_free(rig);
}

/* The kernel does not hold the CQ of a QP without sends, so the program may destroy that CQ first.
 * A CQE with the QP's number must survive, which shows that the library does not touch the CQ. */
static void cq_of_a_spreading_qp_is_let_alone(void **state)
{
	static uint8_t key[40];
	struct rig *rig = new_rig();
	struct ibv_context *context = &rig->ctx->vctx.context;
	struct ibv_rwq_ind_table table = { .context = context };
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = &rig->pd.pd,
		.send_cq = &rig->cq->vcq.cq,
		.rwq_ind_tbl = &table,
		.rx_hash_conf = { .rx_hash_key_len = sizeof(key), .rx_hash_key = key },
	};
	uint32_t ci = rig->cq->ci;
	struct verbs_qp *vqp;

	(void)state;
	assert_int_equal(mlx4_qp_create(context, &attr, &vqp), 0);
	assert_null(id_find(rig->cq->ids, RIG_SPREADING_QPN));
	rig_complete(rig, &(struct rig_cqe){ .is_send = true, .qpn = RIG_SPREADING_QPN });
	assert_int_equal(mlx4_qp_destroy(&vqp->qp), 0);
	assert_int_equal(rig->cq->ci, ci);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_by_pointer),
		cmocka_unit_test(address_in_several_buffers),
		cmocka_unit_test(short_header),
		cmocka_unit_test(header_over_a_piece),
		cmocka_unit_test(long_header_says_so),
		cmocka_unit_test(what_cannot_be_sent_is_refused),
		cmocka_unit_test(frame_without_bytes_is_refused),
		cmocka_unit_test(refused_frame_leaves_its_slot),
		cmocka_unit_test(checksums_are_refused_where_the_device_has_none),
		cmocka_unit_test(received_checksums_are_told),
		cmocka_unit_test(cq_of_a_spreading_qp_is_let_alone),
	};

	return RIG_RUN(tests);
}
