/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_event.c - rdma_resolve_addrinfo(), which reports its result by an event of the id, and
 * events written by the program.
 *
 * Names are resolved by the C library during the call, which may block. Services are looked up in
 * the subnet's administration, by the kernel. The id keeps the result until the program fetches it.
 */
#include "cma.h"

#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>

#include "util/clear.h"

static int write_event(struct cm_id *cm, enum rdma_cm_event_type type, int status, uint64_t arg)
{
	struct cm_cmd cmd;

	/* an initializer would leave bytes of the union uncleared (GCC 15) */
	clear_struct(&cmd.write_cm_event, sizeof(cmd.write_cm_event));
	cmd.write_cm_event.id = cm->number;
	cmd.write_cm_event.event = type;
	cmd.write_cm_event.status = (uint32_t)status;
	cmd.write_cm_event.param.arg = arg;
	return CM_RUN_ID(cm, &cmd, WRITE_CM_EVENT, write_cm_event, 0);
}

CMA_EXPORT int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
				   uint64_t arg)
{
	if (event == RDMA_CM_EVENT_USER)
		return cma_return(write_event(to_cm_id(id), event, status, arg));
	verbs_warn("rdma_write_cm_event: %d is not an event that programs write", event);
	return cma_return(EINVAL);
}

/* Resolves a name. An unknown name is an error of the call instead of an event, because it is
 * detected before the call returns. */
static int resolve_names(struct cm_id *cm, const char *node, const char *service,
			 const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo wanted = hints ? *hints : (struct rdma_addrinfo){ 0 };
	struct rdma_addrinfo *found = NULL;
	int ret;

	wanted.ai_flags &= ~RAI_DNS;
	if (rdma_getaddrinfo(node, service, &wanted, &found))
		return errno;
	/* before the event: another thread may read the event and take it at once */
	cm->found = found;
	order_publish(found);
	ret = write_event(cm, RDMA_CM_EVENT_INTERNAL, 0, 0);
	if (ret) {
		cm->found = NULL;
		rdma_freeaddrinfo(found);
	}
	return ret;
}

/* Encodes SERVICE as a service ID if it is a number, else as a name: the kernel's request has one
 * field for IDs and one for names. */
static int put_service(struct rdma_ucm_ib_service *to, const char *service)
{
	int before = errno;
	bool is_number;
	char *end;

	errno = 0;
	to->service_id = strtoull(service, &end, 0);
	is_number = end != service && !*end && !errno;
	errno = before;
	if (is_number) {
		to->flags = RDMA_USER_CM_IB_SERVICE_FLAG_ID;
		return 0;
	}
	to->service_id = 0;
	if (strlen(service) >= sizeof(to->service_name)) {
		verbs_warn("rdma_resolve_addrinfo: a service's name has less than %zu characters",
			   sizeof(to->service_name));
		return EINVAL;
	}
	memcpy(to->service_name, service, strlen(service));
	to->flags = RDMA_USER_CM_IB_SERVICE_FLAG_NAME;
	return 0;
}

static int resolve_service(struct cm_id *cm, const char *node, const char *service,
			   const struct rdma_addrinfo *hints)
{
	struct cm_cmd cmd;
	int ret;

	cmd.resolve_ib_service = (struct rdma_ucm_resolve_ib_service){ .id = cm->number };
	if (node || hints->ai_flags & RAI_DNS) {
		verbs_warn("rdma_resolve_addrinfo: RAI_SA goes with a service alone, not with %s",
			   node ? "a node" : "RAI_DNS");
		return EOPNOTSUPP;
	}
	if (!service || !*service) {
		verbs_warn("rdma_resolve_addrinfo: RAI_SA: no service is named");
		return EINVAL;
	}
	ret = put_service(&cmd.resolve_ib_service.ibs, service);
	if (!ret)
		ret = CM_RUN_ID(cm, &cmd, RESOLVE_IB_SERVICE, resolve_ib_service, 0);
	if (!ret)
		cm->found_flags = hints->ai_flags;
	return ret;
}

CMA_EXPORT int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
				     const struct rdma_addrinfo *hints)
{
	struct cm_id *cm = to_cm_id(id);
	int flags = hints ? hints->ai_flags : 0;
	int ret;

	if (!node && !service && !hints)
		return cma_refuse(EINVAL, "rdma_resolve_addrinfo", "nothing is asked for");
	if (cm->found)
		return cma_refuse(EBUSY, "rdma_resolve_addrinfo",
				  "rdma_query_addrinfo() has not taken what was found");
	ret = flags & RAI_SA ? resolve_service(cm, node, service, hints)
			     : resolve_names(cm, node, service, hints);
	return cma_return(ret ? ret : cm_event_await(cm));
}

/* Hands out the list, which the caller then owns. A second call finds no list. */
CMA_EXPORT int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	struct cm_id *cm = to_cm_id(id);

	if (!info)
		return cma_refuse(EINVAL, "rdma_query_addrinfo", "no place for the answer");
	if (!cm->found)
		return cma_refuse(ENOENT, "rdma_query_addrinfo",
				  "nothing was found, or it was taken already");
	*info = cm->found;
	cm->found = NULL;
	return 0;
}
