/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibv_resolve_eth_l2_from_gid() in a network of the test's own: two network namespaces joined by a
 * virtual cable, ours with 192.0.2.1 and 2001:db8::1, the other with 192.0.2.2 and 2001:db8::2. The
 * GID table is a sysfs tree.
 *
 * Skipped, with a reason, where a process may not make namespaces or there is no program ip.
 *
 * Covers: libibverbs/eth_l2.c
 */
#include "fake_kernel.h"

#include "temp_tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUR_MAC   "02:00:00:00:00:11"
#define THEIR_MAC "02:00:00:00:00:22"
#define OTHER_MAC "02:00:00:00:00:33"

static pid_t other_host;

static bool sh(const char *format, ...)
{
	char command[512];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command) == 0;
}

static bool put_file(const char *path, const char *format, unsigned int a, unsigned int b)
{
	char text[64];
	int fd = open(path, O_WRONLY | O_CLOEXEC), len = snprintf(text, sizeof(text), format, a, b);
	bool written = fd >= 0 && write(fd, text, (size_t)len) == len;

	if (fd >= 0)
		close(fd);
	return written;
}

static bool become_root_of_a_namespace(void)
{
	const unsigned int uid = getuid(), gid = getgid();

	if (uid == 0)
		return unshare(CLONE_NEWNET) == 0;
	return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
	       put_file("/proc/self/setgroups", "deny", 0, 0) &&
	       put_file("/proc/self/uid_map", "0 %u 1", uid, 0) &&
	       put_file("/proc/self/gid_map", "0 %u 1", gid, 0);
}

/* Starts a process in its own network namespace, which configures its end of the cable. */
static bool start_other_host(void)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		return false;
	other_host = fork();
	if (!other_host) {
		if (unshare(CLONE_NEWNET) || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	return read(ready[0], &byte, 1) == 1;
}

static bool make_network(void)
{
	return become_root_of_a_namespace() && start_other_host() &&
	       sh("ip link add ours address " OUR_MAC
		  " type veth peer name theirs address " THEIR_MAC) &&
	       sh("ip link set theirs netns %d", (int)other_host) && sh("ip link set ours up") &&
	       sh("ip addr add 192.0.2.1/24 dev ours") &&
	       sh("ip -6 addr add 2001:db8::1/64 dev ours nodad") &&
	       sh("ip route add 198.51.100.0/24 via 192.0.2.3") &&
	       sh("ip neigh add 192.0.2.3 lladdr " OTHER_MAC " nud permanent dev ours") &&
	       sh("nsenter -t %d -n ip link set theirs up", (int)other_host) &&
	       sh("nsenter -t %d -n ip addr add 192.0.2.2/24 dev theirs", (int)other_host) &&
	       sh("nsenter -t %d -n ip -6 addr add 2001:db8::2/64 dev theirs nodad",
		  (int)other_host);
}

/* Makes the GID table: RoCE v1 and v2 of one link-local GID, then v2 of each address; the last
 * entry lacks an interface, as after the interface was removed. */
static void make_gids(void)
{
	static const char *const gids[] = {
		"fe80:0000:0000:0000:0000:00ff:fe00:0011",
		"fe80:0000:0000:0000:0000:00ff:fe00:0011",
		"0000:0000:0000:0000:0000:ffff:c000:0201",
		"2001:0db8:0000:0000:0000:0000:0000:0001",
		"0000:0000:0000:0000:0000:ffff:c000:0209",
	};
	char path[128];

	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "ports/1/gids/%d", i);
		tree_put(path, gids[i]);
		snprintf(path, sizeof(path), "ports/1/gid_attrs/types/%d", i);
		tree_put(path, i ? "RoCE v2\n" : "IB/RoCE v1\n");
		snprintf(path, sizeof(path), "ports/1/gid_attrs/ndevs/%d", i);
		tree_put(path, i < 4 ? "ours\n" : "\n");
	}
}

static int ethernet_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
			 size_t attr_size)
{
	(void)context;
	(void)port_num;
	memset(attr, 0, attr_size);
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	attr->gid_tbl_len = 5;
	return 0;
}

static int open_rig(void **state)
{
	const struct verbs_ops ops = { .query_port = ethernet_port };
	struct fake_context *fake;

	open_fake(state);
	fake = *state;
	kernel.old = true;
	verbs_set_ops(&fake->vctx, &ops);
	snprintf(fake->vdev.device.ibdev_path, sizeof(fake->vdev.device.ibdev_path), "%s",
		 tree_make());
	make_gids();
	return 0;
}

