/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service_test.c - destinations that are services: what is looked for, here and in the network,
 * what the id keeps of it, and what the program reads.
 */
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/ucma/service.c"

enum { SERVICE = 0x1234567, REFUSED = EDOM };

static const char name[] = "storage";

static struct {
	uint8_t fabric;
	unsigned int found; /* services of this process */
	bool is_joined, is_foreign;
	uint64_t components;
	uint8_t wanted[SERVICE_RECORD_SIZE];
	struct resolution *resolution;
	uint32_t timeout;
	unsigned int events;
	enum ucma_event_type event;
	int status;
} it;

static void record_fill(uint8_t record[SERVICE_RECORD_SIZE], uint8_t number)
{
	memset(record, number, SERVICE_RECORD_SIZE);
	fld_set(record, SERVICE_ID, SERVICE + number);
}

unsigned int fabric_find_services(struct fabric *fabric, uint64_t components,
				  const uint8_t wanted[SERVICE_RECORD_SIZE],
				  uint8_t (*records)[SERVICE_RECORD_SIZE], unsigned int room)
{
	assert_ptr_equal(fabric, &it.fabric);
	assert_int_equal(room, MAX_SERVICES);
	it.components = components;
	memcpy(it.wanted, wanted, sizeof(it.wanted));
	for (unsigned int i = 0; i < it.found; i++)
		record_fill(records[i], (uint8_t)(i + 1));
	return it.found;
}

bool fabric_is_joined(const struct fabric *fabric)
{
	assert_ptr_equal(fabric, &it.fabric);
	return it.is_joined;
}

void resolve_service(struct resolution *resolution, uint32_t timeout_ms)
{
	it.resolution = resolution;
	it.timeout = timeout_ms;
}

void ucma_event_simple(struct ucma_id *id, enum ucma_event_type type, int status)
{
	assert_ptr_equal(id, &rig.id);
	it.events++;
	it.event = type;
	it.status = status;
}

void ucma_addr_put(struct sockaddr_storage *addr, unsigned int family, const uint8_t host[16],
		   uint16_t ps, uint16_t port)
{
	assert_int_equal(ps, 0);
	assert_int_equal(port, 0);
	memset(addr, 0, sizeof(*addr));
	addr->ss_family = family;
	memcpy((uint8_t *)addr + 8, host, 16);
}

void ucma_addr_set_service(struct sockaddr_storage *addr, uint64_t service)
{
	memcpy((uint8_t *)addr + 24, &service, sizeof(service));
}

int ucma_addr_find(struct daemon *daemon, const struct sockaddr_storage *addr, struct ucma_end *end)
{
	assert_ptr_equal(daemon, &rig.daemon);
	memset(end, 0x77, sizeof(*end));
	if (it.is_foreign)
		return EADDRNOTAVAIL;
	*end = (struct ucma_end){ .adapter = &rig.adapters[1], .port = 2, .addr = *addr };
	return 0;
}

static int service_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.daemon.fabric = (struct fabric *)&it.fabric;
	rig.id.state = UCMA_BOUND;
	rig.id.has_src = true;
	rig.id.src.adapter = &rig.adapters[0];
	rig.id.src.port = 2;
	it.found = 2;
	return 0;
}

static int service_end(void **state)
{
	(void)state;
	free(rig.id.services);
	return 0;
}

static int service_resolve(uint32_t flags)
{
	struct rdma_ucm_resolve_ib_service *cmd = &rig.call.resolve_ib_service;

	*cmd = (struct rdma_ucm_resolve_ib_service){
		.id = RIG_ID,
		.ibs = { .service_id = SERVICE, .flags = flags },
	};
	memset(cmd->ibs.service_name, 'x', sizeof(cmd->ibs.service_name));
	memcpy(cmd->ibs.service_name, name, sizeof(name));
	return ucma_service_resolve(&rig.call);
}

enum { BY_ID = RDMA_USER_CM_IB_SERVICE_FLAG_ID, BY_NAME = RDMA_USER_CM_IB_SERVICE_FLAG_NAME };

/* Checks that the destination is the service of record NUMBER. */
static void check_destination(uint8_t number)
{
	const uint64_t service = SERVICE + number;
	uint8_t gid[16];

	memset(gid, number, 16);
	assert_true(rig.id.has_dst);
	assert_int_equal(rig.id.dst.addr.ss_family, AF_IB_FAMILY);
	assert_memory_equal((uint8_t *)&rig.id.dst.addr + 8, gid, 16);
	assert_memory_equal((uint8_t *)&rig.id.dst.addr + 24, &service, sizeof(service));
}

