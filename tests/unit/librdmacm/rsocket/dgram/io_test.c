/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_test.c - messages of a datagram socket with one link: which are queued, delivered or dropped,
 * whether one goes by RDMA or UDP, and how a call waits. The test supplies the link's QP, the
 * clock and the sleep; UDP is the system's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "librdmacm/rsocket/dgram/io.c"

enum { RECEIVES = 4, SENDS = 4, QPN = 0x321, PEER_QPN = 0x123, POLLING_US = 10, REFUSED = EDOM };

static struct ibv_context context;
static struct ibv_cq cq = { .context = &context };
static struct ibv_comp_channel completions;
static struct ibv_qp qp = { .qp_num = QPN };
static struct rdma_cm_id id = { .qp = &qp };
static uint8_t memory[(RECEIVES + SENDS) * DGRAM_BUFFER];
static struct dgram_message received[RECEIVES];
static struct dgram_link the_link;
static struct dgram_peer peer;
static struct dgram dgram;
static struct ibv_ah ah;
static int other; /* the peer's UDP socket */

static struct {
	struct ibv_wc wc[RECEIVES];
	int wc_count, polls, polls_before; /* empty polls of the CQ before the first completion */
	int reposted, repost, armed, arm_error, woken, events_left, cm_events;
	int sent, sleeps, slept_ms, sleep_error, set_up_error, peer_error, send_error;
	bool arrives_in_sleep;
	size_t sent_size;
	uint32_t found_qpn;
	int found;
	int64_t now_us;
} it;

int rdmacm_dgram_link_post_receive(struct dgram_link *link, unsigned int index)
{
	assert_ptr_equal(link, &the_link);
	it.repost = (int)index;
	it.reposted++;
	return 0;
}

unsigned int rdmacm_dgram_link_index(const struct dgram_link *link,
				     const struct dgram_message *message)
{
	return (unsigned int)(message - link->received);
}

uint8_t *rdmacm_dgram_link_send_buffer(const struct dgram_link *link)
{
	return link->memory + RECEIVES * DGRAM_BUFFER;
}

int rdmacm_dgram_link_post_send(struct dgram_link *link, struct dgram_peer *to, size_t size)
{
	assert_ptr_equal(link, &the_link);
	assert_ptr_equal(to, &peer);
	assert_int_equal(to->senders, 1);
	it.sent++;
	it.sent_size = size;
	return it.send_error;
}

int rdmacm_dgram_peer_get(struct dgram *of, const struct sockaddr_storage *addr,
			  struct dgram_peer **out)
{
	assert_ptr_equal(of, &dgram);
	assert_true(rdmacm_dgram_same_address(addr, &peer.addr));
	if (!it.peer_error)
		*out = &peer;
	return it.peer_error;
}

void rdmacm_dgram_peer_found(struct dgram *of, struct dgram_peer *one, uint32_t qpn)
{
	assert_ptr_equal(of, &dgram);
	assert_ptr_equal(one, &peer);
	it.found++;
	it.found_qpn = qpn;
}

bool rdmacm_dgram_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *one = (const struct sockaddr_in *)a;
	const struct sockaddr_in *two = (const struct sockaddr_in *)b;

	return one->sin_port == two->sin_port && one->sin_addr.s_addr == two->sin_addr.s_addr;
}

void rdmacm_dgram_complete_address(struct sockaddr_storage *addr, const struct dgram_link *link)
{
	(void)addr;
	assert_ptr_equal(link, &the_link);
}

int rdmacm_dgram_set_up(struct dgram *of)
{
	assert_ptr_equal(of, &dgram);
	return it.set_up_error;
}

int rdmacm_dgram_channel_fd(const struct dgram *of)
{
	(void)of;
	return -1;
}

bool rdmacm_dgram_cm_events(struct dgram *of)
{
	(void)of;
	it.cm_events++;
	return true;
}

struct cm_renewal rdmacm_dgram_renewal(struct dgram *of)
{
	(void)of;
	return (struct cm_renewal){ .fd = 1 };
}

