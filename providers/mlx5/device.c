/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - queries what a device can do: the kernel's answer, and the driver's part of it
 * converted to the fields of the extended query.
 */
#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"

static void device_add_caps(const void *part, struct ibv_device_attr_ex *attr)
{
	const struct mlx5_ib_query_device_resp *resp = part;

	attr->tso_caps.max_tso = resp->tso_caps.max_tso;
	attr->tso_caps.supported_qpts = resp->tso_caps.supported_qpts;
	attr->rss_caps.rx_hash_fields_mask = resp->rss_caps.rx_hash_fields_mask;
	attr->rss_caps.rx_hash_function = resp->rss_caps.rx_hash_function;
	attr->packet_pacing_caps.qp_rate_limit_min = resp->packet_pacing_caps.qp_rate_limit_min;
	attr->packet_pacing_caps.qp_rate_limit_max = resp->packet_pacing_caps.qp_rate_limit_max;
	attr->packet_pacing_caps.supported_qpts = resp->packet_pacing_caps.supported_qpts;
}

const struct device_kind mlx5_device_kind = {
	.resp_size = sizeof(struct mlx5_ib_query_device_resp),
	.fw_digits = 4,
	.add_caps = device_add_caps,
};

int mlx5_device_query_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)input;
	return provider_device_query(&to_mctx(context)->common.device, attr, attr_size);
}

bool mlx5_device_checks_ip(struct mlx5_context *ctx)
{
	return !provider_device_know(&ctx->common.device) &&
	       ctx->common.device.raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM;
}

bool mlx5_device_faults_srqs(struct mlx5_context *ctx)
{
	return !provider_device_know(&ctx->common.device) && ctx->common.device.srq_on_demand;
}

int mlx5_device_resp_get(struct mlx5_context *ctx, const struct mlx5_ib_query_device_resp **resp)
{
	*resp = &ctx->device_resp;
	return provider_device_know(&ctx->common.device);
}
