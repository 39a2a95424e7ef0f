/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * names.c - finds the object that a program's command concerns, by tables of the commands that
 * Linux allows.
 *
 * Nearly all commands have their object's number at the same place. An object is named by the
 * command that creates its kind, as objects of different kinds may have the same number.
 */
#include <string.h>

#include "prm/mlx5/bsf.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/mcg.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/modify_header.h"
#include "prm/mlx5/packet_reformat.h"
#include "prm/mlx5/q_counter.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/wq.h"
#include "softhca/front/process/uverbs/devx/devx.h"
#include "util/bits.h"

#define NUMBER FLD(0x8, 23, 0) /* as DESTROY_QP_IN_QPN and CREATE_QP_OUT_QPN */

/* Kinds of objects. MADE: the number in the answer of the creating command. GONE: the number in the
 * destroying command, which begins with ADDRESS bytes of the creating one. */
static const struct kind {
	uint16_t create, destroy;
	uint32_t made, gone;
	uint16_t address, destroy_len;
} kinds[] = {
	{ PRM_OP_CREATE_MKEY, PRM_OP_DESTROY_MKEY, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_CQ, PRM_OP_DESTROY_CQ, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_QP, PRM_OP_DESTROY_QP, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_DCT, PRM_OP_DESTROY_DCT, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_XRC_SRQ, PRM_OP_DESTROY_XRC_SRQ, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_XRQ, PRM_OP_DESTROY_XRQ, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_RMP, PRM_OP_DESTROY_RMP, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_SQ, PRM_OP_DESTROY_SQ, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_RQ, PRM_OP_DESTROY_RQ, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_RQT, PRM_OP_DESTROY_RQT, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_TIR, PRM_OP_DESTROY_TIR, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_CREATE_TIS, PRM_OP_DESTROY_TIS, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_ALLOC_PD, PRM_OP_DEALLOC_PD, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_ALLOC_XRCD, PRM_OP_DEALLOC_XRCD, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_ALLOC_TRANSPORT_DOMAIN, PRM_OP_DEALLOC_TRANSPORT_DOMAIN, NUMBER, NUMBER, 8, 16 },
	{ PRM_OP_ALLOC_Q_COUNTER, PRM_OP_DEALLOC_Q_COUNTER, ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID,
	  DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID, 8, 16 },
	{ PRM_OP_ALLOC_FLOW_COUNTER, PRM_OP_DEALLOC_FLOW_COUNTER,
	  ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID, DEALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_ID, 8, 16 },
	{ PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT,
	  ALLOC_MODIFY_HEADER_OUT_ID, DEALLOC_MODIFY_HEADER_IN_ID, 8, 16 },
	{ PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT,
	  ALLOC_REFORMAT_OUT_ID, DEALLOC_REFORMAT_IN_ID, 8, 16 },
	{ PRM_OP_CREATE_FLOW_TABLE, PRM_OP_DESTROY_FLOW_TABLE, CREATE_FLOW_TABLE_OUT_TABLE_ID,
	  DESTROY_FLOW_TABLE_IN_TABLE_ID, 0x14, 64 },
	{ PRM_OP_CREATE_FLOW_GROUP, PRM_OP_DESTROY_FLOW_GROUP, CREATE_FLOW_GROUP_OUT_GROUP_ID,
	  DESTROY_FLOW_GROUP_IN_GROUP_ID, 0x18, 64 },
	{ PRM_OP_CREATE_SCHEDULING_ELEMENT, PRM_OP_DESTROY_SCHEDULING_ELEMENT,
	  CREATE_SCHEDULING_OUT_ELEMENT_ID, SCHEDULING_IN_ELEMENT_ID, 0xc, 64 },
	{ PRM_OP_CREATE_PSV, PRM_OP_DESTROY_PSV, CREATE_PSV_OUT_PSV(0), DESTROY_PSV_IN_PSV, 8, 16 },
	{ PRM_OP_CREATE_GENERAL_OBJECT, PRM_OP_DESTROY_GENERAL_OBJECT, GENERAL_OBJ_OUT_OBJ_ID,
	  GENERAL_OBJ_IN_OBJ_ID, 8, 16 },
	/* Objects without own number; their name has the number of what the command names. */
	{ PRM_OP_SET_FLOW_TABLE_ENTRY, PRM_OP_DELETE_FLOW_TABLE_ENTRY, 0, DELETE_FTE_IN_FLOW_INDEX,
	  0x18, 64 },
	{ PRM_OP_ATTACH_TO_MCG, PRM_OP_DETACH_FROM_MCG, 0, MCG_IN_QPN, PRM_MCG_IN_SIZE,
	  PRM_MCG_IN_SIZE },
};

