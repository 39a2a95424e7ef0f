/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_test.c - conversion of CQEs to work completions, by ibv_poll_cq() and by the extended
 * readers.
 *
 * Covers: providers/mlx5/data/cq/cqe.h, providers/mlx5/data/cq/cqe.c,
 * providers/mlx5/data/cq/poll_cq.c, providers/mlx5/data/cq/cq_ex.c,
 * providers/mlx5/data/cq/cq_ring.c, providers/mlx5/data/cq/cqe_error.c,
 * providers/mlx5/data/cq/cqe_run.c, providers/common/cq_ring.c
 */
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/cq/poll.h"
#include "rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/bits.h"

#include <rdma/mlx5-abi.h>

static void post_sends(struct rig *rig, unsigned int n, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { .addr = 0x1000, .length = 0x10, .lkey = 1 };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode }, *bad;

	for (unsigned int i = 0; i < n; i++) {
		wr.wr_id = 100 + i;
		wr.send_flags = IBV_SEND_SIGNALED;
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	}
}

static void post_recvs(struct rig *rig, unsigned int n)
{
	struct ibv_sge sge = { .addr = 0x1000, .length = 0x10, .lkey = 1 };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	for (unsigned int i = 0; i < n; i++) {
		wr.wr_id = 200 + i;
		assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	}
}

static int poll_cq(struct rig *rig, int n, struct ibv_wc *wc)
{
	memset(wc, 0xee, (size_t)n * sizeof(*wc));
	return mlx5_poll_cq(&rig->cq->vcq.cq, n, wc);
}

static uint32_t published_ci(const struct rig *rig)
{
	return be32toh(rig->cq->dbrec[0]);
}

struct send_case {
	enum ibv_wr_opcode posted;
	uint8_t send_opcode;
	enum ibv_wc_opcode opcode;
	unsigned int flags; /* of ibv_wc */
};

static void each_send_opcode_has_its_wc_opcode(void **state)
{
	static const struct send_case cases[] = {
		{ IBV_WR_SEND, MLX5_OPCODE_SEND, IBV_WC_SEND, 0 },
		{ IBV_WR_SEND_WITH_IMM, MLX5_OPCODE_SEND_IMM, IBV_WC_SEND, IBV_WC_WITH_IMM },
		{ IBV_WR_SEND_WITH_INV, MLX5_OPCODE_SEND_INVAL, IBV_WC_SEND, 0 },
		{ IBV_WR_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE, IBV_WC_RDMA_WRITE, 0 },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, MLX5_OPCODE_RDMA_WRITE_IMM, IBV_WC_RDMA_WRITE,
		  IBV_WC_WITH_IMM },
		{ IBV_WR_RDMA_READ, MLX5_OPCODE_RDMA_READ, IBV_WC_RDMA_READ, 0 },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, MLX5_OPCODE_ATOMIC_CS, IBV_WC_COMP_SWAP, 0 },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, MLX5_OPCODE_ATOMIC_FA, IBV_WC_FETCH_ADD, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig *rig = rig_new(NULL);
		struct ibv_poll_cq_attr attr = { 0 };
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct rig_cqe cqe = { .send_opcode = cases[i].send_opcode, .byte_cnt = 8 };
		struct ibv_wc wc;

		post_sends(rig, 2, cases[i].posted);
		rig_complete(rig, &cqe);
		cqe.wqe_counter = 1;
		rig_complete(rig, &cqe);

		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.wr_id, 100);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, cases[i].opcode);
		assert_int_equal(wc.vendor_err, 0);
		assert_int_equal(wc.byte_len, 8);
		assert_int_equal(wc.qp_num, RIG_QPN);
		assert_int_equal(wc.wc_flags, cases[i].flags);

		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		assert_int_equal(cqx->wr_id, 101);
		assert_int_equal(cqx->status, IBV_WC_SUCCESS);
		assert_int_equal(ibv_wc_read_opcode(cqx), cases[i].opcode);
		assert_int_equal(ibv_wc_read_byte_len(cqx), 8);
		assert_int_equal(ibv_wc_read_qp_num(cqx), RIG_QPN);
		assert_int_equal(ibv_wc_read_wc_flags(cqx), 0);
		assert_int_equal(ibv_wc_read_vendor_err(cqx), 0);
		assert_int_equal(ibv_wc_read_completion_ts(cqx), 0x1122334455667788);
		ibv_end_poll(cqx);
		assert_int_equal(published_ci(rig), 2);
		rig_free(rig);
	}
}

/* With real-time timestamps, the CQE has seconds in the upper 32 bits and nanoseconds in the lower
 * ones. PRM: CQE */
static void real_time_is_seconds_and_nanoseconds(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	rig->cq->kernel_flags = MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
	mlx5_cq_ex_fill(rig->cq, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
	post_sends(rig, 1, IBV_WR_SEND);
	rig_complete(rig, &(struct rig_cqe){ .send_opcode = MLX5_OPCODE_SEND });
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(ibv_wc_read_completion_wallclock_ns(cqx),
			 0x11223344ull * 1000000000 + 0x55667788);
	ibv_end_poll(cqx);
	rig_free(rig);
}

struct recv_case {
	unsigned int opcode;
	uint32_t flags_rqpn;
	enum ibv_wc_opcode wc_opcode;
	unsigned int wc_flags;
	uint32_t imm; /* as in ibv_wc */
};

static void each_receive_says_what_came(void **state)
{
	const struct recv_case cases[] = {
		{ MLX5_CQE_RESP_SEND, 0x03000042, IBV_WC_RECV, 0, 0 },
		{ MLX5_CQE_RESP_SEND, 0x13000042, IBV_WC_RECV, IBV_WC_GRH, 0 },
		{ MLX5_CQE_RESP_SEND_IMM, 0x03000042, IBV_WC_RECV, IBV_WC_WITH_IMM,
		  htobe32(0x01020304) },
		{ MLX5_CQE_RESP_SEND_INV, 0x03000042, IBV_WC_RECV, IBV_WC_WITH_INV, 0x01020304 },
		{ MLX5_CQE_RESP_WR_IMM, 0x03000042, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM,
		  htobe32(0x01020304) },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig *rig = rig_new(NULL);
		struct ibv_poll_cq_attr attr = { 0 };
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct rig_cqe cqe = { .opcode = cases[i].opcode,
				       .flags_rqpn = cases[i].flags_rqpn };
		struct ibv_wc wc;

		cqe.byte_cnt = 0x123;
		cqe.imm = htobe32(0x01020304);
		post_recvs(rig, 2);
		rig_complete(rig, &cqe);
		rig_complete(rig, &cqe);

		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.wr_id, 200);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, cases[i].wc_opcode);
		assert_int_equal(wc.wc_flags, cases[i].wc_flags);
		assert_int_equal(wc.byte_len, 0x123);
		assert_int_equal(wc.qp_num, RIG_QPN);
		assert_int_equal(wc.src_qp, 0x42);
		assert_int_equal(wc.sl, 3);
		if (cases[i].imm)
			assert_int_equal(wc.imm_data, cases[i].imm);

		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		assert_int_equal(cqx->wr_id, 201);
		assert_int_equal(ibv_wc_read_opcode(cqx), cases[i].wc_opcode);
		assert_int_equal(ibv_wc_read_wc_flags(cqx), cases[i].wc_flags);
		assert_int_equal(ibv_wc_read_byte_len(cqx), 0x123);
		assert_int_equal(ibv_wc_read_src_qp(cqx), 0x42);
		assert_int_equal(ibv_wc_read_sl(cqx), 3);
		if (cases[i].imm)
			assert_int_equal(ibv_wc_read_imm_data(cqx), cases[i].imm);
		ibv_end_poll(cqx);
		rig_free(rig);
	}
}

