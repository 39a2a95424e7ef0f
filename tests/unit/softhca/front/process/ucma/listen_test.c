/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listen_test.c - ids that listen: the states and the backlog in which they do, and which of them
 * gets a request.
 */
#include <arpa/inet.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/ucma/listen.c"

enum { PORT = 0x1234, OTHER_PORT = 0x1235, REFUSED = EDOM };

static struct {
	unsigned int binds;
	int bind_error, alone_error;
	struct rdma_ucm_bind bound;
} it;

int ucma_id_bind(struct ucma_call *uc)
{
	assert_ptr_equal(uc, &rig.call);
	it.binds++;
	it.bound = uc->bind;
	if (it.bind_error)
		return it.bind_error;
	rig.id.state = UCMA_BOUND;
	rig.id.src.addr = rig_ip("0.0.0.0", PORT);
	return 0;
}

int ucma_bind_keep_alone(struct ucma_id *id)
{
	assert_ptr_equal(id, &rig.id);
	return it.alone_error;
}

static int listen_begin(void **state)
{
	memset(&it, 0, sizeof(it));
	rig_begin(state);
	rig.id.ps = PS_TCP;
	rig.id.state = UCMA_BOUND;
	rig.id.src.addr = rig_ip("0.0.0.0", PORT);
	return 0;
}

static int listen_end(void **state)
{
	(void)state;
	ucma_id_unlisten(&rig.id);
	assert_true(LIST_EMPTY(&listeners));
	return 0;
}

static int listen_with(int backlog)
{
	memset(&rig.call.bind, 0xee, sizeof(rig.call.bind));
	rig.call.listen = (struct rdma_ucm_listen){ .id = RIG_ID, .backlog = (uint32_t)backlog };
	return ucma_id_listen(&rig.call);
}

static uint64_t service_of(uint16_t port)
{
	return (uint64_t)PS_TCP << 16 | port;
}

/* Returns whether the id gets a request to HOST, an IP address or NULL. */
static bool gets(const char *host)
{
	const struct sockaddr_storage addr =
		host ? rig_ip(host, 0) : (struct sockaddr_storage){ 0 };
	const bool ipv4 = addr.ss_family == AF_INET;
	uint8_t bytes[16];

	if (host)
		ucma_addr_bytes(&addr, bytes);
	return ucma_id_find_listener(service_of(PORT), &rig.adapters[0], host ? bytes : NULL,
				     ipv4) == &rig.id;
}

static void an_idle_id_gets_a_port_first(void **state)
{
	const struct sockaddr_in any = { .sin_family = AF_INET };
	const uint8_t zero[sizeof(it.bound.addr)] = { 0 };

	(void)state;
	rig.id.state = UCMA_IDLE;
	assert_int_equal(listen_with(4), 0);
	assert_int_equal(it.binds, 1);
	assert_int_equal(it.bound.id, RIG_ID);
	assert_int_equal(it.bound.addr_size, sizeof(any));
	assert_int_equal(it.bound.reserved, 0);
	assert_memory_equal(&it.bound.addr, &any, sizeof(any));
	assert_memory_equal((uint8_t *)&it.bound.addr + sizeof(any), zero,
			    sizeof(it.bound.addr) - sizeof(any));
	assert_int_equal(rig.id.state, UCMA_LISTENS);
	assert_int_equal(rig.id.backlog, 4);
	assert_true(gets("192.0.2.1"));
}

static void a_bound_id_keeps_its_port(void **state)
{
	(void)state;
	assert_int_equal(listen_with(4), 0);
	assert_int_equal(it.binds, 0);
	assert_int_equal(rig.id.state, UCMA_LISTENS);
}

static void an_id_without_a_port_does_not_listen(void **state)
{
	(void)state;
	rig.id.state = UCMA_IDLE;
	it.bind_error = REFUSED;
	assert_int_equal(listen_with(4), REFUSED);
	assert_int_equal(rig.id.state, UCMA_IDLE);
	assert_true(LIST_EMPTY(&listeners));
}

static void a_shared_port_is_not_listened_at(void **state)
{
	(void)state;
	it.alone_error = REFUSED;
	assert_int_equal(listen_with(4), REFUSED);
	assert_int_equal(rig.id.state, UCMA_BOUND);
	assert_true(LIST_EMPTY(&listeners));
}

static void ids_in_use_do_not_listen(void **state)
{
	(void)state;
	for (unsigned int used = UCMA_BOUND + 1; used <= UCMA_DISCONNECTED; used++) {
		rig.id.state = (enum ucma_state)used;
		assert_int_equal(listen_with(4), EINVAL);
		assert_int_equal(rig.id.state, used);
		assert_true(LIST_EMPTY(&listeners));
	}
	rig.id.state = UCMA_BOUND;
	rig.call.listen.id = RIG_ID + 1;
	assert_int_equal(ucma_id_listen(&rig.call), ENOENT);
	assert_true(LIST_EMPTY(&listeners));
}

