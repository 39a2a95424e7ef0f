/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_line_test.c - the line of a QP's status: what it says, and which cause it names. QPs, CQs
 * and the clock are the test's own.
 *
 * Covers: libibverbs/check/status.c
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "libibverbs/check/status.c"
#include "tests/unit/log_text.h"

#define SECOND UINT64_C(1000000000)

enum { QPN = 0x123, CQ = 0x45 };

static struct {
	uint64_t now;
	struct ibv_qp_attr attr;
	int query_fails, mask;
	struct check_ring_look sends, receives;
	struct check_cq_look cq;
	bool has_cq_record;
	const struct ibv_cq *looked_at;
	const struct ibv_cq *silent; /* hides completions */
	bool is_locked;
	int counters;
} it;

static struct check_context checker;
static struct verbs_ex_private priv = { .check = &checker };
static struct verbs_context vctx = { .priv = &priv };
static struct ibv_comp_channel channel;
static struct ibv_cq send_cq = { .handle = CQ }, recv_cq = { .handle = CQ + 1 };
static struct ibv_srq srq;
static struct ibv_qp qp;
static struct check_qp check;
static int async_pipe[2], channel_pipe[2];

uint64_t verbs_check_now(void)
{
	return it.now;
}

void verbs_check_ring_look(const struct check_ring *ring, struct check_ring_look *look)
{
	*look = ring == &check.sends ? it.sends : it.receives;
}

bool verbs_check_cq_look(const struct ibv_cq *cq, struct check_cq_look *look)
{
	it.looked_at = cq;
	*look = it.cq;
	return it.has_cq_record;
}

bool verbs_check_cq_tells(const struct ibv_cq *cq)
{
	assert_true(it.is_locked);
	return cq != it.silent;
}

void verbs_check_lock(void)
{
	assert_false(it.is_locked);
	it.is_locked = true;
}

void verbs_check_unlock(void)
{
	assert_true(it.is_locked);
	it.is_locked = false;
}

void verbs_check_each_qp(void (*look)(const struct check_qp *qp, void *into),
			 void (*say)(void *from), void *memory)
{
	look(&check, memory);
	say(memory);
}

void verbs_check_counters_say(void)
{
	it.counters++;
}

void verbs_check_counters_watch(const struct ibv_device *device)
{
	(void)device;
}

static int idle_seconds, thread_fails;
static unsigned int threads;

int verbs_check_idle_start(int seconds)
{
	idle_seconds = seconds;
	threads += !thread_fails;
	return thread_fails;
}

int verbs_own_thread_start(void *(*run)(void *of), void *of)
{
	(void)run, (void)of;
	threads += !thread_fails;
	return thread_fails;
}

const char *verbs_qp_state_name(enum ibv_qp_state state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return names[state];
}

static int qp_query(struct ibv_qp *of, struct ibv_qp_attr *attr, int mask,
		    struct ibv_qp_init_attr *init)
{
	assert_ptr_equal(of, &qp);
	assert_non_null(init);
	assert_false(it.is_locked); /* the adapter may take long */
	it.mask = mask;
	if (!it.query_fails)
		*attr = it.attr;
	return it.query_fails;
}

/* A QP that is connected, with nothing posted. */
static int qp_begin(void **state)
{
	char byte;

	(void)state;
	memset(&it, 0, sizeof(it));
	while (read(async_pipe[0], &byte, 1) == 1 || read(channel_pipe[0], &byte, 1) == 1)
		;
	checker.real.query_qp = qp_query;
	vctx.context.async_fd = async_pipe[0];
	vctx.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	channel.fd = channel_pipe[0];
	send_cq.channel = recv_cq.channel = NULL;
	qp = (struct ibv_qp){ .context = &vctx.context,
			      .qp_num = QPN,
			      .qp_type = IBV_QPT_RC,
			      .send_cq = &send_cq,
			      .recv_cq = &recv_cq };
	check = (struct check_qp){ .of = &qp };
	it.sends.is_known = it.receives.is_known = true;
	it.now = 100 * SECOND;
	it.has_cq_record = true;
	it.cq = (struct check_cq_look){
		.cqe = 16, .promised = 3, .is_polled = true, .polled_ns = 100 * SECOND
	};
	it.attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS,
					.dest_qp_num = 0x77,
					.timeout = 14,
					.retry_cnt = 5,
					.rnr_retry = 6 };
	it.attr.ah_attr.dlid = 11;
	log_text();
	return 0;
}