static void an_empty_cq_has_nothing(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(poll_cq(rig, 1, &wc), 0);
	assert_int_equal(ibv_start_poll(&rig->cq->vcq.cq_ex, &attr), ENOENT);
	assert_int_equal(poll_cq(rig, 1, &wc), 0); /* skipping it released the lock */
	attr.comp_mask = 1;
	assert_int_equal(ibv_start_poll(&rig->cq->vcq.cq_ex, &attr), EINVAL);
	assert_int_equal(poll_cq(rig, 1, &wc), 0);
	assert_int_equal(published_ci(rig), 0);
	rig_free(rig);
}

static void next_poll_goes_on_until_there_is_none(void **state)
{
	struct rig *rig =
		/* so that the 4 CQEs pass the end of the ring of 8 */
		rig_new(&(struct rig_options){ .cq_ci = 6 });
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	post_recvs(rig, 4);
	for (unsigned int i = 0; i < 4; i++)
		rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND });
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(cqx->wr_id, 200 + i);
		assert_int_equal(ibv_next_poll(cqx), i < 3 ? 0 : ENOENT);
	}
	ibv_end_poll(cqx);
	assert_int_equal(published_ci(rig), 10);
	rig_free(rig);
}

/* The ring wraps many times, so that the consumer index passes its 24 bits. */
static void the_ring_laps_and_the_index_has_24_bits(void **state)
{
	static const uint32_t starts[] = { 0, 0xfffff0, 0xfffffff0 };

	(void)state;
	for (unsigned int s = 0; s < ARRAY_SIZE(starts); s++) {
		struct rig *rig = rig_new(&(struct rig_options){ .cqes = 4, .cq_ci = starts[s] });
		struct ibv_wc wc[4];

		for (unsigned int i = 0; i < 40; i++) {
			unsigned int n = i % 4 + 1;

			post_recvs(rig, n);
			for (unsigned int k = 0; k < n; k++)
				rig_complete(rig,
					     &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND });
			assert_int_equal(poll_cq(rig, 4, wc), n);
			for (unsigned int k = 0; k < n; k++)
				assert_int_equal(wc[k].wr_id, 200 + k);
			assert_int_equal(published_ci(rig), rig->cq_pi & 0xffffff);
			assert_int_equal(poll_cq(rig, 4, wc), 0);
		}
		rig_free(rig);
	}
}

/* ---- payload inside the CQE */

struct payload_case {
	uint32_t cqe_size, bytes;
	uint32_t room[3];
	enum ibv_wc_status status;
};

static const struct payload_case payloads[] = {
	{ 64, 32, { 32 }, IBV_WC_SUCCESS },          { 64, 5, { 2, 2, 2 }, IBV_WC_SUCCESS },
	{ 64, 32, { 31, 1 }, IBV_WC_SUCCESS },       { 128, 32, { 40 }, IBV_WC_SUCCESS },
	{ 128, 64, { 10, 20, 34 }, IBV_WC_SUCCESS }, { 64, 20, { 10, 9 }, IBV_WC_LOC_LEN_ERR },
	{ 64, 1, { 0 }, IBV_WC_LOC_LEN_ERR },        { 128, 64, { 64 }, IBV_WC_SUCCESS },
};

struct target {
	uint8_t bytes[3][64];
	struct ibv_sge sge[3];
};

static int target_set_up(struct target *target, const struct payload_case *test)
{
	int n = 0;

	memset(target, 0, sizeof(*target));
	for (unsigned int i = 0; i < 3 && test->room[i]; i++, n++)
		target->sge[i] = (struct ibv_sge){ .addr = (uintptr_t)target->bytes[i],
						   .length = test->room[i] };
	return n;
}

static void target_check(const struct target *target, const struct payload_case *test,
			 const uint8_t *payload)
{
	uint32_t at = 0;

	for (unsigned int i = 0; i < 3; i++) {
		uint32_t part = min_of(test->room[i], test->bytes - at);

		assert_memory_equal(target->bytes[i], payload + at, part);
		if (part < 64)
			assert_int_equal(target->bytes[i][part], 0);
		at += part;
	}
}

static void a_message_inside_the_cqe_is_copied_out(void **state)
{
	uint8_t payload[64];

	(void)state;
	for (unsigned int i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(i + 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(payloads); i++) {
		const struct payload_case *test = &payloads[i];
		struct rig *rig =
			rig_new(&(struct rig_options){ .cqe_size = test->cqe_size, .recv_sge = 4 });
		struct rig_cqe cqe = { .opcode = MLX5_CQE_RESP_SEND,
				       .byte_cnt = test->bytes,
				       .payload = payload };
		struct target target;
		struct ibv_recv_wr wr = { .wr_id = 5, .sg_list = target.sge }, *bad;
		struct ibv_wc wc;

		wr.num_sge = target_set_up(&target, test);
		assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
		rig_complete(rig, &cqe);
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.wr_id, 5);
		assert_int_equal(wc.status, test->status);
		target_check(&target, test, payload);
		rig_free(rig);
	}
}

/* A scatter list that fills its WQE has no terminator, so the library must not go on in the next
 * WQE. */
