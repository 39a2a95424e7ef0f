/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft_rule_test.c - rules come and go in an adapter's memory that is the test's: after each write,
 * frames of all rules that are there find their ends, and no others do. Frames walk the entries'
 * bytes.
 *
 * Covers: providers/mlx5/dv/dr/soft_rule.c, providers/mlx5/dv/dr/htable.c,
 * providers/mlx5/dv/dr/lane.c, providers/mlx5/dv/dr/places.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dr/hash.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "providers/mlx5/dv/dr/soft_rule.h"

enum {
	PLACES = 1 << 17,
	RULES = 300,
	SPORTS = 7, /* few values of the first steps: rules share entries */
	GVMI = 0x12,
	ENDS = 0x900000, /* rule I ends at ENDS + 64 * I */
};

static struct {
	uint8_t entries[PLACES][PRM_STE_SIZE];
	uint32_t next_place;
	uint32_t anchor_place; /* the first table, as frames find it */
	uint8_t anchor_log;
	struct mlx5_context mlx5; /* of commands */
	struct dr_soft soft;
	struct dr_soft_table table;
	struct dr_soft_matcher *matcher;
	struct dr_lane lane;
	struct dr_soft_rule rules[RULES];
	bool there[RULES];
	unsigned int changing;               /* the rule that comes or goes */
	unsigned int writes, syncs, fail_in; /* the write that fails, from 1 on; 0: none */
	bool is_scarce;                      /* there are allocs_left blocks of memory */
	unsigned int allocs_left, refusals;
	unsigned int reclaims, reclaimed; /* calls, and blocks that the next one finds */
	bool refuses_growth;
	unsigned int settled; /* calls */
	int settle_error;
	/* blocks taken so far; freed places of one entry that the memory can hand out again */
	unsigned int allocs, given_back;
} it;

static void value_of(unsigned int rule, uint8_t *value)
{
	memset(value, 0, DR_MATCH_SIZE);
	fld_set(value, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_IP_VERSION), 4);
	fld_set(value, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_DMAC_15_0), rule % SPORTS);
	fld_set(value, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_UDP_DPORT), rule);
	fld_set(value, FLD_IN(MATCH_MISC_PARAMETERS, MISC_VXLAN_VNI), rule / 3);
}

static uint64_t place_base(void)
{
	return it.soft.memory.pools[0].base;
}

static void frame_tag(const uint8_t *value, unsigned int type, uint8_t *tag)
{
	const struct dr_match *match = &it.matcher->match;

	memset(tag, 0, PRM_STE_TAG_SIZE);
	for (unsigned int i = 0; i < match->num_steps; i++)
		if (match->steps[i].lookup.type == type)
			mlx5_dr_match_tag(&match->steps[i], value, tag);
}

static bool entry_hits(const uint8_t *entry, const uint8_t *value)
{
	const unsigned int format = (unsigned int)fld_get(entry, STE_ENTRY_FORMAT);
	const uint8_t *mask = fld_at(entry, STE_MASK), *own = fld_at(entry, STE_TAG);
	uint8_t tag[PRM_STE_TAG_SIZE];

	if (format == PRM_STE_MATCH)
		return true;
	frame_tag(value, format << 8 | (unsigned int)fld_get(entry, STE_DEFINER), tag);
	for (unsigned int i = 0; i < PRM_STE_TAG_SIZE; i++)
		if ((tag[i] & mask[i]) != own[i])
			return false;
	return true;
}

/* Returns the address behind a hit. */
static uint64_t entry_next(const uint8_t *entry, const uint8_t *value)
{
	const uint64_t low = fld_get(entry, FLD(0x10, 31, 0)), half = low & -low;
	uint8_t tag[PRM_STE_TAG_SIZE];
	uint32_t index;

	if (fld_get(entry, STE_ENTRY_FORMAT) == PRM_STE_MATCH)
		return low - half;
	frame_tag(value,
		  (unsigned int)(fld_get(entry, STE_NEXT_ENTRY_FORMAT) << 8 |
				 fld_get(entry, STE_NEXT_DEFINER)),
		  tag);
	index = mlx5_dr_hash(tag, (uint16_t)fld_get(entry, STE_NEXT_BYTE_MASK));
	return low - half + index % (half / (PRM_STE_SIZE / 2)) * PRM_STE_SIZE;
}

