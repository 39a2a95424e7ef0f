/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_port.c - RAI_SA of rdma_getaddrinfo(): looks for a service from each port in turn, until
 * one subnet has it. It makes a temporary id for each port and uses rdma_resolve_addrinfo() on it.
 */
#include "addrinfo.h"

#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>

/* Sets PORT as the source of the entries: only the port that found the service is known to reach
 * it. */
static int put_sources(struct rdma_addrinfo *list, const struct sockaddr_ib *port)
{
	int ret = 0;

	for (struct rdma_addrinfo *info = list; info && !ret; info = info->ai_next)
		ret = rdmacm_addrinfo_put_source(info, (const struct sockaddr *)port,
						 sizeof(*port));
	return ret;
}

static int ask_by_id(struct rdma_cm_id *id, struct sockaddr_ib *port, const char *service,
		     struct rdma_addrinfo **list)
{
	const struct rdma_addrinfo hints = { .ai_flags = RAI_SA };
	struct rdma_addrinfo *found;
	int ret;

	if (rdma_bind_addr(id, (struct sockaddr *)port) ||
	    rdma_resolve_addrinfo(id, NULL, service, &hints) || rdma_query_addrinfo(id, &found))
		return errno;
	ret = put_sources(found, port);
	if (ret)
		rdma_freeaddrinfo(found);
	else
		*list = found;
	return ret;
}

/* Looks for the service from PORT, with an id that gets a channel of its own, so that its calls
 * wait. For an unknown service the event's status is ENODATA. */
static int ask_from(struct sockaddr_ib *port, const char *service, struct rdma_addrinfo **list)
{
	struct rdma_cm_id *id;
	int ret;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_IB))
		return errno;
	ret = ask_by_id(id, port, service, list);
	rdma_destroy_id(id);
	return ret == ENODATA ? ENOENT : ret;
}

/* Gets the GID address of a port. Returns false for a port that is inactive or not of InfiniBand:
 * only InfiniBand subnets have an administration (SA) that records services. */
static bool port_address(struct ibv_context *verbs, uint8_t number, struct sockaddr_ib *addr)
{
	struct ibv_port_attr port;
	union ibv_gid gid;

	if (ibv_query_port(verbs, number, &port) || port.state != IBV_PORT_ACTIVE ||
	    port.link_layer != IBV_LINK_LAYER_INFINIBAND || ibv_query_gid(verbs, number, 0, &gid))
		return false;
	*addr = (struct sockaddr_ib){ .sib_family = AF_IB,
				      .sib_pkey = htobe16(0xffff),
				      .sib_sid = htobe64((uint64_t)RDMA_PS_IB << 16),
				      .sib_sid_mask = htobe64(~(uint64_t)0xffff) };
	memcpy(&addr->sib_addr, &gid, sizeof(gid));
	return true;
}

/* Returns the error to report: an error of one port goes before ENOENT of others, because it tells
 * more. */
static int first_failure(int before, int now)
{
	return now && before != ENOENT ? before : now;
}

static int ask_device(struct ibv_context *verbs, const char *service, struct rdma_addrinfo **list)
{
	struct ibv_device_attr device;
	struct sockaddr_ib addr;
	int ret = ibv_query_device(verbs, &device);

	if (ret)
		return ret;
	ret = ENOENT;
	for (unsigned int number = 1; ret && number <= device.phys_port_cnt; number++) {
		if (port_address(verbs, number, &addr))
			ret = first_failure(ret, ask_from(&addr, service, list));
	}
	return ret;
}

/* Asks all devices. Returns ENOENT if there is no device. */
static int ask_all(const char *service, struct rdma_addrinfo **list)
{
	struct cm_device **devices;
	int count, ret = rdmacm_device_find_all(&devices, &count);

	if (ret)
		return ret == ENODEV ? ENOENT : ret;
	ret = ENOENT;
	for (int i = 0; i < count; i++) {
		if (ret)
			ret = first_failure(ret, ask_device(devices[i]->verbs, service, list));
		rdmacm_device_put(devices[i]);
	}
	free(devices);
	return ret;
}

int rdmacm_addrinfo_find_service(const char *node, const char *service,
				 const struct rdma_addrinfo *hints, struct rdma_addrinfo **list)
{
	int ret;

	if (node || hints->ai_flags & RAI_DNS) {
		verbs_warn("rdma_getaddrinfo: RAI_SA goes with a service alone, not with %s",
			   node ? "a node" : "RAI_DNS");
		return EOPNOTSUPP;
	}
	if (!service) {
		verbs_warn("rdma_getaddrinfo: RAI_SA: no service is named");
		return EINVAL;
	}
	ret = ask_all(service, list);
	if (ret == ENOENT)
		verbs_warn("rdma_getaddrinfo: RAI_SA: no port's subnet knows service %s", service);
	else if (ret)
		verbs_warn("rdma_getaddrinfo: RAI_SA: service %s is not found: %s", service,
			   strerror(ret));
	return ret;
}
