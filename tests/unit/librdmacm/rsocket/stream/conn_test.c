/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn_test.c - states of a stream without a connection: rconnect() in each state, its errors, and
 * whether and how long a close and a shutdown wait.
 *
 * Covers: librdmacm/rsocket/stream/conn.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/rsocket/stream/conn.c"

static struct stream stream;

/* The waits of a call. Nothing becomes ready. */
static struct {
	int64_t limit_us;
	int count;
	int controls; /* number of times that controls were sent */
	bool (*ready)(struct stream *stream);
} waits;

int __wrap_rdmacm_stream_wait(struct stream *of, bool (*ready)(struct stream *), bool nonblocking,
			      int64_t deadline_us)
{
	int64_t left_us = deadline_us - rdmacm_rs_now_us();

	assert_ptr_equal(of, &stream);
	assert_false(nonblocking);
	waits.limit_us = (left_us + 999999) / 1000000 * 1000000;
	waits.ready = ready;
	waits.count++;
	return ETIMEDOUT;
}

void __wrap_rdmacm_stream_send_controls(struct stream *of)
{
	assert_ptr_equal(of, &stream);
	waits.controls++;
}

static int stream_begin(void **state)
{
	(void)state;
	memset(&stream, 0, sizeof(stream));
	memset(&waits, 0, sizeof(waits));
	rdmacm_rs_init(&stream.rs, &rdmacm_stream_kind, AF_INET, SOCK_STREAM);
	stream.rs.status_flags = O_NONBLOCK;
	return 0;
}

static void an_address_must_be_whole(void **state)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };
	const struct sockaddr *of = (struct sockaddr *)&addr;

	(void)state;
	assert_int_equal(check_addr(NULL, 100), EFAULT);
	assert_int_equal(check_addr(of, sizeof(addr)), 0);
	assert_int_equal(check_addr(of, sizeof(addr) + 1), 0);
	assert_int_equal(check_addr(of, sizeof(addr) - 1), EINVAL);
	addr.sin6_family = AF_INET;
	assert_int_equal(check_addr(of, sizeof(struct sockaddr_in)), 0);
	assert_int_equal(check_addr(of, sizeof(struct sockaddr_in) - 1), EINVAL);
	assert_int_equal(check_addr(of, 1), EINVAL);
	addr.sin6_family = AF_UNIX;
	assert_int_equal(check_addr(of, sizeof(addr)), EINVAL);
}

static void only_a_new_stream_is_bound(void **state)
{
	const struct sockaddr_in addr = { .sin_family = AF_INET };
	const struct sockaddr *of = (const struct sockaddr *)&addr;

	(void)state;
	assert_int_equal(stream_bind(&stream.rs, of, sizeof(addr) - 1), EINVAL);
	assert_int_equal(stream_bind(&stream.rs, NULL, sizeof(addr)), EFAULT);
	stream.state = STREAM_BOUND;
	assert_int_equal(stream_bind(&stream.rs, of, sizeof(addr)), EINVAL);
	assert_true(cm_lock_try(&stream.rs.lock));
}

/* rconnect() reports success once; later calls fail with EISCONN, since Linux's connect() does so
 * for TCP. */
static void a_connected_stream_is_not_connected_again(void **state)
{
	static const enum stream_state states[] = { STREAM_CONNECTED, STREAM_ACCEPTED,
						    STREAM_OVER };

	(void)state;
	stream.remote.slots_addr = 1; /* the peer's address shows a former connection */
	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++) {
		stream.state = states[i];
		stream.is_asked_for = true;
		assert_int_equal(tell_connected(&stream),
				 states[i] == STREAM_CONNECTED ? 0 : EISCONN);
		assert_false(stream.is_asked_for);
		assert_int_equal(tell_connected(&stream), EISCONN);
	}
}

static void only_the_first_error_is_heard(void **state)
{
	(void)state;
	stream.state = STREAM_CONNECTED;
	rdmacm_stream_fail(&stream, ECONNRESET);
	assert_int_equal(stream.state, STREAM_OVER);
	assert_true(stream.peer_done && stream.peer_gone);
	assert_int_equal(stream.rs.arrivals, 1);
	rdmacm_stream_fail(&stream, ETIMEDOUT);
	assert_int_equal(stream.error, ECONNRESET);
	assert_int_equal(stream.rs.arrivals, 1);
}

/* A peer that has shut down its receiving side has not reset the connection, so this is no
 * error. */
static void a_side_that_has_left_is_no_error(void **state)
{
	(void)state;
	stream.state = STREAM_CONNECTED;
	stream.peer_gone = true;
	rdmacm_stream_fail(&stream, ECONNRESET);
	assert_int_equal(stream.error, 0);
	assert_int_equal(stream.state, STREAM_OVER);
}

/* All posted requests have completed, and no control message is due; closing earlier would drop
 * them. */
static void a_close_waits_until_the_stream_is_quiet(void **state)
{
	(void)state;
	for (int i = 0; i < 8; i++) {
		stream.state = STREAM_CONNECTED;
		stream.sq_done = 5;
		stream.sq_put = i & 1 ? 6 : 5;
		stream.must_shutdown = i & 2;
		stream.must_disconnect = i & 4;
		assert_int_equal(is_quiet(&stream), !i);
		stream.state = STREAM_OVER;
		assert_true(is_quiet(&stream));
	}
}

