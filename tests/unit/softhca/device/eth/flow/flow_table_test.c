/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_table_test.c - steering by flow tables: priority of entries, actions, chains of tables,
 * spreading by RSS, and commands that the device refuses.
 *
 * Covers: softhca/device/eth/flow/flow_table.c, softhca/device/eth/flow/flow_entry.c,
 * softhca/device/eth/flow/flow_match.c, softhca/device/eth/flow/flow_counter.c,
 * softhca/device/eth/rss.c, softhca/device/eth/rqt.c, softhca/device/eth/tir.c,
 * softhca/device/format/mlx5/cmd/flow/flow_table.c,
 * softhca/device/format/mlx5/cmd/flow/flow_entry.c,
 * softhca/device/format/mlx5/cmd/flow/flow_counter.c, softhca/device/format/mlx5/cmd/rqt.c,
 * softhca/device/format/mlx5/cmd/tir.c
 */
#include "eth_rig.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/tir.h"
#include "softhca/device/eth/eth.h"
#include "util/bits.h"

enum { QUEUES = 4, RX = PRM_FLOW_NIC_RX, TX = PRM_FLOW_NIC_TX };

static struct eth_sq_rig *sq;
static struct eth_rq_rig *rq[QUEUES];
static uint32_t td;
static uint8_t frame[4096];

static int open_flows(void **state)
{
	flat_setup_roce(state);
	sq = eth_sq(0, eth_td(0));
	td = eth_td(1);
	for (unsigned int i = 0; i < QUEUES; i++) {
		rq[i] = eth_rq(1, false);
		rq[i]->tir = eth_direct_tir(1, td, rq[i]->n, 0);
		eth_recv(rq[i], ETH_BUF, 32);
	}
	return 0;
}

static int close_flows(void **state)
{
	for (unsigned int i = 0; i < QUEUES; i++)
		eth_free_rq(rq[i]);
	eth_free_sq(sq);
	return flat_teardown(state);
}

static unsigned int frames_taken(unsigned int queue)
{
	unsigned int count = 0;

	while (eth_receive(rq[queue], NULL))
		count++;
	return count;
}

static void udp_to(uint16_t port)
{
	struct eth_flow flow = { .protocol = 17, .src = 1, .dst = 2, .dport = port, .payload = 40 };

	eth_send(sq, frame, eth_build(&flow, frame));
}

static const uint8_t *udp_mask(void)
{
	static uint8_t mask[PRM_MATCH_SET_SIZE];

	memset(mask, 0, sizeof(mask));
	fld_set(mask, LYR_2_4_UDP_DPORT, 0xffff);
	return mask;
}

static const uint8_t *udp_value(uint16_t port)
{
	static uint8_t value[PRM_MATCH_SET_SIZE];

	memset(value, 0, sizeof(value));
	fld_set(value, LYR_2_4_UDP_DPORT, port);
	return value;
}

static uint32_t table_with(uint32_t level, uint32_t miss, uint32_t *group, const uint8_t *mask)
{
	uint32_t table = eth_table(1, RX, level, miss, PRM_STAT_OK);

	*group = eth_group(1, RX, table, 0, 7, mask, PRM_STAT_OK);
	return table;
}

static void without_a_root_frames_are_dropped(void **state)
{
	(void)state;
	udp_to(1);
	assert_int_equal(frames_taken(0), 0);
}

static void entries_match_their_value(void **state)
{
	struct eth_entry entry = { .action = PRM_FLOW_FWD };

	(void)state;
	entry.table = table_with(0, 0, &entry.group, udp_mask());
	for (unsigned int i = 0; i < 3; i++) {
		entry.index = i;
		entry.value = udp_value(100 + i);
		entry.to_tir = rq[i]->tir;
		eth_set(1, &entry, PRM_STAT_OK);
	}
	eth_root(1, RX, entry.table);
	udp_to(101);
	udp_to(102);
	udp_to(102);
	udp_to(103);
	assert_int_equal(frames_taken(0), 0);
	assert_int_equal(frames_taken(1), 1);
	assert_int_equal(frames_taken(2), 2);
	eth_delete(1, RX, entry.table, 1, PRM_STAT_OK);
	udp_to(101);
	assert_int_equal(frames_taken(1), 0);
	eth_delete(1, RX, entry.table, 1, PRM_STAT_BAD_RES_ERR);
}

