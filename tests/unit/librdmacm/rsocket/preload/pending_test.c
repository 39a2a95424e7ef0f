/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pending_test.c - connections that stay TCP until their first use, as programs that fork need:
 * when the accepting side answers with an rsocket, how the connecting side handles the marker, and
 * cleanup after failed calls. TCP is the system's; plain files replace rsockets.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "librdmacm/rsocket/preload/pending.c"

enum { REFUSED = EDOM, ROOM = 4, FD_READY = 1, TCP_READY = 2, HANG_SECONDS = 5 };

__thread unsigned int preload_inside;

static int ends[2]; /* TCP connection: accepted, connected */
static struct sockaddr_in accepted_name;

static struct {
	enum pending marks[1024];
	int rsocket_error, bind_error, bind_errors_left, listen_error, accept_error, connect_error;
	int poll_errors[ROOM], polls, ready; /* results of rpoll() */
	int open_rsockets, last_rsocket, copied_to, copy_error, carried;
	int listed[ROOM], listed_count, lists;
	bool sends_word_when_listed;
	struct sockaddr_in bound, connected;
} it;

static int rsocket_made(void)
{
	it.last_rsocket = open("/dev/null", O_RDWR | O_CLOEXEC);
	it.open_rsockets++;
	return it.last_rsocket;
}

static int failed_with(int error)
{
	errno = error;
	return error ? -1 : 0;
}

int preload_rsocket(int domain, int type, int protocol)
{
	assert_int_equal(domain, AF_INET);
	assert_int_equal(type, SOCK_STREAM);
	assert_int_equal(protocol, 0);
	assert_int_equal(preload_inside, 1);
	return it.rsocket_error ? failed_with(it.rsocket_error) : rsocket_made();
}

int rsocket(int domain, int type, int protocol)
{
	(void)domain, (void)type, (void)protocol;
	return it.rsocket_error ? failed_with(it.rsocket_error) : rsocket_made();
}

int rclose(int socket)
{
	it.open_rsockets--;
	return close(socket);
}

int rbind(int socket, const struct sockaddr *addr, socklen_t len)
{
	assert_int_equal(socket, it.last_rsocket);
	assert_int_equal(len, sizeof(it.bound));
	memcpy(&it.bound, addr, len);
	return failed_with(it.bind_errors_left-- > 0 ? it.bind_error : 0);
}

int rlisten(int socket, int backlog)
{
	assert_int_equal(socket, it.last_rsocket);
	assert_int_equal(backlog, 1);
	return failed_with(it.listen_error);
}

int rpoll(struct pollfd *fds, nfds_t count, int timeout)
{
	assert_int_equal(count, 2);
	assert_int_equal(fds[0].fd, it.last_rsocket);
	assert_int_equal(fds[1].fd, ends[0]);
	assert_int_equal(timeout, ANSWER_MS);
	if (it.poll_errors[it.polls++])
		return failed_with(it.poll_errors[it.polls - 1]);
	fds[0].revents = it.ready & FD_READY ? POLLIN : 0;
	fds[1].revents = it.ready & TCP_READY ? POLLRDHUP : 0;
	return 1;
}

int raccept(int socket, struct sockaddr *addr, socklen_t *len)
{
	assert_null(addr);
	assert_null(len);
	assert_int_equal(socket, it.last_rsocket);
	return it.accept_error ? failed_with(it.accept_error) : rsocket_made();
}

int rconnect(int socket, const struct sockaddr *addr, socklen_t len)
{
	assert_int_equal(socket, it.last_rsocket);
	assert_int_equal(len, sizeof(it.connected));
	memcpy(&it.connected, addr, len);
	return failed_with(it.connect_error);
}

int rsetsockopt(int socket, int level, int name, const void *value, socklen_t len)
{
	(void)socket, (void)level, (void)name, (void)value, (void)len;
	return 0;
}

void preload_carry_options(int from, preload_get_option *get, int to, preload_set_option *set)
{
	assert_true(from == ends[0] || from == ends[1]);
	assert_int_equal(to, it.last_rsocket);
	assert_ptr_equal(get, getsockopt);
	assert_ptr_equal(set, rsetsockopt);
	it.carried++;
}

int preload_file(int flags)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

int preload_add_copy(int fd, int rsocket)
{
	it.copied_to = fd;
	assert_int_equal(rsocket, it.last_rsocket);
	return it.copy_error;
}

enum pending preload_pending(int fd)
{
	return it.marks[fd];
}

void preload_mark(int fd, enum pending pending)
{
	it.marks[fd] = pending;
}

int preload_find_synced(int fd)
{
	return fd + 1000;
}

