/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypt_test.c - encryption: vectors of the standards, data units under any split of transfers,
 * and the commands on logins and data encryption keys.
 *
 * Covers: softhca/device/memory/crypt.c, softhca/device/memory/cipher.c,
 * softhca/device/memory/dek.c, softhca/device/format/mlx5/cmd/crypto.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <openssl/evp.h>

#include "flat.h"
#include "tests/unit/hex.h"
#include "prm/mlx5/crypto.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/core.h"
#include "util/bits.h"

/* IEEE 1619-2007, annex B: vectors 2, 3, 15 and 16; the last two use ciphertext stealing */
static void ieee_1619_vectors(void **state)
{
	static const struct {
		const char *keys, *tweak, *plain, *crypted;
	} vectors[] = {
		{ "1111111111111111111111111111111122222222222222222222222222222222",
		  "33333333330000000000000000000000",
		  "4444444444444444444444444444444444444444444444444444444444444444",
		  "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0" },
		{ "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f022222222222222222222222222222222",
		  "33333333330000000000000000000000",
		  "4444444444444444444444444444444444444444444444444444444444444444",
		  "af85336b597afc1a900b2eb21ec949d292df4c047e0b21532186a5971a227a89" },
		{ "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
		  "9a785634120000000000000000000000", "000102030405060708090a0b0c0d0e0f10",
		  "6c1625db4671522d3d7599601de7ca09ed" },
		{ "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
		  "9a785634120000000000000000000000", "000102030405060708090a0b0c0d0e0f1011",
		  "d069444b7a7e0cab09e24447d24deb1fedbf" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		uint8_t keys[64], tweak[16], bytes[64], crypted[64];
		size_t len = from_hex(vectors[i].plain, bytes);
		struct cipher *cipher;

		from_hex(vectors[i].tweak, tweak);
		from_hex(vectors[i].crypted, crypted);
		assert_int_equal(cipher_create(keys, from_hex(vectors[i].keys, keys), &cipher), 0);
		assert_int_equal(cipher_encrypt(cipher, tweak, bytes, len), 0);
		assert_memory_equal(bytes, crypted, len);
		assert_int_equal(cipher_decrypt(cipher, tweak, bytes, len), 0);
		from_hex(vectors[i].plain, crypted);
		assert_memory_equal(bytes, crypted, len);
		cipher_free(cipher);
	}
}

static void halves_of_a_key_differ(void **state)
{
	uint8_t keys[32] = { 0 };
	struct cipher *cipher;

	(void)state;
	assert_int_equal(cipher_create(keys, sizeof(keys), &cipher), EINVAL);
	assert_int_equal(cipher_create(keys, 16, &cipher), EINVAL);
}

static int contexts_left = -1; /* contexts that OpenSSL may allocate; negative: no limit */

/* Wraps OpenSSL's allocator, so that a test can make it fail. */
EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void)
{
	EVP_CIPHER_CTX *(*const real)(void) =
		(EVP_CIPHER_CTX * (*)(void))(uintptr_t)dlsym(RTLD_NEXT, "EVP_CIPHER_CTX_new");

	if (!contexts_left)
		return NULL;
	contexts_left--;
	return real();
}

static void a_lack_of_memory_is_no_wrong_key(void **state)
{
	static const uint8_t keys[32] = { 1 };
	struct cipher *cipher;

	(void)state;
	for (int i = 0; i < 2; i++) {
		contexts_left = i;
		assert_int_equal(cipher_create(keys, sizeof(keys), &cipher), ENOMEM);
	}
	contexts_left = -1;
	assert_int_equal(cipher_create(keys, sizeof(keys), &cipher), 0);
	cipher_free(cipher);
}

