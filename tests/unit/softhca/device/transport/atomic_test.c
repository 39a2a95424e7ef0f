/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * atomic_test.c - masked atomics: results in memory and at the requester, responders that execute
 * them, wrong WQEs, and execution exactly once under losses.
 *
 * Covers: softhca/device/transport/atomic.c
 */
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/core.h"
#include "pair.h"
#include "util/bits.h"

enum { SIZE = 4096 };

static const struct flat_qp_attr patient = { .retry = 7, .rnr_retry = 7 };

static void put_value(uint64_t addr, uint8_t bytes, uint64_t value)
{
	uint32_t four = (uint32_t)value;

	memcpy(flat.mem + addr, bytes == 4 ? (void *)&four : (void *)&value, bytes);
}

static uint64_t value_at(uint64_t addr, uint8_t bytes)
{
	uint64_t value;
	uint32_t four;

	memcpy(&value, flat.mem + addr, sizeof(value));
	memcpy(&four, flat.mem + addr, sizeof(four));
	return bytes == 4 ? four : value;
}

/* Returns a result: one of 4 bytes is big-endian, one of 8 bytes is in the CPU's order. */
static uint64_t result_at(uint64_t addr, uint8_t bytes)
{
	return bytes == 4 ? be32toh((uint32_t)value_at(addr, 4)) : value_at(addr, 8);
}

static void atomic_post(uint8_t opcode, const struct flat_masked *operands, uint64_t remote,
			uint64_t local, uint32_t len)
{
	flat_ctrl(a, opcode, SIGNALED, 0);
	flat_raddr(a, remote, rkey);
	flat_masked(operands, opcode == OP_MASKED_CS);
	flat_data(a, local, len, lkey);
	flat_post(a);
}

static const struct {
	uint8_t opcode;
	struct flat_masked operands;
	uint64_t before, after;
} cases[] = {
	{ OP_MASKED_FA, { 4, .swap_add = 1 }, 0xffffffff, 0 },
	{ OP_MASKED_FA, { 4, .swap_add = 2, .compare = 0x8000 }, 0x1ffff, 0x10001 },
	{ OP_MASKED_FA, { 4, .swap_add = 0xffff00ff, .compare = ~0u }, 0x12345678, 0xedcb5687 },
	{ OP_MASKED_FA, { 8, .swap_add = 1 }, 0xffffffff, 0x100000000 },
	{ OP_MASKED_FA,
	  { 8, .swap_add = 0x100000001, .compare = 0x8000000080000000 },
	  0x7fffffffffffffff,
	  0x8000000000000000 },
	{ OP_MASKED_CS,
	  { 4, .swap_add = 5, .compare = 9, .swap_mask = ~0u, .compare_mask = ~0u },
	  9,
	  5 },
	{ OP_MASKED_CS,
	  { 4, .swap_add = 5, .compare = 9, .swap_mask = ~0u, .compare_mask = ~0u },
	  8,
	  8 },
	{ OP_MASKED_CS,
	  { 4, .swap_add = 0xff, .compare = 0x10, .swap_mask = 0xf0, .compare_mask = 0x10 },
	  0x12345610,
	  0x123456f0 },
	{ OP_MASKED_CS,
	  { 8, .swap_add = 0xabcdef0123456789, .swap_mask = ~UINT64_C(0) },
	  0x1122334455667788,
	  0xabcdef0123456789 },
	{ OP_MASKED_CS,
	  { 8, .swap_add = 0xf0, .swap_mask = 0xff00ff },
	  0x1122334455667788,
	  0x11223344550077f0 },
	{ OP_MASKED_CS,
	  { 8, .swap_add = 7, .compare = 1, .swap_mask = ~UINT64_C(0),
	    .compare_mask = UINT64_C(1) << 63 },
	  UINT64_C(1) << 63,
	  UINT64_C(1) << 63 },
};

/* Checks that the bytes beside a value or a result keep their contents, as an atomic of 4 bytes
 * must not write 8. */
static void expect_neighbours(uint64_t addr, uint8_t bytes)
{
	for (int i = 1; i <= 8; i++) {
		assert_int_equal(flat.mem[addr - i], 0xee);
		assert_int_equal(flat.mem[addr + bytes + i - 1], 0xee);
	}
}

static void each_leaves_and_returns_what_it_should(void **state)
{
	(void)state;
	pair(NULL, SIZE);
	memset(flat.mem + to, 0xee, SIZE);
	memset(flat.mem + from, 0xee, SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t bytes = cases[i].operands.bytes;
		uint64_t remote = to + 64 * (i + 1), local = from + 64 * (i + 1);

		put_value(remote, bytes, cases[i].before);
		atomic_post(cases[i].opcode, &cases[i].operands, remote, local, bytes);
		flat_ring(a);
		flat_run(LONG);
		assert_int_equal(value_at(remote, bytes), cases[i].after);
		assert_int_equal(result_at(local, bytes), cases[i].before);
		expect_neighbours(remote, bytes);
		expect_neighbours(local, bytes);
		flat_poll(a->send_cq);
	}
	unpair();
}

