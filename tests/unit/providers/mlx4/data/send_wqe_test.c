/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wqe_test.c - ring bytes of sends: equal for ibv_post_send() and ibv_wr_*; and no bytes
 * ahead of the head that a prefetching adapter could take for part of a WQE.
 *
 * Covers: providers/mlx4/data/send_wqe.h, providers/mlx4/data/post_send.c,
 * providers/mlx4/data/send_wr.c, providers/mlx4/data/sq_ring.c, providers/mlx4/data/doorbell.c,
 * providers/common/seg.h, providers/common/cpu.c
 */
#include "rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/uar.h"
#include "util/bits.h"

#define STAMP "ffffffff"

static const uint8_t payload[128] = { 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7 };

static void post_one(struct rig *rig, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, wr, &bad), 0);
}

/* ---- requests ---- */

static void by_wr(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	struct ibv_data_buf buf;

	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->send_flags;
	ibv_wr_start(qpx);
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qpx);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, wr->imm_data);
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qpx, wr->invalidate_rkey);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		break;
	default:
		fail();
	}
	if (wr->send_flags & IBV_SEND_INLINE) {
		buf = (struct ibv_data_buf){ (void *)(uintptr_t)wr->sg_list->addr,
					     wr->sg_list->length };
		ibv_wr_set_inline_data_list(qpx, 1, &buf);
	} else {
		ibv_wr_set_sge_list(qpx, (size_t)wr->num_sge, wr->sg_list);
	}
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

static void both_doors_put_the_same_bytes(void **state)
{
	static struct ibv_sge sges[] = { { 0x1122334455667788, 0x99, 0xabcd },
					 { 0x2233445566778899, 0x10, 0xabce } };
	static struct ibv_sge bytes = { 0, 8, 0 };
	const struct {
		struct ibv_send_wr wr;
		const char *hex;
	} cases[] = {
		{ { .opcode = IBV_WR_SEND, .sg_list = sges, .num_sge = 1 },
		  "0000000a 00000002 00000000 00000000 00000099 0000abcd 11223344 55667788" },
		{ { .opcode = IBV_WR_SEND,
		    .sg_list = sges,
		    .num_sge = 2,
		    .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_FENCE },
		  "0000000a 00000043 0000000e 00000000 00000099 0000abcd 11223344 55667788"
		  "00000010 0000abce 22334455 66778899" },
		{ { .opcode = IBV_WR_SEND, .num_sge = 0 }, "0000000a 00000001 00000000 00000000" },
		{ { .opcode = IBV_WR_SEND, .num_sge = 0, .send_flags = IBV_SEND_IP_CSUM },
		  "0000000a 00000001 00000000 00000000" },
		{ { .opcode = IBV_WR_SEND_WITH_IMM,
		    .sg_list = sges,
		    .num_sge = 1,
		    .imm_data = htobe32(0x11223344) },
		  "0000000b 00000002 00000000 11223344 00000099" },
		{ { .opcode = IBV_WR_SEND_WITH_INV,
		    .sg_list = sges,
		    .num_sge = 1,
		    .invalidate_rkey = 0x5678 },
		  "00000001 00000002 00000000 00005678 00000099" },
		{ { .opcode = IBV_WR_RDMA_WRITE,
		    .sg_list = sges,
		    .num_sge = 1,
		    .wr.rdma = { 0xaabbccddeeff0011, 0x1234 } },
		  "00000008 00000003 00000000 00000000 aabbccdd eeff0011 00001234 00000000"
		  "00000099 0000abcd 11223344 55667788" },
		{ { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		    .sg_list = sges,
		    .num_sge = 1,
		    .imm_data = htobe32(0x11223344),
		    .wr.rdma = { 0xaabbccddeeff0011, 0x1234 } },
		  "00000009 00000003 00000000 11223344 aabbccdd eeff0011 00001234 00000000"
		  "00000099" },
		{ { .opcode = IBV_WR_RDMA_READ,
		    .sg_list = sges,
		    .num_sge = 1,
		    .wr.rdma = { 0xaabbccddeeff0011, 0x1234 } },
		  "00000010 00000003 00000000 00000000 aabbccdd eeff0011 00001234 00000000"
		  "00000099" },
		{ { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		    .sg_list = sges,
		    .num_sge = 1,
		    .wr.atomic = { 0xaabbccddeeff0011, 0x1, 0x2, 0x1234 } },
		  "00000011 00000004 00000000 00000000 aabbccdd eeff0011 00001234 00000000"
		  "00000000 00000002 00000000 00000001 00000099" },
		{ { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		    .sg_list = sges,
		    .num_sge = 1,
		    .wr.atomic = { 0xaabbccddeeff0011, 0x3, 0x4, 0x1234 } },
		  "00000012 00000004 00000000 00000000 aabbccdd eeff0011 00001234 00000000"
		  "00000000 00000003 00000000 00000000 00000099" },
		{ { .opcode = IBV_WR_SEND,
		    .sg_list = &bytes,
		    .num_sge = 1,
		    .send_flags = IBV_SEND_INLINE },
		  "0000000a 00000002 00000000 00000000 80000008 a0a1a2a3 a4a5a6a7" },
	};
	const struct rig_options options = { .max_inline = 60 };

	(void)state;
	bytes.addr = (uintptr_t)payload;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig *old = rig_new(&options), *new = rig_new(&options);
		struct ibv_send_wr wr = cases[i].wr;
		uint32_t size;

		post_one(old, &wr);
		by_wr(&new->qp->vqp.qp_ex, &wr);
		check_bytes(rig_slot(old, 0), cases[i].hex);
		size = (uint32_t)fld_get(rig_slot(old, 0), M4_CTRL_DS) * M4_SEG;
		assert_memory_equal(rig_slot(old, 0), rig_slot(new, 0), size);
		rig_free(old);
		rig_free(new);
	}
}

