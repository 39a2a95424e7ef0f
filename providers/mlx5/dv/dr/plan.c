/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan.c - plans the actions of a rule. See plan.h.
 *
 * Header changes have an order in the adapter: decapsulation, removal of VLAN tags, fields, new
 * headers. Meters and connections (ASO) judge received frames behind the first three, and sent
 * frames before all. A rule that wants another order is refused.
 *
 * Tags, first hits and counters may stand anywhere in a rule. Entries execute them in an order of
 * their own, for which the actions are sorted: release 65.0's.
 */
#include "providers/mlx5/dv/dr/plan.h"

#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "util/bits.h"

enum {
	MATCH_ROOM = 8,    /* bytes of actions in an entry that matches */
	ACTIONS_ROOM = 12, /* bytes of actions in each further entry */
	SINGLE = 4,        /* bytes of an action */
	DOUBLE = 8,
};

enum { PLAN_ACTIONS = 32 /* most actions of a rule: each kind once, but for VLAN tags */ };
enum { VLAN_TAGS = 2 /* most tags that a rule may remove, and may add */ };
enum { REMOVE_L2 = 0x09000700 /* removes headers up to IP */ };
enum { POP_VLAN_HEAD = 0x0802, POP_VLAN_WORDS = 2, PUSH_VLAN = 0x0a000c00 };

/* Ranks of header changes: the adapter executes them in this order. */
enum { RANK_NONE, RANK_DECAP, RANK_POP, RANK_MODIFY, RANK_PUSH, RANK_ENCAP };

static int plan_refuse(const struct dr_plan *plan, int err, const char *why)
{
	verbs_warn("%s: an action %s", plan->call, why);
	return err;
}

static int entry_next(struct dr_plan *plan)
{
	uint8_t *entry;

	if (plan->count == DR_PLAN_ENTRIES)
		return plan_refuse(plan, EINVAL, "does not fit: the rule has too many");
	entry = plan->entries[plan->count++];
	mlx5_dr_entry_begin_actions(entry, plan->soft->caps.gvmi);
	plan->at = fld_at(entry, STE_MATCH_ACTIONS);
	plan->room = ACTIONS_ROOM;
	plan->is_bare = false;
	return 0;
}

static int plan_reserve(struct dr_plan *plan, unsigned int size)
{
	return plan->room < size ? entry_next(plan) : 0;
}

static void plan_put(struct dr_plan *plan, uint32_t word)
{
	const uint32_t be = htobe32(word);

	memcpy(plan->at, &be, sizeof(be));
	plan->at += SINGLE;
	plan->room -= SINGLE;
}

static uint8_t *plan_entry(struct dr_plan *plan)
{
	return plan->entries[plan->count - 1];
}

enum { LAST = 15 /* position of ends, which are no bytes of actions */ };

/* Positions of actions in entries, by kind, for received and for sent frames. */
static const uint8_t positions[2][DR_ACTION_KINDS] = {
	{
		[DR_ACTION_QP... DR_ACTION_DEFAULT_MISS] = LAST,
		[DR_ACTION_REFORMAT] = 1,
		[DR_ACTION_TAG] = 2,
		[DR_ACTION_POP_VLAN] = 3,
		[DR_ACTION_FIRST_HIT] = 4,
		[DR_ACTION_MODIFY_HEADER] = 5,
		[DR_ACTION_ASO_METER] = 6,
		[DR_ACTION_CONNECTION] = 7,
		[DR_ACTION_PUSH_VLAN] = 8,
		[DR_ACTION_COUNTER] = 9,
	},
	{
		[DR_ACTION_QP... DR_ACTION_DEFAULT_MISS] = LAST,
		[DR_ACTION_ASO_METER] = 1,
		[DR_ACTION_CONNECTION] = 2,
		[DR_ACTION_COUNTER] = 3,
		[DR_ACTION_POP_VLAN] = 4,
		[DR_ACTION_MODIFY_HEADER] = 5,
		[DR_ACTION_PUSH_VLAN] = 6,
		[DR_ACTION_FIRST_HIT] = 7,
		[DR_ACTION_REFORMAT] = 8,
	},
};