const struct cm_renewal *rdmacm_cmd_set_renewal(const struct cm_renewal *renewal)
{
	static const struct cm_renewal *now;
	const struct cm_renewal *before = now;

	now = renewal;
	return before;
}

socklen_t rdmacm_addr_len(const struct sockaddr *addr)
{
	(void)addr;
	return sizeof(struct sockaddr_in);
}

/* Advances the clock by a microsecond with each call. */
int64_t rdmacm_rs_now_us(void)
{
	return it.now_us++;
}

int64_t rdmacm_rs_limit_over(int64_t limit_us)
{
	return limit_us ? it.now_us + limit_us : -1;
}

int rdmacm_rs_sleep_limit(int64_t deadline_us)
{
	return deadline_us < 0 ? 1000 : (int)(deadline_us - it.now_us);
}

const struct rs_defaults *rdmacm_rs_defaults(void)
{
	static const struct rs_defaults defaults = { .polling_us = POLLING_US };

	return &defaults;
}

void rdmacm_rs_wake(struct rs_waiters *waiters)
{
	assert_ptr_equal(waiters, &dgram.rs.waiters);
	it.woken++;
}

static void message_comes(void)
{
	uint8_t *bytes = memory + DGRAM_BUFFER - DGRAM_MAX_MESSAGE;
	const size_t head = rdmacm_dgram_data_pack(bytes, &peer.addr);

	memcpy(bytes + head, "abcd", 4);
	it.wc[0] = (struct ibv_wc){ .wr_id = 0,
				    .status = IBV_WC_SUCCESS,
				    .byte_len = (uint32_t)(GRH + head + 4) };
	it.wc_count = 1;
}

int rdmacm_rs_sleep_unlocked(struct rs *rs, struct pollfd *fds, int count, int timeout_ms)
{
	assert_ptr_equal(rs, &dgram.rs);
	assert_false(cm_lock_try(&rs->lock));
	assert_int_equal(fds[0].fd, dgram.rs.fd);
	if (count > 1) {
		assert_int_equal(count, 3);
		assert_int_equal(fds[2].fd, completions.fd);
		assert_true(the_link.is_armed);
	}
	it.sleeps++;
	it.slept_ms = timeout_ms;
	it.now_us += timeout_ms;
	if (it.arrives_in_sleep) {
		message_comes();
		it.events_left = 1;
	}
	return it.sleep_error;
}

static int poll_cq(struct ibv_cq *of, int room, struct ibv_wc *wc)
{
	const int count = it.wc_count;

	assert_ptr_equal(of, &cq);
	assert_true(room >= count);
	if (it.polls++ < it.polls_before)
		return 0;
	memcpy(wc, it.wc, (size_t)count * sizeof(*wc));
	it.wc_count = 0;
	return count;
}

static int notify_cq(struct ibv_cq *of, int solicited_only)
{
	assert_ptr_equal(of, &cq);
	assert_int_equal(solicited_only, 0);
	it.armed++;
	return it.arm_error;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **of, void **cq_context)
{
	assert_ptr_equal(channel, &completions);
	*of = &cq;
	*cq_context = NULL;
	return it.events_left-- > 0 ? 0 : -1;
}

static int bound_socket(struct sockaddr_storage *name)
{
	struct sockaddr_in *in = (struct sockaddr_in *)name;
	socklen_t len = sizeof(*in);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*name = (struct sockaddr_storage){ 0 };
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)in, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)in, &len), 0);
	return fd;
}

static int dgram_begin(void **state)
{
	struct sockaddr_storage name;

	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&dgram, 0, sizeof(dgram));
	memset(&peer, 0, sizeof(peer));
	context.ops.poll_cq = poll_cq;
	context.ops.req_notify_cq = notify_cq;
	completions.fd = 700;
	the_link = (struct dgram_link){ .id = &id,
					.completions = &completions,
					.cq = &cq,
					.memory = memory,
					.received = received,
					.receives = RECEIVES,
					.sends = SENDS,
					.max_message = DGRAM_MAX_MESSAGE };
	for (int i = 0; i < RECEIVES; i++)
		received[i] = (struct dgram_message){ .link = &the_link };
	dgram.rs.fd = bound_socket(&name);
	dgram.rs.domain = AF_INET;
	the_link.local = name;
	((struct sockaddr_in *)&the_link.local)->sin_port = 0;
	STAILQ_INIT(&dgram.messages);
	LIST_INSERT_HEAD(&dgram.links, &the_link, entry);
	other = bound_socket(&peer.addr);
	peer.link = &the_link;
	return 0;
}

