/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report.c - log lines about requests that no adapter could execute; for limits of one adapter, the
 * provider logs its own lines. Also sets the errno that the call returns.
 */
#include <errno.h>

#include "providers/common/report.h"

void provider_report_poll(uint32_t cqn, const struct ibv_poll_cq_attr *attr)
{
	verbs_warn("start_poll: cq 0x%x: comp_mask of ibv_poll_cq_attr is %#x, must be 0", cqn,
		   attr->comp_mask);
	errno = EINVAL;
}

void provider_report_full_sq(const struct ibv_qp *qp, const struct ibv_send_wr *wr, uint32_t limit)
{
	verbs_warn("post_send: qp 0x%x, wr_id %#llx: the send queue is full, limit %u requests "
		   "(max_send_wr of the QP): "
		   "poll completions of signaled requests to free places",
		   qp->qp_num, (unsigned long long)wr->wr_id, limit);
	errno = ENOMEM;
}

void provider_report_inline(const struct ibv_qp *qp, const struct ibv_send_wr *wr, uint64_t total,
			    uint32_t limit)
{
	verbs_warn("post_send: qp 0x%x, wr_id %#llx: inline data of %llu bytes, limit %u "
		   "(max_inline_data of the QP)",
		   qp->qp_num, (unsigned long long)wr->wr_id, (unsigned long long)total, limit);
	errno = ENOMEM;
}

void provider_report_full_rq(const char *owner, uint32_t number, const struct ibv_recv_wr *wr,
			     uint32_t limit)
{
	verbs_warn("post_recv: %s 0x%x, wr_id %#llx: the receive queue is full, limit %u requests "
		   "(max_recv_wr of the QP)",
		   owner, number, (unsigned long long)wr->wr_id, limit);
	errno = ENOMEM;
}

void provider_report_rq_sges(const char *owner, uint32_t number, const struct ibv_recv_wr *wr,
			     uint32_t limit)
{
	verbs_warn(
		"post_recv: %s 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_recv_sge of the QP)",
		owner, number, (unsigned long long)wr->wr_id, wr->num_sge, limit);
	errno = EINVAL;
}

void provider_report_full_srq(uint32_t srqn, const struct ibv_recv_wr *wr, uint32_t limit)
{
	verbs_warn("post_srq_recv: srq 0x%x, wr_id %#llx: the queue is full, limit %u requests "
		   "(max_wr of the SRQ)",
		   srqn, (unsigned long long)wr->wr_id, limit);
	errno = ENOMEM;
}

void provider_report_srq_sges(uint32_t srqn, const struct ibv_recv_wr *wr, uint32_t limit)
{
	verbs_warn("post_srq_recv: srq 0x%x, wr_id %#llx: num_sge is %d, limit %u (max_sge of the "
		   "SRQ)",
		   srqn, (unsigned long long)wr->wr_id, wr->num_sge, limit);
	errno = EINVAL;
}
