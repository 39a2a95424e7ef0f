/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * soft_test.c - when the half of a domain that writes entries gives places and memory back: only
 * behind a SYNC_STEERING. The adapter is the test's: it notes the order of events.
 *
 * Covers: providers/mlx5/dv/dr/soft.c, providers/mlx5/dv/dr/soft_table.c,
 * providers/mlx5/dv/dr/soft_matcher.c, providers/mlx5/dv/dr/list.c,
 * providers/mlx5/dv/dr/anchors.h
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/dv/dr/dr.h"
#include "providers/mlx5/dv/dr/soft.h"
#include "providers/mlx5/dv/dr/soft_matcher.h"

enum { REFUSED = EDOM, PLACES = 1024 };

static struct {
	struct mlx5_context mlx5; /* of commands */
	struct mlx5dv_dr_domain domain;
	struct dr_soft *soft;
	struct ibv_pd pd;
	struct mlx5dv_devx_obj obj;
	uint8_t entries[PLACES][PRM_STE_SIZE]; /* written one by one */
	uint32_t next_place, freed_place;
	int sync_error, write_error, fill_error, drain_error;
	unsigned int good_writes; /* before write_error */
	unsigned int good_drains; /* before drain_error */
	unsigned int refused;     /* allocations that find no memory */
	unsigned int queries;
	bool has_patterns;
	int query_error;
	char events[256]; /* w: a write, d: a drain, s: SYNC_STEERING, f: a place, m: all memory */
} it;

static void event_note(char event)
{
	const size_t len = strlen(it.events);

	assert_true(len + 1 < sizeof(it.events));
	it.events[len] = event;
}

static void events_check(const char *events)
{
	assert_string_equal(it.events, events);
	memset(it.events, 0, sizeof(it.events));
}

int mlx5_dr_caps_query(struct ibv_context *context, struct dr_caps *caps)
{
	(void)context;
	it.queries++;
	*caps = (struct dr_caps){ .format = 1, .writes_rx = true, .rx_levels = 1 };
	return it.query_error;
}

int mlx5_dr_caps_query_lists(struct ibv_context *context, uint64_t *start, bool *patterns)
{
	(void)context;
	*start = 0;
	*patterns = it.has_patterns;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	(void)context;
	return &it.pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	assert_ptr_equal(pd, &it.pd);
	return 0;
}

struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
					       size_t inlen, void *out, size_t outlen)
{
	(void)context, (void)in, (void)inlen, (void)out, (void)outlen;
	return &it.obj;
}

int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	assert_ptr_equal(obj, &it.obj);
	return 0;
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
	event_note('w');
	if (it.write_error && !it.good_writes)
		return ring->error = it.write_error;
	it.good_writes -= it.good_writes > 0;
	assert_true(place < PLACES);
	memcpy(it.entries[place], entry, PRM_STE_SIZE);
	return 0;
}

int mlx5_dr_ring_fill(struct dr_ring *ring, uint32_t place, uint32_t count,
		      void (*fill)(const void *arg, uint32_t i, uint8_t *entry), const void *arg)
{
	(void)ring, (void)place, (void)count, (void)fill, (void)arg;
	event_note('w');
	return it.fill_error;
}

int mlx5_dr_ring_drain(struct dr_ring *ring)
{
	event_note('d');
	if (ring->error)
		return ring->error;
	if (it.good_drains) {
		it.good_drains--;
		return 0;
	}
	return it.soft && ring == &it.soft->anchors.ring ? 0 : it.drain_error;
}

int mlx5_devx_run(struct mlx5_context *ctx, const void *in, size_t in_len, void *out,
		  size_t out_len)
{
	(void)ctx, (void)in, (void)in_len, (void)out, (void)out_len;
	event_note('s');
	return it.sync_error;
}

void mlx5_dr_memory_init(struct dr_memory *memory, struct ibv_context *context, struct ibv_pd *pd,
			 uint32_t type, uint8_t log)
{
	(void)pd, (void)type, (void)log;
	memset(memory, 0, sizeof(*memory));
	memory->context = context;
}

void mlx5_dr_memory_destroy(struct dr_memory *memory)
{
	(void)memory;
	event_note('m');
}

int mlx5_dr_memory_alloc(struct dr_memory *memory, unsigned int log, uint32_t *place)
{
	const uint32_t size = 1u << log;

	(void)memory;
	if (it.refused) {
		it.refused--;
		return ENOMEM;
	}
	*place = (it.next_place + size - 1) & ~(size - 1);
	it.next_place = *place + size;
	return 0;
}

