/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_error_test.c - the log line of a failed request: operation, remote address and first buffer
 * come from the WQE that the CQE names, in a send queue, a receive queue or an SRQ.
 */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/srq.h"
#include "tests/unit/log_text.h"
#include "util/bits.h"

enum { REMOTE = 0x10203040, RKEY = 0x77 };

static struct ibv_sge buffers[] = { { 0x1000, 16, 7 }, { 0x2000, 32, 8 }, { 0x3000, 48, 9 } };

static void error_arrive(struct rig *rig, unsigned int opcode, uint16_t counter)
{
	struct ibv_wc wc;

	rig_complete(rig, &(struct rig_cqe){ .opcode = opcode,
					     .wqe_counter = counter,
					     .syndrome = MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
					     .vendor = 0x88 });
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(wc.vendor_err, 0x88);
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
		{ IBV_WR_SEND_WITH_INV, 0, "(SEND_WITH_INV, first buffer 0x2000" },
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
		{ IBV_WR_LOCAL_INV, 0, "(BIND_MW, LOCAL_INV or layout of a memory key)" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rig *rig = rig_new(NULL);
		struct ibv_sge inlined = { (uintptr_t) "five", 5, 0 };
		bool is_inline = rows[i].flags & IBV_SEND_INLINE;
		struct ibv_send_wr wr = { .wr_id = 0xabcd,
					  .sg_list = is_inline ? &inlined : &buffers[1],
					  .num_sge = rows[i].opcode != IBV_WR_LOCAL_INV,
					  .opcode = rows[i].opcode,
					  .send_flags = rows[i].flags },
				   *bad;

		if (rows[i].opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		    rows[i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			wr.wr.atomic.remote_addr = REMOTE;
			wr.wr.atomic.rkey = RKEY;
		} else if (rows[i].opcode != IBV_WR_SEND_WITH_INV &&
			   rows[i].opcode != IBV_WR_LOCAL_INV) {
			wr.wr.rdma.remote_addr = REMOTE;
			wr.wr.rdma.rkey = RKEY;
		}
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		log_text();
		error_arrive(rig, MLX5_CQE_REQ_ERR, 0);
		check_logged(rows[i].text);
		rig_free(rig);
	}
}

/* A request without buffers has none to blame, so the line names none. */
static void a_send_of_nothing_has_no_buffer(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_send_wr wr = { .wr_id = 0xabcd, .opcode = IBV_WR_SEND }, *bad;

	(void)state;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	log_text();
	error_arrive(rig, MLX5_CQE_REQ_ERR, 0);
	check_logged("the send request with wr_id 0xabcd (SEND) failed: syndrome 0x13");
	rig_free(rig);
}

/* Values of a request that look wrong are named before any other cause, as they are the more
 * precise hint. */
static void values_that_look_wrong_are_named(void **state)
{
	static const struct {
		uint64_t raddr;
		uint32_t rkey;
		const char *text;
	} rows[] = {
		{ 0x1000, 0x9,
		  "the rkey must be of a live MR or bound MW with IBV_ACCESS_REMOTE_WRITE" },
		{ 0, 0, "remote address and rkey are 0" },
		{ 0x00105634127f0000, 0x9, "byte-swapped, it may be 0x7f1234561000:" },
		{ 0x00001034127f0000, 0x9, "the rkey must be of a live MR" },
		{ 0x5634127f0000, 0x9, "the rkey must be of a live MR" },
		{ 0x7f12347f0000, 0x9, "the rkey must be of a live MR" },
		{ 0x1000, 0x09000000, "the rkey looks byte-swapped, it may be 0x9:" },
		{ 0x1000, 0x501234, "the rkey must be of a live MR" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rig *rig = rig_new(NULL);
		struct ibv_send_wr wr = { .sg_list = buffers,
					  .num_sge = 1,
					  .opcode = IBV_WR_RDMA_WRITE },
				   *bad;

		wr.wr.rdma.remote_addr = rows[i].raddr;
		wr.wr.rdma.rkey = rows[i].rkey;
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		log_text();
		error_arrive(rig, MLX5_CQE_REQ_ERR, 0);
		check_logged(rows[i].text);
		rig_free(rig);
	}
}

/* A write takes a receive only with immediate data, and polling asks the kernel nothing. */
static void a_cure_is_that_of_the_operation(void **state)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint8_t syndrome;
		const char *end;
	} rows[] = {
		{ IBV_WR_RDMA_WRITE, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, "syndrome\n" },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR,
		  "takes a receive too: post one at the peer for each\n" },
		{ IBV_WR_LOCAL_INV, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, "syndrome\n" },
		{ IBV_WR_SEND, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, "syndrome\n" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rig *rig = rig_new(NULL);
		struct ibv_send_wr wr = { .sg_list = buffers,
					  .num_sge = rows[i].opcode != IBV_WR_LOCAL_INV,
					  .opcode = rows[i].opcode },
				   *bad;
		struct ibv_wc wc;

		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		log_text();
		rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ_ERR,
						     .syndrome = rows[i].syndrome });
		assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
		check_logged(rows[i].end);
		rig_free(rig);
	}
}