/* Adds bit by bit, as the PRM describes masked additions: no carry leaves a field. */
static uint64_t add_slowly(uint64_t x, uint64_t y, uint64_t highest, unsigned int bits)
{
	unsigned int carry = 0;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < bits; i++) {
		unsigned int total = (x >> i & 1) + (y >> i & 1) + carry;

		sum |= (uint64_t)(total & 1) << i;
		carry = highest >> i & 1 ? 0 : total >> 1;
	}
	return sum;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state ^ *state >> 29;
}

/* The WQEs have one or two blocks, so the ring wraps within some of them. */
static void fields_are_added_apart(void **state)
{
	uint64_t seed = 1, before, after;

	(void)state;
	pair(NULL, SIZE);
	for (int i = 0; i < 400; i++) {
		uint8_t bytes = i & 1 ? 4 : 8;
		uint64_t all = bytes == 4 ? UINT32_MAX : UINT64_MAX;
		struct flat_masked operands = { .bytes = bytes,
						.swap_add = next_random(&seed) & all,
						.compare = next_random(&seed) & next_random(&seed) &
							   all };

		before = next_random(&seed) & all;
		after = add_slowly(before, operands.swap_add, operands.compare, bytes * 8);
		put_value(to, bytes, before);
		atomic_post(OP_MASKED_FA, &operands, to, from, bytes);
		operands.compare = after;
		operands.compare_mask = operands.swap_mask = all;
		operands.swap_add = before;
		atomic_post(OP_MASKED_CS, &operands, to, from + 8, bytes);
		flat_ring(a);
		flat_run(LONG);
		assert_int_equal(result_at(from, bytes), before);
		assert_int_equal(result_at(from + 8, bytes), after);
		assert_int_equal(value_at(to, bytes), before);
		assert_non_null(flat_poll(a->send_cq));
		assert_non_null(flat_poll(a->send_cq));
	}
	unpair();
}

static void post_two_sizes(void)
{
	struct flat_masked operands = { 4, .swap_add = 1 };

	put_value(to, 4, 0x01020304);
	put_value(to + 8, 8, 0x0506070801020304);
	memset(flat.mem + from, 0xee, 16);
	atomic_post(OP_MASKED_FA, &operands, to, from, 4);
	flat_ctrl(a, OP_FA, SIGNALED, 0);
	flat_raddr(a, to + 8, rkey);
	flat_atomic(a, 1, 0);
	flat_data(a, from + 8, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
}

/* Results go to memory by default, as libraries disagree on their byte order in a CQE:
 * docs/adr/0035. */
static void no_result_goes_into_the_cqe(void **state)
{
	struct flat_qp_attr attr = { .cs_req = 0x22, .cqe_size = 128 };
	const uint8_t *cqe;

	(void)state;
	pair(&attr, SIZE);
	post_two_sizes();
	for (int i = 0; i < 2; i++) {
		cqe = flat_poll(a->send_cq);
		assert_non_null(cqe);
		assert_int_equal(cqe[63] & 0xc, 0);
	}
	assert_int_equal(result_at(from, 4), 0x01020304);
	assert_int_equal(value_at(from + 8, 8), 0x0506070801020304);
	unpair();
}

/* With atomics_in_cqe, results go into the CQE in the same format, and not into memory. */
static void results_go_into_the_cqe_if_the_adapter_has_them_there(void **state)
{
	struct flat_qp_attr attr = { .cs_req = 0x22, .cqe_size = 128 };
	const uint8_t *cqe;
	uint64_t value;
	uint32_t four;

	(void)state;
	flat.hca[0]->config.atomics_in_cqe = true;
	pair(&attr, SIZE);
	post_two_sizes();
	cqe = flat_poll(a->send_cq);
	assert_non_null(cqe);
	assert_int_equal(cqe[63] & 0xc, 4);
	memcpy(&four, cqe, sizeof(four));
	assert_int_equal(be32toh(four), 0x01020304);
	cqe = flat_poll(a->send_cq);
	assert_non_null(cqe);
	assert_int_equal(cqe[63] & 0xc, 4);
	memcpy(&value, cqe, sizeof(value));
	assert_int_equal(value, 0x0506070801020304);
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(flat.mem[from + i], 0xee);
	unpair();
}

static void expect_refusal(const struct flat_qp_attr *attr, uint8_t bytes, uint64_t offset)
{
	struct flat_masked operands = { bytes, .swap_add = 1 };

	pair(attr, SIZE);
	memset(flat.mem + to, 0xee, SIZE);
	atomic_post(OP_MASKED_FA, &operands, to + offset, from, bytes);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, REMOTE_INVAL_REQ);
	assert_int_equal(flat.mem[to + offset], 0xee);
	unpair();
}

