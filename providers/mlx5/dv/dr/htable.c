/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * htable.c - hash tables of entries. See htable.h.
 */
#include "providers/mlx5/dv/dr/htable.h"

#include "providers/mlx5/dv/dr/hash.h"
#include "util/alloc.h"

static const char call[] = "mlx5dv_dr_rule_create";

struct dr_htable *mlx5_dr_htable_new(const struct dr_chain_end *end, const struct dr_step *step,
				     struct dr_entry *above)
{
	struct dr_htable *table = malloc_for(call, sizeof(*table));

	if (!table)
		return NULL;
	*table = (struct dr_htable){ .end = end, .step = step, .above = above };
	table->slots = &table->only;
	if (!mlx5_dr_lane_alloc(end->lane, 0, &table->place))
		return table;
	free(table);
	return NULL;
}

void mlx5_dr_htable_delete(struct dr_htable *table)
{
	mlx5_dr_lane_free(table->end->lane, table->log, table->place);
	mlx5_dr_htable_leave(table);
}

void mlx5_dr_htable_leave(struct dr_htable *table)
{
	if (table->slots != &table->only)
		free(table->slots);
	free(table);
}

struct dr_target mlx5_dr_htable_target(const struct dr_htable *table)
{
	const struct dr_chain_end *end = table->end;

	return (struct dr_target){
		.address = dr_place_address(end->lane->memory, table->place),
		.gvmi = end->gvmi,
		.log = table->log,
		.lookup = table->step->lookup,
	};
}

static void entry_compose(const struct dr_entry *entry, const struct dr_step *step, uint8_t *bytes)
{
	memcpy(bytes, entry->control, DR_CONTROL_SIZE);
	if (!step) {
		memset(bytes + DR_CONTROL_SIZE, 0, PRM_STE_SIZE - DR_CONTROL_SIZE);
		return;
	}
	memcpy(fld_at(bytes, STE_MASK), step->mask, PRM_STE_TAG_SIZE);
	memcpy(fld_at(bytes, STE_TAG), entry->tag, PRM_STE_TAG_SIZE);
}

int mlx5_dr_entry_write(struct dr_lane *lane, const struct dr_entry *entry,
			const struct dr_step *step)
{
	uint8_t bytes[PRM_STE_SIZE];

	entry_compose(entry, step, bytes);
	return mlx5_dr_ring_write(&lane->ring, entry->place, bytes);
}

void mlx5_dr_htable_compose_empty(const struct dr_htable *table, uint8_t bytes[PRM_STE_SIZE])
{
	mlx5_dr_entry_begin(bytes, table->step->lookup.type, table->end->gvmi);
	mlx5_dr_entry_set_miss(bytes, table->end->miss);
	mlx5_dr_entry_always_miss(bytes);
}

static void slot_compose(const void *arg, uint32_t i, uint8_t *bytes)
{
	const struct dr_htable *table = arg;

	if (table->slots[i])
		entry_compose(table->slots[i], table->step, bytes);
	else
		mlx5_dr_htable_compose_empty(table, bytes);
}

int mlx5_dr_htable_write(struct dr_htable *table)
{
	return mlx5_dr_ring_fill(&table->end->lane->ring, table->place, 1u << table->log,
				 slot_compose, table);
}

static void entry_link(const struct dr_htable *table, struct dr_entry *entry)
{
	const struct dr_chain_end *end = table->end;

	mlx5_dr_entry_set_miss(entry->control,
			       entry->next ? dr_place_address(end->lane->memory, entry->next->place)
					   : end->miss);
}

static uint32_t slot_of(const struct dr_htable *table, const uint8_t *tag)
{
	return mlx5_dr_hash(tag, table->step->lookup.byte_mask) & ((1u << table->log) - 1);
}

struct dr_entry *mlx5_dr_htable_find(const struct dr_htable *table, const uint8_t *tag)
{
	struct dr_entry *entry = table->slots[slot_of(table, tag)];

	while (entry && memcmp(entry->tag, tag, PRM_STE_TAG_SIZE))
		entry = entry->next;
	return entry;
}

static int first_add(struct dr_htable *table, uint32_t slot, struct dr_entry *entry)
{
	int ret;

	entry->place = table->place + slot;
	ret = mlx5_dr_entry_write(table->end->lane, entry, table->step);
	if (!ret)
		table->slots[slot] = entry;
	return ret;
}

