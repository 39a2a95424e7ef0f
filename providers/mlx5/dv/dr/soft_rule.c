/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft_rule.c - rules of tables below the root. See soft_rule.h.
 *
 * A rule uses the entries that others have made for the same tags, step by step, and adds its own
 * behind them. They are written from the last to the first, so frames find all or nothing.
 */
#include "providers/mlx5/dv/dr/soft_rule.h"

#include <errno.h>

#include "providers/common/branch.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "util/log.h"

struct insertion {
	struct dr_soft_matcher *matcher;
	struct dr_lane *lane;
	const struct dr_plan *plan;
	struct dr_entry *above;
	struct dr_htable *table; /* table for the rule's first own entry */
	unsigned int step;
	struct dr_entry *own[DR_MATCH_STEPS];
	struct dr_entry *actions[DR_PLAN_ENTRIES];
	uint8_t tags[DR_MATCH_STEPS][PRM_STE_TAG_SIZE];
};

static struct dr_target entry_target(const struct insertion *in, const struct dr_entry *entry)
{
	return (struct dr_target){
		.address = dr_place_address(in->lane->memory, entry->place),
		.gvmi = in->matcher->end.gvmi,
		.lookup.type = PRM_STE_NOTHING,
	};
}

static int actions_alloc(struct insertion *in)
{
	for (unsigned int i = 1; i < in->plan->count; i++) {
		struct dr_entry *entry = mlx5_dr_lane_entry(in->lane);
		int ret = entry ? mlx5_dr_lane_alloc(in->lane, 0, &entry->place) : ENOMEM;

		if (ret && entry)
			mlx5_dr_lane_give_entry(in->lane, entry);
		if (ret)
			return ret;
		in->actions[i] = entry;
		if (i > 1)
			in->actions[i - 1]->next = entry;
	}
	return 0;
}

/* Writes the entries behind the last match from last to first, because each leads to the next.
 * Their bytes come from the plan; the shadow stores the place, and the control part for dumps. */
static int actions_write(struct insertion *in)
{
	int ret = 0;

	for (unsigned int i = in->plan->count; !ret && i-- > 1;) {
		struct dr_entry *entry = in->actions[i];
		uint8_t bytes[PRM_STE_SIZE];

		memcpy(bytes, in->plan->entries[i], sizeof(bytes));
		if (entry->next) {
			const struct dr_target target = entry_target(in, entry->next);

			mlx5_dr_entry_set_hit(bytes, &target);
		}
		memcpy(entry->control, bytes, sizeof(entry->control));
		ret = mlx5_dr_ring_write(&in->lane->ring, entry->place, bytes);
	}
	return ret;
}

static int path_find(struct insertion *in, bool refuses_duplicates)
{
	const struct dr_match *match = &in->matcher->match;
	struct dr_entry *found;

	in->table = in->matcher->top;
	in->above = NULL;
	for (in->step = 0; in->step + 1 < match->num_steps; in->step++) {
		found = mlx5_dr_htable_find(in->table, in->tags[in->step]);
		if (!found)
			return 0;
		in->above = found;
		in->table = found->below;
	}
	if (!refuses_duplicates || !mlx5_dr_htable_find(in->table, in->tags[in->step]))
		return 0;
	verbs_warn("mlx5dv_dr_rule_create: the matcher has this rule already");
	return EEXIST;
}

static int own_alloc(struct insertion *in)
{
	const struct dr_match *match = &in->matcher->match;

	for (unsigned int i = in->step; i < match->num_steps; i++) {
		struct dr_entry *entry = mlx5_dr_lane_entry(in->lane);

		if (!entry)
			return ENOMEM;
		in->own[i] = entry;
		memcpy(entry->tag, in->tags[i], PRM_STE_TAG_SIZE);
		if (i + 1 == match->num_steps)
			return 0;
		entry->below = mlx5_dr_htable_new(&in->matcher->end, &match->steps[i + 1], entry);
		if (!entry->below)
			return ENOMEM;
	}
	return 0;
}

static void own_compose(struct insertion *in, unsigned int i)
{
	const struct dr_match *match = &in->matcher->match;
	struct dr_entry *entry = in->own[i];
	struct dr_target target;
	uint8_t bytes[PRM_STE_SIZE];

	if (i + 1 == match->num_steps) {
		memcpy(entry->control, in->plan->entries[0], DR_CONTROL_SIZE);
		if (in->plan->count == 1)
			return;
		target = entry_target(in, in->actions[1]);
		mlx5_dr_entry_set_hit(entry->control, &target);
		return;
	}
	target = mlx5_dr_htable_target(entry->below);
	mlx5_dr_entry_begin(bytes, match->steps[i].lookup.type, in->matcher->end.gvmi);
	mlx5_dr_entry_set_hit(bytes, &target);
	memcpy(entry->control, bytes, DR_CONTROL_SIZE);
}

static int own_write(struct insertion *in)
{
	int ret = 0;

	for (unsigned int i = in->matcher->match.num_steps; !ret && i-- > in->step;) {
		own_compose(in, i);
		ret = mlx5_dr_htable_add(i == in->step ? in->table : in->own[i - 1]->below,
					 in->own[i]);
	}
	return ret;
}

static void insertion_undo(struct insertion *in)
{
	for (unsigned int i = in->step; i < in->matcher->match.num_steps; i++) {
		if (!in->own[i])
			continue;
		if (in->own[i]->below)
			mlx5_dr_htable_delete(in->own[i]->below);
		mlx5_dr_lane_give_entry(in->lane, in->own[i]);
	}
	for (unsigned int i = 1; i < in->plan->count; i++) {
		if (!in->actions[i])
			continue;
		mlx5_dr_lane_free(in->lane, 0, in->actions[i]->place);
		mlx5_dr_lane_give_entry(in->lane, in->actions[i]);
	}
}

