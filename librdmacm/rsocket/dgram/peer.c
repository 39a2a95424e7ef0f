/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peer.c - other sockets, by address and port: the link to use, their QPN, and the route.
 *
 * rdma_cm resolves address and route as for a connection; an address handle is created from the
 * path. A peer without a route is reached over UDP.
 */
#include "librdmacm/rsocket/dgram/dgram.h"

#include <endian.h>
#include <infiniband/sa.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RESOLVE_MS = 2000, MOST_PEERS = 65536, MOST_LOOKS = 64, ROUTED_HOPS = 64 };
/* pause between attempts to resolve a route, doubled each time, so that a peer without a route
 * costs little */
enum { FIRST_PAUSE_US = 1000000, MOST_DOUBLINGS = 6 };

static const struct sockaddr *plain_addr(const struct sockaddr_storage *addr)
{
	return (const struct sockaddr *)addr;
}

/* Returns the scope, which only distinguishes link-local addresses. */
static uint32_t scope_of(const struct sockaddr_in6 *addr)
{
	return IN6_IS_ADDR_LINKLOCAL(&addr->sin6_addr) ? addr->sin6_scope_id : 0;
}

static int compare_v6(const struct sockaddr_in6 *a, const struct sockaddr_in6 *b)
{
	int ret = memcmp(&a->sin6_addr, &b->sin6_addr, sizeof(a->sin6_addr));

	if (ret || scope_of(a) == scope_of(b))
		return ret;
	return scope_of(a) < scope_of(b) ? -1 : 1;
}

/* Compares addresses, without flow information and padding, which differ between packets of one
 * peer. */
static int compare_addr(const void *left, const void *right)
{
	const struct sockaddr_in6 *a = left, *b = right;
	const struct sockaddr_in *a4 = left, *b4 = right;

	if (a->sin6_family != b->sin6_family)
		return a->sin6_family < b->sin6_family ? -1 : 1;
	if (a->sin6_port != b->sin6_port)
		return a->sin6_port < b->sin6_port ? -1 : 1;
	if (a->sin6_family == AF_INET)
		return memcmp(&a4->sin_addr, &b4->sin_addr, sizeof(a4->sin_addr));
	return compare_v6(a, b);
}

void rdmacm_dgram_complete_address(struct sockaddr_storage *addr, const struct dgram_link *link)
{
	const struct sockaddr_in6 *local = (const struct sockaddr_in6 *)&link->local;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)addr;

	if (v6->sin6_family == AF_INET6)
		v6->sin6_scope_id = IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) ? scope_of(local) : 0;
}

bool rdmacm_dgram_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	return !compare_addr(a, b);
}

/* ---- the local address for a peer: the bound one, or the one that the kernel would choose ---- */

static bool is_wildcard(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;

	return addr->ss_family == AF_INET ? v4->sin_addr.s_addr == htobe32(INADDR_ANY)
					  : IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr);
}

static int name_of(int fd, struct sockaddr_storage *name)
{
	socklen_t len = sizeof(*name);

	memset(name, 0, sizeof(*name));
	return getsockname(fd, (struct sockaddr *)name, &len) ? errno : 0;
}

