/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tir.c - commands on TIRs, and their context. PRM: TIRC
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/tir.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/steering/ste_end.h"
#include "util/bits.h"

CONTEXT_HOLDS(struct tir, PRM_TIRC_SIZE);

const uint16_t mlx5_lro_periods[4] = { 8, 16, 32, 1024 };

static const char *check_hash(const uint8_t *tirc)
{
	const unsigned int known = PRM_HASH_SRC_IP | PRM_HASH_DST_IP | PRM_HASH_L4_SPORT |
				   PRM_HASH_L4_DPORT | PRM_HASH_IPSEC_SPI;
	uint32_t fields =
		fld_get(tirc, FLD_IN(TIRC_RX_HASH_FIELD_SELECTOR_OUTER, RX_HASH_SELECTED_FIELDS));
	uint64_t fn = fld_get(tirc, TIRC_RX_HASH_FN);

	if (fn > PRM_RX_HASH_TOEPLITZ)
		return "tir: unknown hash function";
	if (fields & ~known)
		return "tir: unknown hash fields";
	if (fld_get(tirc, FLD_IN(TIRC_RX_HASH_FIELD_SELECTOR_INNER, RX_HASH_SELECTED_FIELDS)))
		return "tir: inner headers are not hashed";
	return NULL;
}

static bool period_is_known(uint64_t period)
{
	for (size_t i = 0; i < ARRAY_SIZE(mlx5_lro_periods); i++)
		if (period == mlx5_lro_periods[i])
			return true;
	return false;
}

static const char *check_lro(const uint8_t *tirc)
{
	uint64_t mask = fld_get(tirc, TIRC_PACKET_MERGE_MASK);

	if (!mask)
		return NULL;
	if (mask & ~(uint64_t)(PRM_LRO_IPV4 | PRM_LRO_IPV6))
		return "tir: only LRO of IPv4 and IPv6 is supported";
	if (!fld_get(tirc, TIRC_LRO_MAX_IP_PAYLOAD_SIZE))
		return "tir: LRO of nothing";
	if (!period_is_known(fld_get(tirc, TIRC_LRO_TIMEOUT_PERIOD_USECS)))
		return "tir: LRO has no such period";
	return NULL;
}

static const char *tir_check(const struct hca *hca, const uint8_t *tirc)
{
	const char *why = check_lro(tirc);

	if (why)
		return why;

	if (fld_get(tirc, TIRC_DISP_TYPE) > PRM_TIR_INDIRECT)
		return "tir: neither direct nor indirect";
	/* No offload of tunnels is announced. DPDK sets the bit nevertheless for rules that match
	 * tunnels, and asks for nothing then, so the bit is accepted. Linux' own driver does not
	 * set it, so a program in a virtual machine must not rely on it. */
	if (fld_get(tirc, TIRC_TUNNELED_OFFLOAD_EN) && hca->config.kernel_driver)
		return "tir: offloads of tunnels are not announced";
	if (fld_get(tirc, TIRC_TLS_EN))
		return "tir: TLS is not supported";
	return fld_get(tirc, TIRC_DISP_TYPE) == PRM_TIR_INDIRECT ? check_hash(tirc) : NULL;
}

/* Finds the objects that a TIR names. Drivers also create TIRs with transport domain 0; these treat
 * no sender as their own. */
static bool find_objects(struct hca *hca, const uint8_t *tirc, struct tir *tir)
{
	uint32_t domain = fld_get(tirc, TIRC_TRANSPORT_DOMAIN);

	tir->td = res_find(&hca->tds, domain);
	if (fld_get(tirc, TIRC_DISP_TYPE) == PRM_TIR_DIRECT)
		tir->rq = res_find(&hca->eth->rqs, fld_get(tirc, TIRC_INLINE_RQN));
	else
		tir->rqt = res_find(&hca->eth->rqts, fld_get(tirc, TIRC_INDIRECT_TABLE));
	return (tir->td || !domain) && (tir->rq || tir->rqt);
}

static enum rss_function decode_function(uint64_t fn)
{
	switch (fn) {
	case PRM_RX_HASH_NONE:
		return RSS_NONE;
	case PRM_RX_HASH_TOEPLITZ:
		return RSS_TOEPLITZ;
	default:
		return RSS_XOR8;
	}
}