static void a_receive_is_the_oldest_of_its_queue(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct ibv_recv_wr wr = { .wr_id = 0x100 + i,
					  .sg_list = &buffers[i],
					  .num_sge = 1 };
		struct ibv_recv_wr *bad;

		assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	}
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND, .byte_cnt = 1 });
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	log_text();
	error_arrive(rig, MLX5_CQE_RESP_ERR, 1);
	check_logged(
		"the receive with wr_id 0x101 (RECV, first buffer 0x2000 of 32 bytes, lkey 0x8)");
	rig_free(rig);
}

enum { WQES = 4 };

struct srq_of_rig {
	struct mlx5_srq srq;
	uint8_t ring[WQES << 6];
	uint64_t wr_ids[WQES];
	__be32 dbrec[2];
};

static void srq_begin(struct rig *rig, struct srq_of_rig *of)
{
	struct mlx5_srq *srq = &of->srq;

	memset(of, 0, sizeof(*of));
	srq->ring = of->ring;
	srq->wr_ids = of->wr_ids;
	srq->stride_log = 6;
	srq->max_sge = 3;
	srq->wqes = WQES;
	srq->max_wr = WQES - 1;
	srq->dbrec = of->dbrec;
	srq->post = mlx5_post_srq_routine(srq->max_sge, true);
	qlock_init(&srq->lock, true);
	assert_int_equal(mlx5_srq_ring_init(srq), 0);
	rig->qp->rq.srq = srq;
	rig->qp->rq.special = RQ_SHARED;
}

/* The WQE counter exceeds the ring, so only its low bits are the WQE's index. */
static void a_receive_of_an_srq_is_the_one_that_its_cqe_names(void **state)
{
	static const struct {
		uint16_t counter;
		const char *text;
	} rows[] = {
		{ 1, "wr_id 0x101 (RECV, first buffer 0x2000 of 32 bytes, lkey 0x8)" },
		{ 0xfffe, "wr_id 0x102 (RECV, first buffer 0x3000 of 48 bytes, lkey 0x9)" },
		{ 0, "wr_id 0x100 (RECV, first buffer 0x1000 of 16 bytes, lkey 0x7)" },
	};
	struct rig *rig = rig_new(NULL);
	struct srq_of_rig of;

	(void)state;
	srq_begin(rig, &of);
	for (unsigned int i = 0; i < 3; i++) {
		struct ibv_recv_wr wr = { .wr_id = 0x100 + i,
					  .sg_list = &buffers[i],
					  .num_sge = 1 };
		struct ibv_recv_wr *bad;

		assert_int_equal(mlx5_post_srq_recv(&of.srq.vsrq.srq, &wr, &bad), 0);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		rig->qp->rq.error_reported = false;
		log_text();
		error_arrive(rig, MLX5_CQE_RESP_ERR, rows[i].counter);
		check_logged(rows[i].text);
	}
	mlx5_srq_ring_free(&of.srq);
	rig_free(rig);
}

/* Only the first failure of a queue has a line, since it causes the others. */
static void only_the_first_failure_is_explained(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_send_wr wr = { .sg_list = buffers, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	log_text();
	error_arrive(rig, MLX5_CQE_REQ_ERR, 0);
	check_logged("remote access");
	error_arrive(rig, MLX5_CQE_REQ_ERR, 1);
	assert_string_equal(log_text(), "");
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_request_is_named),
		cmocka_unit_test(a_send_of_nothing_has_no_buffer),
		cmocka_unit_test(values_that_look_wrong_are_named),
		cmocka_unit_test(a_cure_is_that_of_the_operation),
		cmocka_unit_test(a_receive_is_the_oldest_of_its_queue),
		cmocka_unit_test(a_receive_of_an_srq_is_the_one_that_its_cqe_names),
		cmocka_unit_test(only_the_first_failure_is_explained),
	};

	log_to_memory();
	return RIG_RUN(tests);
}
