/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_error_test.c - the log line of a failed request: operation, remote address and first buffer
 * come from the WQE that the CQE names, in a send queue, a receive queue or an SRQ.
 *
 * Covers: providers/mlx4/data/cq/cqe_error.c, providers/common/failed_request.c
 */
#include "rig.h"

#include <string.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx5/cqe.h"
#include "providers/mlx4/srq.h"
#include "tests/unit/log_text.h"
#include "util/bits.h"

enum { REMOTE = 0x10203040, RKEY = 0x77 };

static struct ibv_sge buffers[] = { { 0x1000, 16, 7 }, { 0x2000, 32, 8 }, { 0x3000, 48, 9 } };

static void error_arrive(struct rig *rig, bool is_send, uint16_t index, unsigned int syndrome)
{
	const struct rig_cqe cqe = {
		.is_send = is_send, .wqe_index = index, .syndrome = syndrome, .vendor = 0x88
	};
	struct ibv_wc wc;

	log_text();
	rig_complete(rig, &cqe);
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
}

static void target_set(struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = REMOTE;
		wr->wr.atomic.rkey = RKEY;
		break;
	default:
		wr->wr.rdma.remote_addr = REMOTE;
		wr->wr.rdma.rkey = RKEY;
		break;
	}
}

static void a_send_request_is_named(void **state)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		unsigned int flags;
		const char *text;
	} rows[] = {
		{ IBV_WR_SEND, 0, "(SEND, first buffer 0x2000 of 32 bytes, lkey 0x8)" },
		{ IBV_WR_SEND, IBV_SEND_INLINE, "(SEND, 5 inline bytes)" },
		{ IBV_WR_SEND_WITH_IMM, 0, "(SEND_WITH_IMM, first buffer 0x2000" },
		{ IBV_WR_RDMA_WRITE, 0,
		  "(RDMA_WRITE, remote address 0x10203040, rkey 0x77, first buffer 0x2000 of 32" },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_SEND_INLINE,
		  "(RDMA_WRITE_WITH_IMM, remote address 0x10203040, rkey 0x77, 5 inline bytes)" },
		{ IBV_WR_RDMA_READ, 0,
		  "(RDMA_READ, remote address 0x10203040, rkey 0x77, first buffer 0x2000 of 32" },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, 0,
		  "(ATOMIC_CMP_AND_SWP, remote address 0x10203040, rkey 0x77, first buffer 0x20" },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, 0,
		  "(ATOMIC_FETCH_AND_ADD, remote address 0x10203040, rkey 0x77, first buffer 0x2" },
		{ IBV_WR_LOCAL_INV, 0, "(LOCAL_INV) failed" },
	};
	const struct rig_options options = { .max_inline = 64 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rig *rig = rig_new(&options);
		struct ibv_sge inlined = { (uintptr_t) "five", 5, 0 };
		bool is_inline = rows[i].flags & IBV_SEND_INLINE;
		struct ibv_send_wr wr = { .wr_id = 0xabcd,
					  .sg_list = is_inline ? &inlined : &buffers[1],
					  .num_sge = rows[i].opcode != IBV_WR_LOCAL_INV,
					  .opcode = rows[i].opcode,
					  .send_flags = rows[i].flags },
				   *bad;

		if (rows[i].opcode != IBV_WR_LOCAL_INV)
			target_set(&wr);
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		error_arrive(rig, true, 0, SYND_REMOTE_OP);
		check_logged(rows[i].text);
		rig_free(rig);
	}
}

