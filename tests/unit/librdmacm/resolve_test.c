/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resolve_test.c - the commands that bind an id and resolve addresses and routes, with a path of
 * ibacm and without one. The kernel is this test's write().
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/resolve.c"

enum { FD = 700, NUMBER = 9, TIMEOUT_MS = 1234, PATHS = 2 };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

static struct {
	struct cm_cmd cmds[4];
	int commands, fails[4];
	struct sockaddr_in dst_at_command; /* of the id */
	int awaited, routes, route_fails;
	int acm_fails, asked_ms;
} it;

static struct rdma_event_channel channel = { .fd = FD };
static struct cm_id cm;
static struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = 3 };
static struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = 7 };

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	const int at = it.commands;

	if (fd != FD)
		return __real_write(fd, data, size);
	assert_in_range(at, 0, 3);
	memcpy(&it.cmds[at], data, size);
	assert_int_equal(it.cmds[at].hdr.out, 0);
	memcpy(&it.dst_at_command, &cm.id.route.addr.dst_storage, sizeof(it.dst_at_command));
	it.commands++;
	errno = it.fails[at];
	return it.fails[at] ? -1 : (ssize_t)size;
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

socklen_t rdmacm_addr_len(const struct sockaddr *addr)
{
	return addr->sa_family == AF_IB      ? sizeof(struct sockaddr_ib)
	       : addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					     : sizeof(struct sockaddr_in);
}

int rdmacm_addr_put(struct __kernel_sockaddr_storage *to, uint16_t *size,
		    const struct sockaddr *addr)
{
	if (addr->sa_family == AF_UNIX)
		return EINVAL;
	*size = (uint16_t)rdmacm_addr_len(addr);
	memcpy(to, addr, *size);
	return 0;
}

int rdmacm_id_query_route(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	it.routes++;
	return it.route_fails;
}

int rdmacm_event_await(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	it.awaited++;
	return ETIMEDOUT;
}

int rdmacm_acm_ask(const struct acm_question *question, int timeout_ms, struct acm_answer *answer)
{
	assert_ptr_equal(question->src, &cm.id.route.addr.src_addr);
	assert_ptr_equal(question->dst, &cm.id.route.addr.dst_addr);
	assert_false(question->no_delay);
	it.asked_ms = timeout_ms;
	if (it.acm_fails)
		return it.acm_fails;
	answer->num_paths = PATHS;
	return 0;
}

static int id_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&cm, 0, sizeof(cm));
	cm.id.channel = &channel;
	cm.number = NUMBER;
	own.sin_family = peer.sin_family = AF_INET;
	return 0;
}

static void fails_with(int result, int err)
{
	assert_int_equal(result, -1);
	assert_int_equal(errno, err);
}

static int resolve_peer(struct sockaddr_in *src)
{
	return rdma_resolve_addr(&cm.id, (struct sockaddr *)src, (struct sockaddr *)&peer,
				 TIMEOUT_MS);
}

static void an_id_is_bound_and_asks_for_its_device(void **state)
{
	const struct rdma_ucm_bind *bind = &it.cmds[0].bind;

	(void)state;
	cm.waits = true; /* no event comes */
	assert_int_equal(rdma_bind_addr(&cm.id, (struct sockaddr *)&own), 0);
	assert_int_equal(it.cmds[0].hdr.cmd, RDMA_USER_CM_CMD_BIND);
	assert_int_equal(bind->id, NUMBER);
	assert_int_equal(bind->addr_size, sizeof(own));
	assert_memory_equal(&bind->addr, &own, sizeof(own));
	assert_int_equal(it.routes, 1);
	assert_int_equal(it.awaited, 0);
	it.route_fails = ENODEV;
	fails_with(rdma_bind_addr(&cm.id, (struct sockaddr *)&own), ENODEV);
	it.fails[2] = EADDRINUSE;
	fails_with(rdma_bind_addr(&cm.id, (struct sockaddr *)&own), EADDRINUSE);
	assert_int_equal(it.routes, 2);
	own.sin_family = AF_UNIX;
	fails_with(rdma_bind_addr(&cm.id, (struct sockaddr *)&own), EINVAL);
	assert_int_equal(it.commands, 3);
	assert_int_equal(it.routes, 2);
}

static void addresses_and_a_time_are_sent(void **state)
{
	const struct rdma_ucm_resolve_addr *sent = &it.cmds[0].resolve_addr;

	(void)state;
	assert_int_equal(resolve_peer(&own), 0);
	assert_int_equal(it.cmds[0].hdr.cmd, RDMA_USER_CM_CMD_RESOLVE_ADDR);
	assert_int_equal(sent->id, NUMBER);
	assert_int_equal(sent->timeout_ms, TIMEOUT_MS);
	assert_int_equal(sent->dst_size, sizeof(peer));
	assert_memory_equal(&sent->dst_addr, &peer, sizeof(peer));
	assert_int_equal(sent->src_size, sizeof(own));
	assert_memory_equal(&sent->src_addr, &own, sizeof(own));
	assert_int_equal(it.awaited, 0);
	assert_int_equal(resolve_peer(NULL), 0);
	assert_int_equal(it.cmds[1].resolve_addr.src_size, 0);
	cm.waits = true;
	fails_with(resolve_peer(NULL), ETIMEDOUT);
	assert_int_equal(it.awaited, 1);
}

/* Another thread may read the event, and use the id, before the command returns. */
static void the_id_has_the_address_before_the_command(void **state)
{
	(void)state;
	assert_int_equal(resolve_peer(NULL), 0);
	assert_memory_equal(&it.dst_at_command, &peer, sizeof(peer));
	assert_memory_equal(&cm.id.route.addr.dst_storage, &peer, sizeof(peer));
}

