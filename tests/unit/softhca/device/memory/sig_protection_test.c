/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sig_protection_test.c - keys that sign and encrypt, in any combination of domains, blocks and
 * units, under any split of transfers, compared with an oracle; then each bit of signed data is
 * flipped in turn.
 *
 * Covers: softhca/device/memory/sig.c, softhca/device/memory/guard.c,
 * softhca/device/memory/crypt.c
 */
#include <errno.h>

#include "flat.h"
#include "tests/unit/hex.h"
#include "prm/mlx5/umr.h"
#include "softhca/device/core.h"
#include "softhca/device/memory/psv.h"
#include "tests/lib/encryption.h"
#include "tests/lib/signature.h"
#include "util/bits.h"

enum { DATA_MAX = 3 * 4160, SIDE_MAX = 2 * DATA_MAX, CASES = 2000 };

static void oracle_gives_known_answers(void **state)
{
	static const struct {
		enum signature_kind kind;
		bool from_ones;
		const char *guard;
	} answers[] = {
		{ SIGN_T10_CRC, false, "d0db" },
		{ SIGN_CRC32, true, "cbf43926" },
		{ SIGN_CRC32C, true, "e3069283" },
		{ SIGN_CRC64, true, "6482d367eb22b64e" },
	};
	static uint8_t out[4096 + 8], zeroes[4096];
	static const uint8_t digits[] = "123456789";

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		bool wide = answers[i].kind == SIGN_CRC64;
		const struct signature sig = { .kind = answers[i].kind,
					       .from_ones = answers[i].from_ones,
					       .block = wide ? sizeof(zeroes) : 9 };
		uint8_t guard[8];
		size_t len = from_hex(answers[i].guard, guard);

		signature_insert(&sig, wide ? zeroes : digits, sig.block, out);
		assert_memory_equal(out + sig.block, guard, len);
	}
}

