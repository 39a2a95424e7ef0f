/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer_way_test.c - the way to a peer of a datagram socket: when it is looked for, what each event
 * of rdma_cm leads to, the attributes of its address handle, and the source GID.
 *
 * Covers: librdmacm/rsocket/dgram/peer.c
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/rsocket/dgram/peer.c"

enum { PORT = 2, GIDS = 4, SECOND_US = 1000000 };

static struct {
	int64_t now_us;
	int no_id, address_error, route_error, no_ah;
	unsigned int address_queries, route_queries, ended, made;
	struct sockaddr_storage from, to;
	struct ibv_ah_attr attr;
	uint8_t link_layer;
	int port_error;
	struct ibv_gid_entry gids[GIDS];
	int unreadable; /* entry of the GID table; -1: none */
	int asked_gids;
} it;

static struct dgram dgram;
static struct dgram_link the_link;
static struct dgram_peer peer;
static struct verbs_context device;
static struct rdma_cm_id of_link, resolver;
static struct ibv_sa_path_rec path;
static struct ibv_pd pd;
static struct ibv_ah way;

int rdmacm_dgram_link_get(struct dgram *of, const struct sockaddr_storage *local,
			  struct dgram_link **out)
{
	(void)of, (void)local;
	*out = &the_link;
	return 0;
}

int rdmacm_dgram_new_id(struct dgram *of, void *context, struct rdma_cm_id **id)
{
	assert_ptr_equal(of, &dgram);
	assert_ptr_equal(context, &peer);
	if (!it.no_id)
		*id = &resolver;
	return it.no_id;
}

void rdmacm_rs_destroy_id(struct rdma_cm_id *id)
{
	(void)id;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	assert_ptr_equal(id, &resolver);
	it.ended++;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	(void)event;
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int ms)
{
	assert_ptr_equal(id, &resolver);
	assert_int_equal(ms, 2000);
	memcpy(&it.from, src, sizeof(it.from));
	memcpy(&it.to, dst, sizeof(it.to));
	it.address_queries++;
	return it.address_error;
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms)
{
	assert_ptr_equal(id, &resolver);
	assert_int_equal(ms, 2000);
	it.route_queries++;
	return it.route_error;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		      size_t size)
{
	assert_ptr_equal(context, &device.context);
	assert_int_equal(port, PORT);
	memset(attr, 0, size);
	attr->link_layer = it.link_layer;
	attr->gid_tbl_len = GIDS;
	return it.port_error;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	assert_ptr_equal(context, &device.context);
	assert_int_equal(port, PORT);
	assert_int_equal(flags, 0);
	assert_int_equal(size, sizeof(*entry));
	assert_in_range(index, 0, GIDS - 1);
	it.asked_gids++;
	if ((int)index == it.unreadable)
		return ENODATA;
	*entry = it.gids[index];
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *of, struct ibv_ah_attr *attr)
{
	assert_ptr_equal(of, &pd);
	it.attr = *attr;
	it.made++;
	return it.no_ah ? NULL : &way;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	return 0;
}

int64_t rdmacm_rs_now_us(void)
{
	return it.now_us;
}

socklen_t rdmacm_addr_len(const struct sockaddr *addr)
{
	(void)addr;
	return sizeof(struct sockaddr_in);
}

static struct sockaddr_storage v4_of(uint32_t host, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_storage addr = { 0 };

	in.sin_addr.s_addr = htonl(host);
	memcpy(&addr, &in, sizeof(in));
	return addr;
}

static int way_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&dgram, 0, sizeof(dgram));
	it.unreadable = -1;
	it.link_layer = IBV_LINK_LAYER_INFINIBAND;
	device = (struct verbs_context){
		.context.abi_compat = __VERBS_ABI_IS_EXTENDED,
		.sz = sizeof(device),
		.query_port = query_port,
	};
	of_link = (struct rdma_cm_id){ .verbs = &device.context, .port_num = PORT, .pd = &pd };
	resolver = (struct rdma_cm_id){ .verbs = &device.context, .port_num = PORT };
	resolver.context = &peer;
	resolver.route.path_rec = &path;
	the_link = (struct dgram_link){ .id = &of_link, .local = v4_of(0x0a000001, 7) };
	peer = (struct dgram_peer){ .link = &the_link, .addr = v4_of(0x0a000002, 8) };
	path = (struct ibv_sa_path_rec){ .dlid = htobe16(0x1234),
					 .sl = 3,
					 .rate = 7,
					 .hop_limit = 1,
					 .traffic_class = 0x21,
					 .flow_label = htobe32(0x12345) };
	memset(&path.dgid, 0xd1, sizeof(path.dgid));
	memset(&path.sgid, 0x51, sizeof(path.sgid));
	for (int i = 0; i < GIDS; i++)
		it.gids[i].gid_type = IBV_GID_TYPE_IB;
	return 0;
}

static void event_happens(enum rdma_cm_event_type what)
{
	struct rdma_cm_event event = { .id = &resolver, .event = what };

	rdmacm_dgram_take_event(&event);
}

static void a_found_peer_is_looked_for(void **state)
{
	const struct sockaddr_storage from = v4_of(0x0a000001, 7), to = v4_of(0x0a000002, 0);

	(void)state;
	rdmacm_dgram_peer_found(&dgram, &peer, 0x4321);
	assert_int_equal(peer.qpn, 0x4321);
	assert_int_equal(it.address_queries, 1);
	assert_memory_equal(&it.from, &from, sizeof(from));
	assert_memory_equal(&it.to, &to, sizeof(to));
	assert_ptr_equal(peer.resolver, &resolver);
	it.now_us += SECOND_US;
	rdmacm_dgram_peer_found(&dgram, &peer, 0x4321);
	assert_int_equal(it.address_queries, 1);
	peer.resolver = NULL;
	peer.ah = &way;
	rdmacm_dgram_peer_found(&dgram, &peer, 0x4321);
	assert_int_equal(it.address_queries, 1);
}