/* Grows in->table, to which in->above leads. The old table stays until in->above is rewritten,
 * because frames still find it. */
static int lower_grow(struct insertion *in)
{
	struct dr_old_htable old;
	struct dr_target target;
	int ret = mlx5_dr_htable_grow(in->table, &old);

	if (ret)
		return ret;
	target = mlx5_dr_htable_target(in->table);
	mlx5_dr_entry_set_hit(in->above->control, &target);
	ret = mlx5_dr_entry_write(in->lane, in->above, in->above->table->step);
	mlx5_dr_htable_grown(in->table, &old);
	return ret;
}

/* Grows the table if it is crowded. Ignores failures: a table that cannot grow has longer chains,
 * and a lost ring fails the insertion itself. */
static void table_grow(struct insertion *in)
{
	if (!mlx5_dr_htable_is_crowded(in->table))
		return;
	if (in->above)
		lower_grow(in);
	else
		mlx5_dr_soft_table_grow(in->matcher->table, in->matcher);
}

static int insertion_run(struct insertion *in, bool refuses_duplicates)
{
	int ret = path_find(in, refuses_duplicates);

	if (!ret && unlikely(in->matcher->is_fresh))
		ret = mlx5_dr_soft_matcher_settle(in->matcher);
	if (ret)
		return ret;
	table_grow(in);
	memset(in->own, 0, sizeof(in->own));
	memset(in->actions, 0, sizeof(in->actions));
	ret = actions_alloc(in);
	if (!ret)
		ret = own_alloc(in);
	if (!ret)
		ret = actions_write(in);
	if (!ret)
		ret = own_write(in);
	if (ret)
		insertion_undo(in);
	return ret;
}

static void path_use(struct dr_entry *last)
{
	for (struct dr_entry *entry = last; entry; entry = entry->table->above)
		entry->users++;
}

static int tags_make(struct insertion *in, const void *value, size_t size)
{
	const struct dr_match *match = &in->matcher->match;
	uint8_t whole[DR_MATCH_SIZE];

	if (size > DR_MATCH_SIZE || mlx5_dr_match_check(match, value, size)) {
		verbs_warn("mlx5dv_dr_rule_create: the value of %zu bytes has bits outside of the "
			   "matcher's mask, or an ip_version that is not the mask's",
			   size);
		return EINVAL;
	}
	if (size < match->size) {
		memset(whole, 0, sizeof(whole));
		memcpy(whole, value, size);
		value = whole;
	}
	for (unsigned int i = 0; i < match->num_steps; i++)
		mlx5_dr_match_tag(&match->steps[i], value, in->tags[i]);
	return 0;
}

static int rule_insert(struct insertion *in, bool refuses_duplicates, struct dr_soft_rule *rule)
{
	int ret;

	pthread_mutex_lock(&in->lane->lock);
	ret = insertion_run(in, refuses_duplicates);
	if (!ret) {
		rule->last = in->own[in->matcher->match.num_steps - 1];
		rule->actions = in->plan->count > 1 ? in->actions[1] : NULL;
		path_use(rule->last);
	}
	pthread_mutex_unlock(&in->lane->lock);
	return ret;
}

int mlx5_dr_soft_rule_create(struct dr_soft_matcher *matcher, const void *value, size_t size,
			     const struct dr_plan *plan, bool refuses_duplicates,
			     struct dr_soft_rule *rule)
{
	/* not initialised: the arrays are large, and are set as far as they are used */
	struct insertion in;
	int ret;

	in.matcher = matcher;
	in.lane = matcher->end.lane;
	in.plan = plan;
	ret = tags_make(&in, value, size);
	if (ret)
		return ret;
	ret = rule_insert(&in, refuses_duplicates, rule);
	if (unlikely(ret == ENOMEM) && mlx5_dr_soft_reclaim(matcher->table->soft))
		ret = rule_insert(&in, refuses_duplicates, rule);
	return ret;
}

/* Removes the rule from the users of each entry on its path, which ends at LAST. Returns the
 * uppermost entry that no rule uses any more. */
static struct dr_entry *path_unuse(struct dr_entry *last)
{
	struct dr_entry *first = NULL;

	for (struct dr_entry *entry = last; entry; entry = entry->table->above)
		if (!--entry->users)
			first = entry;
	return first;
}

/* Frees FIRST, the entries below it, and their tables, each of which has one entry. No frame finds
 * them any more. */
static void path_free(struct dr_lane *lane, struct dr_entry *first)
{
	struct dr_htable *below;

	for (struct dr_entry *entry = first, *next; entry; entry = next) {
		below = entry->below;
		next = NULL;
		if (below) {
			for (uint32_t i = 0; !next; i++)
				next = below->slots[i];
			mlx5_dr_htable_delete(below);
		}
		mlx5_dr_lane_give_entry(lane, entry);
	}
}

int mlx5_dr_soft_rule_destroy(struct dr_soft_matcher *matcher, struct dr_soft_rule *rule)
{
	struct dr_lane *lane = matcher->end.lane;
	struct dr_entry *first;
	int ret;

	pthread_mutex_lock(&lane->lock);
	first = path_unuse(rule->last);
	ret = mlx5_dr_htable_remove(first->table, first);
	path_free(lane, first);
	for (struct dr_entry *entry = rule->actions, *next; entry; entry = next) {
		next = entry->next;
		mlx5_dr_lane_free(lane, 0, entry->place);
		mlx5_dr_lane_give_entry(lane, entry);
	}
	pthread_mutex_unlock(&lane->lock);
	return ret;
}