static bool is_decap(const struct mlx5dv_dr_action *action)
{
	return action->kind == DR_ACTION_REFORMAT &&
	       (action->change.type == MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2 ||
		action->change.type == MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2);
}

static unsigned int rank_of(const struct mlx5dv_dr_action *action)
{
	switch (action->kind) {
	case DR_ACTION_POP_VLAN:
		return RANK_POP;
	case DR_ACTION_MODIFY_HEADER:
		return RANK_MODIFY;
	case DR_ACTION_PUSH_VLAN:
		return RANK_PUSH;
	case DR_ACTION_REFORMAT:
		return is_decap(action) ? RANK_DECAP : RANK_ENCAP;
	default:
		return RANK_NONE;
	}
}

static bool may_repeat(enum dr_action_kind kind)
{
	return kind == DR_ACTION_POP_VLAN || kind == DR_ACTION_PUSH_VLAN;
}

/* Returns the action's bit in plan->kinds. Each type of packet reformat has a bit of its own. */
static uint32_t bit_of(const struct mlx5dv_dr_action *action)
{
	const unsigned int type =
		action->kind == DR_ACTION_REFORMAT ? 1 + (unsigned int)action->change.type : 0;

	return 1u << (type ? DR_ACTION_KINDS - 1 + type : (unsigned int)action->kind);
}

static bool judges(const struct mlx5dv_dr_action *action)
{
	return action->kind == DR_ACTION_ASO_METER || action->kind == DR_ACTION_CONNECTION;
}

/* Returns whether ACTION may follow those of PLAN, as to meters and connections. */
static bool judgement_fits(const struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	const uint32_t judged = 1u << DR_ACTION_ASO_METER | 1u << DR_ACTION_CONNECTION;
	const unsigned int rank = rank_of(action);

	if (judges(action))
		return plan->is_tx ? !plan->rank : plan->rank < RANK_PUSH;
	if (!(plan->kinds & judged))
		return true;
	if (plan->is_tx)
		return rank != RANK_POP;
	return !rank && action->kind != DR_ACTION_TAG && action->kind != DR_ACTION_DROP &&
	       action->kind != DR_ACTION_DEFAULT_MISS;
}

/* Counts VLAN tags that come and go. Returns 0, or the errno of release 65.0 for a third one. */
static int tags_check(struct dr_plan *plan, enum dr_action_kind kind)
{
	if (kind == DR_ACTION_POP_VLAN && ++plan->popped > VLAN_TAGS)
		return plan_refuse(plan, EINVAL, "removes a third VLAN tag");
	if (kind == DR_ACTION_PUSH_VLAN && ++plan->pushed > VLAN_TAGS)
		return plan_refuse(plan, EOPNOTSUPP, "adds a third VLAN tag");
	return 0;
}

static int order_check(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	const enum dr_action_kind kind = action->kind;
	const uint32_t bit = bit_of(action);
	const unsigned int rank = rank_of(action);

	if (plan->kinds & bit && !may_repeat(kind))
		return plan_refuse(plan, EINVAL, "is in the rule twice");
	if (plan->end && kind != DR_ACTION_COUNTER)
		return plan_refuse(plan, EOPNOTSUPP, "follows the end of the way");
	if (rank && (rank < plan->rank || (kind == DR_ACTION_REFORMAT && rank == plan->rank) ||
		     (!plan->is_tx && rank == RANK_PUSH && plan->rank == RANK_POP)))
		return plan_refuse(plan, EOPNOTSUPP, "comes later than the adapter can do it");
	if (!judgement_fits(plan, action))
		return plan_refuse(plan, EOPNOTSUPP,
				   "has another order with a meter or a connection");
	if (plan->rank && (kind == DR_ACTION_DROP || kind == DR_ACTION_DEFAULT_MISS))
		return plan_refuse(plan, EOPNOTSUPP, "drops a frame that was changed");
	if (plan->is_tx && (kind == DR_ACTION_TAG || kind == DR_ACTION_QP || kind == DR_ACTION_TIR))
		return plan_refuse(plan, EOPNOTSUPP, "is for received frames");
	plan->kinds |= bit;
	plan->rank = rank ? rank : plan->rank;
	if (kind <= DR_ACTION_DEFAULT_MISS)
		plan->end = action;
	return rank ? tags_check(plan, kind) : 0;
}

