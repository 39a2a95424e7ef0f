/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * socket.c - creates and closes a socket of any kind, and its rdma_cm channel.
 */
#include "librdmacm/rsocket/rs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static uint64_t last_serial;

void rdmacm_rs_init(struct rs *rs, const struct rs_kind *kind, int domain, int type)
{
	rs->kind = kind;
	rs->fd = -1;
	rs->domain = domain;
	rs->type = type;
	rs->options = rdmacm_rs_defaults()->options;
	rs->flags = rdmacm_rs_defaults()->flags;
	rs->serial = __atomic_add_fetch(&last_serial, 1, __ATOMIC_RELAXED);
	cm_lock_init(&rs->lock);
	rdmacm_rs_waiters_forget(&rs->waiters);
}

void rdmacm_rs_retire(struct rs *rs)
{
	if (rs->fd >= 0 && rdmacm_rs_find(rs->fd) == rs)
		rdmacm_rs_table_remove(rs);
	/* No thread can begin to watch the socket any more, because it has left the table: so the
	 * count cannot grow after this look. */
	if (__atomic_load_n(&rs->waiters.count, __ATOMIC_ACQUIRE))
		rdmacm_rs_waiters_dismiss(&rs->waiters);
}

void rdmacm_rs_fini(struct rs *rs)
{
	free(rs->options.route);
}

int rdmacm_rs_open_channel(struct rdma_event_channel **channel)
{
	int flags;

	*channel = rdma_create_event_channel();
	if (!*channel)
		return errno;
	flags = fcntl((*channel)->fd, F_GETFL);
	return fcntl((*channel)->fd, F_SETFL, flags | O_NONBLOCK) ? errno : 0;
}

/* Destroys an id. If this thread may not use its channel, frees only the memory; the kernel
 * destroys its part when the channel is closed. */
void rdmacm_rs_destroy_id(struct rdma_cm_id *id)
{
	if (rdma_destroy_id(id))
		rdmacm_id_free(to_cm_id(id));
}

void rdmacm_rs_hand_out(const struct sockaddr_storage *from, struct sockaddr *addr, socklen_t *len)
{
	socklen_t size = rdmacm_addr_len((const struct sockaddr *)from);

	if (!addr || !len)
		return;
	memcpy(addr, from, *len < size ? *len : size);
	*len = size;
}
