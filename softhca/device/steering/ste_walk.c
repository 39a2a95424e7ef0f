/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_walk.c - the way of a frame through the entries that software has written.
 *
 * Entries are not trusted: each step looks up its address, and takes a part of the frame's budget,
 * because entries may lead in a circle. PRM: Steering Table Entry
 */
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "softhca/device/steering/ste.h"
#include "softhca/device/steering/ste_action.h"
#include "softhca/device/steering/ste_tag.h"
#include "softhca/device/steering/ste_walk.h"

enum { STEP = 16 };

static uint64_t walk_stop(const struct ste_walk *walk, uint64_t addr, const char *why)
{
	trace_line(walk->hca->config.trace, "steering: entry at %#llx: %s; the frame is dropped",
		   (unsigned long long)addr, why);
	return ste_end_address(STE_END_DROP, 0);
}

static uint64_t entry_follow(const struct ste_walk *walk, const uint8_t *entry, uint64_t addr)
{
	uint8_t tag[PRM_STE_TAG_SIZE];
	struct ste_table next;
	uint32_t number;
	enum ste_end end;

	ste_next_table(entry, &next);
	if (!next.entries)
		return walk_stop(walk, addr, "leads nowhere");
	if (ste_end_at(next.base, &end, &number))
		return next.base;
	if (!ste_tag(&walk->arrival->frame, walk->state, next.lookup, tag))
		return walk_stop(walk, addr, "leads to an unknown lookup type");
	return next.base + (uint64_t)ste_index(&next, tag) * PRM_STE_SIZE;
}

static uint64_t walk_step(struct ste_walk *walk, uint64_t addr)
{
	uint8_t entry[PRM_STE_SIZE], tag[PRM_STE_TAG_SIZE];
	const char *why;
	int lookup;

	if (addr % PRM_STE_SIZE || !ste_memory_read(walk->hca, addr, entry, sizeof(entry)))
		return walk_stop(walk, addr, "not in the memory for entries");
	lookup = ste_lookup(entry);
	if (lookup < 0 || !ste_tag(&walk->arrival->frame, walk->state, (unsigned int)lookup, tag))
		return walk_stop(walk, addr, "an unknown lookup type");
	if (!ste_hits(entry, tag))
		return ste_miss_address(entry);
	why = ste_act(walk, entry);
	return why ? walk_stop(walk, addr, why) : entry_follow(walk, entry, addr);
}

void ste_walk(struct ste_walk *walk, uint64_t root)
{
	uint64_t addr = root;

	while (!ste_end_at(addr, &walk->end, &walk->number)) {
		if (walk->steps < STEP) {
			walk->steps = 0;
			addr = walk_stop(walk, addr, "too many steps");
			continue;
		}
		ste_walk_spend(walk, STEP);
		addr = walk_step(walk, addr);
	}
}