static const char *line(void)
{
	verbs_check_status_say();
	assert_false(it.is_locked);
	return log_text();
}

#define CHECK_LINE(what)                                                        \
	do {                                                                    \
		const char *line_ = line();                                     \
                                                                                \
		if (!strstr(line_, what))                                       \
			fail_msg("\"%s\" is not in the line: %s", what, line_); \
	} while (0)

#define CHECK_LACKS(what)                                                   \
	do {                                                                \
		const char *line_ = line();                                 \
                                                                            \
		if (strstr(line_, what))                                    \
			fail_msg("\"%s\" is in the line: %s", what, line_); \
	} while (0)

static void post_sends(unsigned int count, unsigned int signaled)
{
	it.sends = (struct check_ring_look){ .is_known = true,
					     .count = count,
					     .signaled = signaled,
					     .oldest = { .wr_id = 0xab,
							 .call = "ibv_post_send",
							 .posted_ns = 97 * SECOND + SECOND / 2 } };
}

static void post_receives(unsigned int count)
{
	it.receives = (struct check_ring_look){
		.count = count,
		.oldest = { .wr_id = 0xcd, .call = "ibv_post_recv", .posted_ns = 96 * SECOND }
	};
	it.receives.is_known = true;
}

/* ---- the line ---- */

static void a_line_has_all_of_a_qp(void **state)
{
	(void)state;
	post_sends(2, 1);
	post_receives(4);
	assert_string_equal(strstr(line(), "status: "),
			    "status: QP 0x123 is in RTS to QP 0x77 at LID 11 (timeout 14, "
			    "retry_cnt 5, rnr_retry 6); 2 sends (1 signaled) and 4 receives have "
			    "not completed, the oldest of ibv_post_send, wr_id 0xab, since 2.5 s; "
			    "CQ 0x45 has 16 places, of which 3 are promised, is not armed, was "
			    "polled 0.0 s ago: the peer has not answered yet: look at the peer's "
			    "status and at the path\n");
	assert_int_equal(it.mask, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_TIMEOUT |
					  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
}

static void a_peer_is_named_by_the_connected(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		enum ibv_qp_state state;
		bool has_peer, has_times;
	} cases[] = {
		{ IBV_QPT_RC, IBV_QPS_RTS, true, true },
		{ IBV_QPT_RC, IBV_QPS_RTR, true, false },
		{ IBV_QPT_UC, IBV_QPS_RTS, true, false },
		{ IBV_QPT_UD, IBV_QPS_RTS, false, false },
		{ IBV_QPT_RC, IBV_QPS_INIT, false, false },
		{ IBV_QPT_RC, IBV_QPS_ERR, false, false },
		{ IBV_QPT_RC, IBV_QPS_SQD, false, false },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text;

		qp.qp_type = cases[i].type;
		it.attr.qp_state = cases[i].state;
		text = line();
		assert_int_equal(strstr(text, " to QP 0x77 at LID 11") != NULL, cases[i].has_peer);
		assert_int_equal(strstr(text, "(timeout ") != NULL, cases[i].has_times);
	}
}

static void a_gid_goes_before_a_lid(void **state)
{
	(void)state;
	it.attr.ah_attr.is_global = 1;
	it.attr.ah_attr.grh.dgid.raw[0] = 0xfe;
	it.attr.ah_attr.grh.dgid.raw[1] = 0x80;
	it.attr.ah_attr.grh.dgid.raw[15] = 1;
	CHECK_LINE(" at GID fe80::1 (timeout");
	CHECK_LACKS("LID");
}

static void a_failed_query_is_named(void **state)
{
	(void)state;
	it.query_fails = EIO;
	qp.state = IBV_QPS_RTR;
	CHECK_LINE("is in RTR; ibv_query_qp: Input/output error; 0 sends");
	CHECK_LACKS(" to QP");
	qp.qp_type = IBV_QPT_UD;
	CHECK_LACKS("ibv_query_qp");
}

