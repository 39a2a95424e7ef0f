/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_match.c - finds the flow table entry that matches a frame, and forwards the frame.
 *
 * The frame's fields are written once in the layout of the groups' masks (flow_key.c). An entry
 * matches if these bytes, under its group's mask, equal its value. If several match, the lowest
 * index wins. PRM: Flow Table
 */
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "softhca/device/steering/ste_walk.h"

enum {
	/* Most steps for one frame, where steering ends. Destinations multiply, and software can
	 * build tables with long look-ups, so an unlimited walk could block the device. */
	STEPS = 16384,
	VISIT = 64,  /* steps for a table or a TIR */
	LOOKUP = 16, /* steps for a group; each compared entry costs one */
};

struct walk {
	struct hca *hca;
	struct eth_arrival *arrival;
	struct flow_state state;
	unsigned int steps;
	bool allowed; /* no entry has dropped or consumed the frame */
	uint8_t key[FLOW_KEY_SIZE];
};

static void work_spend(struct walk *walk, unsigned int steps)
{
	walk->steps -= steps < walk->steps ? steps : walk->steps;
}

/* Applies the group's mask to the key, in the sets that the mask uses. */
static void key_mask(const struct walk *walk, const struct flow_group *group, uint8_t *masked)
{
	for (unsigned int set = 0; set < PRM_MATCH_SETS; set++) {
		const unsigned int from = set * PRM_MATCH_SET_SIZE;

		if (!(group->sets >> set & 1))
			continue;
		for (unsigned int i = from; i < from + PRM_MATCH_SET_SIZE; i++)
			masked[i] = walk->key[i] & group->mask[i];
	}
}

static bool keys_match(const uint8_t *one, const uint8_t *other, uint8_t sets)
{
	for (size_t at = 0; at < FLOW_KEY_SIZE; at += PRM_MATCH_SET_SIZE, sets >>= 1)
		if (sets & 1 && memcmp(one + at, other + at, PRM_MATCH_SET_SIZE))
			return false;
	return true;
}

static struct flow_entry *match_in_group(struct walk *walk, const struct flow_group *group)
{
	struct flow_entry *entry, *best = NULL;
	uint8_t masked[FLOW_KEY_SIZE]; /* only the group's sets */

	key_mask(walk, group, masked);
	work_spend(walk, LOOKUP);
	LIST_FOREACH(entry, &group->bucket[flow_hash(masked, group->sets) % FLOW_BUCKETS],
		     in_bucket) {
		work_spend(walk, 1);
		if (keys_match(entry->key, masked, group->sets) &&
		    (!best || entry->index < best->index))
			best = entry;
	}
	return best;
}

/* Finds the matching entry with the lowest index. Groups are sorted by index and do not overlap, so
 * the first group with a match has it. */
static struct flow_entry *table_match(struct walk *walk, const struct flow_table *table)
{
	struct flow_entry *entry = NULL;
	struct flow_group *group;

	TAILQ_FOREACH(group, &table->groups, in_table) {
		entry = group->entries ? match_in_group(walk, group) : NULL;
		if (entry || !walk->steps)
			break;
	}
	return entry;
}

static void table_visit(struct walk *walk, struct flow_table *table);

static void destination_visit(struct walk *walk, const struct flow_entry *entry,
			      const struct flow_destination *destination)
{
	if (destination->table) {
		table_visit(walk, destination->table);
	} else if (walk->steps) {
		work_spend(walk, VISIT);
		walk->allowed = false;
		walk->arrival->tag = entry->tag;
		tir_receive(walk->hca, destination->tir, walk->arrival);
	}
}

/* A frame where its way forks, kept as tables on one branch may change it, but the other branches
 * must see it unchanged. */
struct fork {
	struct frame frame;
	struct flow_state state;
	uint32_t tag;
	uint8_t key[FLOW_KEY_SIZE];
};

static void fork_save(const struct walk *walk, struct fork *fork)
{
	fork->frame = walk->arrival->frame;
	fork->state = walk->state;
	fork->tag = walk->arrival->tag;
	memcpy(fork->key, walk->key, sizeof(fork->key));
}