static void the_lowest_index_wins(void **state)
{
	uint32_t table = eth_table(1, RX, 0, 0, PRM_STAT_OK), any, exact;
	struct eth_entry entry = { .table = table, .action = PRM_FLOW_FWD };

	(void)state;
	/* this group comes first by index and is created last, so the order of creation would
	 * choose the other */
	any = eth_group(1, RX, table, 4, 7, NULL, PRM_STAT_OK);
	exact = eth_group(1, RX, table, 0, 3, udp_mask(), PRM_STAT_OK);
	entry.group = any;
	entry.index = 4;
	entry.to_tir = rq[0]->tir;
	eth_set(1, &entry, PRM_STAT_OK);
	entry.group = exact;
	entry.index = 2;
	entry.value = udp_value(53);
	entry.to_tir = rq[1]->tir;
	eth_set(1, &entry, PRM_STAT_OK);
	eth_root(1, RX, table);
	udp_to(53);
	udp_to(54);
	assert_int_equal(frames_taken(1), 1);
	assert_int_equal(frames_taken(0), 1);
}

static void each_field_is_matched(void **state)
{
	static const struct eth_flow flow = { .protocol = 6,
					      .src = 0x0101,
					      .dst = 0x0202,
					      .sport = 33,
					      .dport = 44,
					      .payload = 20,
					      .vlan = 0x4007,
					      .tcp_flags = 0x12,
					      .dmac_last = 9 };
	static const struct {
		uint32_t field;
		uint64_t value;
	} fields[] = {
		{ LYR_2_4_SMAC_47_16, 0x02000000 }, { LYR_2_4_SMAC_15_0, 0x0077 },
		{ LYR_2_4_DMAC_47_16, 0x02000000 }, { LYR_2_4_DMAC_15_0, 0x0009 },
		{ LYR_2_4_ETHERTYPE, 0x0800 },      { LYR_2_4_CVLAN_TAG, 1 },
		{ LYR_2_4_FIRST_PRIO, 2 },          { LYR_2_4_FIRST_VID, 7 },
		{ LYR_2_4_IP_VERSION, 4 },          { LYR_2_4_IP_PROTOCOL, 6 },
		{ LYR_2_4_TTL_HOPLIMIT, 64 },       { LYR_2_4_TCP_SPORT, 33 },
		{ LYR_2_4_TCP_DPORT, 44 },          { LYR_2_4_TCP_FLAGS, 0x12 },
		{ FLD(0x2c, 31, 0), 0x0a000101 },   { FLD(0x3c, 31, 0), 0x0a000202 },
	};
	uint32_t len = eth_build(&flow, frame);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		uint8_t mask[PRM_MATCH_SET_SIZE] = { 0 }, value[PRM_MATCH_SET_SIZE] = { 0 };
		struct eth_entry entry = { .action = PRM_FLOW_FWD,
					   .to_tir = rq[0]->tir,
					   .value = value };

		fld_set(mask, fields[i].field, UINT32_MAX);
		entry.table = table_with(0, 0, &entry.group, mask);
		fld_set(value, fields[i].field, fields[i].value);
		eth_set(1, &entry, PRM_STAT_OK);
		fld_set(value, fields[i].field, fields[i].value ^ 1);
		entry.index = 1;
		entry.to_tir = rq[1]->tir;
		eth_set(1, &entry, PRM_STAT_OK);
		eth_root(1, RX, entry.table);
		eth_send(sq, frame, len);
		assert_int_equal(frames_taken(0), 1);
		assert_int_equal(frames_taken(1), 0);
	}
}

/* ---- actions ---- */

static void drops_are_counted(void **state)
{
	struct eth_entry entry = { .action = PRM_FLOW_DROP | PRM_FLOW_COUNT };
	uint64_t packets, bytes;

	(void)state;
	entry.table = table_with(0, 0, &entry.group, NULL);
	entry.counter = flat_simple(flat.hca[1], PRM_OP_ALLOC_FLOW_COUNTER, 0, PRM_STAT_OK);
	eth_set(1, &entry, PRM_STAT_OK);
	eth_root(1, RX, entry.table);
	udp_to(1);
	udp_to(2);
	eth_counter(1, entry.counter, &packets, &bytes);
	assert_int_equal(packets, 2);
	assert_int_equal(bytes, 2 * 82);
	flat_simple(flat.hca[1], PRM_OP_DEALLOC_FLOW_COUNTER, entry.counter,
		    PRM_STAT_BAD_RES_STATE_ERR);
	eth_delete(1, RX, entry.table, 0, PRM_STAT_OK);
}

