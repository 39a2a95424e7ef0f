/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steer.h - matchers and flows in the device's format, for the topics of verbs-steer.
 */
#ifndef TESTS_VERBS_STEER_STEER_H
#define TESTS_VERBS_STEER_STEER_H

#include <infiniband/mlx5dv.h>

#include "prm/mlx5/match.h"
#include "tests/lib/raw_frames.h"
#include "tests/lib/say.h"

#define OUTER(field) FLD_IN(MATCH_OUTER_HEADERS, field)
#define MISC(field)  FLD_IN(MATCH_MISC_PARAMETERS, field)

enum { STEER_FIELDS = 4, STEER_MATCH = PRM_MATCH_SETS * PRM_MATCH_SET_SIZE };

/* Mask and value of one field in a matcher and its flow */
struct steer_field {
	uint32_t field; /* 0 ends the list */
	uint32_t mask, value;
};

struct steer_rule {
	uint16_t priority;
	uint8_t criteria; /* PRM_MATCH_* */
	enum mlx5dv_flow_table_type table;
	struct steer_field field[STEER_FIELDS];
};

/* Rules of frames to a port of UDP, and of all frames */
#define STEER_TO_PORT(number)                                 \
	.criteria = PRM_MATCH_OUTER, .field = {               \
		{ OUTER(LYR_2_4_IP_PROTOCOL), 0xff, 17 },     \
		{ OUTER(LYR_2_4_UDP_DPORT), 0xffff, number }, \
	}
#define STEER_TO_ALL .criteria = 0

/* Makes room for SIZE bytes, which are zero; free() ends it. */
struct mlx5dv_flow_match_parameters *steer_match(size_t size);
/* These print nothing. */
struct mlx5dv_flow_matcher *steer_matcher(struct ibv_context *ctx, const struct steer_rule *rule);
struct ibv_flow *steer_flow(struct mlx5dv_flow_matcher *matcher, const struct steer_rule *rule,
			    size_t count, struct mlx5dv_flow_action_attr *actions);

/* A matcher with its flow, or with none */
struct steered {
	struct mlx5dv_flow_matcher *matcher;
	struct ibv_flow *flow;
};

/* These print the results; an object that cannot be created is NULL. */
struct steered steer_make(struct ibv_context *ctx, const struct steer_rule *rule, size_t count,
			  struct mlx5dv_flow_action_attr *actions, const char *what);
void steer_end(struct steered *steered);

#define TO_QP(to) \
	((struct mlx5dv_flow_action_attr){ MLX5DV_FLOW_ACTION_DEST_IBV_QP, { .qp = (to) } })
#define TO_OBJECT(to) \
	((struct mlx5dv_flow_action_attr){ MLX5DV_FLOW_ACTION_DEST_DEVX, { .obj = (to) } })
#define DROPPED ((struct mlx5dv_flow_action_attr){ MLX5DV_FLOW_ACTION_DROP, { NULL } })
#define MISSED  ((struct mlx5dv_flow_action_attr){ MLX5DV_FLOW_ACTION_DEFAULT_MISS, { NULL } })
#define TAGGED(tag) \
	((struct mlx5dv_flow_action_attr){ MLX5DV_FLOW_ACTION_TAG, { .tag_value = (tag) } })
#define COUNTED(by) \
	((struct mlx5dv_flow_action_attr){ MLX5DV_FLOW_ACTION_COUNTERS_DEVX, { .obj = (by) } })
#define CHANGED(by) \
	((struct mlx5dv_flow_action_attr){ MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION, { .action = (by) } })

/* Sends a UDP frame to DPORT, and prints how many each receiver has got. */
void steer_send(struct rig *rig, struct raw *raw, uint16_t dport, const char *what);
void steer_send_frame(struct rig *rig, struct raw *raw, const struct raw_frame *frame,
		      const char *what);

struct steer_counter {
	struct mlx5dv_devx_obj *obj;
	uint32_t number;
};

struct steer_counter steer_counter_make(struct ibv_context *ctx);
void steer_counter_say(const struct steer_counter *counter, const char *what);

void steer_matchers(struct rig *rig);
void steer_flows(struct rig *rig);
void steer_in_use(struct rig *rig);
void steer_actions(struct rig *rig);
void steer_esp(struct rig *rig);
void steer_fields(struct rig *rig);
void steer_order(struct rig *rig);
void steer_shared(struct rig *rig);
void steer_tags(struct rig *rig);
void steer_drops(struct rig *rig);
void steer_misses(struct rig *rig);
void steer_counters(struct rig *rig);
void steer_objects(struct rig *rig);
void steer_tables(struct rig *rig);
void steer_anchors(struct rig *rig);
void steer_sent(struct rig *rig);
void steer_changes(struct rig *rig);
void steer_odd_changes(struct rig *rig);
void steer_reformats(struct rig *rig);
void steer_odd_reformats(struct rig *rig);

#endif
