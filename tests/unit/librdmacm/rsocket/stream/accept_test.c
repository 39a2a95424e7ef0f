/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * accept_test.c - requests that become streams: before raccept() and by it, and which errors refuse
 * only a request. The requests and the steps of a connection are the test's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/rsocket/stream/accept.c"

enum { MAX = 8 };

static struct stream listener, streams[MAX];
static struct cm_id ids[MAX];
static int made, wakes, freed, taken, rejected, kicks, renewals, closed;
static int requests;       /* that wait */
static int errors[MAX];    /* of each request's answer */
static int alloc_error;    /* EMFILE: no descriptors */
static int hello_size = 4; /* of the private data */
static struct rdma_conn_param met;

int rdmacm_stream_alloc(int domain, struct stream **out)
{
	assert_int_equal(domain, AF_INET6);
	if (alloc_error)
		return alloc_error;
	assert_true(made < MAX);
	*out = &streams[made++];
	return 0;
}

void rdmacm_stream_free(struct stream *stream)
{
	(void)stream;
	freed++;
}

int rdmacm_listener_look(struct stream *of)
{
	assert_ptr_equal(of, &listener);
	return requests ? 0 : EAGAIN;
}

int rdmacm_listener_take(struct stream *of, struct rdma_ucm_event_resp *request,
			 struct rs_share_channels *channels)
{
	assert_ptr_equal(of, &listener);
	channels->count = 0;
	if (!requests)
		return EAGAIN;
	requests--;
	request->param.conn.private_data_len = (uint8_t)(2 + hello_size);
	memcpy(request->param.conn.private_data, "..abcdefgh", 10);
	request->id = (uint32_t)taken++;
	return 0;
}

int rdmacm_listener_fetch(const struct stream *of, const struct rdma_ucm_event_resp *request,
			  struct rs_share_channels *channels, struct rdma_event_channel *channel,
			  struct cm_id **id)
{
	(void)channels, (void)channel;
	assert_ptr_equal(of, &listener);
	*id = &ids[request->id];
	return 0;
}

void rdmacm_share_close_channels(struct rs_share_channels *channels)
{
	assert_int_equal(channels->count, 0);
	closed++;
}

const struct cm_renewal *rdmacm_cmd_set_renewal(const struct cm_renewal *renewal)
{
	renewals += renewal ? 1 : -1;
	return NULL;
}

int rdmacm_stream_renew_for_request(struct stream *stream, uint32_t number, uint32_t refused)
{
	(void)stream, (void)number, (void)refused;
	return 0;
}

size_t rdmacm_stream_request_header(const struct rdma_cm_id *id)
{
	(void)id;
	return 2;
}

int rdmacm_stream_meet(struct stream *stream, const struct rdma_conn_param *param)
{
	assert_int_equal(renewals, 1);
	assert_memory_equal(param->private_data, "abcdefgh", param->private_data_len);
	met = *param;
	return errors[stream - streams];
}

int rdmacm_stream_say_hello(struct stream *stream, enum stream_state state,
			    int (*call)(struct rdma_cm_id *id, struct rdma_conn_param *param))
{
	assert_ptr_equal(call, rdma_accept);
	stream->state = state;
	return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	(void)id, (void)param;
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	(void)id, (void)data, (void)len;
	rejected++;
	return 0;
}

int rdmacm_keepalive_set(struct stream *stream, int seconds)
{
	(void)stream;
	return seconds == 30 ? 0 : ENOMEM;
}

void rdmacm_service_kick(void)
{
	kicks++;
}

void rdmacm_rs_wake(struct rs_waiters *waiters)
{
	assert_ptr_equal(waiters, &listener.rs.waiters);
	wakes++;
}

int64_t rdmacm_rs_now_us(void)
{
	return 1000;
}

int64_t rdmacm_rs_limit_over(int64_t limit_us)
{
	return limit_us ? 1000 + limit_us : -1;
}

int rdmacm_rs_sleep_limit(int64_t until_us)
{
	assert_true(until_us == -1);
	return 7;
}

int rdmacm_stream_sleep(struct stream *stream, int timeout_ms)
{
	(void)stream;
	assert_int_equal(timeout_ms, 7);
	requests = 1;
	return 0;
}

static void close_one(struct rs *rs)
{
	assert_ptr_equal(to_stream(rs), &streams[freed]);
	assert_true(rs->options.aborts); /* else the close of an unconfirmed one takes 15 seconds */
	freed++;
}

static const struct rs_kind kind = { .close = close_one };

static int listener_begin(void **state)
{
	(void)state;
	memset(&listener, 0, sizeof(listener));
	memset(streams, 0, sizeof(streams));
	memset(errors, 0, sizeof(errors));
	for (int i = 0; i < MAX; i++)
		streams[i].rs.kind = &kind;
	made = wakes = freed = taken = rejected = kicks = renewals = closed = requests =
		alloc_error = 0;
	hello_size = 4;
	STAILQ_INIT(&listener.accepted);
	listener.state = STREAM_LISTENING;
	listener.backlog = 3;
	listener.rs.domain = AF_INET6;
	listener.rs.status_flags = O_NONBLOCK;
	return 0;
}

static int listener_end(void **state)
{
	(void)state;
	assert_int_equal(renewals, 0);
	assert_true(cm_lock_try(&listener.rs.lock));
	return 0;
}

static void stream_accepts(int err, int number)
{
	struct rs *rs = NULL;

	assert_int_equal(rdmacm_stream_accept(&listener.rs, &rs), err);
	assert_ptr_equal(rs, err ? NULL : &streams[number].rs);
}

