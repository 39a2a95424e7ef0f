/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcast.c - multicast groups of a datagram id. The kernel joins them, and the id's QP receives from
 * them.
 *
 * The uid of a group's events is its address in memory, so the group stays allocated until all
 * events that were read are acknowledged. Another thread may read the first event, and leave the
 * group, before the joining thread knows the group's number; so the joining thread holds the id's
 * lock until it does.
 */
#include "cma.h"

#include <stdlib.h>
#include <string.h>

int rdmacm_multicast_attach(struct cm_multicast *multicast, const struct rdma_ud_param *param)
{
	struct cm_id *cm = multicast->id;
	int ret;

	multicast->mgid = param->ah_attr.grh.dgid;
	multicast->mlid = param->ah_attr.dlid;
	if (!cm->id.qp || multicast->only_sends)
		return 0;
	ret = ibv_attach_mcast(cm->id.qp, &multicast->mgid, multicast->mlid);
	multicast->attached = !ret;
	return ret;
}

/* Returns whether the id's QP was attached. */
static bool group_detach(struct cm_id *cm, struct cm_multicast *multicast)
{
	struct ibv_qp *qp = cm->id.qp;
	const bool attached = multicast->attached && qp;

	if (attached)
		ibv_detach_mcast(qp, &multicast->mgid, multicast->mlid);
	multicast->attached = false;
	return attached;
}

void rdmacm_multicast_detach_all(struct cm_id *cm)
{
	struct cm_multicast *multicast;

	if (LIST_EMPTY(&cm->multicasts))
		return;
	pthread_mutex_lock(&cm->lock);
	LIST_FOREACH(multicast, &cm->multicasts, entry)
		group_detach(cm, multicast);
	pthread_mutex_unlock(&cm->lock);
}

static int join_in_kernel(struct cm_multicast *multicast, uint16_t flags)
{
	struct rdma_ucm_create_id_resp resp = { 0 };
	struct cm_cmd cmd;
	int ret;

	cmd.join_mcast = (struct rdma_ucm_join_mcast){ .response = (uintptr_t)&resp,
						       .uid = (uintptr_t)multicast,
						       .id = multicast->id->number,
						       .join_flags = flags };
	ret = rdmacm_addr_put(&cmd.join_mcast.addr, &cmd.join_mcast.addr_size,
			      (const struct sockaddr *)&multicast->addr);
	order_publish(multicast);
	if (!ret)
		ret = CM_RUN_ID(multicast->id, &cmd, JOIN_MCAST, join_mcast, sizeof(resp));
	multicast->number = resp.id;
	return ret;
}

static int group_join(struct cm_id *cm, const struct sockaddr *addr, uint16_t flags, void *context)
{
	int ret = rdmacm_addr_check("rdma_join_multicast", addr);
	struct cm_multicast *multicast;

	if (ret)
		return ret;
	multicast = calloc(1, sizeof(*multicast));
	if (!multicast)
		return ENOMEM;
	multicast->id = cm;
	multicast->context = context;
	multicast->only_sends = flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
	memcpy(&multicast->addr, addr, rdmacm_addr_len(addr));
	pthread_mutex_lock(&cm->lock);
	ret = join_in_kernel(multicast, flags);
	if (!ret)
		LIST_INSERT_HEAD(&cm->multicasts, multicast, entry);
	pthread_mutex_unlock(&cm->lock);
	if (!ret)
		return cm_event_await(cm);
	free(multicast);
	return ret;
}

CMA_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	return cma_return(group_join(to_cm_id(id), addr, RDMA_MC_JOIN_FLAG_FULLMEMBER, context));
}

CMA_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id,
				      struct rdma_cm_join_mc_attr_ex *mc_join_attr, void *context)
{
	if (mc_join_attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED) {
		verbs_warn("rdma_join_multicast_ex: comp_mask 0x%x: unknown bits",
			   mc_join_attr->comp_mask);
		return cma_return(ENOTSUP);
	}
	if (!(mc_join_attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_ADDRESS) ||
	    !(mc_join_attr->comp_mask & RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS) ||
	    mc_join_attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return cma_refuse(EINVAL, "rdma_join_multicast_ex",
				  "comp_mask lacks the address or the flags, or flags are unknown");
	return cma_return(
		group_join(to_cm_id(id), mc_join_attr->addr, mc_join_attr->join_flags, context));
}

static int leave_in_kernel(struct cm_multicast *multicast, uint32_t *reported)
{
	struct rdma_ucm_destroy_id_resp resp = { 0 };
	struct cm_cmd cmd;
	int ret;

	cmd.destroy_id = (struct rdma_ucm_destroy_id){ .response = (uintptr_t)&resp,
						       .id = multicast->number };
	ret = CM_RUN_ID(multicast->id, &cmd, LEAVE_MCAST, destroy_id, sizeof(resp));

	*reported = resp.events_reported;
	return ret;
}

/* Takes the group out of the id's list, so that no other thread leaves it, too, and detaches it
 * first: rdma_destroy_qp() finds only groups of the list. Returns NULL if the id has not joined
 * it. Otherwise sets *ATTACHED to whether the QP was attached to it. */
static struct cm_multicast *group_take(struct cm_id *cm, const struct sockaddr *addr,
				       bool *attached)
{
	socklen_t len = rdmacm_addr_len(addr);
	struct cm_multicast *multicast;

	pthread_mutex_lock(&cm->lock);
	LIST_FOREACH(multicast, &cm->multicasts, entry) {
		if (!memcmp(&multicast->addr, addr, len)) {
			*attached = group_detach(cm, multicast);
			LIST_REMOVE(multicast, entry);
			break;
		}
	}
	pthread_mutex_unlock(&cm->lock);
	return multicast;
}

/* Undoes group_take(). If the id's QP was attached, attaches the one that it has now. */
static void group_put_back(struct cm_id *cm, struct cm_multicast *multicast, bool attached)
{
	struct ibv_qp *qp;

	pthread_mutex_lock(&cm->lock);
	qp = attached ? cm->id.qp : NULL;
	multicast->attached = qp && !ibv_attach_mcast(qp, &multicast->mgid, multicast->mlid);
	LIST_INSERT_HEAD(&cm->multicasts, multicast, entry);
	pthread_mutex_unlock(&cm->lock);
}

CMA_EXPORT int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	int ret = rdmacm_addr_check("rdma_leave_multicast", addr);
	struct cm_id *cm = to_cm_id(id);
	struct cm_multicast *multicast;
	bool attached = false;
	uint32_t reported;

	if (ret)
		return cma_return(ret);
	multicast = group_take(cm, addr, &attached);
	if (!multicast)
		return cma_refuse(EADDRNOTAVAIL, "rdma_leave_multicast",
				  "the id has not joined that group");
	ret = leave_in_kernel(multicast, &reported);
	if (ret) {
		group_put_back(cm, multicast, attached);
		return cma_return(ret);
	}
	rdmacm_event_release(cm);
	rdmacm_id_await_acks(cm, &multicast->events_acked, reported);
	free(multicast);
	return 0;
}