static void a_list_that_fills_its_wqe_ends_with_it(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .recv_sge = 2 });
	const struct rig_cqe cqe = { .opcode = MLX5_CQE_RESP_SEND,
				     .byte_cnt = 20,
				     .payload = "abcdefghijklmnopqrst" };
	uint8_t bytes[3][16] = { { 0 } };
	struct ibv_sge sges[] = { { .addr = (uintptr_t)bytes[0], .length = 8 },
				  { .addr = (uintptr_t)bytes[1], .length = 8 },
				  { .addr = (uintptr_t)bytes[2], .length = 16 } };
	struct ibv_recv_wr next = { .sg_list = &sges[2], .num_sge = 1 }, *bad;
	struct ibv_recv_wr wr = { .next = &next, .sg_list = sges, .num_sge = 2 };
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &wr, &bad), 0);
	rig_complete(rig, &cqe);
	assert_int_equal(poll_cq(rig, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_LOC_LEN_ERR);
	assert_memory_equal(bytes[1], "ijklmnop", 8);
	assert_int_equal(bytes[2][0], 0);
	rig_free(rig);
}

static void read_data_inside_the_cqe_is_copied_out(void **state)
{
	uint8_t payload[64];

	(void)state;
	for (unsigned int i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)(0x80 + i);
	for (unsigned int i = 0; i < ARRAY_SIZE(payloads); i++) {
		const struct payload_case *test = &payloads[i];
		/* starts at the last WQEBB, so the list continues at the start of the ring */
		struct rig *rig =
			rig_new(&(struct rig_options){ .cqe_size = test->cqe_size, .sq_pi = 7 });
		struct rig_cqe cqe = { .send_opcode = MLX5_OPCODE_RDMA_READ,
				       .byte_cnt = test->bytes };
		struct target target;
		struct ibv_send_wr wr = { .wr_id = 5,
					  .sg_list = target.sge,
					  .opcode = IBV_WR_RDMA_READ },
				   *bad;
		struct ibv_wc wc;

		cqe.payload = payload;
		cqe.wqe_counter = 7;
		wr.num_sge = target_set_up(&target, test);
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		rig_complete(rig, &cqe);
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.wr_id, 5);
		assert_int_equal(wc.status, test->status);
		assert_int_equal(wc.opcode, IBV_WC_RDMA_READ);
		target_check(&target, test, payload);
		rig_free(rig);
	}
}

/* The first SGE is of the null region, with the address of the first buffer. The payload must not
 * go there, as an adapter drops bytes for that region. */
static void a_payload_inside_the_cqe_is_not_copied_to_the_null_region(void **state)
{
	uint8_t payload[64];

	(void)state;
	memset(payload, 0x5a, sizeof(payload));
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(payloads); i++) {
		const struct payload_case *test = &payloads[i / 2];
		bool read = i % 2;
		struct rig *rig =
			rig_new(&(struct rig_options){ .cqe_size = test->cqe_size, .recv_sge = 4 });
		struct target target;
		struct ibv_recv_wr recv = { .sg_list = target.sge }, *bad_recv;
		struct ibv_send_wr send = { .sg_list = target.sge, .opcode = IBV_WR_RDMA_READ },
				   *bad;
		struct ibv_wc wc;

		send.num_sge = recv.num_sge = target_set_up(&target, test);
		target.sge[0].lkey = RIG_NULL_LKEY;
		if (read)
			assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &send, &bad), 0);
		else
			assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &recv, &bad_recv), 0);
		rig_complete(rig,
			     &(struct rig_cqe){ .opcode = read ? MLX5_CQE_REQ : MLX5_CQE_RESP_SEND,
						.send_opcode = MLX5_OPCODE_RDMA_READ,
						.byte_cnt = test->bytes,
						.payload = payload });
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.status, test->status);
		for (unsigned int at = 0; at < sizeof(target.bytes[0]); at++)
			assert_int_equal(target.bytes[0][at], 0);
		if (test->room[1])
			assert_int_equal(target.bytes[1][0], 0x5a);
		rig_free(rig);
	}
}

/* An atomic of verbs has 8 bytes, so the library takes as many, whatever byte count the CQE has,
 * inside the CQE or in memory. */
static void an_atomic_has_8_bytes_whatever_the_cqe_says(void **state)
{
	static const uint32_t said[] = { 8, 0, 4, 32, 0x80000000 };

	(void)state;
	for (unsigned int i = 0; i < 8 * ARRAY_SIZE(said); i++) {
		struct rig *rig = rig_new(NULL);
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct ibv_poll_cq_attr attr = { 0 };
		bool swap = i & 1, in_cqe = i & 2, readers = i & 4;
		uint64_t old[4] = { 0x1020304050607080, 1, 2, 3 }, result[2] = { 0 };
		struct ibv_sge sge = { .addr = (uintptr_t)result, .length = 8 };
		struct ibv_send_wr wr = { .sg_list = &sge,
					  .num_sge = 1,
					  .opcode = swap ? IBV_WR_ATOMIC_CMP_AND_SWP
							 : IBV_WR_ATOMIC_FETCH_AND_ADD },
				   *bad;
		struct rig_cqe cqe = { .send_opcode =
					       swap ? MLX5_OPCODE_ATOMIC_CS : MLX5_OPCODE_ATOMIC_FA,
				       .byte_cnt = said[i / 8] };
		struct ibv_wc wc;

		if (in_cqe && cqe.byte_cnt <= sizeof(old))
			cqe.payload = old;
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
		rig_complete(rig, &cqe);
		/* With a count of 0, the adapter still writes 8 bytes. */
		if (cqe.payload)
			memcpy(rig->cq->ring, old, 8);
		if (readers) {
			assert_int_equal(ibv_start_poll(cqx, &attr), 0);
			wc.status = cqx->status;
			wc.opcode = ibv_wc_read_opcode(cqx);
			wc.byte_len = ibv_wc_read_byte_len(cqx);
			wc.wc_flags = ibv_wc_read_wc_flags(cqx);
			ibv_end_poll(cqx);
		} else {
			assert_int_equal(poll_cq(rig, 1, &wc), 1);
		}
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.opcode, swap ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD);
		assert_int_equal(wc.byte_len, 8);
		assert_int_equal(wc.wc_flags, 0);
		assert_true(result[0] == (cqe.payload ? old[0] : 0));
		assert_true(!result[1]);
		rig_free(rig);
	}
}

struct error_case {
	uint8_t syndrome;
	enum ibv_wc_status status;
};

/* ---- compressed CQEs: a title, and arrays of mini CQEs */

enum { MINI = 8, MINIS = 8, COMPRESSED = 3 << 2, RUN = 11, RUN_RING = 16 };

static uint8_t *cqe_at_pi(struct rig *rig, uint32_t pi)
{
	size_t size = (size_t)1 << rig->cq->entry_log;

	return (uint8_t *)rig->cq->buf.addr + (pi & rig->cq->mask) * size + size - 64;
}

