/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bind_test.c - binding of ids: addresses that are refused, ports that ids share or not, ports that
 * the system chooses, and service IDs.
 */
#include "softhca/front/process/ucma/bind.c"
#include "tests/unit/softhca/front/process/ucma/rig.h"

enum { OTHERS = 3, TID = 77 };

static struct ucma_id others[OTHERS];
static unsigned int num_others;
static bool privileged;
static uint32_t random_numbers[4];
static unsigned int randoms;

bool client_may(pid_t tid, unsigned int capability)
{
	assert_int_equal(tid, TID);
	assert_int_equal(capability, CLIENT_CAP_NET_BIND_SERVICE);
	return privileged;
}

uint32_t ucma_random(const struct daemon *daemon)
{
	assert_ptr_equal(daemon, &rig.daemon);
	return random_numbers[randoms++ % 4];
}

/* The id itself stands in the middle of the others. */
struct ucma_id *ucma_id_next(struct ucma_id *id)
{
	if (!id)
		return num_others ? &others[0] : &rig.id;
	if (id == &rig.id)
		return num_others > 1 ? &others[1] : NULL;
	if (id == &others[0])
		return &rig.id;
	return id + 1 < others + num_others ? id + 1 : NULL;
}

static int bind_begin(void **state)
{
	memset(others, 0, sizeof(others));
	memset(random_numbers, 0, sizeof(random_numbers));
	num_others = randoms = 0;
	privileged = false;
	rig_begin(state);
	rig.id.ps = PS_TCP;
	return 0;
}

static void other_at(const char *text, uint16_t port)
{
	struct ucma_id *other = &others[num_others++];

	other->ps = PS_TCP;
	other->state = UCMA_BOUND;
	other->has_src = true;
	other->src.addr = rig_ip(text, port);
	other->af_only = other->src.addr.ss_family == AF_INET;
}

static int bind_to(const char *text, uint16_t port)
{
	const struct sockaddr_storage addr = rig_ip(text, port);
	int ret;

	rig.id.state = UCMA_IDLE;
	rig.id.has_af_only = false;
	memset(&rig.id.src, 0, sizeof(rig.id.src));
	ret = ucma_bind_to(&rig.id, &addr, TID);
	assert_int_equal(rig.id.has_src, !ret);
	assert_int_equal(rig.id.state, ret ? UCMA_IDLE : UCMA_BOUND);
	if (ret) {
		const struct ucma_end none = { 0 };

		assert_memory_equal(&rig.id.src, &none, sizeof(none));
	}
	return ret;
}

static void an_address_is_that_of_a_port(void **state)
{
	const struct sockaddr_storage addr = rig_ip("198.18.5.9", 2000);

	(void)state;
	assert_int_equal(bind_to("198.18.5.9", 2000), 0);
	assert_ptr_equal(rig.id.src.adapter, &rig.adapters[1]);
	assert_memory_equal(&rig.id.src.addr, &addr, sizeof(addr));
	assert_true(rig.id.af_only);
	assert_int_equal(bind_to("198.18.5.77", 2000), EADDRNOTAVAIL);
	assert_int_equal(bind_to("224.0.0.1", 2000), EADDRNOTAVAIL);
	assert_int_equal(bind_to("fe80::1", 2000), EINVAL);
}

static void the_family_alone_is_the_programs_choice(void **state)
{
	const struct sockaddr_storage v6 = rig_ip("::", 2000), v4 = rig_ip("0.0.0.0", 2000);

	(void)state;
	assert_int_equal(bind_to("::", 2000), 0);
	assert_false(rig.id.af_only);
	assert_null(rig.id.src.adapter);
	rig.id.state = UCMA_IDLE;
	rig.id.has_af_only = rig.id.af_only = true;
	assert_int_equal(ucma_bind_to(&rig.id, &v6, TID), 0);
	assert_true(rig.id.af_only);
	rig.id.state = UCMA_IDLE;
	rig.id.af_only = false;
	assert_int_equal(ucma_bind_to(&rig.id, &v4, TID), 0);
	assert_false(rig.id.af_only);
}

static void an_id_is_bound_once(void **state)
{
	const struct sockaddr_storage addr = rig_ip("0.0.0.0", 2000);

	(void)state;
	for (enum ucma_state of = UCMA_BOUND; of <= UCMA_DISCONNECTED; of++) {
		rig.id.state = of;
		assert_int_equal(ucma_bind_to(&rig.id, &addr, TID), EINVAL);
		assert_int_equal(rig.id.state, of);
		assert_false(rig.id.has_src);
	}
}

static void loopback_of_datagrams_has_a_port(void **state)
{
	const struct sockaddr_storage addr = rig_ip("127.0.0.1", 2000);

	(void)state;
	assert_int_equal(bind_to("127.0.0.1", 2000), 0);
	assert_null(rig.id.src.adapter);
	rig.id.ps = PS_UDP;
	assert_int_equal(bind_to("127.0.0.1", 2000), 0);
	assert_ptr_equal(rig.id.src.adapter, &rig.adapters[0]);
	assert_memory_equal(&rig.id.src.addr, &addr, sizeof(addr));
	assert_int_equal(bind_to("0.0.0.0", 2000), 0);
	assert_null(rig.id.src.adapter);
	rig.port_error = EIO;
	assert_int_equal(bind_to("127.0.0.1", 2000), EIO);
}