/* Writes ENTRY to a place of its own, and then its address to the last entry of the chain. In this
 * order, frames never reach an entry that is not written yet. */
static int collision_add(struct dr_htable *table, uint32_t slot, struct dr_entry *entry)
{
	struct dr_lane *lane = table->end->lane;
	struct dr_entry *last = table->slots[slot];
	int ret = mlx5_dr_lane_alloc(lane, 0, &entry->place);

	if (ret)
		return ret;
	while (last->next)
		last = last->next;
	last->next = entry;
	entry_link(table, last);
	ret = mlx5_dr_entry_write(lane, entry, table->step);
	if (!ret)
		ret = mlx5_dr_entry_write(lane, last, table->step);
	if (!ret) {
		table->collisions++;
		return 0;
	}
	last->next = NULL;
	entry_link(table, last);
	mlx5_dr_lane_free(lane, 0, entry->place);
	return ret;
}

int mlx5_dr_htable_add(struct dr_htable *table, struct dr_entry *entry)
{
	const uint32_t slot = slot_of(table, entry->tag);
	int ret;

	entry->table = table;
	entry->next = NULL;
	entry_link(table, entry);
	ret = table->slots[slot] ? collision_add(table, slot, entry)
				 : first_add(table, slot, entry);
	if (!ret)
		table->entries++;
	return ret;
}

/* Removes the first entry of a slot: one write puts the second entry of the chain, or an empty one,
 * into the slot. Frames that are in the chain still find the second entry at its old place. */
static int first_remove(struct dr_htable *table, uint32_t slot, struct dr_entry *entry)
{
	struct dr_lane *lane = table->end->lane;
	struct dr_entry *second = entry->next;
	uint8_t bytes[PRM_STE_SIZE];
	uint32_t freed;
	int ret;

	table->slots[slot] = second;
	if (!second) {
		mlx5_dr_htable_compose_empty(table, bytes);
		return mlx5_dr_ring_write(&lane->ring, entry->place, bytes);
	}
	freed = second->place;
	second->place = entry->place;
	ret = mlx5_dr_entry_write(lane, second, table->step);
	mlx5_dr_lane_free(lane, 0, freed); /* after the write, because it may sync */
	table->collisions--;
	return ret;
}

static int later_remove(struct dr_htable *table, uint32_t slot, struct dr_entry *entry)
{
	struct dr_lane *lane = table->end->lane;
	struct dr_entry *before = table->slots[slot];
	int ret;

	while (before->next != entry)
		before = before->next;
	before->next = entry->next;
	entry_link(table, before);
	ret = mlx5_dr_entry_write(lane, before, table->step);
	mlx5_dr_lane_free(lane, 0, entry->place);
	table->collisions--;
	return ret;
}

int mlx5_dr_htable_remove(struct dr_htable *table, struct dr_entry *entry)
{
	const uint32_t slot = slot_of(table, entry->tag);

	table->entries--;
	return table->slots[slot] == entry ? first_remove(table, slot, entry)
					   : later_remove(table, slot, entry);
}

/* Applies the rule of release 65.0: half of the slots are used, and as many entries are in chains.
 * More slots than the selected bytes have values would stay empty. */
bool mlx5_dr_htable_is_crowded(const struct dr_htable *table)
{
	const uint32_t half = ((1u << table->log) + 1) / 2;
	const unsigned int bits =
		8u * (unsigned int)__builtin_popcount(table->step->lookup.byte_mask);

	return table->entries >= table->scarce && table->collisions >= half &&
	       table->entries - table->collisions >= half &&
	       table->log + DR_HTABLE_GROWTH <= DR_HTABLE_LOG_MAX && bits > table->log;
}

/* Memory for a larger table. An entry's new slot index extends its old one by further hash bits, so
 * the table has no more collisions than before. */
struct growth {
	struct dr_entry **slots;
	uint8_t log;
	uint32_t place;
	struct dr_places fresh;
};

static void fresh_give(struct dr_lane *lane, struct dr_places *fresh)
{
	struct dr_block block;

	while (dr_places_pop(fresh, &block))
		mlx5_dr_lane_give_place(lane, block.place);
	dr_places_free(fresh);
}