/* IEEE 1619-2007, annex B: vectors 2 and 16 */
static void oracle_encrypts_as_the_standard(void **state)
{
	static const struct {
		const char *keys, *tweak, *plain, *crypted;
	} vectors[] = {
		{ "1111111111111111111111111111111122222222222222222222222222222222",
		  "33333333330000000000000000000000",
		  "4444444444444444444444444444444444444444444444444444444444444444",
		  "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0" },
		{ "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
		  "9a785634120000000000000000000000", "000102030405060708090a0b0c0d0e0f1011",
		  "d069444b7a7e0cab09e24447d24deb1fedbf" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		uint8_t keys[32], bytes[64], crypted[64], plain[64];
		size_t len = from_hex(vectors[i].plain, bytes);
		struct encryption of = { .keys = keys,
					 .keys_len = from_hex(vectors[i].keys, keys),
					 .unit = 512 };

		from_hex(vectors[i].plain, plain);
		from_hex(vectors[i].tweak, of.tweak);
		from_hex(vectors[i].crypted, crypted);
		encryption_apply(&of, bytes, len);
		assert_memory_equal(bytes, crypted, len);
		encryption_undo(&of, bytes, len);
		assert_memory_equal(bytes, plain, len);
	}
}

static const uint8_t two_keys[32] = { 1, 2, 3 };

struct rig {
	struct mkey key;
	struct psv *psv[2];
	struct dek *dek;
	struct signature mem, wire;
	struct encryption crypt;
	uint64_t at; /* address in flat.mem */
	size_t data_len, mem_len, wire_len;
	uint8_t data[DATA_MAX], mem_bytes[SIDE_MAX], wire_bytes[SIDE_MAX];
};

static struct rig rig;

/* One buffer serves all keys. */
static struct {
	uint64_t at;
	uint32_t lkey;
} place;

static int place_setup(void **state)
{
	int ret = flat_setup(state);

	place.at = flat_alloc(SIDE_MAX, 64);
	place.lkey = flat_mr(flat.hca[0], flat.pd[0], place.at, SIDE_MAX, LOCAL_WRITE);
	return ret;
}

static uint64_t start_of(const struct signature *sig)
{
	static const uint8_t bits[] = { 0, 16, 16, 32, 32, 64 };
	bool from_ones = sig->from_ones && bits[sig->kind];
	uint64_t ones = from_ones ? UINT64_MAX << (64 - bits[sig->kind]) : 0;

	if (sig->kind == SIGN_T10_CRC || sig->kind == SIGN_T10_SUM)
		ones |= (uint64_t)sig->app << 32 | sig->ref;
	return ones;
}

static struct sig_domain domain_of(const struct signature *sig, struct psv **out)
{
	static const enum guard guards[] = {
		[SIGN_NOT] = GUARD_NONE,         [SIGN_T10_CRC] = GUARD_DIF_CRC,
		[SIGN_T10_SUM] = GUARD_DIF_CSUM, [SIGN_CRC32] = GUARD_CRC32,
		[SIGN_CRC32C] = GUARD_CRC32C,    [SIGN_CRC64] = GUARD_CRC64,
	};
	struct psv *psv;

	assert_int_equal(psv_add(flat.hca[0], rig.key.pd, &psv), 0);
	psv->set = sig->kind != SIGN_NOT;
	psv->start = start_of(sig);
	*out = psv;
	return (struct sig_domain){ .guard = guards[sig->kind],
				    .block = sig->block,
				    .psv = psv->n,
				    .start = psv->start,
				    .app_mask = UINT16_MAX,
				    .ref_counts = sig->ref_counts };
}

static void rig_fill(void)
{
	const struct crypt *crypt = &rig.key.crypt;
	uint8_t *bytes = crypt->on_wire ? rig.wire_bytes : rig.mem_bytes;
	size_t len = crypt->on_wire ? rig.wire_len : rig.mem_len;

	if (!crypt->on)
		return;
	/* The wire is encrypted if data leave encrypted, the memory if they leave decrypted. */
	if (crypt->on_wire == crypt->encrypts_out)
		encryption_apply(&rig.crypt, bytes, len);
	else
		encryption_undo(&rig.crypt, bytes, len);
}

static void rig_lay_out(void)
{
	uint8_t entry[XLT_OCTOWORD] = { 0 };

	rig.at = place.at;
	rig.key.mode = MKEY_KLMS;
	rig.key.xlt_octowords = 1;
	rig.key.len = rig.mem_len;
	fld_set(entry, KLM_BCOUNT, rig.mem_len);
	fld_set(entry, KLM_KEY, place.lkey);
	fld_set(entry, KLM_VA, rig.at);
	assert_int_equal(xlt_write(&rig.key, 0, entry, sizeof(entry)), 0);
}

/* Makes the key from MEM, WIRE, DATA_LEN and CRYPT with its UNIT, which the test has set. */
static void rig_open(void)
{
	struct hca *hca = flat.hca[0];
	struct crypt *crypt = &rig.key.crypt;

	rig.key.pd = res_get(&hca->pds, flat.pd[0]);
	rig.key.sig = (struct sig){ .on = rig.mem.kind || rig.wire.kind, .check = 0xff };
	rig.key.sig.mem = domain_of(&rig.mem, &rig.psv[0]);
	rig.key.sig.wire = domain_of(&rig.wire, &rig.psv[1]);
	rig.key.sig_count.expected = true;
	rig.dek = calloc(1, sizeof(*rig.dek));
	assert_int_equal(cipher_create(two_keys, sizeof(two_keys), &rig.dek->cipher), 0);
	assert_int_equal(dek_add(hca, rig.key.pd, rig.dek), 0);
	crypt->dek = rig.dek->n;
	memcpy(crypt->tweak, rig.crypt.tweak, sizeof(crypt->tweak));
	rig.crypt.keys = two_keys;
	rig.crypt.keys_len = sizeof(two_keys);
	crypt->unit = rig.crypt.unit;
	rig.mem_len = signature_insert(&rig.mem, rig.data, rig.data_len, rig.mem_bytes);
	rig.wire_len = signature_insert(&rig.wire, rig.data, rig.data_len, rig.wire_bytes);
	rig_fill();
	rig_lay_out();
}

static void rig_close(void)
{
	sig_forget(&rig.key);
	free(rig.key.crypt_part);
	xlt_free(&rig.key);
	psv_remove(flat.hca[0], rig.psv[0]);
	psv_remove(flat.hca[0], rig.psv[1]);
	dek_remove(flat.hca[0], rig.dek);
}

static int key_move(bool write, uint64_t at, uint8_t *bytes, uint64_t len)
{
	struct dma_batch batch;
	int ret;

	if (write)
		dma_begin_write(&batch, flat.hca[0], bytes);
	else
		dma_begin_read(&batch, flat.hca[0], bytes);
	ret = sig_dma(&batch, &rig.key, at, len);
	return ret ? ret : dma_finish(&batch);
}

static unsigned int seed;

static uint32_t random_below(uint32_t below)
{
	return (uint32_t)rand_r(&seed) % below;
}

static const uint32_t blocks[] = { 512, 520, 4048, 4096, 4160 };

static struct signature any_signature(void)
{
	return (struct signature){
		.kind = (enum signature_kind)random_below(SIGN_CRC64 + 1),
		.block = blocks[random_below(ARRAY_SIZE(blocks))],
		.from_ones = random_below(2),
		.app = (uint16_t)random_below(0xffff),
		.ref = random_below(2) ? 0xffffffff - random_below(3) : random_below(1 << 20),
		.ref_counts = random_below(2),
	};
}

/* Returns whether the last unit is complete, or has at least one cipher block: XTS needs that many
 * bytes. */
static bool tail_is_right(void)
{
	static uint8_t bytes[SIDE_MAX];
	const struct crypt *crypt = &rig.key.crypt;
	size_t len = signature_insert(crypt->on_wire ? &rig.wire : &rig.mem, rig.data, rig.data_len,
				      bytes);

	return !crypt->on || len % rig.crypt.unit == 0 || len % rig.crypt.unit >= CIPHER_BLOCK;
}

static void rig_open_any(void)
{
	memset(&rig, 0, sizeof(rig));
	rig.mem = any_signature();
	rig.wire = any_signature();
	rig.key.crypt.on = random_below(3) || !(rig.mem.kind || rig.wire.kind);
	rig.key.crypt.on_wire = random_below(2);
	rig.key.crypt.encrypts_out = random_below(2);
	rig.crypt.unit = blocks[random_below(ARRAY_SIZE(blocks))];
	for (int i = 0; i < 16; i++)
		rig.crypt.tweak[i] = random_below(4) ? 0xff : (uint8_t)random_below(256);
	for (size_t i = 0; i < DATA_MAX; i++)
		rig.data[i] = (uint8_t)random_below(256);
	do
		rig.data_len = 16 + random_below(DATA_MAX - 16);
	while (!tail_is_right());
	rig_open();
}

static void say_case(unsigned int i)
{
	print_message(
		"case %u: memory %d of %u, wire %d of %u, encryption %d%d%d of %u, %zu bytes\n", i,
		rig.mem.kind, rig.mem.block, rig.wire.kind, rig.wire.block, rig.key.crypt.on,
		rig.key.crypt.on_wire, rig.key.crypt.encrypts_out, rig.crypt.unit, rig.data_len);
}

static uint64_t next_cut(uint64_t at)
{
	static const uint32_t most[] = { 20, 300, 1100, 5000, SIDE_MAX };

	return min_of(rig.wire_len - at,
		      (uint64_t)1 + random_below(most[random_below(ARRAY_SIZE(most))]));
}

static void goes_out_as_the_oracle_says(unsigned int i)
{
	static uint8_t got[SIDE_MAX];

	memcpy(flat.mem + rig.at, rig.mem_bytes, rig.mem_len);
	for (uint64_t at = 0, len; at < rig.wire_len; at += len) {
		len = next_cut(at);
		assert_int_equal(key_move(false, at, got + at, len), 0);
	}
	if (memcmp(got, rig.wire_bytes, rig.wire_len) != 0 || rig.key.sig_count.happened)
		say_case(i);
	assert_memory_equal(got, rig.wire_bytes, rig.wire_len);
	assert_false(rig.key.sig_count.happened);
}

static void comes_in_as_the_oracle_says(unsigned int i)
{
	static uint8_t in[SIDE_MAX];

	memset(flat.mem + rig.at, 0, rig.mem_len);
	memcpy(in, rig.wire_bytes, rig.wire_len);
	for (uint64_t at = 0, len; at < rig.wire_len; at += len) {
		len = next_cut(at);
		assert_int_equal(key_move(true, at, in + at, len), 0);
	}
	if (memcmp(flat.mem + rig.at, rig.mem_bytes, rig.mem_len) != 0 ||
	    rig.key.sig_count.happened)
		say_case(i);
	assert_memory_equal(flat.mem + rig.at, rig.mem_bytes, rig.mem_len);
	assert_false(rig.key.sig_count.happened);
}

static void any_key_is_as_the_oracle_says(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < CASES; i++) {
		seed = i;
		rig_open_any();
		goes_out_as_the_oracle_says(i);
		comes_in_as_the_oracle_says(i);
		rig_close();
	}
}