static uint32_t counters_alloc(uint32_t bulk, uint32_t log_size, enum prm_status expect)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_FLOW_COUNTER);
	fld_set(in, ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK, bulk);
	fld_set(in, ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK_LOG_SIZE, log_size);
	flat_cmd_expect(flat.hca[1], in, sizeof(in), out, sizeof(out), expect);
	return (uint32_t)fld_get(out, ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID);
}

static void counters_free(uint32_t counter, enum prm_status expect)
{
	flat_simple(flat.hca[1], PRM_OP_DEALLOC_FLOW_COUNTER, counter, expect);
}

/* A bulk has numbers in a row, and ends as a whole. */
static void counters_come_in_bulks(void **state)
{
	struct eth_entry entry = { .action = PRM_FLOW_FWD | PRM_FLOW_COUNT, .to_tir = rq[0]->tir };
	const uint32_t one = counters_alloc(0, 0, PRM_STAT_OK);
	const uint32_t bulk = counters_alloc(1, 0, PRM_STAT_OK);
	const uint32_t other = counters_alloc(2, 0, PRM_STAT_OK);
	uint64_t packets, bytes;

	(void)state;
	assert_true(one < bulk || one >= bulk + 128);
	assert_true(other >= bulk + 128 || other + 256 <= bulk);
	entry.table = table_with(0, 0, &entry.group, NULL);
	entry.counter = bulk + 127;
	eth_set(1, &entry, PRM_STAT_OK);
	eth_root(1, RX, entry.table);
	udp_to(1);
	eth_counter(1, bulk + 127, &packets, &bytes);
	assert_int_equal(packets, 1);
	eth_counter(1, bulk, &packets, &bytes);
	assert_int_equal(packets, 0);
	counters_free(bulk, PRM_STAT_BAD_RES_STATE_ERR);
	eth_delete(1, RX, entry.table, 0, PRM_STAT_OK);
	counters_free(bulk + 1, PRM_STAT_BAD_RES_ERR);
	counters_free(bulk, PRM_STAT_OK);
	counters_free(bulk + 127, PRM_STAT_BAD_RES_ERR);
	counters_free(other, PRM_STAT_OK);
	counters_free(one, PRM_STAT_OK);
}

/* A number that was freed comes again only after the others: a stale one is noticed, so a program
 * that still uses one gets an error and no other's count. */
static void numbers_of_bulks_are_not_reused_at_once(void **state)
{
	uint32_t last = counters_alloc(1, 0, PRM_STAT_OK);
	const uint32_t first = last;

	(void)state;
	for (unsigned int i = 1; i < (1 << FLOW_LOG_COUNTERS) / 128; i++) {
		uint32_t next;

		counters_free(last, PRM_STAT_OK);
		next = counters_alloc(1, 0, PRM_STAT_OK);
		assert_int_equal(next, last + 128);
		last = next;
	}
	counters_free(last, PRM_STAT_OK);
	assert_int_equal(counters_alloc(1, 0, PRM_STAT_OK), first);
}

/* Nor does a single counter get the number of a bulk that has just ended, or the other way. */
static void numbers_of_bulks_and_single_ones_rise(void **state)
{
	const uint32_t bulk = counters_alloc(1, 0, PRM_STAT_OK);
	uint32_t one, next;

	(void)state;
	counters_free(bulk, PRM_STAT_OK);
	one = counters_alloc(0, 0, PRM_STAT_OK);
	assert_true(one >= bulk + 128);
	counters_free(one, PRM_STAT_OK);
	next = counters_alloc(0, 0, PRM_STAT_OK);
	assert_true(next > one);
	counters_free(next, PRM_STAT_OK);
	assert_true(counters_alloc(1, 0, PRM_STAT_OK) > next);
}

static void bulks_are_announced_to_programs_only(void **state)
{
	(void)state;
	flat.hca[1]->config.kernel_driver = true;
	counters_alloc(1, 0, PRM_STAT_BAD_PARAM_ERR);
	counters_alloc(0, 0, PRM_STAT_OK);
	flat.hca[1]->config.kernel_driver = false;
}

/* A guest's program must not match by DevX the fields that the device hides from the guest's
 * driver. */