static int ask_system(const struct sockaddr_storage *addr, struct sockaddr_storage *local)
{
	int fd = socket(addr->ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return errno;
	ret = connect(fd, plain_addr(addr), rdmacm_addr_len(plain_addr(addr))) ? errno
									       : name_of(fd, local);
	close(fd);
	return ret;
}

static int find_local(struct dgram *dgram, const struct sockaddr_storage *addr,
		      struct sockaddr_storage *local)
{
	int ret = name_of(dgram->rs.fd, local);

	if (!ret && is_wildcard(local))
		ret = ask_system(addr, local);
	((struct sockaddr_in6 *)local)->sin6_port = 0;
	return ret;
}

static void peer_free(void *entry)
{
	struct dgram_peer *peer = entry;

	if (peer->resolver)
		rdmacm_rs_destroy_id(peer->resolver);
	if (peer->ah)
		ibv_destroy_ah(peer->ah);
	free(peer);
}

/* Returns whether posted sends still use the peer's address handle. Sends complete in order, so the
 * last send to the peer decides. */
static bool is_sent_to(const struct dgram_peer *peer)
{
	const struct dgram_link *link = peer->link;

	return peer->ah && link->sq_put - peer->sent_until < link->sq_put - link->sq_done;
}

static bool is_in_use(const struct dgram *dgram, const struct dgram_peer *peer)
{
	return peer == dgram->connected || peer->senders || peer->resolver || is_sent_to(peer);
}

static void peer_forget(struct dgram *dgram, struct dgram_peer *peer)
{
	TAILQ_REMOVE(&dgram->used_peers, peer, in_used);
	tdelete(peer, &dgram->peers, compare_addr);
	peer_free(peer);
	dgram->peer_count--;
}

static void peer_touch(struct dgram *dgram, struct dgram_peer *peer)
{
	TAILQ_REMOVE(&dgram->used_peers, peer, in_used);
	TAILQ_INSERT_HEAD(&dgram->used_peers, peer, in_used);
}

/* Makes room for a new peer: drops the peer that was unused for longest, for a server with many
 * clients. Moves peers in use to the front, so that the next call looks at other peers. */
static int make_room(struct dgram *dgram)
{
	struct dgram_peer *peer;

	if (dgram->peer_count < MOST_PEERS)
		return 0;
	for (int looks = 0; looks < MOST_LOOKS; looks++) {
		peer = TAILQ_LAST(&dgram->used_peers, dgram_peers);
		if (!is_in_use(dgram, peer)) {
			peer_forget(dgram, peer);
			return 0;
		}
		peer_touch(dgram, peer);
	}
	return ENOBUFS;
}

static int peer_make(struct dgram *dgram, const struct sockaddr_storage *addr,
		     struct dgram_peer **out)
{
	struct sockaddr_storage local;
	struct dgram_peer *peer;
	struct dgram_link *link;
	int ret = find_local(dgram, addr, &local);

	if (!ret)
		ret = make_room(dgram);
	if (!ret)
		ret = rdmacm_dgram_link_get(dgram, &local, &link);
	if (ret)
		return ret;
	peer = calloc(1, sizeof(*peer));
	if (!peer)
		return ENOMEM;
	peer->addr = *addr;
	peer->link = link;
	if (!tsearch(peer, &dgram->peers, compare_addr)) {
		free(peer);
		return ENOMEM;
	}
	TAILQ_INSERT_HEAD(&dgram->used_peers, peer, in_used);
	dgram->peer_count++;
	*out = peer;
	return 0;
}

/* Finds or creates a peer. A struct dgram_peer begins with its address, so an address serves as
 * search key. */
int rdmacm_dgram_peer_get(struct dgram *dgram, const struct sockaddr_storage *addr,
			  struct dgram_peer **out)
{
	struct dgram_peer **found = tfind(addr, &dgram->peers, compare_addr);

	if (!found)
		return peer_make(dgram, addr, out);
	*out = *found;
	if (*out != TAILQ_FIRST(&dgram->used_peers))
		peer_touch(dgram, *out);
	return 0;
}

void rdmacm_dgram_peers_free(struct dgram *dgram)
{
	tdestroy(dgram->peers, peer_free);
	dgram->peers = NULL;
	TAILQ_INIT(&dgram->used_peers);
	dgram->connected = NULL;
}

static void give_up(struct dgram_peer *peer, const char *why)
{
	verbs_warn("rsocket: datagrams go by UDP: %s", why);
	rdma_destroy_id(peer->resolver);
	peer->resolver = NULL;
}

static void look_for_way(struct dgram *dgram, struct dgram_peer *peer)
{
	struct sockaddr_storage local = peer->link->local, addr = peer->addr;

	peer->next_look_us = rdmacm_rs_now_us() + ((int64_t)FIRST_PAUSE_US << peer->looks);
	if (peer->looks < MOST_DOUBLINGS)
		peer->looks++;
	((struct sockaddr_in6 *)&addr)->sin6_port = 0;
	if (rdmacm_dgram_new_id(dgram, peer, &peer->resolver))
		return;
	if (rdma_resolve_addr(peer->resolver, (struct sockaddr *)&local, (struct sockaddr *)&addr,
			      RESOLVE_MS))
		give_up(peer, "the address is not resolved");
}

void rdmacm_dgram_peer_found(struct dgram *dgram, struct dgram_peer *peer, uint32_t qpn)
{
	peer->qpn = qpn;
	if (!peer->ah && !peer->resolver && rdmacm_rs_now_us() >= peer->next_look_us)
		look_for_way(dgram, peer);
}

/* Returns the index of a GID. If the port has the GID for both versions of RoCE, returns the index
 * for version 2. */
static int sgid_index(const struct rdma_cm_id *id, const union ibv_gid *gid)
{
	struct ibv_gid_entry entry;
	struct ibv_port_attr attr;
	int found = -1;

	if (ibv_query_port(id->verbs, id->port_num, &attr))
		return -1;
	for (int i = 0; i < attr.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(id->verbs, id->port_num, i, &entry, 0) ||
		    memcmp(&entry.gid, gid, sizeof(*gid)) != 0)
			continue;
		if (entry.gid_type != IBV_GID_TYPE_ROCE_V1)
			return i;
		found = i;
	}
	return found;
}

