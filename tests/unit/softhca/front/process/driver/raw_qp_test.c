/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_qp_test.c - raw packet QPs: the objects of each kind, which are undone in reverse order, the
 * commands of each transition, and the state that the states of both queues amount to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "softhca/front/process/driver/raw_qp.c"

enum { DOMAIN = 0x11, TIS, SQ, RQ, TIR, RQT, UNDERLAY, NUMBER, RATE, BLOCK, REFUSED = EDOM };

static struct adapter adapter;
static struct identity identity;
static const struct eth_ring send_ring, receive_ring;
static const struct eth_hash hash;

static struct {
	char log[512]; /* what was done, a word each */
	const char *fails;
	enum prm_wq_state rq, sq;
} it;

/* Notes WORD. Returns an error if it is the one that fails. */
static int step_done(const char *word)
{
	const size_t len = strlen(it.log);

	snprintf(it.log + len, sizeof(it.log) - len, "%s%s", len ? " " : "", word);
	return it.fails && !strcmp(it.fails, word) ? REFUSED : 0;
}

static void check_log(const char *expected)
{
	assert_string_equal(it.log, expected);
	it.log[0] = '\0';
}

int adapter_allocate(struct adapter *of, enum prm_opcode opcode, uint32_t *number)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(opcode, PRM_OP_ALLOC_TRANSPORT_DOMAIN);
	*number = DOMAIN;
	return step_done("domain");
}

int adapter_release(struct adapter *of, enum prm_opcode opcode, uint32_t number)
{
	static const struct {
		uint32_t opcode, number;
		const char *word;
	} rows[] = {
		{ PRM_OP_DEALLOC_TRANSPORT_DOMAIN, DOMAIN, "-domain" },
		{ PRM_OP_DESTROY_TIS, TIS, "-tis" },
		{ PRM_OP_DESTROY_SQ, SQ, "-sq" },
		{ PRM_OP_DESTROY_RQ, RQ, "-rq" },
		{ PRM_OP_DESTROY_TIR, TIR, "-tir" },
	};

	assert_ptr_equal(of, &adapter);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].opcode != (uint32_t)opcode)
			continue;
		assert_int_equal(number, rows[i].number);
		return step_done(rows[i].word);
	}
	fail();
	return 0;
}

int eth_tis_make(struct adapter *of, uint32_t domain, uint32_t underlay_qpn, uint32_t *tisn)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(domain, DOMAIN);
	assert_int_equal(underlay_qpn, UNDERLAY);
	*tisn = TIS;
	return step_done("tis");
}

int eth_sq_make(struct adapter *of, const struct eth_ring *ring, uint32_t tisn, uint32_t *sqn)
{
	assert_ptr_equal(of, &adapter);
	assert_ptr_equal(ring, &send_ring);
	assert_int_equal(tisn, TIS);
	*sqn = SQ;
	return step_done("sq");
}

int eth_rq_make(struct adapter *of, const struct eth_ring *ring, uint32_t *rqn)
{
	assert_ptr_equal(of, &adapter);
	assert_ptr_equal(ring, &receive_ring);
	*rqn = RQ;
	return step_done("rq");
}

static int tir_make(uint32_t domain, unsigned int self_lb_block, uint32_t *tirn, uint64_t *addr)
{
	assert_int_equal(domain, DOMAIN);
	assert_int_equal(self_lb_block, BLOCK);
	*tirn = TIR;
	*addr = 1ull << 40;
	return step_done("tir");
}

int eth_tir_make(struct adapter *of, uint32_t domain, uint32_t rqn, unsigned int self_lb_block,
		 uint32_t *tirn, uint64_t *addr)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(rqn, RQ);
	return tir_make(domain, self_lb_block, tirn, addr);
}

int eth_rss_tir_make(struct adapter *of, uint32_t domain, uint32_t rqtn, const struct eth_hash *by,
		     unsigned int self_lb_block, uint32_t *tirn, uint64_t *addr)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(rqtn, RQT);
	assert_ptr_equal(by, &hash);
	return tir_make(domain, self_lb_block, tirn, addr);
}

static int queue_change(const char *queue, enum prm_wq_state *now, enum prm_wq_state from,
			enum prm_wq_state to)
{
	char word[16];