static void guests_match_no_inner_headers(void **state)
{
	const uint32_t table = eth_table(1, RX, 0, 0, PRM_STAT_OK);
	uint8_t in[1024] = { 0 };
	uint8_t *criteria = fld_at(in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA);

	(void)state;
	fld_set(in, FLOW_IN_TABLE_ID, table);
	fld_set(in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE, 1 << 2);
	fld_set(fld_at(criteria, MATCH_INNER_HEADERS), LYR_2_4_IP_VERSION, 15);
	flat.hca[1]->config.kernel_driver = true;
	eth_cmd(1, PRM_OP_CREATE_FLOW_GROUP, in, sizeof(in), PRM_STAT_BAD_PARAM_ERR);
	flat.hca[1]->config.kernel_driver = false;
	eth_cmd(1, PRM_OP_CREATE_FLOW_GROUP, in, sizeof(in), PRM_STAT_OK);
}

static void bulks_have_limits(void **state)
{
	uint32_t first, second;

	(void)state;
	counters_alloc(3, 0, PRM_STAT_BAD_PARAM_ERR); /* two sizes */
	counters_alloc(0, 3, PRM_STAT_BAD_PARAM_ERR); /* not announced */
	first = counters_alloc(0x80, 0, PRM_STAT_OK);
	second = counters_alloc(0x80, 0, PRM_STAT_OK);
	counters_alloc(1, 0, PRM_STAT_LIM_ERR);
	counters_alloc(0, 0, PRM_STAT_LIM_ERR);
	counters_free(first, PRM_STAT_OK);
	counters_free(counters_alloc(0x80, 0, PRM_STAT_OK), PRM_STAT_OK);
	counters_free(second, PRM_STAT_OK);
}

static void tags_go_into_the_cqe(void **state)
{
	struct eth_entry entry = { .action = PRM_FLOW_FWD, .tag = 0xabcdef };
	const uint8_t *cqe;

	(void)state;
	entry.to_tir = rq[0]->tir;
	entry.table = table_with(0, 0, &entry.group, NULL);
	eth_set(1, &entry, PRM_STAT_OK);
	eth_root(1, RX, entry.table);
	udp_to(1);
	assert_non_null(eth_receive(rq[0], &cqe));
	assert_int_equal(fld_get(cqe, FLD(0x38, 23, 0)), 0xabcdef);
}

static void a_frame_can_go_to_several(void **state)
{
	struct eth_entry entry = { .action = PRM_FLOW_FWD };

	(void)state;
	entry.to_tir = rq[0]->tir;
	entry.also_tir = rq[3]->tir;
	entry.table = table_with(0, 0, &entry.group, NULL);
	eth_set(1, &entry, PRM_STAT_OK);
	eth_root(1, RX, entry.table);
	udp_to(1);
	assert_int_equal(frames_taken(0), 1);
	assert_int_equal(frames_taken(3), 1);
}

static void tables_lead_to_tables(void **state)
{
	struct eth_entry second = { .action = PRM_FLOW_FWD, .to_tir = rq[0]->tir };
	struct eth_entry third = { .action = PRM_FLOW_FWD, .to_tir = rq[1]->tir };
	struct eth_entry first = { .action = PRM_FLOW_FWD };

	(void)state;
	third.table = table_with(3, 0, &third.group, NULL);
	eth_set(1, &third, PRM_STAT_OK);
	second.table = table_with(2, third.table, &second.group, udp_mask());
	second.value = udp_value(80);
	eth_set(1, &second, PRM_STAT_OK);
	first.table = table_with(1, 0, &first.group, NULL);
	first.to_table = second.table;
	eth_set(1, &first, PRM_STAT_OK);
	eth_root(1, RX, first.table);
	udp_to(80); /* the second table matches */
	udp_to(81); /* the second table misses */
	assert_int_equal(frames_taken(0), 1);
	assert_int_equal(frames_taken(1), 1);
	/* a table that an entry or a miss leads to cannot be destroyed */
	eth_delete(1, RX, third.table, 0, PRM_STAT_OK);
	{
		uint8_t in[64] = { 0 };

		fld_set(in, FLOW_IN_TABLE_ID, third.table);
		fld_set(in, DESTROY_FLOW_GROUP_IN_GROUP_ID, third.group);
		eth_cmd(1, PRM_OP_DESTROY_FLOW_GROUP, in, sizeof(in), PRM_STAT_OK);
		eth_cmd(1, PRM_OP_DESTROY_FLOW_TABLE, in, sizeof(in), PRM_STAT_BAD_RES_STATE_ERR);
	}
}

