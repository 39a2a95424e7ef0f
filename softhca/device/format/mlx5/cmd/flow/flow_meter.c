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

/* The fields of a limit in the parameters */
struct limit_fields {
	uint32_t burst_exponent, burst_mantissa, exponent, mantissa;
};

static const struct limit_fields committed_fields = {
	PARAM(METER_PARAM_CBS_EXPONENT),
	PARAM(METER_PARAM_CBS_MANTISSA),
	PARAM(METER_PARAM_CIR_EXPONENT),
	PARAM(METER_PARAM_CIR_MANTISSA),
};
static const struct limit_fields excess_fields = {
	PARAM(METER_PARAM_EBS_EXPONENT),
	PARAM(METER_PARAM_EBS_MANTISSA),
	PARAM(METER_PARAM_EIR_EXPONENT),
	PARAM(METER_PARAM_EIR_MANTISSA),
};

static void burst_take(struct flow_meter_limit *limit, const struct limit_fields *fields,
		       const uint8_t *object)
{
	limit->burst_exponent = (unsigned int)fld_get(object, fields->burst_exponent);
	limit->burst = fld_get(object, fields->burst_mantissa) << limit->burst_exponent;
}

/* What frames have used of an old rate is forgotten, so that the new rate begins at once. */
static void rate_take(struct flow_meter_limit *limit, const struct limit_fields *fields,
		      const uint8_t *object)
{
	limit->mantissa = (uint32_t)fld_get(object, fields->mantissa);
	limit->exponent = (uint32_t)fld_get(object, fields->exponent);
	limit->busy = 0;
}

static void limit_put(const struct flow_meter_limit *limit, const struct limit_fields *fields,
		      uint8_t *object)
{
	fld_set(object, fields->burst_exponent, limit->burst_exponent);
	fld_set(object, fields->burst_mantissa, limit->burst >> limit->burst_exponent);
	fld_set(object, fields->exponent, limit->exponent);
	fld_set(object, fields->mantissa, limit->mantissa);
}

static void meter_take(struct flow_meter *meter, const uint8_t *object, uint64_t select)
{
	if (select & PRM_METER_MODIFY_ACTIVE)
		meter->active = fld_get(object, METER_ACTIVE);
	if (select & PRM_METER_MODIFY_CBS)
		burst_take(&meter->committed, &committed_fields, object);
	if (select & PRM_METER_MODIFY_CIR)
		rate_take(&meter->committed, &committed_fields, object);
	if (select & PRM_METER_MODIFY_EBS)
		burst_take(&meter->excess, &excess_fields, object);
	if (select & PRM_METER_MODIFY_EIR)
		rate_take(&meter->excess, &excess_fields, object);
}

static const uint64_t all_fields = PRM_METER_MODIFY_ACTIVE | PRM_METER_MODIFY_CBS |
				   PRM_METER_MODIFY_CIR | PRM_METER_MODIFY_EBS |
				   PRM_METER_MODIFY_EIR;

/* Bytes that the committed limit leaves unused do not overflow to the excess limit, which has to be
 * empty then. Returns whether it would be, once the fields that SELECT names are taken. */
static bool overflow_is_done(const struct flow_meter *meter, const uint8_t *object, uint64_t select)
{
	struct flow_meter wanted = *meter;

	meter_take(&wanted, object, select);
	return !wanted.overflow || (!wanted.excess.burst && !wanted.excess.mantissa);
}

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
	if (fld_get(object, PARAM(METER_PARAM_BOTH_BUCKETS_ON_GREEN)) ||
	    fld_get(object, PARAM(METER_PARAM_METER_MODE)))
		return "flow meter: both_buckets_on_green and meter_mode are not done";
	if (!overflow_is_done(meter, object, all_fields))
		return "flow meter: bucket_overflow is not done with an excess rate or burst";
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
		.overflow = fld_get(object, PARAM(METER_PARAM_BUCKET_OVERFLOW)),
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
	if (!overflow_is_done(meter, object, select))
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR,
				"flow meter: bucket_overflow is not done with an excess rate or "
				"burst");
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
	fld_set(object, PARAM(METER_PARAM_VALID), 1);
	fld_set(object, PARAM(METER_PARAM_BUCKET_OVERFLOW), meter->overflow);
	fld_set(object, PARAM(METER_PARAM_START_COLOR), meter->first);
	limit_put(&meter->committed, &committed_fields, object);
	limit_put(&meter->excess, &excess_fields, object);
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