static void fork_restore(struct walk *walk, const struct fork *fork)
{
	walk->arrival->frame = fork->frame;
	walk->state = fork->state;
	walk->arrival->tag = fork->tag;
	memcpy(walk->key, fork->key, sizeof(fork->key));
}

/* Each of several destinations gets the frame as the entry leaves it. */
static void entry_forward(struct walk *walk, const struct flow_entry *entry)
{
	struct fork fork;

	fork_save(walk, &fork);
	for (unsigned int i = 0; i < entry->count; i++) {
		if (i)
			fork_restore(walk, &fork);
		destination_visit(walk, entry, &entry->destination[i]);
	}
}

/* Writes the frame to BYTES as one action changes it. Returns its length, or 0 if the action cannot
 * be done with this frame. */
typedef size_t change_fn(struct walk *walk, const struct flow_entry *entry, uint8_t *bytes);

static size_t change_fields(struct walk *walk, const struct flow_entry *entry, uint8_t *bytes)
{
	const struct frame *frame = &walk->arrival->frame;

	memcpy(bytes, frame->bytes, frame->len);
	modify_header_apply(entry->change, frame, bytes, walk->state.registers);
	return frame->len;
}

static size_t change_tunnel(struct walk *walk, const struct flow_entry *entry, uint8_t *bytes)
{
	return packet_reformat_apply(entry->reformat, &walk->arrival->frame, bytes);
}

static size_t leave_tunnel(struct walk *walk, const struct flow_entry *entry, uint8_t *bytes)
{
	(void)entry;
	return packet_reformat_decap(&walk->arrival->frame, bytes);
}

/* Changes a copy of the frame: others may still read the frame as it was. */
static bool frame_change(struct walk *walk, const struct flow_entry *entry, change_fn *change)
{
	struct frame *frame = &walk->arrival->frame;
	uint8_t *bytes = frame_copy_add(&walk->arrival->copies);
	size_t len;

	work_spend(walk, VISIT);
	if (!bytes)
		return false;
	len = change(walk, entry, bytes);
	if (len)
		frame_parse(frame, bytes, len);
	return len != 0;
}

/* Does what the entry says in the order of adapters: the frame leaves a tunnel, fields change, the
 * frame enters a tunnel. Returns false without memory, and if a frame is in no tunnel to leave, or
 * too long to enter one. */
static bool entry_change(struct walk *walk, const struct flow_entry *entry)
{
	const bool leaves = entry->action & PRM_FLOW_DECAP;
	const bool is_received =
		entry->reformat && packet_reformat_table(entry->reformat) == PRM_FLOW_NIC_RX;

	if (!leaves && !entry->change && !entry->reformat)
		return true;
	if ((leaves && !frame_change(walk, entry, leave_tunnel)) ||
	    (is_received && !frame_change(walk, entry, change_tunnel)) ||
	    (entry->change && !frame_change(walk, entry, change_fields)) ||
	    (entry->reformat && !is_received && !frame_change(walk, entry, change_tunnel)))
		return false;
	flow_key_write(&walk->arrival->frame, &walk->state, walk->key);
	return true;
}

static void entry_act(struct walk *walk, const struct flow_entry *entry)
{
	if (entry->counter) {
		entry->counter->packets++;
		entry->counter->bytes += walk->arrival->frame.len;
	}
	if (entry->action & PRM_FLOW_DROP || !entry_change(walk, entry))
		walk->allowed = false;
	else if (entry->action & PRM_FLOW_FWD)
		entry_forward(walk, entry);
}

static void table_visit_changed(struct walk *walk, struct flow_table *table)
{
	flow_key_write(&walk->arrival->frame, &walk->state, walk->key);
	table_visit(walk, table);
}

/* Both tables get the frame as it is here. The sample is a copy: what its tables decide about it
 * does not count for the frame. */
static void sampler_visit(struct walk *walk, struct sampler *sampler)
{
	const bool allowed = walk->allowed;
	struct fork fork;

	work_spend(walk, VISIT);
	if (sampler_takes(sampler)) {
		fork_save(walk, &fork);
		table_visit_changed(walk, sampler->sample);
		fork_restore(walk, &fork);
		walk->allowed = allowed;
	}
	table_visit_changed(walk, sampler->otherwise);
}

