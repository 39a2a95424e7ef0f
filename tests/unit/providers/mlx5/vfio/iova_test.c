/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * iova_test.c - addresses of an IOMMU: what is handed out is free, aligned and given back whole;
 * and the pages in which an adapter sees memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "providers/mlx5/vfio/iova.h"
#include "util/bits.h"

enum { UNIT = 4096 };

static void holes_are_taken_from_the_lowest_on(void **state)
{
	struct vfio_iova iova = { 0 };
	uint64_t at;

	(void)state;
	assert_int_equal(mlx5_vfio_iova_give(&iova, 0x10000, 0x1ffff), 0);
	assert_int_equal(mlx5_vfio_iova_give(&iova, 0x30000, 0x3ffff), 0);
	assert_int_equal(mlx5_vfio_iova_take(&iova, UNIT, UNIT, &at), 0);
	assert_true(at == 0x10000);
	assert_int_equal(mlx5_vfio_iova_take(&iova, 0x8000, 0x8000, &at), 0);
	assert_true(at == 0x18000); /* the rest below stays a hole */
	assert_int_equal(mlx5_vfio_iova_take(&iova, 0x7000, UNIT, &at), 0);
	assert_true(at == 0x11000);
	assert_int_equal(mlx5_vfio_iova_take(&iova, 0x10000, UNIT, &at), 0);
	assert_true(at == 0x30000);
	assert_int_equal(mlx5_vfio_iova_take(&iova, UNIT, UNIT, &at), ENOSPC);
	assert_null(iova.holes);
}

static void a_range_is_not_taken_across_a_reserved_one(void **state)
{
	struct vfio_iova iova = { 0 };
	uint64_t at;

	(void)state;
	assert_int_equal(mlx5_vfio_iova_give(&iova, 0x10000, 0xfedfffff), 0);
	assert_int_equal(mlx5_vfio_iova_give(&iova, 0xfef00000, 0x1ffffffff), 0);
	assert_int_equal(mlx5_vfio_iova_take(&iova, 0xfedf0000, UNIT, &at), 0);
	assert_true(at == 0x10000);
	assert_int_equal(mlx5_vfio_iova_take(&iova, 2 * UNIT, UNIT, &at), 0);
	assert_true(at == 0xfef00000);
	mlx5_vfio_iova_clear(&iova);
}

static void the_last_address_can_be_taken(void **state)
{
	struct vfio_iova iova = { 0 };
	uint64_t at;

	(void)state;
	assert_int_equal(mlx5_vfio_iova_give(&iova, UINT64_MAX - (2 * UNIT - 1), UINT64_MAX), 0);
	assert_int_equal(mlx5_vfio_iova_take(&iova, 3 * UNIT, UNIT, &at), ENOSPC);
	assert_int_equal(mlx5_vfio_iova_take(&iova, UNIT, UINT64_C(1) << 63, &at), ENOSPC);
	assert_int_equal(mlx5_vfio_iova_take(&iova, 2 * UNIT, UNIT, &at), 0);
	assert_true(at == UINT64_MAX - (2 * UNIT - 1));
	assert_int_equal(mlx5_vfio_iova_give(&iova, at, UINT64_MAX), 0);
	assert_true(iova.holes->last == UINT64_MAX && !iova.holes->next);
	mlx5_vfio_iova_clear(&iova);
}

static void ranges_join_what_they_touch(void **state)
{
	static const unsigned int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
						  { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(orders); i++) {
		struct vfio_iova iova = { 0 };

		for (unsigned int j = 0; j < 3; j++) {
			uint64_t at = (1 + orders[i][j]) * (uint64_t)UNIT;

			assert_int_equal(mlx5_vfio_iova_give(&iova, at, at + UNIT - 1), 0);
		}
		assert_true(iova.holes->first == UNIT && iova.holes->last == 4 * UNIT - 1);
		assert_null(iova.holes->next);
		mlx5_vfio_iova_clear(&iova);
	}
}

enum { UNITS = 256, MOST_TAKEN = 64 };

struct model {
	struct vfio_iova iova;
	bool used[UNITS + 1]; /* the last is never free */
	struct {
		unsigned int at, count;
	} taken[MOST_TAKEN];
	unsigned int num_taken;
};

/* The holes are what is not used, in order, and none touches the next. */
static void check_holes(const struct model *model)
{
	const struct iova_hole *hole = model->iova.holes;

	for (unsigned int i = 0; i < UNITS;) {
		unsigned int end = i;

		while (!model->used[end])
			end++;
		if (end > i) {
			assert_non_null(hole);
			assert_true(hole->first == (uint64_t)i * UNIT);
			assert_true(hole->last == (uint64_t)end * UNIT - 1);
			hole = hole->next;
		}
		i = end + 1;
	}
	assert_null(hole);
}

static bool is_room(const struct model *model, unsigned int count, unsigned int align)
{
	for (unsigned int i = 0; i + count <= UNITS; i += align)
		if (!memchr(&model->used[i], true, count))
			return true;
	return false;
}