static void a_service_is_wanted_by_what_the_flags_say(void **state)
{
	uint8_t zero[SERVICE_RECORD_SIZE] = { 0 };

	(void)state;
	it.found = 0;
	assert_int_equal(service_resolve(0), 0);
	assert_int_equal(it.components, 0);
	assert_memory_equal(it.wanted, zero, sizeof(zero));
	rig.id.state = UCMA_BOUND;
	assert_int_equal(service_resolve(BY_ID), 0);
	assert_int_equal(it.components, 1ull << SERVICE_HAS_ID);
	assert_int_equal(fld_get(it.wanted, SERVICE_ID), SERVICE);
	assert_int_equal(*(uint8_t *)fld_at(it.wanted, SERVICE_NAME), 0);
	rig.id.state = UCMA_BOUND;
	assert_int_equal(service_resolve(BY_NAME), 0);
	assert_int_equal(it.components, 1ull << SERVICE_HAS_NAME);
	assert_int_equal(fld_get(it.wanted, SERVICE_ID), 0);
	assert_string_equal((const char *)fld_at(it.wanted, SERVICE_NAME), name);
	rig.id.state = UCMA_BOUND;
	assert_int_equal(service_resolve(BY_ID | BY_NAME), 0);
	assert_int_equal(it.components, 1ull << SERVICE_HAS_ID | 1ull << SERVICE_HAS_NAME);
}

static void a_long_name_ends_before_its_last_byte(void **state)
{
	const uint8_t *wanted;

	(void)state;
	service_resolve(BY_NAME);
	wanted = fld_at(it.wanted, SERVICE_NAME);
	assert_int_equal(wanted[SERVICE_NAME_SIZE - 2], 'x');
	assert_int_equal(wanted[SERVICE_NAME_SIZE - 1], 0);
}

static void the_first_service_is_the_destination(void **state)
{
	uint8_t record[SERVICE_RECORD_SIZE];

	(void)state;
	assert_int_equal(service_resolve(BY_ID), 0);
	assert_int_equal(rig.id.state, UCMA_SERVICE_RESOLVED);
	assert_int_equal(it.events, 1);
	assert_int_equal(it.event, EV_ADDRINFO_RESOLVED);
	assert_int_equal(it.status, 0);
	assert_int_equal(rig.id.num_services, 2);
	record_fill(record, 1);
	assert_memory_equal(rig.id.services[0], record, sizeof(record));
	record_fill(record, 2);
	assert_memory_equal(rig.id.services[1], record, sizeof(record));
	check_destination(1);
	assert_ptr_equal(rig.id.dst.adapter, &rig.adapters[1]);
}

static void another_hosts_service_has_no_adapter(void **state)
{
	uint8_t gid[16];

	(void)state;
	it.is_foreign = true;
	assert_int_equal(service_resolve(BY_ID), 0);
	check_destination(1);
	assert_null(rig.id.dst.adapter);
	assert_int_equal(rig.id.dst.port, 0);
	memset(gid, 1, 16);
	assert_memory_equal(rig.id.dst.gid, gid, 16);
}

static void without_a_network_a_service_is_unknown(void **state)
{
	(void)state;
	it.found = 0;
	assert_int_equal(service_resolve(BY_ID), 0);
	assert_null(it.resolution);
	assert_int_equal(it.event, EV_ADDRINFO_ERROR);
	assert_int_equal(it.status, -ENODATA);
	assert_int_equal(rig.id.state, UCMA_BOUND);
	assert_null(rig.id.services);
	assert_false(rig.id.has_dst);
}

static void the_network_is_asked_for_others(void **state)
{
	struct resolution *resolution = &rig.id.resolution;

	(void)state;
	it.found = 0;
	it.is_joined = true;
	assert_int_equal(service_resolve(BY_ID), 0);
	assert_int_equal(it.events, 0);
	assert_int_equal(rig.id.state, UCMA_SERVICE_QUERY);
	assert_ptr_equal(it.resolution, resolution);
	assert_int_equal(it.timeout, 2000);
	assert_ptr_equal(resolution->adapter, &rig.adapters[0]);
	assert_int_equal(resolution->port, 2);
	assert_int_equal(resolution->components, 1ull << SERVICE_HAS_ID);
	assert_memory_equal(resolution->record, it.wanted, sizeof(it.wanted));
	record_fill(resolution->record, 7);
	resolution->done(resolution, 0);
	assert_int_equal(it.event, EV_ADDRINFO_RESOLVED);
	assert_int_equal(it.status, 0);
	assert_int_equal(rig.id.num_services, 1);
	assert_int_equal(rig.id.state, UCMA_SERVICE_RESOLVED);
	check_destination(7);
}