/* Returns the address where a frame ends: outside of the memory, or the end of the matcher. */
static uint64_t frame_end(const uint8_t *value)
{
	const struct dr_step *first = &it.matcher->match.steps[0];
	uint8_t tag[PRM_STE_TAG_SIZE];
	uint64_t addr;

	mlx5_dr_match_tag(first, value, tag);
	addr = place_base() + (it.anchor_place + (mlx5_dr_hash(tag, first->lookup.byte_mask) &
						  ((1u << it.anchor_log) - 1))) *
				      (uint64_t)PRM_STE_SIZE;
	for (int steps = 0; addr >= place_base() && addr != it.matcher->end.miss; steps++) {
		const uint8_t *entry = it.entries[(addr - place_base()) / PRM_STE_SIZE];

		assert_true(steps < 1000);
		assert_true(entry[4] || entry[5]); /* written */
		addr = entry_hits(entry, value)
			       ? entry_next(entry, value)
			       : fld_get(entry, STE_MISS_ADDRESS_39_32) << 32 |
					 fld_get(entry, STE_MISS_ADDRESS_31_6) << 6;
	}
	return addr;
}

static void check_frames(unsigned int from, unsigned int step)
{
	uint8_t value[DR_MATCH_SIZE];

	for (unsigned int i = from; i < RULES; i += step)
		if (it.there[i]) {
			value_of(i, value);
			assert_int_equal(frame_end(value), ENDS + i * 64);
		}
}

/* A frame of the rule that comes or goes finds all of it or nothing, as the adapter may walk at any
 * time. */
static void check_changing(void)
{
	uint8_t value[DR_MATCH_SIZE];
	uint64_t end;

	value_of(it.changing, value);
	end = frame_end(value);
	assert_true(end == ENDS + it.changing * 64 || end == it.matcher->end.miss);
}

static void check_shadow(const struct dr_entry *entry)
{
	assert_memory_equal(entry->control, it.entries[entry->place], DR_CONTROL_SIZE);
}

/* The shadows of each rule's entries have the bytes of the memory: dumps print these. */
static void check_shadows(void)
{
	for (unsigned int i = 0; i < RULES; i++) {
		if (!it.there[i])
			continue;
		for (const struct dr_entry *entry = it.rules[i].last; entry;
		     entry = entry->table->above)
			check_shadow(entry);
		for (const struct dr_entry *entry = it.rules[i].actions; entry; entry = entry->next)
			check_shadow(entry);
	}
}

static void check_all(void)
{
	uint8_t value[DR_MATCH_SIZE];

	check_frames(0, 1);
	check_shadows();
	for (unsigned int i = 0; i < RULES; i++)
		if (!it.there[i]) {
			value_of(i, value);
			assert_int_equal(frame_end(value), it.matcher->end.miss);
		}
}

int mlx5_dr_ring_open(struct dr_ring *ring, const struct dr_memory *memory)
{
	ring->memory = memory;
	return 0;
}

void mlx5_dr_ring_close(struct dr_ring *ring)
{
	(void)ring;
}

int mlx5_dr_ring_write(struct dr_ring *ring, uint32_t place, const uint8_t entry[PRM_STE_SIZE])
{
	(void)ring;
	if (it.fail_in && !--it.fail_in)
		return EIO;
	memcpy(it.entries[place], entry, PRM_STE_SIZE);
	check_frames(it.writes++ % 11, 11);
	check_changing();
	return 0;
}

int mlx5_dr_ring_fill(struct dr_ring *ring, uint32_t place, uint32_t count,
		      void (*fill)(const void *arg, uint32_t i, uint8_t *entry), const void *arg)
{
	(void)ring;
	for (uint32_t i = 0; i < count; i++)
		(*fill)(arg, i, it.entries[place + i]);
	check_frames(0, 1);
	return 0;
}

int mlx5_dr_ring_drain(struct dr_ring *ring)
{
	(void)ring;
	return 0;
}

/* Stands for SYNC_STEERING: behind it, others may write the freed places, as no walk is in them any
 * more. */
int mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
		  size_t out_len)
{
	(void)ctx, (void)in, (void)in_len, (void)out, (void)out_len;
	it.syncs++;
	for (size_t i = 0; i < it.lane.freed.count; i++) {
		const struct dr_block *block = &it.lane.freed.blocks[i];

		memset(it.entries[block->place], 0, (size_t)PRM_STE_SIZE << block->log);
	}
	check_frames(0, 1);
	return 0;
}

