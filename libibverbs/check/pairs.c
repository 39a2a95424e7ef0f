/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pairs.c - queue pairs come and go.
 */
#include "check.h"

static struct check_qp *qp_find(const struct ibv_qp *qp)
{
	return verbs_check_find_live(CHECK_QP, NULL, check_id(qp));
}

int verbs_check_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			  struct verbs_qp **vqp)
{
	int err = check_real(context)->create_qp(context, attr, vqp);
	struct check_qp *check;

	if (err)
		return err;
	verbs_check_lock();
	check = verbs_check_qp_add(&(*vqp)->qp);
	if (check) {
		check->signals_all = attr->sq_sig_all;
		check->max_send_sge = attr->cap.max_send_sge;
		check->max_recv_sge = attr->cap.max_recv_sge;
		check->has_no_lock = verbs_check_has_no_lock(context, (*vqp)->qp.pd);
		verbs_check_request_watch(check, &(*vqp)->qp);
		/* Without the bit, the QP of a guest (a provider of the distribution) may have
		 * other data there. */
		if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS && (*vqp)->ex)
			verbs_check_watch_batches(check, &(*vqp)->qp_ex, attr->send_ops_flags);
	}
	verbs_check_unlock();
	verbs_check_made(*vqp, "ibv_create_qp");
	return 0;
}

int verbs_check_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct check_qp *check = qp_find(qp);
	int err;

	if (!check && check_qp_is_dead(qp, "ibv_modify_qp"))
		return EINVAL;
	err = check_real(qp->context)->modify_qp(qp, attr, mask);
	if (!err && check && mask & IBV_QP_STATE)
		verbs_check_request_state(check, attr->qp_state);
	if (!err)
		verbs_check_path(qp, attr, mask);
	if (!err && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		verbs_check_forget(qp->send_cq, qp->recv_cq);
	return err;
}

/* Destroys a QP, and forgets its completions. Also forgets those of a QP without a record, which
 * direct verbs create, because they may have been polled from CQs that have a record. */
int verbs_check_destroy_qp(struct ibv_qp *qp)
{
	struct check_qp *check = qp_find(qp);
	const struct ibv_cq *send_cq = qp->send_cq, *recv_cq = qp->recv_cq;
	int err;

	if (!check && check_qp_is_dead(qp, "ibv_destroy_qp"))
		return EINVAL;
	verbs_check_is_ours(qp->context, "ibv_destroy_qp", "QP", qp->qp_num);
	/* Mark the record first, because another thread may get the same address at once. */
	if (check) {
		verbs_check_request_unwatch(check);
		check_live(&check->record, false);
	}
	verbs_check_bury(qp, "ibv_destroy_qp");
	err = check_real(qp->context)->destroy_qp(qp);
	if (err && check) {
		check_live(&check->record, true);
		verbs_check_request_rewatch(check, qp);
	}
	if (err)
		return err;
	verbs_check_forget(send_cq, recv_cq);
	verbs_check_unmade(qp);
	return 0;
}
