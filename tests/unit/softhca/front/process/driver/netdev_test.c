/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netdev_test.c - which port gets which interface, and options that name too many, or one that the
 * host lacks. Interfaces are functions of the test.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/driver/netdev.c"

unsigned int __wrap_if_nametoindex(const char *name);

unsigned int __wrap_if_nametoindex(const char *name)
{
	return strncmp(name, "test", 4) == 0 ? 7 : 0;
}

static int begin_netdevs(void **state)
{
	(void)state;
	num_ours = 0;
	return 0;
}

static void ports_get_interfaces_in_their_order(void **state)
{
	const struct options options = {
		.devices = 3, .ports = 2, .netdevs = { "test0", "test1", "test2" }, .num_netdevs = 3
	};
	static struct adapter adapters[3];
	static const char *const expected[] = { "test0", "test1", "test2", NULL, NULL, NULL };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		adapters[i].index = i;
		assert_int_equal(netdev_assign(&options, &adapters[i]), 0);
	}
	for (unsigned int i = 0; i < 6; i++) {
		const char *name = netdev_of(&adapters[i / 2], i % 2 + 1);

		if (expected[i])
			assert_string_equal(name, expected[i]);
		else
			assert_null(name);
		assert_int_equal(netdev_index(&adapters[i / 2], i % 2 + 1), expected[i] ? 7 : 0);
	}
	assert_true(netdev_claims("/sys/class/net/test2/device/resource"));
	assert_true(netdev_claims("/sys/class/net/test2/device"));
	assert_false(netdev_claims("/sys/class/net/test2/devices"));
	assert_false(netdev_claims("/sys/class/net/test3/device"));
}

static void there_are_no_more_interfaces_than_ports(void **state)
{
	struct options options = { .devices = 1, .ports = 1, .netdevs = { "test0", "test1" } };
	struct adapter adapter = { 0 };

	(void)state;
	options.num_netdevs = 2;
	assert_int_equal(netdev_assign(&options, &adapter), EINVAL);
	assert_null(netdev_of(&adapter, 1));
	options.num_netdevs = 1;
	assert_int_equal(netdev_assign(&options, &adapter), 0);
}

static void an_interface_must_be_the_hosts(void **state)
{
	static const char *const names[] = { "eth0", "", "test567890123456" };
	struct options options = { .devices = 1, .ports = 1, .num_netdevs = 1 };
	struct adapter adapter = { 0 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		options.netdevs[0] = names[i];
		assert_int_equal(netdev_assign(&options, &adapter), ENODEV);
		assert_null(netdev_of(&adapter, 1));
	}
	options.netdevs[0] = "test56789012345"; /* the longest */
	assert_int_equal(netdev_assign(&options, &adapter), 0);
	assert_string_equal(netdev_of(&adapter, 1), "test56789012345");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin_netdevs)
	const struct CMUnitTest tests[] = {
		TEST(ports_get_interfaces_in_their_order),
		TEST(there_are_no_more_interfaces_than_ports),
		TEST(an_interface_must_be_the_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