	assert_int_equal(*now, from);
	*now = to;
	snprintf(word, sizeof(word), "%s:%d", queue, to);
	return step_done(word);
}

int eth_rq_change(struct adapter *of, uint32_t rqn, enum prm_wq_state from, enum prm_wq_state to)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(rqn, RQ);
	return queue_change("rq", &it.rq, from, to);
}

int eth_sq_change(struct adapter *of, uint32_t sqn, enum prm_wq_state from, enum prm_wq_state to)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(sqn, SQ);
	return queue_change("sq", &it.sq, from, to);
}

int eth_rq_state(struct adapter *of, uint32_t rqn, enum prm_wq_state *state)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(rqn, RQ);
	*state = it.rq;
	return it.fails && !strcmp(it.fails, "rq?") ? REFUSED : 0;
}

int eth_sq_state(struct adapter *of, uint32_t sqn, enum prm_wq_state *state)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(sqn, SQ);
	*state = it.sq;
	return it.fails && !strcmp(it.fails, "sq?") ? REFUSED : 0;
}

int eth_sq_pace(struct adapter *of, uint32_t sqn, uint32_t rate)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(sqn, SQ);
	assert_true(!rate || rate == RATE);
	return step_done(rate ? "pace" : "pace:0");
}

int eth_sq_rest(struct adapter *of, uint32_t sqn, bool rests)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(sqn, SQ);
	return step_done(rests ? "rest" : "go");
}

int rate_limit_get(struct adapter *of, const struct rate_limit *limit, uint32_t *index)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(limit->rate, 77);
	*index = RATE;
	return step_done("rate");
}

void rate_limit_put(struct adapter *of, uint32_t index)
{
	assert_ptr_equal(of, &adapter);
	assert_true(!index || index == RATE);
	if (index)
		step_done("-rate");
}

void frame_qpns_release(struct adapter *of, uint32_t first, uint32_t count)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(first, NUMBER);
	assert_int_equal(count, 1);
	step_done("-number");
}

static int raw_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	adapter.identity = &identity;
	identity.kind = HCA_MLX5;
	return 0;
}

static int raw_make(bool sends, bool receives, bool spreads, uint32_t number, struct raw_qp **raw)
{
	const struct raw_request request = { .send = sends ? &send_ring : NULL,
					     .receive = receives ? &receive_ring : NULL,
					     .hash = spreads ? &hash : NULL,
					     .rqtn = RQT,
					     .self_lb_block = BLOCK,
					     .number = number,
					     .underlay_qpn = UNDERLAY };

	return raw_qp_make(&adapter, &request, raw);
}

static struct raw_qp *raw_made(bool sends, bool receives)
{
	struct raw_qp *raw = NULL;

	assert_int_equal(raw_make(sends, receives, false, 0, &raw), 0);
	it.log[0] = '\0';
	return raw;
}

static void ended(struct raw_qp *raw)
{
	it.fails = NULL;
	assert_int_equal(raw_qp_destroy(&adapter, raw), 0);
}

static void a_queue_pair_is_made_and_taken_down(void **state)
{
	struct raw_qp *raw;

	(void)state;
	assert_int_equal(raw_make(true, true, false, NUMBER, &raw), 0);
	check_log("domain tis sq rq tir");
	assert_true(raw->has_sq && raw->has_rq && raw->has_tir);
	assert_true(raw->tir_addr == 1ull << 40);
	assert_int_equal(raw->number, NUMBER);
	assert_int_equal(raw_qp_number(raw), NUMBER);
	ended(raw);
	check_log("-tir -rq -sq -tis -domain -number");
}

static void queues_are_made_alone(void **state)
{
	struct raw_qp *raw;

	(void)state;
	assert_int_equal(raw_make(true, false, false, 0, &raw), 0);
	check_log("domain tis sq");
	assert_int_equal(raw_qp_number(raw), SQ);
	ended(raw);
	check_log("-sq -tis -domain");
	assert_int_equal(raw_make(false, true, false, 0, &raw), 0);
	check_log("domain rq tir");
	assert_int_equal(raw_qp_number(raw), RQ);
	ended(raw);
	check_log("-tir -rq -domain");
	assert_int_equal(raw_make(false, false, true, 0, &raw), 0);
	check_log("domain tir");
	assert_true(raw->has_tir && !raw->has_rq && !raw->has_sq);
	ended(raw);
	check_log("-tir -domain");
}

