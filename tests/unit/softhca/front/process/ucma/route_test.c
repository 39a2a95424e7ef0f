/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route_test.c - resolution of destinations: those of this process, loopback addresses, those that
 * the network is asked for, and the paths to them on InfiniBand and on RoCE.
 */
#include "softhca/front/process/ucma/route.c"
#include "tests/unit/softhca/front/process/ucma/rig.h"

enum { TIMEOUT = 1234, TAKEN = EDOM };

static struct {
	bool joined;
	unsigned int address_queries, path_queries, events;
	enum ucma_event_type event;
	int status;
	struct sockaddr_storage bound;
	unsigned int binds;
	int bind_error, service_error;
} it;

int ucma_bind_to(struct ucma_id *id, const struct sockaddr_storage *addr, pid_t tid)
{
	assert_ptr_equal(id, &rig.id);
	assert_int_equal(tid, 77);
	it.bound = *addr;
	it.binds++;
	if (it.bind_error)
		return it.bind_error;
	id->state = UCMA_BOUND;
	id->has_src = true;
	if (!ucma_addr_is_of_no_port(addr))
		assert_int_equal(ucma_addr_find(&rig.daemon, addr, &id->src), 0);
	id->src.addr = *addr;
	ucma_addr_set_port(&id->src.addr, 4000);
	return 0;
}

int ucma_bind_take_service(struct ucma_id *id)
{
	assert_ptr_equal(id, &rig.id);
	return it.service_error;
}

void ucma_event_simple(struct ucma_id *id, enum ucma_event_type type, int status)
{
	assert_ptr_equal(id, &rig.id);
	it.event = type;
	it.status = status;
	it.events++;
}

bool fabric_is_joined(const struct fabric *fabric)
{
	assert_ptr_equal(fabric, rig.daemon.fabric);
	return it.joined;
}

void roce_resolve(const uint8_t gid[16], uint8_t mac[6])
{
	memset(mac, gid[15], 6);
}

void resolve_address(struct resolution *resolution, uint32_t timeout_ms)
{
	assert_ptr_equal(resolution, &rig.id.resolution);
	assert_int_equal(timeout_ms, TIMEOUT);
	assert_int_equal(rig.id.state, UCMA_ADDR_QUERY);
	it.address_queries++;
}

void resolve_path(struct resolution *resolution, uint32_t timeout_ms)
{
	assert_ptr_equal(resolution, &rig.id.resolution);
	assert_int_equal(timeout_ms, TIMEOUT);
	assert_int_equal(rig.id.state, UCMA_ROUTE_QUERY);
	it.path_queries++;
}

static int route_begin(void **state)
{
	memset(&it, 0, sizeof(it));
	it.status = 1;
	return rig_begin(state);
}

static int resolve_from(const char *src, const char *dst)
{
	struct rdma_ucm_resolve_addr *cmd = &rig.call.resolve_addr;
	const struct sockaddr_storage to = rig_ip(dst, 0x3344);

	memset(cmd, 0, sizeof(*cmd));
	cmd->id = RIG_ID;
	cmd->timeout_ms = TIMEOUT;
	cmd->dst_size = (uint16_t)ucma_addr_size(to.ss_family);
	memcpy(&cmd->dst_addr, &to, cmd->dst_size);
	if (src) {
		const struct sockaddr_storage from = rig_ip(src, 0);

		cmd->src_size = (uint16_t)ucma_addr_size(from.ss_family);
		memcpy(&cmd->src_addr, &from, cmd->src_size);
	}
	return ucma_id_resolve_addr(&rig.call);
}

static void check_told(enum ucma_event_type type, int status, enum ucma_state state)
{
	assert_int_equal(it.events, 1);
	assert_int_equal(it.event, type);
	assert_int_equal(it.status, status);
	assert_int_equal(rig.id.state, state);
	it.events = 0;
}

