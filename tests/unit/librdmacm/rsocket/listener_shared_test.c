/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listener_shared_test.c - a listener shared by several processes: requests that the holder passes
 * on, choice of the next holder, the channels searched for the id of a listener or request, and
 * lost devices. Kernel events, share and service are the test's.
 *
 * Covers: librdmacm/rsocket/listener.c
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/listener.c"

enum { ROOM = 8, REFUSED = EDOM, GONE = -1, CHANNEL_FD = 500, NUMBER = 33 };

static struct stream listener;
static struct cm_device device;
static struct cm_id id;
static struct rdma_event_channel old_channel = { .fd = CHANNEL_FD };

static struct {
	int answers[ROOM], kinds[ROOM], reads; /* results and kinds of events; then EAGAIN */
	uint32_t put[ROOM];
	int puts, put_error;
	int pipe_room, in_pipe, taken;
	int hold_error, let_go, lost, set_error, find_error, open_error, service_error;
	bool holds_now;
	int found[ROOM], found_count, closed;
	int fetches[ROOM], fetched[ROOM], fetched_count; /* errnos; queried descriptors */
	int request_errors[ROOM], asked[ROOM], asked_count;
	int channel_errors[ROOM], channels, destroyed;
	bool has_no_channel;
	int services, woken, refused, removed, ahead;
	bool has_accept_room;
} it;

int rdmacm_event_read(struct cm_id *of, struct rdma_ucm_event_resp *event)
{
	const int at = it.reads++;

	assert_ptr_equal(of, &id);
	if (at >= ROOM || (!it.answers[at] && it.kinds[at] == GONE))
		return EAGAIN;
	event->event = (uint32_t)it.kinds[at];
	event->id = 100 + (uint32_t)at;
	return it.answers[at];
}

int rdmacm_request_refuse(int fd, uint32_t number, const char *why)
{
	(void)why;
	assert_int_equal(fd, CHANNEL_FD);
	it.refused = (int)number;
	return 0;
}

int rdmacm_request_fetch(const struct cm_id *of, const struct rdma_ucm_event_resp *request,
			 int from, struct rdma_event_channel *channel, struct cm_id **out)
{
	(void)request;
	assert_ptr_equal(of, &id);
	assert_ptr_equal(channel, &old_channel);
	it.asked[it.asked_count] = from;
	*out = &id;
	return it.request_errors[it.asked_count++];
}

int rdmacm_id_fetch(uint32_t number, int from, const struct rdma_event_channel *channel,
		    uint32_t *reported)
{
	(void)channel;
	assert_true(number == NUMBER || number >= 100);
	it.fetched[it.fetched_count] = from;
	*reported = 7;
	return it.fetches[it.fetched_count++];
}

/* A new channel is a real descriptor, as dup2() puts it on the old number. */
int rdmacm_rs_open_channel(struct rdma_event_channel **channel)
{
	static struct rdma_event_channel channels[ROOM];

	*channel = NULL;
	if (it.has_no_channel)
		return EMFILE;
	*channel = &channels[it.channels];
	channels[it.channels].fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return it.channel_errors[it.channels++];
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	it.destroyed++;
	close(channel->fd);
}

void rdmacm_device_remove(struct cm_device *of)
{
	assert_ptr_equal(of, &device);
	it.removed++;
}

int rdmacm_share_open(struct rs_share *share, int channel)
{
	assert_int_equal(channel, listener.rs.fd);
	share->is_open = !it.open_error;
	return it.open_error;
}

void rdmacm_share_forked(struct rs_share *share)
{
	share->holds = false;
}

bool rdmacm_share_has_room(const struct rs_share *share)
{
	assert_ptr_equal(share, &listener.share);
	return it.puts < it.pipe_room;
}

int rdmacm_share_put(const struct rs_share *share, const struct rdma_ucm_event_resp *request)
{
	assert_ptr_equal(share, &listener.share);
	it.put[it.puts++] = request->id;
	return it.put_error;
}