static void the_backlog_has_bounds(void **state)
{
	static const int rows[][2] = { { 0, 1024 },        { -1, 1024 },   { 1, 1 },
				       { 1023, 1023 },     { 1024, 1024 }, { 1025, 1024 },
				       { INT32_MIN, 1024 } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig.id.state = UCMA_BOUND;
		assert_int_equal(listen_with(rows[i][0]), 0);
		assert_int_equal(rig.id.backlog, rows[i][1]);
		ucma_id_unlisten(&rig.id);
	}
	rig.id.state = UCMA_BOUND;
}

static void only_listeners_leave_the_list(void **state)
{
	struct ucma_id other = { .state = UCMA_BOUND };

	(void)state;
	assert_int_equal(listen_with(1), 0);
	ucma_id_unlisten(&other);
	assert_true(gets("192.0.2.1"));
	ucma_id_unlisten(&rig.id);
	assert_false(gets("192.0.2.1"));
	rig.id.state = UCMA_BOUND;
}

static void a_request_has_the_service_and_adapter(void **state)
{
	uint8_t host[16] = { 0 };

	(void)state;
	assert_int_equal(listen_with(1), 0);
	assert_null(ucma_id_find_listener(service_of(OTHER_PORT), &rig.adapters[0], host, true));
	assert_null(
		ucma_id_find_listener((uint64_t)PS_UDP << 16 | PORT, &rig.adapters[0], host, true));
	assert_ptr_equal(ucma_id_find_listener(service_of(PORT), &rig.adapters[1], host, true),
			 &rig.id);
	rig.id.src.adapter = &rig.adapters[0];
	assert_null(ucma_id_find_listener(service_of(PORT), &rig.adapters[1], host, true));
	assert_ptr_equal(ucma_id_find_listener(service_of(PORT), &rig.adapters[0], host, true),
			 &rig.id);
}

static void the_unspecified_address_gets_both_families(void **state)
{
	static const char *const addresses[] = { "0.0.0.0", "127.0.0.1", "::", "::1" };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		const bool is_ipv4 = i < 2;

		rig.id.state = UCMA_BOUND;
		rig.id.af_only = false;
		rig.id.src.addr = rig_ip(addresses[i], PORT);
		assert_int_equal(listen_with(1), 0);
		assert_true(gets("192.0.2.1"));
		assert_true(gets("2001:db8::1"));
		assert_false(gets(NULL));
		rig.id.af_only = true;
		assert_int_equal(gets("192.0.2.1"), is_ipv4);
		assert_int_equal(gets("2001:db8::1"), !is_ipv4);
		ucma_id_unlisten(&rig.id);
	}
	rig.id.state = UCMA_BOUND;
}

static void an_address_gets_its_own_requests(void **state)
{
	(void)state;
	rig.id.src.addr = rig_ip("2001:db8::17", PORT);
	assert_int_equal(listen_with(1), 0);
	assert_true(gets("2001:db8::17"));
	assert_false(gets("2001:db8::16"));
	assert_false(gets("2001:db9::17"));
	assert_false(gets(NULL));
	rig.id.src.addr = rig_ip("192.0.2.1", PORT);
	assert_true(gets("192.0.2.1"));
	assert_false(gets("192.0.2.2"));
	assert_false(gets("2001:db8::17"));
}

static void a_gid_gets_requests_without_addresses(void **state)
{
	uint8_t gid[16] = { 0xfe, 0x80, [15] = 9 };

	(void)state;
	ucma_addr_put(&rig.id.src.addr, AF_IB_FAMILY, gid, PS_TCP, PORT);
	assert_int_equal(listen_with(1), 0);
	assert_true(gets(NULL));
	assert_true(gets("192.0.2.1"));
	assert_true(gets("2001:db8::17"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, listen_begin, listen_end)
	const struct CMUnitTest tests[] = {
		CASE(an_idle_id_gets_a_port_first),
		CASE(a_bound_id_keeps_its_port),
		CASE(an_id_without_a_port_does_not_listen),
		CASE(a_shared_port_is_not_listened_at),
		CASE(ids_in_use_do_not_listen),
		CASE(the_backlog_has_bounds),
		CASE(only_listeners_leave_the_list),
		CASE(a_request_has_the_service_and_adapter),
		CASE(the_unspecified_address_gets_both_families),
		CASE(an_address_gets_its_own_requests),
		CASE(a_gid_gets_requests_without_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
