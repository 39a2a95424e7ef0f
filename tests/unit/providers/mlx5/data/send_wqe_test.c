/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wqe_test.c - golden bytes of every send WQE, through both entry points: ibv_post_send() and
 * ibv_wr_*().
 *
 * Covers: providers/mlx5/data/send_wqe.h, providers/mlx5/data/post_send.c,
 * providers/mlx5/data/send_wr.c, providers/common/seg.h
 */
#include "rig.h"

#include <string.h>

#include "prm/mlx5/wqe.h"
#include "util/bits.h"

#define RKEY    0xa1b2c3d4u
#define RADDR   0x1122334455667788u
#define LKEY    0x0c0ffee0u
#define ADDR    0x00007fab01020304u
#define IMM     htobe32(0xcafef00d)
#define INV_KEY 0x99aabbccu

static const struct ibv_sge sges[] = {
	{ .addr = ADDR, .length = 0x100, .lkey = LKEY },
	{ .addr = ADDR + 0x1000, .length = 0x20, .lkey = LKEY + 1 },
	{ .addr = ADDR + 0x2000, .length = 1, .lkey = LKEY + 2 },
};

/* Of an atomic */
static const struct ibv_sge result = { .addr = ADDR, .length = 8, .lkey = LKEY };

struct wqe_case {
	const char *name;
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	int num_sge;
	bool signal_all;
	const char *golden;
};

#define DATA0  " 00000100 0c0ffee0 00007fab 01020304"
#define DATA1  " 00000020 0c0ffee1 00007fab 01021304"
#define DATA2  " 00000001 0c0ffee2 00007fab 01022304"
#define RESULT " 00000008 0c0ffee0 00007fab 01020304"
#define REMOTE " 11223344 55667788 a1b2c3d4 00000000"

static const struct wqe_case cases[] = {
	{ "rdma_write_is_ctrl_raddr_data", IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 1, false,
	  "00000008 12345603 00000008 00000000" REMOTE DATA0 },
	{ "rdma_write_imm_carries_the_immediate", IBV_WR_RDMA_WRITE_WITH_IMM,
	  IBV_SEND_SIGNALED | IBV_SEND_SOLICITED, 1, false,
	  "00000009 12345603 0000000a cafef00d" REMOTE DATA0 },
	{ "rdma_read_is_ctrl_raddr_data", IBV_WR_RDMA_READ, IBV_SEND_SIGNALED | IBV_SEND_FENCE, 1,
	  false, "00000010 12345603 00000088 00000000" REMOTE DATA0 },
	{ "send_is_ctrl_data", IBV_WR_SEND, 0, 1, false,
	  "0000000a 12345602 00000000 00000000" DATA0 },
	{ "send_of_a_signal_all_qp_is_signaled", IBV_WR_SEND, 0, 1, true,
	  "0000000a 12345602 00000008 00000000" DATA0 },
	{ "send_imm_carries_the_immediate", IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED, 1, false,
	  "0000000b 12345602 00000008 cafef00d" DATA0 },
	{ "send_inv_carries_the_key_big_endian", IBV_WR_SEND_WITH_INV, IBV_SEND_SIGNALED, 1, false,
	  "00000001 12345602 00000008 99aabbcc" DATA0 },
	{ "cmp_swp_is_ctrl_raddr_swap_compare_data", IBV_WR_ATOMIC_CMP_AND_SWP, IBV_SEND_SIGNALED,
	  1, false,
	  "00000011 12345604 00000008 00000000" REMOTE
	  " 5a5a0000 00000005 c0c00000 0000000c" RESULT },
	{ "fetch_add_is_ctrl_raddr_add_data", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_SEND_SIGNALED, 1,
	  false,
	  "00000012 12345604 00000008 00000000" REMOTE
	  " c0c00000 0000000c 00000000 00000000" RESULT },
	{ "a_list_has_one_segment_per_buffer", IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 3, false,
	  "00000008 12345605 00000008 00000000" REMOTE DATA0 DATA1 DATA2 },
	{ "a_send_without_data_is_the_control_segment", IBV_WR_SEND, IBV_SEND_SIGNALED, 0, false,
	  "0000000a 12345601 00000008 00000000" },
	{ "a_write_without_data_is_ctrl_raddr", IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 0, false,
	  "00000008 12345602 00000008 00000000" REMOTE },
};

