/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_meter.c - commands on flow meters, which are general objects. PRM: FLOW_METER
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "softhca/device/steering/ste_end.h"
#include "util/bits.h"

static_assert((int)FLOW_METER_GREEN == PRM_METER_GREEN &&
		      (int)FLOW_METER_YELLOW == PRM_METER_YELLOW &&
		      (int)FLOW_METER_RED == PRM_METER_RED,
	      "tables match the color as the PRM numbers it");

#define PARAM(field) FLD_IN(METER_PARAMETERS, field)

static uint64_t burst_of(uint64_t mantissa, uint64_t exponent)
{
	return mantissa << exponent;
}

/* Takes the fields that SELECT names. What frames have used of an old rate is forgotten. */
static void meter_take(struct flow_meter *meter, const uint8_t *object, uint64_t select)
{
	if (select & PRM_METER_MODIFY_ACTIVE)
		meter->active = fld_get(object, METER_ACTIVE);
	if (select & PRM_METER_MODIFY_CBS)
		meter->committed.burst = burst_of(fld_get(object, PARAM(METER_PARAM_CBS_MANTISSA)),
						  fld_get(object, PARAM(METER_PARAM_CBS_EXPONENT)));
	if (select & PRM_METER_MODIFY_CIR) {
		meter->committed.mantissa = fld_get(object, PARAM(METER_PARAM_CIR_MANTISSA));
		meter->committed.exponent = fld_get(object, PARAM(METER_PARAM_CIR_EXPONENT));
		meter->committed.busy = 0;
	}
	if (select & PRM_METER_MODIFY_EBS)
		meter->excess.burst = burst_of(fld_get(object, PARAM(METER_PARAM_EBS_MANTISSA)),
					       fld_get(object, PARAM(METER_PARAM_EBS_EXPONENT)));
	if (select & PRM_METER_MODIFY_EIR) {
		meter->excess.mantissa = fld_get(object, PARAM(METER_PARAM_EIR_MANTISSA));
		meter->excess.exponent = fld_get(object, PARAM(METER_PARAM_EIR_EXPONENT));
		meter->excess.busy = 0;
	}
}

static const uint64_t all_fields = PRM_METER_MODIFY_ACTIVE | PRM_METER_MODIFY_CBS |
				   PRM_METER_MODIFY_CIR | PRM_METER_MODIFY_EBS |
				   PRM_METER_MODIFY_EIR;

static const char *meter_check(const struct flow_meter *meter, const uint8_t *object)
{
	if (!meter->next || meter->next->type != fld_get(object, METER_TABLE_TYPE))
		return "flow meter: no such table of this type";
	if (meter->reg >= FLOW_METER_REGISTERS)
		return "flow meter: a register that flow_meter_reg_id does not name";
	if (!fld_get(object, PARAM(METER_PARAM_VALID)))
		return "flow meter: the parameters are not valid";
	if (fld_get(object, PARAM(METER_PARAM_START_COLOR)) > PRM_METER_GREEN)
		return "flow meter: unknown start_color";
	return NULL;
}

enum prm_status flow_meter_create(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *object = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	struct flow_meter wanted = {
		.type = (enum prm_flow_table_type)fld_get(object, METER_TABLE_TYPE),
		.next = res_find(&hca->eth->flow_tables,
				 fld_get(object, METER_DESTINATION_TABLE_ID)),
		.reg = fld_get(object, METER_RETURN_REG_ID),
		.first = (enum flow_meter_color)fld_get(object, PARAM(METER_PARAM_START_COLOR)),
	}, *meter;
	const char *why = meter_check(&wanted, object);
	int ret;

	if (!mlx5_has_steering(hca))
		return cmd_fail(cmd, PRM_STAT_BAD_OP_ERR, "flow meter: there are none");
	if (why)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, why);
	meter_take(&wanted, object, all_fields);
	ret = flow_meter_add(hca, &wanted, &meter);
	if (ret)
		return cmd_errno(cmd, ret, "flow meter: no more of them");
	fld_set(cmd->out, GENERAL_OBJ_OUT_OBJ_ID, meter->n);
	return PRM_STAT_OK;
}

static struct flow_meter *find_meter(struct hca *hca, struct cmd *cmd)
{
	cmd->why = "flow meter: no such object";
	return res_find(&hca->eth->flow_meters, fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_ID));
}

enum prm_status flow_meter_modify(struct hca *hca, struct cmd *cmd)
{
	const uint8_t *object = fld_at(cmd->in, GENERAL_OBJ_OBJECT);
	const uint64_t select = fld_get(object, METER_MODIFY_FIELD_SELECT);
	struct flow_meter *meter = find_meter(hca, cmd);

	if (!meter)
		return PRM_STAT_BAD_RES_ERR;
	if (select & ~all_fields)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"flow meter: unknown modify_field_select");
	meter_take(meter, object, select);
	return PRM_STAT_OK;
}

enum prm_status flow_meter_query(struct hca *hca, struct cmd *cmd)
{
	const struct flow_meter *meter = find_meter(hca, cmd);
	uint8_t *object = fld_at(cmd->out, GENERAL_OBJ_OBJECT);

	if (!meter)
		return PRM_STAT_BAD_RES_ERR;
	fld_set(object, METER_ACTIVE, meter->active);
	fld_set(object, METER_RETURN_REG_ID, meter->reg);
	fld_set(object, METER_TABLE_TYPE, meter->type);
	fld_set(object, METER_DESTINATION_TABLE_ID, meter->next->n);
	fld_set(object,
		meter->type == PRM_FLOW_NIC_TX ? METER_ICM_ADDRESS_TX : METER_ICM_ADDRESS_RX,
		ste_end_address(STE_END_METER, meter->n));
	return PRM_STAT_OK;
}

enum prm_status flow_meter_destroy(struct hca *hca, struct cmd *cmd)
{
	struct flow_meter *meter = find_meter(hca, cmd);

	if (!meter)
		return PRM_STAT_BAD_RES_ERR;
	flow_meter_remove(hca, meter);
	return PRM_STAT_OK;
}