/* The cure depends on the operation. Values that look wrong are named before it. */
static void a_cure_is_that_of_the_operation(void **state)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		unsigned int syndrome;
		uint64_t raddr;
		const char *text;
	} rows[] = {
		{ IBV_WR_RDMA_WRITE, SYND_REMOTE_ACCESS, REMOTE, "with wr_id 0xabcd (RDMA_WRITE" },
		{ IBV_WR_RDMA_WRITE, SYND_REMOTE_ACCESS, REMOTE,
		  "syndrome 0x13, remote access: the rkey is wrong" },
		{ IBV_WR_RDMA_WRITE, SYND_REMOTE_ACCESS, REMOTE,
		  "bound MW with IBV_ACCESS_REMOTE_WRITE on the PD" },
		{ IBV_WR_RDMA_WRITE, SYND_REMOTE_ACCESS, 0x00105634127f0000,
		  "byte-swapped, it may be 0x7f1234561000:" },
		{ IBV_WR_RDMA_READ, SYND_REMOTE_INVAL_REQ, REMOTE,
		  "IBV_ACCESS_REMOTE_READ in its qp_access_flags, and a max_dest_rd_atomic" },
		{ IBV_WR_SEND, SYND_REMOTE_INVAL_REQ, 0, "the peer's receive is shorter" },
		{ IBV_WR_SEND, SYND_RNR_EXCEEDED, 0,
		  "post a receive at the peer for each message" },
		{ IBV_WR_SEND, SYND_LOCAL_PROT, 0, "its lkey must be of a live MR" },
		{ IBV_WR_RDMA_READ, SYND_LOCAL_PROT, 0,
		  "with IBV_ACCESS_LOCAL_WRITE, which holds" },
		{ IBV_WR_SEND, 0x7f, 0, "syndrome 0x7f, unknown syndrome" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rig *rig = rig_new(NULL);
		struct ibv_send_wr wr = { .wr_id = 0xabcd,
					  .sg_list = buffers,
					  .num_sge = 1,
					  .opcode = rows[i].opcode },
				   *bad;

		wr.wr.rdma.remote_addr = rows[i].raddr;
		wr.wr.rdma.rkey = 0x9;
		assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		error_arrive(rig, true, 0, rows[i].syndrome);
		check_logged(rows[i].text);
		rig_free(rig);
	}
}

/* The address comes before the buffer in a datagram. */
static void a_datagram_has_other_limits(void **state)
{
	const struct rig_options options = { .type = IBV_QPT_UD };
	struct rig *rig = rig_new(&options);
	struct mlx4_ah ah = { .segment = { 0 } };
	struct ibv_send_wr wr = { .wr_id = 0xabcd,
				  .sg_list = &buffers[2],
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND },
			   *bad;

	(void)state;
	wr.wr.ud.ah = &ah.ah;
	assert_int_equal(mlx4_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	error_arrive(rig, true, 0, SYND_LOCAL_LENGTH);
	check_logged("(SEND, first buffer 0x3000 of 48 bytes, lkey 0x9) failed: syndrome 0x01, "
		     "local length: message longer than the buffers of the receive, or than the "
		     "port's limit; vendor syndrome 0x88, NAK: remote access; a datagram is one "
		     "packet");
	rig_free(rig);
}

static void a_receive_is_the_oldest_of_its_queue(void **state)
{
	const struct rig_cqe good = { .opcode = M4_RECV_SEND };
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct ibv_recv_wr wr = { .wr_id = 0x100 + i,
					  .sg_list = &buffers[i],
					  .num_sge = 1 };
		struct ibv_recv_wr *bad;

		assert_int_equal(mlx4_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	}
	rig_complete(rig, &good);
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	error_arrive(rig, false, 1, SYND_LOCAL_LENGTH);
	check_logged("the receive with wr_id 0x101 (RECV, first buffer 0x2000 of 32 bytes, lkey "
		     "0x8) failed");
	rig_free(rig);
}

static void a_receive_of_an_srq_is_that_of_the_index(void **state)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 4, .max_sge = 1 },
					     .comp_mask = IBV_SRQ_INIT_ATTR_PD };
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *vsrq;

	(void)state;
	attr.pd = rig->qp->vqp.qp.pd;
	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &vsrq), 0);
	rig->qp->srq = to_msrq(&vsrq->srq);
	for (unsigned int i = 0; i < 3; i++) {
		struct ibv_recv_wr wr = { .wr_id = 0x100 + i,
					  .sg_list = &buffers[i],
					  .num_sge = 1 };
		struct ibv_recv_wr *bad;

		assert_int_equal(mlx4_post_srq_recv(&vsrq->srq, &wr, &bad), 0);
	}
	error_arrive(rig, false, 2, SYND_LOCAL_PROT);
	check_logged("the receive with wr_id 0x102 (RECV, first buffer 0x3000 of 48 bytes, lkey "
		     "0x9) failed");
	rig->qp->srq = NULL;
	assert_int_equal(mlx4_srq_destroy(&vsrq->srq), 0);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_request_is_named),
		cmocka_unit_test(a_cure_is_that_of_the_operation),
		cmocka_unit_test(a_datagram_has_other_limits),
		cmocka_unit_test(a_receive_is_the_oldest_of_its_queue),
		cmocka_unit_test(a_receive_of_an_srq_is_that_of_the_index),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