static int tag_put(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	const unsigned int count = plan->count;
	int ret = plan_reserve(plan, SINGLE);

	if (ret)
		return ret;
	plan_put(plan, (uint32_t)PRM_STE_ACTION_FLOW_TAG << 24 | action->tag);
	plan->may_count = plan->may_count || plan->count > count;
	return 0;
}

static void note_change(struct dr_plan *plan)
{
	fld_set(plan_entry(plan), STE_REPARSE, 1);
}

/* Removes all VLAN tags that the rule removes. Behind a tunnel that was removed, a change of fields
 * cannot be in the same entry. */
static int pops_put(struct dr_plan *plan)
{
	const bool was_bare = plan->is_bare;
	int ret = was_bare ? entry_next(plan) : plan_reserve(plan, SINGLE);

	if (ret)
		return ret;
	plan->is_bare = was_bare;
	plan_put(plan, (uint32_t)POP_VLAN_HEAD << 16 | POP_VLAN_WORDS * plan->popped);
	note_change(plan);
	plan->has_popped = true;
	/* a received frame counts without what is removed */
	plan->may_count = false;
	return 0;
}

static int push_put(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	int ret = plan_reserve(plan, DOUBLE);

	if (ret)
		return ret;
	plan_put(plan, PUSH_VLAN);
	plan_put(plan, action->vlan);
	note_change(plan);
	return 0;
}

static unsigned int change_size(const struct mlx5dv_dr_action *action)
{
	if (action->change.list.count)
		return action->change.list.is_wide ? DOUBLE : SINGLE;
	return is_decap(action) ? SINGLE : DOUBLE;
}

/* Adds a header change of one or two words. After a tunnel was removed, the change starts a new
 * entry. */
static int change_put(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	const unsigned int size = change_size(action);
	int ret;

	if (action->change.action)
		return plan_refuse(plan, EOPNOTSUPP, "is for root tables");
	ret = plan->is_bare ? entry_next(plan) : plan_reserve(plan, size);
	if (ret)
		return ret;
	plan_put(plan, action->change.words[0]);
	if (size == DOUBLE)
		plan_put(plan, action->change.words[1]);
	note_change(plan);
	return 0;
}

/* Adds an L3 tunnel: removes the frame's Ethernet header first, because the tunnel's headers take
 * its place. */
static int encap_l3_put(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	if (!action->change.action) { /* change_put() refuses the others */
		int ret = plan_reserve(plan, SINGLE + DOUBLE);

		if (ret)
			return ret;
		plan_put(plan, REMOVE_L2);
	}
	return change_put(plan, action);
}

static int modify_put(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	const unsigned int count = plan->count;
	int ret = change_put(plan, action);

	plan->may_count = plan->may_count || plan->count > count;
	return ret;
}

static int reformat_put(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	int ret;

	if (action->change.type == MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL)
		return encap_l3_put(plan, action);
	ret = change_put(plan, action);
	if (!ret && is_decap(action)) {
		plan->is_bare = true;
		plan->may_count = false;
	}
	return ret;
}

/* Adds an action on the state of a flow. A counter in a new entry counts the frame as it is
 * there. */
static int aso_put(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	const unsigned int count = plan->count;
	int ret = plan_reserve(plan, DOUBLE);

	if (ret)
		return ret;
	plan_put(plan, action->aso.words[0]);
	plan_put(plan, action->aso.words[1]);
	plan->may_count = plan->may_count || plan->count > count;
	return 0;
}

static int action_put(struct dr_plan *plan, const struct mlx5dv_dr_action *action)
{
	switch (action->kind) {
	case DR_ACTION_TAG:
		return tag_put(plan, action);
	case DR_ACTION_COUNTER:
		plan->counter = action;
		plan->counting = plan->count - 1;
		return 0;
	case DR_ACTION_POP_VLAN:
		return plan->has_popped ? 0 : pops_put(plan);
	case DR_ACTION_PUSH_VLAN:
		return push_put(plan, action);
	case DR_ACTION_MODIFY_HEADER:
		return modify_put(plan, action);
	case DR_ACTION_REFORMAT:
		return reformat_put(plan, action);
	case DR_ACTION_FIRST_HIT:
	case DR_ACTION_ASO_METER:
	case DR_ACTION_CONNECTION:
		return aso_put(plan, action);
	default:
		return 0;
	}
}

