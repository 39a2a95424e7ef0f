/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * report.c - log lines about requests that no adapter could execute; for limits of one adapter, the
 * provider logs its own lines. Also sets the errno that the call returns.
 */
#include <errno.h>
#include <stdio.h>

#include "providers/common/report.h"
#include "util/bits.h"

const char *provider_qp_state_str(enum ibv_qp_state state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return (unsigned int)state < ARRAY_SIZE(names) ? names[state] : "?";
}

const char *provider_wr_opcode_str(enum ibv_wr_opcode opcode)
{
	static const char *const names[] = {
		[IBV_WR_RDMA_WRITE] = "RDMA_WRITE",
		[IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
		[IBV_WR_SEND] = "SEND",
		[IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
		[IBV_WR_RDMA_READ] = "RDMA_READ",
		[IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
		[IBV_WR_LOCAL_INV] = "LOCAL_INV",
		[IBV_WR_BIND_MW] = "BIND_MW",
		[IBV_WR_SEND_WITH_INV] = "SEND_WITH_INV",
		[IBV_WR_TSO] = "TSO",
	};

	return (unsigned int)opcode < ARRAY_SIZE(names) && names[opcode] ? names[opcode] : "?";
}

void provider_name_opcodes(uint32_t mask, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (unsigned int op = 0; op < 32 && len < size; op++)
		if (mask & 1u << op)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
						provider_wr_opcode_str((enum ibv_wr_opcode)op));
}

void provider_report_poll(uint32_t cqn, const struct ibv_poll_cq_attr *attr)
{
	verbs_warn("start_poll: cq 0x%x: comp_mask of ibv_poll_cq_attr is %#x, must be 0", cqn,
		   attr->comp_mask);
	errno = EINVAL;
}

void provider_report_full_sq(const struct ibv_qp *qp, const struct ibv_send_wr *wr, uint32_t limit)
{
	verbs_warn("post_send: qp 0x%x, wr_id %#llx: the send queue is full, limit %u requests "
		   "(max_send_wr of the QP)%s",
		   qp->qp_num, (unsigned long long)wr->wr_id, limit,
		   limit ? ": poll completions of signaled requests to free places, and signal "
			   "one in so many at least (IBV_SEND_SIGNALED)"
			 : ": it was created with max_send_wr 0");
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
		   "(max_recv_wr of the QP)%s",
		   owner, number, (unsigned long long)wr->wr_id, limit,
		   limit ? ": post again when a receive has completed"
			 : ": it was created with max_recv_wr 0, or has an SRQ: post to that by "
			   "ibv_post_srq_recv()");
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
		   "(max_wr of the SRQ): post again when a receive has completed",
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
