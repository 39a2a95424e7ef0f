/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_rings_test.c - send and receive rings at their boundaries: the end of the buffer, the
 * 16-bit index, a full queue, a refused request.
 *
 * Covers: providers/mlx5/data/post.h, providers/mlx5/data/post_send.c,
 * providers/mlx5/data/post_recv.c, providers/mlx5/data/send_wr.c, providers/mlx5/data/batch.h,
 * providers/mlx5/data/signature.c, providers/common/scatter.h, providers/common/wq.h,
 * providers/mlx5/data/rq.h
 */
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/send_wqe.h"
#include "providers/mlx5/data/umr.h"
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "util/bits.h"

static struct ibv_sge one_sge = { .addr = 0x1000, .length = 0x10, .lkey = 0x77 };

static struct ibv_send_wr send_wr(uint64_t wr_id, struct ibv_send_wr *next)
{
	return (struct ibv_send_wr){
		.wr_id = wr_id,
		.next = next,
		.sg_list = &one_sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
}

static int post_send(struct rig *rig, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	return mlx5_post_send(&rig->qp->vqp.qp, wr, bad);
}

static void the_index_wraps_at_16_bits(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 0xfffe });
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0xfffe), "00fffe0a 12345602");
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0xffff);
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0xffff), "00ffff0a 12345602");
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0x10000), "0000000a 12345602");
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 1);
	rig_free(rig);
}

static void a_wqe_spans_the_16_bit_wrap(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 0xffff });
	struct ibv_sge list[4] = { one_sge, one_sge, one_sge, one_sge };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	wr.sg_list = list;
	wr.num_sge = 4;
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0xffff), "00ffff0a 12345605");
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 1);
	rig_free(rig);
}

static void segments_go_on_at_the_start_of_the_ring(void **state)
{
	/* the last WQEBB of 8, so that the WQE wraps */
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 7 });
	struct ibv_sge list[4] = { one_sge, one_sge, one_sge, one_sge };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	list[2].lkey = 0x78;
	list[3].lkey = 0x79;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.sg_list = list;
	wr.num_sge = 4;
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 7) + 48, "00000010 00000077");
	check_bytes(rig_sq(rig, 8), "00000010 00000078 00000000 00001000 00000010 00000079");
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 9);
	rig_free(rig);
}

static void a_push_goes_on_at_the_start_of_the_ring(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 7, .bf_max = 256 });
	struct ibv_sge list[4] = { one_sge, one_sge, one_sge, one_sge };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	list[3].lkey = 0x79;
	wr.sg_list = list;
	wr.num_sge = 4;
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	assert_memory_equal(rig->uar + 0x800, rig_sq(rig, 7), 64);
	check_bytes(rig->uar + 0x840, "00000010 00000079 00000000 00001000");
	rig_free(rig);
}

static void inline_data_straddles_the_end(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 7, .max_inline = 96 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	uint8_t data[96];
	struct ibv_sge parts[] = { { .addr = (uintptr_t)data, .length = 10 },
				   { .addr = (uintptr_t)data + 10, .length = 50 },
				   { .addr = (uintptr_t)data + 60, .length = 36 } };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = parts;
	wr.num_sge = 3;
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	/* 16 bytes control, 4 bytes length, 44 bytes here and 52 at the start */
	check_bytes(rig_sq(rig, 7) + 4, "12345608 00000000 00000000 80000060");
	assert_memory_equal(rig_sq(rig, 7) + 20, data, 44);
	assert_memory_equal(rig_sq(rig, 8), data + 44, 52);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 9);

	rig->qp->sq.pi = 15;
	memset(rig->qp->sq.buf, 0, 8 * 64);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, data, 96);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_memory_equal(rig_sq(rig, 15) + 20, data, 44);
	assert_memory_equal(rig_sq(rig, 16), data + 44, 52);
	rig_free(rig);
}