void mlx5_dr_memory_take_singles(struct dr_memory *memory, size_t count, struct dr_places *places)
{
	(void)memory, (void)count, (void)places;
}

void mlx5_dr_memory_free(struct dr_memory *memory, unsigned int log, uint32_t place)
{
	(void)memory, (void)log;
	it.freed_place = place;
	event_note('f');
}

static int soft_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.domain.context = &it.mlx5.vctx.context;
	it.next_place = 5;
	return mlx5_dr_soft_open("test", &it.domain, &it.soft);
}

/* Each action of a domain asks this question. */
static void a_domain_asks_the_adapter_once(void **state)
{
	struct mlx5dv_dr_domain sender = { .type = MLX5DV_DR_DOMAIN_TYPE_NIC_TX };

	(void)state;
	it.queries = 0;
	it.query_error = REFUSED;
	assert_false(mlx5_dr_soft_exists(&it.domain));
	it.query_error = 0;
	assert_true(mlx5_dr_soft_exists(&it.domain)); /* a failed query is no answer */
	assert_true(mlx5_dr_soft_exists(&it.domain));
	assert_int_equal(it.queries, 2);
	assert_false(mlx5_dr_soft_exists(&sender));
	assert_false(mlx5_dr_soft_exists(&sender));
	assert_int_equal(it.queries, 3);
	mlx5_dr_soft_close(it.soft);
}

static struct dr_soft_table *table_make(void)
{
	struct dr_soft_table *table;

	assert_int_equal(mlx5_dr_soft_table_create("test", it.soft, PRM_FLOW_NIC_RX, &table), 0);
	events_check("wd");
	return table;
}

static void a_start_is_free_after_a_sync(void **state)
{
	struct dr_soft_table *table = table_make();
	const uint32_t start = table->start;

	(void)state;
	assert_int_equal(mlx5_dr_soft_table_destroy(table), 0);
	assert_int_equal(mlx5_dr_soft_sync(it.soft, false), 0);
	events_check("d");
	it.sync_error = REFUSED;
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	events_check("ds");
	it.sync_error = 0;
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), 0);
	events_check("dsf");
	assert_int_equal(it.freed_place, start);
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), 0);
	events_check("ds"); /* once */
	mlx5_dr_soft_close(it.soft);
	events_check("dsm");
}

static void memory_goes_after_a_sync(void **state)
{
	(void)state;
	assert_int_equal(mlx5_dr_soft_table_destroy(table_make()), 0);
	assert_non_null(mlx5_dr_soft_lane(it.soft));
	mlx5_dr_soft_close(it.soft);
	events_check("dddsfm"); /* entries of the lane may lead to the start until it drains */
}

static void memory_goes_although_a_sync_fails(void **state)
{
	(void)state;
	assert_non_null(mlx5_dr_soft_lane(it.soft));
	it.sync_error = REFUSED;
	mlx5_dr_soft_close(it.soft);
	events_check("ddsm");
}

/* A sync of four lanes is one command. */
static void lanes_share_a_sync(void **state)
{
	(void)state;
	for (int i = 0; i < DR_LANES; i++) {
		struct dr_lane *lane = mlx5_dr_soft_lane(it.soft);

		assert_non_null(lane);
		mlx5_dr_lane_free(lane, 2, (uint32_t)i);
	}
	it.sync_error = REFUSED;
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	events_check("ddddds");
	assert_int_equal(it.soft->lanes[3]->freed_entries, 4);
	it.sync_error = 0;
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), 0);
	events_check("dddddsffff");
	assert_int_equal(it.soft->lanes[3]->freed_entries, 0);
	mlx5_dr_soft_close(it.soft);
}

/* The lost ring may still write places of its lane, and its entries may lead to any start. */
static void a_lost_lane_keeps_its_places_only(void **state)
{
	(void)state;
	assert_int_equal(mlx5_dr_soft_table_destroy(table_make()), 0);
	for (int i = 0; i < DR_LANES; i++)
		mlx5_dr_lane_free(mlx5_dr_soft_lane(it.soft), 2, (uint32_t)i);
	it.soft->lanes[1]->ring.error = REFUSED;
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	events_check("dddddsfff");
	for (int i = 0; i < DR_LANES; i++)
		assert_int_equal(it.soft->lanes[i]->freed_entries, i == 1 ? 4 : 0);
	assert_int_equal(it.soft->starts.count, 1);
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	events_check("ddddds"); /* once */
	mlx5_dr_soft_close(it.soft);
}