static void an_own_address_is_known_at_once(void **state)
{
	const struct sockaddr_storage any = { .ss_family = AF_INET };
	struct sockaddr_storage src = rig_ip("198.18.5.9", 4000),
				dst = rig_ip("198.18.5.9", 0x3344);

	(void)state;
	assert_int_equal(resolve_from(NULL, "198.18.5.9"), 0);
	check_told(EV_ADDR_RESOLVED, 0, UCMA_ADDR_RESOLVED);
	assert_memory_equal(&it.bound, &any, sizeof(any));
	assert_true(rig.id.has_dst);
	assert_ptr_equal(rig.id.dst.adapter, &rig.adapters[1]);
	assert_ptr_equal(rig.id.src.adapter, &rig.adapters[1]);
	assert_memory_equal(&rig.id.src.addr, &src, sizeof(src));
	assert_memory_equal(&rig.id.dst.addr, &dst, sizeof(dst));
	assert_int_equal(it.address_queries, 0);
}

static void a_named_source_is_bound(void **state)
{
	const struct sockaddr_storage src = rig_ip("198.18.5.1", 0);

	(void)state;
	assert_int_equal(resolve_from("198.18.5.1", "198.18.5.9"), 0);
	check_told(EV_ADDR_RESOLVED, 0, UCMA_ADDR_RESOLVED);
	assert_memory_equal(&it.bound, &src, sizeof(src));
	assert_ptr_equal(rig.id.src.adapter, &rig.adapters[0]);
	assert_ptr_equal(rig.id.dst.adapter, &rig.adapters[1]);
	rig.id.state = UCMA_IDLE;
	it.bind_error = TAKEN;
	assert_int_equal(resolve_from("198.18.5.1", "198.18.5.9"), TAKEN);
	assert_int_equal(resolve_from(NULL, "198.18.5.9"), TAKEN);
	assert_int_equal(it.events, 0);
}

static void commands_are_checked(void **state)
{
	(void)state;
	assert_int_equal(resolve_from("198.18.5.1", "fe80::1"), EINVAL);
	for (enum ucma_state of = UCMA_LISTENS; of <= UCMA_DISCONNECTED; of++) {
		rig.id.state = of;
		assert_int_equal(resolve_from(NULL, "198.18.5.9"), EINVAL);
	}
	rig.id.state = UCMA_IDLE;
	resolve_from(NULL, "198.18.5.9");
	rig.id.state = UCMA_IDLE;
	rig.call.resolve_addr.reserved = 1;
	assert_int_equal(ucma_id_resolve_addr(&rig.call), EINVAL);
	rig.call.resolve_addr.reserved = 0;
	rig.call.resolve_addr.src_size = 3;
	assert_int_equal(ucma_id_resolve_addr(&rig.call), EINVAL);
	rig.call.resolve_addr.src_size = 0;
	rig.call.resolve_addr.dst_size++;
	assert_int_equal(ucma_id_resolve_addr(&rig.call), EINVAL);
	rig.call.resolve_addr.dst_size--;
	rig.call.resolve_addr.id++;
	assert_int_equal(ucma_id_resolve_addr(&rig.call), ENOENT);
	assert_int_equal(rig.id.state, UCMA_IDLE);
}

static void the_older_command_is_for_ip(void **state)
{
	const struct sockaddr_storage src = rig_ip("198.18.5.1", 0), dst = rig_ip("198.18.5.2", 9);
	struct rdma_ucm_resolve_ip *cmd = &rig.call.resolve_ip;

	(void)state;
	memset(cmd, 0, sizeof(*cmd));
	cmd->id = RIG_ID;
	cmd->timeout_ms = TIMEOUT;
	memcpy(cmd->dst_addr, &dst, 16);
	assert_int_equal(ucma_id_resolve_ip(&rig.call), 0);
	check_told(EV_ADDR_RESOLVED, 0, UCMA_ADDR_RESOLVED);
	assert_int_equal(rig.id.src.port, 2);
	rig.id.state = UCMA_IDLE;
	memcpy(cmd->src_addr, &src, 16);
	assert_int_equal(ucma_id_resolve_ip(&rig.call), 0);
	assert_memory_equal(&it.bound, &src, sizeof(src));
	rig.id.state = UCMA_IDLE;
	cmd->src_addr[0] = AF_IB_FAMILY;
	assert_int_equal(ucma_id_resolve_ip(&rig.call), EINVAL);
	cmd->src_addr[0] = 0;
	cmd->dst_addr[0] = AF_IB_FAMILY;
	assert_int_equal(ucma_id_resolve_ip(&rig.call), EINVAL);
	assert_int_equal(rig.id.state, UCMA_IDLE);
}