static void word_send(int end, int bytes)
{
	const char zeros[4] = { 0 };
	struct pollfd other = { .fd = ends[1 - end], .events = POLLIN };

	assert_int_equal(send(ends[end], zeros, (size_t)bytes, 0), bytes);
	assert_int_equal(poll(&other, 1, HANG_SECONDS * 1000), 1);
}

int preload_list_pending(enum pending pending, int *fds, int room)
{
	assert_int_equal(pending, PENDING_ASKING);
	assert_int_equal(room, MOST_AT_ONCE);
	memcpy(fds, it.listed, (size_t)it.listed_count * sizeof(*fds));
	if (it.lists++ && it.sends_word_when_listed)
		word_send(0, 4);
	return it.listed_count;
}

static int connection_begin(void **state)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	memset(&it, 0, sizeof(it));
	it.copied_to = -1;
	it.ready = FD_READY;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&addr, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&addr, &len))
		return -1;
	accepted_name = addr;
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(ends[1], (struct sockaddr *)&addr, len))
		return -1;
	ends[0] = accept(listener, NULL, NULL);
	it.marks[ends[0]] = PENDING_ASKED;
	it.marks[ends[1]] = PENDING_ASKING;
	return close(listener) || ends[0] < 0;
}

/* Checks that locks are free, and that each open rsocket has a number. */
static int connection_end(void **state)
{
	(void)state;
	assert_int_equal(pthread_mutex_trylock(&asked_lock), 0);
	assert_int_equal(pthread_mutex_trylock(&asking_lock), 0);
	pthread_mutex_unlock(&asked_lock);
	pthread_mutex_unlock(&asking_lock);
	assert_int_equal(preload_inside, 0);
	assert_int_equal(it.open_rsockets, it.copied_to >= 0 && !it.copy_error);
	if (it.open_rsockets)
		rclose(it.last_rsocket);
	return close(ends[0]) | close(ends[1]);
}

/* Returns the number of the peer's bytes, 0 at the end of the connection. */
static ssize_t bytes_at(int end)
{
	char bytes[16];

	return recv(ends[end], bytes, sizeof(bytes), 0);
}