static void the_mode_allows_them(void **state)
{
	static const struct flat_qp_attr spec = { .atomic_mode = PRM_ATOMIC_MODE_IB_SPEC },
					 eight = { .atomic_mode = PRM_ATOMIC_MODE_ONLY_8B };
	struct flat_masked operands = { 8, .swap_add = 1 };

	(void)state;
	expect_refusal(&spec, 4, 0);
	expect_refusal(&spec, 8, 0);
	expect_refusal(&eight, 4, 0);
	pair(&eight, SIZE);
	atomic_post(OP_MASKED_FA, &operands, to, from, 8);
	flat_ring(a);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	unpair();
}

static void addresses_are_aligned(void **state)
{
	(void)state;
	expect_refusal(NULL, 4, 2);
	expect_refusal(NULL, 8, 4);
}

static void refused_by_the_requester(void (*spoil)(void), uint32_t len, uint8_t syndrome)
{
	struct flat_masked operands = { 4, .swap_add = 1 };

	pair(NULL, SIZE);
	flat_ctrl(a, OP_MASKED_CS, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_masked(&operands, true);
	flat_data(a, from, len, lkey);
	if (spoil)
		spoil();
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_error(a->send_cq, REQ_ERR, 0, syndrome);
	unpair();
}

static void no_modifier(void)
{
	flat_modifier(0);
}

static void of_16_bytes(void)
{
	flat_modifier(WQE_MASKED_8 + 1);
}

/* Turns the data segment into the second half of 8-byte operands, so that the WQE lacks a data
 * segment. */
static void of_8_bytes(void)
{
	flat_modifier(WQE_MASKED_8);
}

static void wrong_wqes_are_refused(void **state)
{
	(void)state;
	refused_by_the_requester(no_modifier, 4, LOCAL_QP_OP);
	refused_by_the_requester(of_16_bytes, 4, LOCAL_QP_OP);
	refused_by_the_requester(NULL, 8, LOCAL_LENGTH);
	refused_by_the_requester(NULL, 3, LOCAL_LENGTH);
}

static void operands_without_data_are_refused(void **state)
{
	(void)state;
	refused_by_the_requester(of_8_bytes, 4, LOCAL_LENGTH);
	flat_expect_report("wqe.segments");
}

enum { ADDS = 6 };

static void add_with(const char *fault)
{
	struct flat_masked operands = { .swap_add = 0x10001, .compare = 0x8000 };

	assert_int_equal(fault_add(flat.fault, fault, flat.now), 0);
	pair(&patient, SIZE);
	put_value(to, 4, 0);
	put_value(to + 8, 8, 0);
	for (int i = 0; i < ADDS; i++) {
		operands.bytes = i & 1 ? 8 : 4;
		atomic_post(OP_MASKED_FA, &operands, i & 1 ? to + 8 : to, from + 8 * i,
			    operands.bytes);
	}
	flat_ring(a);
	flat_run(20ull * LONG);
	for (uint64_t i = 0; i < ADDS; i++) {
		flat_expect_done(a->send_cq, REQ, i);
		assert_int_equal(result_at(from + 8 * i, i & 1 ? 8 : 4), i / 2 * 0x10001);
	}
	assert_int_equal(value_at(to, 4), ADDS / 2 * 0x10001);
	assert_int_equal(value_at(to + 8, 8), ADDS / 2 * 0x10001);
	unpair();
}

static void each_is_executed_once(void **state)
{
	char text[32];

	for (int n = 1; n <= 4 * ADDS; n++) {
		flat_teardown(state);
		flat_setup(state);
		snprintf(text, sizeof(text), "drop:%d", n);
		add_with(text);
	}
}

static void once_over_a_network_that_loses(void **state)
{
	char text[32];

	for (int n = 1; n <= 4 * ADDS; n++) {
		flat_teardown(state);
		if (n & 1)
			flat_setup_network(state);
		else
			flat_setup_network_roce(state);
		snprintf(text, sizeof(text), "loss:%d", n);
		add_with(text);
	}
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(each_leaves_and_returns_what_it_should),
		IB(fields_are_added_apart),
		IB(no_result_goes_into_the_cqe),
		IB(results_go_into_the_cqe_if_the_adapter_has_them_there),
		IB(the_mode_allows_them),
		IB(addresses_are_aligned),
		IB(wrong_wqes_are_refused),
		IB(operands_without_data_are_refused),
		IB(each_is_executed_once),
		IB(once_over_a_network_that_loses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
