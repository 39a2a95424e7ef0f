/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dr.h - direct rules of root tables, for the topics of verbs-dr.
 */
#ifndef TESTS_VERBS_DR_DR_H
#define TESTS_VERBS_DR_DR_H

#include "tests/verbs/steer/steer.h"

/* A domain and its root table; NULL where the library refuses it, which is printed. */
struct dr_root {
	struct mlx5dv_dr_domain *domain;
	struct mlx5dv_dr_table *table;
};

bool dr_root_open(struct rig *rig, enum mlx5dv_dr_domain_type type, struct dr_root *root);
void dr_root_close(struct dr_root *root);

/* These print nothing. Mask and values are RULE's; its table is ignored. */
struct mlx5dv_dr_matcher *dr_matcher(struct mlx5dv_dr_table *table, const struct steer_rule *rule);
struct mlx5dv_dr_rule *dr_rule(struct mlx5dv_dr_matcher *matcher, const struct steer_rule *rule,
			       size_t count, struct mlx5dv_dr_action **actions);

/* A matcher with its rule, or with none. */
struct dr_made {
	struct mlx5dv_dr_matcher *matcher;
	struct mlx5dv_dr_rule *rule;
};

struct dr_made dr_make(struct dr_root *root, const struct steer_rule *rule, size_t count,
		       struct mlx5dv_dr_action **actions, const char *what);
void dr_end(struct dr_made *made);

#define DR_MAKE(root, rule, what, ...)                                     \
	__extension__({                                                    \
		struct mlx5dv_dr_action *actions_[] = { __VA_ARGS__ };     \
		dr_make(root, rule, ARRAY_SIZE(actions_), actions_, what); \
	})

/* A receive queue's TIR, made by commands. */
struct dr_tir {
	struct mlx5dv_devx_obj *domain, *tir;
};

struct dr_tir dr_tir_make(struct ibv_context *ctx, struct ibv_qp *qp);
void dr_tir_end(struct dr_tir *tir);

void dr_domains(struct rig *rig);
void dr_tables(struct rig *rig);
void dr_matchers(struct rig *rig);
void dr_actions(struct rig *rig);
void dr_rules(struct rig *rig);
void dr_in_use(struct rig *rig);
void dr_frames(struct rig *rig);
void dr_misses(struct rig *rig);
void dr_counters(struct rig *rig);
void dr_tags(struct rig *rig);
void dr_sent(struct rig *rig);
void dr_shared(struct rig *rig);
void dr_changes(struct rig *rig);
void dr_tunnels(struct rig *rig);
void dr_bulks(struct rig *rig);
void dr_dumps(struct rig *rig);
/* Dumps RULE, and prints the line of its table and those that begin with RECORD. In these, FIRST is
 * N0. */
void dr_dump_lines(struct mlx5dv_dr_rule *rule, const char *record, struct mlx5dv_dr_table *first);
void dr_software(struct rig *rig);
void dr_software_sent(struct rig *rig);

#endif