int mlx5_dr_memory_alloc(struct dr_memory *memory, unsigned int log, uint32_t *place)
{
	const uint32_t size = 1u << log;

	(void)memory;
	if (it.refuses_growth && log == DR_HTABLE_GROWTH) {
		it.refusals++;
		return ENOMEM;
	}
	if (it.is_scarce && !it.allocs_left--) {
		it.allocs_left = 0;
		it.refusals++;
		return ENOMEM;
	}
	it.allocs++;
	*place = (it.next_place + size - 1) & ~(size - 1);
	it.next_place = *place + size;
	assert_true(it.next_place <= PLACES);
	return 0;
}

void mlx5_dr_memory_take_singles(struct dr_memory *memory, size_t count, struct dr_places *places)
{
	(void)memory;
	for (; count && it.given_back; count--, it.given_back--)
		dr_places_push(places, it.next_place++, 0);
}

void mlx5_dr_memory_free(struct dr_memory *memory, unsigned int log, uint32_t place)
{
	(void)memory, (void)log, (void)place;
}

bool mlx5_dr_soft_reclaim(struct dr_soft *soft)
{
	assert_ptr_equal(soft, &it.soft);
	assert_int_equal(pthread_mutex_trylock(&it.lane.lock), 0);
	pthread_mutex_unlock(&it.lane.lock);
	it.reclaims++;
	it.allocs_left += it.reclaimed;
	return it.reclaimed;
}

static void anchor_move(void)
{
	it.anchor_place = it.matcher->top->place;
	it.anchor_log = it.matcher->top->log;
}

int mlx5_dr_soft_matcher_settle(struct dr_soft_matcher *matcher)
{
	assert_ptr_equal(matcher, it.matcher);
	assert_int_equal(it.writes, 0); /* by the lane's ring */
	it.settled++;
	matcher->is_fresh = it.settle_error;
	return it.settle_error;
}

int mlx5_dr_soft_table_grow(struct dr_soft_table *table, struct dr_soft_matcher *matcher)
{
	const size_t singles = it.lane.singles.count;
	struct dr_old_htable old;
	int ret = mlx5_dr_htable_grow(matcher->top, &old);

	(void)table;
	if (ret) {
		assert_true((it.is_scarce || it.refuses_growth) &&
			    it.lane.singles.count >= singles);
		return ret;
	}
	check_frames(0, 1); /* by the old table, as the anchor still leads there */
	anchor_move();
	mlx5_dr_htable_grown(matcher->top, &old);
	return 0;
}

static int rule_add(unsigned int rule, bool refuses_duplicates)
{
	const struct dr_match *match = &it.matcher->match;
	const struct dr_target end = {
		.address = ENDS + rule * 64,
		.gvmi = GVMI,
		.lookup.type = PRM_STE_NOTHING,
	};
	struct dr_plan plan = { .count = 1 + rule % 3 };
	uint8_t value[DR_MATCH_SIZE];
	int ret;

	mlx5_dr_entry_begin(plan.entries[0], match->steps[match->num_steps - 1].lookup.type, GVMI);
	for (unsigned int i = 1; i < plan.count; i++)
		mlx5_dr_entry_begin_actions(plan.entries[i], GVMI);
	mlx5_dr_entry_set_hit(plan.entries[plan.count - 1], &end);
	value_of(rule, value);
	it.changing = rule;
	ret = mlx5_dr_soft_rule_create(it.matcher, value, sizeof(value), &plan, refuses_duplicates,
				       &it.rules[rule]);
	if (!ret)
		it.there[rule] = true;
	return ret;
}

static void rule_remove(unsigned int rule)
{
	it.there[rule] = false;
	it.changing = rule;
	assert_int_equal(mlx5_dr_soft_rule_destroy(it.matcher, &it.rules[rule]), 0);
}