static void take_some(struct model *model)
{
	const unsigned int count = 1 + (unsigned int)random() % 12;
	const unsigned int align = 1u << random() % 5;
	uint64_t first = 0;
	int ret = mlx5_vfio_iova_take(&model->iova, (uint64_t)count * UNIT, (uint64_t)align * UNIT,
				      &first);
	unsigned int at = (unsigned int)(first / UNIT);

	assert_int_equal(ret, is_room(model, count, align) ? 0 : ENOSPC);
	if (ret)
		return;
	assert_true(at % align == 0 && at + count <= UNITS);
	assert_null(memchr(&model->used[at], true, count));
	memset(&model->used[at], true, count);
	model->taken[model->num_taken].at = at;
	model->taken[model->num_taken++].count = count;
}

static void give_some(struct model *model)
{
	const unsigned int i = (unsigned int)random() % model->num_taken;
	const unsigned int at = model->taken[i].at, count = model->taken[i].count;

	assert_int_equal(mlx5_vfio_iova_give(&model->iova, (uint64_t)at * UNIT,
					     (uint64_t)(at + count) * UNIT - 1),
			 0);
	memset(&model->used[at], false, count);
	model->taken[i] = model->taken[--model->num_taken];
}

static void random_uses_agree_with_a_map_of_units(void **state)
{
	struct model model = { .used[UNITS] = true };

	(void)state;
	srandom(35);
	assert_int_equal(mlx5_vfio_iova_give(&model.iova, 0, (uint64_t)UNITS * UNIT - 1), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		if (model.num_taken < MOST_TAKEN && (!model.num_taken || random() % 2))
			take_some(&model);
		else
			give_some(&model);
		check_holes(&model);
	}
	mlx5_vfio_iova_clear(&model.iova);
}

static void check_shape(uint64_t addr, uint64_t length, unsigned int log_unit)
{
	struct vfio_shape shape;
	uint64_t page, unit = UINT64_C(1) << log_unit;

	assert_int_equal(mlx5_vfio_shape_find(addr, length, log_unit, &shape), 0);
	page = UINT64_C(1) << shape.log_page;
	assert_true(shape.log_page >= log_unit && shape.count >= 1);
	assert_true(shape.count <= VFIO_MAX_PAGES);
	assert_true(shape.base % page == 0 && shape.start % unit == 0 && shape.length % unit == 0);
	assert_true(shape.base <= shape.start && shape.start <= addr && addr - shape.start < unit);
	assert_true(addr - shape.base < page);
	assert_true(shape.start + shape.length - (addr + length) < unit);
	assert_true(shape.base + shape.count * page - (addr + length) < page);
	/* smaller pages would be too many */
	if (shape.log_page > log_unit)
		assert_true(((addr + length - 1) >> (shape.log_page - 1)) -
				    (addr >> (shape.log_page - 1)) >=
			    VFIO_MAX_PAGES);
}

static void pages_are_as_small_as_their_number_allows(void **state)
{
	static const uint64_t offsets[] = { 0, 1, 64, 4095, 4096, 65535, 65536, 0x7fffffff };

	(void)state;
	for (unsigned int log_unit = 12; log_unit <= 16; log_unit += 4)
		for (unsigned int i = 0; i < ARRAY_SIZE(offsets); i++)
			for (unsigned int log = 0; log < 38; log++)
				for (int more = -1; more <= 1; more++) {
					uint64_t length = (UINT64_C(1) << log) + (uint64_t)more;

					if (length)
						check_shape(offsets[i], length, log_unit);
				}
}

static void memory_that_no_pages_hold_is_refused(void **state)
{
	struct vfio_shape shape;

	(void)state;
	assert_int_equal(mlx5_vfio_shape_find(0, 0, 12, &shape), EINVAL);
	assert_int_equal(mlx5_vfio_shape_find(UINT64_MAX, 2, 12, &shape), EINVAL);
	assert_int_equal(mlx5_vfio_shape_find(UINT64_C(1) << 63, 1, 12, &shape), EINVAL);
	assert_int_equal(mlx5_vfio_shape_find(0, UINT64_C(256) << 31, 12, &shape), 0);
	assert_int_equal(mlx5_vfio_shape_find(0, (UINT64_C(256) << 31) + 1, 12, &shape), EINVAL);
	assert_int_equal(mlx5_vfio_shape_find(1, UINT64_C(256) << 31, 12, &shape), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holes_are_taken_from_the_lowest_on),
		cmocka_unit_test(a_range_is_not_taken_across_a_reserved_one),
		cmocka_unit_test(the_last_address_can_be_taken),
		cmocka_unit_test(ranges_join_what_they_touch),
		cmocka_unit_test(random_uses_agree_with_a_map_of_units),
		cmocka_unit_test(pages_are_as_small_as_their_number_allows),
		cmocka_unit_test(memory_that_no_pages_hold_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