/* Writes a run as the adapter does: each array takes the entry of its first completion, except that
 * the first array follows the title. */
static void run_arrives(struct rig *rig, struct rig_cqe title, const uint8_t (*mini)[MINI])
{
	uint32_t first = rig->cq_pi;

	for (uint32_t i = 0; i < RUN; i++)
		memcpy(cqe_at_pi(rig, first + (i < MINIS ? 1 : i / MINIS * MINIS)) +
			       i % MINIS * MINI,
		       mini[i], MINI);
	title.byte_cnt = RUN;
	rig_complete(rig, &title);
	cqe_at_pi(rig, first)[63] |= COMPRESSED;
	rig->cq_pi = first + RUN;
}

static void messages_are_read(struct rig *rig, bool extended)
{
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_wc wc[4 + RUN];

	if (!extended)
		assert_int_equal(poll_cq(rig, 4, wc) + poll_cq(rig, RUN, wc + 4), RUN);
	for (unsigned int i = 0; i < RUN; i++) {
		if (extended) {
			assert_int_equal(i ? ibv_next_poll(cqx) : ibv_start_poll(cqx, &attr), 0);
			wc[i] = (struct ibv_wc){ .wr_id = cqx->wr_id,
						 .status = cqx->status,
						 .byte_len = ibv_wc_read_byte_len(cqx),
						 .src_qp = ibv_wc_read_src_qp(cqx) };
		}
		assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
		assert_int_equal(wc[i].wr_id, 200 + i);
		assert_int_equal(wc[i].byte_len, 1000 + i);
		assert_int_equal(wc[i].src_qp, 0x42);
	}
	if (extended)
		ibv_end_poll(cqx);
}

/* Fills mini CQEs of messages with the checksum format. */
static void minis_of_messages(uint8_t (*mini)[MINI])
{
	for (uint32_t i = 0; i < RUN; i++) {
		memset(mini[i], 0xa5, MINI / 2);
		*(__be32 *)(mini[i] + MINI / 2) = htobe32(1000 + i);
	}
}

/* One more CQE fits behind the run, in the next lap. The starts differ so that the run stays in one
 * lap, passes the end of the ring, or passes the 32 bits of the index. */
static void a_run_is_taken_apart(void **state)
{
	static const uint32_t sizes[] = { 64, 128 }, starts[] = { 0, 4, 9, 0xfffffffa };
	struct rig_cqe cqe = { .opcode = MLX5_CQE_RESP_SEND, .flags_rqpn = 0x42 };
	uint8_t mini[RUN][MINI];
	struct ibv_wc wc;

	(void)state;
	minis_of_messages(mini);
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(sizes) * ARRAY_SIZE(starts); i++) {
		struct rig *rig = rig_new(&(struct rig_options){ .cqes = RUN_RING,
								 .cqe_size = sizes[i / 2 % 2],
								 .rq_wqes = 16,
								 .cq_ci = starts[i / 4] });

		post_recvs(rig, RUN + 1);
		run_arrives(rig, cqe, mini);
		messages_are_read(rig, i % 2);
		assert_int_equal(poll_cq(rig, 1, &wc), 0);
		cqe.byte_cnt = 77;
		rig_complete(rig, &cqe);
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.wr_id, 200 + RUN);
		assert_int_equal(wc.byte_len, 77);
		assert_int_equal(poll_cq(rig, 1, &wc), 0);
		rig_free(rig);
	}
}

/* In a run of requests, each mini CQE has a WQE counter and an opcode. PRM: CQE Compression */
static void a_run_of_requests_names_each(void **state)
{
	static const uint8_t opcodes[] = { MLX5_OPCODE_SEND, MLX5_OPCODE_RDMA_WRITE,
					   MLX5_OPCODE_SEND_IMM };
	struct rig *rig =
		rig_new(&(struct rig_options){ .cqes = RUN_RING, .sq_wqebbs = 32, .max_send = 32 });
	uint8_t mini[RUN][MINI] = { 0 };
	struct ibv_wc wc[RUN + 1];

	(void)state;
	post_sends(rig, 2 * RUN, IBV_WR_SEND);
	for (uint32_t i = 0; i < RUN; i++) {
		mini[i][1] = (uint8_t)(2 * i);
		mini[i][2] = opcodes[i % 3];
	}
	run_arrives(rig, (struct rig_cqe){ .opcode = MLX5_CQE_REQ, .wqe_counter = 0x1234 }, mini);
	assert_int_equal(poll_cq(rig, RUN + 1, wc), RUN);
	for (uint32_t i = 0; i < RUN; i++) {
		const struct mlx5_cqe64 *cqe = (const void *)cqe_at_pi(rig, i);

		assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
		assert_int_equal(wc[i].wr_id, 100 + 2 * i);
		assert_int_equal(wc[i].opcode, IBV_WC_SEND);
		assert_int_equal(wc[i].qp_num, RIG_QPN);
		assert_int_equal(be32toh(cqe->sop_drop_qpn),
				 (uint32_t)opcodes[i % 3] << 24 | RIG_QPN);
	}
	rig_free(rig);
}

static void a_run_fills_the_ring(void **state)
{
	enum { LONG = 128 };

	(void)state;
	for (uint32_t start = 0; start < 2 * LONG; start += LONG - 3) {
		struct rig *rig = rig_new(
			&(struct rig_options){ .cqes = LONG, .rq_wqes = LONG, .cq_ci = start });
		struct rig_cqe title = { .opcode = MLX5_CQE_RESP_SEND, .byte_cnt = LONG };
		struct ibv_wc wc[LONG];

		post_recvs(rig, LONG);
		rig_complete(rig, &title);
		cqe_at_pi(rig, start)[63] |= COMPRESSED;
		for (uint32_t i = 0; i < LONG; i++) {
			uint32_t array = start + (i < MINIS ? 1 : i / MINIS * MINIS);

			*(__be32 *)(cqe_at_pi(rig, array) + i % MINIS * MINI + MINI / 2) =
				htobe32(1000 + i);
		}
		assert_int_equal(poll_cq(rig, LONG, wc), LONG);
		for (uint32_t i = 0; i < LONG; i++) {
			assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
			assert_int_equal(wc[i].wr_id, 200 + i);
			assert_int_equal(wc[i].byte_len, 1000 + i);
		}
		rig_free(rig);
	}
}

