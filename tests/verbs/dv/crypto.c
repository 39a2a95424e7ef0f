/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto.c - logins and data keys, call by call, on an adapter that imports plain keys, or on one
 * with the secrets of the file `secrets` in this folder.
 *
 * Covers: providers/mlx5/dv/crypto.c, softhca/device/memory/dek.c,
 * softhca/device/format/mlx5/cmd/crypto.c, softhca/secrets.c
 */
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/verbs/dv/crypto.h"
#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/wrapped.h"
#include "util/bits.h"

/* The credential of the file, wrapped; keys from 1 on, of 128 and 256 bits, without tag and with
 * "TTTTTTTT", wrapped by its key: openssl enc -e -id-aes128-wrap -nopad -iv A6A6A6A6A6A6A6A6 */
static const uint8_t wrapped_128_tagged[] = {
	0x5b, 0x35, 0x46, 0x65, 0x65, 0x09, 0x4b, 0x97, 0x0c, 0x96, 0x34, 0x3a,
	0xaf, 0xa8, 0x5a, 0x5a, 0x32, 0x3e, 0x46, 0x95, 0x2b, 0xec, 0x2a, 0x00,
	0xf3, 0xb5, 0xca, 0xcc, 0xd9, 0xb8, 0x1d, 0x1e, 0x8f, 0x6d, 0x1f, 0x08,
	0xc7, 0x64, 0x5d, 0x78, 0x2b, 0x0a, 0x4a, 0xed, 0xd2, 0xaf, 0xa4, 0xd4,
};
static const uint8_t wrapped_256[] = {
	0xef, 0x0c, 0xb1, 0xac, 0xe9, 0xda, 0x64, 0xb7, 0xf7, 0x86, 0xd1, 0x2c, 0xcf, 0x3a, 0x34,
	0x92, 0x69, 0x63, 0x22, 0xa0, 0xf6, 0x31, 0xdd, 0xd8, 0x4d, 0xc5, 0x1a, 0x4f, 0x2d, 0x13,
	0x60, 0x0a, 0xbd, 0x01, 0xec, 0x70, 0x41, 0xe9, 0x6d, 0xa5, 0x1f, 0x50, 0x8d, 0x23, 0x10,
	0x7a, 0x4a, 0x41, 0xb1, 0xd9, 0x53, 0xa4, 0xf3, 0x4f, 0xfe, 0x4e, 0x3d, 0x7d, 0xb2, 0x99,
	0xba, 0xf6, 0x06, 0xdd, 0xf6, 0xc8, 0xfb, 0xc0, 0x8a, 0xb6, 0x25, 0x06,
};
static const uint8_t wrapped_256_tagged[] = {
	0x2d, 0x00, 0x64, 0x8e, 0x63, 0x88, 0xa5, 0x55, 0x69, 0x36, 0x2d, 0xee, 0x9a, 0xfe,
	0x7d, 0xf0, 0xec, 0x6a, 0xf8, 0xc8, 0x8d, 0x08, 0xe3, 0x83, 0x9f, 0xd1, 0xe2, 0x58,
	0xe4, 0x50, 0x44, 0xa6, 0x67, 0x25, 0xab, 0x23, 0xbb, 0x43, 0xd9, 0xfd, 0x28, 0x04,
	0x23, 0x54, 0x02, 0x65, 0x12, 0xeb, 0xb4, 0xb0, 0xe7, 0x09, 0x99, 0xbd, 0xde, 0xeb,
	0xe2, 0x71, 0x45, 0xec, 0xce, 0xbb, 0x39, 0x22, 0x9f, 0xd9, 0xf0, 0xd6, 0xf1, 0xff,
	0x58, 0x81, 0xe9, 0x05, 0x28, 0x4d, 0x48, 0x97, 0xf1, 0x77,
};

enum { WITH_LOGIN = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN };

static struct mlx5dv_dek_init_attr dek_attr(struct ibv_pd *pd, const uint8_t *key, size_t len)
{
	struct mlx5dv_dek_init_attr attr = { .pd = pd, .opaque = "opaque" };

	memcpy(attr.key, key, len);
	return attr;
}

static void say_dek(struct rig *rig, struct mlx5dv_dek_init_attr *attr, const char *what)
{
	struct mlx5dv_dek *dek = SAY_PTR(mlx5dv_dek_create(rig->ctx, attr), "dek %s", what);
	struct mlx5dv_dek_attr asked = { .comp_mask = 1 };

	if (!dek)
		return;
	SAY_RET(mlx5dv_dek_query(dek, &asked), "query of more");
	asked.comp_mask = 0;
	if (!SAY_RET(mlx5dv_dek_query(dek, &asked), "query"))
		say("state %d, opaque %.8s", (int)asked.state, asked.opaque);
	SAY_RET(mlx5dv_dek_destroy(dek), "destroy");
}

/* ---- keys as they are ---- */

