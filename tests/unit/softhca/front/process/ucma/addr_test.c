/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addr_test.c - addresses of ids: sizes, kinds, ports and service IDs, and the port of an adapter
 * that an address belongs to, on InfiniBand and on RoCE, with and without network interfaces.
 */
#include "softhca/front/process/ucma/addr.c"
#include "tests/unit/softhca/front/process/ucma/rig.h"

#define ADAPTER0 (&rig.adapters[0])
#define ADAPTER1 (&rig.adapters[1])

static struct ucma_end end;

static int addr_begin(void **state)
{
	memset(&end, 0xee, sizeof(end));
	return rig_begin(state);
}

static struct sockaddr_storage gid_addr(const uint8_t gid[16], uint64_t service)
{
	struct sockaddr_storage addr;

	ucma_addr_put(&addr, AF_IB_FAMILY, gid, 0, 0);
	ucma_addr_set_service(&addr, service);
	return addr;
}

static void bytes_of(const char *text, uint8_t host[16])
{
	const struct sockaddr_storage addr = rig_ip(text, 0);

	ucma_addr_bytes(&addr, host);
}

static void each_family_has_its_size(void **state)
{
	static const struct {
		unsigned int family;
		size_t size;
	} rows[] = { { AF_INET, 16 }, { AF_INET6, 28 }, { AF_IB_FAMILY, 48 }, { AF_UNIX, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct __kernel_sockaddr_storage from;
		struct sockaddr_storage to;
		const uint16_t family = (uint16_t)rows[i].family;
		uint16_t size = (uint16_t)rows[i].size;

		assert_int_equal(ucma_addr_size(family), size);
		memset(&from, 0x5a, sizeof(from));
		memset(&to, 0xee, sizeof(to));
		memcpy(&from, &family, sizeof(family));
		assert_int_equal(ucma_addr_get(&from, size, &to), size ? 0 : EINVAL);
		assert_int_equal(ucma_addr_get(&from, size + 1, &to), EINVAL);
		assert_int_equal(ucma_addr_get(&from, 0, &to), EINVAL);
		if (!size)
			continue;
		assert_int_equal(ucma_addr_get(&from, size - 1, &to), EINVAL);
		assert_int_equal(ucma_addr_get(&from, size, &to), 0);
		assert_memory_equal(&to, &from, size);
		assert_int_equal(((const uint8_t *)&to)[size], 0);
	}
}

static void each_address_is_of_its_kind(void **state)
{
	static const struct {
		const char *text;
		bool loopback, of_no_port, lacks_scope, multicast;
	} rows[] = {
		{ "0.0.0.0", false, true, false, false },
		{ "127.0.0.1", true, true, false, false },
		{ "127.9.0.2", true, true, false, false },
		{ "128.0.0.1", false, false, false, false },
		{ "198.18.5.1", false, false, false, false },
		{ "0.0.0.1", false, false, false, false },
		{ "1.0.0.0", false, false, false, false },
		{ "224.0.0.1", false, false, false, true },
		{ "239.255.255.255", false, false, false, true },
		{ "240.0.0.1", false, false, false, false },
		{ "::", false, true, false, false },
		{ "::1", true, true, false, false },
		{ "::2", false, false, false, false },
		{ "1::", false, false, false, false },
		{ "::ffff:0.0.0.0", false, false, false, false },
		{ "::ffff:127.0.0.1", false, false, false, false },
		{ "::127.0.0.1", false, false, false, false },
		{ "fe80::1", false, false, true, false },
		{ "fec0::1", false, false, false, false },
		{ "ff02::1", false, false, false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sockaddr_storage addr = rig_ip(rows[i].text, 9);

		assert_true(ucma_addr_is_ip(&addr));
		assert_false(ucma_addr_is_gid(&addr));
		assert_int_equal(ucma_addr_is_loopback(&addr), rows[i].loopback);
		assert_int_equal(ucma_addr_is_of_no_port(&addr), rows[i].of_no_port);
		assert_int_equal(ucma_addr_lacks_scope(&addr), rows[i].lacks_scope);
		assert_int_equal(ucma_addr_is_multicast(&addr), rows[i].multicast);
	}
}

static void a_scope_is_enough(void **state)
{
	struct sockaddr_storage addr = rig_ip("fe80::1", 0);

	(void)state;
	((struct sockaddr_in6 *)&addr)->sin6_scope_id = 1;
	assert_false(ucma_addr_lacks_scope(&addr));
}

static void gids_are_of_their_own_kind(void **state)
{
	static const uint8_t unspecified[16], loopback[16] = { [15] = 1 };
	static const uint8_t group[16] = { 0xff, 0x12 }, local[16] = { 0xfe, 0x80, [15] = 1 };
	struct sockaddr_storage addr = gid_addr(group, 0);

	(void)state;
	assert_false(ucma_addr_is_ip(&addr));
	assert_true(ucma_addr_is_gid(&addr));
	assert_false(ucma_addr_is_multicast(&addr));
	addr = gid_addr(local, 0);
	assert_false(ucma_addr_lacks_scope(&addr));
	addr = gid_addr(unspecified, 0);
	assert_true(ucma_addr_is_of_no_port(&addr));
	addr = gid_addr(loopback, 0);
	assert_true(ucma_addr_is_loopback(&addr));
}

static void bytes_are_ipv6_mapped_ipv4_or_the_gid(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 198, 18, 5, 1 };
	static const uint8_t v6[16] = { 0x20, 0x01, [15] = 0x99 };
	const struct sockaddr_storage a = rig_ip("198.18.5.1", 1), b = rig_ip("198.18.5.1", 2);
	const struct sockaddr_storage c = rig_ip("::ffff:198.18.5.1", 1);
	const struct sockaddr_storage d = rig_ip("198.18.5.2", 1);
	struct sockaddr_storage gid = gid_addr(v6, 1);
	uint8_t host[17] = { [16] = 0x5b };

	(void)state;
	ucma_addr_bytes(&a, host);
	assert_memory_equal(host, mapped, 16);
	bytes_of("2001::99", host);
	assert_memory_equal(host, v6, 16);
	ucma_addr_bytes(&gid, host);
	assert_memory_equal(host, v6, 16);
	assert_int_equal(host[16], 0x5b);
	assert_true(ucma_addr_same_host(&a, &b));
	assert_true(ucma_addr_same_host(&a, &c));
	assert_false(ucma_addr_same_host(&a, &d));
}

static void a_port_is_where_its_family_has_it(void **state)
{
	struct sockaddr_storage v4 = rig_ip("1.2.3.4", 0x1234), v6 = rig_ip("1::2", 0x2345);
	static const uint8_t gid[16] = { 1 };
	struct sockaddr_storage ib = gid_addr(gid, 0x1122334455667788);

	(void)state;
	assert_int_equal(ucma_addr_port(&v4), 0x1234);
	assert_int_equal(ucma_addr_port(&v6), 0x2345);
	assert_int_equal(ucma_addr_port(&ib), 0x7788);
	ucma_addr_set_port(&v4, 0x4321);
	ucma_addr_set_port(&v6, 0x5432);
	ucma_addr_set_port(&ib, 0x9abc);
	assert_int_equal(((struct sockaddr_in *)&v4)->sin_port, htons(0x4321));
	assert_int_equal(((struct sockaddr_in6 *)&v6)->sin6_port, htons(0x5432));
	assert_true(ucma_addr_service(&ib, PS_TCP) == 0x1122334455669abc);
	assert_int_equal(ucma_addr_service(&v4, PS_TCP), 0x01064321);
	assert_int_equal(ucma_addr_service(&v6, PS_UDP), 0x01115432);
	ucma_addr_set_service(&ib, 0x99);
	assert_true(ucma_addr_service(&ib, PS_TCP) == 0x99);
}

static void an_address_is_put_together(void **state)
{
	static const uint8_t host[16] = { 0xa, 0xb, [10] = 0xff, 0xff, 1, 2, 3, 4 };
	struct sockaddr_storage addr, expected = rig_ip("1.2.3.4", 0x1122);
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(0x1122) };
	struct sockaddr_ib_layout ib = { .family = AF_IB_FAMILY,
					 .pkey = htobe16(0xffff),
					 .sid = htobe64(0x01061122),
					 .sid_mask = UINT64_MAX };

	(void)state;
	memset(&addr, 0xee, sizeof(addr));
	ucma_addr_put(&addr, AF_INET, host, PS_TCP, 0x1122);
	assert_memory_equal(&addr, &expected, sizeof(addr));
	memcpy(&v6.sin6_addr, host, 16);
	memset(&expected, 0, sizeof(expected));
	memcpy(&expected, &v6, sizeof(v6));
	memset(&addr, 0xee, sizeof(addr));
	ucma_addr_put(&addr, AF_INET6, host, PS_TCP, 0x1122);
	assert_memory_equal(&addr, &expected, sizeof(addr));
	memcpy(ib.gid, host, 16);
	memset(&expected, 0, sizeof(expected));
	memcpy(&expected, &ib, sizeof(ib));
	memset(&addr, 0xee, sizeof(addr));
	ucma_addr_put(&addr, AF_IB_FAMILY, host, PS_TCP, 0x1122);
	assert_memory_equal(&addr, &expected, sizeof(addr));
}