/* Commands that Linux also allows; this device always refuses them. */
static const uint16_t never_made[] = {
	PRM_OP_CREATE_SRQ,
	PRM_OP_ADD_VXLAN_UDP_DPORT,
	PRM_OP_SET_L2_TABLE_ENTRY,
};

/* Commands on an existing object: its kind, and the place of its number. Commands that the adapter
 * does not know are included, as Linux leaves those to the adapter. */
struct use {
	uint16_t opcode, create;
	uint32_t number;
};

static const struct use queries[] = {
	{ PRM_OP_QUERY_MKEY, PRM_OP_CREATE_MKEY, NUMBER },
	{ PRM_OP_QUERY_CQ, PRM_OP_CREATE_CQ, NUMBER },
	{ PRM_OP_QUERY_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_QUERY_DCT, PRM_OP_CREATE_DCT, NUMBER },
	{ PRM_OP_QUERY_XRC_SRQ, PRM_OP_CREATE_XRC_SRQ, NUMBER },
	{ PRM_OP_QUERY_XRQ, PRM_OP_CREATE_XRQ, NUMBER },
	{ PRM_OP_QUERY_XRQ_DC_PARAMS_ENTRY, PRM_OP_CREATE_XRQ, NUMBER },
	{ PRM_OP_QUERY_XRQ_ERROR_PARAMS, PRM_OP_CREATE_XRQ, NUMBER },
	{ PRM_OP_QUERY_RMP, PRM_OP_CREATE_RMP, NUMBER },
	{ PRM_OP_QUERY_SQ, PRM_OP_CREATE_SQ, NUMBER },
	{ PRM_OP_QUERY_RQ, PRM_OP_CREATE_RQ, NUMBER },
	{ PRM_OP_QUERY_RQT, PRM_OP_CREATE_RQT, NUMBER },
	{ PRM_OP_QUERY_TIR, PRM_OP_CREATE_TIR, NUMBER },
	{ PRM_OP_QUERY_TIS, PRM_OP_CREATE_TIS, NUMBER },
	{ PRM_OP_QUERY_Q_COUNTER, PRM_OP_ALLOC_Q_COUNTER, QUERY_Q_COUNTER_IN_COUNTER_SET_ID },
	{ PRM_OP_QUERY_FLOW_COUNTER, PRM_OP_ALLOC_FLOW_COUNTER,
	  QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID },
	{ PRM_OP_QUERY_FLOW_TABLE, PRM_OP_CREATE_FLOW_TABLE, QUERY_FLOW_TABLE_IN_TABLE_ID },
	{ PRM_OP_QUERY_FLOW_GROUP, PRM_OP_CREATE_FLOW_GROUP, DESTROY_FLOW_GROUP_IN_GROUP_ID },
	{ PRM_OP_QUERY_FLOW_TABLE_ENTRY, PRM_OP_SET_FLOW_TABLE_ENTRY, QUERY_FTE_IN_FLOW_INDEX },
	{ PRM_OP_QUERY_SCHEDULING_ELEMENT, PRM_OP_CREATE_SCHEDULING_ELEMENT,
	  SCHEDULING_IN_ELEMENT_ID },
	{ PRM_OP_QUERY_GENERAL_OBJECT, PRM_OP_CREATE_GENERAL_OBJECT, GENERAL_OBJ_IN_OBJ_ID },
};

