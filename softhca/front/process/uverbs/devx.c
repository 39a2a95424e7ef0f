/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - device commands that programs may issue themselves: questions only, so far.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/log.h"
#include "util/bits.h"

static const enum prm_opcode allowed[] = {
	PRM_OP_QUERY_HCA_CAP,
	PRM_OP_QUERY_HCA_VPORT_CONTEXT,
	PRM_OP_QUERY_VPORT_STATE,
	PRM_OP_QUERY_ADAPTER,
};

static bool is_allowed(uint32_t opcode)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(allowed); i++)
		if (allowed[i] == opcode)
			return true;
	return false;
}

/* The status is in OUT and is the program's to look at. */
static int devx_other(struct uverbs_call *uc)
{
	size_t out_len = uc_len(uc, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
	uint8_t in[PRM_CMD_IN_SIZE];
	uint8_t *out;
	int ret;

	if (!uc->file->has_devx)
		return EINVAL;
	if (uc_in(uc, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, sizeof(in)))
		return EFAULT;
	if (!is_allowed(fld_get(in, CMD_IN_OPCODE))) {
		log_note("%s: DevX command %#x is not for programs", uc->adapter->name,
			 (unsigned int)fld_get(in, CMD_IN_OPCODE));
		return EINVAL;
	}
	out = calloc(1, out_len);
	if (!out)
		return ENOMEM;
	hca_exec(uc->adapter->hca, in, sizeof(in), out, out_len);
	ret = uc_out(uc, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, out_len);
	free(out);
	return ret;
}

/* A program may ask about an object of its own: a QP, so far. */
static int devx_obj_query(struct uverbs_call *uc)
{
	const struct uverbs_qp *qp = uc_object(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE);
	uint8_t in[PRM_CMD_IN_SIZE], out[PRM_QUERY_QP_OUT_SIZE];
	size_t out_len = uc_len(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);

	if (!uc->file->has_devx || qp->real->raw)
		return EINVAL;
	if (uc_in(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, sizeof(in)))
		return EFAULT;
	if (fld_get(in, CMD_IN_OPCODE) != PRM_OP_QUERY_QP ||
	    fld_get(in, QUERY_QP_IN_QPN) != qp->real->qpn || out_len > sizeof(out))
		return EINVAL;
	memset(out, 0, sizeof(out));
	hca_exec(uc->adapter->hca, in, sizeof(in), out, sizeof(out));
	return uc_out(uc, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, out_len);
}

static const struct uverbs_attr obj_query_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_QP },
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, ATTR_STRUCT, MANDATORY, PRM_CMD_IN_SIZE,
	  PRM_CMD_IN_SIZE, 0 },
	{ MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, ATTR_OUT, MANDATORY, PRM_CMD_OUT_SIZE, ANY_SIZE, 0 },
};

static const struct uverbs_attr other_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, ATTR_STRUCT, MANDATORY, PRM_CMD_IN_SIZE, PRM_CMD_IN_SIZE,
	  0 },
	{ MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, ATTR_OUT, MANDATORY, PRM_CMD_OUT_SIZE, ANY_SIZE, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("DEVX_OTHER", MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, devx_other,
	       other_attrs),
	METHOD("DEVX_OBJ_QUERY", MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY,
	       devx_obj_query, obj_query_attrs),
};

const struct uverbs_methods devx_methods = METHODS(method_table);
