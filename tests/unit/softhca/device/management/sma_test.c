/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sma_test.c - answers to management datagrams, as golden bytes: of the adapter's agents, which a
 * driver reaches by MAD_IFC, and of the switch, along the path of a directed-route packet.
 *
 * Covers: softhca/device/management/sma.c, softhca/device/management/pma.c, softhca/net/leaf.c,
 * softhca/device/format/mlx5/cmd/mad.c
 */
#include "ib/pm.h"
#include "ib/smp.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mad.h"
#include "prm/mlx5/qpc.h"
#include "pair.h"
#include "util/bits.h"

enum { GRH_LEN = 40, PERMISSIVE = 0xffff, SWITCH_LID = 0xbfff, DIRECTED = 0x81, LID_ROUTED = 1 };

static const struct flat_qp_attr smi = { .st = PRM_QP_ST_QP0 };

static uint8_t in[16 + 256], out[16 + 256];
static uint8_t *const request = in + 16, *const answer = out + 16;

static void ask_for(uint8_t class, uint16_t attribute, uint32_t modifier)
{
	const uint8_t start[] = { 1, class, 1, 1 };

	memset(in, 0, sizeof(in));
	memcpy(request, start, sizeof(start));
	memset(request + 8, 0x5a, 8); /* transaction ID */
	fld_set(request, MAD_ATTRIBUTE, attribute);
	fld_set(request, MAD_MODIFIER, modifier);
}

static unsigned int ask_adapter(unsigned int port)
{
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MAD_IFC);
	fld_set(in, MAD_IFC_IN_PORT, port);
	hca_exec(flat.hca[0], in, sizeof(in), out, sizeof(out));
	return fld_get(out, CMD_OUT_STATUS);
}

static void ask_expect(uint16_t status)
{
	assert_int_equal(ask_adapter(1), PRM_STAT_OK);
	assert_int_equal(answer[3], 0x81);
	assert_int_equal(answer[4] << 8 | answer[5], status);
	assert_memory_equal(answer + 8, request + 8, 8);
}

static void a_node_says_what_it_is(void **state)
{
	static const uint8_t start[] = { 1, 1, 1 /* channel adapter */, 1 /* port */ };
	static const uint8_t vendor[] = { 0x00, 0x02, 0xc9 };

	(void)state;
	ask_for(LID_ROUTED, 0x11, 0);
	ask_expect(0);
	assert_memory_equal(answer + 64, start, sizeof(start));
	assert_int_equal(answer[64 + 36], 1); /* the queried port */
	assert_memory_equal(answer + 64 + 37, vendor, sizeof(vendor));
	ask_for(LID_ROUTED, 0x10, 0);
	ask_expect(0);
	assert_memory_equal(answer + 64, "softhca mlx5_", 13);
}

static void a_port_is_active_at_its_lid(void **state)
{
	static const uint8_t lids[] = { 0, 1, 0xbf, 0xff };

	(void)state;
	ask_for(LID_ROUTED, 0x15, 1);
	ask_expect(0);
	assert_memory_equal(answer + 64 + 16, lids, sizeof(lids));
	assert_int_equal(answer[64 + 32], 0x74); /* active */
	assert_int_equal(answer[64 + 33], 0x52); /* physical state LinkUp, default Polling */
	hca_set_link(flat.hca[0], 1, false);
	ask_expect(0);
	assert_int_equal(answer[64 + 32], 0x71);
	assert_int_equal(answer[64 + 33], 0x22);
	ask_for(LID_ROUTED, 0x15, 2);
	ask_expect(0x1c); /* the port does not exist */
}

static void tables_have_ends(void **state)
{
	(void)state;
	ask_for(LID_ROUTED, 0x16, 0);
	ask_expect(0);
	assert_int_equal(answer[64] << 8 | answer[65], 0xffff);
	ask_for(LID_ROUTED, 0x16, 4);
	ask_expect(0x1c);
	ask_for(LID_ROUTED, 0x14, 1);
	ask_expect(0x1c);
}