/* A long buffer of one SGE begins before the end of the ring and goes on at its start. */
static void a_long_inline_buffer_straddles_the_end(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 7, .max_inline = 96 });
	uint8_t data[96];
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = sizeof(data) };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = &sge;
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	assert_memory_equal(rig_sq(rig, 7) + 20, data, 44);
	assert_memory_equal(rig_sq(rig, 8), data + 44, 52);
	rig_free(rig);
}

/* The XOR of all bytes of a signed request is 0xff, as the PRM defines the signature, including
 * those at the start of the ring. */
static void a_signature_covers_what_straddles_the_end(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 7, .max_inline = 96 });
	uint8_t data[96], sum = 0;
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = sizeof(data) };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * i + 1);
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = &sge;
	assert_int_equal(mlx5_post_send_signed(&rig->qp->vqp.qp, &wr, &bad), 0);
	for (unsigned int i = 0; i < 16 + 4 + sizeof(data) + 12; i++)
		sum ^= i < 64 ? rig_sq(rig, 7)[i] : rig_sq(rig, 8)[i - 64];
	assert_int_equal(sum, 0xff);
	assert_int_not_equal(rig_sq(rig, 7)[8], 0);
	rig_free(rig);
}

/* Inline data ends exactly at the end of the ring, so no second part may be written. */
static void inline_data_ends_with_the_ring(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 7 });
	uint8_t data[44] = { 1, [43] = 9 };
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = sizeof(data) };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = &sge;
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 7) + 4, "12345604 00000000 00000000 8000002c");
	assert_memory_equal(rig_sq(rig, 7) + 20, data, 44);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 8);
	rig_free(rig);
}

/* Several inline buffers meet exactly at the end of the ring, so the next one begins at its
 * start. */
static void inline_parts_meet_at_the_end(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_pi = 7 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	uint8_t data[60] = { 1, [43] = 9, [44] = 10, [59] = 11 };
	const struct ibv_data_buf bufs[] = { { data, 44 }, { data + 44, 16 } };
	struct ibv_sge parts[] = { { .addr = (uintptr_t)data, .length = 44 },
				   { .addr = (uintptr_t)data + 44, .length = 16 } };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = parts;
	wr.num_sge = 2;
	assert_int_equal(post_send(rig, &wr, &bad), 0);
	assert_memory_equal(rig_sq(rig, 7) + 20, data, 44);
	assert_memory_equal(rig_sq(rig, 8), data + 44, 16);
	rig->qp->sq.pi = 15;
	memset(rig->qp->sq.buf, 0, 64);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_memory_equal(rig_sq(rig, 16), data + 44, 16);
	rig_free(rig);
}

static void no_more_is_posted_than_the_qp_was_made_for(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .send_sge = 2, .max_inline = 32 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_sge list[3] = { one_sge, one_sge, one_sge };
	uint8_t data[33] = { 0 };
	struct ibv_data_buf bufs[] = { { data, 16 }, { data + 16, 17 } };
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	wr.sg_list = list;
	wr.num_sge = 3;
	assert_int_equal(post_send(rig, &wr, &bad), ENOMEM);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
	assert_int_equal(ibv_wr_complete(qpx), ENOMEM);
	bufs[1].length = 16;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	rig_free(rig);
}

static void a_queue_that_was_reset_is_as_long_as_before(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .max_send = 4, .sq_pi = 6 });
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	wq_reset(&rig->qp->sq.wq);
	for (int i = 0; i < 4; i++)
		assert_int_equal(post_send(rig, &wr, &bad), 0);
	assert_int_equal(post_send(rig, &wr, &bad), ENOMEM);
	rig_free(rig);
}

/* A batch uses BlueFlame only if it has inline data, whatever the batch before had, so the flag
 * must not survive its batch. */
static void each_batch_says_whether_it_is_pushed(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .bf_max = 64 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	uint8_t *half;

	(void)state;
	rig->qp->sq.db.push[PUSH_PLAIN] = 0;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, "inline", 6);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig->uar + 0x800, "0000000a 12345602 00000000 00000000 80000006");
	half = rig->qp->sq.db.reg;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(half, "0000010a 12345602 00000000 00000000 00000000");
	rig_free(rig);
}