static void a_failed_step_is_undone(void **state)
{
	static const char *const rows[][2] = {
		{ "domain", "domain" },
		{ "tis", "domain tis -domain" },
		{ "sq", "domain tis sq -tis -domain" },
		{ "rq", "domain tis sq rq -sq -tis -domain" },
		{ "tir", "domain tis sq rq tir -rq -sq -tis -domain" },
	};
	struct raw_qp *raw = NULL;

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		it.fails = rows[i][0];
		assert_int_equal(raw_make(true, true, false, NUMBER, &raw), REFUSED);
		check_log(rows[i][1]);
	}
	it.fails = "tir";
	assert_int_equal(raw_make(false, false, true, 0, &raw), REFUSED);
	check_log("domain tir -domain");
	assert_null(raw);
}

static void a_qp_with_flows_stays(void **state)
{
	struct raw_qp *raw = raw_made(true, true);

	(void)state;
	it.fails = "-tir";
	assert_int_equal(raw_qp_destroy(&adapter, raw), EBUSY);
	check_log("-tir");
	ended(raw);
	check_log("-tir -rq -sq -tis -domain");
}

static void the_receive_queue_is_ready_from_init(void **state)
{
	struct raw_qp *raw = raw_made(true, true);

	(void)state;
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_INIT2RTR_QP, NULL), 0);
	check_log("");
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RST2INIT_QP, NULL), 0);
	check_log("rq:1");
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RST2INIT_QP, NULL), 0);
	check_log("");
	identity.kind = HCA_MLX4;
	it.rq = PRM_WQ_STATE_RST;
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RST2INIT_QP, NULL), 0);
	check_log("");
	it.fails = "rq:1";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_INIT2RTR_QP, NULL), REFUSED);
	check_log("rq:1");
	it.fails = "rq?";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_INIT2RTR_QP, NULL), REFUSED);
	check_log("");
	ended(raw);
}

static void the_send_queue_is_ready_with_rts(void **state)
{
	static const uint32_t opcodes[] = { PRM_OP_RTR2RTS_QP, PRM_OP_RTS2RTS_QP,
					    PRM_OP_SQERR2RTS_QP };
	struct raw_qp *raw = raw_made(true, true);

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		it.sq = PRM_WQ_STATE_RST;
		assert_int_equal(raw_qp_change(&adapter, raw, opcodes[i], NULL), 0);
		check_log("sq:1");
	}
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RTR2RTS_QP, NULL), 0);
	check_log("");
	it.fails = "sq?";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RTR2RTS_QP, NULL), REFUSED);
	ended(raw);
}

static void a_rate_is_held_while_it_is_set(void **state)
{
	const struct rate_limit limit = { .rate = 77 };
	struct raw_qp *raw = raw_made(true, true);

	(void)state;
	it.fails = "rate";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RTR2RTS_QP, &limit), REFUSED);
	check_log("rate");
	it.fails = "sq:1";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RTR2RTS_QP, &limit), REFUSED);
	check_log("rate sq:1 -rate");
	it.sq = PRM_WQ_STATE_RST;
	it.fails = "pace";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RTR2RTS_QP, &limit), REFUSED);
	check_log("rate sq:1 pace -rate");
	assert_int_equal(raw->rate, 0);
	it.fails = NULL;
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RTR2RTS_QP, &limit), 0);
	check_log("rate pace");
	assert_int_equal(raw->rate, RATE);
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RTS2RTS_QP, &limit), 0);
	check_log("rate pace -rate");
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_2RST_QP, NULL), 0);
	check_log("pace:0 -rate sq:0");
	assert_int_equal(raw->rate, 0);
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RTR2RTS_QP, &limit), 0);
	it.log[0] = '\0';
	ended(raw);
	check_log("-tir -rq -sq -rate -tis -domain");
}