/* Each table sends each frame on several times, so copies multiply: the device must limit them. */
static void multiplying_destinations_end(void **state)
{
	uint32_t next = 0, group;

	(void)state;
	for (uint32_t level = 20; level; level--) {
		struct eth_entry entry = { .action = PRM_FLOW_FWD, .to_tir = rq[0]->tir };

		entry.table = table_with(level, 0, &group, NULL);
		entry.group = group;
		entry.also_tir = rq[1]->tir;
		entry.to_table = next;
		eth_set(1, &entry, PRM_STAT_OK);
		next = entry.table;
	}
	eth_root(1, RX, next);
	udp_to(1);
	assert_int_equal(frames_taken(0), 20);
	assert_int_equal(frames_taken(1), 20);
}

static void transmit_tables_drop_and_allow(void **state)
{
	struct eth_entry entry = { .type = TX, .action = PRM_FLOW_DROP };

	(void)state;
	eth_catch_all(1, rq[0]->tir);
	entry.table = eth_table(0, TX, 0, 0, PRM_STAT_OK);
	entry.group = eth_group(0, TX, entry.table, 0, 7, udp_mask(), PRM_STAT_OK);
	entry.value = udp_value(7);
	eth_set(0, &entry, PRM_STAT_OK);
	entry.index = 1;
	entry.action = PRM_FLOW_ALLOW;
	entry.value = udp_value(8);
	eth_set(0, &entry, PRM_STAT_OK);
	eth_root(0, TX, entry.table);
	udp_to(7);
	assert_int_equal(frames_taken(0), 0);
	udp_to(8);
	udp_to(9);
	assert_int_equal(frames_taken(0), 2);
}

static void hash_is_that_of_the_verification_suite(void **state)
{
	/* 66.9.149.187:2794 -> 161.142.100.80:1766 over IPv4 with TCP */
	struct eth_flow flow = { .protocol = 6, .sport = 2794, .dport = 1766, .payload = 10 };
	uint32_t rqn[1] = { rq[0]->n }, len;
	const uint8_t *cqe;

	(void)state;
	len = eth_build(&flow, frame);
	memcpy(frame + 14 + 12, (uint8_t[]){ 66, 9, 149, 187, 161, 142, 100, 80 }, 8);
	for (uint32_t fields = 3; fields <= 15; fields += 12) {
		eth_catch_all(1, eth_hash_tir(1, td, eth_rqt(1, rqn, 1, PRM_STAT_OK), PRM_L3_IPV4,
					      PRM_L4_TCP, fields));
		eth_send(sq, frame, len);
		assert_non_null(eth_receive(rq[0], &cqe));
		assert_int_equal(fld_get(cqe, FLD(0xc, 31, 0)),
				 fields == 3 ? 0x323e8fc2 : 0x51ccc178);
		assert_int_equal(cqe[16], fields == 3 ? 0x04 : 0x44);
	}
}

static void flows_spread_over_queues_and_stay_there(void **state)
{
	struct eth_flow flow = { .protocol = 6, .src = 1, .dst = 2, .payload = 10 };
	uint32_t rqn[QUEUES];
	unsigned int got, used = 0;

	(void)state;
	for (uint32_t i = 0; i < QUEUES; i++)
		rqn[i] = rq[i]->n;
	eth_catch_all(1, eth_hash_tir(1, td, eth_rqt(1, rqn, QUEUES, PRM_STAT_OK), PRM_L3_IPV4,
				      PRM_L4_TCP, 15));
	for (uint32_t i = 0; i < 64; i++) {
		/* two frames of each flow, so each queue gets an even number */
		flow.sport = (uint16_t)(1000 + i / 2);
		eth_send(sq, frame, eth_build(&flow, frame));
	}
	for (uint32_t i = 0; i < QUEUES; i++) {
		got = frames_taken(i);
		assert_int_equal(got % 2, 0);
		used += got > 0;
	}
	assert_int_equal(used, QUEUES);
}

/* ---- refusals ---- */

