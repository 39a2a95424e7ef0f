/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the eviction of peers when a datagram socket knows as many as it can, and the address
 * handles of peers (rsocket/dgram/peer.c). The socket has one link and no device; the test replaces
 * the rest of the library.
 *
 * Covers: librdmacm/rsocket/dgram/peer.c
 */
#include "tests/unit/libibverbs/unit.h"
#include "librdmacm/rsocket/dgram/dgram.h"

#include <arpa/inet.h>
#include <search.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 65536, SENDS = 4 };

static struct dgram_link the_link;
static struct ibv_ah way;
static int destroyed, made, ended;
static bool has_no_node; /* tsearch() finds no memory for a node */

int rdmacm_dgram_link_get(struct dgram *dgram, const struct sockaddr_storage *local,
			  struct dgram_link **out)
{
	(void)dgram, (void)local;
	*out = &the_link;
	return 0;
}

int rdmacm_dgram_new_id(struct dgram *dgram, void *context, struct rdma_cm_id **id)
{
	(void)dgram, (void)context, (void)id;
	return ENODEV;
}

void rdmacm_rs_destroy_id(struct rdma_cm_id *id)
{
	(void)id;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	(void)id;
	ended++;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	(void)event;
	return 0;
}

/* Says that each port is on InfiniBand. */
static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		      size_t size)
{
	(void)context, (void)port;
	memset(attr, 0, size);
	attr->link_layer = IBV_LINK_LAYER_INFINIBAND;
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	(void)pd, (void)attr;
	made++;
	return &way;
}

void *__real_tsearch(const void *key, void **root, int (*compare)(const void *, const void *));
void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
	__attribute__((visibility("default")));

void *__wrap_tsearch(const void *key, void **root, int (*compare)(const void *, const void *))
{
	return has_no_node ? NULL : __real_tsearch(key, root, compare);
}

int64_t rdmacm_rs_now_us(void)
{
	return 0;
}

socklen_t rdmacm_addr_len(const struct sockaddr *addr)
{
	(void)addr;
	return sizeof(struct sockaddr_in);
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	destroyed++;
	return 0;
}

static struct dgram_peer *peer_meet(struct dgram *dgram, uint32_t host)
{
	struct sockaddr_storage addr = { 0 };
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	struct dgram_peer *peer;

	*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(7) };
	in->sin_addr.s_addr = htonl(0x0a000000 + host);
	return rdmacm_dgram_peer_get(dgram, &addr, &peer) ? NULL : peer;
}

static struct dgram *dgram_new(void)
{
	static struct dgram dgram;
	struct sockaddr_in here = { .sin_family = AF_INET };

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	dgram = (struct dgram){ .rs.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) };
	assert_int_equal(bind(dgram.rs.fd, (struct sockaddr *)&here, sizeof(here)), 0);
	TAILQ_INIT(&dgram.used_peers);
	the_link = (struct dgram_link){ .sends = SENDS };
	destroyed = made = ended = 0;
	return &dgram;
}

/* Returns a socket at its limit of peers, each of which got a message in turn. */
static struct dgram *dgram_that_knows_many(void)
{
	struct dgram *dgram = dgram_new();
	struct dgram_peer *peer;

	for (uint32_t host = 0; host < MOST; host++) {
		peer = peer_meet(dgram, host);
		assert_non_null(peer);
		peer->ah = &way;
		peer->sent_until = ++the_link.sq_put;
	}
	the_link.sq_done = the_link.sq_put - SENDS;
	return dgram;
}

static void dgram_end(struct dgram *dgram)
{
	rdmacm_dgram_peers_free(dgram);
	close(dgram->rs.fd);
}

/* A busy server always has answers in flight, so these must not prevent eviction. */
static void a_busy_link_is_no_reason_to_remember(void **state)
{
	struct dgram *dgram = dgram_that_knows_many();

	(void)state;
	assert_non_null(peer_meet(dgram, MOST));
	assert_int_equal(destroyed, 1);
	dgram_end(dgram);
}

/* A peer stays while a send to it is in flight, since the send uses its address handle. */
static void whom_a_send_is_on_its_way_to_is_remembered(void **state)
{
	struct dgram *dgram = dgram_that_knows_many();

	(void)state;
	the_link.sq_done = 0; /* no send has completed */
	assert_null(peer_meet(dgram, MOST));
	assert_int_equal(destroyed, 0);
	the_link.sq_done = 1;
	for (int tries = 0; tries < MOST / 32 && !destroyed; tries++)
		peer_meet(dgram, MOST);
	assert_int_equal(destroyed, 1);
	assert_null(peer_meet(dgram, MOST + 1));
	dgram_end(dgram);
}

