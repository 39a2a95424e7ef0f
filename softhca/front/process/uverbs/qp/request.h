/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request.h - a program's request to create a QP, read and checked.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_QP_REQUEST_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_QP_REQUEST_H

#include <stdint.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "softhca/front/process/driver/queue_memory.h"
#include "softhca/front/process/uverbs/uverbs.h"

enum { QP_MIN_RQ_SHIFT = 4 /* one data segment */ };

/* What a program asks for, by the ioctl method or by the older command. */
struct qp_request {
	uint64_t user_handle;
	struct ib_uverbs_qp_cap cap;
	uint32_t type, flags;
	struct mlx5_ib_create_qp driver;
	uint32_t log_block; /* log2 of the bytes of a send block */
	bool is_underlay;   /* it sends as SOURCE_QPN */
	uint32_t source_qpn;
	struct queue_memory memory;
};

static inline bool qp_request_has_rings_apart(const struct qp_request *req)
{
	return req->type == IB_UVERBS_QPT_RAW_PACKET || req->is_underlay;
}

/* All return 0 or a positive errno. They read the request, refuse features that this adapter lacks,
 * and pin the memory of the queues, which REQ then describes. */
int qp_request_read(struct uverbs_call *uc, struct qp_request *req);
int qp_request_check(struct uverbs_call *uc, const struct qp_request *req);
int qp_request_pin_memory(struct uverbs_call *uc, struct qp_request *req);

#endif