static void low_ports_need_a_capability(void **state)
{
	(void)state;
	assert_int_equal(bind_to("0.0.0.0", 1023), EACCES);
	assert_int_equal(bind_to("0.0.0.0", 1), EACCES);
	assert_int_equal(bind_to("0.0.0.0", 1024), 0);
	privileged = true;
	assert_int_equal(bind_to("0.0.0.0", 1023), 0);
}

static void an_address_and_port_are_of_one_id(void **state)
{
	(void)state;
	other_at("198.18.5.2", 2000);
	other_at("198.18.5.1", 2000);
	assert_int_equal(bind_to("198.18.5.1", 2000), EADDRINUSE);
	assert_int_equal(bind_to("198.18.5.1", 2001), 0);
	assert_int_equal(bind_to("198.18.5.9", 2000), 0);
	assert_int_equal(bind_to("0.0.0.0", 2000), EADDRNOTAVAIL);
	assert_int_equal(bind_to("127.0.0.1", 2000), EADDRNOTAVAIL);
	others[0].src.addr = rig_ip("0.0.0.0", 2000);
	assert_int_equal(bind_to("198.18.5.9", 2000), EADDRNOTAVAIL);
}

static void some_ids_leave_their_port_free(void **state)
{
	struct ucma_id *other = &others[0];

	(void)state;
	other_at("198.18.5.1", 2000);
	other->ps = PS_UDP;
	assert_int_equal(bind_to("198.18.5.1", 2000), 0);
	other->ps = PS_TCP;
	other->state = UCMA_IDLE;
	assert_int_equal(bind_to("198.18.5.1", 2000), 0);
	other->state = UCMA_BOUND;
	other->has_src = false;
	assert_int_equal(bind_to("198.18.5.1", 2000), 0);
	other->has_src = true;
	other->passive = true;
	assert_int_equal(bind_to("198.18.5.1", 2000), 0);
	other->passive = false;
	assert_int_equal(bind_to("198.18.5.1", 2000), EADDRINUSE);
}

static void two_ids_that_share_have_one_port(void **state)
{
	(void)state;
	other_at("198.18.5.1", 2000);
	rig.id.reuse_addr = true;
	assert_int_equal(bind_to("198.18.5.1", 2000), EADDRINUSE);
	others[0].reuse_addr = true;
	assert_int_equal(bind_to("198.18.5.1", 2000), 0);
	others[0].state = UCMA_LISTENS;
	assert_int_equal(bind_to("198.18.5.1", 2000), EADDRINUSE);
	others[0].state = UCMA_CONNECTS;
	assert_int_equal(bind_to("198.18.5.1", 2000), 0);
	rig.id.reuse_addr = false;
	assert_int_equal(bind_to("198.18.5.1", 2000), EADDRINUSE);
}

static void families_of_their_own_do_not_meet(void **state)
{
	(void)state;
	other_at("::", 2000);
	assert_int_equal(bind_to("198.18.5.1", 2000), EADDRNOTAVAIL);
	others[0].af_only = true;
	assert_int_equal(bind_to("198.18.5.1", 2000), 0);
	assert_int_equal(bind_to("::", 2000), EADDRNOTAVAIL);
}

static void a_listener_must_be_alone(void **state)
{
	(void)state;
	rig.id.reuse_addr = true;
	assert_int_equal(bind_to("198.18.5.1", 2000), 0);
	assert_int_equal(ucma_bind_keep_alone(&rig.id), 0);
	assert_false(rig.id.reuse_addr);
	other_at("198.18.5.1", 2000);
	others[0].reuse_addr = true;
	/* Without the option, bind() has looked. */
	assert_int_equal(ucma_bind_keep_alone(&rig.id), 0);
	rig.id.reuse_addr = true;
	assert_int_equal(ucma_bind_keep_alone(&rig.id), EADDRINUSE);
	assert_true(rig.id.reuse_addr);
}

static void a_free_port_is_chosen(void **state)
{
	(void)state;
	random_numbers[0] = 7;
	random_numbers[1] = 60999 - 32768;
	random_numbers[2] = 60999 - 32768 + 1;
	assert_int_equal(bind_to("198.18.5.1", 0), 0);
	assert_int_equal(ucma_addr_port(&rig.id.src.addr), 32768 + 7);
	assert_int_equal(bind_to("198.18.5.1", 0), 0);
	assert_int_equal(ucma_addr_port(&rig.id.src.addr), 60999);
	assert_int_equal(bind_to("198.18.5.1", 0), 0);
	assert_int_equal(ucma_addr_port(&rig.id.src.addr), 32768);
	randoms = 0;
	other_at("198.18.5.1", 32768 + 7);
	assert_int_equal(bind_to("198.18.5.1", 0), 0);
	assert_int_equal(ucma_addr_port(&rig.id.src.addr), 60999);
	random_numbers[1] = random_numbers[2] = random_numbers[3] = 7;
	assert_int_equal(bind_to("198.18.5.1", 0), EADDRNOTAVAIL);
}