/* The adapter itself may be lost, and not answer. */
static void lost_lanes_run_no_command(void **state)
{
	(void)state;
	for (int i = 0; i < DR_LANES - 1; i++) {
		mlx5_dr_lane_free(mlx5_dr_soft_lane(it.soft), 2, (uint32_t)i);
		it.soft->lanes[i]->ring.error = REFUSED;
	}
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	events_check("dddd");
	assert_int_equal(it.soft->lanes[0]->freed_entries, 4);
	assert_non_null(mlx5_dr_soft_lane(it.soft));
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	events_check("ddddds");
	mlx5_dr_soft_close(it.soft);
}

/* A ring that is lost while the sync drains lanes for the second time. */
static void a_lane_lost_in_a_sync_keeps_starts(void **state)
{
	(void)state;
	assert_int_equal(mlx5_dr_soft_table_destroy(table_make()), 0);
	mlx5_dr_lane_free(mlx5_dr_soft_lane(it.soft), 2, 0);
	it.good_drains = 2;
	it.drain_error = REFUSED;
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	events_check("dddsf");
	assert_int_equal(it.soft->starts.count, 1);
	assert_int_equal(it.soft->lanes[0]->freed_entries, 0);
	mlx5_dr_soft_close(it.soft);
}

static void matchers_pass_over_a_lost_lane(void **state)
{
	(void)state;
	for (int i = 0; i < DR_LANES; i++)
		assert_non_null(mlx5_dr_soft_lane(it.soft));
	it.soft->lanes[0]->ring.error = it.soft->lanes[1]->ring.error = REFUSED;
	for (int i = 0; i < DR_LANES; i++)
		assert_ptr_equal(mlx5_dr_soft_lane(it.soft), it.soft->lanes[2 + i % 2]);
	for (int i = 0; i < DR_LANES; i++)
		it.soft->lanes[i]->ring.error = REFUSED;
	assert_non_null(mlx5_dr_soft_lane(it.soft));
	mlx5_dr_soft_close(it.soft);
}

static struct dr_soft_matcher *matcher_make(struct dr_soft_table *table)
{
	static const struct mlx5dv_flow_match_parameters all = { .match_sz = 0 };
	struct dr_soft_matcher *matcher;

	assert_int_equal(mlx5_dr_soft_matcher_create("test", table, 0, 0, &all, &matcher), 0);
	return matcher;
}

static void soft_end(struct dr_soft_table *table)
{
	assert_int_equal(mlx5_dr_soft_table_destroy(table), 0);
	mlx5_dr_soft_close(it.soft);
}

/* One ring writes the slot, the end and the anchor before them, in this order. */
static void a_matcher_comes_and_goes_without_a_wait(void **state)
{
	struct dr_soft_table *table = table_make();
	struct dr_soft_matcher *matcher = matcher_make(table);

	(void)state;
	events_check("www");
	assert_true(matcher->is_fresh);
	assert_int_equal(mlx5_dr_soft_matcher_settle(matcher), 0);
	events_check("d");
	assert_false(matcher->is_fresh);
	assert_int_equal(mlx5_dr_soft_matcher_destroy(matcher), 0);
	events_check("w");
	assert_int_equal(mlx5_dr_lane_sync(it.soft->lanes[0]), 0);
	events_check("dds"); /* its places are free after the anchor is written */
	soft_end(table);
}

static void a_lane_frees_nothing_if_anchors_are_lost(void **state)
{
	struct dr_soft_table *table = table_make();
	struct dr_soft_matcher *matcher = matcher_make(table);
	struct dr_lane *lane = it.soft->lanes[0];

	(void)state;
	assert_int_equal(mlx5_dr_soft_matcher_destroy(matcher), 0);
	it.soft->anchors.ring.error = REFUSED;
	assert_int_equal(mlx5_dr_lane_sync(lane), REFUSED);
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	assert_int_equal(lane->freed_entries, 2);
	matcher = calloc(1, sizeof(*matcher));
	assert_non_null(matcher);
	matcher->table = table;
	assert_int_equal(mlx5_dr_soft_matcher_settle(matcher), REFUSED);
	assert_true(matcher->is_fresh);
	free(matcher);
	soft_end(table);
}

/* Frames still find its entries if the anchor before it could not be written. */
static void a_matcher_that_stays_keeps_its_places(void **state)
{
	struct dr_soft_table *table = table_make();
	struct dr_soft_matcher *matcher = matcher_make(table);
	struct dr_lane *lane = it.soft->lanes[0];

	(void)state;
	it.write_error = REFUSED;
	assert_int_equal(mlx5_dr_soft_matcher_destroy(matcher), REFUSED);
	assert_int_equal(lane->freed_entries, 0);
	it.write_error = 0;
	matcher = matcher_make(table);
	lane = it.soft->lanes[1];
	it.soft->anchors.ring.error = 0;
	assert_int_equal(mlx5_dr_soft_matcher_destroy(matcher), 0);
	assert_int_equal(lane->freed_entries, 2); /* its table, and its end */
	soft_end(table);
}