static int dgram_end(void **state)
{
	(void)state;
	while (!STAILQ_EMPTY(&dgram.messages))
		rdmacm_dgram_message_done(&dgram, STAILQ_FIRST(&dgram.messages));
	assert_int_equal(dgram.by_udp, 0);
	assert_int_equal(peer.senders, 0);
	assert_true(cm_lock_try(&dgram.rs.lock));
	return close(dgram.rs.fd) | close(other);
}

static int datagram_receive(char *bytes, size_t room, int flags, size_t *done)
{
	struct iovec buffer = { bytes, room };
	struct span span;

	memset(bytes, 0, room);
	*done = 0;
	assert_int_equal(span_of_buffer(&span, &buffer), 0);
	return rdmacm_dgram_receive(&dgram.rs, &span, &flags, NULL, done);
}

static int send_bytes(size_t size, int flags, const void *to, socklen_t len)
{
	static char bytes[DGRAM_MAX_MESSAGE + 1];
	struct iovec buffer = { bytes, size };
	struct span span;
	size_t done = 99;
	int ret;

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(span_of_buffer(&span, &buffer), 0);
	ret = rdmacm_dgram_send(&dgram.rs, &span, flags, to, len, &done);
	assert_int_equal(done, ret ? 0 : size);
	return ret;
}

static int send_to_peer(size_t size, int flags)
{
	return send_bytes(size, flags, &peer.addr, sizeof(struct sockaddr_in));
}

static void a_message_is_handed_over_once(void **state)
{
	char bytes[8];
	size_t done;

	(void)state;
	message_comes();
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), MSG_PEEK, &done), 0);
	assert_int_equal(done, 4);
	assert_int_equal(it.reposted, 0);
	assert_int_equal(datagram_receive(bytes, 3, 0, &done), 0);
	assert_int_equal(done, 3);
	assert_memory_equal(bytes, "abc", 3);
	assert_int_equal(it.reposted, 1);
	assert_int_equal(dgram.rs.arrivals, 1);
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), MSG_DONTWAIT, &done), EAGAIN);
	assert_int_equal(dgram.rs.found_empty, 1);
	assert_int_equal(it.sleeps, 0);
}

static void a_message_that_does_not_fit_says_so(void **state)
{
	static const struct {
		size_t room;
		int flags, want_flags;
		size_t want;
	} rows[] = { { 3, 0, MSG_TRUNC, 3 },
		     { 3, MSG_TRUNC, MSG_TRUNC, 4 },
		     { 4, 0, 0, 4 },
		     { 5, MSG_TRUNC, 0, 4 } };
	char bytes[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct iovec buffer = { bytes, rows[i].room };
		struct sockaddr_storage from;
		int flags = rows[i].flags;
		struct span span;
		size_t done;

		message_comes();
		assert_int_equal(span_of_buffer(&span, &buffer), 0);
		assert_int_equal(rdmacm_dgram_receive(&dgram.rs, &span, &flags, &from, &done), 0);
		assert_int_equal(done, rows[i].want);
		assert_int_equal(flags, rows[i].want_flags);
		assert_true(rdmacm_dgram_same_address(&from, &peer.addr));
	}
}