static void a_full_queue_names_the_first_that_does_not_fit(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .max_send = 4, .sq_pi = 0xfffffffd });
	struct ibv_send_wr wr[6], *bad = NULL;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++)
		wr[i] = send_wr(i, i + 1 < ARRAY_SIZE(wr) ? &wr[i + 1] : NULL);
	assert_int_equal(post_send(rig, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[4]);
	/* 0xfffd + 4, of which the record has 16 bits */
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 1);

	/* One completion frees one slot, so one request fits again. */
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_REQ, .wqe_counter = 0xfffd });
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, (struct ibv_wc[1]){}), 1);
	bad = NULL;
	assert_int_equal(post_send(rig, &wr[4], &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[5]);
	rig_free(rig);
}

static void a_signaled_completion_frees_those_before_it(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .max_send = 4 });
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	(void)state;
	for (unsigned int round = 0; round < 50; round++) {
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(post_send(rig, &wr, &bad), 0);
		assert_int_equal(post_send(rig, &wr, &bad), ENOMEM);
		rig_complete(rig,
			     &(struct rig_cqe){ .wqe_counter = (uint16_t)(rig->qp->sq.pi - 1) });
		assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, (struct ibv_wc[1]){}), 1);
	}
	rig_free(rig);
}

struct refused {
	const char *name;
	int err;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	int num_sge;
	uint32_t length;
};

static void a_refused_request_leaves_those_before_it(void **state)
{
	static const struct refused refused[] = {
		{ "too many SGEs", ENOMEM, IBV_WR_SEND, 0, 5, 1 },
		{ "negative SGEs", ENOMEM, IBV_WR_SEND, 0, -1, 1 },
		{ "oversize inline", ENOMEM, IBV_WR_SEND, IBV_SEND_INLINE, 1, 65 },
		{ "oversize inline in the sum", ENOMEM, IBV_WR_SEND, IBV_SEND_INLINE, 2, 33 },
		{ "inline length beyond 32 bits", ENOMEM, IBV_WR_SEND, IBV_SEND_INLINE, 4,
		  0x40000001 },
		{ "no such opcode", EINVAL, (enum ibv_wr_opcode)77, 0, 1, 1 },
		{ "negative opcode", EINVAL, (enum ibv_wr_opcode) - 1, 0, 1, 1 },
		{ "atomics without the capability", ENOSYS, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 1, 8 },
		{ "TSO on an RC QP", EINVAL, IBV_WR_TSO, 0, 1, 8 },
	};
	static uint8_t data[256];
	struct ibv_sge list[5];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(refused); i++) {
		struct rig *rig = rig_new(&(struct rig_options){ .no_atomics = true });
		struct ibv_send_wr last = send_wr(3, NULL), wrong = send_wr(2, &last),
				   good = send_wr(1, &wrong);
		struct ibv_send_wr *bad = NULL;

		print_message("  %s\n", refused[i].name);
		for (unsigned int n = 0; n < ARRAY_SIZE(list); n++)
			list[n] = (struct ibv_sge){ .addr = (uintptr_t)data,
						    .length = refused[i].length };
		wrong.opcode = refused[i].opcode;
		wrong.send_flags = refused[i].flags;
		wrong.sg_list = list;
		wrong.num_sge = refused[i].num_sge;
		assert_int_equal(post_send(rig, &good, &bad), refused[i].err);
		assert_ptr_equal(bad, &wrong);
		assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 1);
		assert_int_equal(rig->qp->sq.wq.head, 1);

		memset(rig->uar, 0, RIG_PAGE);
		assert_int_equal(post_send(rig, &wrong, &bad), refused[i].err);
		assert_ptr_equal(bad, &wrong);
		assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 1);
		check_bytes(rig->uar + 0x900, "00000000 00000000");
		rig_free(rig);
	}
}