/* Posts SGES SGEs, of which EMPTY has no bytes (-1: none). */
static void list_is_the_same_by_both_calls(int sges, int empty)
{
	enum { MAX_SGES = 14, FIRST = 2 };
	const struct rig_options options = { .send_sge = MAX_SGES };
	struct rig *old = rig_new(&options), *new = rig_new(&options);
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .num_sge = sges };
	struct ibv_sge sge[MAX_SGES];

	for (int i = 0; i < sges; i++)
		sge[i] = (struct ibv_sge){ 0x1111222233330000u + (unsigned int)i,
					   i == empty ? 0 : 0x100u + (unsigned int)i,
					   0x5500u + (unsigned int)i };
	wr.sg_list = sge;
	post_one(old, &wr);
	by_wr(&new->qp->vqp.qp_ex, &wr);
	for (int i = 0; i < sges; i++) {
		const uint8_t *seg = rig_slot(old, 0) + (FIRST + i) * M4_SEG;

		assert_int_equal(fld_get(seg, M4_DATA_LEN), sge[i].length);
		assert_int_equal(fld_get(seg, M4_DATA_INLINE), i == empty);
		assert_int_equal(fld_get(seg, M4_DATA_LKEY), sge[i].lkey);
		assert_int_equal(fld_get(seg, M4_DATA_ADDR), sge[i].addr);
	}
	assert_memory_equal(rig_slot(old, 0), rig_slot(new, 0), (size_t)(FIRST + sges) * M4_SEG);
	if (sges < MAX_SGES)
		check_bytes(rig_slot(old, 0) + (FIRST + sges) * M4_SEG,
			    (FIRST + sges) * M4_SEG % M4_PIECE ? "00000000" : STAMP);
	rig_free(old);
	rig_free(new);
}

/* ibv_post_send() writes SGEs in groups of four, ibv_wr_* one by one. An SGE without bytes becomes
 * inline data, since byte count 0 means 2 GiB. */
static void lists_are_the_same_by_both_calls(void **state)
{
	(void)state;
	for (int sges = 1; sges <= 14; sges++)
		for (int empty = -1; empty < sges; empty++)
			list_is_the_same_by_both_calls(sges, empty);
}

/* One call copies the rest of a piece at once, the other in parts, so all lengths are compared,
 * over several pieces of 64 bytes. */
static void inline_bytes_are_the_same_by_both_calls(void **state)
{
	enum { MAX = 300 };
	const struct rig_options options = { .max_inline = MAX };
	uint8_t bytes[MAX];

	(void)state;
	for (unsigned int i = 0; i < MAX; i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	for (uint32_t length = 0; length <= MAX; length++) {
		struct rig *old = rig_new(&options), *new = rig_new(&options);
		struct ibv_sge sge = { (uintptr_t)bytes, length, 0 };
		struct ibv_send_wr wr = { .opcode = length % 2 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
					  .sg_list = &sge,
					  .num_sge = 1,
					  .send_flags = IBV_SEND_INLINE };

		post_one(old, &wr);
		by_wr(&new->qp->vqp.qp_ex, &wr);
		assert_memory_equal(rig_slot(old, 0), rig_slot(new, 0), 1u << old->qp->sq.slot_log);
		rig_free(old);
		rig_free(new);
	}
}

/* LOCAL_INV and BIND_MW set the bit of strong order, so later requests wait for them, as they use
 * the key. */
static void requests_on_keys_are_whole(void **state)
{
	struct rig *old = rig_new(NULL), *new = rig_new(NULL);
	struct verbs_mr region = { .mr = { .pd = &old->pd.pd, .lkey = 0x4567 } };
	struct ibv_mw mw = { .pd = &old->pd.pd, .rkey = 0x1200, .type = IBV_MW_TYPE_2 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_qp_ex *qpx = &new->qp->vqp.qp_ex;

	(void)state;
	old->qp->vqp.qp.pd = new->qp->vqp.qp.pd = &old->pd.pd;
	wr.bind_mw.mw = &mw;
	wr.bind_mw.rkey = 0x1201;
	wr.bind_mw.bind_info =
		(struct ibv_mw_bind_info){ &region.mr, 0x1122334455667788, 0x123456789,
					   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED };
	post_one(old, &wr);
	check_bytes(rig_slot(old, 0),
		    "00000018 00000003 0000008c 00000000 40000000 c0000000 00001201 00004567"
		    "11223344 55667788 00000001 23456789");
	wr = (struct ibv_send_wr){ .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = 0x1201 };
	post_one(old, &wr);
	check_bytes(rig_slot(old, 1),
		    "0000001b 00000003 00000080 00000000 00000000 00000000 00001201 00000000"
		    "00000000 00000000 00000000 00000000");
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(
		qpx, &mw, 0x1201,
		&(struct ibv_mw_bind_info){ &region.mr, 0x1122334455667788, 0x123456789,
					    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED });
	qpx->wr_flags = 0;
	ibv_wr_local_inv(qpx, 0x1201);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_memory_equal(rig_slot(old, 0), rig_slot(new, 0), 3 * M4_SEG);
	assert_memory_equal(rig_slot(old, 1), rig_slot(new, 1), 3 * M4_SEG);
	rig_free(old);
	rig_free(new);
}

static void windows_are_unbound_and_refused(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct provider_pd other = { .pd = { .context = &rig->ctx->vctx.context, .handle = 9 } };
	struct verbs_mr based = { .mr.pd = &rig->pd.pd, .access = IBV_ACCESS_ZERO_BASED };
	struct verbs_mr foreign = { .mr.pd = &other.pd };
	struct ibv_mw mw = { .pd = &rig->pd.pd, .type = IBV_MW_TYPE_1 };
	const struct {
		struct ibv_mw_bind_info info;
		int ret;
	} cases[] = {
		{ { NULL, 0x1000, 0, 0 }, EINVAL },
		{ { NULL, 0, 8, 0 }, EINVAL },
		{ { &based.mr, 0x1000, 8, 0 }, EINVAL },
		{ { &foreign.mr, 0x1000, 8, 0 }, EPERM },
		{ { NULL, 0, 0, 0 }, 0 },
	};

	(void)state;
	rig->qp->vqp.qp.pd = &rig->pd.pd;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW }, *bad;
		struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

		wr.bind_mw.mw = &mw;
		wr.bind_mw.rkey = 0x1201;
		wr.bind_mw.bind_info = cases[i].info;
		ibv_wr_start(qpx);
		ibv_wr_bind_mw(qpx, &mw, 0x1201, &cases[i].info);
		if (cases[i].ret)
			assert_int_equal(ibv_wr_complete(qpx), cases[i].ret);
		else
			ibv_wr_abort(qpx);
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), cases[i].ret);
	}
	check_bytes(rig_slot(rig, 0),
		    "00000018 00000003 00000080 00000000 00000000 00000000 00001201 00000000"
		    "00000000 00000000 00000000 00000000");
	rig_free(rig);
}