static void a_packet_that_is_no_message_is_received_over(void **state)
{
	struct dgram_peer friend = { .addr = peer.addr };

	(void)state;
	message_comes();
	it.wc[0].byte_len = GRH - 1;
	rdmacm_dgram_progress(&dgram, false);
	message_comes();
	it.wc[0].byte_len = GRH + DGRAM_MAX_MESSAGE + 1;
	rdmacm_dgram_progress(&dgram, false);
	((struct sockaddr_in *)&friend.addr)->sin_port ^= 1;
	dgram.connected = &friend;
	message_comes();
	rdmacm_dgram_progress(&dgram, false);
	assert_int_equal(it.reposted, 3);
	assert_true(STAILQ_EMPTY(&dgram.messages));
	friend.addr = peer.addr;
	message_comes();
	rdmacm_dgram_progress(&dgram, false);
	assert_false(STAILQ_EMPTY(&dgram.messages));
	dgram_end(NULL);
	dgram_begin(NULL);
}

static void completions_of_sends_make_room(void **state)
{
	char bytes[4];
	size_t done;

	(void)state;
	it.wc[0] = (struct ibv_wc){ .wr_id = RECEIVES, .status = IBV_WC_SUCCESS };
	it.wc[1] = (struct ibv_wc){ .wr_id = 1, .status = IBV_WC_WR_FLUSH_ERR };
	it.wc[2] = (struct ibv_wc){ .wr_id = RECEIVES + 1, .status = IBV_WC_GENERAL_ERR };
	it.wc_count = 3;
	assert_true(rdmacm_dgram_progress(&dgram, false));
	assert_int_equal(the_link.sq_done, 2);
	assert_int_equal(it.woken, 1);
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), EIO);
	assert_int_equal(dgram.error, 0); /* reported once */
	assert_false(rdmacm_dgram_progress(&dgram, false));
}

static void a_shut_socket_has_no_bytes(void **state)
{
	char bytes[4];
	size_t done;

	(void)state;
	dgram.read_shut = true;
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), 0);
	assert_int_equal(done, 0);
}

/* Polls for a while before it sleeps, as that may avoid an interrupt. */
static void a_wait_begins_with_polling(void **state)
{
	char bytes[4];
	size_t done;

	(void)state;
	message_comes();
	it.polls_before = 4;
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), 0);
	assert_int_equal(it.polls, 5);
	assert_int_equal(it.armed, 0);
	assert_int_equal(it.sleeps, 0);
	assert_int_equal(dgram.rs.spin.skip, 0);
}

static void a_wait_sleeps_until_a_message_comes(void **state)
{
	char bytes[4];
	size_t done;

	(void)state;
	it.arrives_in_sleep = true;
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), 0);
	assert_int_equal(done, 4);
	assert_int_equal(it.sleeps, 1);
	assert_int_equal(it.armed, 1);
	assert_false(the_link.is_armed); /* its event was consumed */
	assert_int_equal(the_link.events, 1);
	assert_int_equal(dgram.rs.spin.skip, 1); /* the polling found nothing */
	assert_int_equal(dgram.rs.spin.left, 1);
	it.polls_before = it.polls + 1;
	message_comes();
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), 0);
	assert_int_equal(dgram.rs.spin.left, 0); /* skipped: a message came while it armed */
	assert_int_equal(it.sleeps, 1);
	assert_int_equal(it.armed, 2);
}

static void a_wait_ends_with_its_limit_or_a_signal(void **state)
{
	char bytes[4];
	size_t done;

	(void)state;
	dgram.rs.options.receive_limit_us = 500;
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), EAGAIN);
	assert_int_equal(it.sleeps, 1);
	assert_true(it.now_us >= 500 && it.now_us < 600);
	dgram.rs.options.receive_limit_us = 0;
	it.sleep_error = EINTR;
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), EINTR);
	assert_int_equal(it.sleeps, 2);
	it.arm_error = REFUSED;
	the_link.is_armed = false;
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), EIO);
}