/* Sets *TARGET to where the rule leads. Returns EOPNOTSUPP if the address of its QP, TIR, array,
 * sampler or meter is unknown. */
static int end_of(const struct dr_plan *plan, struct dr_target *target)
{
	const struct dr_soft *soft = plan->soft;

	*target = (struct dr_target){
		.address = soft->miss,
		.gvmi = soft->caps.gvmi,
		.lookup.type = PRM_STE_NOTHING,
	};
	if (!plan->end)
		return 0;
	switch (plan->end->kind) {
	case DR_ACTION_QP:
	case DR_ACTION_TIR:
	case DR_ACTION_ARRAY:
	case DR_ACTION_SAMPLER:
	case DR_ACTION_METER:
		target->address = mlx5_dr_action_address(plan->end);
		if (!target->address)
			return plan_refuse(plan, EOPNOTSUPP,
					   "leads to an object whose address is not known");
		break;
	case DR_ACTION_TABLE:
		target->address = mlx5_dr_action_address(plan->end);
		break;
	case DR_ACTION_DROP:
		target->address = soft->drop;
		target->gvmi = (uint16_t)(soft->drop >> 48);
		break;
	default:
		break;
	}
	return 0;
}

/* Puts the counter's number into an entry: of a sent frame where the counter is in the order of
 * actions, of a received one into the last that counts what the program receives. */
static int counter_put(struct dr_plan *plan)
{
	int ret = plan->is_tx || plan->may_count ? 0 : entry_next(plan);

	if (ret)
		return ret;
	if (!plan->is_tx)
		plan->counting = plan->count - 1;
	fld_set(plan->entries[plan->counting], STE_COUNTER_ID,
		mlx5_dr_action_counter(plan->counter));
	return 0;
}

static int plan_finish(struct dr_plan *plan)
{
	struct dr_target target;
	int ret = end_of(plan, &target);

	if (!ret && plan->counter)
		ret = counter_put(plan);
	if (!ret)
		mlx5_dr_entry_set_hit(plan_entry(plan), &target);
	return ret;
}

/* Checks actions in the program's order, and sorts them by their positions in entries. */
static int actions_sort(struct dr_plan *plan, size_t count,
			struct mlx5dv_dr_action *const actions[],
			const struct mlx5dv_dr_action **sorted)
{
	const uint8_t *position = positions[plan->is_tx];

	for (size_t i = 0; i < count; i++) {
		const struct mlx5dv_dr_action *action = actions[i];
		int ret = order_check(plan, action);
		size_t at = i;

		if (ret)
			return ret;
		for (; at && position[sorted[at - 1]->kind] > position[action->kind]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = action;
	}
	return 0;
}

int mlx5_dr_plan(const char *call, const struct dr_soft *soft, bool is_tx, uint16_t lookup_type,
		 size_t count, struct mlx5dv_dr_action *const actions[], struct dr_plan *plan)
{
	const struct mlx5dv_dr_action *sorted[PLAN_ACTIONS];
	int ret;

	plan->call = call;
	plan->soft = soft;
	plan->is_tx = is_tx;
	plan->count = 1;
	plan->at = fld_at(plan->entries[0], STE_ACTIONS);
	plan->room = MATCH_ROOM;
	plan->may_count = true;
	plan->is_bare = plan->has_popped = false;
	plan->kinds = plan->rank = 0;
	plan->popped = plan->pushed = 0;
	plan->counter = plan->end = NULL;
	mlx5_dr_entry_begin(plan->entries[0], lookup_type, soft->caps.gvmi);
	ret = actions_sort(plan, count, actions, sorted);
	for (size_t i = 0; !ret && i < count; i++)
		ret = action_put(plan, sorted[i]);
	return ret ? ret : plan_finish(plan);
}