static void a_new_connection_is_answered_by_an_rsocket(void **state)
{
	(void)state;
	assert_int_equal(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(preload_use(ends[0], 0), ends[0] + 1000);
	assert_int_equal(it.marks[ends[0]], PENDING_NOT);
	assert_int_equal(it.bound.sin_port, accepted_name.sin_port);
	assert_int_equal(it.bound.sin_addr.s_addr, accepted_name.sin_addr.s_addr);
	assert_int_equal(it.copied_to, ends[0]);
	assert_int_equal(it.carried, 1);
	assert_int_equal(fcntl(ends[0], F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	assert_int_equal(bytes_at(1), 4); /* the marker, then the end of TCP */
	assert_int_equal(bytes_at(1), 0);
}

static void a_number_that_waits_and_is_inherited_stays_so(void **state)
{
	(void)state;
	assert_int_equal(preload_use(ends[0], 0), ends[0] + 1000);
	assert_int_equal(fcntl(ends[0], F_GETFD), 0);
	assert_false(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
}

static void a_peer_that_speaks_first_stays_with_tcp(void **state)
{
	(void)state;
	word_send(1, 1);
	assert_int_equal(preload_use(ends[0], 0), ends[0] + 1000);
	assert_int_equal(it.marks[ends[0]], PENDING_NOT);
	assert_int_equal(it.copied_to, -1);
	assert_int_equal(bytes_at(0), 1);
}

static void processes_take_turns_with_the_port(void **state)
{
	(void)state;
	it.bind_error = EADDRINUSE;
	it.bind_errors_left = 3;
	assert_int_equal(preload_use(ends[0], 0), ends[0] + 1000);
	assert_int_equal(it.bind_errors_left, -1);
	assert_int_equal(it.copied_to, ends[0]);
}

static void the_loopback_is_taken_as_any_address(void **state)
{
	struct sockaddr_storage addr = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&addr;

	(void)state;
	*v4 = accepted_name;
	assert_true(is_taken(&addr, EADDRINUSE));
	assert_true(is_taken(&addr, EADDRNOTAVAIL));
	assert_false(is_taken(&addr, 0) || is_taken(&addr, EACCES));
	v4->sin_addr.s_addr = htonl(0x0a7f0001);
	assert_false(is_taken(&addr, EADDRNOTAVAIL));
	assert_true(is_taken(&addr, EADDRINUSE));
	*v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	assert_true(is_taken(&addr, EADDRNOTAVAIL));
	v6->sin6_addr.s6_addr[0] = 0x20;
	assert_false(is_taken(&addr, EADDRNOTAVAIL));
}

/* The program gets an error, the peer an end of file, and nothing stays open. */
static void use_fails_with(int end, int error)
{
	assert_int_equal(preload_use(ends[end], 0), PRELOAD_FAILED);
	assert_int_equal(errno, error);
	assert_int_equal(it.marks[ends[end]], PENDING_NOT);
	assert_int_equal(it.open_rsockets, 0);
	while (bytes_at(1 - end) > 0)
		;
	connection_end(NULL);
	connection_begin(NULL);
}

static void an_answer_that_fails_ends_the_connection(void **state)
{
	(void)state;
	it.rsocket_error = REFUSED;
	use_fails_with(0, REFUSED);
	it.bind_error = EACCES;
	it.bind_errors_left = 1;
	use_fails_with(0, EACCES);
	it.listen_error = REFUSED;
	use_fails_with(0, REFUSED);
	it.poll_errors[0] = REFUSED;
	use_fails_with(0, REFUSED);
	it.ready = TCP_READY;
	use_fails_with(0, ECONNRESET);
	it.ready = 0;
	use_fails_with(0, ETIMEDOUT);
	it.accept_error = REFUSED;
	use_fails_with(0, REFUSED);
	it.copy_error = REFUSED;
	use_fails_with(0, REFUSED);
}

/* A closed peer ends the exchange, even if this process would be next in turn. */
static void a_peer_that_has_gone_ends_the_turns(void **state)
{
	struct pollfd end = { .fd = ends[0], .events = POLLRDHUP };
	int socket = -1;

	(void)state;
	it.bind_error = EADDRINUSE;
	it.bind_errors_left = 1 << 20;
	shutdown(ends[1], SHUT_WR);
	assert_int_equal(poll(&end, 1, HANG_SECONDS * 1000), 1);
	preload_inside = 1;
	assert_int_equal(listen_for(ends[0], &socket), ECONNRESET);
	preload_inside = 0;
	assert_int_equal(socket, -1);
}

static void a_signal_does_not_end_the_answer(void **state)
{
	(void)state;
	it.poll_errors[0] = it.poll_errors[1] = EINTR;
	assert_int_equal(preload_use(ends[0], 0), ends[0] + 1000);
	assert_int_equal(it.polls, 3);
	assert_int_equal(it.copied_to, ends[0]);
}

static void without_the_word_there_is_nothing_yet(void **state)
{
	(void)state;
	for (int bytes = 0; bytes < 4; bytes++) {
		if (bytes)
			word_send(0, 1);
		while (recv(ends[1], &(char[4]){ 0 }, 4, MSG_PEEK | MSG_DONTWAIT) < bytes && bytes)
			;
		assert_int_equal(preload_use(ends[1], MSG_DONTWAIT), PRELOAD_FAILED);
		assert_int_equal(errno, EAGAIN);
		assert_int_equal(it.marks[ends[1]], PENDING_ASKING);
		assert_int_equal(it.open_rsockets, 0);
	}
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(preload_use(ends[1], 0), PRELOAD_FAILED);
	assert_int_equal(errno, EAGAIN);
}

static void the_word_is_followed_by_an_rsocket(void **state)
{
	(void)state;
	word_send(0, 4);
	assert_int_equal(preload_use(ends[1], MSG_DONTWAIT), ends[1] + 1000);
	assert_int_equal(it.marks[ends[1]], PENDING_NOT);
	assert_int_equal(it.connected.sin_port, accepted_name.sin_port);
	assert_int_equal(it.copied_to, ends[1]);
	assert_int_equal(bytes_at(0), 0);
}

static void other_bytes_and_an_end_are_the_programs(void **state)
{
	static const char *const others[] = { "x", "\0\0\0x", "abcd" };
	static const int sizes[] = { 1, 4, 4 };
	struct pollfd connected = { .events = POLLIN };

	(void)state;
	for (size_t i = 0; i <= sizeof(sizes) / sizeof(sizes[0]); i++) {
		const bool is_end = i == sizeof(sizes) / sizeof(sizes[0]);

		if (is_end)
			shutdown(ends[0], SHUT_WR);
		else
			assert_int_equal(send(ends[0], others[i], (size_t)sizes[i], 0), sizes[i]);
		connected.fd = ends[1];
		assert_int_equal(poll(&connected, 1, HANG_SECONDS * 1000), 1);
		assert_int_equal(preload_use(ends[1], MSG_DONTWAIT), ends[1] + 1000);
		assert_int_equal(it.marks[ends[1]], PENDING_NOT);
		assert_int_equal(it.copied_to, -1);
		assert_int_equal(bytes_at(1), is_end ? 0 : sizes[i]);
		connection_end(state);
		connection_begin(state);
	}
}

static void a_word_that_leads_nowhere_ends_the_connection(void **state)
{
	(void)state;
	word_send(0, 4);
	it.rsocket_error = REFUSED;
	use_fails_with(1, REFUSED);
	word_send(0, 4);
	it.connect_error = ECONNREFUSED;
	use_fails_with(1, ECONNREFUSED);
	word_send(0, 4);
	it.copy_error = REFUSED;
	use_fails_with(1, REFUSED);
}

/* The peer may answer another connection first, so the call that waits serves all. */
static void a_call_that_waits_serves_all_connections(void **state)
{
	int others[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, others), 0);
	assert_int_equal(send(others[1], "other", 5, 0), 5);
	it.marks[others[0]] = PENDING_ASKING;
	it.listed[0] = others[0];
	it.listed[1] = ends[1];
	it.listed_count = 2;
	it.sends_word_when_listed = true;
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(preload_use(ends[1], PRELOAD_WAIT), ends[1] + 1000);
	assert_int_equal(it.lists, 2);
	assert_int_equal(it.marks[others[0]], PENDING_NOT); /* unchanged */
	assert_int_equal(it.copied_to, ends[1]);
	close(others[0]);
	close(others[1]);
}

static void what_is_not_pending_is_left_alone(void **state)
{
	static const enum pending marks[] = { PENDING_NOT, PENDING_NEW, PENDING_LISTENER };

	(void)state;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		it.marks[ends[0]] = marks[i];
		assert_int_equal(preload_use(ends[0], 0), ends[0] + 1000);
		assert_int_equal(it.marks[ends[0]], marks[i]);
	}
}

static void an_ipv4_address_loses_its_dress(void **state)
{
	struct sockaddr_storage addr = { 0 };
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&addr;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&addr;

	(void)state;
	*v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(7) };
	undress_addr(&addr);
	assert_int_equal(addr.ss_family, AF_INET6);
	assert_int_equal(size_of(&addr), sizeof(struct sockaddr_in6));
	assert_int_equal(inet_pton(AF_INET6, "::ffff:10.1.2.3", &v6->sin6_addr), 1);
	undress_addr(&addr);
	assert_int_equal(v4->sin_family, AF_INET);
	assert_int_equal(v4->sin_port, htons(7));
	assert_int_equal(v4->sin_addr.s_addr, htonl(0x0a010203));
	assert_int_equal(size_of(&addr), sizeof(struct sockaddr_in));
}

/* Other threads of the parent may be in calls of both sides during fork(), so the child starts with
 * free locks. */
static void a_child_finds_the_locks_free(void **state)
{
	int status;
	pid_t child;

	(void)state;
	setenv("RDMAV_FORK_SAFE", "1", 1);
	assert_true(preload_forks());
	assert_int_equal(it.open_rsockets, 0);
	pthread_mutex_lock(&asked_lock);
	pthread_mutex_lock(&asking_lock);
	child = fork();
	if (!child) {
		alarm(HANG_SECONDS);
		word_send(0, 4);
		_exit(preload_use(ends[1], MSG_DONTWAIT) != ends[1] + 1000 ||
		      pthread_mutex_trylock(&asked_lock));
	}
	pthread_mutex_unlock(&asked_lock);
	pthread_mutex_unlock(&asking_lock);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

#define PENDING_TEST(name) cmocka_unit_test_setup_teardown(name, connection_begin, connection_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PENDING_TEST(a_new_connection_is_answered_by_an_rsocket),
		PENDING_TEST(a_number_that_waits_and_is_inherited_stays_so),
		PENDING_TEST(a_peer_that_speaks_first_stays_with_tcp),
		PENDING_TEST(processes_take_turns_with_the_port),
		PENDING_TEST(the_loopback_is_taken_as_any_address),
		PENDING_TEST(an_answer_that_fails_ends_the_connection),
		PENDING_TEST(a_peer_that_has_gone_ends_the_turns),
		PENDING_TEST(a_signal_does_not_end_the_answer),
		PENDING_TEST(without_the_word_there_is_nothing_yet),
		PENDING_TEST(the_word_is_followed_by_an_rsocket),
		PENDING_TEST(other_bytes_and_an_end_are_the_programs),
		PENDING_TEST(a_word_that_leads_nowhere_ends_the_connection),
		PENDING_TEST(a_call_that_waits_serves_all_connections),
		PENDING_TEST(what_is_not_pending_is_left_alone),
		PENDING_TEST(an_ipv4_address_loses_its_dress),
		PENDING_TEST(a_child_finds_the_locks_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