static void poll_says_what_is_there(void **state)
{
	const short in = POLLIN | POLLRDNORM, out = POLLOUT | POLLWRNORM;
	const short all = in | out | POLLRDHUP;

	(void)state;
	assert_int_equal(rdmacm_dgram_poll(&dgram.rs, all, false), out);
	assert_int_equal(it.armed, 0);
	message_comes();
	it.polls_before = it.polls + 1; /* found after arming, so the polling counts as useful */
	assert_int_equal(rdmacm_dgram_poll(&dgram.rs, POLLIN, true), POLLIN);
	assert_true(the_link.is_armed);
	assert_int_equal(it.armed, 1);
	dgram.connected = &peer;
	the_link.sq_put = the_link.sq_done + SENDS;
	assert_int_equal(rdmacm_dgram_poll(&dgram.rs, all, false), in);
	dgram.read_shut = true;
	assert_int_equal(rdmacm_dgram_poll(&dgram.rs, POLLRDHUP, false), POLLRDHUP);
	dgram.write_shut = true;
	assert_int_equal(rdmacm_dgram_poll(&dgram.rs, 0, false), POLLHUP);
	dgram.error = REFUSED;
	assert_int_equal(rdmacm_dgram_poll(&dgram.rs, 0, false), POLLHUP | POLLERR);
	dgram.connected = NULL;
}

static void a_woken_poll_takes_the_event(void **state)
{
	(void)state;
	the_link.is_armed = true;
	it.events_left = 1;
	message_comes();
	rdmacm_dgram_woken(&dgram.rs, NULL, 0);
	assert_false(the_link.is_armed);
	assert_int_equal(the_link.events, 1);
	assert_false(STAILQ_EMPTY(&dgram.messages));
	/* consumes no event of an unarmed CQ, as there is none */
	rdmacm_dgram_woken(&dgram.rs, NULL, 0);
	assert_int_equal(the_link.events, 1);
	the_link.is_armed = true;
	it.events_left = 1;
	it.woken = 0;
	/* other sleepers must arm the CQ again */
	rdmacm_dgram_woken(&dgram.rs, NULL, 0);
	assert_int_equal(it.woken, 1);
	rdmacm_dgram_woken(&dgram.rs, NULL, 0);
	assert_int_equal(it.woken, 1);
}

static void control_send(enum dgram_control op, const char *data, int cut)
{
	struct sockaddr_storage name = { 0 };
	socklen_t len = sizeof(struct sockaddr_in);
	struct pollfd fd = { .fd = dgram.rs.fd, .events = POLLIN };
	uint8_t bytes[64];
	size_t size = rdmacm_dgram_control_pack(bytes, op, PEER_QPN, &peer.addr);

	memcpy(bytes + size, data, strlen(data));
	size += strlen(data) - (size_t)cut;
	assert_int_equal(getsockname(dgram.rs.fd, (struct sockaddr *)&name, &len), 0);
	assert_int_equal(sendto(other, bytes, size, 0, (struct sockaddr *)&name, len), size);
	assert_int_equal(poll(&fd, 1, 5000), 1);
}

/* Returns the operation of the control message that the peer receives, or -1 for none. */
static int answer_of_socket(const char *data)
{
	struct sockaddr_storage from;
	uint8_t bytes[2 * DGRAM_MAX_MESSAGE], op;
	uint32_t qpn;
	socklen_t len = sizeof(from);
	ssize_t size =
		recvfrom(other, bytes, sizeof(bytes), MSG_DONTWAIT, (struct sockaddr *)&from, &len);
	size_t head;

	if (size < 0)
		return -1;
	head = rdmacm_dgram_control_unpack(bytes, (size_t)size, &op, &qpn);
	assert_true(head > 0);
	assert_int_equal(qpn, QPN);
	assert_int_equal((size_t)size - head, strlen(data));
	assert_memory_equal(bytes + head, data, strlen(data));
	return op;
}