static int kind_of_error(const struct signature *sig, size_t inside)
{
	if ((sig->kind != SIGN_T10_CRC && sig->kind != SIGN_T10_SUM) || inside < sig->block + 2)
		return SIG_BAD_GUARD;
	return inside < sig->block + 4 ? SIG_BAD_APP : SIG_BAD_REF;
}

/* The part of a block's SIGNATURE that an error of KIND concerns. */
static uint64_t part_of(const struct signature *sig, int kind, const uint8_t *signature)
{
	const bool is_dif = sig->kind == SIGN_T10_CRC || sig->kind == SIGN_T10_SUM;
	const uint32_t from = kind == SIG_BAD_GUARD ? 0 : kind == SIG_BAD_APP ? 2 : 4;
	const uint32_t to = !is_dif ? signature_size(sig) : kind == SIG_BAD_REF ? 8 : from + 2;
	uint64_t value = 0;

	for (uint32_t i = from; i < to; i++)
		value = value << 8 | signature[i];
	return value;
}

/* The value in the signature is the expected one, the value computed from the data the actual one,
 * as mlx5dv_mkey_check(3) of the distribution says. */
static void bit_is_noticed(const struct signature *sig, bool on_wire, size_t bit)
{
	static uint8_t bytes[SIDE_MAX];
	uint8_t *side = on_wire ? bytes : flat.mem + rig.at;
	uint32_t unit = sig->block + signature_size(sig);
	const struct sig_error *error = &rig.key.sig_state.error;

	memcpy(side, on_wire ? rig.wire_bytes : rig.mem_bytes,
	       on_wire ? rig.wire_len : rig.mem_len);
	side[bit / 8] ^= (uint8_t)(1u << bit % 8);
	rig.psv[on_wire]->failed = false;
	rig.key.sig_count.expected = !rig.key.sig_count.happened;
	assert_int_equal(key_move(on_wire, 0, bytes, rig.wire_len), 0);
	assert_int_equal(rig.key.sig_count.happened, rig.key.sig_count.expected);
	assert_int_equal(error->on_wire, on_wire);
	assert_int_equal(error->kind, kind_of_error(sig, bit / 8 % unit));
	assert_int_equal(error->offset, bit / 8 / unit * unit);
	assert_true(error->expected ==
		    part_of(sig, (int)error->kind, side + error->offset + sig->block));
	assert_true(error->expected != error->actual);
}

