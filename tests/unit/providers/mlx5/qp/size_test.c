/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * size_test.c - sizes of QP rings: enough for the longest WQE of the QP's operations, up to the
 * limits of the adapter and of the control segment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "providers/mlx5/data/post.h"
#include "providers/mlx5/qp/size.h"
#include "util/bits.h"

static const struct mlx5_ib_alloc_ucontext_resp caps = {
	.max_sq_desc_sz = 1024,
	.max_rq_desc_sz = 512,
	.max_send_wqebb = 32768,
	.max_recv_wr = 32768,
};

struct size_case {
	uint64_t ops;
	struct ibv_qp_cap cap; /* send wr, recv wr, send sge, recv sge, inline */
	struct qp_size size;   /* sq wqebbs, post, sge, inline; rq wqes, stride_log, sge; wqe */
};

static int size_rc(const struct ibv_qp_cap *cap, uint64_t ops, struct qp_size *size)
{
	const struct qp_rules *rules = mlx5_qp_rules_of(IBV_QPT_RC);
	const struct wqe_heads heads = { .longest = mlx5_qp_head_size(rules, ops),
					 .data = mlx5_qp_data_head_size(rules, ops) };

	return mlx5_qp_size_queues(&caps, cap, &heads, size);
}

static void rings_have_room_for_the_longest_wqe(void **state)
{
	const uint64_t any = SEND_OPS_ANY, rdma = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ;
	const struct size_case cases[] = {
		{ any, { 0, 0, 3, 3, 10 }, { 0, 0, 0, 0, 0, 0, 0, 0 } },
		{ any, { 1, 1, 1, 1, 0 }, { 4, 1, 1, 60, 4, 4, 1, 256 } },
		{ any, { 1, 1, 0, 0, 0 }, { 4, 1, 0, 0, 4, 4, 1, 192 } },
		{ any, { 16, 5, 4, 3, 0 }, { 64, 16, 4, 60, 8, 6, 4, 256 } },
		{ any, { 10, 1, 1, 1, 61 }, { 64, 12, 1, 124, 4, 4, 1, 320 } },
		{ any, { 128, 128, 1, 1, 236 }, { 1024, 146, 1, 252, 128, 4, 1, 448 } },
		{ any, { 8192, 32768, 4, 32, 0 }, { 32768, 8192, 4, 60, 32768, 9, 32, 256 } },
		{ IBV_QP_EX_WITH_SEND, { 1, 1, 1, 1, 0 }, { 1, 1, 1, 44, 4, 4, 1, 64 } },
		{ rdma, { 3, 1, 2, 1, 0 }, { 4, 4, 2, 28, 4, 4, 1, 64 } },
		/* The head of BIND_MW has 192 bytes, and the slot has room for it. The control
		 * segment counts at most 63 units of 16 bytes: a WRITE or READ has a head of 32
		 * bytes, an atomic one of 48. */
		{ any, { 1, 1, 52, 1, 0 }, { 16, 1, 52, 828, 4, 4, 1, 1024 } },
		{ any, { 1, 1, 1, 1, 828 }, { 16, 1, 1, 828, 4, 4, 1, 1024 } },
		/* The slot holds 64 units. */
		{ IBV_QP_EX_WITH_SEND, { 1, 1, 62, 1, 0 }, { 16, 1, 62, 988, 4, 4, 1, 1024 } },
		{ IBV_QP_EX_WITH_SEND, { 1, 1, 1, 1, 988 }, { 16, 1, 1, 988, 4, 4, 1, 1024 } },
		{ IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		  { 3, 1, 2, 1, 0 },
		  { 8, 4, 2, 76, 4, 4, 1, 128 } },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct qp_size size;

		print_message("  case %u\n", i);
		assert_int_equal(size_rc(&cases[i].cap, cases[i].ops, &size), 0);
		assert_int_equal(size.sq_wqebbs, cases[i].size.sq_wqebbs);
		assert_int_equal(size.sq_max_post, cases[i].size.sq_max_post);
		assert_int_equal(size.sq_max_sge, cases[i].size.sq_max_sge);
		assert_int_equal(size.sq_max_inline, cases[i].size.sq_max_inline);
		assert_int_equal(size.rq_wqes, cases[i].size.rq_wqes);
		assert_int_equal(size.rq_stride_log, cases[i].size.rq_stride_log);
		assert_int_equal(size.rq_max_sge, cases[i].size.rq_max_sge);
		assert_int_equal(size.sq_wqe_bytes, cases[i].size.sq_wqe_bytes);
	}
}

/* TSO headers may be as long as the program asks. */
static void a_head_that_does_not_fit_is_einval(void **state)
{
	static const uint32_t longest[] = { 1009, 1024, 1025, 4096, 65536, UINT32_MAX };
	const struct ibv_qp_cap cap = { .max_send_wr = 1 };
	struct qp_size size;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(longest); i++) {
		const struct wqe_heads heads = { .longest = longest[i], .data = longest[i] };

		assert_int_equal(mlx5_qp_size_queues(&caps, &cap, &heads, &size), EINVAL);
	}
}

static void what_does_not_fit_is_einval(void **state)
{
	static const struct ibv_qp_cap wrong[] = {
		{ 1, 1, 53, 1, 0 },         { 1, 1, 1, 33, 0 },          { 1, 1, 1, 1, 829 },
		{ 8193, 1, 1, 1, 0 },       { 1, 32769, 1, 1, 0 },       { 0xffffffff, 1, 1, 1, 0 },
		{ 1, 0xffffffff, 1, 1, 0 }, { 1, 1, 0xffffffff, 1, 0 },  { 1, 1, 1, 0xffffffff, 0 },
		{ 1, 1, 1, 1, 0xffffffff }, { 0x80000000, 1, 32, 1, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct qp_size size;

		assert_int_equal(size_rc(&wrong[i], SEND_OPS_ANY, &size), EINVAL);
	}
}

static void a_send_wqe_has_at_most_63_units(void **state)
{
	static const struct ibv_qp_cap wrong[] = { { 1, 1, 63, 1, 0 }, { 1, 1, 1, 1, 989 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct qp_size size;

		assert_int_equal(size_rc(&wrong[i], IBV_QP_EX_WITH_SEND, &size), EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_have_room_for_the_longest_wqe),
		cmocka_unit_test(a_head_that_does_not_fit_is_einval),
		cmocka_unit_test(what_does_not_fit_is_einval),
		cmocka_unit_test(a_send_wqe_has_at_most_63_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