static const struct use changes[] = {
	{ PRM_OP_MODIFY_CQ, PRM_OP_CREATE_CQ, NUMBER },
	{ PRM_OP_RST2INIT_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_INIT2INIT_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_INIT2RTR_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_RTR2RTS_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_RTS2RTS_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_SQERR2RTS_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_2ERR_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_2RST_QP, PRM_OP_CREATE_QP, NUMBER },
	{ PRM_OP_ARM_XRC_SRQ, PRM_OP_CREATE_XRC_SRQ, NUMBER },
	{ PRM_OP_ARM_RQ, PRM_OP_CREATE_RQ, NUMBER },
	{ PRM_OP_ARM_DCT_FOR_KEY_VIOLATION, PRM_OP_CREATE_DCT, NUMBER },
	{ PRM_OP_ARM_XRQ, PRM_OP_CREATE_XRQ, NUMBER },
	{ PRM_OP_SET_XRQ_DC_PARAMS_ENTRY, PRM_OP_CREATE_XRQ, NUMBER },
	{ PRM_OP_RELEASE_XRQ_ERROR, PRM_OP_CREATE_XRQ, NUMBER },
	{ PRM_OP_MODIFY_XRQ, PRM_OP_CREATE_XRQ, NUMBER },
	{ PRM_OP_MODIFY_RMP, PRM_OP_CREATE_RMP, NUMBER },
	{ PRM_OP_MODIFY_SQ, PRM_OP_CREATE_SQ, NUMBER },
	{ PRM_OP_MODIFY_RQ, PRM_OP_CREATE_RQ, NUMBER },
	{ PRM_OP_MODIFY_RQT, PRM_OP_CREATE_RQT, NUMBER },
	{ PRM_OP_MODIFY_TIR, PRM_OP_CREATE_TIR, NUMBER },
	{ PRM_OP_MODIFY_TIS, PRM_OP_CREATE_TIS, NUMBER },
	{ PRM_OP_MODIFY_FLOW_TABLE, PRM_OP_CREATE_FLOW_TABLE, MODIFY_FLOW_TABLE_IN_TABLE_ID },
	{ PRM_OP_SET_FLOW_TABLE_ENTRY, PRM_OP_SET_FLOW_TABLE_ENTRY, SET_FTE_IN_FLOW_INDEX },
	{ PRM_OP_MODIFY_SCHEDULING_ELEMENT, PRM_OP_CREATE_SCHEDULING_ELEMENT,
	  SCHEDULING_IN_ELEMENT_ID },
	{ PRM_OP_MODIFY_GENERAL_OBJECT, PRM_OP_CREATE_GENERAL_OBJECT, GENERAL_OBJ_IN_OBJ_ID },
};

uint64_t devx_name(uint16_t create, uint16_t general_type, uint32_t number)
{
	return (uint64_t)general_type << 48 | (uint64_t)create << 32 | number;
}

static uint16_t general_type(const uint8_t *in, uint16_t create)
{
	return create == PRM_OP_CREATE_GENERAL_OBJECT ? fld_get(in, GENERAL_OBJ_IN_OBJ_TYPE) : 0;
}

static uint64_t name_in(const uint8_t *in, const struct use *uses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (uses[i].opcode == fld_get(in, CMD_IN_OPCODE))
			return devx_name(uses[i].create, general_type(in, uses[i].create),
					 fld_get(in, uses[i].number));
	return 0;
}

uint64_t devx_name_in_query(const uint8_t *in)
{
	return name_in(in, queries, ARRAY_SIZE(queries));
}

/* Returns the name in a modifying command. SET_FLOW_TABLE_ENTRY with op_mod 0 creates instead. */
uint64_t devx_name_in_change(const uint8_t *in)
{
	if (fld_get(in, CMD_IN_OPCODE) == PRM_OP_SET_FLOW_TABLE_ENTRY &&
	    fld_get(in, CMD_IN_OP_MOD) != 1)
		return 0;
	return name_in(in, changes, ARRAY_SIZE(changes));
}

static const struct kind *find_kind(const uint8_t *in)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].create == fld_get(in, CMD_IN_OPCODE))
			return &kinds[i];
	return NULL;
}

bool devx_makes_object(const uint8_t *in)
{
	uint32_t opcode = fld_get(in, CMD_IN_OPCODE);

	if (opcode == PRM_OP_SET_FLOW_TABLE_ENTRY)
		return !fld_get(in, CMD_IN_OP_MOD);
	if (opcode == PRM_OP_CREATE_PSV)
		return fld_get(in, CREATE_PSV_IN_NUM_PSV) == 1;
	for (size_t i = 0; i < ARRAY_SIZE(never_made); i++)
		if (never_made[i] == opcode)
			return true;
	return find_kind(in);
}

enum object_kind devx_kind(const uint8_t *in)
{
	switch (fld_get(in, CMD_IN_OPCODE)) {
	case PRM_OP_CREATE_QP:
		return OBJECT_QP;
	case PRM_OP_CREATE_DCT:
		return OBJECT_DCT;
	case PRM_OP_CREATE_RQ:
		return OBJECT_RQ;
	case PRM_OP_CREATE_SQ:
		return OBJECT_SQ;
	case PRM_OP_CREATE_CQ:
		return OBJECT_CQ;
	case PRM_OP_CREATE_RMP:
	case PRM_OP_CREATE_XRQ:
	case PRM_OP_CREATE_XRC_SRQ:
		return OBJECT_SRQ;
	case PRM_OP_CREATE_MKEY:
		return OBJECT_KEY;
	case PRM_OP_ALLOC_PD:
		return OBJECT_PD;
	default:
		return OBJECT_OTHER;
	}
}