/* RFC 3394, 4.1, 4.3 and 4.6 */
static void rfc_3394_vectors(void **state)
{
	static const char kek[] =
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
	static const struct {
		size_t kek_len;
		const char *key, *wrapped;
	} vectors[] = {
		{ 16, "00112233445566778899aabbccddeeff",
		  "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5" },
		{ 32, "00112233445566778899aabbccddeeff",
		  "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7" },
		{ 32, "00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f",
		  "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43b"
		  "fb988b9b7a02dd21" },
	};
	uint8_t bytes[32];

	(void)state;
	from_hex(kek, bytes);
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		uint8_t wrapped[64], expected[64], key[64];
		size_t len = from_hex(vectors[i].wrapped, wrapped);

		assert_int_equal(from_hex(vectors[i].key, expected), len - CIPHER_WRAP_EXTRA);
		assert_true(cipher_unwrap(bytes, vectors[i].kek_len, wrapped, len, key));
		assert_memory_equal(key, expected, len - CIPHER_WRAP_EXTRA);
		wrapped[len / 2] ^= 1;
		assert_false(cipher_unwrap(bytes, vectors[i].kek_len, wrapped, len, key));
	}
}

enum { WHOLE = 4 * CRYPT_UNIT_MAX };

static uint8_t memory[WHOLE];

static int move_memory(struct hca *hca, struct mkey *mkey, bool write, uint64_t at, uint8_t *bytes,
		       uint64_t len)
{
	(void)hca;
	(void)mkey;
	assert_true(at + len <= sizeof(memory));
	if (write)
		memcpy(memory + at, bytes, len);
	else
		memcpy(bytes, memory + at, len);
	return 0;
}

static void tweak_for(uint64_t unit, uint8_t *tweak)
{
	memset(tweak, 0xff, 2); /* the first tweak is 0xffff: tests the carry */
	memset(tweak + 2, 0, 14);
	if (unit) {
		uint32_t sum = 0xffff + (uint32_t)unit;

		for (int i = 0; i < 4; i++)
			tweak[i] = (uint8_t)(sum >> 8 * i);
	}
}

static void encrypt_by_oracle(struct cipher *cipher, uint32_t unit, uint64_t whole, uint8_t *bytes)
{
	for (uint64_t at = 0; at < whole; at += unit) {
		uint8_t tweak[16];

		tweak_for(at / unit, tweak);
		assert_int_equal(cipher_encrypt(cipher, tweak, bytes + at,
						min_of(whole - at, (uint64_t)unit)),
				 0);
	}
}

static const uint8_t two_keys[32] = { 1, 2, 3 };

struct rig {
	struct pd pd;
	struct dek *dek;
	struct mkey mkey;
	uint64_t whole;
	uint8_t plain[WHOLE], crypted[WHOLE];
};

static void rig_init(struct rig *rig, uint32_t unit, bool encrypts_out)
{
	struct hca *hca = flat.hca[0];

	memset(rig, 0, sizeof(*rig));
	rig->dek = calloc(1, sizeof(*rig->dek));
	assert_int_equal(cipher_create(two_keys, sizeof(two_keys), &rig->dek->cipher), 0);
	assert_int_equal(dek_add(hca, &rig->pd, rig->dek), 0);
	rig->mkey.pd = &rig->pd;
	rig->mkey.crypt = (struct crypt){ .on = true, .unit = unit, .encrypts_out = encrypts_out };
	rig->mkey.crypt.dek = rig->dek->n;
	tweak_for(0, rig->mkey.crypt.tweak);
	rig->whole = 3 * (uint64_t)unit + 64; /* ends in a partial unit */
	for (size_t i = 0; i < rig->whole; i++)
		rig->plain[i] = rig->crypted[i] = (uint8_t)(i * 7 + i / 256);
	encrypt_by_oracle(rig->dek->cipher, unit, rig->whole, rig->crypted);
}

static void rig_end(struct rig *rig)
{
	free(rig->mkey.crypt_part);
	dek_remove(flat.hca[0], rig->dek);
	assert_int_equal(rig->pd.users, 0);
}

static const uint32_t units[] = { 512, 520, 4048, 4096, 4160 };

static uint64_t next_cut(const struct rig *rig, uint64_t at, unsigned int *seed)
{
	uint64_t len = (uint64_t)rand_r(seed) % (rig->mkey.crypt.unit * 2) + 1;

	return min_of(rig->whole - at, len);
}