static int close_rig(void **state)
{
	tree_remove();
	return close_fake(state);
}

/* Returns "02:00:00:00:00:22 vlan ffff", or the call's error number. */
static const char *l2_resolve(void **state, unsigned int sgid_index, const char *gid)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };
	static char text[64];
	uint8_t mac[6] = {};
	uint16_t vid = 0;
	int ret;

	expect(NULL, NULL);
	kernel.old = true;
	attr.grh.sgid_index = (uint8_t)sgid_index;
	assert_int_equal(inet_pton(AF_INET6, gid, attr.grh.dgid.raw), 1);
	ret = ibv_resolve_eth_l2_from_gid(context_of(state), &attr, mac, &vid);
	if (ret)
		snprintf(text, sizeof(text), "%d", ret);
	else
		snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x vlan %x", mac[0],
			 mac[1], mac[2], mac[3], mac[4], mac[5], vid);
	return text;
}

static void a_link_local_gid_of_roce_v1_contains_the_address(void **state)
{
	assert_string_equal(l2_resolve(state, 0, "fe80::12:34ff:fe56:789a"),
			    "02:12:34:56:78:9a vlan ffff");
}

static void a_multicast_gid_is_a_multicast_address(void **state)
{
	assert_string_equal(l2_resolve(state, 1, "ff0e::1234:5678"), "33:33:12:34:56:78 vlan ffff");
	assert_string_equal(l2_resolve(state, 2, "ff0e::ffff:225.130.3.4"),
			    "01:00:5e:02:03:04 vlan ffff");
}

static void a_neighbour_is_asked(void **state)
{
	assert_string_equal(l2_resolve(state, 2, "::ffff:192.0.2.2"), THEIR_MAC " vlan ffff");
	assert_string_equal(l2_resolve(state, 3, "2001:db8::2"), THEIR_MAC " vlan ffff");
}

static void a_known_neighbour_is_looked_up(void **state)
{
	assert_string_equal(l2_resolve(state, 2, "::ffff:192.0.2.3"), OTHER_MAC " vlan ffff");
}

static void behind_a_gateway_it_is_the_gateways_address(void **state)
{
	assert_string_equal(l2_resolve(state, 2, "::ffff:198.51.100.7"), OTHER_MAC " vlan ffff");
}

static void our_own_address_is_our_interfaces(void **state)
{
	assert_string_equal(l2_resolve(state, 2, "::ffff:192.0.2.1"), OUR_MAC " vlan ffff");
}

static void no_answer_is_said_after_three_seconds(void **state)
{
	char want[16];

	snprintf(want, sizeof(want), "%d", -EHOSTUNREACH);
	assert_string_equal(l2_resolve(state, 2, "::ffff:192.0.2.99"), want);
}

static void from_ipv6_there_is_no_way_to_ipv4(void **state)
{
	char want[16];

	snprintf(want, sizeof(want), "%d", -ENETUNREACH);
	assert_string_equal(l2_resolve(state, 3, "::ffff:192.0.2.2"), want);
	assert_string_equal(l2_resolve(state, 2, "2001:db8::2"), want);
}

static void a_gid_without_an_interface_is_invalid(void **state)
{
	char want[16];

	snprintf(want, sizeof(want), "%d", -EINVAL);
	assert_string_equal(l2_resolve(state, 4, "::ffff:192.0.2.2"), want);
	assert_string_equal(l2_resolve(state, 7, "::ffff:192.0.2.2"), "-1");
	assert_int_equal(errno, EINVAL);
}

#define L2_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		L2_TEST(a_link_local_gid_of_roce_v1_contains_the_address),
		L2_TEST(a_multicast_gid_is_a_multicast_address),
		L2_TEST(a_neighbour_is_asked),
		L2_TEST(a_known_neighbour_is_looked_up),
		L2_TEST(behind_a_gateway_it_is_the_gateways_address),
		L2_TEST(our_own_address_is_our_interfaces),
		L2_TEST(no_answer_is_said_after_three_seconds),
		L2_TEST(from_ipv6_there_is_no_way_to_ipv4),
		L2_TEST(a_gid_without_an_interface_is_invalid),
	};
	int ret;

	if (!sh("command -v ip nsenter >/dev/null") || !make_network()) {
		printf("SKIP: no network namespaces here, "
		       "or no ip and nsenter (iproute2, util-linux)\n");
		if (other_host > 0)
			kill(other_host, SIGKILL);
		return 77;
	}
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	kill(other_host, SIGKILL);
	waitpid(other_host, NULL, 0);
	return ret;
}
