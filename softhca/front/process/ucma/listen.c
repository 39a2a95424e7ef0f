/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listen.c - listening ids, and the choice of the one that gets a request.
 */
#include <errno.h>
#include <string.h>

#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"

enum { MAX_BACKLOG = 1024 /* as /proc/sys/net/rdma_ucm/max_backlog */ };

static LIST_HEAD(, ucma_id) listeners = LIST_HEAD_INITIALIZER(listeners);

int ucma_id_listen(struct ucma_call *uc)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->listen.id, &id);
	int backlog = (int)uc->listen.backlog;

	if (ret)
		return ret;
	if (id->state == UCMA_IDLE) { /* the kernel chooses the port */
		memset(&uc->bind, 0, sizeof(uc->bind));
		memcpy(&uc->bind.addr, &any, sizeof(any));
		uc->bind.id = id->number;
		uc->bind.addr_size = sizeof(any);
		ret = ucma_id_bind(uc);
	}
	if (ret)
		return ret;
	if (id->state != UCMA_BOUND)
		return EINVAL;
	ret = ucma_bind_keep_alone(id);
	if (ret)
		return ret;
	id->backlog = backlog > 0 && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG;
	id->state = UCMA_LISTENS;
	LIST_INSERT_HEAD(&listeners, id, in_listeners);
	log_note("rdma_cm: port %u of port space %#x is listened at", ucma_addr_port(&id->src.addr),
		 id->ps);
	return 0;
}

void ucma_id_unlisten(struct ucma_id *id)
{
	if (id->state == UCMA_LISTENS)
		LIST_REMOVE(id, in_listeners);
}

/* Returns whether the listener accepts requests to HOST. A listener at the unspecified or a
 * loopback address accepts all addresses: of both families, unless it is restricted to its own
 * (af_only). Source: cma_match_private_data() */
static bool listens_at(const struct ucma_id *listener, const uint8_t *host, bool ipv4)
{
	const struct sockaddr_storage *at = &listener->src.addr;
	uint8_t own[16];

	if (ucma_addr_is_gid(at))
		return true;
	if (!host)
		return false;
	if (ucma_addr_is_of_no_port(at))
		return !listener->af_only || (at->ss_family == AF_INET) == ipv4;
	ucma_addr_bytes(at, own);
	return !memcmp(own, host, 16);
}

struct ucma_id *ucma_id_find_listener(uint64_t service, const struct adapter *adapter,
				      const uint8_t *host, bool ipv4)
{
	struct ucma_id *listener;

	LIST_FOREACH(listener, &listeners, in_listeners)
		if (ucma_addr_service(&listener->src.addr, listener->ps) == service &&
		    (!listener->src.adapter || listener->src.adapter == adapter) &&
		    listens_at(listener, host, ipv4))
			return listener;
	return NULL;
}
