/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_services.c - when the event is read, converts the services that the subnet's
 * administration found for an id to its struct rdma_addrinfo.
 */
#include "cma.h"

#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SERVICES = 16 };

static int make_service(const struct cm_id *cm, const struct ib_user_service_rec *record,
			struct rdma_addrinfo **out)
{
	struct rdma_addrinfo *info = calloc(1, sizeof(*info));
	struct sockaddr_ib *sib = calloc(1, sizeof(*sib));

	if (!info || !sib) {
		free(info);
		free(sib);
		return ENOMEM;
	}
	info->ai_flags = cm->found_flags;
	info->ai_family = AF_IB;
	info->ai_port_space = RDMA_PS_IB;
	info->ai_dst_addr = (struct sockaddr *)sib;
	info->ai_dst_len = sizeof(*sib);
	sib->sib_family = AF_IB;
	sib->sib_pkey = record->pkey;
	sib->sib_sid = record->id;
	sib->sib_sid_mask = htobe64(UINT64_MAX);
	memcpy(sib->sib_addr.sib_raw, record->gid, sizeof(record->gid));
	*out = info;
	return 0;
}

static int query_services(struct cm_id *cm, struct rdma_addrinfo **list)
{
	union {
		struct rdma_ucm_query_ib_service_resp resp;
		uint8_t room[sizeof(struct rdma_ucm_query_ib_service_resp) +
			     MAX_SERVICES * sizeof(struct ib_user_service_rec)];
	} answer = { .resp = { 0 } };
	struct rdma_addrinfo **tail = list;
	int ret = rdmacm_id_query(cm, RDMA_USER_CM_QUERY_IB_SERVICE, &answer, sizeof(answer));

	for (uint32_t i = 0; !ret && i < answer.resp.num_service_recs && i < MAX_SERVICES; i++) {
		ret = make_service(cm, &answer.resp.recs[i], tail);
		if (!ret)
			tail = &(*tail)->ai_next;
	}
	return ret || *list ? ret : ENODATA;
}

int rdmacm_addrinfo_take_services(struct cm_id *cm)
{
	struct rdma_addrinfo *list = NULL;
	int ret = query_services(cm, &list);

	if (!ret) { /* the destination is now a GID, which selects the query commands */
		memcpy(&cm->id.route.addr.dst_storage, list->ai_dst_addr, list->ai_dst_len);
		ret = rdmacm_id_query_route(cm);
	}
	if (ret)
		rdma_freeaddrinfo(list);
	else
		cm->found = list;
	return ret;
}