static void check_end(const struct adapter *adapter, unsigned int port, uint32_t gid_index)
{
	assert_ptr_equal(end.adapter, adapter);
	assert_int_equal(end.port, port);
	assert_int_equal(end.gid_index, gid_index);
	assert_int_equal(end.lid, RIG_LID + adapter_port_index(adapter, port));
	assert_memory_equal(end.gid, rig.gids[adapter->index][port - 1][gid_index].gid, 16);
}

static int find_addr(const char *text)
{
	const struct sockaddr_storage addr = rig_ip(text, 0x3344);
	int ret = ucma_addr_find(&rig.daemon, &addr, &end);

	if (!ret)
		assert_memory_equal(&end.addr, &addr, sizeof(addr));
	return ret;
}

static void each_port_has_an_ipv4_address_by_rule(void **state)
{
	(void)state;
	assert_int_equal(find_addr("198.18.5.1"), 0);
	check_end(ADAPTER0, 1, 0);
	assert_int_equal(find_addr("198.18.5.2"), 0);
	check_end(ADAPTER0, 2, 0);
	assert_int_equal(find_addr("198.18.5.9"), 0);
	check_end(ADAPTER1, 1, 0);
	assert_int_equal(find_addr("::ffff:198.18.5.10"), 0);
	check_end(ADAPTER1, 2, 0);
	assert_int_equal(find_addr("198.18.5.0"), EADDRNOTAVAIL);
	assert_int_equal(find_addr("198.18.5.3"), EADDRNOTAVAIL);
	assert_int_equal(find_addr("198.18.4.1"), EADDRNOTAVAIL);
	assert_int_equal(find_addr("198.19.5.1"), EADDRNOTAVAIL);
}

