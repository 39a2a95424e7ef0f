/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca_caps.c - queries the device's capability pages and caches the fields that this library uses.
 */
#include "providers/mlx5/hca_caps.h"

#include <errno.h>
#include <string.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/crypto.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

void mlx5_hca_caps_init(struct hca_caps_cache *cache)
{
	pthread_mutex_init(&cache->lock, NULL);
}

void mlx5_hca_caps_destroy(struct hca_caps_cache *cache)
{
	pthread_mutex_destroy(&cache->lock);
}

/* Queries a capability page. The low bit of op_mod selects the current values, because the maxima
 * may be more than the firmware has enabled. */
static int caps_query(struct mlx5_context *ctx, enum prm_cap page, uint8_t *out, size_t size)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };
	const struct verbs_attr attrs[] = {
		verbs_attr_in(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, sizeof(in)),
		verbs_attr_out(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, size),
	};
	uint32_t status;
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	fld_set(in, CMD_IN_OP_MOD, (unsigned int)page << 1 | 1);
	memset(out, 0, size);
	ret = verbs_cmd_run(&ctx->vctx.context, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER,
			    attrs, ARRAY_SIZE(attrs));
	status = (uint32_t)fld_get(out, CMD_OUT_STATUS);
	if (status && (!ret || ret == EREMOTEIO))
		ret = mlx5_devx_status_errno(status);
	if (ret)
		verbs_log(ctx->has_devx ? VERBS_LOG_WARN : VERBS_LOG_INFO,
			  "%s does not tell its capabilities of kind %u: errno %d",
			  ctx->vctx.context.device->name, (unsigned int)page, ret);
	return ret;
}

/* Reads how many receives may be outstanding with out-of-order messages. RC, UC and UD use at most
 * half of a ring, because the other half is for WQEs that complete late. */
static void caps_take_early(const uint8_t *cap, struct mlx5_hca_caps *caps)
{
	uint32_t ring = 1u << fld_get(cap, HCA_CAP_LOG_MAX_QP_SZ);

	caps->early_rc = fld_get(cap, HCA_CAP_DP_ORDERING_OOO_ALL_RC) ? ring / 2 : 0;
	caps->early_xrc = fld_get(cap, HCA_CAP_DP_ORDERING_OOO_ALL_XRC) ? ring : 0;
	caps->early_dc = fld_get(cap, HCA_CAP_DP_ORDERING_OOO_ALL_DC) ? ring : 0;
	caps->early_ud = fld_get(cap, HCA_CAP_DP_ORDERING_OOO_ALL_UD) ? ring / 2 : 0;
	caps->early_uc = fld_get(cap, HCA_CAP_DP_ORDERING_OOO_ALL_UC) ? ring / 2 : 0;
}

static void caps_take_general(const uint8_t *cap, struct mlx5_hca_caps *caps)
{
	caps->has_odp = fld_get(cap, HCA_CAP_PG);
	caps->has_qos = fld_get(cap, HCA_CAP_QOS);
	caps->has_general_2 = fld_get(cap, HCA_CAP_HCA_CAP_2);
	caps->log_dc_reads = (uint8_t)fld_get(cap, HCA_CAP_LOG_MAX_RA_RES_DC);
	caps->log_dc_requests = (uint8_t)fld_get(cap, HCA_CAP_LOG_MAX_RA_REQ_DC);
	caps->lag_ports = (uint8_t)fld_get(cap, HCA_CAP_NUM_LAG_PORTS);
	caps->lag_chooses_port = fld_get(cap, HCA_CAP_LAG_TX_PORT_AFFINITY);
	caps->lag_changes_qp = fld_get(cap, HCA_CAP_RTS2RTS_LAG_TX_PORT_AFFINITY);
	caps->reserves_qpns =
		fld_get(cap, HCA_CAP_GENERAL_OBJ_TYPES) >> PRM_OBJ_TYPE_RESERVED_QPN & 1;
	caps->maps_addresses =
		fld_get(cap, HCA_CAP_GENERAL_OBJ_TYPES) >> PRM_OBJ_TYPE_AV_QP_MAPPING & 1;
	caps->signs_blocks = fld_get(cap, HCA_CAP_SHO) && fld_get(cap, HCA_CAP_SIGERR_CQE) &&
			     fld_get(cap, HCA_CAP_SIGERR_DOMAIN_AND_SIG_TYPE);
	caps->signs_crc32c = fld_get(cap, HCA_CAP_SIG_CRC32C);
	caps->signs_crc64 = fld_get(cap, HCA_CAP_SIG_CRC64_XP10);
	caps->signs_4048 = fld_get(cap, HCA_CAP_SIG_BLOCK_4048);
	caps->drains_on_sig_error = fld_get(cap, HCA_CAP_DRAIN_SIGERR);
	caps->encrypts = fld_get(cap, HCA_CAP_CRYPTO) &&
			 (fld_get(cap, HCA_CAP_AES_XTS_SINGLE_BLOCK_LE_TWEAK) ||
			  fld_get(cap, HCA_CAP_AES_XTS_MULTI_BLOCK_BE_TWEAK));
	caps->encrypts_units = fld_get(cap, HCA_CAP_AES_XTS_MULTI_BLOCK_BE_TWEAK);
	caps->max_copy = fld_get(cap, HCA_CAP_DMA_MMO_QP)
				 ? 1u << fld_get(cap, HCA_CAP_LOG_DMA_MMO_MAX_SIZE)
				 : 0;
	caps->changes_udp_port = fld_get(cap, HCA_CAP_RTS2RTS_QP_UDP_SPORT);
	caps->writes_in_order = fld_get(cap, HCA_CAP_QP_DATA_IN_ORDER);
	caps_take_early(cap, caps);
}