static void wr_send_with(struct ibv_qp_ex *qpx, uint64_t wr_id)
{
	qpx->wr_id = wr_id;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, one_sge.lkey, one_sge.addr, one_sge.length);
}

static void a_batch_with_an_error_posts_nothing(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .max_send = 4, .max_inline = 16 });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	uint8_t data[17] = { 0 };
	struct ibv_sge list[5] = { 0 };

	(void)state;
	ibv_wr_start(qpx);
	wr_send_with(qpx, 1);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, data, sizeof(data));
	wr_send_with(qpx, 2);
	assert_int_equal(ibv_wr_complete(qpx), ENOMEM);

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, 5, list);
	assert_int_equal(ibv_wr_complete(qpx), ENOMEM);

	ibv_wr_start(qpx);
	for (unsigned int i = 0; i < 5; i++)
		wr_send_with(qpx, i);
	assert_int_equal(ibv_wr_complete(qpx), ENOMEM);

	ibv_wr_start(qpx);
	wr_send_with(qpx, 1);
	ibv_wr_abort(qpx);

	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	assert_int_equal(rig->qp->sq.wq.head, 0);
	check_bytes(rig->uar + 0x800, "00000000 00000000");

	ibv_wr_start(qpx);
	for (unsigned int i = 0; i < 4; i++)
		wr_send_with(qpx, i);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 4);
	check_bytes(rig->uar + 0x800, "0000030a 12345602");
	rig_free(rig);
}

static void an_empty_batch_rings_nothing(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	ibv_wr_start(qpx);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig->uar + 0x800, "00000000 00000000");
	rig_free(rig);
}

static void a_shut_gate_refuses_everything(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_send_wr none = { .opcode = IBV_WR_SEND }, *bad = NULL;
	struct ibv_recv_wr empty = { .wr_id = 1 }, *bad_recv = NULL;

	(void)state;
	rig->qp->sq.sge_limit = 0;
	rig->qp->sq.opcodes = 0;
	rig->qp->rq.sge_limit = 0;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &none, &bad), ENOMEM);
	assert_ptr_equal(bad, &none);
	assert_int_equal(mlx5_post_recv(&rig->qp->vqp.qp, &empty, &bad_recv), EINVAL);
	assert_ptr_equal(bad_recv, &empty);
	ibv_wr_start(qpx);
	wr_send_with(qpx, 1);
	assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_RCV_DBR), 0);
	rig_free(rig);
}

/* The ring is sized for the operations named at creation, so others are refused. */
static void a_qp_created_for_some_operations_has_no_others(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_send_wr send = send_wr(1, NULL), write = send_wr(2, NULL), *bad = NULL;
	uint8_t data[44] = { 0 };
	uint16_t opcodes;

	(void)state;
	assert_int_equal(mlx5_qp_send_opcodes(mlx5_qp_rules_of(IBV_QPT_RC), IBV_QP_EX_WITH_TSO,
					      true, 0, &opcodes),
			 EOPNOTSUPP);
	assert_int_equal(
		mlx5_qp_send_opcodes(mlx5_qp_rules_of(IBV_QPT_RC), 1ULL << 40, true, 0, &opcodes),
		EOPNOTSUPP);
	assert_int_equal(mlx5_qp_send_opcodes(mlx5_qp_rules_of(IBV_QPT_RC), IBV_QP_EX_WITH_SEND,
					      true, 16, &rig->qp->opcodes),
			 0);
	rig->qp->sq.opcodes = rig->qp->opcodes;
	write.opcode = IBV_WR_RDMA_WRITE;
	send.next = &write;
	assert_int_equal(post_send(rig, &send, &bad), EINVAL);
	assert_ptr_equal(bad, &write);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 1);
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 1);

	/* Long slots would hold more, but inline data must not exceed max_inline_data. */
	assert_int_equal(mlx5_qp_send_opcodes(mlx5_qp_rules_of(IBV_QPT_RC), IBV_QP_EX_WITH_SEND,
					      true, 32, &rig->qp->opcodes),
			 0);
	rig->qp->sq.opcodes = rig->qp->opcodes;
	rig->qp->sq.wqe_bytes = 64;
	rig->qp->sq.max_inline = 44;
	sq_prepare_inline(&rig->qp->sq, mlx5_qp_usual_inline(rig->qp->rules, 44, 64));
	assert_int_equal(post_send(rig, &write, &bad), 0);
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	ibv_wr_set_inline_data(qpx, data, 28);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, 1, 2);
	ibv_wr_set_inline_data(qpx, data, 29);
	assert_int_equal(ibv_wr_complete(qpx), ENOMEM);
	rig_free(rig);
}

