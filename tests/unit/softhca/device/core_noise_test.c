/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_noise_test.c - commands, WQEs, receive WQEs and doorbells of random bits: the device must
 * not crash (the sanitizers watch), hang, or write outside registered memory.
 *
 * Covers: softhca/device/format/mlx5/cmd/cmd.c, softhca/device/format/mlx5/wqe.c,
 * softhca/device/hca.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"

static uint64_t seed;

static uint32_t random32(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 32;
}

static void bytes_scribble(uint8_t *bytes, size_t len, unsigned int flips)
{
	while (flips--)
		bytes[random32() % len] = random32();
}

static void noisy_commands_are_answered(void **state)
{
	static const uint16_t opcodes[] = {
		0x100, 0x101, 0x200, 0x201, 0x301, 0x303, 0x400, 0x402, 0x403, 0x500, 0x502, 0x503,
		0x504, 0x505, 0x506, 0x50b, 0x50e, 0x750, 0x760, 0x761, 0x762, 0x764, 0x765, 0x999
	};
	uint8_t in[PRM_CREATE_QP_IN_SIZE + 64], out[4112];

	(void)state;
	pair(NULL, 4096);
	for (int i = 0; i < 50000; i++) {
		memset(in, 0, sizeof(in));
		bytes_scribble(in, sizeof(in), random32() % 64);
		fld_set(in, CMD_IN_OPCODE, opcodes[random32() % 24]);
		if (random32() % 2)
			fld_set(in, FLD(0x8, 23, 0), random32() % 2 ? a->n : a->send_cq->n);
		hca_exec(flat.hca[0], in, random32() % sizeof(in), out, random32() % sizeof(out));
		/* start again, as random commands use up all objects */
		if (i % 1000 == 0) {
			unpair();
			flat_teardown(state);
			flat_setup_lenient(state);
			pair(NULL, 4096);
		}
	}
	unpair();
}

static void post_noise(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		flat_recv(b, to, 64, rkey);
		flat_ctrl(a, random32() % 20, random32(), random32());
		if (random32() % 2)
			flat_raddr(a, to, rkey);
		if (random32() % 4 == 0)
			flat_inline(a, "0123456789012345", random32() % 16);
		flat_data(a, from, 8, lkey);
		flat_post(a);
	}
	bytes_scribble(flat.mem + a->sq, 64u << a->sq_log, random32() % 40);
	bytes_scribble(flat.mem + b->rq, b->rq_stride << b->rq_log, random32() % 8);
	if (random32() % 4 == 0)
		a->sq_pi = random32();
}

static void noisy_wqes_stay_inside_the_regions(void **state)
{
	struct flat_qp_attr attr = { .sq_log = 4, .cq_log = 8, .timeout = 1, .rnr_retry = 1 };
	uint64_t guard;

	(void)state;
	for (uint64_t round = 0; round < 400; round++) {
		flat.events = 0;
		pair(&attr, 4096);
		guard = flat_alloc(4096, 4096);
		memset(flat.mem + guard, 0x77, 4096);
		post_noise();
		flat_ring(a);
		flat_run(LONG / 10);
		for (uint64_t i = 0; i < 4096; i++)
			assert_int_equal(flat.mem[guard + i], 0x77);
		flat_simple(a->hca, PRM_OP_DESTROY_QP, a->n, PRM_STAT_OK);
		flat_simple(b->hca, PRM_OP_DESTROY_QP, b->n, PRM_STAT_OK);
		unpair();
		if (flat.used > FLAT_MEM / 2) {
			flat_teardown(state);
			flat_setup_lenient(state);
		}
	}
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup_lenient, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(noisy_commands_are_answered),
		IB(noisy_wqes_stay_inside_the_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