/* Reads the operations that a transport supports on memory on demand. The kernel reports all
 * transports but DC. */
static uint32_t caps_odp_bits(const uint8_t *transport)
{
	static const struct {
		uint32_t field, flag;
	} table[] = {
		{ ODP_SEND, IBV_ODP_SUPPORT_SEND },
		{ ODP_RECEIVE, IBV_ODP_SUPPORT_RECV },
		{ ODP_WRITE, IBV_ODP_SUPPORT_WRITE },
		{ ODP_READ, IBV_ODP_SUPPORT_READ },
		{ ODP_ATOMIC, IBV_ODP_SUPPORT_ATOMIC },
		{ ODP_SRQ_RECEIVE, IBV_ODP_SUPPORT_SRQ_RECV },
	};
	uint32_t bits = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (fld_get(transport, table[i].field))
			bits |= table[i].flag;
	return bits;
}

static void caps_take_qos(const uint8_t *cap, struct mlx5_hca_caps *caps)
{
	caps->schedules_qps = fld_get(cap, QOS_CAP_NIC_QP_SCHEDULING);
	caps->schedules_sqs = fld_get(cap, QOS_CAP_NIC_SQ_SCHEDULING);
	caps->shares_bandwidth = fld_get(cap, QOS_CAP_NIC_BW_SHARE);
	caps->limits_bandwidth = fld_get(cap, QOS_CAP_NIC_RATE_LIMIT);
	caps->scheduler_elements = (uint16_t)fld_get(cap, QOS_CAP_NIC_ELEMENT_TYPE);
	caps->scheduler_tsars = (uint16_t)fld_get(cap, QOS_CAP_NIC_TSAR_TYPE);
}

static void caps_take_crypto(const uint8_t *cap, struct mlx5_hca_caps *caps)
{
	caps->imports_wrapped = fld_get(cap, CRYPTO_CAP_WRAPPED_OPERATIONAL);
	caps->will_import_wrapped = fld_get(cap, CRYPTO_CAP_WRAPPED_COMMISSIONING);
	caps->unwraps_aes_xts =
		fld_get(cap, CRYPTO_CAP_WRAPPED_IMPORT_METHOD) & PRM_WRAPPED_IMPORT_AES_XTS;
	caps->log_deks = (uint8_t)fld_get(cap, CRYPTO_CAP_LOG_MAX_NUM_DEKS);
	caps->failed_selftests = (uint16_t)fld_get(cap, CRYPTO_CAP_FAILED_SELFTESTS);
}

/* ---- the pages */

static bool page_is_announced(const struct mlx5_hca_caps *caps, enum prm_cap page)
{
	switch (page) {
	case PRM_CAP_GENERAL:
		return true;
	case PRM_CAP_ODP:
		return caps->has_odp;
	case PRM_CAP_QOS:
		return caps->has_qos;
	case PRM_CAP_GENERAL_2:
		return caps->has_general_2;
	case PRM_CAP_CRYPTO:
		return caps->encrypts;
	default:
		return false;
	}
}

static void page_take(const uint8_t *cap, enum prm_cap page, struct mlx5_hca_caps *caps)
{
	if (page == PRM_CAP_GENERAL)
		caps_take_general(cap, caps);
	else if (page == PRM_CAP_ODP)
		caps->dc_odp = caps_odp_bits(fld_at(cap, ODP_CAP_DC));
	else if (page == PRM_CAP_QOS)
		caps_take_qos(cap, caps);
	else if (page == PRM_CAP_GENERAL_2)
		caps->log_reserved_qpns =
			(uint8_t)fld_get(cap, HCA_CAP_2_LOG_RESERVED_QPN_GRANULARITY);
	else
		caps_take_crypto(cap, caps);
}

static bool page_is_known(const struct hca_caps_cache *cache, enum prm_cap page)
{
	return __atomic_load_n(&cache->known[page], __ATOMIC_ACQUIRE);
}

/* Queries PAGE if the general page announces it: firmware answers a query for an unknown page with
 * an error. A refused page stays unknown and does not affect the others. */
static int page_learn(struct mlx5_context *ctx, enum prm_cap page)
{
	struct hca_caps_cache *cache = &ctx->hca_caps;
	uint8_t out[PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE];
	int ret;

	if (page_is_known(cache, page))
		return 0;
	if (page_is_announced(&cache->caps, page)) {
		ret = caps_query(ctx, page, out, sizeof(out));
		if (ret)
			return ret;
		page_take(fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY), page, &cache->caps);
	}
	__atomic_store_n(&cache->known[page], true, __ATOMIC_RELEASE);
	return 0;
}

static int __attribute__((cold, noinline)) pages_learn(struct mlx5_context *ctx, enum prm_cap page)
{
	int ret;

	pthread_mutex_lock(&ctx->hca_caps.lock);
	ret = page_learn(ctx, PRM_CAP_GENERAL);
	if (!ret)
		ret = page_learn(ctx, page);
	pthread_mutex_unlock(&ctx->hca_caps.lock);
	return ret;
}

int mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
			   const struct mlx5_hca_caps **caps)
{
	*caps = &ctx->hca_caps.caps;
	return page_is_known(&ctx->hca_caps, page) ? 0 : pages_learn(ctx, page);
}

int mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps)
{
	return mlx5_hca_caps_get_with(ctx, PRM_CAP_GENERAL, caps);
}