static void the_oldest_request_is_a_send_before_a_receive(void **state)
{
	(void)state;
	CHECK_LINE("0 sends (0 signaled) and 0 receives have not completed; CQ");
	post_receives(1);
	CHECK_LINE("0 sends (0 signaled) and 1 receives have not completed, the oldest of "
		   "ibv_post_recv, wr_id 0xcd, since 4.0 s; CQ 0x46");
	assert_ptr_equal(it.looked_at, &recv_cq);
	post_sends(3, 0);
	check.signals_all = true;
	CHECK_LINE("3 sends (3 signaled) and 1 receives have not completed, the oldest of "
		   "ibv_post_send, wr_id 0xab, since 2.5 s; CQ 0x45");
	it.now = SECOND; /* another processor's clock */
	CHECK_LINE("since 0.0 s");
}

static void the_cq_is_that_of_the_oldest_request(void **state)
{
	(void)state;
	line();
	assert_ptr_equal(it.looked_at, &recv_cq);
	qp.recv_cq = NULL;
	line();
	assert_ptr_equal(it.looked_at, &send_cq);
	it.looked_at = NULL;
	qp.send_cq = NULL;
	CHECK_LACKS("CQ 0x");
	assert_null(it.looked_at);
	qp.send_cq = &send_cq;
	it.has_cq_record = false;
	CHECK_LACKS("CQ 0x");
}

static void a_cq_is_armed_or_polled(void **state)
{
	(void)state;
	it.cq.is_armed = true;
	CHECK_LINE("are promised, is armed, was polled 0.0 s ago");
	it.cq.is_solicited = true;
	CHECK_LINE("is armed for solicited events, was polled");
	it.cq.polled_ns = 98 * SECOND;
	CHECK_LINE(", was polled 2.0 s ago");
	it.cq.is_polled = false;
	CHECK_LINE(", was never polled");
	CHECK_LACKS(" s ago");
}

static void events_that_nobody_reads_are_named(void **state)
{
	(void)state;
	CHECK_LACKS("unread");
	assert_int_equal(write(channel_pipe[1], "c", 1), 1);
	CHECK_LACKS("unread"); /* the CQ has no channel */
	recv_cq.channel = &channel;
	CHECK_LINE("; events of its channel are unread (ibv_get_cq_event)");
	CHECK_LACKS("asynchronous");
	recv_cq.channel = NULL;
	assert_int_equal(write(async_pipe[1], "a", 1), 1);
	CHECK_LINE("; asynchronous events are unread (ibv_get_async_event)");
	CHECK_LACKS("ibv_get_cq_event");
	it.has_cq_record = false;
	CHECK_LACKS("unread");
}

static void a_line_that_is_too_long_ends(void **state)
{
	struct status s = { .length = 0 };

	(void)state;
	for (int i = 0; i < 20; i++)
		text_add(&s, "%s", "0123456789012345678901234567890123456789");
	assert_int_equal(s.length, sizeof(s.text) - 1);
	assert_int_equal(strlen(s.text), sizeof(s.text) - 1);
	for (int i = 2; i <= 4; i++) { /* fits, and is too long by 1 and by 2 */
		s.length = sizeof(s.text) - 3;
		text_add(&s, "%.*s", i, "abcd");
		assert_int_equal(s.length, sizeof(s.text) - 1);
	}
}

/* ---- the cause ---- */

static void the_state_is_a_cause_before_others(void **state)
{
	static const struct {
		enum ibv_qp_state state;
		const char *text;
	} cases[] = { { IBV_QPS_RESET, "the QP is not connected" },
		      { IBV_QPS_INIT, "the QP is not connected" },
		      { IBV_QPS_RTR, "no request in the send queue is signaled" },
		      { IBV_QPS_RTS, "no request in the send queue is signaled" },
		      { IBV_QPS_ERR, "a request has failed" },
		      { IBV_QPS_SQD, "the send queue has stopped" },
		      { IBV_QPS_SQE, "the send queue has stopped" } };

	(void)state;
	post_sends(1, 0);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		it.attr.qp_state = cases[i].state;
		CHECK_LINE(cases[i].text);
	}
}

static void a_send_without_a_signal_is_a_cause(void **state)
{
	(void)state;
	post_sends(1, 0);
	CHECK_LINE(": no request in the send queue is signaled");
	post_receives(1);
	CHECK_LINE(": the peer has sent nothing yet");
	post_receives(0);
	check.signals_all = true;
	CHECK_LINE(": the peer has not answered yet");
	check.signals_all = false;
	post_sends(2, 1);
	CHECK_LINE(": the peer has not answered yet");
	post_sends(0, 0);
	CHECK_LINE(": nothing is posted");
	check.signals_all = true;
	CHECK_LINE(": nothing is posted");
}

