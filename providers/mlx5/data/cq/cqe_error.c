/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_error.c - completions with an error, for the decoder in cqe.h. The first error of each queue
 * is explained in the log: the adapter's syndrome, and the failed request, which is still in the
 * ring.
 * PRM: CQE with error
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/wqe.h"
#include "providers/common/failed_request.h"
#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/sent_wqe.h"
#include "providers/mlx5/qp/rules.h"
#include "providers/mlx5/srq.h"

/* Returns the wr_id of WQE COUNTER. Takes the lock because a page fault may reallocate the array of
 * wr_ids. */
static uint64_t srq_wr_id(struct mlx5_srq *srq, uint32_t counter)
{
	uint64_t wr_id;

	qlock_enter(&srq->lock);
	wr_id = srq->wr_ids[counter & (srq->wqes - 1)];
	qlock_leave(&srq->lock);
	return wr_id;
}

static uint64_t failed_wr_id(struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe, bool is_send)
{
	const struct wq *sends = &rq_qp(rq)->sq.wq;
	uint32_t counter = be16toh(cqe->wqe_counter);

	if (is_send)
		return sends->slots[counter & sends->mask].wr_id;
	if (rq->srq)
		return srq_wr_id(rq->srq, counter);
	return rq->wq.wr_ids[rq->wq.tail & rq->wq.mask];
}

static const char *operation_name(uint8_t opcode)
{
	static const char *const names[] = {
		[MLX5_OPCODE_NOP] = "NOP",
		[MLX5_OPCODE_SEND_INVAL] = "SEND_WITH_INV",
		[MLX5_OPCODE_RDMA_WRITE] = "RDMA_WRITE",
		[MLX5_OPCODE_RDMA_WRITE_IMM] = "RDMA_WRITE_WITH_IMM",
		[MLX5_OPCODE_SEND] = "SEND",
		[MLX5_OPCODE_SEND_IMM] = "SEND_WITH_IMM",
		[MLX5_OPCODE_TSO] = "TSO",
		[MLX5_OPCODE_RDMA_READ] = "RDMA_READ",
		[MLX5_OPCODE_ATOMIC_CS] = "ATOMIC_CMP_AND_SWP",
		[MLX5_OPCODE_ATOMIC_FA] = "ATOMIC_FETCH_AND_ADD",
		[MLX5_OPCODE_SET_PSV] = "start of a memory key's signatures",
		[MLX5_OPCODE_UMR] = "BIND_MW, LOCAL_INV or layout of a memory key",
	};

	return opcode < ARRAY_SIZE(names) && names[opcode] ? names[opcode] : "an unknown opcode";
}

static bool opcode_is_atomic(uint8_t opcode)
{
	return opcode == MLX5_OPCODE_ATOMIC_CS || opcode == MLX5_OPCODE_ATOMIC_FA;
}

static bool opcode_has_raddr(uint8_t opcode)
{
	return opcode == MLX5_OPCODE_RDMA_WRITE || opcode == MLX5_OPCODE_RDMA_WRITE_IMM ||
	       opcode == MLX5_OPCODE_RDMA_READ || opcode_is_atomic(opcode);
}

static enum request_kind kind_of(const struct mlx5_qp *qp, uint8_t opcode)
{
	if (opcode == MLX5_OPCODE_RDMA_READ)
		return REQUEST_READ;
	if (opcode_is_atomic(opcode))
		return REQUEST_ATOMIC;
	if (opcode == MLX5_OPCODE_RDMA_WRITE_IMM)
		return REQUEST_WRITE_IMM;
	if (opcode_has_raddr(opcode))
		return REQUEST_WRITE;
	/* even on a UD QP it may have several packets, so no datagram's limit applies */
	if (opcode == MLX5_OPCODE_TSO)
		return REQUEST_SEND;
	if (opcode != MLX5_OPCODE_SEND && opcode != MLX5_OPCODE_SEND_IMM &&
	    opcode != MLX5_OPCODE_SEND_INVAL)
		return REQUEST_OTHER;
	return qp->rules->kind == SEND_DATAGRAM ? REQUEST_DATAGRAM : REQUEST_SEND;
}

