/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - what a device can do: the core's answer, and the driver's part of it in the words of
 * the extended query.
 */
#include "providers/mlx4/context.h"
#include "providers/mlx4/device.h"

static void device_add_caps(const struct mlx4_uverbs_ex_query_device_resp *resp,
			    struct ibv_device_attr_ex *attr)
{
	attr->tso_caps.max_tso = resp->tso_caps.max_tso;
	attr->tso_caps.supported_qpts = resp->tso_caps.supported_qpts;
	attr->rss_caps.rx_hash_fields_mask = resp->rss_caps.rx_hash_fields_mask;
	attr->rss_caps.rx_hash_function = resp->rss_caps.rx_hash_function;
}

static int device_query(struct ibv_context *context, struct ibv_device_attr_ex *attr,
			size_t attr_size, struct mlx4_uverbs_ex_query_device_resp *resp)
{
	const struct verbs_udata udata = { .resp = resp, .resp_len = sizeof(*resp) };
	uint64_t fw_ver = 0;
	int ret = verbs_cmd_query_device(context, attr, attr_size, &fw_ver, &udata);

	if (ret)
		return ret;
	provider_device_print_fw(fw_ver, 3, &attr->orig_attr);
	device_add_caps(resp, attr);
	return 0;
}

int mlx4_device_query_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct mlx4_uverbs_ex_query_device_resp resp;
	int ret = device_query(context, attr, attr_size, &resp);

	(void)input;
	if (!ret)
		provider_device_learn(&to_mctx(context)->device, attr, &resp);
	return ret;
}

static int device_know(struct mlx4_context *ctx)
{
	struct mlx4_uverbs_ex_query_device_resp resp;
	struct ibv_device_attr_ex full = { 0 };
	int ret;

	if (provider_device_is_known(&ctx->device))
		return 0;
	ret = device_query(&ctx->vctx.context, &full, sizeof(full), &resp);
	if (!ret)
		provider_device_learn(&ctx->device, &full, &resp);
	return ret;
}

int mlx4_device_attr_get(struct mlx4_context *ctx, const struct ibv_device_attr **attr)
{
	*attr = &ctx->device.attr;
	return device_know(ctx);
}

int mlx4_device_resp_get(struct mlx4_context *ctx,
			 const struct mlx4_uverbs_ex_query_device_resp **resp)
{
	*resp = &ctx->device_resp;
	return device_know(ctx);
}