static void post_sends(struct rig *rig, unsigned int count)
{
	struct ibv_send_wr wr = send_wr(1, NULL), *bad;

	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(post_send(rig, &wr, &bad), 0);
	assert_int_equal(post_send(rig, &wr, &bad), ENOMEM);
}

/* A rig whose QP was made without UMRs, for MAX_SEND requests of one block. */
static struct rig *rig_without_umrs(uint32_t max_send, uint32_t pi, uint32_t max_desc)
{
	static struct mlx5_context ctx;
	struct rig *rig = rig_new(&(struct rig_options){ .max_send = max_send, .sq_pi = pi });

	ctx.caps.max_sq_desc_sz = max_desc;
	rig->qp->vqp.qp.context = &ctx.vctx.context;
	rig->qp->long_opcodes = UMR_OPCODES;
	rig->qp->opcodes &= (uint16_t)~UMR_OPCODES;
	rig->qp->sq.opcodes = rig->qp->opcodes;
	rig->qp->sq.wqe_bytes = 64;
	return rig;
}

/* A WQE of two blocks in a ring for 8 requests of one: no later request overwrites it. */
static void a_longer_wqe_counts_as_several(void **state)
{

	(void)state;
	for (uint32_t pi = 0; pi < 8; pi++) {
		struct rig *rig = rig_without_umrs(8, pi, 1024);
		struct ibv_send_wr inval = { .wr_id = 7, .opcode = IBV_WR_LOCAL_INV }, *bad;
		struct ibv_send_wr after = send_wr(8, NULL), first = send_wr(6, &inval);
		struct ibv_wc wc[2];

		inval.next = &after;
		assert_int_equal(post_send(rig, &first, &bad), 0);
		assert_int_equal(rig->qp->sq.pi, pi + 4);
		assert_int_equal(rig->qp->sq.wqe_bytes, 64);
		post_sends(rig, 4);
		rig_complete(rig, &(struct rig_cqe){ .wqe_counter = (uint16_t)(pi + 1) });
		assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 2, wc), 1);
		assert_int_equal(wc[0].wr_id, 7);
		assert_int_equal(wc[0].opcode, IBV_WC_LOCAL_INV);
		post_sends(rig, 3);
		rig_complete(rig, &(struct rig_cqe){ .wqe_counter = (uint16_t)(pi + 3) });
		assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 2, wc), 1);
		inval.next = NULL;
		assert_int_equal(post_send(rig, &inval, &bad), ENOMEM); /* one block is free */
		assert_ptr_equal(bad, &inval);
		post_sends(rig, 1);
		rig_free(rig);
	}
}

/* Only a refused request is named: the program may pass NULL, or a link of its list. */
static void a_longer_wqe_names_no_bad_request(void **state)
{
	struct rig *rig = rig_without_umrs(8, 0, 1024);
	struct ibv_send_wr inval = { .wr_id = 7, .opcode = IBV_WR_LOCAL_INV };
	struct ibv_send_wr first = send_wr(6, &inval), *list = &first;

	(void)state;
	assert_int_equal(post_send(rig, &inval, NULL), 0);
	assert_int_equal(post_send(rig, list, &list), 0);
	assert_ptr_equal(list, &first);
	assert_int_equal(post_send(rig, &first, &first.next), 0);
	assert_ptr_equal(first.next, &inval);
	assert_int_equal(rig->qp->sq.pi, 2 + 3 + 3);
	rig_free(rig);
}

