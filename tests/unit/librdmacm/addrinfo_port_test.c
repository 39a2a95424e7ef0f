/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_port_test.c - which ports are asked for a service, in which order, with which address,
 * and which of several failures is reported. Devices and ids are the test's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/addrinfo_port.c"
#include "tests/unit/heap.h"
#include "tests/unit/log_text.h"

enum { DEVICES = 2, PORTS = 3, ASKED_MAX = 8 };

/* A port has an errno for each call that it lets fail, and the service if none fails. */
struct port {
	int query_fails, gid_fails, bind_fails, resolve_fails, take_fails;
	int state, link_layer; /* 0: active and InfiniBand */
};

static struct {
	int devices, finds_fail;
	int query_fails[DEVICES];
	struct port ports[DEVICES][PORTS + 1];
	int asked[ASKED_MAX], count; /* 10 * device + port */
	struct sockaddr_ib bound;
	int create_fails, ids, put;
	int entries; /* that the service has */
	struct rdma_addrinfo hints;
} it;

static struct ibv_context contexts[DEVICES];
static struct cm_device devices[DEVICES];
static struct rdma_cm_id id;

static struct port *port_of(const struct ibv_context *verbs, uint8_t number)
{
	assert_in_range(number, 1, PORTS);
	return &it.ports[verbs - contexts][number];
}

/* The port that is asked, as its GID says. */
static struct port *bound_port(void)
{
	const uint8_t *gid = it.bound.sib_addr.sib_raw;

	return &it.ports[gid[14]][gid[15]];
}

int rdmacm_device_find_all(struct cm_device ***list, int *num)
{
	if (it.finds_fail)
		return it.finds_fail;
	*list = calloc(DEVICES, sizeof(**list));
	assert_non_null(*list);
	*num = it.devices;
	for (int i = 0; i < it.devices; i++)
		(*list)[i] = &devices[i];
	return 0;
}

void rdmacm_device_put(struct cm_device *device)
{
	assert_ptr_equal(device, &devices[it.put]);
	it.put++;
}

int ibv_query_device(struct ibv_context *verbs, struct ibv_device_attr *attr)
{
	if (it.query_fails[verbs - contexts])
		return it.query_fails[verbs - contexts];
	*attr = (struct ibv_device_attr){ .phys_port_cnt = PORTS };
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *verbs, uint8_t number, struct _compat_ibv_port_attr *attr)
{
	const struct port *port = port_of(verbs, number);
	struct ibv_port_attr *to = (struct ibv_port_attr *)attr;

	if (port->query_fails)
		return port->query_fails;
	to->state = port->state ? port->state : IBV_PORT_ACTIVE;
	to->link_layer = port->link_layer ? port->link_layer : IBV_LINK_LAYER_INFINIBAND;
	return 0;
}

int ibv_query_gid(struct ibv_context *verbs, uint8_t number, int index, union ibv_gid *gid)
{
	const struct port *port = port_of(verbs, number);

	assert_int_equal(index, 0);
	if (port->gid_fails)
		return port->gid_fails;
	*gid = (union ibv_gid){
		.raw = { [0] = 0xfe, [14] = (uint8_t)(verbs - contexts), [15] = number }
	};
	return 0;
}

static int fail_with(int err)
{
	errno = err;
	return err ? -1 : 0;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context,
		   enum rdma_port_space ps)
{
	assert_null(channel); /* its calls wait */
	assert_null(context);
	assert_int_equal(ps, RDMA_PS_IB);
	if (it.create_fails)
		return fail_with(it.create_fails);
	it.ids++;
	*out = &id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *of)
{
	assert_ptr_equal(of, &id);
	it.ids--;
	errno = EDOM; /* clears the errno of the calls before */
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *of, struct sockaddr *addr)
{
	assert_ptr_equal(of, &id);
	memcpy(&it.bound, addr, sizeof(it.bound));
	assert_in_range(it.count, 0, ASKED_MAX - 1);
	it.asked[it.count++] = 10 * it.bound.sib_addr.sib_raw[14] + it.bound.sib_addr.sib_raw[15];
	return fail_with(bound_port()->bind_fails);
}