static void wrong_tables_and_groups_are_refused(void **state)
{
	uint32_t table = eth_table(1, RX, 5, 0, PRM_STAT_OK);
	uint8_t mask[PRM_MATCH_SET_SIZE] = { 0 };

	(void)state;
	eth_table(1, 4, 0, 0, PRM_STAT_BAD_PARAM_ERR); /* type 4: e-switch */
	/* a miss must lead to a higher level, so that no circle forms */
	eth_table(1, RX, 5, table, PRM_STAT_BAD_PARAM_ERR);
	eth_table(1, RX, 1, 0x777777, PRM_STAT_BAD_PARAM_ERR); /* the miss leads to no table */
	/* the level is too high: the device announces fewer */
	eth_table(1, RX, 128, 0, PRM_STAT_BAD_PARAM_ERR);
	eth_group(1, RX, 0x777777, 0, 1, NULL, PRM_STAT_BAD_RES_ERR);
	eth_group(1, TX, table, 0, 1, NULL, PRM_STAT_BAD_RES_ERR);
	eth_group(1, RX, table, 2, 1, NULL, PRM_STAT_BAD_PARAM_ERR);
	eth_group(1, RX, table, 0, 16, NULL, PRM_STAT_BAD_PARAM_ERR);
	eth_group(1, RX, table, 0, UINT32_MAX, NULL, PRM_STAT_BAD_PARAM_ERR);
	eth_group(1, RX, table, 4, 8, NULL, PRM_STAT_OK);
	eth_group(1, RX, table, 8, 9, NULL, PRM_STAT_BAD_PARAM_ERR);
	/* reserved bits: later firmware may give them a meaning, so they must be 0 */
	mask[0x18] = 0xff;
	eth_group(1, RX, table, 10, 11, mask, PRM_STAT_BAD_PARAM_ERR);
}

static void wrong_entries_are_refused(void **state)
{
	struct eth_entry good = { .action = PRM_FLOW_FWD, .to_tir = rq[0]->tir }, bad;

	(void)state;
	good.table = table_with(3, 0, &good.group, NULL);
	bad = good;
	bad.index = 8; /* index outside of the group */
	eth_set(1, &bad, PRM_STAT_BAD_RES_ERR);
	bad.index = UINT32_MAX;
	eth_set(1, &bad, PRM_STAT_BAD_RES_ERR);
	bad = good;
	bad.action = PRM_FLOW_ALLOW; /* allowed in transmit tables only */
	eth_set(1, &bad, PRM_STAT_BAD_PARAM_ERR);
	bad.action = PRM_FLOW_FWD | 0x40;
	eth_set(1, &bad, PRM_STAT_BAD_PARAM_ERR);
	bad.action = PRM_FLOW_DROP | PRM_FLOW_FWD;
	eth_set(1, &bad, PRM_STAT_BAD_PARAM_ERR);
	bad.action = PRM_FLOW_FWD | PRM_FLOW_COUNT; /* no counter given */
	eth_set(1, &bad, PRM_STAT_BAD_PARAM_ERR);
	bad = good;
	bad.to_tir = 0xeeeeee;
	eth_set(1, &bad, PRM_STAT_BAD_PARAM_ERR);
	bad = good;
	bad.to_tir = 0;
	bad.to_table = good.table; /* the table leads to itself, so a frame would never leave it */
	eth_set(1, &bad, PRM_STAT_BAD_PARAM_ERR);
	eth_set(1, &good, PRM_STAT_OK);
	eth_set(1, &good, PRM_STAT_BAD_RES_STATE_ERR); /* the index is in use */
	flat_simple(flat.hca[1], PRM_OP_DESTROY_TIR, rq[0]->tir, PRM_STAT_BAD_RES_STATE_ERR);
}

static void objects_in_use_cannot_be_destroyed(void **state)
{
	uint32_t rqn[2] = { rq[0]->n, rq[1]->n }, rqt = eth_rqt(1, rqn, 2, PRM_STAT_OK);

	(void)state;
	flat_simple(flat.hca[1], PRM_OP_DESTROY_RQ, rq[0]->n, PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_CQ, rq[0]->cq->n, PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(flat.hca[1], PRM_OP_DEALLOC_Q_COUNTER, rq[0]->counter,
		    PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(flat.hca[1], PRM_OP_DEALLOC_TRANSPORT_DOMAIN, td, PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_TIS, sq->tis, PRM_STAT_BAD_RES_STATE_ERR);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_RQT, rqt, PRM_STAT_OK);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_RQT, rqt, PRM_STAT_BAD_RES_ERR);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_TIR, rq[0]->tir, PRM_STAT_OK);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_RQ, rq[0]->n, PRM_STAT_OK);
	flat_simple(flat.hca[1], PRM_OP_DESTROY_CQ, rq[0]->cq->n, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_SQ, sq->n, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_TIS, sq->tis, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DEALLOC_TRANSPORT_DOMAIN, sq->td, PRM_STAT_OK);
}

