/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acm_test.c - an ibacm daemon that answers, or does not, and several threads: threads that waited
 * for the lock do not ask it again, and a cancelled thread releases the lock. How long it rests,
 * and the number of its port.
 *
 * Covers: librdmacm/acm.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

#include "librdmacm/acm.c"

enum { ANSWER_MS = 300 };

static int ends[2] = { -1, -1 }; /* of the connection to the daemon */
static int connections;

static const struct acm_message *prepared; /* the answer, if there is one */
static const char *port_file;              /* its text; NULL: there is no file */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) __attribute__((visibility("default")));
int __wrap_socket(int domain, int type, int protocol) __attribute__((visibility("default")));
int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t len)
	__attribute__((visibility("default")));

int __wrap_socket(int domain, int type, int protocol)
{
	(void)domain;
	(void)protocol;
	assert_int_equal(socketpair(AF_UNIX, type, 0, ends), 0);
	return ends[0];
}

int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)fd;
	(void)addr;
	(void)len;
	__atomic_add_fetch(&connections, 1, __ATOMIC_RELEASE);
	if (prepared)
		assert_int_equal(send(ends[1], prepared, prepared->header.length, 0),
				 prepared->header.length);
	return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	int text[2];

	if (strcmp(path, ACM_PORT_FILE))
		return __real_open(path, flags);
	errno = ENOENT;
	if (!port_file)
		return -1;
	assert_int_equal(pipe(text), 0);
	assert_int_equal(write(text[1], port_file, strlen(port_file)), strlen(port_file));
	close(text[1]);
	return text[0];
}

/* open() has this name where a 32-bit program has 64-bit file offsets, so both are wrapped */
int __wrap_open64(const char *path, int flags, ...) __attribute__((alias("__wrap_open")));

static int daemon_begin(void **state)
{
	(void)state;
	connections = 0;
	prepared = NULL;
	port_file = NULL;
	rests_till = 0;
	cm_lock_init(&lock);
	return 0;
}

static int daemon_end(void **state)
{
	(void)state;
	rdmacm_acm_disconnect();
	if (ends[1] >= 0)
		close(ends[1]);
	ends[1] = -1;
	return 0;
}

static void *acm_asker(void *result)
{
	const struct acm_message asked = { .header = { .length = sizeof(asked.header) } };
	struct acm_message told;

	*(int *)result = daemon_ask_alone(&asked, &told, ANSWER_MS);
	return NULL;
}

static uint32_t lock_state(void)
{
	return __atomic_load_n(&lock.state, __ATOMIC_ACQUIRE);
}

static void one_thread_alone_asks_a_silent_daemon(void **state)
{
	pthread_t thread;
	int result = 0;

	(void)state;
	acm_asker(&result);
	assert_int_equal(result, ETIMEDOUT);
	assert_int_equal(connections, 1);
	rests_till = 0;
	cm_lock_take(&lock);
	assert_int_equal(pthread_create(&thread, NULL, acm_asker, &result), 0);
	while (lock_state() != LOCK_WANTED)
		sched_yield();
	daemon_let_rest(ACM_REST_MS); /* as the lock's holder finds out */
	cm_lock_drop(&lock);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(result, EAGAIN);
	assert_int_equal(connections, 1);
}

static void a_cancelled_thread_keeps_no_lock(void **state)
{
	pthread_t thread;
	int result = 0;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, acm_asker, &result), 0);
	while (!__atomic_load_n(&connections, __ATOMIC_ACQUIRE)) /* now it has the lock */
		sched_yield();
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(lock_state(), LOCK_FREE);
}

static void a_rest_ends_at_its_time(void **state)
{
	const uint32_t day_ms = 24 * 60 * 60 * 1000, now = (uint32_t)now_ms();

	(void)state;
	assert_false(rdmacm_acm_rests());
	daemon_let_rest(ACM_REST_MS);
	assert_true(rdmacm_acm_rests());
	daemon_let_rest(0);
	assert_false(rdmacm_acm_rests());
	for (uint32_t days = 1; days < 49; days++) { /* and then none asked */
		rests_till = now - days * day_ms;
		assert_false(rdmacm_acm_rests());
	}
}

/* Else the link needs libatomic on some machines. */
static void its_time_is_atomic_on_32_bits(void **state)
{
	(void)state;
	assert_int_equal(sizeof(rests_till), sizeof(uint32_t));
}

static void a_question_gets_its_answer(void **state)
{
	const struct sockaddr_in peer = { .sin_family = AF_INET,
					  .sin_addr = { htonl(0x0a000002) } };
	const struct acm_question question = { .dst = (const struct sockaddr *)&peer };
	const struct acm_message told = {
		.header = { .version = ACM_VERSION,
			    .opcode = ACM_OP_RESOLVE | ACM_OP_ACK,
			    .length = sizeof(told.header) + sizeof(told.entries[0]) },
		.entries = { { .kind = ACM_ENTRY_PATH, .path = { .dlid = htobe16(0x44) } } }
	};
	struct acm_message wanted, asked;
	struct acm_answer answer;

	(void)state;
	prepared = &told;
	assert_int_equal(rdmacm_acm_ask(&question, ANSWER_MS, &answer), 0);
	assert_int_equal(answer.num_paths, 1);
	assert_int_equal(be16toh(answer.paths[0].path.dlid), 0x44);
	assert_int_equal(rdmacm_acm_pack(&question, &wanted), 0);
	assert_int_equal(recv(ends[1], &asked, sizeof(asked), MSG_DONTWAIT), wanted.header.length);
	assert_memory_equal(&asked, &wanted, wanted.header.length);
}

static void a_port_has_16_bits(void **state)
{
	static const struct {
		const char *text;
		int port; /* 0: none */
	} cases[] = { { "1", 1 }, { "6125\n", 6125 }, { "65535", 65535 }, { "65536", 0 },
		      { "0", 0 }, { "", 0 },          { "port", 0 },      { NULL, 0 } };
	struct sockaddr_in addr;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		port_file = cases[i].text;
		assert_int_equal(read_port(&addr), cases[i].port ? 0 : ENOENT);
		if (!cases[i].port)
			continue;
		assert_int_equal(ntohs(addr.sin_port), cases[i].port);
		assert_int_equal(addr.sin_family, AF_INET);
		assert_int_equal(ntohl(addr.sin_addr.s_addr), INADDR_LOOPBACK);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, daemon_begin, daemon_end)
	const struct CMUnitTest tests[] = {
		TEST(one_thread_alone_asks_a_silent_daemon),
		TEST(a_cancelled_thread_keeps_no_lock),
		TEST(a_rest_ends_at_its_time),
		TEST(its_time_is_atomic_on_32_bits),
		TEST(a_question_gets_its_answer),
		TEST(a_port_has_16_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
