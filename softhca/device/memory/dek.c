/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dek.c - data encryption keys and crypto logins. See dek.h.
 */
#include "softhca/device/memory/dek.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"

static_assert((int)CREDENTIAL_WRAPPED == (int)HCA_CREDENTIAL + (int)CIPHER_WRAP_EXTRA,
	      "a credential is wrapped");

static const struct hca_kek *kek_find(const struct hca *hca, uint64_t n)
{
	const struct hca_secrets *secrets = hca->config.secrets;

	return secrets && n < secrets->keks && !hca->keks_gone ? &secrets->kek[n] : NULL;
}

const char *crypto_login_check(const struct hca *hca, uint64_t kek_n, uint64_t credential,
			       const uint8_t *wrapped)
{
	const struct hca_secrets *secrets = hca->config.secrets;
	const struct hca_kek *kek = kek_find(hca, kek_n);
	uint8_t shown[HCA_CREDENTIAL];
	bool is_right;

	if (!secrets)
		return "login: keys come as they are here";
	if (!kek)
		return "login: no such key to import with";
	if (credential >= secrets->credentials)
		return "login: no such credential";
	is_right = cipher_unwrap(kek->bytes, kek->len, wrapped, CREDENTIAL_WRAPPED, shown) &&
		   !memcmp(shown, secrets->credential[credential], sizeof(shown));
	explicit_bzero(shown, sizeof(shown));
	return is_right ? NULL : "login: the credential is another";
}

struct crypto_login *crypto_login_of_user(struct hca *hca)
{
	struct crypto_login *login;

	for (uint32_t i = 0; (login = res_next(&hca->logins, &i)) != NULL;)
		if (hca->logins.owner[login->n - hca->logins.first] == hca->user)
			return login;
	return NULL;
}

bool crypto_login_is_valid(const struct hca *hca, const struct crypto_login *login)
{
	return kek_find(hca, login->kek);
}

int crypto_login_add(struct hca *hca, uint32_t kek, struct crypto_login **out)
{
	struct crypto_login *login = calloc(1, sizeof(*login));
	int ret = login ? res_add(&hca->logins, login, &login->n) : ENOMEM;

	if (ret) {
		free(login);
		return ret;
	}
	login->kek = kek;
	*out = login;
	return 0;
}

void crypto_login_remove(struct hca *hca, struct crypto_login *login)
{
	res_remove(&hca->logins, login->n);
	free(login);
}

int dek_set_key(const struct hca *hca, struct dek *dek, const struct crypto_login *login,
		const uint8_t *bytes)
{
	size_t keys = dek->is_256 ? 64 : 32, all = keys + (dek->has_tag ? DEK_TAG_SIZE : 0);
	const struct hca_kek *kek = login ? kek_find(hca, login->kek) : NULL;
	uint8_t plain[DEK_BYTES_MAX];
	bool is_plain = !login;
	int ret = EINVAL;

	if (is_plain)
		memcpy(plain, bytes, all);
	else if (kek)
		is_plain =
			cipher_unwrap(kek->bytes, kek->len, bytes, all + CIPHER_WRAP_EXTRA, plain);
	if (is_plain) {
		memcpy(dek->tag, plain + keys, all - keys);
		ret = cipher_create(plain, keys, &dek->cipher);
	}
	explicit_bzero(plain, sizeof(plain));
	return ret;
}

int dek_add(struct hca *hca, struct pd *pd, struct dek *dek)
{
	int ret = res_add(&hca->deks, dek, &dek->n);

	if (ret)
		return ret;
	dek->pd = pd;
	pd->users++;
	return 0;
}

void dek_free(struct dek *dek)
{
	cipher_free(dek->cipher);
	free(dek);
}

void dek_remove(struct hca *hca, struct dek *dek)
{
	res_remove(&hca->deks, dek->n);
	dek->pd->users--;
	dek_free(dek);
}