int rdmacm_share_take(const struct rs_share *share, struct rdma_ucm_event_resp *request)
{
	assert_ptr_equal(share, &listener.share);
	if (it.taken >= it.in_pipe)
		return EAGAIN;
	request->id = 200 + (uint32_t)it.taken++;
	return 0;
}

unsigned int rdmacm_share_count(const struct rs_share *share)
{
	(void)share;
	return (unsigned int)(it.in_pipe - it.taken);
}

bool rdmacm_share_hold(struct rs_share *share, int *error)
{
	*error = it.hold_error;
	share->holds = it.holds_now;
	return it.holds_now;
}

void rdmacm_share_let_go(struct rs_share *share)
{
	share->holds = false;
	it.let_go++;
}

int rdmacm_share_find_channels(const struct rs_share *share, struct rs_share_channels *channels)
{
	(void)share;
	channels->count = it.find_error ? 0 : it.found_count;
	memcpy(channels->fds, it.found, (size_t)it.found_count * sizeof(int));
	return it.find_error;
}

void rdmacm_share_close_channels(struct rs_share_channels *channels)
{
	(void)channels;
	it.closed++;
}

int rdmacm_share_set_channel(const struct rs_share *share, int channel,
			     const struct rs_share_channels *before)
{
	(void)share, (void)channel;
	assert_int_equal(before->count, it.found_count);
	return it.set_error;
}

int rdmacm_share_lose(const struct rs_share *share)
{
	(void)share;
	return it.lost++;
}

int rdmacm_service_add(struct rs *rs, const struct rs_care *care)
{
	assert_ptr_equal(rs, &listener.rs);
	assert_ptr_equal(care, &care_of_listener);
	it.services++;
	return it.service_error;
}

bool rdmacm_accept_has_room(const struct stream *of)
{
	assert_ptr_equal(of, &listener);
	return it.has_accept_room;
}

void rdmacm_accept_ahead(struct stream *of)
{
	assert_ptr_equal(of, &listener);
	it.ahead++;
}

int64_t rdmacm_rs_now_us(void)
{
	return 1000;
}

void rdmacm_rs_wake(struct rs_waiters *waiters)
{
	assert_ptr_equal(waiters, &listener.rs.waiters);
	it.woken++;
}

/* Starts a listener whose holder is this process. */
static int listener_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&listener, 0, sizeof(listener));
	memset(&id, 0, sizeof(id));
	for (int i = 0; i < ROOM; i++)
		it.kinds[i] = GONE;
	it.pipe_room = ROOM;
	it.has_accept_room = true;
	id.device = &device;
	id.number = NUMBER;
	STAILQ_INIT(&listener.accepted);
	listener.id = &id.id;
	listener.channel = &old_channel;
	listener.state = STREAM_LISTENING;
	listener.rs.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	listener.share.is_open = listener.share.holds = true;
	listener.share.requests[0] = listener.share.requests[1] = -1;
	return 0;
}

static int listener_end(void **state)
{
	(void)state;
	assert_true(cm_lock_try(&listener.rs.lock));
	assert_int_equal(it.destroyed, it.channels);
	return close(listener.rs.fd);
}

static void events_are(int first, int second, int third)
{
	it.kinds[0] = first;
	it.kinds[1] = second;
	it.kinds[2] = third;
}