static void meter_visit(struct walk *walk, struct flow_meter *meter)
{
	work_spend(walk, VISIT);
	fld_set(walk->state.registers, FLOW_REGISTER_C(meter->reg),
		flow_meter_color(meter, walk->hca->now, walk->arrival->frame.len));
	table_visit_changed(walk, meter->next);
}

static void tir_visit(struct walk *walk, struct tir *tir)
{
	work_spend(walk, VISIT);
	walk->allowed = false;
	tir_receive(walk->hca, tir, walk->arrival);
}

/* Goes on at the object where entries of TABLE have led. Returns false if a frame cannot go
 * there. */
static bool end_visit(struct walk *walk, const struct flow_table *table, const struct ste_walk *way)
{
	struct eth *eth = walk->hca->eth;
	struct flow_table *next;
	struct sampler *sampler;
	struct flow_meter *meter;
	struct tir *tir;

	switch (way->end) {
	case STE_END_TABLE:
		next = res_get(&eth->flow_tables, way->number);
		if (!next || next->type != table->type)
			return false;
		table_visit_changed(walk, next);
		return true;
	case STE_END_SAMPLER:
		sampler = res_get(&eth->samplers, way->number);
		if (!sampler || sampler->type != table->type)
			return false;
		sampler_visit(walk, sampler);
		return true;
	case STE_END_METER:
		meter = res_get(&eth->flow_meters, way->number);
		if (!meter || meter->type != table->type)
			return false;
		meter_visit(walk, meter);
		return true;
	case STE_END_TIR:
		tir = table->type == PRM_FLOW_NIC_RX ? res_get(&eth->tirs, way->number) : NULL;
		if (!tir)
			return false;
		tir_visit(walk, tir);
		return true;
	default:
		return false;
	}
}

/* Follows entries that software has written. They may lead to tables of entries by commands. */
static void software_visit(struct walk *walk, const struct flow_table *table)
{
	static const char *const kinds[STE_ENDS] = {
		[STE_END_TIR] = "TIR",
		[STE_END_TABLE] = "table",
		[STE_END_SAMPLER] = "sampler",
		[STE_END_METER] = "meter",
	};
	struct ste_walk way = {
		.hca = walk->hca,
		.arrival = walk->arrival,
		.state = &walk->state,
		.steps = walk->steps,
		.tag = walk->arrival->tag,
	};

	ste_walk(&way, table->software_root);
	walk->steps = way.steps;
	/* For received frames only, as a sent frame may be received again, without the tag. */
	if (table->type == PRM_FLOW_NIC_RX)
		walk->arrival->tag = way.tag;
	if (way.end == STE_END_ALLOW || (way.end != STE_END_DROP && end_visit(walk, table, &way)))
		return;
	walk->allowed = false;
	if (way.end != STE_END_DROP)
		trace_line(walk->hca->config.trace,
			   "steering: entries of table %#x lead to %s %#x, which a frame cannot go "
			   "to; the frame is dropped",
			   table->n, kinds[way.end], way.number);
}

/* Follows a table and its miss tables. A table leads only to higher levels, but those of software
 * may lead in a circle, so a frame whose steps are spent is dropped. */
static void table_visit(struct walk *walk, struct flow_table *table)
{
	struct flow_entry *entry = NULL;

	for (; table && !entry && walk->steps; table = table->miss) {
		work_spend(walk, VISIT);
		if (table->software_root) {
			software_visit(walk, table);
			return;
		}
		entry = table_match(walk, table);
	}
	if (entry)
		entry_act(walk, entry);
	else if (!walk->steps)
		walk->allowed = false;
}

bool flow_steer(struct hca *hca, struct flow_table *root, struct eth_arrival *arrival, uint32_t sqn)
{
	struct walk walk = {
		.hca = hca, .arrival = arrival, .state.sqn = sqn, .steps = STEPS, .allowed = true
	};

	if (!root)
		return true;
	flow_key_write(&arrival->frame, &walk.state, walk.key);
	table_visit(&walk, root);
	hca->eth->work += STEPS - walk.steps;
	return walk.allowed;
}