static void data_by_udp_is_queued_and_answered(void **state)
{
	char bytes[4];
	int unread;
	size_t done;

	(void)state;
	control_send(CONTROL_DATA, "xyz", 0);
	assert_int_equal(rdmacm_dgram_unread(&dgram.rs, &unread), 0);
	assert_int_equal(unread, 3);
	assert_int_equal(dgram.by_udp, 1);
	assert_int_equal(it.found, 1);
	assert_int_equal(it.found_qpn, PEER_QPN);
	assert_int_equal(answer_of_socket(""), CONTROL_ANSWER);
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), 0);
	assert_memory_equal(bytes, "xyz", 3);
	assert_int_equal(rdmacm_dgram_unread(&dgram.rs, &unread), 0);
	assert_int_equal(unread, 0);
	it.peer_error = ENODEV; /* a sender that no device reaches */
	control_send(CONTROL_DATA, "xyz", 0);
	assert_int_equal(datagram_receive(bytes, sizeof(bytes), 0, &done), 0);
	assert_int_equal(done, 3);
	assert_int_equal(answer_of_socket(""), -1);
}

static void an_answer_by_udp_is_no_message(void **state)
{
	(void)state;
	control_send(CONTROL_ANSWER, "", 0);
	assert_true(rdmacm_dgram_progress(&dgram, true));
	assert_int_equal(it.found, 1);
	control_send((enum dgram_control)3, "", 0);
	assert_true(rdmacm_dgram_progress(&dgram, true));
	control_send(CONTROL_DATA, "", 1); /* a truncated message */
	assert_true(rdmacm_dgram_progress(&dgram, true));
	assert_int_equal(it.found, 1);
	assert_true(STAILQ_EMPTY(&dgram.messages));
	assert_int_equal(answer_of_socket(""), -1);
	assert_int_equal(dgram.error, 0);
}

/* The socket looks at UDP at intervals, since each look is a system call, and not while many UDP
 * messages wait for readers, which would fill memory. */
static void udp_waits_for_its_time_and_for_readers(void **state)
{
	(void)state;
	assert_false(rdmacm_dgram_progress(&dgram, true));
	control_send(CONTROL_DATA, "x", 0);
	assert_false(rdmacm_dgram_progress(&dgram, false));
	it.now_us += LOOK_US;
	assert_true(rdmacm_dgram_progress(&dgram, false));
	control_send(CONTROL_DATA, "x", 0);
	dgram.by_udp += UDP_WAITING - 1;
	assert_false(rdmacm_dgram_progress(&dgram, true));
	dgram.by_udp -= UDP_WAITING - 1;
	assert_true(rdmacm_dgram_progress(&dgram, true));
	assert_int_equal(dgram.by_udp, 2);
}

static void a_send_is_refused_for_its_address(void **state)
{
	struct sockaddr_storage to = peer.addr;
	struct sockaddr_in *in = (struct sockaddr_in *)&to;

	(void)state;
	assert_int_equal(send_bytes(1, 0, NULL, 0), EDESTADDRREQ);
	assert_int_equal(send_bytes(1, 0, &to, 1), EINVAL);
	assert_int_equal(send_bytes(1, 0, &to, sizeof(*in) - 1), EINVAL);
	in->sin_port = 0;
	assert_int_equal(send_bytes(1, 0, &to, sizeof(*in)), EINVAL);
	in->sin_family = AF_INET6;
	assert_int_equal(send_bytes(1, 0, &to, sizeof(to)), EAFNOSUPPORT);
	it.peer_error = REFUSED;
	assert_int_equal(send_to_peer(1, 0), REFUSED);
	it.set_up_error = ENODEV;
	assert_int_equal(send_to_peer(1, 0), ENODEV);
	dgram.write_shut = true;
	assert_int_equal(send_to_peer(1, 0), EPIPE);
	assert_int_equal(it.sent, 0);
	assert_int_equal(answer_of_socket(""), -1);
}

