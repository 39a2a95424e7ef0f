/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pairs.c - queue pairs come and go.
 */
#include "check.h"

int verbs_check_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			  struct verbs_qp **vqp)
{
	int err = check_real(context)->create_qp(context, attr, vqp);

	if (err)
		return err;
	verbs_check_lock();
	verbs_check_add(CHECK_QP, NULL, check_id(*vqp), sizeof(struct check_record));
	verbs_check_unlock();
	return 0;
}

int verbs_check_destroy_qp(struct ibv_qp *qp)
{
	struct check_record *record = verbs_check_find(CHECK_QP, NULL, check_id(qp));
	int err = check_real(qp->context)->destroy_qp(qp);

	if (!err && record)
		record->is_alive = false;
	return err;
}
