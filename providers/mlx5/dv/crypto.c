/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crypto.c - data encryption keys (DEKs), and the logins that allow the device to import wrapped
 * ones. Work requests select the DEK of a memory key (data/mkey/crypt.c).
 *
 * A device imports DEKs either wrapped or in plaintext. There is at most one login per context, and
 * any number of login objects that the program names.
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/crypto.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"
#include "providers/mlx5/mkey.h"
#include "providers/mlx5/pd.h"
#include "util/alloc.h"

enum {
	LOGIN_MAILBOX = PRM_GENERAL_OBJ_HDR_SIZE + PRM_CRYPTO_LOGIN_SIZE,
	DEK_MAILBOX = PRM_GENERAL_OBJ_HDR_SIZE + PRM_DEK_SIZE,
};

struct mlx5dv_crypto_login_obj {
	struct mlx5_context *ctx;
	struct devx_object object;
};

static int crypto_refuse(const char *call, const char *why)
{
	verbs_warn("%s: %s", call, why);
	return EINVAL;
}

static int crypto_caps(const char *call, struct ibv_context *context,
		       const struct mlx5_hca_caps **caps)
{
	int ret = dv_check_context(call, context);

	if (ret)
		return ret;
	ret = mlx5_hca_caps_get_with(to_mctx(context), PRM_CAP_CRYPTO, caps);
	if (ret && ret != EOPNOTSUPP)
		return ret;
	if (!ret && (*caps)->encrypts)
		return 0;
	verbs_warn("%s: %s does not encrypt, or the context is without DevX", call,
		   context->device->name);
	return EOPNOTSUPP;
}

static int object_query(struct mlx5_context *ctx, const struct devx_object *object,
			enum prm_obj_type type, uint8_t *out, size_t out_len)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, type);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, object->id);
	return mlx5_devx_object_query(ctx, object, in, sizeof(in), out, out_len);
}

static int login_check(const char *call, struct ibv_context *context,
		       const struct mlx5dv_crypto_login_attr_ex *attr)
{
	const struct mlx5_hca_caps *caps;
	int ret = crypto_caps(call, context, &caps);

	if (ret)
		return ret;
	if (attr->comp_mask)
		return crypto_refuse(call, "comp_mask is not 0");
	if (attr->credential_len > PRM_CREDENTIAL_SIZE)
		return crypto_refuse(call, "credential_len is above 48");
	if (caps->imports_wrapped)
		return 0;
	verbs_warn("%s: %s takes keys as they are", call, context->device->name);
	return EOPNOTSUPP;
}

static int login_create(const char *call, struct mlx5_context *ctx,
			const struct mlx5dv_crypto_login_attr_ex *attr,
			struct mlx5dv_crypto_login_obj **out)
{
	struct mlx5dv_crypto_login_obj *login = calloc_for(call, 1, sizeof(*login));
	uint8_t in[LOGIN_MAILBOX] = { 0 };
	uint8_t *obj = fld_at(in, GENERAL_OBJ_OBJECT);
	int ret;

	if (!login)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_CRYPTO_LOGIN);
	fld_set(obj, CRYPTO_LOGIN_CREDENTIAL_POINTER, attr->credential_id);
	fld_set(obj, CRYPTO_LOGIN_IMPORT_KEK_POINTER, attr->import_kek_id);
	memcpy(fld_at(obj, CRYPTO_LOGIN_CREDENTIAL), attr->credential, attr->credential_len);
	login->ctx = ctx;
	ret = mlx5_devx_object_create(ctx, in, sizeof(in), &login->object);
	explicit_bzero(in, sizeof(in));
	if (ret) {
		free(login);
		return ret;
	}
	*out = login;
	return 0;
}

static int login_query(const struct mlx5dv_crypto_login_obj *login,
		       enum mlx5dv_crypto_login_state *state)
{
	uint8_t out[LOGIN_MAILBOX] = { 0 };
	int ret = object_query(login->ctx, &login->object, PRM_OBJ_TYPE_CRYPTO_LOGIN, out,
			       sizeof(out));

	if (ret)
		return ret;
	*state = fld_get(fld_at(out, GENERAL_OBJ_OBJECT), CRYPTO_LOGIN_STATE) ==
				 PRM_CRYPTO_LOGIN_VALID
			 ? MLX5DV_CRYPTO_LOGIN_STATE_VALID
			 : MLX5DV_CRYPTO_LOGIN_STATE_INVALID;
	return 0;
}