static void each_port_has_a_link_local_address_of_its_guid(void **state)
{
	(void)state;
	assert_int_equal(find_addr("fe80::211:2233:4455:6601"), 0);
	check_end(ADAPTER0, 1, 0);
	assert_int_equal(find_addr("fe80::211:2233:4455:6612"), 0);
	check_end(ADAPTER1, 2, 0);
	assert_int_equal(find_addr("fe80::211:2233:4455:6603"), EADDRNOTAVAIL);
	assert_int_equal(find_addr("fe80::1:211:2233:4455:6601"), EADDRNOTAVAIL);
	assert_int_equal(find_addr("fec0::211:2233:4455:6601"), EADDRNOTAVAIL);
}

static void on_roce_an_address_has_a_gid_of_version_2(void **state)
{
	uint8_t host[16];

	(void)state;
	rig_make_roce();
	assert_int_equal(find_addr("198.18.5.2"), 0);
	check_end(ADAPTER0, 2, GID_INDEX_V4);
	/* A GID of version 1 with the same bytes is not meant. */
	bytes_of("198.18.5.2", host);
	memcpy(rig.gids[0][1][4].gid, host, 16);
	memcpy(rig.gids[0][1][5].gid, host, 16);
	assert_int_equal(find_addr("198.18.5.2"), 0);
	check_end(ADAPTER0, 2, 5);
	assert_int_equal(find_addr("fe80::211:2233:4455:6611"), 0);
	check_end(ADAPTER1, 1, GID_INDEX_V6);
}

static void a_gid_of_no_port_has_no_device(void **state)
{
	struct sockaddr_storage addr;
	uint8_t host[16];

	(void)state;
	bytes_of("fe80::211:2233:4455:6611", host);
	addr = gid_addr(host, 0x1);
	assert_int_equal(ucma_addr_find(&rig.daemon, &addr, &end), 0);
	check_end(ADAPTER1, 1, 0);
	assert_memory_equal(&end.addr, &addr, sizeof(addr));
	host[15]++;
	host[0] = 1;
	addr = gid_addr(host, 0x1);
	assert_int_equal(ucma_addr_find(&rig.daemon, &addr, &end), ENODEV);
}