static void loopback_means_the_bound_port(void **state)
{
	const struct sockaddr_storage v4 = rig_ip("127.0.0.1", 4000), v6 = rig_ip("::1", 4000);

	(void)state;
	assert_int_equal(resolve_from("198.18.5.9", "127.0.0.1"), 0);
	assert_ptr_equal(rig.id.dst.adapter, &rig.adapters[1]);
	assert_int_equal(rig.id.dst.port, 1);
	rig_begin(state);
	assert_int_equal(resolve_from(NULL, "0.0.0.0"), 0);
	assert_ptr_equal(rig.id.dst.adapter, &rig.adapters[0]);
	assert_memory_equal(&rig.id.src.addr, &v4, sizeof(v4));
	rig_begin(state);
	assert_int_equal(resolve_from(NULL, "::1"), 0);
	assert_memory_equal(&rig.id.src.addr, &v6, sizeof(v6));
	rig_begin(state);
	assert_int_equal(resolve_from("127.0.0.1", "198.18.5.2"), 0);
	assert_memory_equal(&rig.id.src.addr, &v4, sizeof(v4));
	assert_int_equal(rig.id.src.port, 2);
}

static void loopback_does_not_leave_the_host(void **state)
{
	(void)state;
	it.joined = true;
	assert_int_equal(resolve_from("127.0.0.1", "198.18.9.2"), EINVAL);
	assert_int_equal(it.events + it.address_queries, 0);
	rig_begin(state);
	rig_make_roce();
	assert_int_equal(resolve_from("127.0.0.1", "198.18.5.2"), 0);
	check_told(EV_ADDR_ERROR, -ENODEV, UCMA_BOUND);
	assert_false(rig.id.has_dst);
	rig_begin(state);
	rig_make_roce();
	assert_int_equal(resolve_from("127.0.0.1", "127.0.0.1"), 0);
	check_told(EV_ADDR_RESOLVED, 0, UCMA_ADDR_RESOLVED);
}

static void a_wrong_service_is_told(void **state)
{
	(void)state;
	it.service_error = EPROTONOSUPPORT;
	assert_int_equal(resolve_from(NULL, "198.18.5.2"), 0);
	check_told(EV_ADDR_ERROR, -ENODEV, UCMA_BOUND);
}

static void other_hosts_need_a_network(void **state)
{
	(void)state;
	assert_int_equal(resolve_from(NULL, "198.18.9.2"), 0);
	check_told(EV_ADDR_ERROR, -ENODEV, UCMA_BOUND);
	rig_begin(state);
	it.joined = true;
	it.service_error = EPROTONOSUPPORT;
	assert_int_equal(resolve_from(NULL, "198.18.9.2"), 0);
	check_told(EV_ADDR_ERROR, -ENODEV, UCMA_BOUND);
}

static void the_network_is_asked_for_an_address(void **state)
{
	static const uint8_t own[16] = { [10] = 0xff, 0xff, 198, 18, 5, 1 };
	static const uint8_t wanted[16] = { [10] = 0xff, 0xff, 198, 18, 9, 2 };
	struct resolution *res = &rig.id.resolution;

	(void)state;
	it.joined = true;
	assert_int_equal(resolve_from(NULL, "198.18.9.2"), 0);
	assert_int_equal(it.address_queries, 1);
	assert_int_equal(it.events, 0);
	assert_ptr_equal(res->adapter, &rig.adapters[0]);
	assert_int_equal(res->port, 1);
	assert_memory_equal(res->own, own, 16);
	assert_memory_equal(res->wanted, wanted, 16);
	memset(res->gid, 0x99, 16);
	res->done(res, 0);
	check_told(EV_ADDR_RESOLVED, 0, UCMA_ADDR_RESOLVED);
	assert_true(rig.id.has_dst);
	assert_memory_equal(rig.id.dst.gid, res->gid, 16);
	res->done(res, -ETIMEDOUT);
	check_told(EV_ADDR_ERROR, -ETIMEDOUT, UCMA_BOUND);
	assert_false(rig.id.has_dst);
}