static void looks_become_rare(void **state)
{
	int64_t pause = SECOND_US;

	(void)state;
	it.address_error = -1;
	for (unsigned int i = 1; i < 10; i++) {
		rdmacm_dgram_peer_found(&dgram, &peer, 1);
		assert_int_equal(it.address_queries, i);
		assert_int_equal(it.ended, i);
		assert_null(peer.resolver);
		it.now_us += pause - 1;
		rdmacm_dgram_peer_found(&dgram, &peer, 1);
		assert_int_equal(it.address_queries, i);
		it.now_us++;
		pause = pause < 64 * SECOND_US ? 2 * pause : pause;
	}
}

static void without_an_id_there_is_no_query(void **state)
{
	(void)state;
	it.no_id = ENODEV;
	rdmacm_dgram_peer_found(&dgram, &peer, 1);
	assert_int_equal(it.address_queries + it.ended, 0);
	assert_null(peer.resolver);
}

static void a_route_follows_the_address(void **state)
{
	(void)state;
	peer.resolver = &resolver;
	event_happens(RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(it.route_queries, 1);
	assert_ptr_equal(peer.resolver, &resolver);
	it.route_error = -1;
	event_happens(RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_null(peer.resolver);
	assert_int_equal(it.ended, 1);
	peer.resolver = &resolver;
	event_happens(RDMA_CM_EVENT_ADDR_ERROR);
	assert_null(peer.resolver);
	assert_int_equal(it.ended, 2);
	event_happens(RDMA_CM_EVENT_ADDR_ERROR);
	assert_int_equal(it.ended, 2);
	resolver.context = NULL;
	event_happens(RDMA_CM_EVENT_DEVICE_REMOVAL);
	assert_int_equal(it.ended, 2);
	assert_int_equal(it.made, 0);
}

static void route_found(void)
{
	peer.ah = NULL;
	peer.resolver = &resolver;
	it.ended = it.made = 0;
	event_happens(RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_null(peer.resolver);
	assert_int_equal(it.ended, 1);
	assert_ptr_equal(peer.ah, it.made && !it.no_ah ? &way : NULL);
}

static void check_local(void)
{
	assert_int_equal(it.attr.dlid, 0x1234);
	assert_int_equal(it.attr.sl, 3);
	assert_int_equal(it.attr.static_rate, 7);
	assert_int_equal(it.attr.port_num, PORT);
}

static void a_way_on_infiniband_needs_no_gid(void **state)
{
	(void)state;
	route_found();
	assert_int_equal(it.made, 1);
	check_local();
	assert_int_equal(it.attr.is_global, 0);
	path.hop_limit = 0;
	route_found();
	assert_int_equal(it.attr.is_global, 0);
	it.no_ah = 1;
	route_found();
	assert_int_equal(it.made, 1);
}

static void a_way_over_a_router_has_a_gid(void **state)
{
	(void)state;
	path.hop_limit = 2;
	route_found();
	assert_int_equal(it.made, 0);
	it.gids[3].gid = path.sgid;
	route_found();
	assert_int_equal(it.made, 1);
	check_local();
	assert_int_equal(it.attr.is_global, 1);
	assert_memory_equal(&it.attr.grh.dgid, &path.dgid, sizeof(path.dgid));
	assert_int_equal(it.attr.grh.sgid_index, 3);
	assert_int_equal(it.attr.grh.flow_label, 0x12345);
	assert_int_equal(it.attr.grh.traffic_class, 0x21);
	assert_int_equal(it.attr.grh.hop_limit, 2);
	it.unreadable = 3;
	route_found();
	assert_int_equal(it.made, 0);
}

static void a_way_on_roce_has_a_gid_of_version_2(void **state)
{
	(void)state;
	it.link_layer = IBV_LINK_LAYER_ETHERNET;
	for (int i = 0; i < GIDS; i++)
		it.gids[i].gid_type = i % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
	it.gids[0].gid = path.sgid;
	route_found();
	assert_int_equal(it.made, 1);
	assert_int_equal(it.attr.grh.sgid_index, 0);
	assert_int_equal(it.attr.grh.hop_limit, 64);
	it.gids[2].gid = it.gids[1].gid = it.gids[3].gid = path.sgid;
	it.asked_gids = 0;
	route_found();
	assert_int_equal(it.attr.grh.sgid_index, 1);
	assert_int_equal(it.asked_gids, 2);
	it.gids[1].gid_type = IBV_GID_TYPE_ROCE_V1;
	route_found();
	assert_int_equal(it.attr.grh.sgid_index, 3);
}

static void a_way_needs_a_path_and_a_port(void **state)
{
	(void)state;
	it.port_error = EIO;
	route_found();
	assert_int_equal(it.made, 0);
	it.port_error = 0;
	resolver.route.path_rec = NULL;
	route_found();
	assert_int_equal(it.made, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, way_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_found_peer_is_looked_for),           CASE(looks_become_rare),
		CASE(without_an_id_there_is_no_query),      CASE(a_route_follows_the_address),
		CASE(a_way_on_infiniband_needs_no_gid),     CASE(a_way_over_a_router_has_a_gid),
		CASE(a_way_on_roce_has_a_gid_of_version_2), CASE(a_way_needs_a_path_and_a_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
