/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sge_test.c - copies of memory by the adapter: all of it, also of more than a message's bytes, and
 * nothing where a key does not allow it.
 *
 * Covers: softhca/device/queue/sge.c sges_copy sges_allow
 */
#include "pair.h"
#include "softhca/device/core.h"
#include "softhca/device/queue/wqe.h"
#include "softhca/device/transport/qp.h"

enum { PART = FABRIC_PAYLOAD_MAX, SIZE = 3 * PART + 100, OTHER = 0x1000 };

static struct pd *pd;
static uint64_t copy;
static uint32_t copy_key;

static void copy_begin(uint32_t access)
{
	pair(NULL, SIZE);
	pd = res_find(&flat.hca[0]->pds, flat.pd[0]);
	assert_non_null(pd);
	copy = flat_alloc(SIZE, 4096);
	copy_key = flat_mr(flat.hca[0], flat.pd[0], copy, SIZE, access);
	memset(flat.mem + copy, 0xee, SIZE);
}

static int copy_bytes(uint64_t source, uint64_t dest, uint32_t len)
{
	const struct wqe_sge one = { .lkey = lkey, .addr = source, .len = len };
	const struct wqe_sge two = { .lkey = copy_key, .addr = dest, .len = len };

	return sges_copy(flat.hca[0], pd, &one, &two);
}

static void any_length_is_copied(void **state)
{
	static const uint32_t lengths[] = { 1, 100, PART - 1, PART, PART + 1, 2 * PART, SIZE };

	(void)state;
	copy_begin(ALL_ACCESS);
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint32_t len = lengths[i];

		memset(flat.mem + copy, 0xee, SIZE);
		assert_int_equal(copy_bytes(from, copy, len), 0);
		assert_memory_equal(flat.mem + copy, flat.mem + from, len);
		for (uint32_t at = len; at < SIZE; at++)
			assert_true(flat.mem[copy + at] == 0xee);
		for (uint64_t at = 0; at < SIZE; at++) /* the source is as it was */
			assert_true(flat.mem[from + at] == (uint8_t)(at * 7 + at / 256));
	}
	unpair();
}

static void keys_have_to_allow_it(void **state)
{
	(void)state;
	copy_begin(0); /* no local write */
	assert_int_equal(copy_bytes(from, copy, 64), WQE_BAD_LKEY);
	copy_key = lkey;
	assert_int_equal(copy_bytes(from + SIZE - 63, from, 64), WQE_BAD_LKEY);
	assert_int_equal(copy_bytes(from, from + SIZE - 63, 64), WQE_BAD_LKEY);
	assert_int_equal(copy_bytes(from, from + OTHER, (1u << LOG_MAX_COPY) + 1), WQE_BAD_LENGTH);
	assert_int_equal(copy_bytes(from, from + OTHER, 64), 0);
	assert_memory_equal(flat.mem + from + OTHER, flat.mem + from, 64);
	unpair();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(any_length_is_copied, flat_setup, flat_teardown),
		cmocka_unit_test_setup_teardown(keys_have_to_allow_it, flat_setup, flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