static void a_group_belongs_to_no_port(void **state)
{
	struct ucma_end group = { .addr = rig_ip("224.1.2.3", 0x3344) };

	(void)state;
	assert_int_equal(find_addr("224.1.2.3"), 0);
	assert_memory_equal(&end, &group, sizeof(end));
}

static void failures_of_the_device_come_out(void **state)
{
	(void)state;
	rig.gid_error = ENODATA;
	assert_int_equal(find_addr("198.18.5.1"), EADDRNOTAVAIL);
	assert_int_equal(ucma_addr_find_loopback(&rig.daemon, AF_INET, &end), ENODATA);
	rig.gid_error = 0;
	rig.port_error = EIO;
	assert_int_equal(ucma_addr_find_loopback(&rig.daemon, AF_INET, &end), EIO);
}

static void interface_begin(const char *address)
{
	rig.netdev_name = "eth7";
	rig.netdev_count = 1;
	bytes_of(address, rig.netdev_addresses[0]);
}

static void addresses_of_the_machine_are_the_first_ports(void **state)
{
	(void)state;
	interface_begin("10.1.2.3");
	assert_int_equal(find_addr("10.1.2.3"), 0);
	check_end(ADAPTER0, 1, 0);
	assert_int_equal(find_addr("10.1.2.4"), EADDRNOTAVAIL);
}

static void an_interface_gives_its_addresses_to_its_port(void **state)
{
	(void)state;
	rig_make_roce();
	rig.netdevs[0][0] = "eth6";
	rig.netdevs[1][1] = "eth7";
	interface_begin("10.1.2.3");
	bytes_of("10.1.2.3", rig.gids[1][1][5].gid);
	assert_int_equal(find_addr("10.1.2.3"), 0);
	check_end(ADAPTER1, 2, 5);
	interface_begin("2001::7");
	assert_int_equal(find_addr("2001::7"), 0);
	check_end(ADAPTER1, 2, GID_INDEX_V6);
	rig.netdevs[0][0] = "eth7";
	assert_int_equal(find_addr("2001::7"), 0);
	check_end(ADAPTER0, 1, GID_INDEX_V6);
}

static void own_addresses_are_by_rule_or_of_the_interface(void **state)
{
	uint8_t host[16];

	(void)state;
	bytes_of("198.18.5.9", host);
	assert_true(ucma_addr_is_own(host, ADAPTER1, 1));
	assert_false(ucma_addr_is_own(host, ADAPTER1, 2));
	assert_false(ucma_addr_is_own(host, ADAPTER0, 1));
	interface_begin("10.1.2.3");
	bytes_of("10.1.2.3", host);
	assert_false(ucma_addr_is_own(host, ADAPTER0, 1));
	rig.netdevs[0][0] = "eth7";
	rig.netdevs[0][1] = "eth6";
	assert_true(ucma_addr_is_own(host, ADAPTER0, 1));
	assert_false(ucma_addr_is_own(host, ADAPTER0, 2));
	host[15]++;
	assert_false(ucma_addr_is_own(host, ADAPTER0, 1));
	/* An interface's loopback address is of no port. */
	interface_begin("127.0.0.1");
	bytes_of("127.0.0.1", host);
	assert_false(ucma_addr_is_own(host, ADAPTER0, 1));
}

static void loopback_goes_to_the_first_active_port(void **state)
{
	const struct sockaddr_storage own = rig_ip("198.18.5.9", 0),
				      first = rig_ip("198.18.5.1", 0);

	(void)state;
	rig.port_state[0][0] = rig.port_state[0][1] = 3;
	assert_int_equal(ucma_addr_find_loopback(&rig.daemon, AF_INET, &end), 0);
	check_end(ADAPTER1, 1, 0);
	assert_memory_equal(&end.addr, &own, sizeof(own));
	rig.port_state[1][0] = rig.port_state[1][1] = 5;
	assert_int_equal(ucma_addr_find_loopback(&rig.daemon, AF_INET, &end), 0);
	check_end(ADAPTER0, 1, 0);
	assert_memory_equal(&end.addr, &first, sizeof(first));
	rig.port_state[0][1] = 4;
	assert_int_equal(ucma_addr_find_loopback(&rig.daemon, AF_INET6, &end), 0);
	check_end(ADAPTER0, 2, 0);
	assert_int_equal(end.addr.ss_family, AF_INET6);
	assert_memory_equal(&((struct sockaddr_in6 *)&end.addr)->sin6_addr, rig.gids[0][1][0].gid,
			    16);
}