static void a_message_goes_by_udp_until_both_know_each_other(void **state)
{
	const size_t head = rdmacm_dgram_data_size(AF_INET), most = DGRAM_MAX_MESSAGE - head;

	(void)state;
	assert_int_equal(send_to_peer(2, 0), 0);
	assert_int_equal(answer_of_socket("xx"), CONTROL_DATA);
	peer.ah = &ah;
	assert_int_equal(send_to_peer(2, 0), 0);
	assert_int_equal(answer_of_socket("xx"), CONTROL_DATA);
	peer.qpn = PEER_QPN;
	dgram.connected = &peer;
	assert_int_equal(send_bytes(2, 0, NULL, 0), 0);
	assert_int_equal(it.sent, 1);
	assert_int_equal(it.sent_size, head + 2);
	assert_int_equal(send_to_peer(most, 0), 0);
	assert_int_equal(it.sent, 2);
	assert_int_equal(send_to_peer(most + 1, 0), EMSGSIZE);
	assert_int_equal(answer_of_socket(""), -1);
	the_link.max_message = (uint32_t)head + 1;
	assert_int_equal(send_to_peer(1, 0), 0);
	assert_int_equal(it.sent, 3);
	assert_int_equal(send_to_peer(2, 0), 0); /* longer than the link's MTU */
	assert_int_equal(it.sent, 3);
	assert_int_equal(answer_of_socket("xx"), CONTROL_DATA);
	dgram.connected = NULL;
}

static void a_message_by_ud_begins_with_the_senders_name(void **state)
{
	struct sockaddr_storage from = { 0 }, name = { 0 };
	const uint8_t *bytes = rdmacm_dgram_link_send_buffer(&the_link);
	socklen_t len = sizeof(struct sockaddr_in);

	(void)state;
	peer.ah = &ah;
	peer.qpn = PEER_QPN;
	assert_int_equal(send_to_peer(2, 0), 0);
	assert_int_equal(getsockname(dgram.rs.fd, (struct sockaddr *)&name, &len), 0);
	assert_int_equal(rdmacm_dgram_data_unpack(bytes, it.sent_size, &from), it.sent_size - 2);
	assert_true(rdmacm_dgram_same_address(&from, &name));
	assert_memory_equal(bytes + it.sent_size - 2, "xx", 2);
}

static void a_send_waits_for_room_in_the_queue(void **state)
{
	(void)state;
	peer.ah = &ah;
	peer.qpn = PEER_QPN;
	the_link.sq_put = SENDS;
	assert_int_equal(send_to_peer(1, MSG_DONTWAIT), EAGAIN);
	assert_int_equal(dgram.rs.found_full, 1);
	dgram.rs.options.send_limit_us = 500;
	assert_int_equal(send_to_peer(1, 0), EAGAIN);
	assert_int_equal(it.sleeps, 1);
	it.wc[0] = (struct ibv_wc){ .wr_id = RECEIVES, .status = IBV_WC_SUCCESS };
	it.wc_count = 1;
	it.polls_before = it.polls + 3;
	assert_int_equal(send_to_peer(1, 0), 0);
	assert_int_equal(it.sent, 1);
	it.send_error = REFUSED;
	assert_int_equal(send_to_peer(1, 0), REFUSED);
	dgram.error = EIO;
	assert_int_equal(send_to_peer(1, 0), EIO);
	assert_int_equal(dgram.error, 0);
}

#define IO_TEST(name) cmocka_unit_test_setup_teardown(name, dgram_begin, dgram_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IO_TEST(a_message_is_handed_over_once),
		IO_TEST(a_message_that_does_not_fit_says_so),
		IO_TEST(a_packet_that_is_no_message_is_received_over),
		IO_TEST(completions_of_sends_make_room),
		IO_TEST(a_shut_socket_has_no_bytes),
		IO_TEST(a_wait_begins_with_polling),
		IO_TEST(a_wait_sleeps_until_a_message_comes),
		IO_TEST(a_wait_ends_with_its_limit_or_a_signal),
		IO_TEST(poll_says_what_is_there),
		IO_TEST(a_woken_poll_takes_the_event),
		IO_TEST(data_by_udp_is_queued_and_answered),
		IO_TEST(an_answer_by_udp_is_no_message),
		IO_TEST(udp_waits_for_its_time_and_for_readers),
		IO_TEST(a_send_is_refused_for_its_address),
		IO_TEST(a_message_goes_by_udp_until_both_know_each_other),
		IO_TEST(a_message_by_ud_begins_with_the_senders_name),
		IO_TEST(a_send_waits_for_room_in_the_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