static unsigned int decode_fields(uint64_t selected)
{
	static const struct {
		unsigned int prm, rss;
	} fields[] = {
		{ PRM_HASH_SRC_IP, RSS_SOURCE },        { PRM_HASH_DST_IP, RSS_DESTINATION },
		{ PRM_HASH_L4_SPORT, RSS_SOURCE_PORT }, { PRM_HASH_L4_DPORT, RSS_DESTINATION_PORT },
		{ PRM_HASH_IPSEC_SPI, RSS_SPI },
	};
	unsigned int all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (selected & fields[i].prm)
			all |= fields[i].rss;
	return all;
}

/* Decodes a TIR. Despite the name, the bits of self_lb_block allow own frames, like self_lb_en of
 * the command that modifies a TIR, as Linux sets them where a program, or its loopback test, wants
 * its own frames. */
static void tir_decode(struct tir *tir)
{
	const uint8_t *selector = fld_at(tir->context, TIRC_RX_HASH_FIELD_SELECTOR_OUTER);
	uint64_t own = fld_get(tir->context, TIRC_SELF_LB_BLOCK);
	uint64_t merged = fld_get(tir->context, TIRC_PACKET_MERGE_MASK);

	tir->own_unicast = own & PRM_BLOCK_UNICAST;
	tir->own_multicast = own & PRM_BLOCK_MULTICAST;
	tir->lro = (struct lro_rule){
		.of_ipv4 = merged & PRM_LRO_IPV4,
		.of_ipv6 = merged & PRM_LRO_IPV6,
		.payload_max = fld_get(tir->context, TIRC_LRO_MAX_IP_PAYLOAD_SIZE) *
			       (uint32_t)LRO_PAYLOAD_UNIT,
	};
	tir->rss = (struct rss){
		.function = decode_function(fld_get(tir->context, TIRC_RX_HASH_FN)),
		.symmetric = fld_get(tir->context, TIRC_RX_HASH_SYMMETRIC),
		.types = (fld_get(selector, RX_HASH_L3_PROT_TYPE) == PRM_L3_IPV4 ? RSS_OF_IPV4
										 : RSS_OF_IPV6) |
			 (fld_get(selector, RX_HASH_L4_PROT_TYPE) == PRM_L4_TCP ? RSS_OF_TCP
										: RSS_OF_UDP),
		.fields = decode_fields(fld_get(selector, RX_HASH_SELECTED_FIELDS)),
	};
	memcpy(tir->rss.key, fld_at(tir->context, TIRC_RX_HASH_TOEPLITZ_KEY), RSS_KEY_SIZE);
}

static void put_address(const struct cmd *cmd, const struct tir *tir)
{
	const uint64_t addr = ste_end_address(STE_END_TIR, tir->n);

	fld_set(cmd->out, CREATE_TIR_OUT_ICM_ADDRESS_39_32, addr >> 32);
	fld_set(cmd->out, CREATE_TIR_OUT_ICM_ADDRESS_31_0, (uint32_t)addr);
}

enum prm_status tir_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *tirc = fld_at(cmd->in, CREATE_TIR_IN_CTX);
	const char *why = tir_check(hca, tirc);
	struct tir *tir;
	int ret;

	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	tir = calloc(1, sizeof(*tir));
	if (!tir)
		return cmd_errno(cmd, ENOMEM, "tir");
	memcpy(tir->context, tirc, PRM_TIRC_SIZE);
	tir_decode(tir);
	if (hca->config.kind == HCA_MLX4)
		tir->rss.types |= fld_get(cmd->in, CREATE_TIR_IN_MORE_TYPES);
	if (!find_objects(hca, tirc, tir)) {
		free(tir);
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR,
				"tir: no such transport domain, RQ or RQT");
	}
	ret = tir_add(hca, tir);
	if (ret) {
		free(tir);
		return cmd_errno(cmd, ret, "tir: table is full");
	}
	fld_set(cmd->out, CREATE_TIR_OUT_TIRN, tir->n);
	if (mlx5_has_steering(hca))
		put_address(cmd, tir);
	return PRM_STAT_OK;
}