/* Other threads wait for the lock during the search, so it must be short. */
static void a_look_at_those_in_use_is_short(void **state)
{
	struct dgram *dgram = dgram_that_knows_many();
	int tries = 0;

	(void)state;
	the_link.sq_done = the_link.sq_put;
	for (uint32_t host = 0; host < MOST; host++)
		peer_meet(dgram, host)->senders = host != MOST / 2;
	assert_null(peer_meet(dgram, MOST));
	while (!peer_meet(dgram, MOST) && tries < MOST)
		tries++;
	assert_in_range(tries, 1, MOST / 32);
	dgram_end(dgram);
}

static struct sockaddr_storage v6_of(const char *text, uint32_t scope)
{
	struct sockaddr_storage addr = { 0 };
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)&addr;

	*in = (struct sockaddr_in6){ .sin6_family = AF_INET6,
				     .sin6_port = htons(7),
				     .sin6_scope_id = scope };
	assert_int_equal(inet_pton(AF_INET6, text, &in->sin6_addr), 1);
	return addr;
}

/* Each network may have a host of the same link-local address, so the network counts; other
 * addresses are unique. */
static void link_local_addresses_are_of_a_network(void **state)
{
	const struct sockaddr_storage one = v6_of("fe80::1", 2), other = v6_of("fe80::1", 3);
	const struct sockaddr_storage global = v6_of("2001:db8::1", 2);
	const struct sockaddr_storage same = v6_of("2001:db8::1", 0);

	(void)state;
	assert_false(rdmacm_dgram_same_address(&one, &other));
	assert_true(rdmacm_dgram_same_address(&one, &one));
	assert_true(rdmacm_dgram_same_address(&global, &same));
}

/* A connected socket accepts messages of its peer only, as UDP's does. */
static void addresses_in_packets_are_of_the_links_network(void **state)
{
	const struct dgram_link link = { .local = v6_of("fe80::2", 3) };
	struct sockaddr_storage from = v6_of("fe80::1", 0), global = v6_of("2001:db8::1", 0);
	const struct sockaddr_storage peer = v6_of("fe80::1", 3);

	(void)state;
	rdmacm_dgram_complete_address(&from, &link);
	assert_true(rdmacm_dgram_same_address(&from, &peer));
	rdmacm_dgram_complete_address(&global, &link);
	assert_int_equal(((struct sockaddr_in6 *)&global)->sin6_scope_id, 0);
}

static void a_peer_without_memory_is_refused(void **state)
{
	const struct sockaddr_storage addr = v6_of("2001:db8::1", 0);
	struct dgram *dgram = dgram_new();
	struct dgram_peer *peer;

	(void)state;
	has_no_node = true;
	assert_int_equal(rdmacm_dgram_peer_get(dgram, &addr, &peer), ENOMEM);
	has_no_node = false;
	assert_int_equal(dgram->peer_count, 0);
	assert_true(TAILQ_EMPTY(&dgram->used_peers));
	assert_int_equal(rdmacm_dgram_peer_get(dgram, &addr, &peer), 0);
	dgram_end(dgram);
}

/* The address handle belongs to the link's device and port, so a route that leaves by another one
 * gives none. */
static void a_way_leaves_by_the_links_port(void **state)
{
	struct verbs_context devices[2] = { 0 };
	struct ibv_sa_path_rec path = { .hop_limit = 1 };
	struct rdma_cm_id of_link = { .port_num = 1 }, resolver = { 0 };
	struct rdma_cm_event event = { .id = &resolver, .event = RDMA_CM_EVENT_ROUTE_RESOLVED };
	struct dgram *dgram = dgram_new();
	struct dgram_peer *peer = peer_meet(dgram, 1);

	(void)state;
	assert_non_null(peer);
	for (int i = 0; i < 2; i++)
		devices[i] = (struct verbs_context){
			.context.abi_compat = __VERBS_ABI_IS_EXTENDED,
			.sz = sizeof(devices[i]),
			.query_port = query_port,
		};
	of_link.verbs = &devices[0].context;
	the_link.id = &of_link;
	resolver.context = peer;
	resolver.route.path_rec = &path;
	for (int way_of = 0; way_of < 4; way_of++) {
		resolver.verbs = &devices[way_of & 1].context;
		resolver.port_num = way_of & 2 ? 2 : 1;
		peer->resolver = &resolver;
		made = ended = 0;
		rdmacm_dgram_take_event(&event);
		assert_null(peer->resolver);
		assert_int_equal(ended, 1);
		assert_int_equal(made, way_of == 0);
		assert_ptr_equal(peer->ah, way_of == 0 ? &way : NULL);
		peer->ah = NULL;
	}
	dgram_end(dgram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_link_is_no_reason_to_remember),
		cmocka_unit_test(whom_a_send_is_on_its_way_to_is_remembered),
		cmocka_unit_test(a_look_at_those_in_use_is_short),
		cmocka_unit_test(link_local_addresses_are_of_a_network),
		cmocka_unit_test(addresses_in_packets_are_of_the_links_network),
		cmocka_unit_test(a_peer_without_memory_is_refused),
		cmocka_unit_test(a_way_leaves_by_the_links_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
