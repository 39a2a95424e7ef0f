/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * query_test.c - queries of an id: addresses as IP addresses and as GIDs, its path, the older form
 * with both, and responses of every length.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "softhca/front/process/ucma/query.c"

enum { ID = 7, ADDR = 0x1000, SIZE = 1024 };

static struct adapter adapter;
static struct ucma_id id;
static struct ucma_call call;
static uint8_t answer[SIZE];
static size_t answered; /* bytes */

int ucma_id_find(struct ucma_call *uc, uint32_t number, struct ucma_id **out)
{
	assert_ptr_equal(uc, &call);
	*out = &id;
	return number == ID ? 0 : ENOENT;
}

size_t ucma_addr_size(unsigned int family)
{
	return family == AF_INET ? 16 : family == AF_INET6 ? 28 : family == AF_IB_FAMILY ? 48 : 0;
}

uint16_t ucma_addr_port(const struct sockaddr_storage *addr)
{
	return be16toh(((const struct sockaddr_in *)addr)->sin_port);
}

void ucma_addr_put(struct sockaddr_storage *addr, unsigned int family, const uint8_t host[16],
		   uint16_t ps, uint16_t port)
{
	assert_int_equal(family, AF_IB_FAMILY);
	assert_int_equal(ps, 0x106);
	memset(addr, 0, sizeof(*addr));
	addr->ss_family = (sa_family_t)family;
	memcpy((uint8_t *)addr + 8, host, 16);
	memcpy((uint8_t *)addr + 24, &port, sizeof(port));
}

int caller_write(const struct call *of, uint64_t addr, const void *data, size_t size)
{
	(void)of;
	assert_in_range(addr, ADDR, ADDR + SIZE - size);
	memcpy(answer + addr - ADDR, data, size);
	answered = addr - ADDR + size;
	return 0;
}

int ucma_service_query(struct ucma_call *uc, const struct ucma_id *of)
{
	(void)uc;
	assert_ptr_equal(of, &id);
	return EDOM;
}

static void put_ip(struct ucma_end *end, uint8_t last)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htobe16(7000 + last) };

	addr.sin_addr.s_addr = htobe32(0x0a000000 + last);
	memcpy(&end->addr, &addr, sizeof(addr));
	memset(end->gid, last, sizeof(end->gid));
}

static int query_begin(void **state)
{
	(void)state;
	memset(&id, 0, sizeof(id));
	memset(&call, 0, sizeof(call));
	memset(answer, 0xee, sizeof(answer));
	answered = 0;
	adapter.node_guid = 0x1122334455667788;
	adapter.index = 5;
	id.ps = 0x106;
	id.has_src = id.has_dst = true;
	id.src.adapter = &adapter;
	id.src.port = 2;
	put_ip(&id.src, 1);
	put_ip(&id.dst, 2);
	id.path = (struct cm_path){ .dlid = 0x21,
				    .slid = 0x12,
				    .flow_label = 0x34567,
				    .hop_limit = 9,
				    .traffic_class = 0x21,
				    .sl = 3,
				    .mtu = 4,
				    .rate = 7,
				    .lifetime = 18 };
	memset(id.path.dgid, 0xd, 16);
	memset(id.path.sgid, 0x5, 16);
	call.hdr.out = SIZE;
	call.query = (struct rdma_ucm_query){ .id = ID, .response = ADDR };
	return 0;
}

static int query_id(uint32_t option, uint16_t room)
{
	call.query.option = option;
	call.hdr.out = room;
	memset(answer, 0xee, sizeof(answer));
	answered = 0;
	return ucma_id_query(&call);
}

static void addresses_are_as_bound(void **state)
{
	const struct rdma_ucm_query_addr_resp *resp = (const void *)answer;

	(void)state;
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_ADDR, SIZE), 0);
	assert_int_equal(answered, sizeof(*resp));
	assert_int_equal(resp->src_size, 16);
	assert_int_equal(resp->dst_size, 16);
	assert_memory_equal(&resp->src_addr, &id.src.addr, 16);
	assert_memory_equal(&resp->dst_addr, &id.dst.addr, 16);
	assert_true(resp->node_guid == htobe64(adapter.node_guid));
	assert_int_equal(resp->port_num, 2);
	assert_int_equal(resp->pkey, 0xffff);
	assert_int_equal(resp->ibdev_index, 5);
}

static void gids_are_addresses_of_infiniband(void **state)
{
	const struct rdma_ucm_query_addr_resp *resp = (const void *)answer;
	uint16_t port;

	(void)state;
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_GID, SIZE), 0);
	assert_int_equal(resp->src_size, 48);
	assert_int_equal(resp->dst_size, 48);
	assert_memory_equal((const uint8_t *)&resp->src_addr + 8, id.src.gid, 16);
	assert_memory_equal((const uint8_t *)&resp->dst_addr + 8, id.dst.gid, 16);
	memcpy(&port, (const uint8_t *)&resp->dst_addr + 24, sizeof(port));
	assert_int_equal(port, 7002);
	assert_int_equal(resp->port_num, 2);
}

static void an_id_without_an_adapter_names_none(void **state)
{
	const struct rdma_ucm_query_addr_resp *resp = (const void *)answer;

	(void)state;
	id.has_src = false;
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_ADDR, SIZE), 0);
	assert_true(!resp->node_guid && !resp->port_num && !resp->pkey && !resp->ibdev_index);
}