/* A count that no run can have fails the request, as the run cannot be read. */
static void a_run_of_no_length_fails_its_request(void **state)
{
	static const uint32_t counts[] = { 0, RUN_RING + 1, 0x10000, 0xffffffff };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(counts); i++) {
		struct rig *rig = rig_new(&(struct rig_options){ .cqes = RUN_RING });
		struct rig_cqe cqe = { .opcode = MLX5_CQE_RESP_SEND, .byte_cnt = counts[i] };
		struct ibv_wc wc;

		post_recvs(rig, 1);
		rig_complete(rig, &cqe);
		cqe_at_pi(rig, 0)[63] |= COMPRESSED;
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		assert_int_equal(wc.status, IBV_WC_GENERAL_ERR);
		assert_int_equal(wc.wr_id, 200);
		assert_int_equal(poll_cq(rig, 1, &wc), 0);
		rig_free(rig);
	}
}

/* The arrays of a run for an unknown QP are skipped, as they must not be read as CQEs. */
static void a_run_of_an_unknown_qp_is_skipped(void **state)
{
	(void)state;
	for (unsigned int extended = 0; extended < 2; extended++) {
		struct rig *rig = rig_new(&(struct rig_options){ .cqes = RUN_RING, .rq_wqes = 16 });
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct ibv_poll_cq_attr attr = { 0 };
		struct ibv_wc wc;
		uint8_t mini[RUN][MINI];

		post_recvs(rig, 2);
		minis_of_messages(mini);
		run_arrives(rig, (struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND, .rsn = 0x777 },
			    mini);
		rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND });
		if (extended) {
			assert_int_equal(ibv_start_poll(cqx, &attr), 0);
			assert_int_equal(cqx->wr_id, 200);
			ibv_end_poll(cqx);
		} else {
			assert_int_equal(poll_cq(rig, 1, &wc), 1);
			assert_int_equal(wc.wr_id, 200);
		}
		assert_int_equal(poll_cq(rig, 1, &wc), 0);
		assert_int_equal(published_ci(rig), RUN + 1);
		rig_free(rig);
	}
}

static void the_first_failure_stays_the_first(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc[2];

	(void)state;
	post_sends(rig, 2, IBV_WR_SEND);
	for (uint16_t i = 0; i < 2; i++)
		rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ_ERR,
						     .syndrome = 0x13,
						     .wqe_counter = i });
	assert_false(rig->qp->rq.error_reported);
	assert_int_equal(poll_cq(rig, 2, wc), 2);
	assert_true(rig->qp->rq.error_reported);
	rig_free(rig);
}

/* A start_poll without result unlocks the CQ, as the program must not call end_poll then. */
static void nothing_to_tell_is_no_poll(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ, .rsn = 0x777 });
	assert_int_equal(ibv_start_poll(cqx, &attr), ENOENT);
	assert_int_equal(rig->cq->lock.taken, 0);
	post_sends(rig, 1, IBV_WR_SEND);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ });
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(rig->cq->lock.taken, 1);
	ibv_end_poll(cqx);
	assert_int_equal(rig->cq->lock.taken, 0);
	rig_free(rig);
}

/* A start_poll that fails takes no lock, so the next one works. */
static void check_busy_clock(bool single_threaded)
{
	struct rig *rig = rig_new(&(struct rig_options){ .single_threaded = single_threaded });
	struct mlx5_ib_clock_info page = {
		.sign = MLX5_IB_CLOCK_INFO_KERNEL_UPDATING, .nsec = 7, .mask = UINT64_MAX, .mult = 1
	};
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	rig->cq->clock = &page;
	mlx5_cq_ex_fill(rig->cq, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
	post_sends(rig, 1, IBV_WR_SEND);
	rig_complete(rig, &(struct rig_cqe){ .send_opcode = MLX5_OPCODE_SEND });
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ibv_start_poll(cqx, &attr), EBUSY);
		assert_int_equal(rig->cq->lock.taken, 0);
		assert_int_equal(rig->cq->ci, 0);
	}
	page.sign = 0;
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(rig->cq->lock.taken, !single_threaded);
	assert_int_equal(ibv_wc_read_completion_wallclock_ns(cqx), 7 + 0x1122334455667788);
	ibv_end_poll(cqx);
	assert_int_equal(rig->cq->lock.taken, 0);
	rig_free(rig);
}

static void a_busy_clock_leaves_the_cq_unlocked(void **state)
{
	(void)state;
	check_busy_clock(false);
	check_busy_clock(true);
}

/* A one-thread CQ has no lock to take or release, as the program promised one thread. Polls check
 * for other threads' requests and keep entries until end_poll, as usual. */
static void a_cq_of_one_thread_is_polled_without_its_lock(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .single_threaded = true });
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { .comp_mask = 1 };

	(void)state;
	rig->cq->lock.taken = 1;
	post_sends(rig, 1, IBV_WR_SEND);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ });
	assert_int_equal(ibv_start_poll(cqx, &attr), EINVAL);
	assert_int_equal(rig->cq->ci, 0);
	attr.comp_mask = 0;
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(ibv_next_poll(cqx), ENOENT);
	assert_int_equal(be32toh(rig->cq->dbrec[0]), 0);
	ibv_end_poll(cqx);
	assert_int_equal(be32toh(rig->cq->dbrec[0]), 1);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ, .rsn = 0x777 });
	assert_int_equal(ibv_start_poll(cqx, &attr), ENOENT);
	assert_int_equal(ibv_start_poll(cqx, &attr), ENOENT);
	assert_int_equal(rig->cq->lock.taken, 1);
	rig->cq->lock.taken = 0;
	rig_free(rig);
}

/* With MLX5_FREEZE_ON_ERROR_CQE, these errors do not stop the process; an endless loop would end by
 * the alarm. */
static void what_is_flushed_or_not_answered_freezes_nothing(void **state)
{
	static const uint8_t syndromes[] = { MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR,
					     MLX5_CQE_SYNDROME_WR_FLUSH_ERR };
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc;

	(void)state;
	rig->cq->freezes = true;
	post_sends(rig, 2, IBV_WR_SEND);
	alarm(10);
	for (uint16_t i = 0; i < ARRAY_SIZE(syndromes); i++) {
		rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ_ERR,
						     .wqe_counter = i,
						     .syndrome = syndromes[i] });
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
	}
	alarm(0);
	rig_free(rig);
}

