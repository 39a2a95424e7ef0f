/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_entry.c - prints the entries of a rule. See dump_entry.h.
 *
 * The bytes come from the shadows, under the lane's lock, because other rules of the matcher change
 * miss addresses.
 */
#include "providers/mlx5/dv/dr/dump_entry.h"

#include <inttypes.h>
#include <stdint.h>

#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/htable.h"
#include "providers/mlx5/dv/dr/soft_matcher.h"

/* Records of entries in format 1, by the side of the adapter. */
enum { DUMP_RX_ENTRY = 3303, DUMP_TX_ENTRY = 3304 };

static void dump_bytes(FILE *file, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(file, "%02x", bytes[i]);
}

static void dump_entry(FILE *file, const struct mlx5dv_dr_rule *rule, const struct dr_entry *entry)
{
	const bool is_tx = rule->matcher->table->domain->type == MLX5DV_DR_DOMAIN_TYPE_NIC_TX;
	const struct dr_memory *memory = rule->matcher->soft->end.lane->memory;
	/* an entry of actions compares no tag */
	static const uint8_t no_tag[PRM_STE_TAG_SIZE];
	const uint32_t index = (uint32_t)(dr_place_address(memory, entry->place) / PRM_STE_SIZE);

	fprintf(file, "%d,0x%" PRIx32 ",0x%" PRIx64 ",", is_tx ? DUMP_TX_ENTRY : DUMP_RX_ENTRY,
		index, (uint64_t)(uintptr_t)rule);
	dump_bytes(file, entry->control, sizeof(entry->control));
	dump_bytes(file, entry->table ? entry->tag : no_tag, PRM_STE_TAG_SIZE);
	fprintf(file, "\n");
}

void mlx5_dr_dump_entries(FILE *file, const struct mlx5dv_dr_rule *rule)
{
	struct dr_lane *lane = rule->matcher->soft->end.lane;
	const struct dr_entry *path[DR_MATCH_STEPS];
	unsigned int steps = 0;

	pthread_mutex_lock(&lane->lock);
	for (const struct dr_entry *entry = rule->soft.last; entry; entry = entry->table->above)
		path[steps++] = entry;
	while (steps)
		dump_entry(file, rule, path[--steps]);
	for (const struct dr_entry *entry = rule->soft.actions; entry; entry = entry->next)
		dump_entry(file, rule, entry);
	pthread_mutex_unlock(&lane->lock);
}
