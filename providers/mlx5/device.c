/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - what a device can do: the core's answer, and the driver's part of it in the words of
 * the extended query.
 */
#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"

static void device_add_caps(const struct mlx5_ib_query_device_resp *resp,
			    struct ibv_device_attr_ex *attr)
{
	attr->tso_caps.max_tso = resp->tso_caps.max_tso;
	attr->tso_caps.supported_qpts = resp->tso_caps.supported_qpts;
	attr->rss_caps.rx_hash_fields_mask = resp->rss_caps.rx_hash_fields_mask;
	attr->rss_caps.rx_hash_function = resp->rss_caps.rx_hash_function;
	attr->packet_pacing_caps.qp_rate_limit_min = resp->packet_pacing_caps.qp_rate_limit_min;
	attr->packet_pacing_caps.qp_rate_limit_max = resp->packet_pacing_caps.qp_rate_limit_max;
	attr->packet_pacing_caps.supported_qpts = resp->packet_pacing_caps.supported_qpts;
}

static int device_query(struct ibv_context *context, struct ibv_device_attr_ex *attr,
			size_t attr_size, struct mlx5_ib_query_device_resp *resp)
{
	const struct verbs_udata udata = { .resp = resp, .resp_len = sizeof(*resp) };
	uint64_t fw_ver = 0;
	int ret = verbs_cmd_query_device(context, attr, attr_size, &fw_ver, &udata);

	if (ret)
		return ret;
	provider_device_print_fw(fw_ver, 4, &attr->orig_attr);
	device_add_caps(resp, attr);
	return 0;
}

/* ATTR is whole: the library shortens it for older programs. Most programs ask before they create
 * anything, and then this library need not ask again. */
int mlx5_device_query_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct mlx5_ib_query_device_resp resp;
	int ret = device_query(context, attr, attr_size, &resp);

	(void)input;
	if (!ret)
		provider_device_learn(&to_mctx(context)->device, attr, &resp);
	return ret;
}

static int device_know(struct mlx5_context *ctx)
{
	struct mlx5_ib_query_device_resp resp;
	struct ibv_device_attr_ex full = { 0 };
	int ret;

	if (provider_device_is_known(&ctx->device))
		return 0;
	ret = device_query(&ctx->vctx.context, &full, sizeof(full), &resp);
	if (!ret)
		provider_device_learn(&ctx->device, &full, &resp);
	return ret;
}

int mlx5_device_attr_get(struct mlx5_context *ctx, const struct ibv_device_attr **attr)
{
	*attr = &ctx->device.attr;
	return device_know(ctx);
}

bool mlx5_device_checks_ip(struct mlx5_context *ctx)
{
	return !device_know(ctx) && ctx->device.raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM;
}

bool mlx5_device_faults_srqs(struct mlx5_context *ctx)
{
	return !device_know(ctx) && ctx->device.srq_on_demand;
}

int mlx5_device_resp_get(struct mlx5_context *ctx, const struct mlx5_ib_query_device_resp **resp)
{
	*resp = &ctx->device_resp;
	return device_know(ctx);
}