static void plain_deks(struct rig *rig, struct ibv_pd *pd)
{
	uint8_t key[128];

	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i + 1);
	for (unsigned int i = 0; i < 16; i++) {
		struct mlx5dv_dek_init_attr attr = dek_attr(pd, key, sizeof(key));

		attr.key_size = (enum mlx5dv_crypto_key_size)(i & 1);
		attr.has_keytag = i >> 1 & 1;
		attr.comp_mask = i >> 2 & 1 ? WITH_LOGIN : 0;
		attr.key_purpose = (enum mlx5dv_crypto_key_purpose)(i >> 3 & 1);
		say("size %u, tag %u, mask %u, purpose %u", i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3);
		say_dek(rig, &attr, "as it is");
	}
}

static void odd_deks(struct rig *rig, struct ibv_pd *pd)
{
	static const uint8_t equal_halves[32];
	struct mlx5dv_dek_init_attr attr = dek_attr(pd, equal_halves, sizeof(equal_halves));

	attr.comp_mask = WITH_LOGIN;
	say_dek(rig, &attr, "of equal halves");
	attr.key[0] = 1;
	attr.key_size = (enum mlx5dv_crypto_key_size)2;
	say_dek(rig, &attr, "of another size");
	attr.key_size = MLX5DV_CRYPTO_KEY_SIZE_128;
	attr.comp_mask = WITH_LOGIN | 2;
	say_dek(rig, &attr, "with an unknown mask");
}

void crypto_say_state(struct rig *rig)
{
	enum mlx5dv_crypto_login_state state = (enum mlx5dv_crypto_login_state)7;

	if (!SAY_RET(mlx5dv_crypto_login_query_state(rig->ctx, &state), "query_state"))
		say("state %d", (int)state);
}

struct mlx5dv_crypto_login_attr crypto_login(void)
{
	struct mlx5dv_crypto_login_attr attr = { 0 };

	memcpy(attr.credential, wrapped_credential, sizeof(wrapped_credential));
	return attr;
}

static void wrong_logins(struct rig *rig)
{
	struct mlx5dv_crypto_login_attr attr = crypto_login();

	attr.credential_id = 1;
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login with credential 1");
	attr = crypto_login();
	attr.import_kek_id = 1;
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login with kek 1");
	attr = crypto_login();
	attr.credential[5] ^= 1;
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login with another credential");
	attr = crypto_login();
	attr.comp_mask = 1;
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login with a mask");
	SAY_RET(mlx5dv_crypto_logout(rig->ctx), "logout without login");
}

static void wrapped_deks(struct rig *rig, struct ibv_pd *pd, uint64_t comp_mask,
			 struct mlx5dv_crypto_login_obj *login)
{
	static const struct {
		const uint8_t *key;
		size_t len;
		enum mlx5dv_crypto_key_size size;
		bool has_tag;
	} keys[] = {
		{ wrapped_128, sizeof(wrapped_128), MLX5DV_CRYPTO_KEY_SIZE_128, false },
		{ wrapped_128_tagged, sizeof(wrapped_128_tagged), MLX5DV_CRYPTO_KEY_SIZE_128,
		  true },
		{ wrapped_256, sizeof(wrapped_256), MLX5DV_CRYPTO_KEY_SIZE_256, false },
		{ wrapped_256_tagged, sizeof(wrapped_256_tagged), MLX5DV_CRYPTO_KEY_SIZE_256,
		  true },
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(keys); i++) {
		struct mlx5dv_dek_init_attr attr = dek_attr(pd, keys[i / 2].key, keys[i / 2].len);

		attr.comp_mask = comp_mask;
		attr.crypto_login = login;
		attr.key_size = keys[i / 2].size;
		attr.has_keytag = keys[i / 2].has_tag != (i & 1); /* wrong every other time */
		say_dek(rig, &attr, "wrapped");
	}
}

