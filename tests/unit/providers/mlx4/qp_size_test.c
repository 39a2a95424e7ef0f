/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_size_test.c - sizes of a QP's rings: the least and the greatest value of each capability, and
 * the first refused one.
 *
 * Covers: providers/mlx4/qp_size.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "providers/mlx4/qp.h"
#include "util/bits.h"

enum { CONTROL = 16, WITH_ADDRESS = 64 }; /* bytes of a WQE before its data */

static int size_of(struct ibv_qp_cap cap, uint32_t head, struct mlx4_qp_size *size)
{
	return mlx4_qp_size(&cap, head, true, size);
}

/* The adapter prefetches 2048 bytes ahead, so they and one slot stay free. */
static void the_least_queue_has_one_request_and_spare_slots(void **state)
{
	struct mlx4_qp_size size;

	(void)state;
	assert_int_equal(size_of((struct ibv_qp_cap){ 0 }, CONTROL, &size), 0);
	assert_int_equal(size.sq_slot_log, 6);
	assert_int_equal(size.sq_spare, 2048 / 64 + 1);
	assert_int_equal(size.sq_slots, 64);
	assert_int_equal(size.sq_max_sge, 3);
	assert_int_equal(size.sq_max_inline, 64 - 16 - 4);
	assert_int_equal(size.rq_wqes, 1);
	assert_int_equal(size.rq_stride_log, 4);
	assert_int_equal(size.rq_offset, 64 * 64);
	assert_int_equal(size.bytes, 64 * 64 + 16);
}

/* Receive WQEs of 32 SGEs are larger than sends of one piece, so their ring is first. */
static void the_ring_with_the_larger_wqes_is_first(void **state)
{
	struct mlx4_qp_size size;

	(void)state;
	assert_int_equal(size_of((struct ibv_qp_cap){ .max_recv_wr = 3, .max_recv_sge = 17 },
				 CONTROL, &size),
			 0);
	assert_int_equal(size.rq_wqes, 4);
	assert_int_equal(size.rq_stride_log, 9);
	assert_int_equal(size.rq_offset, 0);
	assert_int_equal(size.sq_offset, 4 * 512);
	assert_int_equal(
		size_of((struct ibv_qp_cap){ .max_recv_wr = 3, .max_recv_sge = 4 }, CONTROL, &size),
		0);
	assert_int_equal(size.sq_offset, 0);
	assert_int_equal(size.rq_offset, 64 * 64);
}

/* Each piece of 64 bytes needs an inline header of 4 bytes, and the first piece also has the
 * control segment, so slots grow faster than the data. */
static void inline_data_make_slots_larger(void **state)
{
	struct mlx4_qp_size size;

	(void)state;
	assert_int_equal(mlx4_inline_room(CONTROL, 64), 44);
	assert_int_equal(mlx4_inline_room(CONTROL, 128), 44 + 60);
	assert_int_equal(mlx4_inline_room(WITH_ADDRESS, 64), 0);
	assert_int_equal(size_of((struct ibv_qp_cap){ .max_inline_data = 44 }, CONTROL, &size), 0);
	assert_int_equal(size.sq_slot_log, 6);
	assert_int_equal(size_of((struct ibv_qp_cap){ .max_inline_data = 45 }, CONTROL, &size), 0);
	assert_int_equal(size.sq_slot_log, 7);
	assert_int_equal(size.sq_max_inline, 104);
}

/* Greatest value of each capability with 16 bytes of control segment */
static const struct limit {
	size_t offset;
	uint32_t most;
} limits[] = {
	{ offsetof(struct ibv_qp_cap, max_send_sge), (1008 - CONTROL) / 16 },
	{ offsetof(struct ibv_qp_cap, max_inline_data), 1008 - CONTROL - 16 * 4 },
	{ offsetof(struct ibv_qp_cap, max_send_wr), (1 << 14) - (2048 / 64 + 1) },
	{ offsetof(struct ibv_qp_cap, max_recv_wr), (1 << 14) - (2048 / 64 + 1) },
	{ offsetof(struct ibv_qp_cap, max_recv_sge), 32 },
};

static int size_with(const struct limit *limit, uint32_t value)
{
	struct ibv_qp_cap cap = { 0 };
	struct mlx4_qp_size size;

	*(uint32_t *)((char *)&cap + limit->offset) = value;
	return size_of(cap, CONTROL, &size);
}

static void one_more_than_the_most_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		assert_int_equal(size_with(&limits[i], limits[i].most), 0);
		assert_int_equal(size_with(&limits[i], limits[i].most + 1), EINVAL);
		assert_int_equal(size_with(&limits[i], UINT32_MAX), EINVAL);
	}
}

/* TSO headers may exceed a WQE, so a limit applies, but only to QPs that have TSO. */
static void a_head_has_to_leave_room(void **state)
{
	struct mlx4_qp_size size;

	(void)state;
	assert_int_equal(size_of((struct ibv_qp_cap){ 0 }, 1008, &size), 0);
	assert_int_equal(size.sq_max_sge, 0);
	assert_int_equal(size_of((struct ibv_qp_cap){ .max_send_sge = 1 }, 1008, &size), EINVAL);
	assert_int_equal(size_of((struct ibv_qp_cap){ 0 }, 1009, &size), EINVAL);
	assert_int_equal(
		mlx4_qp_size(&(struct ibv_qp_cap){ .max_recv_sge = 33 }, CONTROL, false, &size), 0);
	assert_int_equal(size.rq_wqes, 0);
}

static void a_target_has_one_slot(void **state)
{
	struct mlx4_qp_size size;

	(void)state;
	mlx4_qp_size_target(&size);
	assert_int_equal(size.sq_slots, 1);
	assert_int_equal(size.bytes, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_queue_has_one_request_and_spare_slots),
		cmocka_unit_test(the_ring_with_the_larger_wqes_is_first),
		cmocka_unit_test(inline_data_make_slots_larger),
		cmocka_unit_test(one_more_than_the_most_is_refused),
		cmocka_unit_test(a_head_has_to_leave_room),
		cmocka_unit_test(a_target_has_one_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
