/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sampler.c - commands on samplers, which are general objects. PRM: SAMPLER
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/steering/ste_end.h"

static struct flow_table *find_table(struct hca *hca, uint64_t n, uint64_t type)
{
	struct flow_table *table = res_find(&hca->eth->flow_tables, (uint32_t)n);

	return table && table->type == type ? table : NULL;
}

static bool sampler_leads_up(const struct sampler *sampler)
{
	return sampler->any_level || (sampler->sample->level > sampler->level &&
				      sampler->otherwise->level > sampler->level);
}

static const char *sampler_check(const struct sampler *wanted)
{
	if (!wanted->sample || !wanted->otherwise)
		return "sampler: no such table of this type";
	if (!wanted->ratio)
		return "sampler: sample_ratio is 0";
	if (wanted->level >= FLOW_LEVELS)
		return "sampler: level above max_ft_level";
	return sampler_leads_up(wanted) ? NULL : "sampler: its tables are of a higher level";
}

enum prm_status sampler_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *object = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	const uint64_t type = fld_get(object, SAMPLER_TABLE_TYPE);
	const struct sampler wanted = {
		.type = (enum prm_flow_table_type)type,
		.level = (unsigned int)fld_get(object, SAMPLER_LEVEL),
		.any_level = fld_get(object, SAMPLER_IGNORE_FLOW_LEVEL),
		.ratio = (uint32_t)fld_get(object, SAMPLER_SAMPLE_RATIO),
		.sample = find_table(hca, fld_get(object, SAMPLER_SAMPLE_TABLE_ID), type),
		.otherwise = find_table(hca, fld_get(object, SAMPLER_DEFAULT_TABLE_ID), type),
	};
	const char *why = sampler_check(&wanted);
	struct sampler *sampler;
	int ret;

	if (!mlx5_has_steering(hca))
		return cmd_fail(cmd, PRM_STAT_BAD_OP_ERR, "sampler: there are none");
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	ret = sampler_add(hca, &wanted, &sampler);
	if (ret)
		return cmd_errno(cmd, ret, "sampler: no more of them");
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, sampler->n);
	return PRM_STAT_OK;
}

enum prm_status sampler_query(struct hca *hca, struct cmd *cmd)
{
	const struct sampler *sampler =
		res_find(&hca->eth->samplers, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));
	uint8_t *object = fld_at(cmd->out, GENERAL_OBJ_OBJECT);

	if (!sampler)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "sampler: no such object");
	fld_set(object, SAMPLER_TABLE_TYPE, sampler->type);
	fld_set(object, SAMPLER_LEVEL, sampler->level);
	fld_set(object, SAMPLER_IGNORE_FLOW_LEVEL, sampler->any_level);
	fld_set(object, SAMPLER_SAMPLE_RATIO, sampler->ratio);
	fld_set(object, SAMPLER_SAMPLE_TABLE_ID, sampler->sample->n);
	fld_set(object, SAMPLER_DEFAULT_TABLE_ID, sampler->otherwise->n);
	fld_set(object,
		sampler->type == PRM_FLOW_NIC_TX ? SAMPLER_ICM_ADDRESS_TX : SAMPLER_ICM_ADDRESS_RX,
		ste_end_address(STE_END_SAMPLER, sampler->n));
	return PRM_STAT_OK;
}

enum prm_status sampler_destroy(struct hca *hca, struct cmd *cmd)
{
	struct sampler *sampler =
		res_find(&hca->eth->samplers, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));

	if (!sampler)
		return cmd_fail(cmd, PRM_STAT_BAD_RES_ERR, "sampler: no such object");
	sampler_remove(hca, sampler);
	return PRM_STAT_OK;
}