static int fresh_take(struct dr_lane *lane, uint32_t count, struct dr_places *fresh)
{
	int ret = dr_places_reserve(fresh, count) ? 0 : ENOMEM;

	while (!ret && fresh->count < count) {
		uint32_t place;

		ret = mlx5_dr_lane_alloc(lane, 0, &place);
		if (!ret)
			dr_places_push(fresh, place, 0);
	}
	return ret;
}

/* Allocates all memory for the growth, and room in OLD for the old places. On failure frees all of
 * it, delays the next growth (table->scarce), and returns an errno. */
static int growth_take(struct dr_htable *table, struct growth *growth, struct dr_old_htable *old)
{
	struct dr_lane *lane = table->end->lane;
	int ret;

	growth->slots = calloc_for(call, (size_t)1 << growth->log, sizeof(struct dr_entry *));
	ret = growth->slots && dr_places_reserve(&old->collisions, table->collisions) ? 0 : ENOMEM;
	if (!ret)
		ret = fresh_take(lane, table->collisions, &growth->fresh);
	if (!ret)
		ret = mlx5_dr_lane_alloc(lane, growth->log, &growth->place);
	if (!ret)
		return 0;
	table->scarce = 2 * table->entries;
	fresh_give(lane, &growth->fresh);
	dr_places_free(&old->collisions);
	free(growth->slots);
	return ret;
}

static void chains_place(struct dr_htable *table, struct dr_places *fresh)
{
	for (uint32_t slot = 0; slot < 1u << table->log; slot++) {
		struct dr_entry *entry = table->slots[slot];
		struct dr_block block = { table->place + slot, 0 };

		for (; entry; entry = entry->next) {
			entry->place = block.place;
			if (entry->next)
				dr_places_pop(fresh, &block);
		}
		for (entry = table->slots[slot]; entry; entry = entry->next)
			entry_link(table, entry);
	}
}

static int collisions_write(struct dr_htable *table)
{
	int ret = 0;

	for (uint32_t slot = 0; !ret && slot < 1u << table->log; slot++) {
		const struct dr_entry *entry = table->slots[slot] ? table->slots[slot]->next : NULL;

		for (; !ret && entry; entry = entry->next)
			ret = mlx5_dr_entry_write(table->end->lane, entry, table->step);
	}
	return ret;
}

static void entries_move(struct dr_htable *table, struct dr_entry **slots, uint8_t log,
			 struct dr_places *collisions)
{
	table->collisions = 0;
	for (uint32_t i = 0; i < 1u << log; i++) {
		struct dr_entry *entry = slots[i], *next;

		for (; entry; entry = next) {
			struct dr_entry **at = &table->slots[slot_of(table, entry->tag)];

			next = entry->next;
			entry->next = NULL;
			if (entry != slots[i])
				dr_places_push(collisions, entry->place, 0); /* has room */
			table->collisions += *at != NULL;
			while (*at)
				at = &(*at)->next;
			*at = entry;
		}
	}
}

static void shadow_grow(struct dr_htable *table, struct growth *growth, struct dr_old_htable *old)
{
	struct dr_entry **old_slots = table->slots;

	old->place = table->place;
	old->log = table->log;
	table->slots = growth->slots;
	table->place = growth->place;
	table->log = growth->log;
	table->scarce = 0;
	entries_move(table, old_slots, old->log, &old->collisions);
	if (old_slots != &table->only)
		free(old_slots);
	chains_place(table, &growth->fresh);
	fresh_give(table->end->lane, &growth->fresh);
}

int mlx5_dr_htable_grow(struct dr_htable *table, struct dr_old_htable *old)
{
	struct growth growth = { .log = (uint8_t)(table->log + DR_HTABLE_GROWTH) };
	int ret;

	*old = (struct dr_old_htable){ .place = 0 };
	ret = growth_take(table, &growth, old);
	if (ret)
		return ret;
	shadow_grow(table, &growth, old);
	ret = mlx5_dr_htable_write(table);
	if (!ret)
		ret = collisions_write(table);
	if (ret) { /* the shadow is ahead of the memory */
		dr_ring_set_error(&table->end->lane->ring, ret);
		dr_places_free(&old->collisions);
	}
	return ret;
}

void mlx5_dr_htable_grown(struct dr_htable *table, struct dr_old_htable *old)
{
	struct dr_block block;

	mlx5_dr_lane_free(table->end->lane, old->log, old->place);
	while (dr_places_pop(&old->collisions, &block))
		mlx5_dr_lane_free(table->end->lane, 0, block.place);
	dr_places_free(&old->collisions);
}