static bool case_is_atomic(const struct wqe_case *test)
{
	return test->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       test->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static const struct ibv_sge *case_sges(const struct wqe_case *test)
{
	return case_is_atomic(test) ? &result : sges;
}

static void fill_wr(const struct wqe_case *test, struct ibv_send_wr *wr)
{
	*wr = (struct ibv_send_wr){ .wr_id = 7, .opcode = test->opcode, .send_flags = test->flags };
	wr->num_sge = test->num_sge;
	wr->sg_list = (struct ibv_sge *)case_sges(test);
	wr->imm_data = IMM;
	if (test->opcode == IBV_WR_SEND_WITH_INV)
		wr->invalidate_rkey = INV_KEY;
	wr->wr.rdma.remote_addr = RADDR;
	wr->wr.rdma.rkey = RKEY;
	if (case_is_atomic(test)) {
		wr->wr.atomic.remote_addr = RADDR;
		wr->wr.atomic.rkey = RKEY;
		wr->wr.atomic.compare_add = 0xc0c000000000000c;
		wr->wr.atomic.swap = 0x5a5a000000000005;
	}
}

static void call_builder(struct ibv_qp_ex *qpx, enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return ibv_wr_rdma_write(qpx, RKEY, RADDR);
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return ibv_wr_rdma_write_imm(qpx, RKEY, RADDR, IMM);
	case IBV_WR_RDMA_READ:
		return ibv_wr_rdma_read(qpx, RKEY, RADDR);
	case IBV_WR_SEND:
		return ibv_wr_send(qpx);
	case IBV_WR_SEND_WITH_IMM:
		return ibv_wr_send_imm(qpx, IMM);
	case IBV_WR_SEND_WITH_INV:
		return ibv_wr_send_inv(qpx, INV_KEY);
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return ibv_wr_atomic_cmp_swp(qpx, RKEY, RADDR, 0xc0c000000000000c,
					     0x5a5a000000000005);
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return ibv_wr_atomic_fetch_add(qpx, RKEY, RADDR, 0xc0c000000000000c);
	default:
		fail();
	}
}

static void both_doors_write_the_golden_bytes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct wqe_case *test = &cases[i];
		struct rig *post = rig_new(&(struct rig_options){ .signal_all = test->signal_all });
		struct rig *wr_api =
			rig_new(&(struct rig_options){ .signal_all = test->signal_all });
		struct ibv_qp_ex *qpx = &wr_api->qp->vqp.qp_ex;
		struct ibv_send_wr wr, *bad = NULL;

		print_message("  %s\n", test->name);
		fill_wr(test, &wr);
		assert_int_equal(mlx5_post_send(&post->qp->vqp.qp, &wr, &bad), 0);
		check_bytes(rig_sq(post, 0), test->golden);

		ibv_wr_start(qpx);
		qpx->wr_id = 7;
		qpx->wr_flags = test->flags;
		call_builder(qpx, test->opcode);
		if (test->num_sge == 1)
			ibv_wr_set_sge(qpx, case_sges(test)->lkey, case_sges(test)->addr,
				       case_sges(test)->length);
		else
			ibv_wr_set_sge_list(qpx, (size_t)test->num_sge, sges);
		assert_int_equal(ibv_wr_complete(qpx), 0);
		check_bytes(rig_sq(wr_api, 0), test->golden);

		assert_int_equal(rig_dbrec(post, MLX5_SND_DBR), rig_dbrec(wr_api, MLX5_SND_DBR));
		rig_free(post);
		rig_free(wr_api);
	}
}