static void what_is_not_there_is_refused(void **state)
{
	(void)state;
	ask_for(LID_ROUTED, 0x12, 0); /* SwitchInfo, which an adapter lacks */
	ask_expect(0x0c);
	ask_for(LID_ROUTED, 0x15, 1);
	request[3] = 2; /* method Set */
	ask_expect(0x0c);
	ask_for(LID_ROUTED, 0x11, 0);
	request[2] = 2; /* class version */
	ask_expect(0x04);
	ask_for(LID_ROUTED, 0x11, 0);
	assert_int_equal(ask_adapter(2), PRM_STAT_BAD_PARAM_ERR);
	ask_for(0x09, 0x11, 0); /* a class without an agent */
	assert_int_equal(ask_adapter(1), PRM_STAT_BAD_PARAM_ERR);
	ask_for(LID_ROUTED, 0x11, 0);
	fld_set(in, CMD_IN_OP_MOD, 4);
	assert_int_equal(ask_adapter(1), PRM_STAT_BAD_PARAM_ERR);
}

static void ask_counters(uint8_t method, uint16_t attribute, uint16_t select)
{
	ask_for(4, attribute, 0);
	request[3] = method;
	request[64 + 1] = 1; /* port */
	fld_set(request + 64, PM_SELECT, select);
}

static void counters_can_be_set(void **state)
{
	(void)state;
	pair(&(struct flat_qp_attr){ 0 }, 4096);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 1024, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	assert_non_null(flat_poll(a->send_cq));
	ask_counters(1, 0x12, 0);
	ask_expect(0);
	assert_int_equal(fld_get(answer + 64, PM_XMIT_DATA), 1024 / 4);
	assert_int_equal(fld_get(answer + 64, PM_XMIT_PACKETS), 1);
	ask_counters(2, 0x12, 1 << 12); /* sent data only */
	fld_set(request + 64, PM_XMIT_DATA, 7);
	ask_expect(0);
	ask_counters(1, 0x12, 0);
	ask_expect(0);
	assert_int_equal(fld_get(answer + 64, PM_XMIT_DATA), 7);
	assert_int_equal(fld_get(answer + 64, PM_XMIT_PACKETS), 1);
	ask_counters(1, 0x1d, 0);
	ask_expect(0);
	assert_int_equal(fld_get64(answer + 64, 8), 1024 / 4); /* other counters stay */
	request[64 + 1] = 2;
	ask_expect(0x1c);
	unpair();
}

static const uint8_t *ask_switch(uint16_t lid)
{
	flat_recv(a, from + 256, 4096 - 256, lkey);
	memcpy(flat.mem + from, request, 256);
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_av_lid(lid, 0, 0);
	flat_data(a, from, 256, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG);
	assert_non_null(flat_poll(a->send_cq));
	if (!flat_poll(a->recv_cq))
		return NULL;
	/* On a wire, an answer comes after the send has completed. */
	assert_in_range(flat_when_completed(a->send_cq), 1, flat_when_completed(a->recv_cq) - 1);
	return flat.mem + from + 256 + GRH_LEN;
}

static void go_by(const uint8_t *ports, uint8_t hops)
{
	/* permissive LIDs: the whole path is a directed route (IBTA vol 1, 14.2.2) */
	memset(request + 32, 0xff, 4);
	request[6] = 1;
	request[7] = hops;
	memcpy(request + 128 + 1, ports, hops);
}

static void one_hop_leads_to_the_switch(void **state)
{
	const uint8_t *told;

	(void)state;
	pair(&smi, 4096);
	ask_for(DIRECTED, 0x11, 0);
	go_by((const uint8_t[]){ 1 }, 1);
	told = ask_switch(PERMISSIVE);
	assert_non_null(told);
	assert_int_equal(told[3], 0x81);
	assert_int_equal(told[4] << 8 | told[5], 0x8000); /* D bit (return path), status 0 */
	assert_int_equal(told[6], 1);                     /* hop pointer: one hop is left */
	assert_int_equal(told[192 + 1], 1);               /* return path: came in at port 1 */
	assert_int_equal(told[64 + 2], 2);                /* node type: switch */
	assert_int_equal(told[64 + 3], 2);                /* number of ports: 2 */
	unpair();
}