/* Reading in pieces yields the same bytes as one read, encrypted or decrypted. */
static void what_goes_out_may_be_cut(void **state)
{
	static struct rig rig;
	static uint8_t got[WHOLE];
	unsigned int seed = 1;

	(void)state;
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(units); i++) {
		bool encrypts = i % 2;

		rig_init(&rig, units[i / 2], encrypts);
		memcpy(memory, encrypts ? rig.plain : rig.crypted, rig.whole);
		for (uint64_t at = 0, len; at < rig.whole; at += len) {
			len = next_cut(&rig, at, &seed);
			assert_int_equal(crypt_move(flat.hca[0], &rig.mkey, false, at, got + at,
						    len, rig.whole, move_memory),
					 0);
		}
		assert_memory_equal(got, encrypts ? rig.crypted : rig.plain, rig.whole);
		rig_end(&rig);
	}
}

/* Writes arrive in order, but a split may fall anywhere, even within a cipher block, as the network
 * cuts messages by its MTU. */
static void what_comes_in_may_be_cut(void **state)
{
	static struct rig rig;
	unsigned int seed = 2;

	(void)state;
	for (unsigned int i = 0; i < 20 * ARRAY_SIZE(units); i++) {
		bool encrypts = i % 2;
		uint8_t *in;

		rig_init(&rig, units[i / 2 % ARRAY_SIZE(units)], encrypts);
		in = encrypts ? rig.crypted : rig.plain;
		memset(memory, 0, sizeof(memory));
		for (uint64_t at = 0, len; at < rig.whole; at += len) {
			len = next_cut(&rig, at, &seed);
			assert_int_equal(crypt_move(flat.hca[0], &rig.mkey, true, at, in + at, len,
						    rig.whole, move_memory),
					 0);
		}
		assert_memory_equal(memory, encrypts ? rig.plain : rig.crypted, rig.whole);
		rig_end(&rig);
	}
}

static void what_comes_in_may_begin_at_a_block(void **state)
{
	static struct rig rig;

	(void)state;
	rig_init(&rig, 512, true);
	memset(memory, 0, sizeof(memory));
	assert_int_equal(crypt_move(flat.hca[0], &rig.mkey, true, 528, rig.crypted + 528, 32,
				    rig.whole, move_memory),
			 0);
	assert_memory_equal(memory + 528, rig.plain + 528, 32);
	assert_int_equal(memory[527], 0);
	assert_int_equal(memory[560], 0);
	assert_int_equal(crypt_move(flat.hca[0], &rig.mkey, true, 1000, rig.crypted + 1000, 32,
				    rig.whole, move_memory),
			 EFAULT);
	rig_end(&rig);
}

/* Ciphertext stealing ties the last two blocks of a unit of 520 bytes, so the end cannot be written
 * alone. */
static void a_stolen_end_needs_what_is_before_it(void **state)
{
	static struct rig rig;
	static uint8_t before[WHOLE];

	(void)state;
	rig_init(&rig, 520, true);
	memset(memory, 0x5a, sizeof(memory));
	memcpy(before, memory, sizeof(memory));
	assert_int_equal(crypt_move(flat.hca[0], &rig.mkey, true, 512, rig.crypted + 512, 8,
				    rig.whole, move_memory),
			 EFAULT);
	assert_memory_equal(memory, before, sizeof(memory));
	assert_int_equal(crypt_move(flat.hca[0], &rig.mkey, true, 480, rig.crypted + 480, 40,
				    rig.whole, move_memory),
			 0);
	assert_memory_equal(memory + 480, rig.plain + 480, 40);
	rig_end(&rig);
}

/* A new write to a unit discards the bytes kept of a former, incomplete one: both together would be
 * neither's text. */