static void a_service_that_nobody_has_is_an_error(void **state)
{
	(void)state;
	it.found = 0;
	it.is_joined = true;
	assert_int_equal(service_resolve(BY_ID), 0);
	rig.id.resolution.done(&rig.id.resolution, -ETIMEDOUT);
	assert_int_equal(it.event, EV_ADDRINFO_ERROR);
	assert_int_equal(it.status, -ETIMEDOUT);
	assert_int_equal(rig.id.state, UCMA_BOUND);
	assert_null(rig.id.services);
}

static void only_a_bound_id_looks_for_services(void **state)
{
	uint8_t kept[SERVICE_RECORD_SIZE];

	(void)state;
	for (unsigned int used = UCMA_IDLE; used <= UCMA_DISCONNECTED; used++) {
		rig.id.state = (enum ucma_state)used;
		if (used != UCMA_BOUND)
			assert_int_equal(service_resolve(BY_ID), EINVAL);
	}
	rig.id.state = UCMA_BOUND;
	rig.id.has_src = false;
	assert_int_equal(service_resolve(BY_ID), EINVAL);
	rig.id.has_src = true;
	rig.id.services = (void *)kept;
	assert_int_equal(service_resolve(BY_ID), EINVAL);
	rig.id.services = NULL;
	rig_make_roce();
	assert_int_equal(service_resolve(BY_ID), EOPNOTSUPP);
	rig.call.resolve_ib_service.id++;
	assert_int_equal(ucma_service_resolve(&rig.call), ENOENT);
	assert_int_equal(it.events, 0);
}

static int service_query(size_t room)
{
	rig.call.query = (struct rdma_ucm_query){ .response = RIG_ADDR, .id = RIG_ID };
	rig.call.hdr.out = (uint16_t)room;
	rig.written = 0;
	memset(rig.memory, 0xee, sizeof(rig.memory));
	return ucma_service_query(&rig.call, &rig.id);
}

static void a_query_fills_the_programs_room(void **state)
{
	const size_t head = sizeof(struct rdma_ucm_query_ib_service_resp);

	(void)state;
	assert_int_equal(service_resolve(BY_ID), 0);
	assert_int_equal(service_query(head), 0);
	assert_int_equal(rig.memory[0], 2);
	assert_int_equal(rig.written, head);
	assert_int_equal(service_query(head + SERVICE_RECORD_SIZE - 1), 0);
	assert_int_equal(rig.written, head);
	assert_int_equal(service_query(head + SERVICE_RECORD_SIZE), 0);
	assert_int_equal(rig.written, head + SERVICE_RECORD_SIZE);
	assert_memory_equal(rig.memory + head, rig.id.services, SERVICE_RECORD_SIZE);
	assert_int_equal(service_query(head + 5 * SERVICE_RECORD_SIZE), 0);
	assert_int_equal(rig.written, head + 2 * SERVICE_RECORD_SIZE);
	assert_memory_equal(rig.memory + head, rig.id.services, 2 * SERVICE_RECORD_SIZE);
	assert_int_equal(rig.memory[0], 2);
}

static void a_query_fails_without_room_or_services(void **state)
{
	const size_t head = sizeof(struct rdma_ucm_query_ib_service_resp);

	(void)state;
	assert_int_equal(service_query(head - 1), ENOSPC);
	assert_int_equal(service_query(head), ENODATA);
	assert_int_equal(rig.written, 0);
	assert_int_equal(service_resolve(BY_ID), 0);
	service_query(head + SERVICE_RECORD_SIZE);
	rig.call.query.response = RIG_ADDR + RIG_MEMORY - head;
	assert_int_equal(ucma_service_query(&rig.call, &rig.id), EFAULT);
	rig.call.query.response = RIG_ADDR - head;
	rig.written = 0;
	assert_int_equal(ucma_service_query(&rig.call, &rig.id), EFAULT);
	assert_int_equal(rig.written, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, service_begin, service_end)
	const struct CMUnitTest tests[] = {
		CASE(a_service_is_wanted_by_what_the_flags_say),
		CASE(a_long_name_ends_before_its_last_byte),
		CASE(the_first_service_is_the_destination),
		CASE(another_hosts_service_has_no_adapter),
		CASE(without_a_network_a_service_is_unknown),
		CASE(the_network_is_asked_for_others),
		CASE(a_service_that_nobody_has_is_an_error),
		CASE(only_a_bound_id_looks_for_services),
		CASE(a_query_fills_the_programs_room),
		CASE(a_query_fails_without_room_or_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
