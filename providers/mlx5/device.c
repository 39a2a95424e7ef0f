/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - what a device can do: the core's answer, and the driver's part of it in the words of
 * the extended query.
 */
#include <stdio.h>
#include <string.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"

/* The kernel packs major, minor and subminor release into one number. */
static void print_fw_version(uint64_t raw, struct ibv_device_attr *attr)
{
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "%u.%u.%04u",
		 (unsigned int)(raw >> 32 & 0xffff), (unsigned int)(raw >> 16 & 0xffff),
		 (unsigned int)(raw & 0xffff));
}

static void add_driver_caps(const struct mlx5_ib_query_device_resp *resp,
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

static int query(struct ibv_context *context, struct ibv_device_attr_ex *attr, size_t attr_size,
		 struct mlx5_ib_query_device_resp *resp)
{
	const struct verbs_udata udata = { .resp = resp, .resp_len = sizeof(*resp) };
	uint64_t fw_ver = 0;
	int ret = verbs_cmd_query_device(context, attr, attr_size, &fw_ver, &udata);

	if (ret)
		return ret;
	print_fw_version(fw_ver, &attr->orig_attr);
	add_driver_caps(resp, attr);
	return 0;
}

int mlx5_device_query_port(struct ibv_context *context, uint8_t port_num,
			   struct ibv_port_attr *attr, size_t attr_size)
{
	return verbs_cmd_query_port(context, port_num, attr, attr_size);
}

static void learn(struct mlx5_context *ctx, const struct ibv_device_attr_ex *attr,
		  const struct mlx5_ib_query_device_resp *resp)
{
	pthread_mutex_lock(&ctx->device_lock);
	if (!ctx->device_known) {
		ctx->device_attr = attr->orig_attr;
		ctx->raw_packet_caps = attr->raw_packet_caps;
		ctx->device_resp = *resp;
		ctx->device_known = true;
	}
	pthread_mutex_unlock(&ctx->device_lock);
}

/* ATTR is whole: the library shortens it for older programs. Most programs ask before they create anything, and so this
 * library need not. */
int mlx5_device_query_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct mlx5_ib_query_device_resp resp;
	int ret = query(context, attr, attr_size, &resp);

	(void)input;
	if (!ret)
		learn(to_mctx(context), attr, &resp);
	return ret;
}

static bool is_known(struct mlx5_context *ctx)
{
	bool known;

	pthread_mutex_lock(&ctx->device_lock);
	known = ctx->device_known;
	pthread_mutex_unlock(&ctx->device_lock);
	return known;
}

static int know_device(struct mlx5_context *ctx)
{
	struct mlx5_ib_query_device_resp resp;
	struct ibv_device_attr_ex full = { 0 };
	int ret;

	if (is_known(ctx))
		return 0;
	ret = query(&ctx->vctx.context, &full, sizeof(full), &resp);
	if (!ret)
		learn(ctx, &full, &resp);
	return ret;
}

/* What does not change while the device is open: asked for once. */
int mlx5_device_attr_get(struct mlx5_context *ctx, const struct ibv_device_attr **attr)
{
	*attr = &ctx->device_attr;
	return know_device(ctx);
}

bool mlx5_device_checks_ip(struct mlx5_context *ctx)
{
	return !know_device(ctx) && ctx->raw_packet_caps & IBV_RAW_PACKET_CAP_IP_CSUM;
}

int mlx5_device_resp_get(struct mlx5_context *ctx, const struct mlx5_ib_query_device_resp **resp)
{
	*resp = &ctx->device_resp;
	return know_device(ctx);
}