static int login_destroy(struct mlx5dv_crypto_login_obj *login)
{
	int ret = mlx5_devx_object_destroy(login->ctx, &login->object);

	if (!ret)
		free(login);
	return ret;
}

DV_EXPORT struct mlx5dv_crypto_login_obj *
mlx5dv_crypto_login_create(struct ibv_context *context, struct mlx5dv_crypto_login_attr_ex *attr)
{
	struct mlx5dv_crypto_login_obj *login;
	int ret = login_check("mlx5dv_crypto_login_create", context, attr);

	if (!ret)
		ret = login_create("mlx5dv_crypto_login_create", to_mctx(context), attr, &login);
	return ret ? dv_fail(ret) : login;
}

DV_EXPORT int mlx5dv_crypto_login_query(struct mlx5dv_crypto_login_obj *login,
					struct mlx5dv_crypto_login_query_attr *attr)
{
	if (attr->comp_mask)
		return verbs_result(
			crypto_refuse("mlx5dv_crypto_login_query", "comp_mask is not 0"));
	return verbs_result(login_query(login, &attr->state));
}

DV_EXPORT int mlx5dv_crypto_login_destroy(struct mlx5dv_crypto_login_obj *login)
{
	return verbs_result(login_destroy(login));
}

static int context_login(struct mlx5_context *ctx, const struct mlx5dv_crypto_login_attr_ex *attr)
{
	int ret = EEXIST;

	pthread_mutex_lock(&ctx->login_lock);
	if (ctx->login)
		verbs_warn("mlx5dv_crypto_login: the context is logged in already");
	else
		ret = login_create("mlx5dv_crypto_login", ctx, attr, &ctx->login);
	pthread_mutex_unlock(&ctx->login_lock);
	return ret;
}

DV_EXPORT int mlx5dv_crypto_login(struct ibv_context *context,
				  struct mlx5dv_crypto_login_attr *attr)
{
	struct mlx5dv_crypto_login_attr_ex wide;
	int ret = dv_check_context("mlx5dv_crypto_login", context);

	if (ret)
		return verbs_result(ret);
	wide = (struct mlx5dv_crypto_login_attr_ex){
		.credential_id = attr->credential_id,
		.import_kek_id = attr->import_kek_id,
		.credential = attr->credential,
		.credential_len = sizeof(attr->credential),
		.comp_mask = attr->comp_mask,
	};
	ret = login_check("mlx5dv_crypto_login", context, &wide);
	return verbs_result(ret ? ret : context_login(to_mctx(context), &wide));
}

DV_EXPORT int mlx5dv_crypto_login_query_state(struct ibv_context *context,
					      enum mlx5dv_crypto_login_state *state)
{
	const struct mlx5_hca_caps *caps;
	int ret = crypto_caps("mlx5dv_crypto_login_query_state", context, &caps);
	struct mlx5_context *ctx;

	if (ret)
		return verbs_result(ret);
	ctx = to_mctx(context);
	pthread_mutex_lock(&ctx->login_lock);
	if (ctx->login)
		ret = login_query(ctx->login, state);
	else
		*state = MLX5DV_CRYPTO_LOGIN_STATE_NO_LOGIN;
	pthread_mutex_unlock(&ctx->login_lock);
	return verbs_result(ret);
}

DV_EXPORT int mlx5dv_crypto_logout(struct ibv_context *context)
{
	int ret = dv_check_context("mlx5dv_crypto_logout", context);
	struct mlx5_context *ctx;

	if (ret)
		return verbs_result(ret);
	ctx = to_mctx(context);
	pthread_mutex_lock(&ctx->login_lock);
	if (ctx->login)
		ret = login_destroy(ctx->login);
	else
		ret = ENOENT;
	if (!ret)
		ctx->login = NULL;
	pthread_mutex_unlock(&ctx->login_lock);
	if (ret == ENOENT)
		verbs_warn("mlx5dv_crypto_logout: the context is not logged in");
	return verbs_result(ret);
}

static bool context_is_logged_in(struct mlx5_context *ctx)
{
	bool is_in;

	pthread_mutex_lock(&ctx->login_lock);
	is_in = ctx->login != NULL;
	pthread_mutex_unlock(&ctx->login_lock);
	return is_in;
}

/* Returns why a wrapped key has no login, or NULL if it has. Checked here, as a refusal of the
 * device is only a syndrome. The device itself determines which login a wrapped key belongs to. */