static void name_buffer(const struct mlx5_wqe_data_seg *seg, struct failed_request *f)
{
	const uint32_t count = be32toh(seg->byte_count);

	if (count & MLX5_INLINE_SEG)
		provider_failed_name_inline(f, count & ~(uint32_t)MLX5_INLINE_SEG);
	else
		provider_failed_name_buffer(f, be64toh(seg->addr), count, be32toh(seg->lkey));
}

static void name_target(const struct mlx5_wqe_raddr_seg *seg, struct failed_request *f)
{
	provider_failed_name_target(f, be64toh(seg->raddr), be32toh(seg->rkey));
}

static void name_send(const struct mlx5_qp *qp, const struct mlx5_cqe64 *cqe,
		      struct failed_request *f)
{
	const struct sent_wqe wqe = sent_wqe_at(&qp->sq, be16toh(cqe->wqe_counter));
	const struct mlx5_wqe_ctrl_seg *ctrl = (const void *)wqe.ctrl;
	uint8_t opcode = be32toh(ctrl->opmod_idx_opcode) & FLD_MASK(CTRL_OPCODE);
	uint32_t at = 1 + qp->rules->address_size / WQE_SEG;

	provider_failed_name(f, operation_name(opcode));
	f->kind = kind_of(qp, opcode);
	if (opcode == MLX5_OPCODE_UMR || opcode == MLX5_OPCODE_SET_PSV ||
	    qp->rules->kind == SEND_RAW)
		return;
	if (opcode_has_raddr(opcode))
		name_target(sent_wqe_unit(&wqe, at++), f);
	at += opcode_is_atomic(opcode);
	if (wqe.units > at)
		name_buffer(sent_wqe_unit(&wqe, at), f);
}

static void name_receive(const struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe,
			 struct failed_request *f)
{
	const void *first;

	provider_failed_name(f, "RECV");
	f->kind = REQUEST_RECEIVE;
	if (rq->owner == RQ_OF_QP && rq_qp((struct mlx5_rq *)rq)->rules->kind == SEND_DATAGRAM)
		f->kind = REQUEST_DATAGRAM_RECEIVE;
	if (!rq->srq && !rq->buf)
		return;
	if (rq->srq)
		first = srq_wqe(rq->srq, be16toh(cqe->wqe_counter) & (rq->srq->wqes - 1)) + 1;
	else
		first = rq->buf + ((size_t)(rq->wq.tail & rq->wq.mask) << rq->stride_log);
	name_buffer(first, f);
}

/* Writes to WHY which peer did not answer, from the attributes of the QP. Querying them takes a
 * kernel command inside ibv_poll_cq(), so does this only if level info is logged. */
static bool name_peer(struct mlx5_rq *rq, char *why, size_t size)
{
	const int mask = IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RETRY_CNT | IBV_QP_TIMEOUT;
	struct ibv_qp *qp = &rq_qp(rq)->vqp.qp;
	char gid[INET6_ADDRSTRLEN], where[80];
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!verbs_log_on(VERBS_LOG_INFO) || rq_qp(rq)->rules->kind != SEND_CONNECTED ||
	    verbs_cmd_query_qp(qp, &attr, mask, &init))
		return false;
	if (attr.ah_attr.is_global)
		snprintf(where, sizeof(where), "GID %s",
			 inet_ntop(AF_INET6, &attr.ah_attr.grh.dgid, gid, sizeof(gid)));
	else if (attr.ah_attr.dlid & 0xff)
		snprintf(where, sizeof(where), "LID %u", attr.ah_attr.dlid);
	else
		snprintf(where, sizeof(where), "LID %u (%u if byte-swapped)", attr.ah_attr.dlid,
			 __builtin_bswap16(attr.ah_attr.dlid));
	snprintf(why, size,
		 "; QP 0x%x at %s did not answer (timeout %u, retry_cnt %u): there must be such a "
		 "QP, in RTR or RTS, with dest_qp_num 0x%x and an rq_psn that is this QP's sq_psn",
		 attr.dest_qp_num, where, attr.timeout, attr.retry_cnt, qp->qp_num);
	return true;
}