static int service_of(uint64_t service, uint16_t ps)
{
	static const uint8_t gid[16] = { 0xfe, 0x80, [15] = 5 };
	uint8_t host[16];
	int ret;

	ucma_addr_put(&rig.id.src.addr, AF_IB_FAMILY, gid, 0, 0);
	ucma_addr_set_service(&rig.id.src.addr, service);
	rig.id.ps = ps;
	ret = ucma_bind_take_service(&rig.id);
	ucma_addr_bytes(&rig.id.src.addr, host);
	assert_memory_equal(host, gid, 16);
	return ret;
}

static void a_service_id_is_of_the_port_space(void **state)
{
	static const struct {
		uint16_t ps, asked;
		int ret;
	} rows[] = {
		{ PS_TCP, 0, 0 },
		{ PS_TCP, PS_TCP, 0 },
		{ PS_TCP, PS_UDP, EPROTONOSUPPORT },
		{ PS_TCP, PS_IB, EPROTONOSUPPORT },
		{ PS_UDP, PS_TCP, EPROTONOSUPPORT },
		{ PS_IB, 0, 0 },
		{ PS_IB, PS_IB, 0 },
		{ PS_IB, PS_TCP, 0 },
		{ PS_IB, PS_UDP, 0 },
		{ PS_IB, PS_IPOIB, EPROTONOSUPPORT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t asked = rows[i].asked;

		assert_int_equal(service_of(asked << 16 | 0x1234, rows[i].ps), rows[i].ret);
		assert_int_equal(ucma_addr_service(&rig.id.src.addr, 0),
				 (asked ? asked : rows[i].ps) << 16 | 0x1234);
	}
	rig.id.src.addr = rig_ip("1.2.3.4", 5);
	assert_int_equal(ucma_bind_take_service(&rig.id), 0);
	assert_int_equal(rig.id.src.addr.ss_family, AF_INET);
}

static int command_bind(const struct sockaddr_storage *addr, uint16_t size)
{
	memset(&rig.call.bind, 0, sizeof(rig.call.bind));
	memcpy(&rig.call.bind.addr, addr, size);
	rig.call.bind.addr_size = size;
	rig.call.bind.id = RIG_ID;
	return ucma_id_bind(&rig.call);
}

static void commands_bind_the_id(void **state)
{
	const struct sockaddr_storage addr = rig_ip("198.18.5.9", 2000);

	(void)state;
	assert_int_equal(command_bind(&addr, 15), EINVAL);
	assert_int_equal(command_bind(&addr, 16), 0);
	assert_memory_equal(&rig.id.src.addr, &addr, sizeof(addr));
	assert_int_equal(command_bind(&addr, 16), EINVAL);
	rig.id.state = UCMA_IDLE;
	rig.call.bind.reserved = 1;
	assert_int_equal(ucma_id_bind(&rig.call), EINVAL);
	rig.call.bind.reserved = 0;
	rig.call.bind.id++;
	assert_int_equal(ucma_id_bind(&rig.call), ENOENT);
	assert_int_equal(rig.id.state, UCMA_IDLE);
	memset(&rig.call.bind_ip, 0, sizeof(rig.call.bind_ip));
	memcpy(rig.call.bind_ip.addr, &addr, 16);
	rig.call.bind_ip.id = RIG_ID + 1;
	assert_int_equal(ucma_id_bind_ip(&rig.call), ENOENT);
	rig.call.bind_ip.id = RIG_ID;
	memset(&rig.id.src, 0, sizeof(rig.id.src));
	assert_int_equal(ucma_id_bind_ip(&rig.call), 0);
	assert_memory_equal(&rig.id.src.addr, &addr, sizeof(addr));
	rig.id.state = UCMA_IDLE;
	rig.call.bind_ip.addr[0] = AF_IB_FAMILY;
	assert_int_equal(ucma_id_bind_ip(&rig.call), EINVAL);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, bind_begin)
	const struct CMUnitTest tests[] = {
		CASE(an_address_is_that_of_a_port),
		CASE(the_family_alone_is_the_programs_choice),
		CASE(an_id_is_bound_once),
		CASE(loopback_of_datagrams_has_a_port),
		CASE(low_ports_need_a_capability),
		CASE(an_address_and_port_are_of_one_id),
		CASE(some_ids_leave_their_port_free),
		CASE(two_ids_that_share_have_one_port),
		CASE(families_of_their_own_do_not_meet),
		CASE(a_listener_must_be_alone),
		CASE(a_free_port_is_chosen),
		CASE(a_service_id_is_of_the_port_space),
		CASE(commands_bind_the_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