static void a_refused_address_leaves_the_one_before(void **state)
{
	struct sockaddr_storage before;

	(void)state;
	memset(&before, 0x5a, sizeof(before));
	cm.id.route.addr.dst_storage = before;
	cm.waits = true;
	it.fails[0] = ENODEV;
	fails_with(resolve_peer(&own), ENODEV);
	assert_memory_equal(&cm.id.route.addr.dst_storage, &before, sizeof(before));
	own.sin_family = AF_UNIX;
	fails_with(resolve_peer(&own), EINVAL);
	peer.sin_family = AF_UNIX;
	fails_with(resolve_peer(NULL), EINVAL);
	assert_int_equal(it.commands, 1);
	assert_int_equal(it.awaited, 0);
	assert_memory_equal(&cm.id.route.addr.dst_storage, &before, sizeof(before));
}

/* Programs compare whole structures. Within a family no byte is left, so none is cleared. */
static void a_longer_address_leaves_no_byte(void **state)
{
	struct sockaddr_storage want = { 0 };

	(void)state;
	memset(&cm.id.route.addr.dst_storage, 0x5a, sizeof(want));
	cm.id.route.addr.dst_storage.ss_family = AF_IB;
	memcpy(&want, &peer, sizeof(peer));
	assert_int_equal(resolve_peer(NULL), 0);
	assert_memory_equal(&cm.id.route.addr.dst_storage, &want, sizeof(want));
	((char *)&cm.id.route.addr.dst_storage)[sizeof(want) - 1] = 1;
	assert_int_equal(resolve_peer(NULL), 0);
	assert_int_equal(((char *)&cm.id.route.addr.dst_storage)[sizeof(want) - 1], 1);
}

static void a_path_of_the_daemon_is_an_option_of_the_id(void **state)
{
	const struct rdma_ucm_set_option *sent = &it.cmds[0].set_option;

	(void)state;
	assert_int_equal(rdma_resolve_route(&cm.id, TIMEOUT_MS), 0);
	assert_int_equal(it.asked_ms, TIMEOUT_MS);
	assert_int_equal(it.commands, 1);
	assert_int_equal(it.cmds[0].hdr.cmd, RDMA_USER_CM_CMD_SET_OPTION);
	assert_int_equal(sent->id, NUMBER);
	assert_int_equal(sent->level, RDMA_OPTION_IB);
	assert_int_equal(sent->optname, RDMA_OPTION_IB_PATH);
	assert_int_equal(sent->optlen, PATHS * sizeof(struct ibv_path_data));
	assert_true(sent->optval != 0);
	assert_int_equal(it.awaited, 0);
	cm.waits = true;
	fails_with(rdma_resolve_route(&cm.id, TIMEOUT_MS), ETIMEDOUT);
	assert_int_equal(it.awaited, 1);
}

/* The kernel finds the path if the daemon has none, and also if it refuses the daemon's. */
static void without_a_path_the_kernel_is_asked(void **state)
{
	(void)state;
	it.acm_fails = ENODATA;
	assert_int_equal(rdma_resolve_route(&cm.id, TIMEOUT_MS), 0);
	assert_int_equal(it.commands, 1);
	assert_int_equal(it.cmds[0].hdr.cmd, RDMA_USER_CM_CMD_RESOLVE_ROUTE);
	assert_int_equal(it.cmds[0].resolve_route.id, NUMBER);
	assert_int_equal(it.cmds[0].resolve_route.timeout_ms, TIMEOUT_MS);
	it.acm_fails = 0;
	it.fails[1] = EINVAL;
	cm.waits = true;
	it.fails[2] = EPERM;
	fails_with(rdma_resolve_route(&cm.id, TIMEOUT_MS), EPERM);
	assert_int_equal(it.cmds[1].hdr.cmd, RDMA_USER_CM_CMD_SET_OPTION);
	assert_int_equal(it.cmds[2].hdr.cmd, RDMA_USER_CM_CMD_RESOLVE_ROUTE);
	assert_int_equal(it.awaited, 0);
}

static void a_port_is_where_its_family_has_it(void **state)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htobe16(0x1234) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htobe16(0x2345) };
	struct sockaddr_ib ib = { .sib_family = AF_IB,
				  .sib_sid = htobe64(0x01067fff),
				  .sib_sid_mask = htobe64(0xffffffffffff0fff) };

	(void)state;
	assert_int_equal(rdma_get_src_port(&cm.id), 0);
	memcpy(&cm.id.route.addr.src_storage, &in, sizeof(in));
	memcpy(&cm.id.route.addr.dst_storage, &in6, sizeof(in6));
	assert_int_equal(rdma_get_src_port(&cm.id), htobe16(0x1234));
	assert_int_equal(rdma_get_dst_port(&cm.id), htobe16(0x2345));
	memcpy(&cm.id.route.addr.dst_storage, &ib, sizeof(ib));
	assert_int_equal(rdma_get_dst_port(&cm.id), htobe16(0x0fff));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, id_begin)
	const struct CMUnitTest tests[] = {
		TEST(an_id_is_bound_and_asks_for_its_device),
		TEST(addresses_and_a_time_are_sent),
		TEST(the_id_has_the_address_before_the_command),
		TEST(a_refused_address_leaves_the_one_before),
		TEST(a_longer_address_leaves_no_byte),
		TEST(a_path_of_the_daemon_is_an_option_of_the_id),
		TEST(without_a_path_the_kernel_is_asked),
		TEST(a_port_is_where_its_family_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
