/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dr.c - direct rules of root tables. See dr.h.
 *
 * Covers: providers/mlx5/dv/dr/dr.h, providers/mlx5/dv/flow.h
 */
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/tir.h"
#include "tests/verbs/dr/dr.h"

bool dr_root_open(struct rig *rig, enum mlx5dv_dr_domain_type type, struct dr_root *root)
{
	root->table = NULL;
	root->domain =
		SAY_PTR(mlx5dv_dr_domain_create(rig->ctx, type), "a domain of type %d", (int)type);
	if (root->domain)
		root->table = SAY_PTR(mlx5dv_dr_table_create(root->domain, 0), "its root table");
	return root->table;
}

void dr_root_close(struct dr_root *root)
{
	if (root->table)
		SAY_RET(mlx5dv_dr_table_destroy(root->table), "destroy the table");
	if (root->domain)
		SAY_RET(mlx5dv_dr_domain_destroy(root->domain), "destroy the domain");
}

static struct mlx5dv_flow_match_parameters *parameters(const struct steer_rule *rule, bool is_mask)
{
	struct mlx5dv_flow_match_parameters *match = steer_match(STEER_MATCH);

	for (unsigned int i = 0; i < STEER_FIELDS && rule->field[i].mask; i++)
		fld_set(match->match_buf, rule->field[i].field,
			is_mask ? rule->field[i].mask : rule->field[i].value);
	return match;
}

struct mlx5dv_dr_matcher *dr_matcher(struct mlx5dv_dr_table *table, const struct steer_rule *rule)
{
	struct mlx5dv_flow_match_parameters *mask = parameters(rule, true);
	struct mlx5dv_dr_matcher *matcher;
	int err;

	errno = 0;
	matcher = mlx5dv_dr_matcher_create(table, rule->priority, rule->criteria, mask);
	err = errno;
	free(mask);
	errno = err;
	return matcher;
}

struct mlx5dv_dr_rule *dr_rule(struct mlx5dv_dr_matcher *matcher, const struct steer_rule *rule,
			       size_t count, struct mlx5dv_dr_action **actions)
{
	struct mlx5dv_flow_match_parameters *value = parameters(rule, false);
	struct mlx5dv_dr_rule *made;
	int err;

	errno = 0;
	made = mlx5dv_dr_rule_create(matcher, value, count, actions);
	err = errno;
	free(value);
	errno = err;
	return made;
}

struct dr_made dr_make(struct dr_root *root, const struct steer_rule *rule, size_t count,
		       struct mlx5dv_dr_action **actions, const char *what)
{
	struct dr_made made = { .matcher = dr_matcher(root->table, rule) };

	if (!made.matcher)
		say_ptr(NULL, "%s: a matcher", what);
	else
		made.rule = say_ptr(dr_rule(made.matcher, rule, count, actions), "%s", what);
	return made;
}

void dr_end(struct dr_made *made)
{
	if (made->rule)
		MUST(!mlx5dv_dr_rule_destroy(made->rule));
	if (made->matcher)
		MUST(!mlx5dv_dr_matcher_destroy(made->matcher));
}

static uint32_t qp_rqn(struct ibv_qp *qp)
{
	struct mlx5dv_qp parts = { .comp_mask = MLX5DV_QP_MASK_RAW_QP_HANDLES };
	struct mlx5dv_obj obj = { .qp = { qp, &parts } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	return parts.rqn;
}

struct dr_tir dr_tir_make(struct ibv_context *ctx, struct ibv_qp *qp)
{
	uint8_t domain_in[PRM_CMD_IN_SIZE] = { 0 }, tir_in[0x20 + PRM_TIRC_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE] = { 0 }, *tirc = fld_at(tir_in, CREATE_TIR_IN_CTX);
	struct dr_tir tir;

	fld_set(domain_in, CMD_IN_OPCODE, PRM_OP_ALLOC_TRANSPORT_DOMAIN);
	MUST(tir.domain =
		     mlx5dv_devx_obj_create(ctx, domain_in, sizeof(domain_in), out, sizeof(out)));
	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, fld_get(out, FLD(0x8, 23, 0)));
	fld_set(tir_in, CMD_IN_OPCODE, PRM_OP_CREATE_TIR);
	fld_set(tirc, TIRC_DISP_TYPE, PRM_TIR_DIRECT);
	fld_set(tirc, TIRC_INLINE_RQN, qp_rqn(qp));
	MUST(tir.tir = mlx5dv_devx_obj_create(ctx, tir_in, sizeof(tir_in), out, sizeof(out)));
	return tir;
}

void dr_tir_end(struct dr_tir *tir)
{
	MUST(!mlx5dv_devx_obj_destroy(tir->tir) && !mlx5dv_devx_obj_destroy(tir->domain));
}