static void each_syndrome_has_its_status(void **state)
{
	static const struct error_case cases[] = {
		{ 0x01, IBV_WC_LOC_LEN_ERR },    { 0x02, IBV_WC_LOC_QP_OP_ERR },
		{ 0x04, IBV_WC_LOC_PROT_ERR },   { 0x05, IBV_WC_WR_FLUSH_ERR },
		{ 0x06, IBV_WC_MW_BIND_ERR },    { 0x10, IBV_WC_BAD_RESP_ERR },
		{ 0x11, IBV_WC_LOC_ACCESS_ERR }, { 0x12, IBV_WC_REM_INV_REQ_ERR },
		{ 0x13, IBV_WC_REM_ACCESS_ERR }, { 0x14, IBV_WC_REM_OP_ERR },
		{ 0x15, IBV_WC_RETRY_EXC_ERR },  { 0x16, IBV_WC_RNR_RETRY_EXC_ERR },
		{ 0x22, IBV_WC_REM_ABORT_ERR },  { 0x03, IBV_WC_GENERAL_ERR },
		{ 0x23, IBV_WC_GENERAL_ERR },    { 0xff, IBV_WC_GENERAL_ERR },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig *rig = rig_new(NULL);
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct ibv_poll_cq_attr attr = { 0 };
		struct rig_cqe cqe = { .opcode = MLX5_CQE_REQ_ERR,
				       .syndrome = cases[i].syndrome,
				       .vendor = 0x77 };
		struct ibv_wc wc[2];

		post_sends(rig, 3, IBV_WR_SEND);
		post_recvs(rig, 1);
		cqe.wqe_counter = 1;
		cqe.send_opcode = MLX5_OPCODE_SEND;
		rig_complete(rig, &cqe);
		cqe.opcode = MLX5_CQE_RESP_ERR;
		rig_complete(rig, &cqe);
		cqe.opcode = MLX5_CQE_REQ_ERR;
		cqe.wqe_counter = 2;
		rig_complete(rig, &cqe);

		assert_int_equal(poll_cq(rig, 2, wc), 2);
		assert_int_equal(wc[0].wr_id, 101);
		assert_int_equal(wc[0].status, cases[i].status);
		assert_int_equal(wc[0].vendor_err, 0x77);
		assert_int_equal(wc[0].qp_num, RIG_QPN);
		assert_int_equal(wc[1].wr_id, 200);
		assert_int_equal(wc[1].status, cases[i].status);
		assert_int_equal(wc[1].opcode, IBV_WC_RECV);

		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		assert_int_equal(cqx->wr_id, 102);
		assert_int_equal(cqx->status, cases[i].status);
		assert_int_equal(ibv_wc_read_vendor_err(cqx), 0x77);
		ibv_end_poll(cqx);
		rig_free(rig);
	}
}

static void a_cqe_of_an_unknown_qp_is_skipped(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wc wc[4];

	(void)state;
	post_recvs(rig, 2);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND });
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND, .rsn = 0x999 });
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND });
	assert_int_equal(poll_cq(rig, 4, wc), 2);
	assert_int_equal(published_ci(rig), 3);
	rig_free(rig);
}

/* After ENOENT of start_poll a program does not call end_poll, so start_poll itself must publish
 * the index of skipped CQEs. */
static void a_start_poll_that_skips_all_publishes_the_index(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rig *rig = rig_new(&(struct rig_options){ .single_threaded = i });
		struct ibv_poll_cq_attr attr = { 0 };

		for (unsigned int laps = 1; laps <= 3; laps++) {
			for (unsigned int k = 0; k < 8; k++)
				rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
								     .rsn = 0x999 });
			assert_int_equal(ibv_start_poll(&rig->cq->vcq.cq_ex, &attr), ENOENT);
			assert_int_equal(published_ci(rig), 8 * laps);
		}
		rig_free(rig);
	}
}

static void cqe_version_0_names_the_qpn(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .cqe_v0 = true });
	struct ibv_wc wc;

	(void)state;
	post_recvs(rig, 1);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND, .rsn = 0x999 });
	assert_int_equal(poll_cq(rig, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 200);
	rig_free(rig);
}

static struct mlx5_qp *second_qp(struct rig *rig, struct rig *other)
{
	struct mlx5_qp *qp = other->qp;

	qp->rq.rsn = 0x123;
	assert_int_equal(provider_id_set(rig->ids, qp->rq.rsn, &qp->rq), 0);
	return qp;
}

static void cleaning_keeps_the_others_in_order(void **state)
{
	static const char *patterns[] = { "ABAB", "AAAA", "BBBB", "AABB",    "BBAA",
					  "A",    "B",    "",     "ABBABABA" };
	static const uint32_t sizes[] = { 64, 128 };

	(void)state;
	for (unsigned int p = 0; p < ARRAY_SIZE(patterns) * 2 * 8; p++) {
		const char *pattern = patterns[p / 16];
		struct rig_options options = { .cqe_size = sizes[p / 8 % 2],
					       .cq_ci = p % 8,
					       .rq_wqes = 8 };
		struct rig *rig = rig_new(&options), *other = rig_new(&options);
		struct mlx5_qp *gone = rig->qp;
		struct ibv_wc wc[8];
		int kept = 0, n;

		second_qp(rig, other);
		post_recvs(other, 8);
		for (const char *who = pattern; *who; who++) {
			rig_complete(rig,
				     &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND,
							.rsn = *who == 'A' ? 0 : 0x123,
							.byte_cnt = (uint32_t)(who - pattern) });
			kept += *who == 'B';
		}
		mlx5_cq_clean(rig->cq, &gone->rq);
		provider_id_clear(rig->ids, gone->rq.rsn);
		n = poll_cq(rig, 8, wc);
		assert_int_equal(n, kept);
		for (int i = 0, at = 0; i < n; i++, at++) {
			while (pattern[at] != 'B')
				at++;
			assert_int_equal(wc[i].byte_len, at);
		}
		assert_int_equal(published_ci(rig), (p % 8 + strlen(pattern)) * !!*pattern);
		rig_free(rig);
		rig_free(other);
	}
}

/* Destroying a QP removes its completions from runs, and keeps those of other QPs, as they share
 * the run's title. */
static void cleaning_takes_runs_apart(void **state)
{
	static const uint32_t sizes[] = { 64, 128 }, starts[] = { 0, 15, 0xfffffff0 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes) * ARRAY_SIZE(starts); i++) {
		struct rig_options options = {
			.cqes = 32, .cqe_size = sizes[i % 2], .rq_wqes = 16, .cq_ci = starts[i / 2]
		};
		struct rig *rig = rig_new(&options), *other = rig_new(&options);
		struct rig_cqe gone = { .opcode = MLX5_CQE_RESP_SEND };
		struct rig_cqe kept = { .opcode = MLX5_CQE_RESP_SEND, .rsn = 0x123 };
		struct ibv_wc wc[RUN + 1];
		uint8_t mini[RUN][MINI];

		second_qp(rig, other);
		post_recvs(other, RUN);
		minis_of_messages(mini);
		run_arrives(rig, gone, mini);
		run_arrives(rig, kept, mini);
		rig_complete(rig, &gone);
		mlx5_cq_clean(rig->cq, &rig->qp->rq);
		assert_int_equal(published_ci(rig), (starts[i / 2] + RUN + 1) & 0xffffff);
		assert_int_equal(poll_cq(rig, RUN + 1, wc), RUN);
		for (uint32_t n = 0; n < RUN; n++) {
			assert_int_equal(wc[n].status, IBV_WC_SUCCESS);
			assert_int_equal(wc[n].wr_id, 200 + n);
			assert_int_equal(wc[n].byte_len, 1000 + n);
		}
		rig_free(rig);
		rig_free(other);
	}
}