static int rules_begin(void **state)
{
	uint8_t mask[DR_MATCH_SIZE] = { 0 };

	(void)state;
	memset(&it, 0, sizeof(it));
	it.soft.memory.context = &it.mlx5.vctx.context;
	it.soft.memory.pools[0].base = 0x4000000;
	it.matcher = calloc(1, sizeof(*it.matcher));
	assert_non_null(it.matcher);
	fld_set(mask, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_IP_VERSION), 4);
	fld_set(mask, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_DMAC_15_0), 0xffff);
	fld_set(mask, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_UDP_DPORT), 0xffff);
	fld_set(mask, FLD_IN(MATCH_MISC_PARAMETERS, MISC_VXLAN_VNI), 0xffffff);
	assert_int_equal(mlx5_dr_match_plan("test", mask, sizeof(mask), 0x7f, &it.matcher->match),
			 0);
	assert_int_equal(it.matcher->match.num_steps, 3);
	assert_int_equal(mlx5_dr_lane_open(&it.lane, &it.soft.memory, &it.soft.anchors), 0);
	it.table.soft = &it.soft;
	it.matcher->table = &it.table;
	it.matcher->end.lane = &it.lane;
	it.matcher->end.gvmi = GVMI;
	it.matcher->end.miss = place_base(); /* place 0 is the end of the matcher */
	it.next_place = 1;
	it.matcher->top = mlx5_dr_htable_new(&it.matcher->end, &it.matcher->match.steps[0], NULL);
	assert_non_null(it.matcher->top);
	assert_int_equal(mlx5_dr_htable_write(it.matcher->top), 0);
	anchor_move();
	return 0;
}

static int rules_end(void **state)
{
	(void)state;
	mlx5_dr_htable_delete(it.matcher->top);
	mlx5_dr_lane_close(&it.lane);
	free(it.matcher);
	return 0;
}

static void frames_find_rules_that_come_and_go(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RULES; i++)
		assert_int_equal(rule_add(i, true), 0);
	check_all();
	assert_true(it.matcher->top->log > 0); /* it has grown */
	for (unsigned int i = 0; i < 4 * RULES; i++) {
		const unsigned int rule = i * 7919u % RULES;

		if (it.there[rule])
			rule_remove(rule);
		else
			assert_int_equal(rule_add(rule, true), 0);
		if (i % 16 == 0)
			check_all();
	}
	for (unsigned int i = 0; i < RULES; i++)
		if (it.there[i])
			rule_remove(i);
	check_all();
	assert_int_equal(it.matcher->top->entries, 0);
	assert_int_equal(it.matcher->top->collisions, 0);
}

static void the_first_rule_waits_for_the_matcher(void **state)
{
	(void)state;
	it.matcher->is_fresh = true;
	it.writes = 0;
	it.settle_error = EIO;
	assert_int_equal(rule_add(1, true), EIO);
	assert_int_equal(it.writes, 0);
	it.settle_error = 0;
	assert_int_equal(rule_add(1, true), 0);
	assert_int_equal(rule_add(2, true), 0);
	assert_int_equal(it.settled, 2);
	check_all();
	rule_remove(1);
	rule_remove(2);
}

static void duplicates_are_refused_on_demand(void **state)
{
	struct dr_soft_rule first;

	(void)state;
	assert_int_equal(rule_add(5, true), 0);
	first = it.rules[5];
	assert_int_equal(rule_add(5, true), EEXIST);
	assert_int_equal(rule_add(5, false), 0);
	check_all();
	assert_int_equal(mlx5_dr_soft_rule_destroy(it.matcher, &first), 0);
	check_all(); /* the second one is there */
	rule_remove(5);
	check_all();
}

/* Whichever write fails: the rule is not there, and the others are. */
static void a_failed_write_leaves_the_others(void **state)
{
	unsigned int refused = 0;

	(void)state;
	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(rule_add(i, true), 0);
	for (unsigned int rule = 40; rule < 70; rule++)
		for (unsigned int fail = 1; fail < 6; fail++) {
			it.fail_in = fail;
			if (rule_add(rule, true)) {
				refused++;
				it.fail_in = 0;
				check_frames(0, 1);
			} else {
				it.fail_in = 0;
				rule_remove(rule);
			}
		}
	assert_true(refused > 30);
	for (unsigned int i = 0; i < 40; i++)
		rule_remove(i);
	assert_int_equal(it.matcher->top->entries, 0);
}

/* Whichever block is refused: the rules that are there stay, and others may come later. */
static void a_table_without_memory_stays(void **state)
{
	(void)state;
	it.is_scarce = true;
	for (unsigned int i = 0; i < RULES; i++) {
		it.allocs_left = 0;
		for (unsigned int blocks = 1; rule_add(i, true); it.allocs_left = blocks++)
			check_frames(0, 1);
		assert_int_equal(it.lane.ring.error, 0);
	}
	assert_true(it.refusals > 20);
	check_all();
	for (unsigned int i = 0; i < RULES; i++)
		rule_remove(i);
	check_all();
}

