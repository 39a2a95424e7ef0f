/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * life.c - the objects of a life, which frees them in any case; and parts that many lives share.
 */
#include "faults.h"

static void note_failure(struct life *l, int err, const char *call)
{
	if (!l->calls_failed++) {
		l->first_errno = err;
		l->first_call = call;
	}
}

void *life_keep(struct life *l, void *object, int (*undo)(void *object), const char *call,
		const char *undo_call)
{
	if (!object) {
		note_failure(l, errno, call);
		return NULL;
	}
	MUST(l->num_kept < LIFE_KEEPS);
	l->kept[l->num_kept].object = object;
	l->kept[l->num_kept].undo = undo;
	l->kept[l->num_kept++].undo_call = undo_call;
	return object;
}

bool life_ok(struct life *l, int ret, const char *call)
{
	if (ret)
		note_failure(l, ret < 0 ? errno : ret, call);
	return !ret;
}

void life_undo(struct life *l, unsigned int num)
{
	while (l->num_kept > num) {
		unsigned int i = --l->num_kept;
		int ret = l->kept[i].undo(l->kept[i].object);

		if (!ret)
			continue;
		note_failure(l, ret < 0 ? errno : ret, l->kept[i].undo_call);
		MUST(!l->kept[i].undo(l->kept[i].object));
	}
}

struct ibv_pd *life_pd(struct life *l)
{
	return KEEP(l, ibv_alloc_pd(l->rig.ctx), ibv_dealloc_pd);
}

struct ibv_cq *life_cq(struct life *l)
{
	return KEEP(l, ibv_create_cq(l->rig.ctx, 16, NULL, NULL, 0), ibv_destroy_cq);
}

struct ibv_qp *life_qp(struct life *l, struct ibv_qp_init_attr_ex *attr)
{
	attr->cap = (struct ibv_qp_cap){ 8, 8, 1, 1, 16 };
	if (attr->comp_mask == IBV_QP_INIT_ATTR_PD) {
		struct ibv_qp_init_attr plain = { .send_cq = attr->send_cq,
						  .recv_cq = attr->recv_cq,
						  .srq = attr->srq,
						  .cap = attr->cap,
						  .qp_type = attr->qp_type };

		return KEEP(l, ibv_create_qp(attr->pd, &plain), ibv_destroy_qp);
	}
	return KEEP(l, ibv_create_qp_ex(l->rig.ctx, attr), ibv_destroy_qp);
}

/* Removes attributes that the QP's type does not have. */
static int attr_of_type(struct life *l, struct ibv_qp *qp, enum ibv_qp_state state,
			struct ibv_qp_attr *attr)
{
	static const int of_responder =
		IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	struct rig_conf conf = rig_conf_default();
	int mask = rig_qp_attr(&l->rig, &conf, qp->qp_num, state, attr);

	if (qp->qp_type == IBV_QPT_RAW_PACKET)
		return state == IBV_QPS_INIT ? IBV_QP_STATE | IBV_QP_PORT : IBV_QP_STATE;
	if (qp->qp_type == IBV_QPT_UD) {
		mask &= state == IBV_QPS_INIT ? ~IBV_QP_ACCESS_FLAGS : IBV_QP_STATE | IBV_QP_SQ_PSN;
		return state == IBV_QPS_INIT ? mask | IBV_QP_QKEY : mask;
	}
	if (qp->qp_type == IBV_QPT_UC)
		mask &= IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS |
			of_responder | IBV_QP_SQ_PSN;
	if (qp->qp_type == IBV_QPT_XRC_SEND && state == IBV_QPS_RTR)
		mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (qp->qp_type == IBV_QPT_XRC_RECV && state == IBV_QPS_RTS)
		mask &= IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT;
	return mask;
}

bool life_connect(struct life *l, struct ibv_qp *qp)
{
	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		struct ibv_qp_attr attr;
		int mask = attr_of_type(l, qp, (enum ibv_qp_state)state, &attr);

		if (!OK(l, ibv_modify_qp(qp, &attr, mask)))
			return false;
	}
	return true;
}