static void each_bit_is_noticed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * SIGN_CRC64; i++) {
		bool on_wire = i % 2;
		struct signature *sig;

		memset(&rig, 0, sizeof(rig));
		sig = on_wire ? &rig.wire : &rig.mem;
		*sig = (struct signature){ .kind = (enum signature_kind)(1 + i / 2),
					   .block = 512,
					   .from_ones = true,
					   .app = 0x1234,
					   .ref = 7,
					   .ref_counts = true };
		seed = i;
		rig.data_len = 3 * sig->block;
		for (size_t k = 0; k < rig.data_len; k++)
			rig.data[k] = (uint8_t)random_below(256);
		rig_open();
		for (size_t bit = 0; bit < 8 * (on_wire ? rig.wire_len : rig.mem_len); bit++)
			bit_is_noticed(sig, on_wire, bit);
		rig_close();
	}
}

static void open_signed(void)
{
	memset(&rig, 0, sizeof(rig));
	rig.mem = (struct signature){ .kind = SIGN_T10_CRC, .block = 512, .app = 1, .ref = 2 };
	rig.data_len = 1024;
	rig_open();
	memcpy(flat.mem + rig.at, rig.mem_bytes, rig.mem_len);
}

static void psv_starts_as_the_format_says(void **state)
{
	uint8_t bytes[1024];

	(void)state;
	open_signed();
	assert_int_equal(key_move(false, 0, bytes, sizeof(bytes)), 0);
	rig.psv[0]->start ^= UINT64_C(1) << 32;
	assert_int_equal(key_move(false, 0, bytes, sizeof(bytes)), 0);
	flat_expect_report("psv.start");
	rig_close();
}

static void application_tag_has_a_mask(void **state)
{
	static const uint8_t masks[] = { 0xff, 0x00, 0xf0 };
	uint8_t bytes[1024];

	(void)state;
	open_signed();
	flat.mem[rig.at + 512 + 3] ^= 0x10;
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		rig.key.sig.mem.app_mask = masks[i];
		rig.psv[0]->failed = false;
		rig.key.sig_count.expected = !rig.key.sig_count.happened;
		assert_int_equal(key_move(false, 0, bytes, sizeof(bytes)), 0);
		assert_int_equal(rig.key.sig_count.happened == rig.key.sig_count.expected,
				 (masks[i] & 0x10) != 0);
	}
	rig_close();
}

/* A key reports one error; the next one needs software to acknowledge the last, so that none is
 * lost between. */