int rdma_resolve_addrinfo(struct rdma_cm_id *of, const char *node, const char *service,
			  const struct rdma_addrinfo *hints)
{
	assert_ptr_equal(of, &id);
	assert_null(node);
	assert_string_equal(service, "service");
	it.hints = *hints;
	return fail_with(bound_port()->resolve_fails);
}

int rdma_query_addrinfo(struct rdma_cm_id *of, struct rdma_addrinfo **info)
{
	struct rdma_addrinfo *list = NULL;

	assert_ptr_equal(of, &id);
	if (bound_port()->take_fails)
		return fail_with(bound_port()->take_fails);
	for (int i = 0; i < it.entries; i++) {
		struct rdma_addrinfo *entry = calloc(1, sizeof(*entry));

		assert_non_null(entry);
		entry->ai_next = list;
		list = entry;
	}
	*info = list;
	return 0;
}

static int ports_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.devices = DEVICES;
	it.entries = 2;
	for (int i = 0; i < DEVICES; i++) {
		devices[i].verbs = &contexts[i];
		for (int number = 1; number <= PORTS; number++)
			it.ports[i][number].resolve_fails = ENODATA;
	}
	verbs_warn("the log has its memory before blocks are counted");
	log_text();
	heap_begin();
	return 0;
}

static int ports_end(void **state)
{
	(void)state;
	assert_int_equal(heap.blocks, 0);
	assert_int_equal(it.ids, 0);
	return 0;
}

static int service_find(struct rdma_addrinfo **list)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_SA };

	return rdmacm_addrinfo_find_service(NULL, "service", &hints, list);
}

static void check_asked(const int *want, int count)
{
	assert_int_equal(it.count, count);
	for (int i = 0; i < count; i++)
		assert_int_equal(it.asked[i], want[i]);
}

#define CHECK_ASKED(...)                          \
	check_asked((const int[]){ __VA_ARGS__ }, \
		    sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

/* Finds nothing, for ERR. */
static void check_fails(int err)
{
	struct rdma_addrinfo *list = NULL;

	it.count = it.put = 0;
	assert_int_equal(service_find(&list), err);
	assert_null(list);
	assert_int_equal(heap.blocks, 0);
	assert_int_equal(it.ids, 0);
}

static void a_service_is_asked_for_alone(void **state)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	struct rdma_addrinfo *list = NULL;

	(void)state;
	assert_int_equal(rdmacm_addrinfo_find_service("node", "service", &hints, &list),
			 EOPNOTSUPP);
	assert_int_equal(rdmacm_addrinfo_find_service(NULL, NULL, &hints, &list), EINVAL);
	hints.ai_flags |= RAI_DNS;
	assert_int_equal(rdmacm_addrinfo_find_service(NULL, "service", &hints, &list), EOPNOTSUPP);
	assert_int_equal(it.put, 0);
}

static void all_ports_are_asked_until_one_knows_it(void **state)
{
	struct rdma_addrinfo *list = NULL;

	(void)state;
	it.ports[1][2].resolve_fails = 0;
	assert_int_equal(service_find(&list), 0);
	CHECK_ASKED(1, 2, 3, 11, 12);
	assert_string_equal(log_text(), "");
	assert_int_equal(it.put, DEVICES);
	assert_int_equal(it.hints.ai_flags, RAI_SA);
	rdma_freeaddrinfo(list);
	list = NULL;
	it.count = it.put = 0;
	it.ports[0][1].resolve_fails = 0;
	assert_int_equal(service_find(&list), 0);
	CHECK_ASKED(1);
	assert_int_equal(it.put, DEVICES);
	rdma_freeaddrinfo(list);
}