static void the_holder_passes_requests_on(void **state)
{
	(void)state;
	events_are(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED,
		   RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_int_equal(listener_serve(&listener.rs), 0);
	assert_int_equal(it.puts, 2);
	assert_int_equal(it.put[0], 100);
	assert_int_equal(it.put[1], 102);
	assert_int_equal(it.reads, 4); /* the last one was empty */
	assert_int_equal(it.let_go, 0);
	assert_int_equal(it.refused, 0);
}

static void it_stops_where_the_pipe_is_full_or_another_holds(void **state)
{
	(void)state;
	events_are(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_CONNECT_REQUEST, GONE);
	it.pipe_room = 1;
	listener_serve(&listener.rs);
	assert_int_equal(it.reads, 1);
	it.pipe_room = ROOM;
	listener.share.holds = false;
	listener_serve(&listener.rs);
	assert_int_equal(it.reads, 1);
}

static void a_request_that_cannot_be_passed_on_is_refused(void **state)
{
	(void)state;
	events_are(RDMA_CM_EVENT_CONNECT_REQUEST, GONE, GONE);
	it.put_error = EPIPE;
	listener_serve(&listener.rs);
	assert_int_equal(it.refused, 100);
}

static void a_holder_that_cannot_read_lets_go(void **state)
{
	(void)state;
	events_are(RDMA_CM_EVENT_CONNECT_REQUEST, GONE, GONE);
	it.answers[1] = EIO;
	listener_serve(&listener.rs);
	assert_int_equal(it.puts, 1);
	assert_int_equal(it.reads, 2);
	assert_int_equal(it.let_go, 1);
	assert_int_equal(it.woken, 1);
	assert_false(listener.share.holds);
}

/* Linux refuses a thread of another user until the listener is on a channel of that user, so the
 * thread makes one. */
static void a_refused_holder_reads_by_another_channel(void **state)
{
	(void)state;
	it.answers[0] = EACCES;
	it.kinds[1] = RDMA_CM_EVENT_CONNECT_REQUEST;
	it.kinds[3] = RDMA_CM_EVENT_CONNECT_REQUEST;
	it.found_count = 2;
	it.found[0] = 61;
	it.found[1] = 62;
	it.in_pipe = 1;
	listener_serve(&listener.rs);
	assert_int_equal(it.fetched[0], 61); /* the listener */
	assert_int_equal(it.fetched[1], 61); /* the request in the pipe, and one on the channel */
	assert_int_equal(it.fetched[2], 61);
	assert_int_equal(it.fetched_count, 3);
	assert_int_equal(id.events_acked, 7);
	assert_int_equal(it.put[0], 200);
	assert_int_equal(it.put[1], 101);
	assert_int_equal(it.put[2], 103);
	assert_int_equal(it.puts, 3);
	assert_int_equal(it.closed, 1);
	assert_int_equal(it.channels, 1);
	assert_int_equal(it.let_go, 0);
}

static void a_lost_device_ends_the_listener_for_all(void **state)
{
	(void)state;
	events_are(RDMA_CM_EVENT_DEVICE_REMOVAL, RDMA_CM_EVENT_CONNECT_REQUEST, GONE);
	listener_serve(&listener.rs);
	assert_int_equal(it.removed, 1);
	assert_int_equal(it.lost, 1);
	assert_true(listener.is_lost);
	assert_int_equal(it.let_go, 1);
	assert_int_equal(it.puts, 0);
	assert_int_equal(rdmacm_listener_look(&listener), EIDRM);
	listener.share.is_open = false;
	id.device = NULL; /* none, as its address belongs to no device */
	it.reads = 0;
	assert_int_equal(read_alone(&listener, &(struct rdma_ucm_event_resp){ 0 }), EIDRM);
	assert_int_equal(it.removed, 1);
	assert_int_equal(it.lost, 1);
	assert_true(listener.is_lost);
}

/* Descriptors that the service polls */
static void the_service_waits_where_requests_come_or_go(void **state)
{
	struct rs_alarm alarm = { .fd = { .fd = -1 }, .until_us = INT64_MAX };

	(void)state;
	listener.share.requests[1] = 77;
	assert_true(listener_await(&listener.rs, &alarm));
	assert_int_equal(alarm.fd.fd, listener.rs.fd);
	assert_int_equal(alarm.fd.events, POLLIN);
	assert_int_equal(it.woken, 1); /* sleepers change to the pipe once */
	it.pipe_room = 0;
	assert_true(listener_await(&listener.rs, &alarm));
	assert_int_equal(alarm.fd.fd, 77);
	assert_int_equal(alarm.fd.events, POLLOUT);
	assert_int_equal(it.woken, 1);
	listener.share.holds = false;
	assert_false(listener_await(&listener.rs, &alarm));
	listener.share.holds = true;
	listener.read_shut = true;
	assert_false(listener_await(&listener.rs, &alarm));
	listener.read_shut = false;
	listener.state = STREAM_OVER;
	assert_false(listener_await(&listener.rs, &alarm));
}

static void alone_it_waits_for_the_time_or_the_channel(void **state)
{
	struct rs_alarm alarm = { .fd = { .fd = -1 }, .until_us = INT64_MAX };

	(void)state;
	listener.share.is_open = false;
	it.has_accept_room = false;
	assert_true(listener_await(&listener.rs, &alarm));
	assert_int_equal(alarm.fd.fd, -1);
	it.has_accept_room = true;
	assert_true(listener_await(&listener.rs, &alarm));
	assert_int_equal(alarm.fd.fd, listener.rs.fd);
	assert_true(alarm.until_us == INT64_MAX);
	listener.first_seen_us = 5;
	assert_true(listener_await(&listener.rs, &alarm));
	assert_true(alarm.until_us == 5 + PATIENCE_US);
	assert_int_equal(it.woken, 0);
}

static void the_next_holder_is_who_locks_the_pipe(void **state)
{
	static const struct {
		bool holds;
		int hold_error, find_error, service_error, want, let_go;
		bool is_lost;
	} rows[] = { { true, 0, 0, 0, 0, 0, false },
		     /* another process was faster, so there is no request */
		     { false, 0, 0, 0, 0, 0, false },
		     { false, EMFILE, 0, 0, EMFILE, 1, false },
		     { false, EIO, 0, 0, EIDRM, 1, true },
		     { true, 0, EMFILE, 0, EMFILE, 1, false },
		     { true, 0, EIDRM, 0, EIDRM, 1, true },
		     { true, 0, 0, ENOMEM, ENOMEM, 1, false },
		     { true, 0, 0, REFUSED, EIDRM, 1, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		listener_end(state);
		listener_begin(state);
		it.found_count = 1;
		it.holds_now = rows[i].holds;
		it.hold_error = rows[i].hold_error;
		it.find_error = rows[i].find_error;
		it.service_error = rows[i].service_error;
		assert_int_equal(take_over(&listener), rows[i].want);
		assert_int_equal(it.let_go, rows[i].let_go);
		assert_int_equal(listener.is_lost, rows[i].is_lost);
	}
}

/* Tries each channel until one has the listener. */
static void the_listeners_id_is_looked_for(void **state)
{
	static const struct {
		int fetches[2], want, asked, channels;
	} rows[] = { { { 0, 0 }, 0, 1, 1 },
		     { { ENOENT, 0 }, 0, 2, 1 },
		     { { EINVAL, ENOENT }, ENOENT, 2, 1 },
		     { { REFUSED, 0 }, REFUSED, 1, 1 },
		     { { EACCES, 0 }, 0, 2, 2 } }; /* the user changed again */

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		listener_end(state);
		listener_begin(state);
		it.found_count = 2;
		it.found[0] = 61;
		it.found[1] = 62;
		memcpy(it.fetches, rows[i].fetches, sizeof(rows[i].fetches));
		assert_int_equal(listener_fetch(&listener), rows[i].want);
		assert_int_equal(it.fetched_count, rows[i].asked);
		assert_int_equal(it.channels, rows[i].channels);
		assert_int_equal(it.closed, 1);
	}
}

static void a_user_that_changes_for_ever_is_refused(void **state)
{
	(void)state;
	for (int i = 0; i < ROOM; i++)
		it.channel_errors[i] = EACCES;
	it.found_count = 1;
	assert_int_equal(listener_fetch(&listener), EACCES);
	assert_int_equal(it.channels, MOST_CHANGES);
	assert_int_equal(move_here(&listener, NULL), EACCES);
	assert_int_equal(it.channels, 2 * MOST_CHANGES);
	it.has_no_channel = true;
	assert_int_equal(move_here(&listener, NULL), EMFILE);
	assert_int_equal(listener_fetch(&listener), EMFILE);
}

/* Tries the channel named with the request, this process's channel, and those of later holders. */
static void a_requests_id_is_looked_for(void **state)
{
	static const struct {
		int errors[4], want, asked[4], asked_count, closed;
		bool is_alone;
	} rows[] = {
		{ { 0 }, 0, { 61 }, 1, 1, false },
		{ { ENOENT, 0 }, 0, { 61, 0 }, 2, 1, false },
		{ { ENOENT, ENOENT, 0 }, 0, { 61, 0, 71 }, 3, 2, false },
		{ { ENOENT, ENOENT }, ENOENT, { 61, 0 }, 2, 1, true },
		{ { REFUSED }, REFUSED, { 61 }, 1, 1, false },
		{ { ENOENT, REFUSED }, REFUSED, { 61, 0 }, 2, 1, false },
	};
	struct rs_share_channels channels = { .count = 1, .fds = { 61 } };
	struct rdma_ucm_event_resp request = { 0 };
	struct cm_id *made;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		listener_end(state);
		listener_begin(state);
		it.found_count = 1;
		it.found[0] = 71;
		listener.share.is_open = !rows[i].is_alone;
		memcpy(it.request_errors, rows[i].errors, sizeof(rows[i].errors));
		assert_int_equal(
			rdmacm_listener_fetch(&listener, &request, &channels, &old_channel, &made),
			rows[i].want);
		assert_int_equal(it.asked_count, rows[i].asked_count);
		for (int k = 0; k < it.asked_count; k++) /* 0: the listener's own */
			assert_int_equal(it.asked[k],
					 rows[i].asked[k] ? rows[i].asked[k] : listener.rs.fd);
		assert_int_equal(it.closed, rows[i].closed);
	}
	it.find_error = EMFILE;
	it.asked_count = 0;
	it.request_errors[0] = it.request_errors[1] = ENOENT;
	assert_int_equal(rdmacm_listener_fetch(&listener, &request, &channels, &old_channel, &made),
			 EMFILE);
}