static void errors_are_told_when_they_are_expected(void **state)
{
	uint8_t bytes[1024];

	(void)state;
	open_signed();
	flat.mem[rig.at] ^= 1;
	assert_int_equal(key_move(false, 0, bytes, sizeof(bytes)), 0);
	assert_true(rig.key.sig_state.unreported && rig.key.sig_count.happened);
	sig_forget(&rig.key);
	rig.psv[0]->failed = false;
	assert_int_equal(key_move(false, 0, bytes, sizeof(bytes)), 0);
	assert_false(rig.key.sig_state.unreported);
	rig.psv[0]->failed = rig.key.sig_count.expected = false;
	assert_int_equal(key_move(false, 0, bytes, sizeof(bytes)), 0);
	assert_true(rig.key.sig_state.unreported && !rig.key.sig_count.happened);
	rig_close();
}

/* Registers the key under a number, as requests need it; rig_leave() removes it. */
static void rig_enter(void)
{
	assert_int_equal(res_add(&flat.hca[0]->mkeys, &rig.key, &rig.key.n), 0);
	rig.key.key = rig.key.n << 8;
}

static void rig_leave(void)
{
	res_remove(&flat.hca[0]->mkeys, rig.key.n);
}

static bool key_reaches(uint64_t len)
{
	return mkey_check(flat.hca[0], rig.key.key, rig.key.pd, 0, 0, len);
}

/* Returns whether a key over LEN bytes of memory reaches exactly DATA bytes. */
static bool key_holds(uint64_t len, uint64_t data)
{
	bool found;

	rig.key.len = len;
	rig_enter();
	found = key_reaches(data) && !key_reaches(data + 1);
	rig_leave();
	return found;
}

/* If a key ends within a signature, it ends before that signature's block, even if its list of
 * pieces goes on, as the block could not be checked. */
static void a_part_of_a_signature_is_none(void **state)
{
	static const uint64_t whole[] = { 511, 512, 516, 519, 520, 700, 1031, 1032, 1036, 1040 };
	static const uint64_t data[] = { 511, 0, 0, 0, 512, 692, 1023, 512, 512, 1024 };

	(void)state;
	for (int encrypts = 0; encrypts < 2; encrypts++) {
		open_signed();
		rig.key.crypt.on = encrypts;
		rig.key.crypt.unit = 4096;
		for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
			assert_true(key_holds(whole[i], data[i]));
		rig_close();
	}
}

/* A piece of one byte makes the device compute its whole block, so the number of pieces is
 * limited. */
static void small_pieces_of_blocks_have_a_limit(void **state)
{
	enum { PIECES = 1 << 12 };
	static uint8_t list[PIECES * XLT_OCTOWORD];
	struct mkey outer = {
		.access = MKEY_LOCAL_READ, .mode = MKEY_KLMS, .len = PIECES, .xlt_octowords = PIECES
	};
	bool few, many;

	(void)state;
	memset(&rig, 0, sizeof(rig));
	rig.mem = (struct signature){ .kind = SIGN_T10_CRC, .block = 4096 };
	rig.data_len = 8192;
	rig_open();
	rig_enter();
	for (size_t at = 0; at < sizeof(list); at += XLT_OCTOWORD) {
		fld_set(list + at, KLM_BCOUNT, 1);
		fld_set(list + at, KLM_KEY, rig.key.key);
		fld_set(list + at, KLM_VA, rig.mem.block - 1);
	}
	outer.pd = rig.key.pd;
	assert_int_equal(xlt_write(&outer, 0, list, sizeof(list)), 0);
	assert_int_equal(res_add(&flat.hca[0]->mkeys, &outer, &outer.n), 0);
	outer.key = outer.n << 8;
	few = mkey_check(flat.hca[0], outer.key, outer.pd, 0, 0, 256);
	many = mkey_check(flat.hca[0], outer.key, outer.pd, 0, 0, PIECES);
	res_remove(&flat.hca[0]->mkeys, outer.n);
	xlt_free(&outer);
	rig_leave();
	rig_close();
	assert_true(few);
	assert_false(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oracle_gives_known_answers),
		cmocka_unit_test(oracle_encrypts_as_the_standard),
		cmocka_unit_test_setup_teardown(any_key_is_as_the_oracle_says, place_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(each_bit_is_noticed, place_setup, flat_teardown),
		cmocka_unit_test_setup_teardown(psv_starts_as_the_format_says, place_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(application_tag_has_a_mask, place_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(errors_are_told_when_they_are_expected, place_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(a_part_of_a_signature_is_none, place_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(small_pieces_of_blocks_have_a_limit, place_setup,
						flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