/* A short response is cut before the index, as older programs have no room for it, and those before
 * have too little for any answer. */
static void a_short_response_is_cut_before_the_index(void **state)
{
	enum { LEAST = offsetof(struct rdma_ucm_query_addr_resp, ibdev_index) };
	static const uint32_t options[] = { RDMA_USER_CM_QUERY_ADDR, RDMA_USER_CM_QUERY_GID };

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(query_id(options[i], LEAST), 0);
		assert_int_equal(answered, LEAST);
		assert_int_equal(query_id(options[i], LEAST - 1), ENOSPC);
		assert_int_equal(answered, 0);
	}
}

static void a_path_is_there_after_it_is_resolved(void **state)
{
	const struct rdma_ucm_query_path_resp *resp = (const void *)answer;
	const struct ib_path_rec_data *data = (const void *)(answer + sizeof(*resp));
	const uint8_t *record = (const uint8_t *)data->path_rec;

	(void)state;
	id.state = UCMA_ROUTE_RESOLVED - 1;
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_PATH, SIZE), 0);
	assert_int_equal(resp->num_paths, 0);
	assert_int_equal(answered, sizeof(*resp));
	id.state = UCMA_ROUTE_RESOLVED;
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_PATH, SIZE), 0);
	assert_int_equal(resp->num_paths, 1);
	assert_int_equal(answered, sizeof(*resp) + sizeof(*data));
	assert_int_equal(data->flags, 0x2b); /* GMP, primary, both directions */
	assert_memory_equal(record + 8, id.path.dgid, 16);
	assert_memory_equal(record + 24, id.path.sgid, 16);
	assert_memory_equal(record + 40, "\x00\x21\x00\x12", 4);
	assert_int_equal(fld_get(record, PATH_FLOW_LABEL), 0x34567);
	assert_int_equal(fld_get(record, PATH_HOP_LIMIT), 9);
	assert_int_equal(fld_get(record, PATH_TCLASS), 0x21);
	assert_int_equal(fld_get(record, PATH_PKEY), 0xffff);
	assert_int_equal(fld_get(record, PATH_SL), 3);
	assert_int_equal(fld_get(record, PATH_MTU), 4);
	assert_int_equal(fld_get(record, PATH_RATE), 7);
	assert_int_equal(fld_get(record, PATH_LIFETIME), 18);
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_PATH, sizeof(*resp)), 0); /* no room for it */
	assert_int_equal(answered, sizeof(*resp));
	id.has_dst = false;
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_PATH, SIZE), 0);
	assert_int_equal(resp->num_paths, 0);
}

static void other_queries_are_unknown(void **state)
{
	(void)state;
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_IB_SERVICE, SIZE), EDOM);
	assert_int_equal(query_id(77, SIZE), ENOSYS);
	call.query.id = ID + 1;
	assert_int_equal(query_id(RDMA_USER_CM_QUERY_ADDR, SIZE), ENOENT);
	assert_int_equal(ucma_id_query_route(&call), ENOENT);
}

static int query_route(size_t room)
{
	call.hdr.out = (uint16_t)room;
	memset(answer, 0xee, sizeof(answer));
	answered = 0;
	return ucma_id_query_route(&call);
}

static void the_older_query_has_addresses_and_path(void **state)
{
	enum { LEAST = offsetof(struct rdma_ucm_query_route_resp, ibdev_index) };
	const struct rdma_ucm_query_route_resp *resp = (const void *)answer;

	(void)state;
	assert_int_equal(query_route(SIZE), 0);
	assert_int_equal(answered, sizeof(*resp));
	assert_int_equal(resp->num_paths, 0);
	assert_memory_equal(resp->ib_route[0].sgid, id.src.gid, 16);
	assert_memory_equal(resp->ib_route[0].dgid, id.dst.gid, 16);
	assert_int_equal(resp->ib_route[0].pkey, 0xffff);
	assert_int_equal(resp->port_num, 2);
	assert_int_equal(resp->ibdev_index, 5);
	assert_memory_equal(&resp->src_addr, &id.src.addr, sizeof(resp->src_addr));
	assert_memory_equal(&resp->dst_addr, &id.dst.addr, sizeof(resp->dst_addr));
	id.state = UCMA_ROUTE_RESOLVED;
	assert_int_equal(query_route(SIZE), 0);
	assert_int_equal(resp->num_paths, 1);
	assert_memory_equal(resp->ib_route[0].dgid, id.path.dgid, 16);
	assert_int_equal(resp->ib_route[0].dlid, htobe16(0x21));
	assert_int_equal(resp->ib_route[0].slid, htobe16(0x12));
	assert_int_equal(resp->ib_route[0].flow_label, htobe32(0x34567));
	assert_int_equal(resp->ib_route[0].packet_life_time, 18);
	assert_int_equal(query_route(LEAST), 0);
	assert_int_equal(answered, LEAST);
	assert_int_equal(query_route(LEAST - 1), ENOSPC);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, query_begin)
	const struct CMUnitTest tests[] = {
		TEST(addresses_are_as_bound),
		TEST(gids_are_addresses_of_infiniband),
		TEST(an_id_without_an_adapter_names_none),
		TEST(a_short_response_is_cut_before_the_index),
		TEST(a_path_is_there_after_it_is_resolved),
		TEST(other_queries_are_unknown),
		TEST(the_older_query_has_addresses_and_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