/* A matcher that could not be linked keeps its places, too: the last write may be in the memory. */
static void a_matcher_that_is_linked_in_part_keeps_its_places(void **state)
{
	static const struct mlx5dv_flow_match_parameters all = { .match_sz = 0 };
	struct dr_soft_table *table = table_make();
	struct dr_soft_matcher *matcher;

	(void)state;
	it.write_error = REFUSED;
	it.good_writes = 1; /* its table */
	assert_int_equal(mlx5_dr_soft_matcher_create("test", table, 0, 0, &all, &matcher), REFUSED);
	assert_int_equal(it.soft->lanes[0]->freed_entries, 0);
	soft_end(table);
}

/* Returns whether the entries lead to the same place. */
static bool leads_alike(uint32_t place, const uint8_t entry[PRM_STE_SIZE])
{
	return !memcmp(it.entries[place], entry, PRM_STE_SIZE);
}

/* Anchors that are written for a matcher that comes before the first one, and goes, lead as LED. */
static void check_anchors(struct dr_soft_table *table, const uint8_t led[PRM_STE_SIZE])
{
	struct dr_soft_matcher *before = matcher_make(table);

	assert_true(leads_alike(before->end_place, led));
	assert_false(leads_alike(table->start, led));
	assert_int_equal(mlx5_dr_soft_matcher_destroy(before), 0);
	assert_true(leads_alike(table->start, led));
}

static void anchors_lead_to_the_larger_table(void **state)
{
	struct dr_soft_table *table = table_make();
	struct dr_soft_matcher *matcher = matcher_make(table);
	uint8_t small[PRM_STE_SIZE], large[PRM_STE_SIZE];

	(void)state;
	memcpy(small, it.entries[table->start], sizeof(small));
	check_anchors(table, small);
	assert_int_equal(mlx5_dr_soft_table_grow(table, matcher), 0);
	assert_false(leads_alike(table->start, small));
	memcpy(large, it.entries[table->start], sizeof(large));
	check_anchors(table, large);
	assert_int_equal(mlx5_dr_soft_matcher_destroy(matcher), 0);
	soft_end(table);
}

static void check_failed_growth(int *error)
{
	struct dr_soft_table *table = table_make();
	struct dr_soft_matcher *matcher = matcher_make(table);
	uint8_t small[PRM_STE_SIZE];

	memcpy(small, it.entries[table->start], sizeof(small));
	*error = REFUSED;
	assert_int_equal(mlx5_dr_soft_table_grow(table, matcher), REFUSED);
	*error = 0;
	check_anchors(table, small);
	assert_int_equal(mlx5_dr_soft_matcher_destroy(matcher), 0);
	soft_end(table);
}

static void anchors_lead_past_a_larger_table_written_in_part(void **state)
{
	(void)state;
	check_failed_growth(&it.fill_error);
}

static void anchors_lead_past_a_larger_table_in_flight(void **state)
{
	(void)state;
	check_failed_growth(&it.drain_error);
}

static void a_start_stays_if_a_lane_does_not_drain(void **state)
{
	(void)state;
	assert_int_equal(mlx5_dr_soft_table_destroy(table_make()), 0);
	assert_non_null(mlx5_dr_soft_lane(it.soft));
	it.drain_error = REFUSED;
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	events_check("dds");
	assert_false(mlx5_dr_soft_reclaim(it.soft));
	events_check("dd");
	it.drain_error = 0;
	assert_true(mlx5_dr_soft_reclaim(it.soft));
	events_check("dddsf");
	mlx5_dr_soft_close(it.soft);
}

/* The lost ring may still write the place. */
static void a_start_stays_if_anchors_are_lost(void **state)
{
	struct dr_soft_table *table = table_make(), *other;

	(void)state;
	it.write_error = REFUSED;
	assert_int_equal(mlx5_dr_soft_table_create("test", it.soft, PRM_FLOW_NIC_RX, &other),
			 REFUSED);
	events_check("w");
	assert_int_equal(mlx5_dr_soft_table_destroy(table), 0);
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), REFUSED);
	assert_false(mlx5_dr_soft_reclaim(it.soft));
	events_check("dd");
	mlx5_dr_soft_close(it.soft);
	events_check("dm");
}