/* Its buffers are not free yet, but nobody waits for it. */
static void a_trailing_send_without_a_signal_does_not_wait(void **state)
{
	(void)state;
	post_sends(2, 0);
	it.sends.had_signal = true;
	CHECK_LINE("2 sends (0 signaled) and 0 receives have not completed; CQ 0x46");
	CHECK_LINE(": the last sends are not signaled");
	it.cq.polled_ns = 1;
	CHECK_LACKS("nobody polls");
	qp.srq = &srq;
	CHECK_LINE(": the last sends are not signaled");
	qp.srq = NULL;
	it.cq.polled_ns = it.now;
	post_receives(1);
	CHECK_LINE("the oldest of ibv_post_recv, wr_id 0xcd, since 4.0 s; CQ 0x46");
	CHECK_LINE(": the peer has sent nothing yet");
	post_sends(2, 1);
	it.sends.had_signal = true;
	CHECK_LINE(": the peer has not answered yet");
}

/* Receives do not make room for sends. */
static void sends_that_fill_the_queue_without_a_signal_wait(void **state)
{
	(void)state;
	post_sends(2, 0);
	post_receives(1);
	it.sends.had_signal = it.sends.was_refused = true;
	CHECK_LINE("the oldest of ibv_post_send, wr_id 0xab");
	CHECK_LINE(": no request in the send queue is signaled");
	it.sends.signaled = 1;
	CHECK_LINE(": the peer has not answered yet");
}

/* One second is not long; without requests or records, nobody needs to poll. */
static void a_cq_that_nobody_polls_is_a_cause(void **state)
{
	const char *const unpolled = ": nobody polls the CQ";

	(void)state;
	post_receives(1);
	it.cq.polled_ns = 99 * SECOND;
	CHECK_LACKS(unpolled);
	it.cq.polled_ns = 99 * SECOND - 1;
	CHECK_LINE(unpolled);
	it.cq.is_armed = true;
	CHECK_LACKS(unpolled);
	it.cq.is_armed = false;
	it.has_cq_record = false;
	CHECK_LACKS(unpolled);
	it.has_cq_record = true;
	post_receives(0);
	CHECK_LACKS(unpolled);
	post_sends(1, 1);
	CHECK_LINE(unpolled);
}

static void a_channel_wants_an_armed_cq(void **state)
{
	const char *const unarmed = ": the CQ is neither polled nor armed";

	(void)state;
	recv_cq.channel = &channel;
	post_receives(1);
	CHECK_LACKS(unarmed);
	it.cq.polled_ns = 1;
	CHECK_LINE(unarmed);
	it.cq.is_armed = true;
	CHECK_LINE(": the peer has sent nothing yet");
	it.cq.is_solicited = true;
	CHECK_LINE(": the CQ is armed for solicited events only");
	it.cq.polled_ns = it.now;
	CHECK_LINE(": the peer has sent nothing yet");
	it.cq.polled_ns = 1;
	recv_cq.channel = NULL;
	CHECK_LINE(": the peer has sent nothing yet");
}

static void an_answer_may_never_come(void **state)
{
	const char *const plain = ": the peer has not answered yet";

	(void)state;
	post_sends(1, 1);
	it.attr.timeout = 0;
	CHECK_LINE("timeout 0 waits for it without end");
	qp.qp_type = IBV_QPT_UC;
	CHECK_LINE(plain);
	it.attr.rnr_retry = 7;
	CHECK_LINE("rnr_retry 7 waits without end");
	it.attr.timeout = 14;
	qp.qp_type = IBV_QPT_RC;
	CHECK_LINE("rnr_retry 7 waits without end");
	qp.qp_type = IBV_QPT_UD;
	CHECK_LINE(plain);
	qp.qp_type = IBV_QPT_RC;
	it.query_fails = EIO; /* then timeout and rnr_retry are unknown */
	qp.state = IBV_QPS_RTS;
	CHECK_LINE(plain);
	it.query_fails = 0;
	post_sends(0, 0);
	CHECK_LACKS("without end");
	it.attr.timeout = 0;
	CHECK_LACKS("without end");
}

static void an_idle_qp_is_idle(void **state)
{
	(void)state;
	CHECK_LINE(": nothing is posted: a message of the peer would find no receive");
	qp.srq = &srq;
	CHECK_LINE(": no send is posted, and receives come from the SRQ");
}