static void some_addresses_tell_their_gid(void **state)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [8] = 0x01, 0xff };

	(void)state;
	it.joined = true;
	assert_int_equal(resolve_from(NULL, "fe80::3ff:0:0:0"), 0);
	check_told(EV_ADDR_RESOLVED, 0, UCMA_ADDR_RESOLVED);
	assert_memory_equal(rig.id.dst.gid, gid, 16);
	assert_int_equal(it.address_queries, 0);
	rig_begin(state);
	assert_int_equal(resolve_from(NULL, "2001::3ff:0:0:0"), 0);
	assert_int_equal(it.address_queries, 1);
	rig_begin(state);
	rig_make_roce();
	assert_int_equal(resolve_from(NULL, "fe80::3ff:0:0:0"), 0);
	assert_int_equal(it.address_queries, 2);
}

static void a_foreign_gid_is_a_destination_on_infiniband(void **state)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [8] = 0x03, 0xff, [15] = 1 };
	struct sockaddr_storage *to = (struct sockaddr_storage *)&rig.call.resolve_addr.dst_addr;

	(void)state;
	it.joined = true;
	for (unsigned int roce = 0; roce < 2; roce++) {
		rig_begin(state);
		if (roce)
			rig_make_roce();
		memset(&rig.call.resolve_addr, 0, sizeof(rig.call.resolve_addr));
		rig.call.resolve_addr.id = RIG_ID;
		rig.call.resolve_addr.dst_size = 48;
		ucma_addr_put(to, AF_IB_FAMILY, gid, PS_IB, 9);
		assert_int_equal(ucma_id_resolve_addr(&rig.call), 0);
		assert_memory_equal(rig.id.dst.gid, gid, 16);
		check_told(roce ? EV_ADDR_ERROR : EV_ADDR_RESOLVED, roce ? -ENODEV : 0,
			   roce ? UCMA_BOUND : UCMA_ADDR_RESOLVED);
	}
}

static int ask_route(void)
{
	rig.call.resolve_route =
		(struct rdma_ucm_resolve_route){ .id = RIG_ID, .timeout_ms = TIMEOUT };
	return ucma_id_resolve_route(&rig.call);
}

static void address_begin(void)
{
	rig.id.state = UCMA_ADDR_RESOLVED;
	rig.id.tos = 0x21;
	rig.id.src = (struct ucma_end){ .adapter = &rig.adapters[0],
					.port = 2,
					.gid_index = 3,
					.lid = 0x41,
					.addr = rig_ip("198.18.5.2", 0) };
	rig.id.dst = (struct ucma_end){ .lid = 0x99, .addr = rig_ip("198.18.9.2", 0) };
	memset(rig.id.src.gid, 0x51, 16);
	memset(rig.id.dst.gid, 0xd1, 16);
	memset(&rig.id.path, 0xee, sizeof(rig.id.path));
	it.events = 0;
}

static void check_ends(bool roce)
{
	const struct cm_path *path = &rig.id.path;
	uint8_t sgid[16], dgid[16];

	memset(sgid, 0x51, sizeof(sgid));
	memset(dgid, 0xd1, sizeof(dgid));
	assert_ptr_equal(path->adapter, &rig.adapters[0]);
	assert_int_equal(path->port, 2);
	assert_int_equal(path->gid_index, 3);
	assert_int_equal(path->slid, 0x41);
	assert_memory_equal(path->sgid, sgid, 16);
	assert_memory_equal(path->dgid, dgid, 16);
	assert_int_equal(path->traffic_class, 0x21);
	assert_int_equal(path->grh, roce);
	assert_int_equal(path->hop_limit, roce ? 64 : 0);
	assert_int_equal(path->dmac[0], roce ? 0xd1 : 0xee);
	assert_int_equal(path->dmac[5], roce ? 0xd1 : 0xee);
}

