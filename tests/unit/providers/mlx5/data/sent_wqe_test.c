/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sent_wqe_test.c - results of READs and atomics inside the CQE, copied to the buffers of the send
 * WQE: for each QP type, each position of the WQE in the ring, and each split into buffers. The
 * segments may wrap anywhere.
 *
 * Covers: providers/mlx5/data/sent_wqe.h, providers/mlx5/data/cq/cqe.c,
 * providers/mlx5/data/cq/cqe_error.c
 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/data/cq/poll.h"
#include "util/bits.h"

enum { RING = 8, ANSWER = 32, MOST_SGES = 4, GUARD = 16 };

/* Buffers, each between guards */
struct buffers {
	uint8_t bytes[MOST_SGES][GUARD + ANSWER + GUARD];
	struct ibv_sge sge[MOST_SGES];
	uint32_t count;
};

static void buffers_set_up(struct buffers *buffers, uint32_t length, uint32_t count)
{
	uint32_t part = length / count, left = length;

	memset(buffers->bytes, 0xee, sizeof(buffers->bytes));
	buffers->count = count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bytes = i + 1 == count ? left : part;

		buffers->sge[i] = (struct ibv_sge){ .addr = (uintptr_t)buffers->bytes[i] + GUARD,
						    .length = bytes,
						    .lkey = 7 };
		left -= bytes;
	}
}

static void bytes_are(const uint8_t *bytes, size_t from, size_t to, uint8_t value)
{
	for (size_t i = from; i < to; i++)
		assert_int_equal(bytes[i], value);
}

static void buffers_check(const struct buffers *buffers, const uint8_t *answer)
{
	for (uint32_t i = 0; i < buffers->count; i++) {
		const uint8_t *bytes = buffers->bytes[i];
		uint32_t length = buffers->sge[i].length;

		bytes_are(bytes, 0, GUARD, 0xee);
		assert_memory_equal(bytes + GUARD, answer, length);
		bytes_are(bytes, GUARD + length, sizeof(buffers->bytes[i]), 0xee);
		answer += length;
	}
}

struct operation {
	uint8_t opcode; /* MLX5_OPCODE_* */
	enum ibv_wc_opcode wc_opcode;
	uint32_t length; /* of the result */
};

static void put_operation(struct ibv_qp_ex *qpx, uint8_t opcode)
{
	if (opcode == MLX5_OPCODE_RDMA_READ)
		ibv_wr_rdma_read(qpx, 0x1234, 0x5000);
	else if (opcode == MLX5_OPCODE_ATOMIC_CS)
		ibv_wr_atomic_cmp_swp(qpx, 0x1234, 0x5000, 1, 2);
	else
		ibv_wr_atomic_fetch_add(qpx, 0x1234, 0x5000, 1);
}

static void request_post(struct rig *rig, enum ibv_qp_type type, uint8_t opcode,
			 struct buffers *buffers)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct mlx5_ah ah = { 0 };

	ibv_wr_start(qpx);
	qpx->wr_id = 5;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	put_operation(qpx, opcode);
	if (type == IBV_QPT_DRIVER)
		mlx5dv_wr_set_dc_addr(&rig->qp->dv_qp, &ah.ah, 0x654321, 0x0123456789abcdef);
	if (type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(qpx, 0x7788);
	ibv_wr_set_sge_list(qpx, buffers->count, buffers->sge);
	assert_int_equal(ibv_wr_complete(qpx), 0);
}

/* Delivers a result. The rig allocates the ring exactly, so that a sanitizer sees overreads. */
static void answer_arrives(enum ibv_qp_type type, const struct operation *operation, uint32_t start,
			   uint32_t count)
{
	struct rig *rig = rig_new(&(struct rig_options){
		.type = type, .sq_wqebbs = RING, .sq_pi = start, .send_sge = MOST_SGES });
	uint8_t answer[ANSWER];
	struct rig_cqe cqe = { .opcode = MLX5_CQE_REQ,
			       .send_opcode = operation->opcode,
			       .wqe_counter = (uint16_t)start,
			       .byte_cnt = operation->length,
			       .payload = answer };
	struct buffers buffers;
	struct ibv_wc wc;

	for (uint32_t i = 0; i < ANSWER; i++)
		answer[i] = (uint8_t)(i + 1);
	buffers_set_up(&buffers, operation->length, count);
	request_post(rig, type, operation->opcode, &buffers);
	rig_complete(rig, &cqe);
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.opcode, operation->wc_opcode);
	buffers_check(&buffers, answer);
	rig_free(rig);
}

static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_XRC_SEND, IBV_QPT_DRIVER };
static const struct operation operations[] = {
	{ MLX5_OPCODE_RDMA_READ, IBV_WC_RDMA_READ, ANSWER },
	{ MLX5_OPCODE_ATOMIC_CS, IBV_WC_COMP_SWAP, 8 },
	{ MLX5_OPCODE_ATOMIC_FA, IBV_WC_FETCH_ADD, 8 },
};

static void an_answer_goes_to_its_buffers_wherever_its_wqe_is(void **state)
{
	/* 0xfff8, so that the 16-bit index of the adapter wraps in that lap */
	static const uint32_t first[] = { 0, 0xfff8 };

	(void)state;
	for (unsigned int t = 0; t < ARRAY_SIZE(types); t++)
		for (unsigned int o = 0; o < ARRAY_SIZE(operations); o++)
			for (uint32_t at = 0; at < 2 * RING; at++)
				for (uint32_t n = 1; n <= MOST_SGES; n++)
					answer_arrives(types[t], &operations[o],
						       first[at / RING] + at % RING, n);
}

/* The log line of a failure reads remote address and first buffer from the WQE, so it must follow a
 * WQE that wraps at the end of the ring. */
static void a_failure_is_explained_wherever_its_wqe_is(void **state)
{
	(void)state;
	for (unsigned int t = 0; t < ARRAY_SIZE(types); t++) {
		for (uint32_t at = 0; at < RING; at++) {
			struct rig *rig = rig_new(&(struct rig_options){
				.type = types[t], .sq_wqebbs = RING, .sq_pi = at });
			struct rig_cqe cqe = { .opcode = MLX5_CQE_REQ_ERR,
					       .send_opcode = MLX5_OPCODE_ATOMIC_CS,
					       .wqe_counter = (uint16_t)at,
					       .syndrome = MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR };
			struct buffers buffers;
			struct ibv_wc wc;

			buffers_set_up(&buffers, 8, 1);
			request_post(rig, types[t], MLX5_OPCODE_ATOMIC_CS, &buffers);
			rig_complete(rig, &cqe);
			assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
			assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
			rig_free(rig);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_goes_to_its_buffers_wherever_its_wqe_is),
		cmocka_unit_test(a_failure_is_explained_wherever_its_wqe_is),
	};

	setenv("VERBS_LOG", "warn", 1);
	return RIG_RUN(tests);
}