static void an_old_start_is_forgotten(void **state)
{
	static struct rig rig;
	static uint8_t old[512];
	const struct {
		const uint8_t *bytes;
		uint64_t at, len;
		int result;
	} writes[] = {
		{ old, 0, sizeof(old), 0 },
		{ rig.plain, 0, 1040, 0 },
		{ rig.plain + 512, 512, 1040 - 512, EFAULT },
	};

	(void)state;
	rig_init(&rig, 520, false);
	memset(memory, 0, rig.whole);
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++) {
		static uint8_t bytes[1040];

		memcpy(bytes, writes[i].bytes, writes[i].len);
		assert_int_equal(crypt_move(flat.hca[0], &rig.mkey, true, writes[i].at, bytes,
					    writes[i].len, rig.whole, move_memory),
				 writes[i].result);
	}
	assert_memory_equal(memory, rig.crypted, 1040);
	rig_end(&rig);
}

/* A key over all of memory ends where its encrypted data do, as the device must not look at pieces
 * beyond. */
static void a_key_that_encrypts_has_an_end(void **state)
{
	static struct rig rig;

	(void)state;
	rig_init(&rig, 512, true);
	rig.mkey.whole = true;
	assert_int_equal(res_add(&flat.hca[0]->mkeys, &rig.mkey, &rig.mkey.n), 0);
	rig.mkey.key = rig.mkey.n << 8;
	assert_null(mkey_check(flat.hca[0], rig.mkey.key, &rig.pd, 0, 0, 1024));
	rig.mkey.len = 2048;
	assert_non_null(mkey_check(flat.hca[0], rig.mkey.key, &rig.pd, 0, 0, 1024));
	res_remove(&flat.hca[0]->mkeys, rig.mkey.n);
	rig_end(&rig);
}

/* A data encryption key works only in its protection domain, and with its tag if it has one, so
 * that no other user can decrypt by it. */
static void the_key_must_be_right(void **state)
{
	static struct rig rig;
	struct pd other = { 0 };
	uint8_t bytes[16];

	(void)state;
	rig_init(&rig, 512, true);
	rig.dek->has_tag = true;
	memcpy(rig.dek->tag, "the tag", 8);
	assert_int_equal(
		crypt_move(flat.hca[0], &rig.mkey, false, 0, bytes, 16, rig.whole, move_memory),
		EFAULT);
	memcpy(rig.mkey.crypt.tag, "the tag", 8);
	assert_int_equal(
		crypt_move(flat.hca[0], &rig.mkey, false, 0, bytes, 16, rig.whole, move_memory), 0);
	rig.mkey.pd = &other;
	assert_int_equal(
		crypt_move(flat.hca[0], &rig.mkey, false, 0, bytes, 16, rig.whole, move_memory),
		EFAULT);
	rig_end(&rig);
}

static void transfers_are_of_whole_blocks(void **state)
{
	static const struct {
		uint32_t unit;
		uint64_t at, len, whole;
		bool allowed;
	} cases[] = {
		{ 512, 0, 512, 512, true },   { 512, 0, 128, 128, true },
		{ 512, 0, 47, 47, false },    { 512, 8, 512, 1024, false },
		{ 520, 0, 520, 520, true },   { 520, 0, 496, 496, true },
		{ 520, 0, 512, 512, false },  { 520, 520, 520, 1040, true },
		{ 520, 0, 504, 1040, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct crypt crypt = { .unit = cases[i].unit };

		assert_int_equal(crypt_allows(&crypt, cases[i].at, cases[i].len, cases[i].whole),
				 cases[i].allowed);
	}
}

enum { OBJECT_SIZE = PRM_GENERAL_OBJ_HDR_SIZE + PRM_DEK_SIZE };

static uint32_t object_run(enum prm_opcode opcode, enum prm_obj_type type, uint32_t id, uint8_t *in,
			   uint8_t *out, enum prm_status expect)
{
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, type);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, id);
	flat_cmd_expect(flat.hca[0], in, OBJECT_SIZE, out, OBJECT_SIZE, expect);
	return (uint32_t)fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
}

static uint32_t dek_run(uint64_t key_bits, uint64_t purpose, uint32_t pd, const char *key,
			enum prm_status expect)
{
	uint8_t in[OBJECT_SIZE] = { 0 }, out[OBJECT_SIZE] = { 0 };
	uint8_t *obj = fld_at(in, GENERAL_OBJ_OBJECT);