/* ibv_post_send() alone: ibv_wr_*() writes the length that it gets, as release 65.0 does, so they
 * differ here. */
static void a_buffer_of_an_atomic_has_8_bytes(void **state)
{
	static const uint32_t lengths[] = { 1, 4, 7, 8, 9, 16, 0x80000000 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct wqe_case *test = &cases[i];

		for (unsigned int n = 0; case_is_atomic(test) && n < 2 * ARRAY_SIZE(lengths); n++) {
			struct rig *rig = rig_new(NULL);
			struct ibv_sge sge = result;
			struct ibv_send_wr wr[2], *bad = NULL;

			sge.length = lengths[n / 2];
			fill_wr(test, &wr[0]);
			wr[0].sg_list = &sge;
			wr[1] = wr[0];
			wr[0].next = n % 2 ? &wr[1] : NULL; /* alone, or in a list */
			assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, wr, &bad), 0);
			check_bytes(rig_sq(rig, 0), test->golden);
			rig_free(rig);
		}
	}
}

/* PRM: the control segment has all 16 bits of the index, so the library must not mask it to the
 * ring. */
static void both_doors_write_all_bits_of_the_index(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 16; bit++) {
		const uint32_t pi = 1u << bit;
		struct rig *post = rig_new(&(struct rig_options){ .sq_pi = pi });
		struct rig *wr_api = rig_new(&(struct rig_options){ .sq_pi = pi });
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad = NULL;
		struct ibv_qp_ex *qpx = &wr_api->qp->vqp.qp_ex;

		assert_int_equal(mlx5_post_send(&post->qp->vqp.qp, &wr, &bad), 0);
		ibv_wr_start(qpx);
		ibv_wr_send(qpx);
		ibv_wr_set_sge_list(qpx, 0, NULL);
		assert_int_equal(ibv_wr_complete(qpx), 0);
		assert_int_equal(fld_get(rig_sq(post, pi), CTRL_INDEX), pi);
		assert_int_equal(fld_get(rig_sq(wr_api, pi), CTRL_INDEX), pi);
		rig_free(post);
		rig_free(wr_api);
	}
}

static void inline_data_follows_its_length(void **state)
{
	static const char *golden = "00000008 12345604 00000008 00000000" REMOTE
				    " 80000014 30313233 34353637 38396162 63646566 67686970";
	char text[] = "0123456789abcdefghip";
	struct ibv_sge parts[] = { { .addr = (uintptr_t)text, .length = 7 },
				   { .addr = (uintptr_t)text + 7, .length = 13 } };
	struct ibv_data_buf bufs[] = { { text, 7 }, { text + 7, 13 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = parts, .num_sge = 2 },
			   *bad;
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	wr.wr.rdma.remote_addr = RADDR;
	wr.wr.rdma.rkey = RKEY;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0), golden);

	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, RKEY, RADDR);
	ibv_wr_set_inline_data(qpx, text, 20);
	ibv_wr_rdma_write(qpx, RKEY, RADDR);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 1) + 4, golden + 9); /* the first word has the index */
	check_bytes(rig_sq(rig, 2) + 4, golden + 9);
	check_bytes(rig_sq(rig, 1), "00000108");
	check_bytes(rig_sq(rig, 2), "00000208");
	rig_free(rig);
}

