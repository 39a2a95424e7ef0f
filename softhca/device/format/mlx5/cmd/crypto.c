/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto.c - commands on crypto logins and data encryption keys, which are general objects.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/crypto.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"

static_assert((int)CREDENTIAL_WRAPPED == (int)PRM_CREDENTIAL_SIZE, "PRM: CRYPTO_LOGIN object");
static_assert((int)DEK_BYTES_MAX + (int)CIPHER_WRAP_EXTRA <= (int)PRM_DEK_KEY_SIZE,
	      "PRM: DEK object");
static_assert((int)DEK_OPAQUE_SIZE == (int)PRM_DEK_OPAQUE_SIZE, "PRM: DEK object");

enum prm_status login_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *obj = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	uint32_t kek = fld_get(obj, CRYPTO_LOGIN_IMPORT_KEK_POINTER);
	struct crypto_login *login;
	const char *why =
		crypto_login_check(hca, kek, fld_get(obj, CRYPTO_LOGIN_CREDENTIAL_POINTER),
				   fld_at(obj, CRYPTO_LOGIN_CREDENTIAL));
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	if (crypto_login_of_user(hca))
		return cmd_fail(cmd, PRM_STAT_LIM_ERR, "login: this user has one");
	ret = crypto_login_add(hca, kek, &login);
	if (ret)
		return cmd_errno(cmd, ret, "login: table is full");
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, login->n);
	return PRM_STAT_OK;
}

static struct crypto_login *login_of(struct hca *hca, struct cmd *cmd)
{
	cmd->why = "login: no such object";
	return res_find(&hca->logins, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));
}

enum prm_status login_query(struct hca *hca, struct cmd *cmd)
{
	struct crypto_login *login = login_of(hca, cmd);
	uint8_t *obj = fld_at(cmd->out, GENERAL_OBJ_OBJECT);

	if (!login)
		return PRM_STAT_BAD_RES_ERR;
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, login->n);
	fld_set(obj, CRYPTO_LOGIN_STATE,
		crypto_login_is_valid(hca, login) ? PRM_CRYPTO_LOGIN_VALID
						  : PRM_CRYPTO_LOGIN_INVALID);
	return PRM_STAT_OK;
}

enum prm_status login_destroy(struct hca *hca, struct cmd *cmd)
{
	struct crypto_login *login = login_of(hca, cmd);

	if (!login)
		return PRM_STAT_BAD_RES_ERR;
	crypto_login_remove(hca, login);
	return PRM_STAT_OK;
}

/* Finds the login of the user. An adapter with secrets accepts commands on keys only from users
 * with a login. */
static const char *find_login(struct hca *hca, struct crypto_login **login)
{
	*login = NULL;
	if (!hca->config.secrets)
		return NULL;
	*login = crypto_login_of_user(hca);
	if (!*login)
		return "dek: not logged in";
	return crypto_login_is_valid(hca, *login) ? NULL : "dek: the login is not valid any more";
}

static const char *dek_check(const uint8_t *obj)
{
	if (fld_get64(obj, FLD_BYTE(DEK_MODIFY_FIELD_SELECT)))
		return "dek: nothing to modify";
	if (fld_get(obj, DEK_KEY_BITS) > PRM_DEK_256)
		return "dek: keys have 128 or 256 bits";
	return fld_get(obj, DEK_PURPOSE) != PRM_DEK_AES_XTS ? "dek: keys are for AES-XTS" : NULL;
}

static enum prm_status dek_build(struct hca *hca, struct cmd *cmd, struct pd *pd, struct dek *dek)
{
	const uint8_t *obj = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	struct crypto_login *login;
	const char *why = find_login(hca, &login);
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, why);
	dek->is_256 = fld_get(obj, DEK_KEY_BITS) == PRM_DEK_256;
	dek->has_tag = fld_get(obj, DEK_HAS_KEYTAG);
	memcpy(dek->opaque, fld_at(obj, DEK_OPAQUE), sizeof(dek->opaque));
	ret = dek_set_key(hca, dek, login, fld_at(obj, DEK_KEY));
	if (ret == EINVAL)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"dek: wrapped otherwise, or both halves of the key are equal");
	if (!ret)
		ret = dek_add(hca, pd, dek);
	if (ret)
		return cmd_errno(cmd, ret, "dek: table is full");
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, dek->n);
	return PRM_STAT_OK;
}

enum prm_status dek_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *obj = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	struct pd *pd = res_find(&hca->pds, fld_get(obj, DEK_PD));
	const char *why = dek_check(obj);
	enum prm_status status;
	struct dek *dek;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	if (!pd)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "dek: no such PD");
	dek = calloc(1, sizeof(*dek));
	if (!dek)
		return cmd_errno(cmd, ENOMEM, "dek");
	status = dek_build(hca, cmd, pd, dek);
	if (status)
		dek_free(dek);
	return status;
}

static struct dek *dek_of(struct hca *hca, struct cmd *cmd)
{
	cmd->why = "dek: no such object";
	return res_find(&hca->deks, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));
}

/* Queries a key's attributes. The key itself is never returned, as it is secret. */
enum prm_status dek_query(struct hca *hca, struct cmd *cmd)
{
	struct dek *dek = dek_of(hca, cmd);
	uint8_t *obj = fld_at(cmd->out, GENERAL_OBJ_OBJECT);
	struct crypto_login *login;
	const char *why = find_login(hca, &login);

	if (!dek)
		return PRM_STAT_BAD_RES_ERR;
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR, why);
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, dek->n);
	fld_set(obj, DEK_STATE, PRM_DEK_READY);
	fld_set(obj, DEK_KEY_BITS, dek->is_256 ? PRM_DEK_256 : PRM_DEK_128);
	fld_set(obj, DEK_HAS_KEYTAG, dek->has_tag);
	fld_set(obj, DEK_PURPOSE, PRM_DEK_AES_XTS);
	fld_set(obj, DEK_PD, dek->pd->n);
	memcpy(fld_at(obj, DEK_OPAQUE), dek->opaque, sizeof(dek->opaque));
	return PRM_STAT_OK;
}

enum prm_status dek_destroy(struct hca *hca, struct cmd *cmd)
{
	struct dek *dek = dek_of(hca, cmd);

	if (!dek)
		return PRM_STAT_BAD_RES_ERR;
	dek_remove(hca, dek);
	return PRM_STAT_OK;
}