static struct tir *tir_find(struct hca *hca, struct cmd *cmd, uint32_t field)
{
	cmd->why = "tir: no such TIR";
	return res_find(&hca->eth->tirs, fld_get(cmd->in, field));
}

static void set_lro(struct tir *tir, const uint8_t *tirc)
{
	static const uint32_t fields[] = { TIRC_PACKET_MERGE_MASK, TIRC_LRO_TIMEOUT_PERIOD_USECS,
					   TIRC_LRO_MAX_IP_PAYLOAD_SIZE };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		fld_set(tir->context, fields[i], fld_get(tirc, fields[i]));
}

static void set_hash(struct tir *tir, const uint8_t *tirc)
{
	fld_set(tir->context, TIRC_RX_HASH_FN, fld_get(tirc, TIRC_RX_HASH_FN));
	fld_set(tir->context, TIRC_RX_HASH_SYMMETRIC, fld_get(tirc, TIRC_RX_HASH_SYMMETRIC));
	memcpy(fld_at(tir->context, TIRC_RX_HASH_TOEPLITZ_KEY),
	       fld_at(tirc, TIRC_RX_HASH_TOEPLITZ_KEY), PRM_RX_HASH_KEY_SIZE);
	memcpy(fld_at(tir->context, TIRC_RX_HASH_FIELD_SELECTOR_OUTER),
	       fld_at(tirc, TIRC_RX_HASH_FIELD_SELECTOR_OUTER), 4);
}

enum prm_status tir_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *tirc = fld_at(cmd->in, MODIFY_TIR_IN_CTX);
	const uint8_t *mask = fld_at(cmd->in, MODIFY_TIR_IN_BITMASK);
	struct tir *tir = tir_find(hca, cmd, MODIFY_TIR_IN_TIRN);
	uint64_t known = fld_get(mask, MODIFY_TIR_BITMASK_SELF_LB_EN) << 4 |
			 fld_get(mask, MODIFY_TIR_BITMASK_HASH) << 2 |
			 fld_get(mask, MODIFY_TIR_BITMASK_PACKET_MERGE);
	const char *why = NULL;

	if (!tir)
		return PRM_STAT_BAD_RES_ERR;
	if (fld_get64(mask, 0) != known)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"tir: only hash, loopback and LRO can change");
	if (fld_get(mask, MODIFY_TIR_BITMASK_PACKET_MERGE))
		why = check_lro(tirc);
	if (!why && fld_get(mask, MODIFY_TIR_BITMASK_HASH))
		why = tir->rqt ? check_hash(tirc) : "tir: a direct TIR has no hash";
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	if (fld_get(mask, MODIFY_TIR_BITMASK_HASH))
		set_hash(tir, tirc);
	if (fld_get(mask, MODIFY_TIR_BITMASK_PACKET_MERGE))
		set_lro(tir, tirc);
	if (fld_get(mask, MODIFY_TIR_BITMASK_SELF_LB_EN))
		fld_set(tir->context, TIRC_SELF_LB_BLOCK, fld_get(tirc, TIRC_SELF_LB_BLOCK));
	tir_decode(tir);
	return PRM_STAT_OK;
}

enum prm_status tir_query(struct hca *hca, struct cmd *cmd)
{
	struct tir *tir = tir_find(hca, cmd, QUERY_TIR_IN_TIRN);

	if (!tir)
		return PRM_STAT_BAD_RES_ERR;
	memcpy(fld_at(cmd->out, QUERY_TIR_OUT_TIR_CONTEXT), tir->context, PRM_TIRC_SIZE);
	return PRM_STAT_OK;
}

enum prm_status tir_destroy(struct hca *hca, struct cmd *cmd)
{
	struct tir *tir = tir_find(hca, cmd, DESTROY_TIR_IN_TIRN);

	if (!tir)
		return PRM_STAT_BAD_RES_ERR;
	if (tir->users)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_STATE_ERR,
				"tir: in use by a flow table entry");
	tir_remove(hca, tir);
	return PRM_STAT_OK;
}