/* What a CQ hides may be anything. */
static void requests_that_are_not_known_are_no_cause(void **state)
{
	const char *const unknown = ": which requests have not completed is not known";

	(void)state;
	CHECK_LACKS("unknown number");
	it.receives.is_known = false;
	CHECK_LINE(" and an unknown number of receives have not completed;");
	CHECK_LINE(unknown);
	it.receives.is_known = true;
	post_receives(2);
	it.silent = &recv_cq;
	CHECK_LINE(" and an unknown number of receives have not completed;");
	it.silent = &send_cq;
	CHECK_LINE(" and 2 receives have not completed");
	assert_int_equal(it.counters, 5);
}

/* ---- the signal ---- */

static void a_handler_leaves_errno(void **state)
{
	int value;

	(void)state;
	assert_int_equal(sem_init(&asked, 0, 0), 0);
	errno = EDOM;
	signal_take(SIGUSR2);
	assert_int_equal(errno, EDOM);
	assert_int_equal(sem_getvalue(&asked, &value), 0);
	assert_int_equal(value, 1);
}

static bool is_handled(int number)
{
	struct sigaction now;

	assert_int_equal(sigaction(number, NULL, &now), 0);
	return now.sa_handler != SIG_DFL;
}

static void a_thread_that_does_not_start_is_said_and_tried_again(void **state)
{
	struct ibv_device device = { .name = "mlx5_0" };
	const char *text;

	(void)state;
	assert_int_equal(setenv("VERBS_STATUS_SIGNAL", "USR2", 1), 0);
	assert_int_equal(setenv("VERBS_STATUS_IDLE", "7", 1), 0);
	thread_fails = EAGAIN;
	verbs_check_status_start(&device);
	text = log_text();
	assert_non_null(strstr(text, "VERBS_STATUS_SIGNAL: the thread that answers cannot be "
				     "started: Resource temporarily unavailable\n"));
	assert_non_null(strstr(text, "VERBS_STATUS_IDLE: the thread that watches cannot be "
				     "started: Resource temporarily unavailable\n"));
	assert_false(is_handled(SIGUSR2));
	thread_fails = 0;
	for (int i = 0; i < 3; i++)
		verbs_check_status_start(&device);
	assert_string_equal(log_text(), "");
	assert_int_equal(threads, 2);
	assert_int_equal(idle_seconds, 7);
	assert_true(is_handled(SIGUSR2));
	verbs_check_status_forked();
	assert_false(is_handled(SIGUSR2));
	verbs_check_status_start(&device);
	assert_int_equal(threads, 4);
	verbs_check_status_forked();
	assert_int_equal(unsetenv("VERBS_STATUS_SIGNAL"), 0);
	assert_int_equal(unsetenv("VERBS_STATUS_IDLE"), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, qp_begin)
	const struct CMUnitTest tests[] = {
		TEST(a_line_has_all_of_a_qp),
		TEST(a_peer_is_named_by_the_connected),
		TEST(a_gid_goes_before_a_lid),
		TEST(a_failed_query_is_named),
		TEST(the_oldest_request_is_a_send_before_a_receive),
		TEST(the_cq_is_that_of_the_oldest_request),
		TEST(a_cq_is_armed_or_polled),
		TEST(events_that_nobody_reads_are_named),
		TEST(a_line_that_is_too_long_ends),
		TEST(the_state_is_a_cause_before_others),
		TEST(a_send_without_a_signal_is_a_cause),
		TEST(a_trailing_send_without_a_signal_does_not_wait),
		TEST(sends_that_fill_the_queue_without_a_signal_wait),
		TEST(a_cq_that_nobody_polls_is_a_cause),
		TEST(a_channel_wants_an_armed_cq),
		TEST(an_answer_may_never_come),
		TEST(an_idle_qp_is_idle),
		TEST(requests_that_are_not_known_are_no_cause),
		TEST(a_handler_leaves_errno),
		TEST(a_thread_that_does_not_start_is_said_and_tried_again),
	};

	log_to_memory();
	verbs_log_on(VERBS_LOG_WARN); /* opens the file */
	if (pipe2(async_pipe, O_NONBLOCK | O_CLOEXEC) ||
	    pipe2(channel_pipe, O_NONBLOCK | O_CLOEXEC))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