static void linger_limits_the_close(void **state)
{
	static const struct {
		struct linger linger;
		bool aborts;
		int64_t want_us;
	} rows[] = { { { 0, 0 }, false, CLOSE_US }, { { 1, 0 }, false, CLOSE_US },
		     { { 0, 9 }, false, CLOSE_US }, { { 1, 3 }, false, 3000000 },
		     { { 1, 1 }, false, 1000000 },  { { 1, -1 }, false, CLOSE_US },
		     { { 1, 0 }, true, 0 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		stream.rs.options.linger = rows[i].linger;
		stream.rs.options.aborts = rows[i].aborts;
		assert_true(close_limit(&stream) == rows[i].want_us);
	}
}

/* A program may end by _exit() after it. As with release 65.0, O_NONBLOCK changes nothing. */
static void the_end_of_sending_waits_for_what_was_sent(void **state)
{
	(void)state;
	stream.state = STREAM_CONNECTED;
	stream.rs.options.linger = (struct linger){ 1, 7 };
	assert_int_equal(stream_shutdown(&stream.rs, SHUT_WR), 0);
	assert_true(stream.write_shut && !stream.read_shut && stream.must_shutdown);
	assert_int_equal(waits.controls, 1);
	assert_int_equal(waits.count, 1);
	assert_ptr_equal(waits.ready, is_quiet);
	assert_int_equal(waits.limit_us, 7000000);
	assert_int_equal(stream_shutdown(&stream.rs, SHUT_WR), 0);
	assert_int_equal(waits.count, 1);
}

static void a_peer_that_receives_no_more_is_not_waited_for(void **state)
{
	(void)state;
	stream.state = STREAM_CONNECTED;
	stream.peer_gone = true;
	assert_int_equal(stream_shutdown(&stream.rs, SHUT_WR), 0);
	assert_true(stream.write_shut && !stream.must_shutdown);
	assert_int_equal(waits.count, 0);
}

static void the_end_of_receiving_waits_for_nothing(void **state)
{
	(void)state;
	stream.state = STREAM_CONNECTED;
	assert_int_equal(stream_shutdown(&stream.rs, SHUT_RD), 0);
	assert_true(stream.read_shut && !stream.write_shut && !stream.must_shutdown);
	assert_int_equal(waits.count, 0);
}

/* The peer confirms after the wait of the call, and still gets the end of the stream. */
static void an_unconfirmed_stream_ends_when_it_is_confirmed(void **state)
{
	(void)state;
	stream.state = STREAM_ACCEPTED;
	assert_int_equal(stream_shutdown(&stream.rs, SHUT_WR), 0);
	assert_true(stream.write_shut && stream.must_shutdown);
	waits.controls = 0;
	rdmacm_stream_established(&stream);
	assert_int_equal(waits.controls, 1);
}

static void without_an_id_there_is_a_family_only(void **state)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);

	(void)state;
	memset(&name, 0x5a, sizeof(name));
	assert_int_equal(stream_local_name(&stream.rs, (struct sockaddr *)&name, &len), 0);
	assert_int_equal(len, sizeof(struct sockaddr_in));
	assert_int_equal(name.ss_family, AF_INET);
	assert_int_equal(((struct sockaddr_in *)&name)->sin_port, 0);
	for (int i = STREAM_NEW; i <= STREAM_OVER; i++) {
		stream.state = i;
		assert_int_equal(stream_peer_name(&stream.rs, (struct sockaddr *)&name, &len),
				 ENOTCONN);
	}
}

/* Another thread of the parent may be in the middle of a call, so the child starts with free
 * locks. */
static void locks_of_the_parent_are_free_in_a_child(void **state)
{
	struct cm_lock *const locks[] = { &stream.rx_lock, &stream.tx_lock };

	(void)state;
	stream.state = STREAM_CONNECTED;
	for (unsigned int i = 0; i < ARRAY_SIZE(locks); i++) {
		cm_lock_init(locks[i]);
		cm_lock_take(locks[i]);
	}
	rdmacm_stream_kind.inherit(&stream.rs);
	for (unsigned int i = 0; i < ARRAY_SIZE(locks); i++)
		assert_true(cm_lock_try(locks[i]));
	assert_true(stream.is_of_parent);
}

static void an_adapter_that_goes_resets_a_connected_stream(void **state)
{
	const struct rdma_cm_event event = { .event = RDMA_CM_EVENT_DEVICE_REMOVAL };

	(void)state;
	for (int i = STREAM_CONNECTED; i >= STREAM_ACCEPTED; i--) {
		stream_begin(state);
		stream.state = i;
		on_failure(&stream, &event);
		assert_int_equal(stream.error, i == STREAM_CONNECTED ? ECONNRESET : ENODEV);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, stream_begin)
	const struct CMUnitTest tests[] = {
		TEST(an_address_must_be_whole),
		TEST(only_a_new_stream_is_bound),
		TEST(a_connected_stream_is_not_connected_again),
		TEST(only_the_first_error_is_heard),
		TEST(a_side_that_has_left_is_no_error),
		TEST(a_close_waits_until_the_stream_is_quiet),
		TEST(linger_limits_the_close),
		TEST(the_end_of_sending_waits_for_what_was_sent),
		TEST(a_peer_that_receives_no_more_is_not_waited_for),
		TEST(the_end_of_receiving_waits_for_nothing),
		TEST(an_unconfirmed_stream_ends_when_it_is_confirmed),
		TEST(without_an_id_there_is_a_family_only),
		TEST(locks_of_the_parent_are_free_in_a_child),
		TEST(an_adapter_that_goes_resets_a_connected_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