static void an_own_destination_has_a_known_path(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) { /* an own port, a group, and RoCE */
		address_begin();
		if (i == 0)
			rig.id.dst.adapter = &rig.adapters[1];
		if (i == 1)
			rig.id.dst.addr = rig_ip("224.0.0.1", 0);
		if (i == 2)
			rig_make_roce();
		assert_int_equal(ask_route(), 0);
		check_told(EV_ROUTE_RESOLVED, 0, UCMA_ROUTE_RESOLVED);
		check_ends(i == 2);
		assert_int_equal(rig.id.path.dlid, 0x99);
		assert_int_equal(rig.id.path.mtu, 5);
		assert_int_equal(rig.id.path.rate, 16);
		assert_int_equal(rig.id.path.lifetime, i == 2 ? 18 : 15);
	}
	assert_int_equal(it.path_queries, 0);
	rig.port_error = EIO;
	ucma_route_put_known(&rig.id);
	assert_int_equal(rig.id.path.mtu, 1);
}

static void the_network_is_asked_for_a_path(void **state)
{
	struct resolution *res = &rig.id.resolution;

	(void)state;
	address_begin();
	assert_int_equal(ask_route(), 0);
	assert_int_equal(it.path_queries, 1);
	assert_int_equal(it.events, 0);
	assert_ptr_equal(res->adapter, &rig.adapters[0]);
	assert_int_equal(res->port, 2);
	assert_memory_equal(res->own, rig.id.src.gid, 16);
	assert_memory_equal(res->wanted, rig.id.dst.gid, 16);
	res->dlid = 0x1234;
	res->sl = 6;
	res->mtu = 4;
	res->rate = 7;
	res->lifetime = 11;
	res->done(res, -ETIMEDOUT);
	check_told(EV_ROUTE_ERROR, -ETIMEDOUT, UCMA_ADDR_RESOLVED);
	assert_int_equal(rig.id.path.sl, 0xee);
	res->done(res, 0);
	check_told(EV_ROUTE_RESOLVED, 0, UCMA_ROUTE_RESOLVED);
	check_ends(false);
	assert_int_equal(rig.id.path.dlid, 0x1234);
	assert_int_equal(rig.id.dst.lid, 0x1234);
	assert_int_equal(rig.id.path.sl, 6);
	assert_int_equal(rig.id.path.mtu, 4);
	assert_int_equal(rig.id.path.rate, 7);
	assert_int_equal(rig.id.path.lifetime, 11);
}

static void a_route_follows_an_address_or_a_service(void **state)
{
	(void)state;
	for (enum ucma_state of = UCMA_IDLE; of <= UCMA_DISCONNECTED; of++) {
		const bool may = of == UCMA_ADDR_RESOLVED || of == UCMA_SERVICE_RESOLVED;

		address_begin();
		rig.id.state = of;
		assert_int_equal(ask_route(), may ? 0 : EINVAL);
	}
	assert_int_equal(it.path_queries, 2);
	rig.call.resolve_route.id++;
	assert_int_equal(ucma_id_resolve_route(&rig.call), ENOENT);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, route_begin)
	const struct CMUnitTest tests[] = {
		CASE(an_own_address_is_known_at_once),
		CASE(a_named_source_is_bound),
		CASE(commands_are_checked),
		CASE(the_older_command_is_for_ip),
		CASE(loopback_means_the_bound_port),
		CASE(loopback_does_not_leave_the_host),
		CASE(a_wrong_service_is_told),
		CASE(other_hosts_need_a_network),
		CASE(the_network_is_asked_for_an_address),
		CASE(some_addresses_tell_their_gid),
		CASE(a_foreign_gid_is_a_destination_on_infiniband),
		CASE(an_own_destination_has_a_known_path),
		CASE(the_network_is_asked_for_a_path),
		CASE(a_route_follows_an_address_or_a_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