/* Window access flags have other bits in the hardware than in verbs, so they are translated. */
static void windows_grant_what_is_asked_for(void **state)
{
	const struct rig_options options = { .send_wr = 128 };
	struct rig *rig = rig_new(&options);
	struct verbs_mr region = { .mr = { .pd = &rig->pd.pd, .lkey = 0x4567 } };

	(void)state;
	rig->qp->vqp.qp.pd = &rig->pd.pd;
	for (unsigned int access = 0; access < 128; access++) {
		struct ibv_mw mw = { .pd = &rig->pd.pd,
				     .type = access % 3 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2 };
		struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW };
		const uint8_t *seg = rig_slot(rig, access) + M4_SEG;

		wr.bind_mw.mw = &mw;
		wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ &region.mr, 0, 8, access };
		post_one(rig, &wr);
		assert_int_equal(fld_get(seg, M4_BIND_ATOMIC), access >> 3 & 1);
		assert_int_equal(fld_get(seg, M4_BIND_REMOTE_WRITE), access >> 1 & 1);
		assert_int_equal(fld_get(seg, M4_BIND_REMOTE_READ), access >> 2 & 1);
		assert_int_equal(fld_get(seg, M4_BIND_ZERO_BASED), access >> 5 & 1);
		assert_int_equal(fld_get(seg, M4_BIND_TYPE_2), mw.type == IBV_MW_TYPE_2);
		assert_int_equal(fld_get(seg, M4_BIND_LKEY), 0x4567);
	}
	rig_free(rig);
}