/* The first table has one entry for each of the SPORTS, each table of the next step 21 or 22 of 150
 * rules: one try when it has 2 entries, 4, 8 and so on. */
static void a_table_without_memory_seldom_tries_to_grow(void **state)
{
	enum { SCARCE = 150 };

	(void)state;
	it.refuses_growth = true;
	for (unsigned int i = 0; i < SCARCE; i++)
		assert_int_equal(rule_add(i, true), 0);
	assert_int_equal(it.refusals, 2 + SPORTS * 4);
	it.refuses_growth = false;
	for (unsigned int i = SCARCE; i < RULES; i++)
		assert_int_equal(rule_add(i, true), 0);
	assert_true(it.rules[0].last->table->above->table->log > 0); /* it has grown */
	check_all();
	for (unsigned int i = 0; i < RULES; i++)
		rule_remove(i);
}

/* Places that wait for a sync are memory, too, so a sync may free some. Without any, there is no
 * second try. */
static void an_insertion_without_memory_reclaims_places(void **state)
{
	(void)state;
	while (it.lane.singles.count)
		it.lane.singles.count--; /* others have them */
	it.is_scarce = true;
	assert_int_equal(rule_add(2, true), ENOMEM);
	assert_int_equal(it.reclaims, 1);
	it.reclaimed = 10;
	assert_int_equal(rule_add(2, true), 0);
	assert_int_equal(it.reclaims, 2);
	check_all();
	rule_remove(2);
}

/* A block of many may open a pool. */
static void places_that_were_given_back_come_first(void **state)
{
	unsigned int allocs;

	(void)state;
	it.lane.singles.count = 0; /* others have them */
	it.given_back = 100;
	allocs = it.allocs;
	assert_int_equal(rule_add(2, true), 0);
	assert_int_equal(it.allocs, allocs);
	assert_int_equal(it.given_back, 100 - 64);
	it.lane.singles.count = 0;
	rule_remove(2);
	assert_int_equal(rule_add(2, true), 0);
	assert_int_equal(it.given_back, 0);
	assert_int_equal(it.allocs, allocs);
	it.lane.singles.count = 0;
	rule_remove(2);
	assert_int_equal(rule_add(2, true), 0);
	assert_int_equal(it.allocs, allocs + 1);
	rule_remove(2);
}

static void freed_places_wait_for_a_sync(void **state)
{
	const size_t freed = it.lane.freed_entries;

	(void)state;
	assert_int_equal(rule_add(2, true), 0); /* three steps, two entries of actions */
	rule_remove(2);
	assert_int_equal(it.lane.freed_entries - freed, 4);
	assert_int_equal(it.syncs, 0);
	assert_int_equal(mlx5_dr_lane_sync(&it.lane), 0);
	assert_int_equal(it.syncs, 1);
	assert_int_equal(it.lane.freed_entries, 0);
	for (unsigned int i = 0; it.syncs == 1; i++) {
		assert_true(i < 20000); /* 65,536 places */
		assert_int_equal(rule_add(2, true), 0);
		rule_remove(2);
	}
}

/* A freed place is used again at once, so no frame may find it any more. */
static void no_frame_finds_a_freed_place(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * RULES; i++) {
		const unsigned int rule = i * 7919u % RULES;

		it.lane.freed_entries = 1 << 16;
		if (it.there[rule])
			rule_remove(rule);
		else
			assert_int_equal(rule_add(rule, true), 0);
	}
	assert_true(it.syncs > RULES / 2);
	check_all();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, rules_begin, rules_end)
	const struct CMUnitTest tests[] = {
		CASE(frames_find_rules_that_come_and_go),
		CASE(the_first_rule_waits_for_the_matcher),
		CASE(duplicates_are_refused_on_demand),
		CASE(a_failed_write_leaves_the_others),
		CASE(places_that_were_given_back_come_first),
		CASE(freed_places_wait_for_a_sync),
		CASE(no_frame_finds_a_freed_place),
		CASE(a_table_without_memory_stays),
		CASE(a_table_without_memory_seldom_tries_to_grow),
		CASE(an_insertion_without_memory_reclaims_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