static void login_of_context(struct rig *rig, struct ibv_pd *pd)
{
	struct mlx5dv_crypto_login_attr attr = crypto_login();

	crypto_say_state(rig);
	wrong_logins(rig);
	wrapped_deks(rig, pd, 0, NULL);
	if (SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login"))
		return;
	crypto_say_state(rig);
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login again");
	wrapped_deks(rig, pd, 0, NULL);
	SAY_RET(mlx5dv_crypto_logout(rig->ctx), "logout");
	crypto_say_state(rig);
}

static void login_object(struct rig *rig, struct ibv_pd *pd)
{
	struct mlx5dv_crypto_login_attr_ex attr = { .credential = wrapped_credential,
						    .credential_len = sizeof(wrapped_credential) };
	struct mlx5dv_crypto_login_query_attr asked = { .comp_mask = 1 };
	struct mlx5dv_crypto_login_obj *login;

	attr.comp_mask = 1;
	SAY_PTR(mlx5dv_crypto_login_create(rig->ctx, &attr), "login object with a mask");
	attr.comp_mask = 0;
	attr.credential_len = 40;
	SAY_PTR(mlx5dv_crypto_login_create(rig->ctx, &attr), "login object, 40 bytes");
	attr.credential_len = sizeof(wrapped_credential);
	login = SAY_PTR(mlx5dv_crypto_login_create(rig->ctx, &attr), "login object");
	if (!login)
		return;
	SAY_RET(mlx5dv_crypto_login_query(login, &asked), "query of more");
	asked.comp_mask = 0;
	if (!SAY_RET(mlx5dv_crypto_login_query(login, &asked), "query"))
		say("state %d", (int)asked.state);
	crypto_say_state(rig);
	wrapped_deks(rig, pd, WITH_LOGIN, login);
	SAY_RET(mlx5dv_crypto_login_destroy(login), "destroy");
}

void dv_crypto(struct rig *rig)
{
	struct mlx5dv_context device = { .comp_mask = MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);

	MUST(pd && !mlx5dv_query_device(rig->ctx, &device));
	say("selftests %u, engines %u, method %u, log deks %u, flags %u",
	    device.crypto_caps.failed_selftests, device.crypto_caps.crypto_engines,
	    device.crypto_caps.wrapped_import_method, device.crypto_caps.log_max_num_deks,
	    device.crypto_caps.flags);
	plain_deks(rig, pd);
	odd_deks(rig, pd);
	login_of_context(rig, pd);
	login_object(rig, pd);
	MUST(!ibv_dealloc_pd(pd));
}

struct mlx5dv_crypto_login_obj *crypto_login_object(struct rig *rig)
{
	struct mlx5dv_crypto_login_attr_ex attr = { .credential = wrapped_credential,
						    .credential_len = sizeof(wrapped_credential) };

	return SAY_PTR(mlx5dv_crypto_login_create(rig->ctx, &attr), "login object");
}

static bool login_is_valid(struct rig *rig)
{
	enum mlx5dv_crypto_login_state state;

	return !mlx5dv_crypto_login_query_state(rig->ctx, &state) &&
	       state == MLX5DV_CRYPTO_LOGIN_STATE_VALID;
}

/* run-lost, the script that starts this program, adds the fault to softhca. */
void crypto_lose_login(struct rig *rig)
{
	const char *command = getenv("LOSE_LOGIN");

	MUST(command && !system(command));
	while (login_is_valid(rig))
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

struct mlx5dv_dek *crypto_dek(struct rig *rig, struct ibv_pd *pd, uint64_t comp_mask,
			      struct mlx5dv_crypto_login_obj *login)
{
	struct mlx5dv_dek_init_attr attr = dek_attr(pd, wrapped_128, sizeof(wrapped_128));

	attr.comp_mask = comp_mask;
	attr.crypto_login = login;
	return SAY_PTR(mlx5dv_dek_create(rig->ctx, &attr), "dek");
}

void crypto_say_dek(struct mlx5dv_dek *dek)
{
	struct mlx5dv_dek_attr asked = { 0 };

	if (!SAY_RET(mlx5dv_dek_query(dek, &asked), "query of a dek from before"))
		say("state %d", (int)asked.state);
}

static void say_old_dek(struct mlx5dv_dek *dek)
{
	crypto_say_dek(dek);
	SAY_RET(mlx5dv_dek_destroy(dek), "destroy");
}

void dv_lost_login(struct rig *rig)
{
	struct mlx5dv_crypto_login_attr attr = crypto_login();
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct mlx5dv_dek *dek;

	MUST(pd);
	MUST(!SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login"));
	dek = crypto_dek(rig, pd, 0, NULL);
	MUST(dek);
	crypto_lose_login(rig);
	crypto_say_state(rig);
	crypto_dek(rig, pd, 0, NULL);
	say_old_dek(dek);
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login while another is lost");
	SAY_RET(mlx5dv_crypto_logout(rig->ctx), "logout");
	crypto_say_state(rig);
	SAY_RET(mlx5dv_crypto_login(rig->ctx, &attr), "login without keys");
	crypto_say_state(rig);
	MUST(!ibv_dealloc_pd(pd));
}

void dv_lost_login_object(struct rig *rig)
{
	struct mlx5dv_crypto_login_query_attr asked = { 0 };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct mlx5dv_crypto_login_obj *login = crypto_login_object(rig);
	struct mlx5dv_dek *dek = crypto_dek(rig, pd, WITH_LOGIN, login);

	MUST(pd && login && dek);
	MUST(!system(getenv("LOSE_LOGIN")));
	while (!mlx5dv_crypto_login_query(login, &asked) &&
	       asked.state == MLX5DV_CRYPTO_LOGIN_STATE_VALID)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	if (!SAY_RET(mlx5dv_crypto_login_query(login, &asked), "query"))
		say("state %d", (int)asked.state);
	crypto_dek(rig, pd, WITH_LOGIN, login);
	say_old_dek(dek);
	SAY_RET(mlx5dv_crypto_login_destroy(login), "destroy");
	say("without keys");
	crypto_login_object(rig);
	MUST(!ibv_dealloc_pd(pd));
}