/* ibv_bind_mw(), for windows of type 1, and its refusals, which leave the window's key */
static void windows_are_bound_by_a_verb_of_theirs(void **state)
{
	const struct rig_options options = { .send_wr = 2 };
	struct rig *rig = rig_new(&options);
	struct ibv_qp *qp = &rig->qp->vqp.qp;
	struct provider_pd other = { .pd = { .context = &rig->ctx->vctx.context, .handle = 9 } };
	struct verbs_mr region = { .mr = { .pd = &rig->pd.pd, .lkey = 0x4567 } };
	struct verbs_mr based = { .mr.pd = &rig->pd.pd, .access = IBV_ACCESS_ZERO_BASED };
	struct verbs_mr foreign = { .mr.pd = &other.pd };
	struct ibv_mw mw = {
		.context = qp->context, .pd = &rig->pd.pd, .rkey = 0x12ff, .type = IBV_MW_TYPE_1
	};
	struct ibv_mw others = {
		.context = qp->context, .pd = &other.pd, .rkey = 0x1300, .type = IBV_MW_TYPE_1
	};
	struct ibv_mw_bind bind = { .wr_id = 0x77, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct ibv_wc wc;

	(void)state;
	qp->pd = &rig->pd.pd;
	rig->ctx->vctx.context.ops.post_send = mlx4_post_send;
	bind.bind_info = (struct ibv_mw_bind_info){ &based.mr, 0x1000, 8, 0 };
	assert_int_equal(mlx4_bind_mw(qp, &mw, &bind), EINVAL);
	bind.bind_info.mr = &foreign.mr;
	assert_int_equal(mlx4_bind_mw(qp, &mw, &bind), EPERM);
	bind.bind_info.mr = &region.mr;
	assert_int_equal(mlx4_bind_mw(qp, &others, &bind), EPERM);
	assert_int_equal(mw.rkey, 0x12ff);
	assert_int_equal(others.rkey, 0x1300);
	bind.bind_info = (struct ibv_mw_bind_info){ &region.mr, 0x1122334455667788, 0x123456789,
						    IBV_ACCESS_REMOTE_READ };
	assert_int_equal(mlx4_bind_mw(qp, &mw, &bind), 0);
	assert_int_equal(mw.rkey, 0x1200);
	check_bytes(rig_slot(rig, 0),
		    "00000018 00000003 0000008c 00000000 20000000 00000000 00001200 00004567"
		    "11223344 55667788 00000001 23456789");
	bind.bind_info = (struct ibv_mw_bind_info){ NULL, 0, 0, 0 };
	assert_int_equal(mlx4_bind_mw(qp, &mw, &bind), 0);
	check_bytes(rig_slot(rig, 1),
		    "00000018 00000003 0000008c 00000000 00000000 00000000 00001201 00000000"
		    "00000000 00000000 00000000 00000000");
	while (rig->qp->sq.wq.head < rig->qp->sq.wq.max_post)
		assert_int_equal(mlx4_bind_mw(qp, &mw, &bind), 0);
	others = mw;
	bind.bind_info.mr = &region.mr;
	assert_int_equal(mlx4_bind_mw(qp, &mw, &bind), ENOMEM);
	assert_int_equal(mw.rkey, others.rkey);
	rig_complete(rig, &(struct rig_cqe){ .is_send = true, .opcode = M4_BIND_MW });
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.opcode, IBV_WC_BIND_MW);
	assert_int_equal(wc.wr_id, 0x77);
	assert_int_equal(mlx4_qp_modify(qp, &reset, IBV_QP_STATE), 0);
	assert_int_equal(mlx4_bind_mw(qp, &mw, &bind), EINVAL);
	assert_int_equal(mw.rkey, others.rkey);
	rig_free(rig);
}

/* Before RTS, and with a full ring, the fast paths must not apply: they would post where the QP
 * cannot send, or over a request that has not completed. */
static void requests_on_keys_wait_for_their_turn(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct verbs_mr region = { .mr = { .pd = &rig->pd.pd, .lkey = 0x4567 } };
	struct ibv_mw mw = { .pd = &rig->pd.pd, .type = IBV_MW_TYPE_2 };
	struct ibv_send_wr inval = { .opcode = IBV_WR_LOCAL_INV }, *bad;
	struct ibv_send_wr bind = { .opcode = IBV_WR_BIND_MW };

	(void)state;
	rig->qp->vqp.qp.pd = &rig->pd.pd;
	bind.bind_mw.mw = &mw;
	bind.bind_mw.bind_info.mr = &region.mr;
	while (rig->qp->sq.wq.head < rig->qp->sq.wq.max_post)
		post_one(rig, rig->qp->sq.wq.head % 2 ? &bind : &inval);
	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &inval, &bad), ENOMEM);
	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &bind, &bad), ENOMEM);
	assert_int_equal(mlx4_qp_modify(&rig->qp->vqp.qp, &reset, IBV_QP_STATE), 0);
	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &inval, &bad), EINVAL);
	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &bind, &bad), EINVAL);
	rig_free(rig);
}

static void address_of_a_datagram_is_behind_the_control_segment(void **state)
{
	const struct rig_options options = { .type = IBV_QPT_UD };
	struct rig *rig = rig_new(&options);
	struct ibv_ah_attr attr = { .port_num = 1, .dlid = 0x1234, .sl = 5, .src_path_bits = 3 };
	struct ibv_sge sge = { 0x1000, 0x20, 0x77 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1 };
	struct ibv_ah *ah;

	(void)state;
	assert_int_equal(mlx4_ah_create(&rig->pd.pd, &attr, &ah), 0);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = 0x456;
	wr.wr.ud.remote_qkey = 0x11111111;
	post_one(rig, &wr);
	check_bytes(rig_slot(rig, 0),
		    "0000000a 00000005 00000000 00000000 01000077 00031234 00000000 50000000"
		    "00000000 00000000 00000000 00000000 00000456 11111111 00000000 00000000"
		    "00000020 00000077 00000000 00001000");
	assert_int_equal(mlx4_ah_destroy(ah), 0);
	rig_free(rig);
}

/* The adapter computes checksums of datagrams only, so the flag is refused elsewhere, and without
 * the feature. */