static void check_refused_long(uint32_t max_send, uint32_t max_desc, int error)
{
	struct rig *rig = rig_without_umrs(max_send, 0, max_desc);
	struct ibv_send_wr inval = { .wr_id = 7, .opcode = IBV_WR_LOCAL_INV }, *bad = NULL;

	assert_int_equal(post_send(rig, &inval, &bad), error);
	assert_ptr_equal(bad, &inval);
	assert_int_equal(rig->qp->sq.pi, 0);
	rig_free(rig);
}

static void a_wqe_that_never_fits_is_no_full_queue(void **state)
{
	(void)state;
	check_refused_long(1, 1024, EINVAL);
	check_refused_long(8, 64, ENOMEM);
}

static struct ibv_recv_wr recv_wr(uint64_t wr_id, struct ibv_sge *list, int num_sge,
				  struct ibv_recv_wr *next)
{
	return (struct ibv_recv_wr){
		.wr_id = wr_id, .next = next, .sg_list = list, .num_sge = num_sge
	};
}

static int post_recv(struct rig *rig, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	return mlx5_post_recv(&rig->qp->vqp.qp, wr, bad);
}

static void a_receive_is_its_scatter_list(void **state)
{
	struct ibv_sge list[2] = { { .addr = 0x1122334455667788, .length = 0x40, .lkey = 0xabc },
				   { .addr = 0x2000, .length = 0x41, .lkey = 0xabd } };
	struct ibv_sge holes[2] = { { .addr = 5, .length = 0, .lkey = 5 }, list[1] };
	struct rig *rig = rig_new(NULL);
	struct ibv_recv_wr none = recv_wr(4, NULL, 0, NULL), hole = recv_wr(3, holes, 2, &none);
	struct ibv_recv_wr one = recv_wr(2, list, 1, &hole), two = recv_wr(1, list, 2, &one), *bad;

	(void)state;
	assert_int_equal(post_recv(rig, &two, &bad), 0);
	check_bytes(rig_rq(rig, 0),
		    "00000040 00000abc 11223344 55667788 00000041 00000abd 00000000 00002000");
	/* the terminator of a short list has the invalid lkey, so the adapter stops there */
	check_bytes(rig_rq(rig, 1),
		    "00000040 00000abc 11223344 55667788 00000000 00000100 00000000 00000000");
	check_bytes(rig_rq(rig, 2),
		    "00000041 00000abd 00000000 00002000 00000000 00000100 00000000 00000000");
	check_bytes(rig_rq(rig, 3), "00000000 00000100 00000000 00000000");
	assert_int_equal(rig_dbrec(rig, MLX5_RCV_DBR), 4);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	rig_free(rig);
}

static void the_receive_index_wraps_at_16_bits(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .rq_head = 0xfffe });
	struct ibv_recv_wr second = recv_wr(2, &one_sge, 1, NULL),
			   first = recv_wr(1, &one_sge, 1, &second), *bad;

	(void)state;
	assert_int_equal(post_recv(rig, &first, &bad), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_RCV_DBR), 0);
	check_bytes(rig_rq(rig, 0xfffe), "00000010 00000077");
	check_bytes(rig_rq(rig, 0xffff), "00000010 00000077");
	rig_free(rig);
}

static void a_full_receive_queue_names_the_first_that_does_not_fit(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .rq_head = 0xfffffffe });
	struct ibv_recv_wr wr[6], *bad = NULL;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++)
		wr[i] = recv_wr(i, &one_sge, 1, i + 1 < ARRAY_SIZE(wr) ? &wr[i + 1] : NULL);
	assert_int_equal(post_recv(rig, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[4]);
	assert_int_equal(rig_dbrec(rig, MLX5_RCV_DBR), 2);
	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_RESP_SEND });
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, (struct ibv_wc[1]){}), 1);
	assert_int_equal(post_recv(rig, &wr[4], &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[5]);
	rig_free(rig);
}

