/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.c - direct verbs on address handles: maps an address to a QP, for congestion control.
 */
#include <endian.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/hca_caps.h"

#define SL_BITS         0x0f
#define SGID_INDEX_BITS 0x0ff00000u

/* The device identifies an address by its service level, source GID and destination GID, so the
 * other fields stay 0. */
static void mapping_put_address(uint8_t *at, const struct mlx5_wqe_av *from)
{
	struct mlx5_wqe_av av = {
		.stat_rate_sl = from->stat_rate_sl & SL_BITS,
		.grh_gid_fl = from->grh_gid_fl & htobe32(SGID_INDEX_BITS),
	};

	memcpy(av.rgid, from->rgid, sizeof(av.rgid));
	memcpy(at, &av, sizeof(av));
}

/* Maps the address to QP_NUM. An address has one QP, named by the first call, because the device's
 * object holds one number; the device's object is destroyed with the address handle. */
DV_EXPORT int mlx5dv_map_ah_to_qp(struct ibv_ah *ah, uint32_t qp_num)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_AV_QP_MAPPING_SIZE + 16] = { 0 };
	uint8_t *mapping = fld_at(in, GENERAL_OBJ_OBJECT);
	int ret = dv_check_context("mlx5dv_map_ah_to_qp", ah->context);
	const struct mlx5_hca_caps *caps;
	struct mlx5_ah *mah = to_mah(ah);

	if (ret || mah->is_mapped)
		return verbs_result(ret);
	ret = mlx5_hca_caps_get(to_mctx(ah->context), &caps);
	if (ret && ret != EOPNOTSUPP)
		return verbs_result(ret);
	if (ret || !caps->maps_addresses) {
		verbs_warn("mlx5dv_map_ah_to_qp: %s does not map addresses to QPs, or the context "
			   "is without DevX",
			   ah->context->device->name);
		return verbs_result(EOPNOTSUPP);
	}
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_GENERAL_OBJECT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_AV_QP_MAPPING);
	fld_set(mapping, AV_QP_MAPPING_QPN, qp_num);
	mapping_put_address(fld_at(mapping, AV_QP_MAPPING_REMOTE_ADDRESS_VECTOR), &mah->av);
	ret = mlx5_devx_object_create(to_mctx(ah->context), in, sizeof(in), &mah->mapping);
	mah->is_mapped = !ret;
	return verbs_result(ret);
}