static void freed_places_are_memory_for_all(void **state)
{
	struct dr_soft_table *table = table_make();

	(void)state;
	assert_int_equal(mlx5_dr_soft_matcher_destroy(matcher_make(table)), 0);
	assert_true(mlx5_dr_soft_reclaim(it.soft));
	assert_int_equal(it.soft->lanes[0]->freed_entries, 0);
	assert_int_equal(it.soft->lanes[0]->singles.count, 0);
	assert_false(mlx5_dr_soft_reclaim(it.soft)); /* once */
	soft_end(table);
}

/* The start of the other table waits for a sync, so that one is made. */
static void a_table_without_memory_reclaims_places(void **state)
{
	struct dr_soft_table *table;

	(void)state;
	it.refused = 1;
	assert_int_equal(mlx5_dr_soft_table_create("test", it.soft, PRM_FLOW_NIC_RX, &table),
			 ENOMEM);
	events_check("d");
	assert_int_equal(mlx5_dr_soft_table_destroy(table_make()), 0);
	it.refused = 1;
	assert_int_equal(mlx5_dr_soft_table_create("test", it.soft, PRM_FLOW_NIC_RX, &table), 0);
	events_check("dsfwd");
	soft_end(table);
}

static void a_list_is_free_after_a_sync(void **state)
{
	static const uint8_t actions[9 * DR_LIST_ACTION_SIZE];
	struct dr_list list;

	(void)state;
	assert_int_equal(mlx5_dr_soft_add_list(it.soft, actions, 9, &list), 0);
	events_check("wwd"); /* two units */
	assert_int_equal(mlx5_dr_list_word(&list), 0x0f090000 | list.number);
	mlx5_dr_soft_remove_list(it.soft, &list);
	events_check("");
	assert_int_equal(mlx5_dr_soft_sync(it.soft, true), 0);
	events_check("dsf");
	assert_int_equal(it.freed_place, list.place);
	mlx5_dr_soft_close(it.soft);
	events_check("dsmm");
}

static void lists_are_wide_where_patterns_are(void **state)
{
	static const uint8_t actions[2 * DR_LIST_ACTION_SIZE];
	struct dr_list list;

	for (int are_wide = 0; are_wide < 2; are_wide++) {
		soft_begin(state);
		it.has_patterns = are_wide;
		assert_int_equal(mlx5_dr_soft_add_list(it.soft, actions, 2, &list), 0);
		assert_int_equal(list.is_wide, are_wide);
		mlx5_dr_soft_remove_list(it.soft, &list);
		mlx5_dr_soft_close(it.soft);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_domain_asks_the_adapter_once, soft_begin),
		cmocka_unit_test_setup(a_start_is_free_after_a_sync, soft_begin),
		cmocka_unit_test_setup(memory_goes_after_a_sync, soft_begin),
		cmocka_unit_test_setup(memory_goes_although_a_sync_fails, soft_begin),
		cmocka_unit_test_setup(lanes_share_a_sync, soft_begin),
		cmocka_unit_test_setup(a_lost_lane_keeps_its_places_only, soft_begin),
		cmocka_unit_test_setup(lost_lanes_run_no_command, soft_begin),
		cmocka_unit_test_setup(a_lane_lost_in_a_sync_keeps_starts, soft_begin),
		cmocka_unit_test_setup(matchers_pass_over_a_lost_lane, soft_begin),
		cmocka_unit_test_setup(a_matcher_comes_and_goes_without_a_wait, soft_begin),
		cmocka_unit_test_setup(a_lane_frees_nothing_if_anchors_are_lost, soft_begin),
		cmocka_unit_test_setup(a_matcher_that_stays_keeps_its_places, soft_begin),
		cmocka_unit_test_setup(a_matcher_that_is_linked_in_part_keeps_its_places,
				       soft_begin),
		cmocka_unit_test_setup(anchors_lead_to_the_larger_table, soft_begin),
		cmocka_unit_test_setup(anchors_lead_past_a_larger_table_written_in_part,
				       soft_begin),
		cmocka_unit_test_setup(anchors_lead_past_a_larger_table_in_flight, soft_begin),
		cmocka_unit_test_setup(a_start_stays_if_a_lane_does_not_drain, soft_begin),
		cmocka_unit_test_setup(a_start_stays_if_anchors_are_lost, soft_begin),
		cmocka_unit_test_setup(freed_places_are_memory_for_all, soft_begin),
		cmocka_unit_test_setup(a_table_without_memory_reclaims_places, soft_begin),
		cmocka_unit_test_setup(a_list_is_free_after_a_sync, soft_begin),
		cmocka_unit_test(lists_are_wide_where_patterns_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