static void each_entry_has_the_port_as_its_source(void **state)
{
	struct rdma_addrinfo *list = NULL;
	struct sockaddr_ib want = { .sib_family = AF_IB,
				    .sib_pkey = htobe16(0xffff),
				    .sib_sid = htobe64(0x013f0000),
				    .sib_sid_mask = htobe64(0xffffffffffff0000) };
	int count = 0;

	(void)state;
	want.sib_addr.sib_raw[0] = 0xfe;
	want.sib_addr.sib_raw[15] = 3;
	it.ports[0][3].resolve_fails = 0;
	it.entries = 3;
	assert_int_equal(service_find(&list), 0);
	assert_memory_equal(&it.bound, &want, sizeof(want));
	for (const struct rdma_addrinfo *info = list; info; info = info->ai_next, count++) {
		assert_int_equal(info->ai_src_len, sizeof(want));
		assert_memory_equal(info->ai_src_addr, &want, sizeof(want));
	}
	assert_int_equal(count, 3);
	rdma_freeaddrinfo(list);
}

static void ports_without_a_subnet_are_not_asked(void **state)
{
	(void)state;
	it.ports[0][1].state = IBV_PORT_DOWN;
	it.ports[0][2].link_layer = IBV_LINK_LAYER_ETHERNET;
	it.ports[0][3].query_fails = EIO;
	it.ports[1][1].gid_fails = -1;
	it.ports[1][3].state = IBV_PORT_INIT;
	check_fails(ENOENT);
	CHECK_ASKED(12);
}

static void a_device_that_fails_does_not_hide_others(void **state)
{
	struct rdma_addrinfo *list = NULL;

	(void)state;
	it.query_fails[0] = EIO;
	check_fails(EIO);
	CHECK_ASKED(11, 12, 13);
	assert_int_equal(it.put, DEVICES);
	it.count = it.put = 0;
	it.ports[1][1].resolve_fails = 0;
	assert_int_equal(service_find(&list), 0);
	rdma_freeaddrinfo(list);
}

/* An error tells more than that a port does not know the service; of two, the first does. */
static void the_first_failure_is_reported(void **state)
{
	(void)state;
	check_fails(ENOENT);
	check_logged("no port's subnet knows service service");
	CHECK_ASKED(1, 2, 3, 11, 12, 13);
	it.ports[0][2].bind_fails = EADDRNOTAVAIL;
	check_fails(EADDRNOTAVAIL);
	check_logged("service service is not found: Cannot assign requested address");
	CHECK_ASKED(1, 2, 3, 11, 12, 13);
	it.ports[1][1].resolve_fails = ETIMEDOUT;
	check_fails(EADDRNOTAVAIL);
	it.ports[0][2].bind_fails = 0;
	check_fails(ETIMEDOUT);
	it.ports[1][1].resolve_fails = 0;
	it.ports[1][1].take_fails = EBUSY;
	check_fails(EBUSY);
	it.create_fails = EMFILE;
	check_fails(EMFILE);
	CHECK_ASKED();
}

static void without_a_device_there_is_no_service(void **state)
{
	(void)state;
	it.finds_fail = ENODEV;
	check_fails(ENOENT);
	it.finds_fail = ENOMEM;
	check_fails(ENOMEM);
	it.finds_fail = 0;
	it.devices = 0;
	check_fails(ENOENT);
}

static void an_entry_without_memory_is_a_failure(void **state)
{
	(void)state;
	it.devices = 1;
	it.ports[0][3].resolve_fails = 0;
	for (unsigned int nth = 4; nth <= 5; nth++) { /* 1: devices, 2 and 3: entries */
		heap_fail_at(nth);
		check_fails(ENOMEM);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ports_begin, ports_end)
	const struct CMUnitTest tests[] = {
		TEST(a_service_is_asked_for_alone),
		TEST(all_ports_are_asked_until_one_knows_it),
		TEST(each_entry_has_the_port_as_its_source),
		TEST(ports_without_a_subnet_are_not_asked),
		TEST(a_device_that_fails_does_not_hide_others),
		TEST(the_first_failure_is_reported),
		TEST(without_a_device_there_is_no_service),
		TEST(an_entry_without_memory_is_a_failure),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