/* ---- rings that mlx5dv_init_obj() has exposed */

struct picture {
	uint8_t ring[8 * 64];
	uint32_t record;
};

static void picture_take(const struct rig *rig, struct picture *picture)
{
	memcpy(picture->ring, rig->cq->buf.addr, sizeof(picture->ring));
	picture->record = published_ci(rig);
}

static bool picture_is_same(const struct rig *rig, const struct picture *picture)
{
	return !memcmp(picture->ring, rig->cq->buf.addr, sizeof(picture->ring)) &&
	       picture->record == published_ci(rig);
}

/* Before any poll, the program may be the reader, so the ring stays unchanged. Once the library
 * polls, the title and the CQE behind the run lose their user index; arrays have none. */
static void a_run_that_a_program_may_read_stays(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .cqes = RUN_RING, .rq_wqes = 16 });
	uint8_t mini[RUN][MINI], before[RUN_RING * 64];
	struct ibv_wc wc;

	(void)state;
	mlx5_cq_show(rig->cq);
	memset(mini, 0, sizeof(mini));
	for (uint32_t i = 0; i < RUN; i++)
		*(__be32 *)(mini[i] + MINI / 2) = htobe32(RIG_RSN);
	run_arrives(rig, (struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND }, mini);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND });
	memcpy(before, rig->cq->buf.addr, sizeof(before));
	mlx5_cq_clean(rig->cq, &rig->qp->rq);
	assert_memory_equal(rig->cq->buf.addr, before, sizeof(before));
	assert_int_equal(published_ci(rig), 0);
	assert_int_equal(poll_cq(rig, 1, &wc), 0);
	assert_memory_equal((uint8_t *)rig->cq->buf.addr + 33, "\xff\xff\xff", 3);
	assert_memory_equal((uint8_t *)rig->cq->buf.addr + RUN * 64 + 33, "\xff\xff\xff", 3);
	assert_int_equal(published_ci(rig), RUN + 1);
	rig_free(rig);
}

static void messages_come(struct rig *rig, unsigned int count)
{
	post_recvs(rig, count);
	while (count--)
		rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND });
}

/* The library reads one CQE, and the program READ more by itself. Only the index in the doorbell
 * record tells the library that it is not the only reader, as the program writes it. */
static void whoever_moves_the_index_reads_the_ring(void **state)
{
	static const uint32_t reads[] = {
		1,        8,        0x7fffff, 0x800000,     0x800001,
		0xfffff7, 0xfffff8, 0xffffff, 0xffffff + 2, 0xffffff + 0x800002
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(reads) * 2; i++) {
		uint32_t start = i % 2 ? 0xfffffe : 0;
		struct rig *rig = rig_new(&(struct rig_options){ .cq_ci = start });
		struct picture before;
		struct ibv_wc wc;

		mlx5_cq_show(rig->cq);
		messages_come(rig, 3);
		assert_int_equal(poll_cq(rig, 1, &wc), 1);
		rig->cq->dbrec[0] = htobe32((start + 1 + reads[i / 2]) & 0xffffff);
		picture_take(rig, &before);
		mlx5_cq_clean(rig->cq, &rig->qp->rq);
		assert_true(picture_is_same(rig, &before));
		rig_free(rig);
	}
}

/* Between start_poll and end_poll the record lags, so it must not look like a program that
 * reads. */
static void a_ring_that_is_being_polled_is_the_librarys(void **state)
{
	(void)state;
	for (unsigned int taken = 1; taken <= 8; taken++) {
		struct rig *rig = rig_new(&(struct rig_options){
			.cq_ci = 0xfffffc, .rq_wqes = 8, .single_threaded = true });
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct ibv_poll_cq_attr attr = { 0 };

		rig->cq->dbrec[0] = htobe32(rig->cq->ci);
		mlx5_cq_show(rig->cq);
		messages_come(rig, 8);
		assert_int_equal(ibv_start_poll(cqx, &attr), 0);
		for (unsigned int i = 1; i < taken; i++)
			assert_int_equal(ibv_next_poll(cqx), 0);
		mlx5_cq_clean(rig->cq, &rig->qp->rq);
		assert_int_equal(ibv_next_poll(cqx), ENOENT);
		ibv_end_poll(cqx);
		assert_int_equal(published_ci(rig), 4);
		rig_free(rig);
	}
}

/* The record already lags when the program asks for the ring, so that alone must not make the
 * program the reader. */
static void a_ring_that_is_shown_while_polled_is_the_librarys(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .single_threaded = true });
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	messages_come(rig, 3);
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	assert_int_equal(ibv_next_poll(cqx), 0);
	mlx5_cq_show(rig->cq);
	assert_false(mlx5_cq_is_taken(rig->cq));
	ibv_end_poll(cqx);
	assert_false(mlx5_cq_is_taken(rig->cq));
	rig->cq->dbrec[0] = htobe32(rig->cq->ci + 1);
	assert_true(mlx5_cq_is_taken(rig->cq));
	rig_free(rig);
}

/* After another mlx5dv_init_obj() the program may be the reader: CQEs stay unchanged, as it would
 * not know what the library did to them. */
static void a_program_that_is_told_again_may_read(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct picture before;
	struct ibv_wc wc;

	(void)state;
	mlx5_cq_show(rig->cq);
	messages_come(rig, 3);
	assert_int_equal(poll_cq(rig, 1, &wc), 1);
	mlx5_cq_show(rig->cq);
	picture_take(rig, &before);
	mlx5_cq_clean(rig->cq, &rig->qp->rq);
	assert_true(picture_is_same(rig, &before));
	rig_free(rig);
}

/* A queue number is reused, or the queue was reset, so older CQEs belong to no request. Once the
 * library turns out to be the reader, each kind of poll skips these. */