static void wrong_queue_tables_are_refused(void **state)
{
	uint32_t rqn[64] = { rq[0]->n, 0x123 };

	(void)state;
	eth_rqt(1, rqn, 2, PRM_STAT_BAD_PARAM_ERR); /* no such RQ */
	eth_rqt(1, rqn, 0, PRM_STAT_BAD_PARAM_ERR);
	eth_rqt(1, rqn, 200, PRM_STAT_BAD_PARAM_ERR); /* list shorter than its size */
	eth_rqt(1, rqn, 300, PRM_STAT_BAD_PARAM_ERR);
}

/* Checks that a query succeeds with exactly NEEDED bytes of output, and fails with 4 bytes less. */
static void expect_room(uint8_t *in, size_t in_len, size_t needed)
{
	uint8_t out[1024];

	flat_cmd_expect(flat.hca[1], in, in_len, out, needed, PRM_STAT_OK);
	flat_cmd_expect(flat.hca[1], in, in_len, out, needed - 4, PRM_STAT_BAD_OUTP_LEN_ERR);
}

static void queries_need_room_for_what_there_is(void **state)
{
	uint32_t rqn[2] = { rq[0]->n, rq[1]->n }, rqt = eth_rqt(1, rqn, 2, PRM_STAT_OK);
	struct eth_entry entry = { .action = PRM_FLOW_FWD, .to_tir = rq[0]->tir };
	uint8_t in[64] = { 0 };

	(void)state;
	entry.table = eth_table(1, 0, 1, 0, PRM_STAT_OK);
	entry.group = eth_group(1, 0, entry.table, 0, 1, NULL, PRM_STAT_OK);
	eth_set(1, &entry, PRM_STAT_OK);
	entry.index = 1;
	entry.also_tir = rq[1]->tir;
	eth_set(1, &entry, PRM_STAT_OK);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_RQT);
	fld_set(in, QUERY_RQT_IN_RQTN, rqt);
	expect_room(in, 16, 32 + PRM_RQTC_SIZE + 2 * 4);
	memset(in, 0, sizeof(in));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_FLOW_TABLE_ENTRY);
	fld_set(in, FLOW_IN_TABLE_ID, entry.table);
	for (uint32_t i = 0; i < 2; i++) {
		fld_set(in, QUERY_FTE_IN_FLOW_INDEX, i);
		expect_room(in, 64, 64 + PRM_FLOW_CONTEXT_SIZE + (i + 1) * PRM_DEST_FORMAT_SIZE);
	}
}

#define FLOWS(test) cmocka_unit_test_setup_teardown(test, open_flows, close_flows)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLOWS(without_a_root_frames_are_dropped),
		FLOWS(entries_match_their_value),
		FLOWS(the_lowest_index_wins),
		FLOWS(each_field_is_matched),
		FLOWS(drops_are_counted),
		FLOWS(counters_come_in_bulks),
		FLOWS(numbers_of_bulks_are_not_reused_at_once),
		FLOWS(numbers_of_bulks_and_single_ones_rise),
		FLOWS(bulks_are_announced_to_programs_only),
		FLOWS(guests_match_no_inner_headers),
		FLOWS(bulks_have_limits),
		FLOWS(tags_go_into_the_cqe),
		FLOWS(a_frame_can_go_to_several),
		FLOWS(tables_lead_to_tables),
		FLOWS(multiplying_destinations_end),
		FLOWS(transmit_tables_drop_and_allow),
		FLOWS(hash_is_that_of_the_verification_suite),
		FLOWS(flows_spread_over_queues_and_stay_there),
		FLOWS(wrong_tables_and_groups_are_refused),
		FLOWS(wrong_entries_are_refused),
		FLOWS(objects_in_use_cannot_be_destroyed),
		FLOWS(wrong_queue_tables_are_refused),
		FLOWS(queries_need_room_for_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