	fld_set(obj, DEK_KEY_BITS, key_bits);
	fld_set(obj, DEK_PURPOSE, purpose);
	fld_set(obj, DEK_PD, pd);
	memcpy(fld_at(obj, DEK_OPAQUE), "opaque", 7);
	from_hex(key, fld_at(obj, DEK_KEY));
	return object_run(PRM_OP_CREATE_GENERAL_OBJECT, PRM_OBJ_TYPE_DEK, 0, in, out, expect);
}

static const char plain_key[] = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

static void keys_are_made_asked_for_and_destroyed(void **state)
{
	uint8_t in[OBJECT_SIZE] = { 0 }, out[OBJECT_SIZE] = { 0 };
	const uint8_t *obj = fld_at(out, GENERAL_OBJ_OBJECT);
	uint32_t pd = flat.pd[0], dek;

	(void)state;
	dek_run(2, PRM_DEK_AES_XTS, pd, plain_key, PRM_STAT_BAD_PARAM_ERR);
	dek_run(PRM_DEK_128, 1, pd, plain_key, PRM_STAT_BAD_PARAM_ERR);
	dek_run(PRM_DEK_128, PRM_DEK_AES_XTS, 0xffff, plain_key, PRM_STAT_BAD_RES_ERR);
	dek_run(PRM_DEK_128, PRM_DEK_AES_XTS, pd, "", PRM_STAT_BAD_PARAM_ERR);
	dek = dek_run(PRM_DEK_128, PRM_DEK_AES_XTS, pd, plain_key, PRM_STAT_OK);
	object_run(PRM_OP_QUERY_GENERAL_OBJECT, PRM_OBJ_TYPE_DEK, dek, in, out, PRM_STAT_OK);
	assert_int_equal(fld_get(obj, DEK_STATE), PRM_DEK_READY);
	assert_string_equal((const char *)obj + FLD_BYTE(DEK_OPAQUE), "opaque");
	for (unsigned int i = 0; i < PRM_DEK_KEY_SIZE; i++)
		assert_int_equal(obj[FLD_BYTE(DEK_KEY) + i], 0);
	object_run(PRM_OP_DESTROY_GENERAL_OBJECT, PRM_OBJ_TYPE_DEK, dek, in, out, PRM_STAT_OK);
	object_run(PRM_OP_QUERY_GENERAL_OBJECT, PRM_OBJ_TYPE_DEK, dek, in, out,
		   PRM_STAT_BAD_RES_ERR);
	object_run(PRM_OP_DESTROY_GENERAL_OBJECT, PRM_OBJ_TYPE_DEK, dek, in, out,
		   PRM_STAT_BAD_RES_ERR);
}

/* Without a file of secrets, a login is refused, as nothing can unwrap it. */
static void logins_are_for_secrets(void **state)
{
	uint8_t in[OBJECT_SIZE] = { 0 }, out[OBJECT_SIZE] = { 0 };

	(void)state;
	object_run(PRM_OP_CREATE_GENERAL_OBJECT, PRM_OBJ_TYPE_CRYPTO_LOGIN, 0, in, out,
		   PRM_STAT_BAD_PARAM_ERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ieee_1619_vectors),
		cmocka_unit_test(halves_of_a_key_differ),
		cmocka_unit_test(a_lack_of_memory_is_no_wrong_key),
		cmocka_unit_test(rfc_3394_vectors),
		cmocka_unit_test_setup_teardown(what_goes_out_may_be_cut, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(what_comes_in_may_be_cut, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(what_comes_in_may_begin_at_a_block, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(a_stolen_end_needs_what_is_before_it, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(an_old_start_is_forgotten, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(a_key_that_encrypts_has_an_end, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(the_key_must_be_right, flat_setup, flat_teardown),
		cmocka_unit_test(transfers_are_of_whole_blocks),
		cmocka_unit_test_setup_teardown(keys_are_made_asked_for_and_destroyed, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(logins_are_for_secrets, flat_setup, flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