static void checksums_are_asked_for_where_they_are(void **state)
{
	struct rig_options options = { .type = IBV_QPT_UD };
	struct ibv_ah_attr attr = { .port_num = 1, .dlid = 1 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_IP_CSUM }, *bad;

	(void)state;
	for (int has = 0; has < 2; has++) {
		struct ibv_qp_ex *qpx;
		struct rig *rig;

		options.checksums = has;
		rig = rig_new(&options);
		qpx = &rig->qp->vqp.qp_ex;
		assert_int_equal(mlx4_ah_create(&rig->pd.pd, &attr, &wr.wr.ud.ah), 0);
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), has ? 0 : EINVAL);
		if (has)
			check_bytes(rig_slot(rig, 0), "0000000a 00000004 00000030");
		ibv_wr_start(qpx);
		qpx->wr_flags = IBV_SEND_IP_CSUM;
		ibv_wr_send(qpx);
		ibv_wr_set_ud_addr(qpx, wr.wr.ud.ah, 1, 1);
		assert_int_equal(ibv_wr_complete(qpx), has ? 0 : EINVAL);
		if (has)
			check_bytes(rig_slot(rig, 1), "0000000a 00000004 00000030");
		assert_int_equal(mlx4_ah_destroy(wr.wr.ud.ah), 0);
		rig_free(rig);
	}
}

/* Inline data needs a header in each piece of 64 bytes, as a piece's first word must not look like
 * a stamp. */
static void inline_bytes_do_not_run_over_the_end_of_a_piece(void **state)
{
	const struct rig_options options = { .max_inline = 100 };
	struct ibv_sge sge = { (uintptr_t)payload, 48, 0 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_INLINE
	};
	struct rig *rig = rig_new(&options);

	(void)state;
	post_one(rig, &wr);
	check_bytes(rig_slot(rig, 0),
		    "0000000a 00000005 00000000 00000000 8000002c a0a1a2a3 a4a5a6a7");
	check_bytes(rig_slot(rig, 0) + M4_PIECE, "80000004 00000000");
	rig_free(rig);
}

/* A WQE has up to 63 segments, as its control segment counts them in 6 bits; the largest slot has
 * room for more. */
static void longest_inline_data_fill_63_segments(void **state)
{
	const struct rig_options options = { .max_inline = 912 };
	uint8_t many[912] = { 0x11 };
	struct ibv_sge sge = { (uintptr_t)many, sizeof(many), 0 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .send_flags = IBV_SEND_INLINE };
	struct rig *rig = rig_new(&options);

	(void)state;
	assert_int_equal(rig->qp->cap.max_inline_data, sizeof(many));
	post_one(rig, &wr);
	assert_int_equal(fld_get(rig_slot(rig, 0), M4_CTRL_DS), 63);
	check_bytes(rig_slot(rig, 0) + 2 * M4_SEG, "8000001c 11000000");
	check_bytes(rig_slot(rig, 0) + 15 * M4_PIECE, "8000002c 00000000");
	rig_free(rig);
}

/* An atomic has one segment more, so it has room for one SGE less. */
static void atomic_does_not_leave_its_slot(void **state)
{
	struct ibv_sge sges[2] = { { 0x1000, 8, 1 }, { 0x2000, 8, 1 } };
	struct ibv_sge bytes = { (uintptr_t)payload, 28, 0 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				  .sg_list = sges,
				  .num_sge = 1 },
			   *bad;
	struct rig *rig = rig_new(NULL);
	struct ibv_qp *qp = &rig->qp->vqp.qp;
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(rig->qp->cap.max_send_sge, 2);
	assert_int_equal(rig->qp->cap.max_inline_data, 28);
	assert_int_equal(1 << rig->qp->sq.slot_log, M4_PIECE);
	post_one(rig, &wr);
	wr.num_sge = 2;
	assert_int_equal(mlx4_post_send(qp, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	wr.sg_list = &bytes;
	wr.send_flags = IBV_SEND_INLINE;
	assert_int_equal(mlx4_post_send(qp, &wr, &bad), ENOMEM);
	ibv_wr_start(qpx);
	ibv_wr_atomic_fetch_add(qpx, 1, 0x3000, 1);
	ibv_wr_set_sge_list(qpx, 2, sges);
	assert_int_equal(ibv_wr_complete(qpx), ENOMEM);
	assert_int_equal(rig->qp->sq.wq.head, 1);
	assert_int_equal(fld_get(rig_slot(rig, 1), M4_CTRL_OWNER), 1);
	rig_free(rig);
}

/* ---- ownership of slots ---- */

static void complete_send(struct rig *rig, uint32_t index)
{
	const struct rig_cqe cqe = { .is_send = true,
				     .opcode = M4_SEND,
				     .wqe_index = (uint16_t)index };
	struct ibv_wc wc;

	rig_complete(rig, &cqe);
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
}

static void ownership_changes_with_each_lap(void **state)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct rig *rig = rig_new(NULL);
	uint32_t slots = rig_slots(rig);

	(void)state;
	for (uint32_t i = 0; i < 3 * slots; i++) {
		uint32_t owner = i / slots & 1;

		assert_int_equal(fld_get(rig_slot(rig, i), M4_CTRL_OWNER), !owner);
		post_one(rig, &wr);
		assert_int_equal(fld_get(rig_slot(rig, i), M4_CTRL_OWNER), owner);
		complete_send(rig, i);
	}
	rig_free(rig);
}

/* Checks the part ahead of the head, as the adapter prefetches it: no owner bit of a WQE, and
 * stamps at the start of each further piece. */
static void check_free(struct rig *rig)
{
	uint32_t slot = 1u << rig->qp->sq.slot_log, head = rig->qp->sq.wq.head;

	for (uint32_t i = head; i < head + M4_READ_AHEAD / slot; i++) {
		assert_int_not_equal(fld_get(rig_slot(rig, i), M4_CTRL_OWNER),
				     (i / rig_slots(rig)) & 1);
		for (uint32_t at = M4_PIECE; at < slot; at += M4_PIECE)
			check_bytes(rig_slot(rig, i) + at, STAMP);
	}
}

enum { LARGE_SGES = 14 };

static struct ibv_sge large[LARGE_SGES];
static const struct rig_options large_slots = { .send_sge = LARGE_SGES, .send_wr = 8 };

static void space_in_front_of_the_head_is_stamped(void **state)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .sg_list = large,
				  .num_sge = LARGE_SGES,
				  .send_flags = IBV_SEND_SIGNALED };
	struct rig *rig = rig_new(&large_slots);

	(void)state;
	check_free(rig);
	for (uint32_t i = 0; i < 3 * rig_slots(rig); i++) {
		post_one(rig, &wr);
		complete_send(rig, i);
		check_free(rig);
	}
	rig_free(rig);
}