static void a_receive_with_too_many_sges_is_einval(void **state)
{
	struct ibv_sge list[3] = { one_sge, one_sge, one_sge };
	struct rig *rig = rig_new(NULL);
	struct ibv_recv_wr wrong = recv_wr(2, list, 3, NULL), good = recv_wr(1, list, 2, &wrong),
			   *bad = NULL;

	(void)state;
	assert_int_equal(post_recv(rig, &good, &bad), EINVAL);
	assert_ptr_equal(bad, &wrong);
	assert_int_equal(rig_dbrec(rig, MLX5_RCV_DBR), 1);
	rig_free(rig);
}

static void a_signed_receive_stops_at_the_first_that_is_wrong(void **state)
{
	/* behind the first, as a signature is before its list */
	struct rig *rig = rig_new(&(struct rig_options){ .rq_head = 1 });
	struct ibv_sge list[3] = { one_sge, one_sge, one_sge };
	struct ibv_recv_wr last = recv_wr(3, list, 1, NULL), wrong = recv_wr(2, list, 3, &last);
	struct ibv_recv_wr good = recv_wr(1, list, 1, &wrong), *bad = NULL;

	(void)state;
	rig->qp->rq.post = mlx5_post_recv_signed;
	assert_int_equal(post_recv(rig, &good, &bad), EINVAL);
	assert_ptr_equal(bad, &wrong);
	assert_int_equal(rig_dbrec(rig, MLX5_RCV_DBR), 2);
	/* the inverted XOR of the SGE, 0x77, the QP number, 0x70, and the index, 1 */
	assert_int_equal(rig_rq(rig, 1)[RECV_SIGNATURE_AT - RECV_SIGNATURE_SIZE], 0xf9);
	assert_int_equal(post_recv(rig, &last, &bad), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_RCV_DBR), 3);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_index_wraps_at_16_bits),
		cmocka_unit_test(a_signed_receive_stops_at_the_first_that_is_wrong),
		cmocka_unit_test(a_wqe_spans_the_16_bit_wrap),
		cmocka_unit_test(segments_go_on_at_the_start_of_the_ring),
		cmocka_unit_test(a_push_goes_on_at_the_start_of_the_ring),
		cmocka_unit_test(inline_data_straddles_the_end),
		cmocka_unit_test(a_long_inline_buffer_straddles_the_end),
		cmocka_unit_test(a_signature_covers_what_straddles_the_end),
		cmocka_unit_test(inline_data_ends_with_the_ring),
		cmocka_unit_test(inline_parts_meet_at_the_end),
		cmocka_unit_test(no_more_is_posted_than_the_qp_was_made_for),
		cmocka_unit_test(a_queue_that_was_reset_is_as_long_as_before),
		cmocka_unit_test(each_batch_says_whether_it_is_pushed),
		cmocka_unit_test(a_full_queue_names_the_first_that_does_not_fit),
		cmocka_unit_test(a_signaled_completion_frees_those_before_it),
		cmocka_unit_test(a_refused_request_leaves_those_before_it),
		cmocka_unit_test(a_batch_with_an_error_posts_nothing),
		cmocka_unit_test(an_empty_batch_rings_nothing),
		cmocka_unit_test(a_shut_gate_refuses_everything),
		cmocka_unit_test(a_qp_created_for_some_operations_has_no_others),
		cmocka_unit_test(a_longer_wqe_counts_as_several),
		cmocka_unit_test(a_longer_wqe_names_no_bad_request),
		cmocka_unit_test(a_wqe_that_never_fits_is_no_full_queue),
		cmocka_unit_test(a_receive_is_its_scatter_list),
		cmocka_unit_test(the_receive_index_wraps_at_16_bits),
		cmocka_unit_test(a_full_receive_queue_names_the_first_that_does_not_fit),
		cmocka_unit_test(a_receive_with_too_many_sges_is_einval),
	};

	return RIG_RUN(tests);
}