static uint32_t bulk_of(const uint8_t *in)
{
	uint32_t log_size = fld_get(in, ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK_LOG_SIZE);
	uint32_t bulk = fld_get(in, ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK);

	if (fld_get(in, CMD_IN_OPCODE) != PRM_OP_ALLOC_FLOW_COUNTER)
		return 1;
	if (log_size)
		return 1u << log_size;
	return bulk ? bulk * 128 : 1;
}

void devx_describe_made(const uint8_t *in, const uint8_t *out, struct devx_made *made)
{
	const struct kind *kind = find_kind(in);
	uint32_t number = kind->made ? fld_get(out, kind->made) : fld_get(in, kind->gone);

	memcpy(made->destroy, in, kind->address);
	fld_set(made->destroy, CMD_IN_OPCODE, kind->destroy);
	fld_set(made->destroy, kind->gone, number);
	made->destroy_len = kind->destroy_len;
	made->name = devx_name(kind->create, general_type(in, kind->create), number);
	made->count = bulk_of(in);
}

/* The flag of a command which says that a ring or record is in user memory. */
static const struct {
	uint16_t opcode;
	uint32_t flag;
} umem_flags[] = {
	{ PRM_OP_CREATE_CQ, CREATE_CQ_IN_CQ_UMEM_VALID },
	{ PRM_OP_CREATE_CQ, FLD_IN(CREATE_CQ_IN_CQC, CQC_DBR_UMEM_VALID) },
	{ PRM_OP_MODIFY_CQ, MODIFY_CQ_IN_CQ_UMEM_VALID },
	{ PRM_OP_CREATE_QP, CREATE_QP_IN_WQ_UMEM_VALID },
	{ PRM_OP_CREATE_QP, FLD_IN(CREATE_QP_IN_QPC, QPC_DBR_UMEM_VALID) },
	{ PRM_OP_CREATE_RQ, FLD_IN(CREATE_RQ_IN_CTX, FLD_IN(RQC_WQ, WQ_WQ_UMEM_VALID)) },
	{ PRM_OP_CREATE_RQ, FLD_IN(CREATE_RQ_IN_CTX, FLD_IN(RQC_WQ, WQ_DBR_UMEM_VALID)) },
	{ PRM_OP_CREATE_SQ, FLD_IN(CREATE_SQ_IN_CTX, FLD_IN(SQC_WQ, WQ_WQ_UMEM_VALID)) },
	{ PRM_OP_CREATE_SQ, FLD_IN(CREATE_SQ_IN_CTX, FLD_IN(SQC_WQ, WQ_DBR_UMEM_VALID)) },
	{ PRM_OP_CREATE_RMP, FLD_IN(CREATE_RMP_IN_CTX, FLD_IN(RMPC_WQ, WQ_WQ_UMEM_VALID)) },
	{ PRM_OP_CREATE_RMP, FLD_IN(CREATE_RMP_IN_CTX, FLD_IN(RMPC_WQ, WQ_DBR_UMEM_VALID)) },
	{ PRM_OP_CREATE_XRQ, FLD_IN(CREATE_XRQ_IN_XRQ_CONTEXT, FLD_IN(XRQC_WQ, WQ_WQ_UMEM_VALID)) },
	{ PRM_OP_CREATE_XRQ,
	  FLD_IN(CREATE_XRQ_IN_XRQ_CONTEXT, FLD_IN(XRQC_WQ, WQ_DBR_UMEM_VALID)) },
	{ PRM_OP_CREATE_XRC_SRQ, CREATE_XRC_SRQ_IN_XRC_SRQ_UMEM_VALID },
	{ PRM_OP_CREATE_XRC_SRQ,
	  FLD_IN(CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY, XRC_SRQC_DBR_UMEM_VALID) },
};

/* Returns whether the key is made of other keys, so that it has no memory itself. */
static bool is_indirect_key(const uint8_t *mkc)
{
	unsigned int mode =
		fld_get(mkc, MKC_ACCESS_MODE_4_2) << 2 | fld_get(mkc, MKC_ACCESS_MODE_1_0);

	return mode == PRM_MKEY_MODE_KLMS || mode == PRM_MKEY_MODE_KSM;
}

void devx_force_umem(uint8_t *in)
{
	uint32_t opcode = fld_get(in, CMD_IN_OPCODE);

	if (opcode == PRM_OP_CREATE_MKEY && !is_indirect_key(fld_at(in, CREATE_MKEY_IN_MKC)))
		fld_set(in, CREATE_MKEY_IN_MKEY_UMEM_VALID, 1);
	for (size_t i = 0; i < ARRAY_SIZE(umem_flags); i++)
		if (umem_flags[i].opcode == opcode)
			fld_set(in, umem_flags[i].flag, 1);
}