static void a_request_is_taken_where_it_is(void **state)
{
	struct rs_share_channels channels = { .count = 5 };
	struct rdma_ucm_event_resp request;

	(void)state;
	it.in_pipe = 2;
	it.found_count = 2;
	assert_int_equal(rdmacm_listener_take(&listener, &request, &channels), 0);
	assert_int_equal(request.id, 200);
	assert_int_equal(channels.count, 0); /* none, as the holder has the channel */
	listener.share.holds = false;
	it.find_error = EMFILE; /* fails before it takes a request, so none is lost */
	assert_int_equal(rdmacm_listener_take(&listener, &request, &channels), EMFILE);
	it.find_error = 0;
	assert_int_equal(rdmacm_listener_take(&listener, &request, &channels), 0);
	assert_int_equal(request.id, 201);
	assert_int_equal(channels.count, 2);
	listener.share.is_open = false;
	it.kinds[0] = RDMA_CM_EVENT_CONNECT_REQUEST;
	assert_int_equal(rdmacm_listener_take(&listener, &request, &channels), 0);
	assert_int_equal(request.id, 100);
	assert_int_equal(channels.count, 0);
}

static void a_changed_user_leaves_requests_to_the_thread(void **state)
{
	static const struct {
		int open_error, service_error, want, let_go, services;
	} rows[] = { { 0, 0, EAGAIN, 0, 1 },
		     { EMFILE, 0, EMFILE, 0, 0 },
		     { 0, ENOMEM, ENOMEM, 1, 1 } };
	struct rdma_ucm_event_resp request;
	struct rs_share_channels channels;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		listener_end(state);
		listener_begin(state);
		listener.share.is_open = false;
		it.answers[0] = EACCES;
		it.open_error = rows[i].open_error;
		it.service_error = rows[i].service_error;
		assert_int_equal(rdmacm_listener_take(&listener, &request, &channels),
				 rows[i].want);
		assert_int_equal(it.let_go, rows[i].let_go);
		assert_int_equal(it.services, rows[i].services);
	}
}

