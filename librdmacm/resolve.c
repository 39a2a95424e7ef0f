/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resolve.c - binds an id to a local address, and resolves the peer's address and the route to it.
 */
#include "acm.h"
#include "cma.h"

#include <infiniband/ib.h>
#include <string.h>

CMA_EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct cm_id *cm = to_cm_id(id);
	struct cm_cmd cmd;
	int ret;

	cmd.bind = (struct rdma_ucm_bind){ .id = cm->number };
	ret = rdmacm_addr_put(&cmd.bind.addr, &cmd.bind.addr_size, addr);
	if (!ret)
		ret = CM_RUN_ID(cm, &cmd, BIND, bind, 0);
	if (!ret)
		ret = rdmacm_id_query_route(cm);
	return cma_return(ret);
}

CMA_EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr,
				 struct sockaddr *dst_addr, int timeout_ms)
{
	struct cm_id *cm = to_cm_id(id);
	struct sockaddr_storage before = id->route.addr.dst_storage;
	struct cm_cmd cmd;
	int ret;

	cmd.resolve_addr =
		(struct rdma_ucm_resolve_addr){ .id = cm->number, .timeout_ms = timeout_ms };
	ret = rdmacm_addr_put(&cmd.resolve_addr.dst_addr, &cmd.resolve_addr.dst_size, dst_addr);
	if (!ret && src_addr)
		ret = rdmacm_addr_put(&cmd.resolve_addr.src_addr, &cmd.resolve_addr.src_size,
				      src_addr);
	if (ret)
		return cma_return(ret);
	/* Set the address before the command: after it, another thread may read the event and use
	 * the id. */
	/* clears the rest of a longer address, which the copy below would leave */
	if (before.ss_family != dst_addr->sa_family)
		memset(&id->route.addr.dst_storage, 0, sizeof(before));
	memcpy(&id->route.addr.dst_storage, dst_addr, rdmacm_addr_len(dst_addr));
	ret = CM_RUN_ID(cm, &cmd, RESOLVE_ADDR, resolve_addr, 0);
	if (!ret)
		return cma_return(cm_event_await(cm));
	id->route.addr.dst_storage = before;
	return cma_return(ret);
}

/* Passes a path from ibacm to the kernel, which then does not query the path and reports a resolved
 * route at once. */
static int route_by_daemon(struct cm_id *cm, int timeout_ms)
{
	struct acm_question question = { .src = &cm->id.route.addr.src_addr,
					 .dst = &cm->id.route.addr.dst_addr };
	struct acm_answer answer;
	struct cm_cmd cmd;
	int ret = rdmacm_acm_ask(&question, timeout_ms, &answer);

	if (ret)
		return ret;
	cmd.set_option = (struct rdma_ucm_set_option){
		.optval = (uintptr_t)answer.paths,
		.id = cm->number,
		.level = RDMA_OPTION_IB,
		.optname = RDMA_OPTION_IB_PATH,
		.optlen = answer.num_paths * sizeof(answer.paths[0]),
	};
	return CM_RUN_ID(cm, &cmd, SET_OPTION, set_option, 0);
}

CMA_EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct cm_id *cm = to_cm_id(id);
	struct cm_cmd cmd;
	int ret = route_by_daemon(cm, timeout_ms);

	cmd.resolve_route =
		(struct rdma_ucm_resolve_route){ .id = cm->number, .timeout_ms = timeout_ms };
	if (ret)
		ret = CM_RUN_ID(cm, &cmd, RESOLVE_ROUTE, resolve_route, 0);
	return cma_return(ret ? ret : cm_event_await(cm));
}

static __be16 port_of(const struct sockaddr_storage *addr)
{
	struct sockaddr_ib sib;

	switch (addr->ss_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)addr)->sin_port;
	case AF_INET6:
		return ((const struct sockaddr_in6 *)addr)->sin6_port;
	case AF_IB: /* the port is in the low bits of the service ID (IBTA vol 1, annex A11) */
		memcpy(&sib, addr, sizeof(sib));
		return htobe16(be64toh(sib.sib_sid) & be64toh(sib.sib_sid_mask) &
			       RDMA_IB_IP_PORT_MASK);
	default:
		return 0;
	}
}

CMA_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return port_of(&id->route.addr.src_storage);
}

CMA_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return port_of(&id->route.addr.dst_storage);
}