static void the_second_hop_leads_through_it(void **state)
{
	const uint8_t *told;

	(void)state;
	pair(&smi, 4096);
	flat_recv(b, to, 4096, rkey);
	ask_for(DIRECTED, 0x11, 0);
	go_by((const uint8_t[]){ 1, 2 }, 2);
	/* delivered to b, whose software must answer */
	assert_null(ask_switch(PERMISSIVE));
	assert_non_null(flat_poll(b->recv_cq));
	told = flat.mem + to + GRH_LEN;
	assert_int_equal(told[3], 1);
	assert_int_equal(told[6], 2);
	assert_int_equal(told[192 + 1], 1);
	unpair();
}

static void a_way_that_leads_nowhere_ends(void **state)
{
	static const uint8_t ways[][3] = { { 1, 0, 1 }, { 1, 3, 1 }, { 1, 254, 1 }, { 1, 255, 2 } };

	(void)state;
	pair(&smi, 4096);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		ask_for(DIRECTED, 0x11, 0);
		go_by(ways[i], 3);
		assert_null(ask_switch(PERMISSIVE));
	}
	ask_for(DIRECTED, 0x11, 0);
	go_by(ways[0], 1);
	/* hop count beyond the limit, since a path has 64 bytes and begins at byte 1 */
	request[7] = 64;
	assert_null(ask_switch(PERMISSIVE));
	request[7] = 1;
	request[6] = 2; /* hop pointer beyond the hop count */
	assert_null(ask_switch(PERMISSIVE));
	request[4] = 0x80; /* return path without a hop left */
	assert_null(ask_switch(PERMISSIVE));
	unpair();
}

static void the_manager_is_at_the_switch(void **state)
{
	const uint8_t *told;

	(void)state;
	pair(&smi, 4096);
	ask_for(LID_ROUTED, 0x20, 0);
	told = ask_switch(SWITCH_LID);
	assert_non_null(told);
	assert_int_equal(told[64 + 20], 0xf3); /* SM state master, highest priority */
	ask_for(LID_ROUTED, 0x19, 0);
	told = ask_switch(SWITCH_LID);
	assert_non_null(told);
	assert_int_equal(told[64 + 1], 1);
	assert_int_equal(told[64 + 2], 2);
	assert_int_equal(told[64 + 3], 255); /* port 255: no such LID */
	ask_for(LID_ROUTED, 0x02, 0);
	request[3] = 5; /* method Trap: must not be repeated, as no answer comes */
	told = ask_switch(SWITCH_LID);
	assert_non_null(told);
	assert_int_equal(told[3], 7);
	unpair();
}

static const uint8_t *switch_says(uint16_t attribute, uint32_t modifier, uint16_t status)
{
	const uint8_t *told;

	ask_for(LID_ROUTED, attribute, modifier);
	told = ask_switch(SWITCH_LID);
	assert_non_null(told);
	assert_int_equal(told[4] << 8 | told[5], status);
	return told + 64;
}

static void tables_of_the_switch_have_ends(void **state)
{
	static const uint8_t zeroes[64];
	const uint8_t *data;

	(void)state;
	pair(&smi, 4096);
	for (uint32_t port = 0; port <= 2; port++) {
		data = switch_says(0x16, port << 16, 0); /* P_Keys: the default one alone */
		assert_memory_equal(data, "\xff\xff", 2);
		assert_memory_equal(data + 2, zeroes, 62);
		switch_says(0x16, port << 16 | 1, 0x1c);
	}
	switch_says(0x16, 3 << 16, 0x1c);
	data = switch_says(0x14, 0, 0); /* GUIDs */
	assert_memory_not_equal(data, zeroes, 8);
	assert_memory_equal(data + 8, zeroes, 56);
	switch_says(0x14, 1, 0x1c);
	assert_memory_equal(switch_says(0x17, 0, 0), zeroes, 64);
	assert_memory_equal(switch_says(0xff90, 1, 0), zeroes, 64);
	switch_says(0x19, SWITCH_LID / 64, 0);
	switch_says(0x19, SWITCH_LID / 64 + 1, 0x1c);
	switch_says(0x13, 0, 0x0c); /* no such attribute */
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(a_node_says_what_it_is),
		IB(a_port_is_active_at_its_lid),
		IB(tables_have_ends),
		IB(what_is_not_there_is_refused),
		IB(counters_can_be_set),
		IB(one_hop_leads_to_the_switch),
		IB(the_second_hop_leads_through_it),
		IB(a_way_that_leads_nowhere_ends),
		IB(the_manager_is_at_the_switch),
		IB(tables_of_the_switch_have_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