/* If a child shares the channel, parent and child both move their streams to new channels, as each
 * would take the other's events. */
static void after_fork_a_stream_gets_its_own_channel(void **state)
{
	(void)state;
	assert_int_equal(rdmacm_stream_adopt(&listener), 0);
	assert_int_equal(it.channels, 0);
	listener.rs.is_shared = true;
	assert_int_equal(rdmacm_stream_adopt(&listener), 0);
	assert_int_equal(it.channels, 1);
	assert_int_equal(it.fetched[0], listener.rs.fd);
	assert_int_equal(it.woken, 1);
	assert_false(listener.rs.is_shared);
	listener.is_of_parent = listener.rs.is_shared = true;
	assert_int_equal(rdmacm_stream_adopt(&listener), 0);
	assert_false(listener.is_of_parent || listener.rs.is_shared);
	listener.is_of_parent = true;
	listener.id = NULL;
	assert_int_equal(rdmacm_stream_adopt(&listener), 0);
	assert_int_equal(it.fetched_count, 2); /* nothing to move without an id */
	listener.is_of_parent = true;
	it.has_no_channel = true;
	assert_int_equal(rdmacm_stream_adopt(&listener), EMFILE);
	assert_true(listener.is_of_parent);
}

static void a_renewed_channel_knows_the_event_in_hand(void **state)
{
	(void)state;
	listener.pause.until_us = 9;
	assert_int_equal(rdmacm_stream_renew(&listener), 0);
	assert_int_equal(id.events_acked, 7);
	assert_int_equal(listener.pause.until_us, 0);
	assert_int_equal(rdmacm_stream_renew_in_event(&listener, 0), 0);
	assert_int_equal(id.events_acked, 6);
	assert_int_equal(it.woken, 2);
	it.fetches[2] = REFUSED;
	listener.pause.until_us = 9;
	assert_int_equal(rdmacm_stream_renew(&listener), REFUSED);
	assert_int_equal(listener.pause.until_us, 9);
	assert_int_equal(rdmacm_stream_renew_for_request(&listener, 100, 0), 0);
	assert_int_equal(it.fetched_count, 4);
	assert_int_equal(
		rdmacm_stream_renew_for_request(&listener, 100, RDMA_USER_CM_CMD_MIGRATE_ID), 0);
	assert_int_equal(it.fetched_count, 4);
}

