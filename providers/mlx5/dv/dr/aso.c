/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aso.c - actions on objects with the state of flows. See aso.h.
 */
#include "providers/mlx5/dv/dr/aso.h"

#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/ste.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "providers/mlx5/dv/export.h"
#include "util/alloc.h"

enum { REGISTER_MAX = 5 };

/* A kind of objects. An object has LINES, each with a state of its own. */
struct aso_kind {
	enum dr_action_kind kind;
	enum prm_ste_aso type;
	uint32_t lines;
};

static const struct aso_kind first_hit = { DR_ACTION_FIRST_HIT, PRM_STE_ASO_FIRST_HIT,
					   PRM_ASO_HITS };
static const struct aso_kind flow_meter = { DR_ACTION_ASO_METER, PRM_STE_ASO_METER,
					    PRM_ASO_METERS };
static const struct aso_kind connection = { DR_ACTION_CONNECTION, PRM_STE_ASO_CONNECTION, 1 };

/* Returns the kind of OBJ, or NULL if it is another object. */
static const struct aso_kind *aso_kind(const struct mlx5dv_devx_obj *obj)
{
	switch (obj->type) {
	case DV_EXPORT_ASO_FIRST_HIT:
		return &first_hit;
	case DV_EXPORT_ASO_FLOW_METER:
		return &flow_meter;
	case DV_EXPORT_ASO_CONNECTIONS:
		return &connection;
	default:
		return NULL;
	}
}

/* Sets the fields that FLAGS name in the bytes of an entry action. Returns false for unknown
 * flags. */
static bool aso_put_flags(const struct aso_kind *kind, uint32_t flags, uint8_t *bytes)
{
	switch (kind->type) {
	case PRM_STE_ASO_FIRST_HIT:
		fld_set(bytes, STE_ASO_FIRST_HIT_KEEP, !flags);
		return flags <= MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET;
	case PRM_STE_ASO_METER:
		if (!flags || flags & (flags - 1))
			return false;
		fld_set(bytes, STE_ASO_METER_INITIAL_COLOR, (uint64_t)__builtin_ctz(flags));
		return flags <= MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_UNDEFINED;
	default:
		fld_set(bytes, STE_ASO_CONNECTION_REPLY,
			flags == MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_RESPONDER);
		return flags == MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR ||
		       flags == MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_RESPONDER;
	}
}

static void aso_put_line(const struct aso_kind *kind, uint32_t line, uint8_t *bytes)
{
	if (kind->type == PRM_STE_ASO_FIRST_HIT)
		fld_set(bytes, STE_ASO_FIRST_HIT_LINE, line);
	else if (kind->type == PRM_STE_ASO_METER)
		fld_set(bytes, STE_ASO_METER_LINE, line);
}

static int aso_check(const char *call, const struct dr_aso *aso, uint32_t offset, uint8_t reg)
{
	const uint64_t lines = (uint64_t)aso->kind->lines << aso->log_range;

	if (offset >= lines) {
		verbs_warn("%s: offset is %u, must be below %llu", call, offset,
			   (unsigned long long)lines);
		return EINVAL;
	}
	if (reg % 2 == 0 || reg > REGISTER_MAX) {
		verbs_warn("%s: return_reg_c is %u, must be 1, 3 or 5", call, reg);
		return EINVAL;
	}
	return 0;
}

/* Sets the entry action of ASO. Leaves it as it was if an argument is wrong. Returns 0 or
 * EINVAL. */
static int aso_set(const char *call, struct dr_aso *aso, uint32_t offset, uint32_t flags,
		   uint8_t reg)
{
	const struct aso_kind *kind = aso->kind;
	uint8_t bytes[2 * sizeof(uint32_t)] = { 0 };
	int ret = aso_check(call, aso, offset, reg);

	if (ret)
		return ret;
	if (!aso_put_flags(kind, flags, bytes)) {
		verbs_warn("%s: flags are %#x, which the object does not know", call, flags);
		return EINVAL;
	}
	fld_set(bytes, STE_ACTION_ID, PRM_STE_ACTION_ASO);
	fld_set(bytes, STE_ASO_OBJECT, aso->first + offset / kind->lines);
	fld_set(bytes, STE_ASO_REGISTER, reg / 2u);
	fld_set(bytes, STE_ASO_TYPE, kind->type);
	aso_put_line(kind, offset % kind->lines, bytes);
	aso->words[0] = (uint32_t)fld_get(bytes, FLD(0x0, 31, 0));
	aso->words[1] = (uint32_t)fld_get(bytes, FLD(0x4, 31, 0));
	return 0;
}

static int domain_check(const char *call, struct mlx5dv_dr_domain *domain,
			const struct mlx5dv_devx_obj *obj)
{
	if (!obj || !aso_kind(obj)) {
		verbs_warn("%s: devx_obj is %s", call, obj ? "no ASO object" : "NULL");
		return EOPNOTSUPP;
	}
	if (obj->context != domain->context && obj->context->device != domain->context->device) {
		verbs_warn("%s: devx_obj belongs to another device", call);
		return EINVAL;
	}
	if (mlx5_dr_soft_exists(domain))
		return 0;
	verbs_warn("%s: the action is for tables below the root, which the domain cannot have",
		   call);
	return EOPNOTSUPP;
}

/* Returns what the action keeps of OBJ, which the program may destroy before the action. */
static struct dr_aso aso_of(const struct mlx5dv_devx_obj *obj)
{
	return (struct dr_aso){ .kind = aso_kind(obj),
				.first = obj->id,
				.log_range = obj->log_range };
}

/* Is no user of the domain, as in release 65.0: nothing of the adapter belongs to the action. */
DV_EXPORT struct mlx5dv_dr_action *mlx5dv_dr_action_create_aso(struct mlx5dv_dr_domain *domain,
							       struct mlx5dv_devx_obj *devx_obj,
							       uint32_t offset, uint32_t flags,
							       uint8_t return_reg_c)
{
	static const char call[] = "mlx5dv_dr_action_create_aso";
	int ret = domain_check(call, domain, devx_obj);
	struct mlx5dv_dr_action *action;

	if (ret)
		return dv_fail(ret);
	action = calloc_for(call, 1, sizeof(*action));
	if (!action)
		return dv_fail(ENOMEM);
	action->kind = aso_kind(devx_obj)->kind;
	action->aso = aso_of(devx_obj);
	action->domain = domain;
	ret = aso_set(call, &action->aso, offset, flags, return_reg_c);
	if (ret) {
		free(action);
		return dv_fail(ret);
	}
	return action;
}

static bool is_aso(const struct mlx5dv_dr_action *action)
{
	return action->kind == DR_ACTION_FIRST_HIT || action->kind == DR_ACTION_ASO_METER ||
	       action->kind == DR_ACTION_CONNECTION;
}

/* Changes the action for rules that are created from now on. */
DV_EXPORT int mlx5dv_dr_action_modify_aso(struct mlx5dv_dr_action *action, uint32_t offset,
					  uint32_t flags, uint8_t return_reg_c)
{
	static const char call[] = "mlx5dv_dr_action_modify_aso";

	if (!is_aso(action)) {
		verbs_warn("%s: the action is on no ASO object", call);
		return verbs_result(EINVAL);
	}
	return verbs_result(aso_set(call, &action->aso, offset, flags, return_reg_c));
}