static int attr_of_path(const struct rdma_cm_id *id, struct ibv_ah_attr *attr)
{
	const struct ibv_sa_path_rec *path = id->route.path_rec;
	struct ibv_port_attr port;
	int index;

	if (!path || ibv_query_port(id->verbs, id->port_num, &port))
		return ENODATA;
	*attr = (struct ibv_ah_attr){
		.dlid = be16toh(path->dlid),
		.sl = path->sl,
		.static_rate = path->rate,
		.port_num = id->port_num,
	};
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET && path->hop_limit <= 1)
		return 0;
	index = sgid_index(id, &path->sgid);
	if (index < 0)
		return ENOENT;
	attr->is_global = 1;
	attr->grh.dgid = path->dgid;
	attr->grh.sgid_index = index;
	attr->grh.flow_label = be32toh(path->flow_label);
	attr->grh.traffic_class = path->traffic_class;
	attr->grh.hop_limit = path->hop_limit > 1 ? path->hop_limit : ROUTED_HOPS;
	return 0;
}

static void on_route(struct dgram_peer *peer)
{
	struct rdma_cm_id *id = peer->resolver;
	struct ibv_ah_attr attr;

	if (id->verbs != peer->link->id->verbs || id->port_num != peer->link->id->port_num) {
		give_up(peer, "the way leaves by another port");
		return;
	}
	if (!attr_of_path(id, &attr))
		peer->ah = ibv_create_ah(peer->link->id->pd, &attr);
	if (!peer->ah) {
		give_up(peer, "there is no address handle");
		return;
	}
	rdma_destroy_id(id);
	peer->resolver = NULL;
}

static void on_event(struct dgram_peer *peer, enum rdma_cm_event_type event)
{
	if (event == RDMA_CM_EVENT_ROUTE_RESOLVED)
		on_route(peer);
	else if (event != RDMA_CM_EVENT_ADDR_RESOLVED)
		give_up(peer, rdma_event_str(event));
	else if (rdma_resolve_route(peer->resolver, RESOLVE_MS))
		give_up(peer, "the route is not resolved");
}

/* Handles an event of a peer's resolver. Ignores the events of a link's id, which has no context:
 * they only report that the device is removed, which the QP shows as well. */
void rdmacm_dgram_take_event(struct rdma_cm_event *event)
{
	struct dgram_peer *peer = event->id->context;
	enum rdma_cm_event_type what = event->event;

	rdma_ack_cm_event(event);
	if (peer && peer->resolver)
		on_event(peer, what);
}