static void a_child_has_no_accepted_streams(void **state)
{
	struct stream accepted;

	(void)state;
	STAILQ_INSERT_HEAD(&listener.accepted, &accepted, in_accepted);
	listener.accepted_count = 1;
	rdmacm_listener_forked(&listener);
	assert_true(STAILQ_EMPTY(&listener.accepted));
	assert_int_equal(listener.accepted_count, 0);
	assert_false(listener.is_lost || listener.share.holds);
	listener.share.is_open = false;
	rdmacm_listener_forked(&listener);
	assert_true(listener.is_lost);
	listener.is_of_parent = true;
	rdmacm_listener_share(&listener);
	assert_false(listener.share.is_open);
	listener.is_of_parent = false;
	rdmacm_listener_share(&listener);
	assert_true(listener.share.is_open);
}

#define LISTENER_TEST(name) cmocka_unit_test_setup_teardown(name, listener_begin, listener_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LISTENER_TEST(the_holder_passes_requests_on),
		LISTENER_TEST(it_stops_where_the_pipe_is_full_or_another_holds),
		LISTENER_TEST(a_request_that_cannot_be_passed_on_is_refused),
		LISTENER_TEST(a_holder_that_cannot_read_lets_go),
		LISTENER_TEST(a_refused_holder_reads_by_another_channel),
		LISTENER_TEST(a_lost_device_ends_the_listener_for_all),
		LISTENER_TEST(the_service_waits_where_requests_come_or_go),
		LISTENER_TEST(alone_it_waits_for_the_time_or_the_channel),
		LISTENER_TEST(the_next_holder_is_who_locks_the_pipe),
		LISTENER_TEST(the_listeners_id_is_looked_for),
		LISTENER_TEST(a_user_that_changes_for_ever_is_refused),
		LISTENER_TEST(a_requests_id_is_looked_for),
		LISTENER_TEST(a_request_is_taken_where_it_is),
		LISTENER_TEST(a_changed_user_leaves_requests_to_the_thread),
		LISTENER_TEST(after_fork_a_stream_gets_its_own_channel),
		LISTENER_TEST(a_renewed_channel_knows_the_event_in_hand),
		LISTENER_TEST(a_child_has_no_accepted_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
