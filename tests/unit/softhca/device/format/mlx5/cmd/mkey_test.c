/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey_test.c - keys over user memory (umem) and over page lists: contexts that are refused, with
 * their status, and where a key's bytes are.
 *
 * Covers: softhca/device/format/mlx5/cmd/mkey.c, softhca/device/memory/mkey.c
 */
#include "pair.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umem.h"
#include "util/bits.h"

enum { PAGE = 4096, PAGES = 4, KEY = 0x5a };

static uint64_t memory;

static struct hca *adapter(void)
{
	return flat.hca[0];
}

/* Makes user memory of PAGES pages of 1 << SHIFT bytes, which begins SKIP bytes behind MEMORY. */
static uint32_t umem(unsigned int shift, unsigned int skip)
{
	uint8_t in[PRM_CREATE_UMEM_IN_SIZE + 8 * PAGES] = { 0 }, out[16];
	uint8_t *context = fld_at(in, CREATE_UMEM_IN_UMEM);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_UMEM);
	fld_set(context, UMEM_LOG_PAGE_SIZE, shift - 12);
	fld_set(context, UMEM_PAGE_OFFSET, skip);
	fld_set(context, UMEM_NUM_OF_MTT, PAGES);
	for (uint32_t i = 0; i < PAGES; i++)
		fld_set64(fld_at(context, UMEM_MTT), i * 8, memory + ((uint64_t)i << shift));
	flat_cmd(adapter(), in, sizeof(in), out, sizeof(out));
	return fld_get(out, CREATE_UMEM_OUT_UMEM_ID);
}

struct wanted {
	uint32_t umem;
	uint64_t offset, start, len;
	uint32_t shift;           /* 0: 12 */
	uint32_t field, value;    /* of the context, in place of the usual value; 0: none */
	enum prm_status expected; /* PRM_STAT_OK: 0 */
};

static uint32_t key(struct wanted wanted)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE + 8 * PAGES] = { 0 }, out[16];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(in, CREATE_MKEY_IN_MKEY_UMEM_VALID, 1);
	fld_set(in, CREATE_MKEY_IN_MKEY_UMEM_ID, wanted.umem);
	fld_set(in, CREATE_MKEY_IN_MKEY_UMEM_OFFSET, wanted.offset);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MTT);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_LW, 1);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_MKEY_7_0, KEY);
	fld_set(mkc, MKC_PD, flat.pd[0]);
	fld_set(mkc, MKC_START_ADDR, wanted.start);
	fld_set(mkc, MKC_LEN, wanted.len);
	fld_set(mkc, MKC_LOG_PAGE_SIZE, wanted.shift ? wanted.shift : 12);
	if (wanted.field)
		fld_set(mkc, wanted.field, wanted.value);
	flat_cmd_expect(adapter(), in, sizeof(in), out, sizeof(out), wanted.expected);
	return fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8 | KEY;
}

static void key_end(uint32_t lkey)
{
	flat_simple(adapter(), PRM_OP_DESTROY_MKEY, lkey >> 8, PRM_STAT_OK);
}

static void user_memory_is_in_use_by_its_keys(void **state)
{
	uint32_t id = umem(12, 0), lkey = key((struct wanted){ .umem = id, .len = PAGE });

	(void)state;
	flat_simple(adapter(), PRM_OP_DESTROY_UMEM, id, PRM_STAT_BAD_RES_STATE_ERR);
	key_end(lkey);
	flat_simple(adapter(), PRM_OP_DESTROY_UMEM, id, PRM_STAT_OK);
}

static void a_key_lies_within_its_user_memory(void **state)
{
	uint32_t id = umem(12, 0), large = umem(13, 0), shifted = umem(12, 16);
	const struct wanted good[] = {
		{ .umem = id, .len = PAGES * PAGE },
		{ .umem = id, .offset = PAGE, .len = (PAGES - 1) * PAGE },
		{ .umem = id, .start = 7 * PAGE, .len = PAGE },
		{ .umem = large, .len = PAGE },
		{ .umem = large, .offset = 2 * PAGE, .len = PAGE },
		{ .umem = large, .shift = 13, .len = PAGE },
		{ .umem = shifted, .start = 16, .len = PAGE },
		{ .umem = shifted, .start = PAGE + 16, .len = PAGES * PAGE - 16 },
	};
	const struct wanted bad[] = {
		{ .umem = id, .len = PAGES * PAGE + 1, .expected = PRM_STAT_BAD_PARAM_ERR },
		{ .umem = id,
		  .offset = PAGE,
		  .len = PAGES * PAGE,
		  .expected = PRM_STAT_BAD_PARAM_ERR },
		{ .umem = id, .offset = 8, .len = PAGE, .expected = PRM_STAT_BAD_PARAM_ERR },
		{ .umem = large, .offset = PAGE, .len = PAGE, .expected = PRM_STAT_BAD_PARAM_ERR },
		/* a place in the page that differs from the address's, so the adapter would compute
		 * wrong pages */
		{ .umem = id, .start = 8, .len = PAGE, .expected = PRM_STAT_BAD_PARAM_ERR },
		{ .umem = shifted, .start = 0, .len = PAGE, .expected = PRM_STAT_BAD_PARAM_ERR },
		/* the key's pages are larger than those of the memory */
		{ .umem = id, .shift = 13, .len = PAGE, .expected = PRM_STAT_BAD_PARAM_ERR },
		{ .umem = shifted + 1, .len = PAGE, .expected = PRM_STAT_BAD_RES_ERR },
		/* keys that UMR may change */
		{ .umem = id,
		  .len = PAGE,
		  .field = MKC_UMR_EN,
		  .value = 1,
		  .expected = PRM_STAT_BAD_PARAM_ERR },
		{ .umem = id,
		  .len = PAGE,
		  .field = MKC_FREE,
		  .value = 1,
		  .expected = PRM_STAT_BAD_PARAM_ERR },
		{ .umem = id,
		  .len = PAGE,
		  .field = MKC_ACCESS_MODE_1_0,
		  .value = PRM_MKEY_MODE_KLMS,
		  .expected = PRM_STAT_BAD_PARAM_ERR },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		key_end(key(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		key(bad[i]);
	/* a refused key leaves no reference, so its memory can go */
	flat_simple(adapter(), PRM_OP_DESTROY_UMEM, id, PRM_STAT_OK);
	flat_simple(adapter(), PRM_OP_DESTROY_UMEM, large, PRM_STAT_OK);
	flat_simple(adapter(), PRM_OP_DESTROY_UMEM, shifted, PRM_STAT_OK);
}

/* Writes through a key that begins at the second page of the memory. */
static void an_offset_is_where_the_key_begins(void **state)
{
	uint32_t lkey_far = key((struct wanted){
		.umem = umem(12, 0), .offset = PAGE, .start = 0x100000, .len = 2 * PAGE });

	(void)state;
	pair(NULL, PAGE);
	memset(flat.mem + memory, 0, PAGES * PAGE);
	memcpy(flat.mem + memory + PAGE + 16, "abcdefgh", 8);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, 0x100000 + 16, 8, lkey_far);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 100);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to, "abcdefgh", 8);
	unpair();
}

static int mkey_begin(void **state)
{
	int ret = flat_setup(state);

	memory = flat_alloc(2 * PAGES * PAGE, 2 * PAGE);
	return ret;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, mkey_begin, flat_teardown)
	const struct CMUnitTest tests[] = {
		CASE(user_memory_is_in_use_by_its_keys),
		CASE(a_key_lies_within_its_user_memory),
		CASE(an_offset_is_where_the_key_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
