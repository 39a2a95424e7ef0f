/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq_test.c - WQs and RSS of mlx4: requests of its driver, numbers from ranges that are filled
 * before the next, transitions, and tables of consecutive numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/mlx4/wq.c"

enum { FIRST = 0x400, REFUSED = EDOM };

static struct {
	uint32_t next;
	unsigned int reserved, released;
	int reserve_error;
	struct eth_hash hash;
	unsigned int spread;
} it;

int frame_qpns_reserve(struct adapter *adapter, uint32_t count, bool sends, uint32_t *first)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_false(sends);
	if (it.reserve_error)
		return it.reserve_error;
	*first = it.next;
	it.next += count;
	it.reserved++;
	return 0;
}

void frame_qpns_release(struct adapter *adapter, uint32_t first, uint32_t count)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_true(first >= FIRST && first + count <= it.next);
	it.released++;
}

int raw_qp_make(struct adapter *adapter, const struct raw_request *request, struct raw_qp **raw)
{
	assert_ptr_equal(adapter, &rig.adapter);
	it.hash = *request->hash;
	it.spread++;
	*raw = NULL;
	return 0;
}

uint64_t mlx4_ring_in(uint64_t addr)
{
	return addr + 8;
}

static int wq_begin(void **state)
{
	memset(&it, 0, sizeof(it));
	it.next = FIRST;
	rig_begin(state);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_RQT_SIZE, 5);
	return 0;
}

static int number_take(uint32_t log_range, struct wqn_range **range, uint32_t *number)
{
	const struct wq_request req = { .log_range = log_range };

	return mlx4_wqn_take(&rig.call, &req, range, number);
}

static void numbers_of_a_range_are_consecutive(void **state)
{
	struct wqn_range *range[4];
	uint32_t number;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(number_take(i ? 0 : 2, &range[i], &number), 0);
		assert_int_equal(number, FIRST + i);
		assert_ptr_equal(range[i], range[0]);
		if (i < 3) /* a new range has to wait for the last number */
			assert_int_equal(number_take(1, &range[3], &number), EINVAL);
	}
	assert_int_equal(it.reserved, 1);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(it.released, 0);
		mlx4_wqn_put(&rig.file, range[i]);
	}
	assert_int_equal(it.released, 1);
	assert_null(rig.file.wqns);
}

static void a_range_that_lost_a_queue_takes_no_more(void **state)
{
	struct wqn_range *first, *second, *third;
	uint32_t number;

	(void)state;
	assert_int_equal(number_take(2, &first, &number), 0);
	assert_int_equal(number_take(0, &first, &number), 0);
	mlx4_wqn_put(&rig.file, first);
	assert_int_equal(number_take(1, &second, &number), 0);
	assert_ptr_not_equal(second, first);
	assert_int_equal(number, FIRST + 4);
	mlx4_wqn_put(&rig.file, first);
	assert_int_equal(it.released, 1);
	assert_ptr_equal(rig.file.wqns, second);
	assert_int_equal(number_take(0, &third, &number), 0);
	assert_ptr_equal(third, second);
	mlx4_wqn_put(&rig.file, second);
	mlx4_wqn_put(&rig.file, second);
	assert_null(rig.file.wqns);
}

static void without_numbers_there_is_no_queue(void **state)
{
	struct wqn_range *range = NULL;
	uint32_t number = 1;

	(void)state;
	it.reserve_error = ENOSPC;
	assert_int_equal(number_take(0, &range, &number), ENOSPC);
	assert_null(range);
	assert_null(rig.file.wqns);
	assert_int_equal(number, 1);
}

static int read_with(const struct mlx4_ib_create_wq *part, struct wq_request *req)
{
	rig_in(UVERBS_ATTR_UHW_IN, part, sizeof(*part));
	return mlx4_read_wq(&rig.call, req);
}

static void rings_are_as_large_as_the_driver_makes_them(void **state)
{
	static const struct {
		uint32_t max_wr, max_sge, count, shift;
	} rows[] = { { 1, 1, 1, 4 }, { 100, 1, 128, 4 }, { 64, 3, 64, 6 }, { 65, 32, 128, 9 } };
	const struct mlx4_ib_create_wq part = { .buf_addr = 0x10000, .db_addr = 0x20000 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct wq_request req = { .max_wr = rows[i].max_wr, .max_sge = rows[i].max_sge };

		rig.pinned = 0;
		assert_int_equal(read_with(&part, &req), 0);
		assert_int_equal(req.driver.rq_wqe_count, rows[i].count);
		assert_int_equal(req.driver.rq_wqe_shift, rows[i].shift);
		assert_int_equal(req.skip, rows[i].shift > M4_MIN_SLOT_LOG ? 0 : M4_PIECE);
		assert_true(req.driver.buf_addr == 0x10008 && req.driver.db_addr == 0x20000);
		assert_int_equal(req.driver.user_index, PRM_NO_USER_INDEX);
		assert_int_equal(rig.pinned, 1);
		assert_int_equal(rig.pins[0].len,
				 ((uint64_t)rows[i].count << rows[i].shift) + M4_PIECE);
	}
}