static void write_cure(struct mlx5_rq *rq, uint8_t syndrome, const struct failed_request *f,
		       char *why, size_t size)
{
	if (syndrome == SYND_RETRY_EXCEEDED && f->is_send && name_peer(rq, why, size))
		return;
	provider_failed_cure(f, syndrome, why, size);
}

/* Returns whether the error means that the peer has ended or is slow. Both happen in correct
 * programs, so these errors are logged at level warn only. */
static bool error_is_of_peer(uint8_t syndrome)
{
	return syndrome == SYND_RETRY_EXCEEDED || syndrome == SYND_RNR_EXCEEDED;
}

static void __attribute__((cold)) error_explain(struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;
	bool is_send = cqe_opcode(cqe) == MLX5_CQE_REQ_ERR;
	struct failed_request failed = { .is_send = is_send };
	char cure[320];

	if (error_is_of_peer(err->syndrome) ? !verbs_log_on(VERBS_LOG_WARN) : !verbs_log_mistake())
		return;
	if (is_send)
		name_send(rq_qp(rq), cqe, &failed);
	else
		name_receive(rq, cqe, &failed);
	write_cure(rq, err->syndrome, &failed, cure, sizeof(cure));
	failed.wr_id = failed_wr_id(rq, cqe, is_send);
	provider_failed_report(&failed, rq_owner_name(rq), rq->number, err->syndrome,
			       err->vendor_err_synd, cure);
}

/* Stops the process for MLX5_FREEZE_ON_ERROR_CQE, so that a debugger can attach to its state at the
 * first error. */
static void __attribute__((cold, noreturn)) error_freeze(const struct mlx5_cq *cq)
{
	verbs_error("poll_cq: cq 0x%x: process %d freezes here, as MLX5_FREEZE_ON_ERROR_CQE says",
		    cq->cqn, (int)getpid());
	for (;;)
		sleep(10);
}

/* Returns whether this request has already failed. A request of several WQEs (mkey/configure.c) has
 * one completion for the program, so only its first error is reported. */
static bool request_is_over(struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	const struct wq *sends = &rq_qp(rq)->sq.wq;

	return cqe_opcode(cqe) == MLX5_CQE_REQ_ERR &&
	       wq_slot_at(sends, be16toh(cqe->wqe_counter))->tail_after == sends->tail;
}

/* Returns whether the error may be the program's fault: any error except a flushed request and a
 * peer that does not answer. */
static bool error_is_ours(uint8_t syndrome)
{
	return syndrome != SYND_FLUSH && syndrome != SYND_RETRY_EXCEEDED;
}

/* Takes an error CQE. Logs only the first failure of a QP, because it makes the adapter flush all
 * later requests. */
int __attribute__((noinline))
mlx5_cqe_take_error(const struct mlx5_cq *cq, struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	uint8_t syndrome = ((const struct mlx5_err_cqe *)cqe)->syndrome;

	if (rq->srq && cqe_is_page_fault(cqe)) {
		mlx5_srq_put_back(rq->srq, be16toh(cqe->wqe_counter));
		return -1;
	}
	if (request_is_over(rq, cqe))
		return -1;
	if (syndrome != SYND_FLUSH &&
	    !__atomic_exchange_n(&rq->error_reported, true, __ATOMIC_RELAXED))
		error_explain(rq, cqe);
	if (cq->freezes && error_is_ours(syndrome))
		error_freeze(cq);
	return provider_syndrome_status(syndrome);
}
