/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * query_test.c - which answers of the kernel name a device, and bind an id to it once. The kernel
 * is this test's write().
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/query.c"

enum { FD = 700, NUMBER = 9 };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size)
	__attribute__((visibility("default"))); /* libibverbs under ASAN is bound to it */

static struct rdma_event_channel channel = { .fd = FD };
static struct rdma_ucm_query_route_resp route;
static struct ibv_context context;
static struct cm_device device = { .verbs = &context };
static struct cm_id cm;

static struct {
	int finds, find_fails;
	uint64_t guid;
	int index;
} it;

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	struct cm_cmd cmd = { 0 };

	if (fd != FD)
		return __real_write(fd, data, size);
	memcpy(&cmd, data, size);
	assert_int_equal(cmd.hdr.cmd, RDMA_USER_CM_CMD_QUERY_ROUTE);
	assert_int_equal(cmd.query.id, NUMBER);
	memcpy((void *)(uintptr_t)cmd.query.response, &route, sizeof(route));
	return (ssize_t)size;
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

int rdmacm_device_find(uint64_t guid, int index, struct cm_device **out)
{
	it.finds++;
	it.guid = guid;
	it.index = index;
	if (!it.find_fails)
		*out = &device;
	return it.find_fails;
}

int rdmacm_device_get_pd(struct cm_device *of, struct ibv_pd **pd)
{
	assert_ptr_equal(of, &device);
	*pd = NULL;
	return 0;
}

static int id_begin(void **state)
{
	const sa_family_t family = AF_INET;

	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&cm, 0, sizeof(cm));
	memset(&route, 0, sizeof(route));
	memcpy(route.src_addr, &family, sizeof(family));
	cm.id.channel = &channel;
	cm.number = NUMBER;
	return 0;
}

/* A GUID names a device, and so does an index with a port; index 0 without a port has no
 * meaning. */
static void a_guid_or_an_index_with_a_port_names_a_device(void **state)
{
	static const struct {
		uint64_t guid;
		uint32_t index;
		uint8_t port;
		bool names;
	} cases[] = { { 0x12, -1u, 0, true }, { 0x12, 0, 0, true }, { 0, 3, 1, true },
		      { 0, 0, 1, true },      { 0, 0, 0, false },   { 0, -1u, 1, false } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		id_begin(NULL);
		route.node_guid = cases[i].guid;
		route.ibdev_index = cases[i].index;
		route.port_num = cases[i].port;
		assert_int_equal(rdmacm_id_query_route(&cm), 0);
		assert_int_equal(it.finds, cases[i].names);
		assert_ptr_equal(cm.device, cases[i].names ? &device : NULL);
		assert_ptr_equal(cm.id.verbs, cases[i].names ? &context : NULL);
		if (!cases[i].names)
			continue;
		assert_int_equal(it.guid, cases[i].guid);
		assert_int_equal(it.index, (int)cases[i].index);
		assert_int_equal(cm.id.port_num, cases[i].port);
	}
}

static void an_id_is_bound_once(void **state)
{
	(void)state;
	route.node_guid = 0x12;
	it.find_fails = ENODEV;
	assert_int_equal(rdmacm_id_query_route(&cm), ENODEV);
	assert_null(cm.id.verbs);
	it.find_fails = 0;
	assert_int_equal(rdmacm_id_query_route(&cm), 0);
	assert_int_equal(rdmacm_id_query_route(&cm), 0);
	assert_int_equal(it.finds, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, id_begin)
	const struct CMUnitTest tests[] = {
		TEST(a_guid_or_an_index_with_a_port_names_a_device),
		TEST(an_id_is_bound_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