static void sizes_have_their_limits(void **state)
{
	const uint32_t most = (1u << LOG_MAX_WQES) - SPARE_WQES;
	const struct {
		uint32_t max_wr, max_sge;
		int error;
	} rows[] = { { most, MAX_SGE, 0 },
		     { most + 1, 1, EINVAL },
		     { 0, 1, EINVAL },
		     { 1, 0, EINVAL },
		     { 1, MAX_SGE + 1, EINVAL } };
	const struct mlx4_ib_create_wq part = { .db_addr = 0 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct wq_request req = { .max_wr = rows[i].max_wr, .max_sge = rows[i].max_sge };

		rig.pinned = 0;
		assert_int_equal(read_with(&part, &req), rows[i].error);
	}
}

static void what_is_not_known_is_refused(void **state)
{
	const struct wq_request whole = { .max_wr = 1, .max_sge = 1 };
	struct mlx4_ib_create_wq part = { .log_range_size = 5 };
	struct wq_request req = whole;

	(void)state;
	assert_int_equal(read_with(&part, &req), 0);
	assert_int_equal(req.log_range, 5);
	part.log_range_size++;
	assert_int_equal(read_with(&part, &req), EOPNOTSUPP);
	part = (struct mlx4_ib_create_wq){ .comp_mask = 1 };
	assert_int_equal(read_with(&part, &req), EOPNOTSUPP);
	for (unsigned int i = 0; i < 3; i++) {
		part = (struct mlx4_ib_create_wq){ .comp_mask = 0 };
		part.reserved[i] = 1;
		assert_int_equal(read_with(&part, &req), EOPNOTSUPP);
	}
	part = (struct mlx4_ib_create_wq){ .comp_mask = 0 };
	req = whole;
	req.type = WQT_RQ + 1;
	assert_int_equal(read_with(&part, &req), EOPNOTSUPP);
	req = whole;
	req.flags = 1;
	assert_int_equal(read_with(&part, &req), EOPNOTSUPP);
	req = whole;
	rig.pin_error = EFAULT;
	assert_int_equal(read_with(&part, &req), EFAULT);
	rig_in(UVERBS_ATTR_UHW_IN, &part, sizeof(part) - 1);
	assert_int_equal(mlx4_read_wq(&rig.call, &req), EINVAL);
}

static void a_table_is_of_consecutive_numbers(void **state)
{
	static const uint32_t right[] = { 8, 9, 10, 11 }, gap[] = { 8, 9, 11, 12 },
			      odd[] = { 9, 10, 11, 12 }, down[] = { 8, 7, 6, 5 };

	(void)state;
	assert_int_equal(mlx4_check_table(right, 4), 0);
	assert_int_equal(mlx4_check_table(right, 1), 0);
	assert_int_equal(mlx4_check_table(odd, 1), 0);
	assert_int_equal(mlx4_check_table(gap, 4), EINVAL);
	assert_int_equal(mlx4_check_table(gap, 2), 0);
	assert_int_equal(mlx4_check_table(odd, 4), EINVAL);
	assert_int_equal(mlx4_check_table(down, 4), EINVAL);
}

static void an_rss_qp_goes_up_step_by_step(void **state)
{
	(void)state;
	for (unsigned int from = QP_RESET; from <= QP_RTS; from++) {
		for (unsigned int to = QP_RESET; to <= QP_RTS; to++) {
			bool may = (from == QP_RESET && to == QP_INIT) ||
				   (from == QP_INIT && to == QP_RTR);

			assert_int_equal(mlx4_check_spread_change(from, to), may ? 0 : EOPNOTSUPP);
		}
	}
}

static int rss_create(uint64_t fields)
{
	const struct mlx4_ib_create_qp_rss part = { .rx_hash_fields_mask = fields,
						    .rx_hash_function =
							    MLX4_IB_RX_HASH_FUNC_TOEPLITZ };
	const struct uverbs_rwq_table table = { .rqtn = 3, .size = 4 };
	struct raw_qp *raw;

	rig_in(UVERBS_ATTR_UHW_IN, &part, sizeof(part));
	return mlx4_spread(&rig.call, &table, &raw);
}

static void fields_are_hashed_in_pairs(void **state)
{
	(void)state;
	assert_int_equal(rss_create(IPV4), 0);
	assert_true(it.hash.ipv4 && !it.hash.ipv6 && !it.hash.tcp && !it.hash.udp);
	assert_int_equal(rss_create(IPV4 | IPV6 | TCP | UDP), 0); /* mlx4 takes them all at once */
	assert_true(it.hash.ipv4 && it.hash.ipv6 && it.hash.tcp && it.hash.udp);
	/* ports without addresses, which is no hash of mlx4 */
	assert_int_equal(rss_create(TCP), EOPNOTSUPP);
	assert_int_equal(rss_create(IPV6 | UDP), 0);
	for (unsigned int bit = 0; bit < 8; bit++)
		assert_int_equal(rss_create(IPV4 ^ 1ull << bit ^ (1ull << bit & IPV4 ? 0 : IPV4)),
				 EOPNOTSUPP);
	assert_int_equal(rss_create(IPV4 | MLX4_IB_RX_HASH_INNER), EOPNOTSUPP);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, wq_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(numbers_of_a_range_are_consecutive),
		CASE(a_range_that_lost_a_queue_takes_no_more),
		CASE(without_numbers_there_is_no_queue),
		CASE(rings_are_as_large_as_the_driver_makes_them),
		CASE(sizes_have_their_limits),
		CASE(what_is_not_known_is_refused),
		CASE(a_table_is_of_consecutive_numbers),
		CASE(an_rss_qp_goes_up_step_by_step),
		CASE(fields_are_hashed_in_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