/* Datagrams, and requests with many SGEs, have several pieces each, alone and in lists; short
 * requests in front of them leave stamps to restore. */
static void space_in_front_of_lists_is_stamped(void **state)
{
	enum { LIST = 4, LAPS = 4 };
	struct rig_options options = large_slots;

	(void)state;
	for (int is_datagram = 0; is_datagram < 2; is_datagram++) {
		struct ibv_ah_attr attr = { .port_num = 1, .dlid = 1 };
		struct ibv_send_wr wr[LIST] = { 0 };
		struct ibv_ah *ah;
		struct rig *rig;

		options.type = is_datagram ? IBV_QPT_UD : IBV_QPT_RC;
		options.send_sge = is_datagram ? 1 : LARGE_SGES;
		rig = rig_new(&options);
		assert_int_equal(mlx4_ah_create(&rig->pd.pd, &attr, &ah), 0);
		for (uint32_t i = 0; i < LAPS * rig_slots(rig); i += LIST) {
			bool alone = i / rig_slots(rig) % 2 == 0;

			for (int n = 0; n < LIST; n++) {
				wr[n] = (struct ibv_send_wr){ .opcode = IBV_WR_SEND,
							      .sg_list = large,
							      .num_sge = alone && !is_datagram
										 ? LARGE_SGES
										 : 1,
							      .send_flags = IBV_SEND_SIGNALED };
				wr[n].next = alone || n == LIST - 1 ? NULL : &wr[n + 1];
				if (is_datagram)
					wr[n].wr.ud.ah = ah;
			}
			for (int n = 0; n < (alone ? LIST : 1); n++) {
				post_one(rig, &wr[n]);
				check_free(rig);
			}
			for (uint32_t n = 0; n < LIST; n++)
				complete_send(rig, i + n);
		}
		assert_int_equal(mlx4_ah_destroy(ah), 0);
		rig_free(rig);
	}
}

/* In a list longer than the ring, the adapter takes the first requests by their owner bits before
 * the doorbell, and another thread polls them. So their slots are stamped for the last requests of
 * the list. */
static void list_that_laps_itself_is_stamped_for(void **state)
{
	enum { LONG_ONES = 4 };
	struct rig *rig = rig_new(&large_slots);
	struct wq *wq = &rig->qp->sq.wq;
	const uint32_t count = wq->max_post + LONG_ONES;
	struct ibv_send_wr *wr = calloc(count, sizeof(*wr));

	(void)state;
	assert_non_null(wr);
	for (uint32_t i = 0; i < count; i++)
		wr[i] = (struct ibv_send_wr){ .opcode = IBV_WR_SEND,
					      .sg_list = large,
					      .num_sge = i < LONG_ONES ? LARGE_SGES : 1,
					      .send_flags = IBV_SEND_SIGNALED,
					      .next = i + 1 < count ? &wr[i + 1] : NULL };
	wq->tail = LONG_ONES; /* tail at the time of the list's next check */
	post_one(rig, wr);
	assert_int_equal(wq->head, count);
	check_free(rig);
	free(wr);
	rig_free(rig);
}

/* A queue holds max_send_wr requests, posted alone or in a list; bad_wr names the next. */
static void full_queue_names_the_first_that_does_not_fit(void **state)
{
	(void)state;
	for (int is_list = 0; is_list < 2; is_list++) {
		struct ibv_sge sge = { 0x1000, 8, 1 };
		struct rig *rig = rig_new(NULL);
		struct wq *wq = &rig->qp->sq.wq;
		const uint32_t count = wq->max_post + 1;
		struct ibv_send_wr *wr = calloc(count, sizeof(*wr)), *bad = NULL;
		int ret = 0;

		assert_non_null(wr);
		for (uint32_t i = 0; i < count; i++)
			wr[i] = (struct ibv_send_wr){ .opcode = IBV_WR_SEND,
						      .sg_list = &sge,
						      .num_sge = 1,
						      .next = is_list && i + 1 < count ? &wr[i + 1]
										       : NULL };
		for (uint32_t i = 0; i < (is_list ? 1 : count); i++) {
			assert_int_equal(ret, 0);
			ret = mlx4_post_send(&rig->qp->vqp.qp, &wr[i], &bad);
		}
		assert_int_equal(ret, ENOMEM);
		assert_ptr_equal(bad, &wr[count - 1]);
		assert_int_equal(wq->head, wq->max_post);
		free(wr);
		rig_free(rig);
	}
}

