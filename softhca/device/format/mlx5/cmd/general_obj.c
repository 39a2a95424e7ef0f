/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * general_obj.c - commands on general objects: calls the functions of the object's type.
 */
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/crypto.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/format/mlx5/cmd/cmd.h"
#include "util/bits.h"

typedef enum prm_status object_fn(struct hca *hca, struct cmd *cmd);

/* NULL: the type lacks the operation. SIZE is the object's, behind the header: in the command for
 * create and modify, in the answer for query. */
static const struct kind {
	enum prm_obj_type type;
	uint32_t size;
	object_fn *create, *modify, *query, *destroy;
} kinds[] = {
	{ PRM_OBJ_TYPE_SCHEDULING_ELEMENT, PRM_SCHED_ELEM_SIZE, sched_create, sched_modify,
	  sched_query, sched_destroy },
	{ PRM_OBJ_TYPE_RESERVED_QPN, PRM_RESERVED_QPN_SIZE, reserved_qpn_create, NULL, NULL,
	  reserved_qpn_destroy },
	{ PRM_OBJ_TYPE_SW_ICM, PRM_SW_ICM_SIZE, sw_icm_create, NULL, NULL, sw_icm_destroy },
	{ PRM_OBJ_TYPE_SAMPLER, PRM_SAMPLER_SIZE, sampler_create, NULL, sampler_query,
	  sampler_destroy },
	{ PRM_OBJ_TYPE_FLOW_METER, PRM_METER_SIZE, flow_meter_create, flow_meter_modify,
	  flow_meter_query, flow_meter_destroy },
	{ PRM_OBJ_TYPE_ASO_FIRST_HIT, PRM_ASO_SIZE, aso_create, NULL, aso_query, aso_destroy },
	{ PRM_OBJ_TYPE_ASO_FLOW_METER, PRM_ASO_SIZE, aso_create, NULL, aso_query, aso_destroy },
	{ PRM_OBJ_TYPE_ASO_CONNECTIONS, PRM_ASO_SIZE, aso_create, NULL, aso_query, aso_destroy },
	{ PRM_OBJ_TYPE_AV_QP_MAPPING, PRM_AV_QP_MAPPING_SIZE, av_mapping_create, NULL,
	  av_mapping_query, av_mapping_destroy },
	{ PRM_OBJ_TYPE_CRYPTO_LOGIN, PRM_CRYPTO_LOGIN_SIZE, login_create, NULL, login_query,
	  login_destroy },
	{ PRM_OBJ_TYPE_DEK, PRM_DEK_SIZE, dek_create, NULL, dek_query, dek_destroy },
};

static object_fn *kind_function(const struct kind *kind, uint32_t opcode)
{
	switch (opcode) {
	case PRM_OP_CREATE_GENERAL_OBJECT:
		return kind->create;
	case PRM_OP_MODIFY_GENERAL_OBJECT:
		return kind->modify;
	case PRM_OP_QUERY_GENERAL_OBJECT:
		return kind->query;
	default:
		return kind->destroy;
	}
}

static const struct kind *find_kind(uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

enum prm_status general_obj(struct hca *hca, struct cmd *cmd)
{
	uint32_t opcode = fld_get(cmd->in, CMD_IN_OPCODE);
	const struct kind *kind = find_kind(fld_get(cmd->in, GENERAL_OBJ_IN_OBJ_TYPE));
	object_fn *run = kind ? kind_function(kind, opcode) : NULL;
	bool is_written =
		opcode == PRM_OP_CREATE_GENERAL_OBJECT || opcode == PRM_OP_MODIFY_GENERAL_OBJECT;

	if (!run)
		return cmd_fail(cmd, PRM_STAT_BAD_PARAM_ERR, "general object: no such type");
	if (is_written && cmd->in_len < PRM_GENERAL_OBJ_HDR_SIZE + kind->size)
		return cmd_fail(cmd, PRM_STAT_BAD_INP_LEN_ERR,
				"general object: input mailbox too short");
	if (opcode == PRM_OP_QUERY_GENERAL_OBJECT &&
	    cmd->out_len < PRM_GENERAL_OBJ_HDR_SIZE + kind->size)
		return cmd_fail(cmd, PRM_STAT_BAD_OUTP_LEN_ERR,
				"general object: output mailbox too short");
	return run(hca, cmd);
}