static void a_queue_that_is_not_there_is_left_out(void **state)
{
	static const uint32_t opcodes[] = { PRM_OP_RTR2RTS_QP, PRM_OP_2ERR_QP, PRM_OP_2RST_QP,
					    M4_AS_RTS2SQD_QP, PRM_OP_SQD_RTS_QP };
	const struct rate_limit limit = { .rate = 77 };
	struct raw_qp *raw = raw_made(false, true);

	(void)state;
	it.rq = PRM_WQ_STATE_RDY;
	it.fails = "sq?";
	for (unsigned int i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
		assert_int_equal(raw_qp_change(&adapter, raw, opcodes[i], &limit), 0);
	check_log("rq:3 rq:0");
	ended(raw);
	raw = raw_made(true, false);
	it.fails = "rq?";
	it.sq = PRM_WQ_STATE_RDY;
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_RST2INIT_QP, NULL), 0);
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_2ERR_QP, NULL), 0);
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_2RST_QP, NULL), 0);
	check_log("sq:3 sq:0");
	ended(raw);
}

static void both_queues_go_to_error_and_reset(void **state)
{
	struct raw_qp *raw = raw_made(true, true);

	(void)state;
	it.rq = it.sq = PRM_WQ_STATE_RDY;
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_2ERR_QP, NULL), 0);
	check_log("rq:3 sq:3");
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_2RST_QP, NULL), 0);
	check_log("rq:0 sq:0");
	it.fails = "rq:3";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_2ERR_QP, NULL), REFUSED);
	check_log("rq:3");
	it.fails = "rq:0";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_2RST_QP, NULL), REFUSED);
	check_log("rq:0");
	ended(raw);
}

static void sending_rests_in_sqd(void **state)
{
	struct raw_qp *raw = raw_made(true, true);

	(void)state;
	assert_int_equal(raw_qp_change(&adapter, raw, M4_AS_RTS2SQD_QP, NULL), 0);
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_SQD_RTS_QP, NULL), 0);
	check_log("rest go");
	it.fails = "go";
	assert_int_equal(raw_qp_change(&adapter, raw, PRM_OP_SQD_RTS_QP, NULL), REFUSED);
	ended(raw);
}

static void a_queue_in_error_shows_in_the_state(void **state)
{
	static const struct {
		bool sends, receives;
		enum prm_wq_state rq, sq;
		unsigned int state;
	} rows[] = {
		{ true, true, PRM_WQ_STATE_RDY, PRM_WQ_STATE_RDY, QP_RTS },
		{ true, true, PRM_WQ_STATE_RDY, PRM_WQ_STATE_ERR, QP_SQE },
		{ true, true, PRM_WQ_STATE_ERR, PRM_WQ_STATE_ERR, QP_ERR },
		{ true, true, PRM_WQ_STATE_ERR, PRM_WQ_STATE_RDY, QP_RTS },
		{ true, false, PRM_WQ_STATE_RDY, PRM_WQ_STATE_ERR, QP_ERR },
		{ true, false, PRM_WQ_STATE_ERR, PRM_WQ_STATE_RDY, QP_RTS },
		{ false, true, PRM_WQ_STATE_ERR, PRM_WQ_STATE_RDY, QP_ERR },
		{ false, true, PRM_WQ_STATE_RDY, PRM_WQ_STATE_ERR, QP_RTS },
	};
	unsigned int now;

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct raw_qp *raw = raw_made(rows[i].sends, rows[i].receives);

		it.rq = rows[i].rq;
		it.sq = rows[i].sq;
		now = QP_STATES;
		assert_int_equal(raw_qp_state(&adapter, raw, QP_RTS, &now), 0);
		assert_int_equal(now, rows[i].state);
		it.fails = "rq?";
		assert_int_equal(raw_qp_state(&adapter, raw, QP_RTS, &now),
				 rows[i].receives ? REFUSED : 0);
		it.fails = "sq?";
		assert_int_equal(raw_qp_state(&adapter, raw, QP_RTS, &now),
				 rows[i].sends ? REFUSED : 0);
		ended(raw);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, raw_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_queue_pair_is_made_and_taken_down),
		CASE(queues_are_made_alone),
		CASE(a_failed_step_is_undone),
		CASE(a_qp_with_flows_stays),
		CASE(the_receive_queue_is_ready_from_init),
		CASE(the_send_queue_is_ready_with_rts),
		CASE(a_rate_is_held_while_it_is_set),
		CASE(a_queue_that_is_not_there_is_left_out),
		CASE(both_queues_go_to_error_and_reset),
		CASE(sending_rests_in_sqd),
		CASE(a_queue_in_error_shows_in_the_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