static void nothing_is_posted_before_rts(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		const struct rig_options options = { .type = types[i], .max_inline = 32 };
		struct rig *rig = rig_new(&options);
		struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

		assert_int_equal(mlx4_qp_modify(&rig->qp->vqp.qp, &reset, IBV_QP_STATE), 0);
		for (int opcode = IBV_WR_RDMA_WRITE; opcode <= IBV_WR_SEND_WITH_IMM; opcode++)
			for (int is_inline = 0; is_inline < 2; is_inline++) {
				struct ibv_sge sge = { (uintptr_t)payload, 8, 0 };
				struct ibv_send_wr wr = { .opcode = (enum ibv_wr_opcode)opcode,
							  .sg_list = &sge,
							  .num_sge = 1,
							  .send_flags =
								  is_inline ? IBV_SEND_INLINE : 0 },
						   *bad = NULL;

				assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad),
						 EINVAL);
				assert_ptr_equal(bad, &wr);
			}
		rig_free(rig);
	}
}

static void batch_send(struct ibv_qp_ex *qpx)
{
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, LARGE_SGES, large);
}

/* Until a batch completes, its WQEs are not visible, so the stamps ahead of the head stay. */
static void batch_leaves_stamps_until_it_is_complete(void **state)
{
	struct rig *rig = rig_new(&large_slots);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	uint32_t slot = 1u << rig->qp->sq.slot_log;

	(void)state;
	ibv_wr_start(qpx);
	for (unsigned int i = 0; i < 3; i++)
		batch_send(qpx);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(fld_get(rig_slot(rig, i), M4_CTRL_OWNER), 1);
		for (uint32_t at = M4_PIECE; at < slot; at += M4_PIECE)
			check_bytes(rig_slot(rig, i) + at, STAMP);
	}
	assert_int_equal(ibv_wr_complete(qpx), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(fld_get(rig_slot(rig, i), M4_CTRL_OWNER), 0);
		for (uint32_t at = M4_PIECE; at < M4_SEG + LARGE_SGES * M4_SEG; at += M4_PIECE)
			check_bytes(rig_slot(rig, i) + at, "80000000");
	}
	check_free(rig);
	rig_free(rig);
}

static void aborted_batch_leaves_stamps(void **state)
{
	struct rig *rig = rig_new(&large_slots);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	ibv_wr_start(qpx);
	batch_send(qpx);
	batch_send(qpx);
	ibv_wr_abort(qpx);
	assert_int_equal(rig->qp->sq.wq.head, 0);
	check_free(rig);
	rig_free(rig);
}

static void lap_of_large_sends(struct rig *rig)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .sg_list = large,
				  .num_sge = LARGE_SGES,
				  .send_flags = IBV_SEND_SIGNALED };

	for (uint32_t i = 0; i < rig_slots(rig); i++) {
		post_one(rig, &wr);
		complete_send(rig, i);
	}
}

/* A batch may exceed the stamped range and have smaller WQEs than the last lap: no old bytes may
 * remain, even if the batch is aborted, since the adapter prefetches WQEs and takes a piece without
 * a stamp for a written one. */
static void long_batch_leaves_nothing_of_the_last_lap(void **state)
{
	(void)state;
	for (int is_posted = 0; is_posted < 2; is_posted++) {
		struct rig *rig = rig_new(&large_slots);
		struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
		uint32_t slot = 1u << rig->qp->sq.slot_log, slots = rig_slots(rig);
		uint32_t count = rig->qp->sq.wq.max_post;

		assert_true(count > rig->qp->sq.spare);
		lap_of_large_sends(rig);
		ibv_wr_start(qpx);
		for (uint32_t i = 0; i < count; i++)
			ibv_wr_send(qpx);
		if (is_posted)
			assert_int_equal(ibv_wr_complete(qpx), 0);
		else
			ibv_wr_abort(qpx);
		for (uint32_t i = slots; i < slots + count; i++)
			for (uint32_t at = M4_PIECE; at < slot; at += M4_PIECE)
				check_bytes(rig_slot(rig, i) + at, STAMP);
		rig_free(rig);
	}
}

/* Slots of one piece have nothing to stamp. Behind the last slot is the receive ring, which a stamp
 * too many would damage. */
static void long_batch_of_short_slots_writes_nothing_else(void **state)
{
	const struct rig_options options = { .send_wr = 64, .send_sge = 1, .recv_sge = 1 };
	struct rig *rig = rig_new(&options);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	uint8_t *behind = rig_slot(rig, 0) + (size_t)rig_slots(rig) * M4_PIECE;
	uint32_t count = rig->qp->sq.wq.max_post;

	(void)state;
	assert_int_equal(rig->qp->sq.slot_log, M4_MIN_SLOT_LOG);
	assert_ptr_equal(rig->qp->rq.buf, behind);
	for (uint32_t i = 0; i < rig_slots(rig) / 2; i++) {
		post_one(rig, &wr);
		complete_send(rig, i);
	}
	ibv_wr_start(qpx);
	for (uint32_t i = 0; i < count; i++)
		ibv_wr_send(qpx);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(behind, "00000000");
	rig_free(rig);
}

/* Posts a batch of COUNT requests, or as many as fit, from index START; checks that neither the
 * slots ahead nor the bytes behind the ring get a stamp. A slot of one piece needs none, since its
 * owner bit serves as the stamp. */