static struct ucma_end source_for(const struct ucma_end *dst)
{
	assert_int_equal(ucma_addr_source(&rig.daemon, dst, &end), 0);
	return end;
}

static void an_own_address_is_its_own_source(void **state)
{
	struct ucma_end dst = { .adapter = ADAPTER1,
				.port = 2,
				.gid_index = 1,
				.lid = 9,
				.addr = rig_ip("198.18.5.10", 0x4455) };
	const struct sockaddr_storage without_port = rig_ip("198.18.5.10", 0);

	(void)state;
	source_for(&dst);
	assert_ptr_equal(end.adapter, ADAPTER1);
	assert_int_equal(end.port, 2);
	assert_int_equal(end.lid, 9);
	assert_int_equal(end.gid_index, 1);
	assert_memory_equal(&end.addr, &without_port, sizeof(without_port));
	memset(dst.gid, 0x77, 16);
	dst.addr = gid_addr((const uint8_t[16]){ 1 }, 0x1122);
	source_for(&dst);
	assert_true(ucma_addr_is_gid(&end.addr));
	assert_memory_equal(((struct sockaddr_ib_layout *)&end.addr)->gid, dst.gid, 16);
	assert_true(ucma_addr_service(&end.addr, PS_TCP) == 0);
}

static void other_hosts_are_reached_from_the_first_port(void **state)
{
	const struct sockaddr_storage by_rule = rig_ip("198.18.5.1", 0);
	const struct sockaddr_storage of_interface = rig_ip("10.1.2.3", 0);
	const struct ucma_end far = { .addr = rig_ip("198.18.9.1", 0x99) };
	const struct ucma_end far6 = { .addr = rig_ip("2001::9", 0x99) };
	const struct ucma_end far_gid = { .addr = gid_addr((const uint8_t[16]){ 1 }, 0x99) };
	const struct ucma_end group = { .adapter = ADAPTER1, .addr = rig_ip("224.0.0.9", 0) };

	(void)state;
	source_for(&far);
	check_end(ADAPTER0, 1, 0);
	assert_memory_equal(&end.addr, &by_rule, sizeof(by_rule));
	source_for(&group);
	check_end(ADAPTER0, 1, 0);
	/* The service ID is still to be chosen. */
	source_for(&far_gid);
	assert_true(ucma_addr_is_gid(&end.addr));
	assert_true(ucma_addr_service(&end.addr, PS_TCP) == 0);
	rig.netdevs[0][0] = "eth7";
	interface_begin("127.0.0.1");
	bytes_of("2001::7", rig.netdev_addresses[1]);
	bytes_of("10.1.2.3", rig.netdev_addresses[2]);
	rig.netdev_count = 2;
	source_for(&far);
	assert_memory_equal(&end.addr, &by_rule, sizeof(by_rule));
	rig.netdev_count = 3;
	source_for(&far);
	assert_memory_equal(&end.addr, &of_interface, sizeof(of_interface));
	check_end(ADAPTER0, 1, 0);
	source_for(&far6);
	assert_int_equal(end.addr.ss_family, AF_INET6);
	assert_memory_equal(&((struct sockaddr_in6 *)&end.addr)->sin6_addr, rig.netdev_addresses[1],
			    16);
	interface_begin("10.1.2.3");
	source_for(&far);
	assert_memory_equal(&end.addr, &of_interface, sizeof(of_interface));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, addr_begin)
	const struct CMUnitTest tests[] = {
		CASE(each_family_has_its_size),
		CASE(each_address_is_of_its_kind),
		CASE(a_scope_is_enough),
		CASE(gids_are_of_their_own_kind),
		CASE(bytes_are_ipv6_mapped_ipv4_or_the_gid),
		CASE(a_port_is_where_its_family_has_it),
		CASE(an_address_is_put_together),
		CASE(each_port_has_an_ipv4_address_by_rule),
		CASE(each_port_has_a_link_local_address_of_its_guid),
		CASE(on_roce_an_address_has_a_gid_of_version_2),
		CASE(a_gid_of_no_port_has_no_device),
		CASE(a_group_belongs_to_no_port),
		CASE(failures_of_the_device_come_out),
		CASE(addresses_of_the_machine_are_the_first_ports),
		CASE(an_interface_gives_its_addresses_to_its_port),
		CASE(own_addresses_are_by_rule_or_of_the_interface),
		CASE(loopback_goes_to_the_first_active_port),
		CASE(an_own_address_is_its_own_source),
		CASE(other_hosts_are_reached_from_the_first_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
