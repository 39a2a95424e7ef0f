/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_event_test.c - the commands of rdma_resolve_addrinfo() and rdma_write_cm_event(), and
 * who owns what was found. The kernel is this test's write().
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/addrinfo_event.c"

enum { FD = 700, NUMBER = 9 };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
	__attribute__((visibility("default"))); /* libibverbs under ASAN is bound to it */

static struct {
	struct cm_cmd cmd; /* the last command */
	int commands, fails, lookup_fails, awaited;
	const void *found_at_command, *freed;
	struct rdma_addrinfo hints; /* of the last name */
} it;

static struct rdma_event_channel channel = { .fd = FD };
static struct cm_id cm;
static struct rdma_addrinfo found;

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (fd != FD)
		return __real_write(fd, data, size);
	memset(&it.cmd, 0, sizeof(it.cmd));
	memcpy(&it.cmd, data, size);
	it.commands++;
	it.found_at_command = cm.found;
	if (!it.fails)
		return (ssize_t)size;
	errno = it.fails;
	return -1;
}

int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size)
{
	return write(fd, cmd, size) == (ssize_t)size ? 0 : errno;
}

int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done)
{
	(void)fd, (void)cmd, (void)done;
	return errno;
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	(void)node, (void)service;
	it.hints = *hints;
	errno = it.lookup_fails;
	if (it.lookup_fails)
		return -1;
	*res = &found;
	return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	it.freed = res;
}

int rdmacm_event_await(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	it.awaited++;
	return ETIMEDOUT;
}

static int id_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&cm, 0, sizeof(cm));
	cm.id.channel = &channel;
	cm.number = NUMBER;
	return 0;
}

static void fails_with(int result, int err)
{
	assert_int_equal(result, -1);
	assert_int_equal(errno, err);
}

static void a_program_writes_only_its_own_events(void **state)
{
	(void)state;
	assert_int_equal(rdma_write_cm_event(&cm.id, RDMA_CM_EVENT_USER, -5, 0x1122334455667788),
			 0);
	assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_WRITE_CM_EVENT);
	assert_int_equal(it.cmd.write_cm_event.id, NUMBER);
	assert_int_equal(it.cmd.write_cm_event.event, RDMA_CM_EVENT_USER);
	assert_int_equal((int)it.cmd.write_cm_event.status, -5);
	assert_int_equal(it.cmd.write_cm_event.param.arg, 0x1122334455667788);
	fails_with(rdma_write_cm_event(&cm.id, RDMA_CM_EVENT_INTERNAL, 0, 0), EINVAL);
	assert_int_equal(it.commands, 1);
}

static void what_a_name_gives_is_there_before_its_event(void **state)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_DNS | RAI_PASSIVE };
	struct rdma_addrinfo *taken = NULL;

	(void)state;
	assert_int_equal(rdma_resolve_addrinfo(&cm.id, "node", NULL, &hints), 0);
	assert_int_equal(it.hints.ai_flags, RAI_PASSIVE);
	assert_ptr_equal(it.found_at_command, &found);
	assert_int_equal(it.cmd.write_cm_event.event, RDMA_CM_EVENT_INTERNAL);
	fails_with(rdma_resolve_addrinfo(&cm.id, "node", NULL, &hints), EBUSY);
	assert_int_equal(rdma_query_addrinfo(&cm.id, &taken), 0);
	assert_ptr_equal(taken, &found);
	fails_with(rdma_query_addrinfo(&cm.id, &taken), ENOENT);
	fails_with(rdma_query_addrinfo(&cm.id, NULL), EINVAL);
	assert_null(it.freed);
}

static void nothing_is_kept_without_an_event(void **state)
{
	(void)state;
	it.fails = ENOSYS;
	fails_with(rdma_resolve_addrinfo(&cm.id, "node", NULL, NULL), ENOSYS);
	assert_null(cm.found);
	assert_ptr_equal(it.freed, &found);
	it.lookup_fails = ENODATA;
	fails_with(rdma_resolve_addrinfo(&cm.id, "node", NULL, NULL), ENODATA);
	assert_int_equal(it.commands, 1);
	fails_with(rdma_resolve_addrinfo(&cm.id, NULL, NULL, NULL), EINVAL);
}

static void a_waiting_id_returns_what_its_event_says(void **state)
{
	(void)state;
	cm.waits = true;
	fails_with(rdma_resolve_addrinfo(&cm.id, "node", NULL, NULL), ETIMEDOUT);
	assert_int_equal(it.awaited, 1);
}

/* What is a number as a whole is an ID; anything else is a name. */
static void a_service_is_a_number_or_a_name(void **state)
{
	static const struct {
		const char *service;
		uint64_t id; /* 0: a name */
	} cases[] = { { "0x1000000001061234", 0x1000000001061234 },
		      { "4660", 4660 },
		      { "0x12 ", 0 },
		      { "12th", 0 },
		      { "name", 0 },
		      { "99999999999999999999", 0 } };
	const struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	const struct rdma_ucm_ib_service *ibs = &it.cmd.resolve_ib_service.ibs;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *service = cases[i].service;

		cm.found_flags = 0;
		errno = EDOM;
		assert_int_equal(rdma_resolve_addrinfo(&cm.id, NULL, service, &hints), 0);
		assert_int_equal(errno, EDOM);
		assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE);
		assert_int_equal(it.cmd.resolve_ib_service.id, NUMBER);
		assert_int_equal(ibs->service_id, cases[i].id);
		assert_int_equal(ibs->flags, cases[i].id ? RDMA_USER_CM_IB_SERVICE_FLAG_ID
							 : RDMA_USER_CM_IB_SERVICE_FLAG_NAME);
		assert_string_equal((const char *)ibs->service_name, cases[i].id ? "" : service);
		assert_int_equal(cm.found_flags, RAI_SA);
	}
}

static void a_service_is_asked_for_alone_and_by_a_name_that_fits(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	char longest[RDMA_USER_CM_IB_SERVICE_NAME_SIZE + 1];

	(void)state;
	fails_with(rdma_resolve_addrinfo(&cm.id, "node", "name", &hints), EOPNOTSUPP);
	fails_with(rdma_resolve_addrinfo(&cm.id, NULL, NULL, &hints), EINVAL);
	fails_with(rdma_resolve_addrinfo(&cm.id, NULL, "", &hints), EINVAL);
	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	fails_with(rdma_resolve_addrinfo(&cm.id, NULL, longest, &hints), EINVAL);
	assert_int_equal(it.commands, 0);
	longest[sizeof(longest) - 2] = '\0';
	assert_int_equal(rdma_resolve_addrinfo(&cm.id, NULL, longest, &hints), 0);
	hints.ai_flags |= RAI_DNS;
	fails_with(rdma_resolve_addrinfo(&cm.id, NULL, "name", &hints), EOPNOTSUPP);
	hints.ai_flags = RAI_SA;
	cm.found_flags = 0;
	it.fails = EPERM;
	fails_with(rdma_resolve_addrinfo(&cm.id, NULL, "name", &hints), EPERM);
	assert_int_equal(cm.found_flags, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, id_begin)
	const struct CMUnitTest tests[] = {
		TEST(a_program_writes_only_its_own_events),
		TEST(what_a_name_gives_is_there_before_its_event),
		TEST(nothing_is_kept_without_an_event),
		TEST(a_waiting_id_returns_what_its_event_says),
		TEST(a_service_is_a_number_or_a_name),
		TEST(a_service_is_asked_for_alone_and_by_a_name_that_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
