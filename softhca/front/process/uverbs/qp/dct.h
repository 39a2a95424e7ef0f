/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct.h - operations on QPs that are DC targets. All return 0 or a positive errno.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_QP_DCT_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_QP_DCT_H

#include <rdma/ib_user_verbs.h>

#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/uverbs/qp/request.h"

int qp_dct_prepare(const struct uverbs_call *uc, const struct qp_request *req,
		   struct uverbs_qp *qp);
int qp_dct_destroy(struct adapter *adapter, struct real_qp *real);
int qp_dct_modify(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		  struct uverbs_qp *qp);
int qp_dct_query(struct uverbs_call *uc, uint32_t attr_mask, const struct uverbs_qp *qp,
		 struct ib_uverbs_query_qp_resp *resp);

#endif
