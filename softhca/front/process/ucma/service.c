/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.c - resolves a destination by a service's name or ID: RESOLVE_IB_SERVICE, since Linux
 * 6.18.
 *
 * Services are those of this process (--service); on a network, other hosts are asked for unknown
 * ones. The first record found becomes the destination, so that the route can be resolved next; all
 * can be queried.
 */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/net/fabric.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/net/service.h"

static_assert(sizeof(struct ib_user_service_rec) == SERVICE_RECORD_SIZE, "the same bytes");

static void take_destination(struct ucma_id *id)
{
	const uint8_t *record = id->services[0];
	uint64_t service = fld_get(record, SERVICE_ID);
	struct sockaddr_storage addr;

	ucma_addr_put(&addr, AF_IB_FAMILY, fld_at(record, SERVICE_GID), 0, 0);
	ucma_addr_set_service(&addr, service);
	if (ucma_addr_find(id->file->daemon, &addr, &id->dst)) { /* another host's */
		memset(&id->dst, 0, sizeof(id->dst));
		id->dst.addr = addr;
		memcpy(id->dst.gid, fld_at(record, SERVICE_GID), 16);
	}
	id->has_dst = true;
}

static int records_keep(struct ucma_id *id, const void *records, unsigned int count)
{
	id->services = calloc(count, SERVICE_RECORD_SIZE);
	if (!id->services)
		return -ENOMEM;
	memcpy(id->services, records, count * SERVICE_RECORD_SIZE);
	id->num_services = count;
	take_destination(id);
	return 0;
}

static void services_known(struct ucma_id *id, int status)
{
	id->state = status ? UCMA_BOUND : UCMA_SERVICE_RESOLVED;
	ucma_event_simple(id, status ? EV_ADDRINFO_ERROR : EV_ADDRINFO_RESOLVED, status);
}

static void services_answered(struct resolution *res, int status)
{
	struct ucma_id *id = (struct ucma_id *)((char *)res - offsetof(struct ucma_id, resolution));

	services_known(id, status ? status : records_keep(id, res->record, 1));
}

/* Asks the network for the service. A host that has several matching services does not answer: see
 * subnet.c. */
static void ask_network(struct ucma_id *id, uint64_t components, const uint8_t *wanted)
{
	enum { TIMEOUT_MS = 2000 /* as in Linux */ };
	struct resolution *res = &id->resolution;

	id->state = UCMA_SERVICE_QUERY;
	res->done = services_answered;
	res->adapter = id->src.adapter;
	res->port = id->src.port;
	res->components = components;
	memcpy(res->record, wanted, sizeof(res->record));
	resolve_service(res, TIMEOUT_MS);
}

static void find_services(struct ucma_id *id, uint64_t components, const uint8_t *wanted)
{
	struct fabric *fabric = id->file->daemon->fabric;
	uint8_t records[MAX_SERVICES][SERVICE_RECORD_SIZE];
	unsigned int count =
		fabric_find_services(fabric, components, wanted, records, MAX_SERVICES);

	if (count)
		services_known(id, records_keep(id, records, count));
	else if (fabric_is_joined(fabric))
		ask_network(id, components, wanted);
	else
		services_known(id, -ENODATA);
}

static uint64_t fill_wanted(const struct rdma_ucm_ib_service *asked,
			    uint8_t wanted[SERVICE_RECORD_SIZE])
{
	uint64_t components = 0;

	memset(wanted, 0, SERVICE_RECORD_SIZE);
	if (asked->flags & RDMA_USER_CM_IB_SERVICE_FLAG_ID) {
		fld_set(wanted, SERVICE_ID, asked->service_id);
		components |= 1ull << SERVICE_HAS_ID;
	}
	if (asked->flags & RDMA_USER_CM_IB_SERVICE_FLAG_NAME) {
		memcpy(fld_at(wanted, SERVICE_NAME), asked->service_name, SERVICE_NAME_SIZE - 1);
		components |= 1ull << SERVICE_HAS_NAME;
	}
	return components;
}

int ucma_service_resolve(struct ucma_call *uc)
{
	uint8_t wanted[SERVICE_RECORD_SIZE];
	uint64_t components = fill_wanted(&uc->resolve_ib_service.ibs, wanted);
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->resolve_ib_service.id, &id);

	if (ret)
		return ret;
	if (!ucma_id_adapter(id) || id->state != UCMA_BOUND || id->services)
		return EINVAL;
	if (adapter_is_roce(id->src.adapter))
		return EOPNOTSUPP;
	find_services(id, components, wanted);
	return 0;
}

/* Copies as many service records to the program as its response has room for. */
int ucma_service_query(struct ucma_call *uc, const struct ucma_id *id)
{
	struct rdma_ucm_query_ib_service_resp resp = { .num_service_recs = id->num_services };
	size_t room;
	int ret;

	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (!id->services)
		return ENODATA;
	room = (uc->hdr.out - sizeof(resp)) / SERVICE_RECORD_SIZE;
	if (room > id->num_services)
		room = id->num_services;
	ret = ucma_respond(uc, uc->query.response, &resp, sizeof(resp));
	return ret ? ret
		   : caller_write(uc->call, uc->query.response + sizeof(resp), id->services,
				  room * SERVICE_RECORD_SIZE);
}
