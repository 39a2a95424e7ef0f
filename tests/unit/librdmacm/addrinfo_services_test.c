/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_services_test.c - what an id gets from the subnet's service records: an entry for each,
 * and the first one as its destination. The kernel's answer is the test's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/addrinfo_services.c"
#include "tests/unit/heap.h"

static struct {
	uint32_t says, gives; /* number of records */
	int query_fails, route_fails, routes;
} it;

static struct cm_id cm;

int rdmacm_id_query(struct cm_id *id, uint32_t what, void *resp, size_t size)
{
	struct rdma_ucm_query_ib_service_resp *answer = resp;
	const size_t room = (size - sizeof(*answer)) / sizeof(answer->recs[0]);

	assert_ptr_equal(id, &cm);
	assert_int_equal(what, RDMA_USER_CM_QUERY_IB_SERVICE);
	assert_int_equal(room, MAX_SERVICES);
	assert_int_equal(answer->num_service_recs, 0);
	if (it.query_fails)
		return it.query_fails;
	answer->num_service_recs = it.says;
	for (uint32_t i = 0; i < it.gives && i < room; i++) {
		answer->recs[i].id = htobe64(0x1000000000000000 + i);
		answer->recs[i].pkey = htobe16((uint16_t)(0x8000 + i));
		answer->recs[i].gid[0] = 0xfe;
		answer->recs[i].gid[15] = (uint8_t)i;
	}
	return 0;
}

int rdmacm_id_query_route(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	it.routes++;
	return it.route_fails;
}

static int id_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&cm, 0, sizeof(cm));
	cm.found_flags = RAI_SA;
	heap_begin();
	return 0;
}

static int id_end(void **state)
{
	(void)state;
	rdma_freeaddrinfo(cm.found);
	assert_int_equal(heap.blocks, 0);
	return 0;
}

static void answer_with(uint32_t count)
{
	it.says = it.gives = count;
}

static void check_entry(const struct rdma_addrinfo *info, uint32_t i)
{
	struct sockaddr_ib want = { .sib_family = AF_IB,
				    .sib_pkey = htobe16((uint16_t)(0x8000 + i)),
				    .sib_sid = htobe64(0x1000000000000000 + i),
				    .sib_sid_mask = htobe64(UINT64_MAX) };

	want.sib_addr.sib_raw[0] = 0xfe;
	want.sib_addr.sib_raw[15] = (uint8_t)i;
	assert_int_equal(info->ai_flags, RAI_SA);
	assert_int_equal(info->ai_family, AF_IB);
	assert_int_equal(info->ai_port_space, RDMA_PS_IB);
	assert_int_equal(info->ai_dst_len, sizeof(want));
	assert_memory_equal(info->ai_dst_addr, &want, sizeof(want));
	assert_null(info->ai_src_addr);
	assert_int_equal(info->ai_src_len, 0);
	assert_int_equal(info->ai_qp_type, 0);
}

static void each_record_is_an_entry_in_its_order(void **state)
{
	static const struct {
		uint32_t says, entries;
	} cases[] = { { 1, 1 },
		      { 3, 3 },
		      { MAX_SERVICES, MAX_SERVICES },
		      { MAX_SERVICES + 1, MAX_SERVICES } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t count = 0;

		answer_with(cases[i].says);
		assert_int_equal(rdmacm_addrinfo_take_services(&cm), 0);
		for (const struct rdma_addrinfo *info = cm.found; info; info = info->ai_next)
			check_entry(info, count++);
		assert_int_equal(count, cases[i].entries);
		rdma_freeaddrinfo(cm.found);
		cm.found = NULL;
	}
}

static void the_first_one_is_the_destination(void **state)
{
	struct sockaddr_ib sib;

	(void)state;
	answer_with(2);
	assert_int_equal(rdmacm_addrinfo_take_services(&cm), 0);
	assert_int_equal(it.routes, 1);
	memcpy(&sib, &cm.id.route.addr.dst_storage, sizeof(sib));
	assert_int_equal(sib.sib_family, AF_IB);
	assert_int_equal(sib.sib_sid, htobe64(0x1000000000000000));
	assert_int_equal(sib.sib_addr.sib_raw[0], 0xfe);
}

static void what_fails_leaves_no_entry(void **state)
{
	static const struct {
		uint32_t count;
		int query, route, err;
		unsigned int nth; /* allocation that fails */
	} cases[] = { { 0, 0, 0, ENODATA, 0 },     { 1, EPERM, 0, EPERM, 0 },
		      { 2, 0, ENODEV, ENODEV, 0 }, { 2, 0, 0, ENOMEM, 1 },
		      { 2, 0, 0, ENOMEM, 2 },      { 2, 0, 0, ENOMEM, 3 },
		      { 2, 0, 0, ENOMEM, 4 } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		it.routes = 0;
		answer_with(cases[i].count);
		it.query_fails = cases[i].query;
		it.route_fails = cases[i].route;
		heap_fail_at(cases[i].nth);
		assert_int_equal(rdmacm_addrinfo_take_services(&cm), cases[i].err);
		assert_null(cm.found);
		assert_int_equal(heap.blocks, 0);
		assert_int_equal(it.routes, cases[i].route != 0);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, id_begin, id_end)
	const struct CMUnitTest tests[] = {
		TEST(each_record_is_an_entry_in_its_order),
		TEST(the_first_one_is_the_destination),
		TEST(what_fails_leaves_no_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