/* Each length has its own copy routine, so each must be seen not to write in front of the data. */
static void inline_data_of_each_length_stays_behind_its_head(void **state)
{
	enum { LONGEST = 200, UNIT = 16 };
	static uint8_t bytes[64 + LONGEST];
	const struct rig_options options = { .max_inline = LONGEST, .sq_wqebbs = 16 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	for (uint32_t len = 1; len <= LONGEST; len++)
		for (int is_batch = 0; is_batch < 2; is_batch++) {
			struct rig *rig = rig_new(&options);
			struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
			struct ibv_sge sge = { (uintptr_t)bytes + 64, len, 0 };
			struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
						  .sg_list = &sge,
						  .num_sge = 1,
						  .send_flags = IBV_SEND_INLINE },
					   *bad;
			const uint8_t *wqe = rig_sq(rig, 4);

			rig->qp->sq.pi = 4;
			memset(rig->qp->sq.buf, 0xee, 4 * WQE_BB);
			qpx->wr_flags = 0;
			if (is_batch) {
				ibv_wr_start(qpx);
				ibv_wr_send(qpx);
				ibv_wr_set_inline_data(qpx, bytes + 64, len);
				assert_int_equal(ibv_wr_complete(qpx), 0);
			} else {
				assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
			}
			for (uint32_t i = 1; i <= 64; i++)
				assert_int_equal(wqe[-(ptrdiff_t)i], 0xee);
			check_bytes(wqe, "0000040a");
			check_bytes(wqe + 8, "00000000 00000000");
			assert_int_equal(be32toh(*(const __be32 *)(wqe + UNIT)),
					 MLX5_INLINE_SEG | len);
			assert_memory_equal(wqe + UNIT + 4, bytes + 64, len);
			rig_free(rig);
		}
}

static void no_inline_bytes_make_no_segment(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE }, *bad;

	(void)state;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0), "0000000a 12345601");
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, NULL, 0);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 1), "0000010a 12345601");
	rig_free(rig);
}

static void empty_buffers_of_a_list_make_no_segment(void **state)
{
	struct ibv_sge list[] = { { .addr = 1, .length = 0, .lkey = 1 },
				  sges[0],
				  { .addr = 2, .length = 0, .lkey = 2 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = list, .num_sge = 3 }, *bad;
	struct rig *rig = rig_new(NULL);
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig_sq(rig, 0), "0000000a 12345602 00000000 00000000" DATA0);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, 3, list);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 1, 0);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	check_bytes(rig_sq(rig, 1), "0000010a 12345602 00000000 00000000" DATA0);
	check_bytes(rig_sq(rig, 2), "0000020a 12345601");
	rig_free(rig);
}

static void the_doorbell_is_the_record_and_the_first_eight_bytes(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_send_wr wr, *bad;

	(void)state;
	fill_wr(&cases[0], &wr);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 3);
	/* BlueFlame has two buffers in turn: the third doorbell used the first again. */
	check_bytes(rig->uar + 0x800, "00000208 12345603 00000000");
	check_bytes(rig->uar + 0x900, "00000108 12345603 00000000");
	rig_free(rig);
}

static void blueflame_gets_the_whole_wqe(void **state)
{
	struct rig *rig = rig_new(&(struct rig_options){ .bf_max = 256, .sq_pi = 7 });
	struct ibv_send_wr wr, second, *bad;

	(void)state;
	fill_wr(&cases[9], &wr); /* 80 bytes at the last WQEBB: the BlueFlame copy wraps as well */
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig->uar + 0x800,
		    "00000708 12345605 00000008 00000000" REMOTE DATA0 DATA1 DATA2);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 9);

	/* A list of two is only rung, with its last request, since BlueFlame is for a single
	 * request. */
	second = wr;
	wr.next = &second;
	assert_int_equal(mlx5_post_send(&rig->qp->vqp.qp, &wr, &bad), 0);
	check_bytes(rig->uar + 0x900, "00000b08 12345605 00000000 00000000 00000000");
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_doors_write_the_golden_bytes),
		cmocka_unit_test(a_buffer_of_an_atomic_has_8_bytes),
		cmocka_unit_test(both_doors_write_all_bits_of_the_index),
		cmocka_unit_test(inline_data_follows_its_length),
		cmocka_unit_test(inline_data_of_each_length_stays_behind_its_head),
		cmocka_unit_test(no_inline_bytes_make_no_segment),
		cmocka_unit_test(empty_buffers_of_a_list_make_no_segment),
		cmocka_unit_test(the_doorbell_is_the_record_and_the_first_eight_bytes),
		cmocka_unit_test(blueflame_gets_the_whole_wqe),
	};

	return RIG_RUN(tests);
}