static void what_came_before_is_nobodys(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		const bool readers = i % 2;
		struct rig *rig = rig_new(&(struct rig_options){ .rq_wqes = 8, .cqe_v0 = i / 2 });
		struct ibv_poll_cq_attr attr = { 0 };
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct picture before;
		struct ibv_wc wc[4];

		mlx5_cq_show(rig->cq);
		messages_come(rig, 2);
		mlx5_cq_clean(rig->cq, &rig->qp->rq);
		messages_come(rig, 1);
		picture_take(rig, &before);
		mlx5_cq_clean(rig->cq, &rig->qp->rq);
		assert_true(picture_is_same(rig, &before));
		rig->qp->rq.wq.tail = 3; /* the requests of the older CQEs */
		messages_come(rig, 2);
		if (readers) {
			assert_int_equal(ibv_start_poll(cqx, &attr), 0);
			assert_int_equal(ibv_next_poll(cqx), 0);
			assert_int_equal(ibv_next_poll(cqx), ENOENT);
			ibv_end_poll(cqx);
		} else {
			assert_int_equal(poll_cq(rig, 4, wc), 2);
		}
		assert_int_equal(rig->cq->ci, 5);
		assert_null(rig->cq->orphans);
		messages_come(rig, 1);
		assert_int_equal(poll_cq(rig, 4, wc), 1);
		rig_free(rig);
	}
}

/* The polling thread itself asks for the ring; a deadlock would end by the alarm. */
static void a_program_may_ask_while_it_polls(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = { 0 };

	(void)state;
	messages_come(rig, 1);
	assert_int_equal(ibv_start_poll(cqx, &attr), 0);
	alarm(10);
	mlx5_cq_show(rig->cq);
	alarm(0);
	ibv_end_poll(cqx);
	rig_free(rig);
}

/* The CQE of a wrong signature has a syndrome and a domain in place of a queue number. Here they
 * equal the number of a queue on other CQs: this CQ must not remember that queue, as its
 * destruction would not clear the memory. */
static void the_cqe_of_a_wrong_signature_is_for_no_queue(void **state)
{
	enum { STRANGER = 0x000123 };
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx)); /* without signature keys */

	(void)state;
	assert_non_null(ctx);
	for (unsigned int polled = 0; polled < 3; polled++) {
		struct rig *rig = rig_new(NULL);
		struct mlx5_rq *stranger = calloc(1, sizeof(*stranger));
		const struct rig_cqe wrong = { .opcode = MLX5_CQE_SIG_ERR, .rsn = STRANGER };
		struct ibv_poll_cq_attr attr = { 0 };
		struct ibv_cq_ex *cqx = &rig->cq->vcq.cq_ex;
		struct ibv_wc wc[2];

		rig->cq->vcq.cq.context = &ctx->vctx.context;
		assert_int_equal(provider_id_set(rig->ids, STRANGER, stranger), 0);
		post_sends(rig, 2, IBV_WR_SEND);
		rig_complete(rig, &(struct rig_cqe){ .send_opcode = MLX5_OPCODE_SEND });
		rig_complete(rig, &wrong);
		/* the loop for one kind, the general loop, the readers */
		if (polled < 2) {
			assert_int_equal(poll_cq(rig, 1 + (int)polled, wc), 1);
		} else {
			assert_int_equal(ibv_start_poll(cqx, &attr), 0);
			assert_int_equal(ibv_next_poll(cqx), ENOENT);
			ibv_end_poll(cqx);
		}
		if (!polled)
			assert_int_equal(poll_cq(rig, 1, wc), 0);
		assert_ptr_not_equal(rig->cq->rsn_rq, stranger);
		provider_id_clear(rig->ids, STRANGER);
		free(stranger); /* freed, so that a sanitizer reports any later access */
		rig_complete(rig, &wrong);
		rig_complete(rig, &(struct rig_cqe){ .send_opcode = MLX5_OPCODE_SEND,
						     .wqe_counter = 1 });
		assert_int_equal(poll_cq(rig, 2, wc), 1);
		assert_int_equal(wc[0].wr_id, 101);
		rig_free(rig);
	}
	free(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_send_opcode_has_its_wc_opcode),
		cmocka_unit_test(real_time_is_seconds_and_nanoseconds),
		cmocka_unit_test(each_receive_says_what_came),
		cmocka_unit_test(an_empty_cq_has_nothing),
		cmocka_unit_test(next_poll_goes_on_until_there_is_none),
		cmocka_unit_test(the_ring_laps_and_the_index_has_24_bits),
		cmocka_unit_test(a_message_inside_the_cqe_is_copied_out),
		cmocka_unit_test(a_list_that_fills_its_wqe_ends_with_it),
		cmocka_unit_test(read_data_inside_the_cqe_is_copied_out),
		cmocka_unit_test(an_atomic_has_8_bytes_whatever_the_cqe_says),
		cmocka_unit_test(a_payload_inside_the_cqe_is_not_copied_to_the_null_region),
		cmocka_unit_test(a_run_is_taken_apart),
		cmocka_unit_test(a_run_of_requests_names_each),
		cmocka_unit_test(a_run_fills_the_ring),
		cmocka_unit_test(a_run_of_no_length_fails_its_request),
		cmocka_unit_test(a_run_of_an_unknown_qp_is_skipped),
		cmocka_unit_test(the_first_failure_stays_the_first),
		cmocka_unit_test(nothing_to_tell_is_no_poll),
		cmocka_unit_test(a_busy_clock_leaves_the_cq_unlocked),
		cmocka_unit_test(a_cq_of_one_thread_is_polled_without_its_lock),
		cmocka_unit_test(each_syndrome_has_its_status),
		cmocka_unit_test(what_is_flushed_or_not_answered_freezes_nothing),
		cmocka_unit_test(a_cqe_of_an_unknown_qp_is_skipped),
		cmocka_unit_test(a_start_poll_that_skips_all_publishes_the_index),
		cmocka_unit_test(cqe_version_0_names_the_qpn),
		cmocka_unit_test(cleaning_keeps_the_others_in_order),
		cmocka_unit_test(cleaning_takes_runs_apart),
		cmocka_unit_test(a_run_that_a_program_may_read_stays),
		cmocka_unit_test(whoever_moves_the_index_reads_the_ring),
		cmocka_unit_test(a_ring_that_is_being_polled_is_the_librarys),
		cmocka_unit_test(a_ring_that_is_shown_while_polled_is_the_librarys),
		cmocka_unit_test(a_program_that_is_told_again_may_read),
		cmocka_unit_test(what_came_before_is_nobodys),
		cmocka_unit_test(a_program_may_ask_while_it_polls),
		cmocka_unit_test(the_cqe_of_a_wrong_signature_is_for_no_queue),
	};

	return RIG_RUN(tests);
}