static void requests_are_accepted_ahead_up_to_the_backlog(void **state)
{
	(void)state;
	requests = 5;
	rdmacm_accept_ahead(&listener);
	assert_int_equal(listener.accepted_count, 3);
	assert_int_equal(requests, 2);
	assert_int_equal(wakes, 3);
	assert_false(rdmacm_accept_has_room(&listener));
	for (int i = 0; i < 3; i++)
		stream_accepts(0, i);
	assert_int_equal(kicks, 1); /* by the one that made room */
	assert_int_equal(listener.accepted_count, 0);
	stream_accepts(0, 3);
	stream_accepts(0, 4);
	stream_accepts(EAGAIN, 0);
}

static void a_backlog_below_1_is_1(void **state)
{
	(void)state;
	for (int backlog = -1; backlog <= 1; backlog++) {
		listener.backlog = backlog;
		listener.accepted_count = 0;
		assert_true(rdmacm_accept_has_room(&listener));
		listener.accepted_count = 1;
		assert_false(rdmacm_accept_has_room(&listener));
	}
}

/* Another process may be faster, so nothing is accepted ahead of a shared listener. */
static void a_shared_listener_accepts_nothing_ahead(void **state)
{
	(void)state;
	requests = 1;
	listener.share.is_open = true;
	rdmacm_accept_ahead(&listener);
	assert_int_equal(requests, 1);
}

static void an_accepted_stream_has_the_options_of_the_listener(void **state)
{
	(void)state;
	requests = 1;
	listener.rs.flags.no_delay = true;
	listener.rs.flags.rx_size = 4096;
	listener.rs.options.keepalive = true;
	listener.rs.options.keepalive_idle = 30;
	listener.rs.options.linger = (struct linger){ 1, 9 };
	listener.rs.options.route = &listener;
	stream_accepts(0, 0);
	assert_int_equal(streams[0].state, STREAM_ACCEPTED);
	assert_ptr_equal(streams[0].id, &ids[0].id);
	assert_ptr_equal(ids[0].id.context, &streams[0]);
	assert_true(streams[0].rs.flags.no_delay);
	assert_false(streams[0].rs.flags.v6_only);
	assert_int_equal(streams[0].rs.flags.rx_size, 4096);
	assert_int_equal(streams[0].rs.options.linger.l_linger, 9);
	assert_true(streams[0].rs.options.keepalive);
	assert_null(streams[0].rs.options.route);
	assert_int_equal(closed + freed, 0);
}

static void without_its_timer_a_stream_has_no_keepalive(void **state)
{
	(void)state;
	requests = 1;
	listener.rs.options.keepalive = true;
	listener.rs.options.keepalive_idle = 31;
	stream_accepts(0, 0);
	assert_false(streams[0].rs.options.keepalive);
	assert_true(listener.rs.options.keepalive);
}

static void a_greeting_is_what_follows_the_header(void **state)
{
	static const int sizes[][2] = { { 4, 4 }, { 0, 0 }, { -1, 0 }, { 8, 8 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		requests = 1;
		hello_size = sizes[i][0];
		stream_accepts(0, (int)i);
		assert_int_equal(met.private_data_len, sizes[i][1]);
	}
}

/* raccept() goes on to the next request. */
static void a_bad_request_is_refused_alone(void **state)
{
	(void)state;
	requests = 2;
	errors[0] = EPROTO;
	stream_accepts(0, 1);
	assert_int_equal(rejected, 1);
	assert_int_equal(freed, 1);
}

static void an_error_of_this_side_is_reported(void **state)
{
	static const struct {
		int error, reported;
	} rows[] = {
		{ ENOMEM, ENOMEM }, { EMFILE, EMFILE }, { ENFILE, ENFILE }, { EIDRM, EINVAL }
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		requests = 2;
		errors[i] = rows[i].error;
		stream_accepts(rows[i].reported, 0);
		assert_int_equal(requests, 1);
	}
	alloc_error = EMFILE; /* requests stay queued */
	stream_accepts(EMFILE, 0);
	assert_int_equal(requests, 1);
}

static void a_blocking_listener_waits_within_its_limit(void **state)
{
	(void)state;
	listener.rs.status_flags = 0;
	stream_accepts(0, 0);
	listener.rs.options.receive_limit_us = -500; /* over */
	stream_accepts(EAGAIN, 0);
}

static void only_a_listener_accepts(void **state)
{
	(void)state;
	requests = 1;
	listener.read_shut = true;
	stream_accepts(EINVAL, 0);
	listener.read_shut = false;
	listener.state = STREAM_BOUND;
	stream_accepts(EINVAL, 0);
}

static void streams_that_nobody_took_are_closed_in_order(void **state)
{
	(void)state;
	requests = 2;
	rdmacm_accept_ahead(&listener);
	rdmacm_accept_close(&listener);
	assert_int_equal(freed, 2);
	assert_true(STAILQ_EMPTY(&listener.accepted));
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, listener_begin, listener_end)
	const struct CMUnitTest tests[] = {
		TEST(requests_are_accepted_ahead_up_to_the_backlog),
		TEST(a_backlog_below_1_is_1),
		TEST(a_shared_listener_accepts_nothing_ahead),
		TEST(an_accepted_stream_has_the_options_of_the_listener),
		TEST(without_its_timer_a_stream_has_no_keepalive),
		TEST(a_greeting_is_what_follows_the_header),
		TEST(a_bad_request_is_refused_alone),
		TEST(an_error_of_this_side_is_reported),
		TEST(a_blocking_listener_waits_within_its_limit),
		TEST(only_a_listener_accepts),
		TEST(streams_that_nobody_took_are_closed_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