static const char *dek_check_login(struct mlx5_context *ctx, const struct mlx5_hca_caps *caps,
				   const struct mlx5dv_dek_init_attr *attr)
{
	if (!(attr->comp_mask & MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN))
		return context_is_logged_in(ctx) ? NULL : "the context is not logged in";
	if (!attr->crypto_login && caps->imports_wrapped)
		return "the device takes keys wrapped, and there is no crypto_login";
	return NULL;
}

static const char *dek_check(const struct mlx5dv_dek_init_attr *attr)
{
	if (attr->comp_mask & ~(uint64_t)MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN)
		return "comp_mask has unknown ones";
	if (attr->key_size != MLX5DV_CRYPTO_KEY_SIZE_128 &&
	    attr->key_size != MLX5DV_CRYPTO_KEY_SIZE_256)
		return "key_size is none that there is";
	if (attr->key_purpose != MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS)
		return "key_purpose is none that there is";
	return NULL;
}

static void dek_put(const struct mlx5dv_dek_init_attr *attr, uint8_t *in)
{
	uint8_t *obj = fld_at(in, GENERAL_OBJ_OBJECT);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_DEK);
	fld_set(obj, DEK_KEY_BITS,
		attr->key_size == MLX5DV_CRYPTO_KEY_SIZE_256 ? PRM_DEK_256 : PRM_DEK_128);
	fld_set(obj, DEK_HAS_KEYTAG, attr->has_keytag);
	fld_set(obj, DEK_PURPOSE, PRM_DEK_AES_XTS);
	fld_set(obj, DEK_PD, to_ppd(attr->pd)->pdn);
	memcpy(fld_at(obj, DEK_OPAQUE), attr->opaque, PRM_DEK_OPAQUE_SIZE);
	memcpy(fld_at(obj, DEK_KEY), attr->key, PRM_DEK_KEY_SIZE);
}

static int dek_create(struct ibv_context *context, const struct mlx5dv_dek_init_attr *attr,
		      struct mlx5dv_dek **out)
{
	uint8_t in[DEK_MAILBOX] = { 0 };
	struct mlx5dv_dek *dek = calloc_for("mlx5dv_dek_create", 1, sizeof(*dek));
	int ret;

	if (!dek)
		return ENOMEM;
	dek->ctx = to_mctx(context);
	dek_put(attr, in);
	ret = mlx5_devx_object_create(dek->ctx, in, sizeof(in), &dek->object);
	explicit_bzero(in, sizeof(in));
	if (ret) {
		free(dek);
		return ret;
	}
	*out = dek;
	return 0;
}

DV_EXPORT struct mlx5dv_dek *mlx5dv_dek_create(struct ibv_context *context,
					       struct mlx5dv_dek_init_attr *attr)
{
	const struct mlx5_hca_caps *caps;
	struct mlx5dv_dek *dek;
	int ret = crypto_caps("mlx5dv_dek_create", context, &caps);
	const char *why;

	if (ret)
		return dv_fail(ret);
	why = dek_check(attr);
	if (!why)
		why = dek_check_login(to_mctx(context), caps, attr);
	if (why)
		return dv_fail(crypto_refuse("mlx5dv_dek_create", why));
	ret = dek_create(context, attr, &dek);
	return ret ? dv_fail(ret) : dek;
}

DV_EXPORT int mlx5dv_dek_query(struct mlx5dv_dek *dek, struct mlx5dv_dek_attr *attr)
{
	uint8_t out[DEK_MAILBOX] = { 0 };
	const uint8_t *obj = fld_at(out, GENERAL_OBJ_OBJECT);
	int ret;

	if (attr->comp_mask)
		return verbs_result(crypto_refuse("mlx5dv_dek_query", "comp_mask is not 0"));
	ret = object_query(dek->ctx, &dek->object, PRM_OBJ_TYPE_DEK, out, sizeof(out));
	if (ret)
		return verbs_result(ret);
	attr->state = fld_get(obj, DEK_STATE) == PRM_DEK_READY ? MLX5DV_DEK_STATE_READY
							       : MLX5DV_DEK_STATE_ERROR;
	memcpy(attr->opaque, fld_at(obj, DEK_OPAQUE), PRM_DEK_OPAQUE_SIZE);
	return 0;
}

DV_EXPORT int mlx5dv_dek_destroy(struct mlx5dv_dek *dek)
{
	int ret = mlx5_devx_object_destroy(dek->ctx, &dek->object);

	if (!ret)
		free(dek);
	return verbs_result(ret);
}