static void check_batch_of_short_slots(uint32_t start, uint32_t count)
{
	const struct rig_options options = { .send_wr = 64, .send_sge = 1, .recv_sge = 1 };
	struct rig *rig = rig_new(&options);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct wq *wq = &rig->qp->sq.wq;
	uint8_t *behind = rig_slot(rig, 0) + (size_t)rig_slots(rig) * M4_PIECE;

	assert_int_equal(start % rig_slots(rig), 0);
	wq->head = wq->tail = start + rig_slots(rig) - 4;
	wq->limit = wq->head + wq->max_post;
	ibv_wr_start(qpx);
	for (uint32_t n = 0; n < count && n < wq->max_post; n++)
		ibv_wr_send(qpx);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(behind, "00000000");
	for (uint32_t n = 0; n < rig->qp->sq.spare; n++)
		assert_int_not_equal(fld_get(rig_slot(rig, wq->head + n), FLD(0, 30, 0)),
				     0x7fffffff);
	rig_free(rig);
}

/* Indexes run freely, so nothing may change at half or at the end of their range: a wrong
 * comparison would stamp slots ahead of the head. */
static void short_slots_are_not_stamped_at_any_index(void **state)
{
	static const uint32_t starts[] = { 0x7fffff80, 0x80000080, 0xffffff80 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(starts); i++)
		for (uint32_t count = 1; count <= 64; count *= 2)
			check_batch_of_short_slots(starts[i], count);
}

static uint32_t send_register(struct rig *rig)
{
	return be32toh(*(__be32 *)(rig->ctx->uar + M4_UAR_SEND));
}

static void doorbell_has_the_number_of_the_qp(void **state)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	struct rig *rig = rig_new(NULL);

	(void)state;
	post_one(rig, &wr);
	assert_int_equal(send_register(rig), RIG_QPN << 8);
	rig_free(rig);
}

/* For a BlueFlame write, the first two words of the WQE name its index and its QP, as the adapter
 * reads neither from the ring. */
static void blueflame_has_the_wqe_in_buffers_by_turns(void **state)
{
	const struct rig_options options = { .max_inline = 32, .blueflame = true };
	struct ibv_sge sge = { (uintptr_t)payload, 4, 0 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_INLINE
	};
	struct rig *rig = rig_new(&options);

	(void)state;
	for (uint32_t i = 0; i < 2; i++)
		post_one(rig, &wr);
	check_bytes(rig->ctx->bf.page, "0000000a 12345602 00000000 00000000 80000004 a0a1a2a3");
	check_bytes(rig->ctx->bf.page + RIG_BF_REG / 2, "0000010a 12345602");
	assert_int_equal(send_register(rig), 0);
	rig_free(rig);
}

static void blueflame_has_all_pieces(void **state)
{
	const struct rig_options options = { .max_inline = sizeof(payload), .blueflame = true };
	struct ibv_sge sge = { (uintptr_t)payload, sizeof(payload), 0 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_INLINE
	};
	struct rig *rig = rig_new(&options);

	(void)state;
	post_one(rig, &wr);
	assert_memory_equal(rig->ctx->bf.page, rig_slot(rig, 0),
			    M4_SEG + 3 * M4_INLINE_HEADER + sizeof(payload));
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_doors_put_the_same_bytes),
		cmocka_unit_test(lists_are_the_same_by_both_calls),
		cmocka_unit_test(inline_bytes_are_the_same_by_both_calls),
		cmocka_unit_test(requests_on_keys_are_whole),
		cmocka_unit_test(windows_are_unbound_and_refused),
		cmocka_unit_test(windows_grant_what_is_asked_for),
		cmocka_unit_test(windows_are_bound_by_a_verb_of_theirs),
		cmocka_unit_test(requests_on_keys_wait_for_their_turn),
		cmocka_unit_test(address_of_a_datagram_is_behind_the_control_segment),
		cmocka_unit_test(checksums_are_asked_for_where_they_are),
		cmocka_unit_test(inline_bytes_do_not_run_over_the_end_of_a_piece),
		cmocka_unit_test(longest_inline_data_fill_63_segments),
		cmocka_unit_test(atomic_does_not_leave_its_slot),
		cmocka_unit_test(ownership_changes_with_each_lap),
		cmocka_unit_test(space_in_front_of_the_head_is_stamped),
		cmocka_unit_test(space_in_front_of_lists_is_stamped),
		cmocka_unit_test(list_that_laps_itself_is_stamped_for),
		cmocka_unit_test(full_queue_names_the_first_that_does_not_fit),
		cmocka_unit_test(nothing_is_posted_before_rts),
		cmocka_unit_test(batch_leaves_stamps_until_it_is_complete),
		cmocka_unit_test(aborted_batch_leaves_stamps),
		cmocka_unit_test(long_batch_leaves_nothing_of_the_last_lap),
		cmocka_unit_test(long_batch_of_short_slots_writes_nothing_else),
		cmocka_unit_test(short_slots_are_not_stamped_at_any_index),
		cmocka_unit_test(doorbell_has_the_number_of_the_qp),
		cmocka_unit_test(blueflame_has_the_wqe_in_buffers_by_turns),
		cmocka_unit_test(blueflame_has_all_pieces),
	};

	return RIG_RUN(tests);
}
