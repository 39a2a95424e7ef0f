/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault_test.c - texts of faults, and traffic under lost messages and with a dead adapter.
 *
 * Covers: softhca/fault.c
 */
#include <errno.h>

#include "exchange.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/vport.h"
#include "util/bits.h"

static void texts_are_parsed(void **state)
{
	static const char *const good[] = {
		"cmd:1=EIO",     "cmd:12=5",  "drop:1",  "drop:3%",       "drop:0%",
		"drop:100%",     "kill:7",    "kill",    "drop",          "kill@12",
		"link-down",     "link-up@0", "link-up", "link-down@500", "cmd-timeout",
		"cmd-timeout:9", "prm:2",     "loss:4",  "loss:1%",       "loss:0.05%",
		"late:3",        "late:100%", "late",    "late:2+7",      "late:1%+3",
		"flip",          "flip:2",    "flip:1%", "flip:2+0",      "flip:0.5%+77",
	};
	static const char *const bad[] = {
		"",
		"drop:",
		"drop:0",
		"drop:101%",
		"drop:x",
		"drop:1x",
		"kill:",
		"kill:0",
		"kill:1%",
		"cmd:1",
		"cmd:1=",
		"cmd:0=EIO",
		"cmd:1=EWHAT",
		"cmd:1=0",
		"stop:1",
		"cmd",
		"kill@",
		"kill@x",
		"kill@5ms",
		"kill@-1",
		"drop@5",
		"link-down:5",
		"link@5",
		"link-down@",
		"cmd-timeout@5",
		"cmd-timeout:0",
		"cmd-refuse:0",
		"cmd-late",
		"cmd-late:2",
		"cmd-late:2+0",
		"cmd-late:2+5x",
		"cmd-late:2+1000000001",
		"cmd-late:2+99999999999999999999",
		"cmd-kill@5",
		"unplug:0",
		"link-up@99999999999",
		"loss:0",
		"loss:1.%x",
		"loss:101%",
		"late:1.23456%",
		"late:1+",
		"late:1+0",
		"late:1+2%",
		"loss:1+2",
		"flip:0",
		"flip:101%",
		"flip:1+",
		"flip:1+x",
		"flip@5",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(fault_add(flat.fault, good[i], flat.now), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(fault_add(flat.fault, bad[i], flat.now), EINVAL);
}

static void faults_of_another_front_are_refused(void **state)
{
	static const char *const of_process[] = { "cmd:1=EIO", "keks-vanish@5", "nodes-vanish",
						  "nodes-appear@5" };
	static const char *const of_vfio[] = { "cmd-timeout:900", "cmd-refuse:900",
					       "cmd-late:900+5",  "cmd-kill:900",
					       "unplug:900",      "unplug@5" };

	(void)state;
	fault_set_front(flat.fault, FAULT_PCI_FRONT);
	for (size_t i = 0; i < ARRAY_SIZE(of_process); i++)
		assert_int_equal(fault_add(flat.fault, of_process[i], 0), EOPNOTSUPP);
	assert_int_equal(fault_add(flat.fault, "cmd-timeout:1000", 0), 0);
	assert_int_equal(fault_add(flat.fault, "cmd:1", 0), EINVAL);
	fault_set_front(flat.fault, FAULT_PROCESS_FRONT);
	for (size_t i = 0; i < ARRAY_SIZE(of_process); i++)
		assert_int_equal(fault_add(flat.fault, of_process[i], 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(of_vfio); i++)
		assert_int_equal(fault_add(flat.fault, of_vfio[i], 0), EOPNOTSUPP);
	assert_int_equal(fault_add(flat.fault, "prm:1000", 0), 0);
	fault_set_front(flat.fault, FAULT_PROCESS_FRONT | FAULT_VFIO_FRONT);
	for (size_t i = 0; i < ARRAY_SIZE(of_vfio); i++)
		assert_int_equal(fault_add(flat.fault, of_vfio[i], 0), 0);
	assert_int_equal(fault_add(flat.fault, "keks-vanish@5", 0), 0);
}

static void commands_of_a_queue_have_faults(void **state)
{
	static const struct {
		const char *text;
		enum queued_fault fault;
	} cases[] = {
		{ "cmd-timeout:2", QUEUED_LOST }, { "cmd-refuse:2", QUEUED_REFUSED },
		{ "cmd-late:2+70", QUEUED_LATE }, { "cmd-kill:2", QUEUED_KILL },
		{ "unplug:2", QUEUED_UNPLUG },
	};
	const uint64_t before = fault_count_queued(flat.fault);
	uint64_t late_ms = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(fault_add(flat.fault, cases[i].text, flat.now), 0);
		assert_int_equal(fault_queued(flat.fault, &late_ms), QUEUED_FINE);
		assert_int_equal(fault_queued(flat.fault, &late_ms), cases[i].fault);
		assert_int_equal(fault_queued(flat.fault, &late_ms), QUEUED_FINE);
		if (cases[i].fault == QUEUED_LATE)
			assert_int_equal(late_ms, 70);
	}
	assert_int_equal(fault_count_queued(flat.fault) - before, 3 * ARRAY_SIZE(cases));
	assert_int_equal(fault_queued(NULL, &late_ms), QUEUED_FINE);
}

static void command_faults_hit_their_number(void **state)
{
	(void)state;
	fault_add(flat.fault, "cmd:2=EIO", flat.now);
	fault_add(flat.fault, "cmd:4=12", flat.now);
	assert_int_equal(fault_command(flat.fault), 0);
	assert_int_equal(fault_command(flat.fault), EIO);
	assert_int_equal(fault_command(flat.fault), 0);
	assert_int_equal(fault_command(flat.fault), 12);
	assert_int_equal(fault_command(NULL), 0);
}

static void adapter_commands_are_counted_and_refused(void **state)
{
	uint64_t kernel_commands, commands, before;

	(void)state;
	fault_counts(flat.fault, &kernel_commands, &before);
	fault_add(flat.fault, "prm:2", flat.now);
	assert_false(fault_refuse(flat.fault));
	assert_true(fault_refuse(flat.fault));
	assert_false(fault_refuse(flat.fault));
	fault_counts(flat.fault, &kernel_commands, &commands);
	assert_int_equal(commands - before, 3);
	assert_false(fault_refuse(NULL));
}

static void counting_begins_when_the_fault_is_added(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		assert_false(fault_lose_command(flat.fault));
	fault_add(flat.fault, "cmd-timeout:2", flat.now);
	assert_false(fault_lose_command(flat.fault));
	assert_true(fault_lose_command(flat.fault));
	assert_false(fault_lose_command(flat.fault));
	fault_command(flat.fault);
	fault_add(flat.fault, "cmd:1=EIO", flat.now);
	assert_int_equal(fault_command(flat.fault), EIO);
	assert_false(fault_lose_command(NULL));
}

static void damaged_transfers_are_counted(void **state)
{
	uint64_t bit = 99;

	(void)state;
	assert_false(fault_flip(flat.fault, 8, &bit));
	fault_add(flat.fault, "flip:2+9", flat.now);
	assert_false(fault_flip(flat.fault, 16, &bit));
	assert_int_equal(bit, 99);
	assert_true(fault_flip(flat.fault, 16, &bit));
	assert_int_equal(bit, 9);
	assert_false(fault_flip(flat.fault, 16, &bit));
	fault_add(flat.fault, "flip:1+17", flat.now);
	assert_true(fault_flip(flat.fault, 16, &bit));
	assert_int_equal(bit, 1);
	fault_add(flat.fault, "flip:100%", flat.now);
	for (int i = 0; i < 100; i++) {
		assert_true(fault_flip(flat.fault, 3, &bit));
		assert_true(bit < 3);
	}
	assert_false(fault_flip(NULL, 8, &bit));
}

static void timed_faults_are_due_once_each_and_in_order(void **state)
{
	const uint64_t ms = 1000000, start = 5 * ms;
	enum fault_event event;

	(void)state;
	assert_int_equal(fault_deadline(flat.fault), FAULT_NEVER);
	fault_add(flat.fault, "link-up@20", start);
	fault_add(flat.fault, "link-down@10", start);
	assert_int_equal(fault_deadline(flat.fault), start + 10 * ms);
	assert_false(fault_due(flat.fault, start + 10 * ms - 1, &event));
	assert_true(fault_due(flat.fault, start + 100 * ms, &event));
	assert_int_equal(event, FAULT_LINK_DOWN);
	assert_true(fault_due(flat.fault, start + 100 * ms, &event));
	assert_int_equal(event, FAULT_LINK_UP);
	assert_false(fault_due(flat.fault, start + 100 * ms, &event));
	fault_add(flat.fault, "kill", start + 200 * ms);
	assert_true(fault_due(flat.fault, start + 200 * ms, &event));
	assert_int_equal(event, FAULT_DIE);
	assert_false(fault_due(NULL, start, &event));
}

/* A message lost while the link is down is sent again by its timer, and arrives once the link is
 * up. */
static void link_down_is_told_and_loses_what_is_sent(void **state)
{
	const struct flat_qp_attr attr = { .timeout = 8, .retry = 7 };
	uint8_t in[16] = { 0 }, out[16 + PRM_HCA_VPORT_CONTEXT_SIZE] = { 0 };
	uint8_t *context = fld_at(out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT);

	(void)state;
	pair(&attr, 64);
	hca_set_link(flat.hca[1], 1, false);
	hca_set_link(flat.hca[1], 1, false);
	assert_int_equal(flat_count_events(PRM_EVENT_PORT_CHANGE), 1);
	assert_int_equal(fld_get(flat.event[flat.events - 1], EQE_SUB_TYPE), 1);
	assert_int_equal(fld_get(flat.event[flat.events - 1], EQE_PORT), 1);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	flat_cmd(flat.hca[1], in, sizeof(in), out, sizeof(out));
	assert_int_equal(fld_get(context, HCA_VPORT_CONTEXT_PORT_STATE), 1);
	write_to(to, rkey, from, 64);
	flat_run(1000000);
	flat_expect_empty(a->send_cq);
	hca_set_link(flat.hca[1], 1, true);
	assert_int_equal(flat_count_events(PRM_EVENT_PORT_CHANGE), 2);
	assert_int_equal(fld_get(flat.event[flat.events - 1], EQE_SUB_TYPE), 4);
	flat_run(LONG);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + from, flat.mem + to, 64);
	unpair();
}

/* Loses the first message, then the second, ... until the exchange needs fewer messages. */
static void any_one_message_may_be_lost(void **state)
{
	char text[32];

	(void)state;
	for (int n = 1; n <= 16; n++) {
		flat_teardown(state);
		flat_setup(state);
		snprintf(text, sizeof(text), "drop:%d", n);
		assert_int_equal(fault_add(flat.fault, text, flat.now), 0);
		pair(NULL, EXCHANGE_MEMORY);
		exchange_post(64, 600000);
		flat_run(LONG);
		exchange_check(64, 600000);
		unpair();
	}
}

/* The READ loses its response and is repeated; the fenced WRITE must not overtake it, as the READ
 * would return the new bytes. */
static void fence_keeps_a_write_behind_a_lost_read(void **state)
{
	(void)state;
	assert_int_equal(fault_add(flat.fault, "drop:2", flat.now), 0);
	pair(NULL, 4096);
	memset(flat.mem + to, 0xee, 8);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ctrl(a, OP_WRITE, SIGNALED | FENCE, 0);
	flat_raddr(a, to, rkey);
	flat_data(a, from + 8, 8, lkey);
	flat_post(a);
	flat_ring(a);
	flat_run(LONG / 20);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_done(a->send_cq, REQ, 1);
	assert_memory_equal(flat.mem + from, "\xee\xee\xee\xee\xee\xee\xee\xee", 8);
	assert_memory_equal(flat.mem + to, flat.mem + from + 8, 8);
	unpair();
}

static void a_tenth_of_all_may_be_lost(void **state)
{
	struct flat_qp_attr attr = { .retry = 7, .first_psn = 0xffff00, .timeout = 4 };

	(void)state;
	assert_int_equal(fault_add(flat.fault, "drop:10%", flat.now), 0);
	pair(&attr, 2 << 20);
	for (int i = 0; i < 200; i++) {
		flat_recv(b, to + 64, 64, rkey);
		flat_send(a, OP_SEND, from + i, 64, lkey);
		write_to(to + 4096, rkey, from + i, 300000);
		flat_run(LONG);
		flat_expect_done(a->send_cq, REQ, 2 * i);
		flat_expect_done(a->send_cq, REQ, 2 * i + 1);
		flat_expect_done(b->recv_cq, RESP_SEND, i);
		assert_memory_equal(flat.mem + to + 64, flat.mem + from + i, 64);
		assert_memory_equal(flat.mem + to + 4096, flat.mem + from + i, 300000);
	}
	unpair();
}

static void total_loss_ends_in_an_error(void **state)
{
	(void)state;
	assert_int_equal(fault_add(flat.fault, "drop:100%", flat.now), 0);
	pair(NULL, 4096);
	write_to(to, rkey, from, 8);
	flat_run(LONG / 10);
	flat_expect_error(a->send_cq, REQ_ERR, 0, RETRY_EXCEEDED);
	assert_int_equal(flat.mem[to + 1], 0);
	unpair();
}

static void dead_adapter_flushes_and_lets_go(void **state)
{
	uint8_t in[16] = { 0 }, out[16];

	(void)state;
	assert_int_equal(fault_add(flat.fault, "kill:3", flat.now), 0);
	pair(NULL, 4096);
	flat_recv(a, from, 8, lkey);
	write_to(to, rkey, from, 8);
	write_to(to, rkey, from, 8);
	flat_run(LONG / 20);
	flat_expect_done(a->send_cq, REQ, 0);
	flat_expect_error(a->send_cq, REQ_ERR, 1, FLUSHED);
	flat_expect_error(a->recv_cq, RESP_ERR, 0, FLUSHED);
	assert_int_equal(flat_count_events(PRM_EVENT_INTERNAL_ERROR), 1);
	assert_int_equal(flat.event_eqn[flat.events - 1], 0);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PD);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), PRM_STAT_INT_ERR);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_QP, a->n, PRM_STAT_OK);
	flat_simple(flat.hca[0], PRM_OP_DESTROY_CQ, a->send_cq->n, PRM_STAT_OK);
	assert_int_equal(hca_progress(flat.hca[0], flat.now), HCA_IDLE);
	unpair();
}

static void peer_of_a_dead_adapter_gets_an_error(void **state)
{
	(void)state;
	pair(NULL, 4096);
	hca_kill(flat.hca[1]);
	write_to(to, rkey, from, 8);
	flat_run(LONG / 10);
	flat_expect_error(a->send_cq, REQ_ERR, 0, RETRY_EXCEEDED);
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(texts_are_parsed),
		IB(faults_of_another_front_are_refused),
		IB(commands_of_a_queue_have_faults),
		IB(command_faults_hit_their_number),
		IB(adapter_commands_are_counted_and_refused),
		IB(counting_begins_when_the_fault_is_added),
		IB(damaged_transfers_are_counted),
		IB(timed_faults_are_due_once_each_and_in_order),
		IB(link_down_is_told_and_loses_what_is_sent),
		IB(any_one_message_may_be_lost),
		IB(fence_keeps_a_write_behind_a_lost_read),
		IB(a_tenth_of_all_may_be_lost),
		IB(total_loss_ends_in_an_error),
		IB(dead_adapter_flushes_and_lets_go),
		IB(peer_of_a_dead_adapter_gets_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
