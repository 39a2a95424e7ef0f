/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steer.c - matchers and flows in the device's format. See steer.h.
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/vport.h"
#include "tests/verbs/steer/steer.h"

struct mlx5dv_flow_match_parameters *steer_match(size_t size)
{
	struct mlx5dv_flow_match_parameters *match = calloc(1, sizeof(*match) + size);

	MUST(match);
	match->match_sz = size;
	return match;
}

struct mlx5dv_flow_matcher *steer_matcher(struct ibv_context *ctx, const struct steer_rule *rule)
{
	struct mlx5dv_flow_match_parameters *mask = steer_match(STEER_MATCH);
	struct mlx5dv_flow_matcher_attr attr = { .type = IBV_FLOW_ATTR_NORMAL,
						 .priority = rule->priority,
						 .match_criteria_enable = rule->criteria,
						 .match_mask = mask,
						 .comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE,
						 .ft_type = rule->table };
	struct mlx5dv_flow_matcher *matcher;

	for (unsigned int i = 0; i < STEER_FIELDS && rule->field[i].mask; i++)
		fld_set(mask->match_buf, rule->field[i].field, rule->field[i].mask);
	matcher = mlx5dv_create_flow_matcher(ctx, &attr);
	free(mask);
	return matcher;
}

struct ibv_flow *steer_flow(struct mlx5dv_flow_matcher *matcher, const struct steer_rule *rule,
			    size_t count, struct mlx5dv_flow_action_attr *actions)
{
	struct mlx5dv_flow_match_parameters *value = steer_match(STEER_MATCH);
	struct ibv_flow *flow;
	int err;

	for (unsigned int i = 0; i < STEER_FIELDS && rule->field[i].mask; i++)
		fld_set(value->match_buf, rule->field[i].field, rule->field[i].value);
	errno = 0;
	flow = mlx5dv_create_flow(matcher, value, count, actions);
	err = errno;
	free(value);
	errno = err;
	return flow;
}

struct steered steer_make(struct ibv_context *ctx, const struct steer_rule *rule, size_t count,
			  struct mlx5dv_flow_action_attr *actions, const char *what)
{
	struct steered steered = { .matcher = steer_matcher(ctx, rule) };

	if (!steered.matcher)
		say_ptr(NULL, "%s: a matcher", what);
	else
		steered.flow =
			say_ptr(steer_flow(steered.matcher, rule, count, actions), "%s", what);
	return steered;
}

void steer_end(struct steered *steered)
{
	if (steered->flow)
		MUST(!ibv_destroy_flow(steered->flow));
	if (steered->matcher)
		MUST(!mlx5dv_destroy_flow_matcher(steered->matcher));
}

void steer_send_frame(struct rig *rig, struct raw *raw, const struct raw_frame *frame,
		      const char *what)
{
	int first, second;

	raw_send(raw, raw_frame_build(rig, frame, raw->buf), 0);
	rig_settle();
	first = raw_received(raw, 0);
	second = raw_received(raw, 1);
	say("%s: %d and %d", what, first, second);
}

void steer_send(struct rig *rig, struct raw *raw, uint16_t dport, const char *what)
{
	const struct raw_frame frame = { .version = 4,
					 .protocol = 17,
					 .ttl = 9,
					 .src = 1,
					 .dst = 2,
					 .sport = 100,
					 .dport = dport };

	steer_send_frame(rig, raw, &frame, what);
}

struct steer_counter steer_counter_make(struct ibv_context *ctx)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	struct steer_counter counter;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_FLOW_COUNTER);
	MUST(counter.obj = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)));
	counter.number = (uint32_t)fld_get(out, ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID);
	return counter;
}

void steer_counter_say(const struct steer_counter *counter, const char *what)
{
	uint8_t in[32] = { 0 }, out[32] = { 0 };
	const uint8_t *counts = fld_at(out, QUERY_FLOW_COUNTER_OUT_FLOW_STATISTICS);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_FLOW_COUNTER);
	fld_set(in, QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID, counter->number);
	MUST(!mlx5dv_devx_obj_query(counter->obj, in, sizeof(in), out, sizeof(out)));
	say("%s: %u frames, %u bytes", what, (unsigned int)fld_get(counts, TRAFFIC_COUNTER_PACKETS),
	    (unsigned int)fld_get(counts, TRAFFIC_COUNTER_OCTETS));
}
