/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_error.c - completions with an error, for the decoder in cqe.h. The first error of each queue
 * is explained in the log: the adapter's syndrome, and the failed request, which is still in the
 * ring.
 */
#include <stdio.h>
#include <unistd.h>

#include "prm/mlx5/wqe.h"
#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/post_srq.h"
#include "providers/mlx5/data/sent_wqe.h"
#include "providers/mlx5/data/cq/syndrome.h"
#include "providers/mlx5/qp/rules.h"
#include "providers/mlx5/srq.h"

static enum ibv_wc_status syndrome_status(uint8_t syndrome)
{
	static const uint8_t status[] = {
		[MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR] = IBV_WC_LOC_LEN_ERR,
		[MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR] = IBV_WC_LOC_QP_OP_ERR,
		[MLX5_CQE_SYNDROME_LOCAL_PROT_ERR] = IBV_WC_LOC_PROT_ERR,
		[MLX5_CQE_SYNDROME_WR_FLUSH_ERR] = IBV_WC_WR_FLUSH_ERR,
		[MLX5_CQE_SYNDROME_MW_BIND_ERR] = IBV_WC_MW_BIND_ERR,
		[MLX5_CQE_SYNDROME_BAD_RESP_ERR] = IBV_WC_BAD_RESP_ERR,
		[MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR] = IBV_WC_LOC_ACCESS_ERR,
		[MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR] = IBV_WC_REM_INV_REQ_ERR,
		[MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR] = IBV_WC_REM_ACCESS_ERR,
		[MLX5_CQE_SYNDROME_REMOTE_OP_ERR] = IBV_WC_REM_OP_ERR,
		[MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR] = IBV_WC_RETRY_EXC_ERR,
		[MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR] = IBV_WC_RNR_RETRY_EXC_ERR,
		[MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR] = IBV_WC_REM_ABORT_ERR,
	};

	/* IBV_WC_SUCCESS is 0, so 0 marks a syndrome without an entry. */
	if (syndrome < ARRAY_SIZE(status) && status[syndrome])
		return status[syndrome];
	return IBV_WC_GENERAL_ERR;
}

/* Takes the lock because a page fault may reallocate the array. */
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

/* Writes, for instance, "first buffer 0x7f12 of 64 bytes, lkey 0x1234". */
static int name_buffer(const struct mlx5_wqe_data_seg *seg, char *text, size_t size)
{
	uint32_t count = be32toh(seg->byte_count);

	if (count & MLX5_INLINE_SEG)
		return snprintf(text, size, ", %u inline bytes",
				count & ~(uint32_t)MLX5_INLINE_SEG);
	if (!count)
		return snprintf(text, size, ", no buffer");
	return snprintf(text, size, ", first buffer %#llx of %u bytes, lkey %#x",
			(unsigned long long)be64toh(seg->addr), count, be32toh(seg->lkey));
}

static int name_target(const struct mlx5_wqe_raddr_seg *seg, char *text, size_t size)
{
	return snprintf(text, size, ", remote address %#llx, rkey %#x",
			(unsigned long long)be64toh(seg->raddr), be32toh(seg->rkey));
}

static void name_send(const struct mlx5_qp *qp, const struct mlx5_cqe64 *cqe, char *text,
		      size_t size)
{
	const struct sent_wqe wqe = sent_wqe_at(&qp->sq, be16toh(cqe->wqe_counter));
	const struct mlx5_wqe_ctrl_seg *ctrl = (const void *)wqe.ctrl;
	uint8_t opcode = be32toh(ctrl->opmod_idx_opcode) & FLD_MASK(CTRL_OPCODE);
	uint32_t at = 1 + qp->rules->address_size / WQE_SEG;
	int n = snprintf(text, size, "%s", operation_name(opcode));

	if (opcode == MLX5_OPCODE_UMR || opcode == MLX5_OPCODE_SET_PSV ||
	    qp->rules->kind == SEND_RAW)
		return;
	if (opcode_has_raddr(opcode))
		n += name_target(sent_wqe_unit(&wqe, at++), text + n, size - n);
	at += opcode_is_atomic(opcode);
	if (wqe.units > at)
		name_buffer(sent_wqe_unit(&wqe, at), text + n, size - n);
}

static void name_receive(const struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe, char *text,
			 size_t size)
{
	int n = snprintf(text, size, "RECV");
	const void *first;

	if (!rq->srq && !rq->buf)
		return;
	if (rq->srq)
		first = srq_wqe(rq->srq, be16toh(cqe->wqe_counter) & (rq->srq->wqes - 1)) + 1;
	else
		first = rq->buf + ((size_t)(rq->wq.tail & rq->wq.mask) << rq->stride_log);
	name_buffer(first, text + n, size - n);
}

static void __attribute__((cold)) error_explain(struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	const struct mlx5_err_cqe *err = (const struct mlx5_err_cqe *)cqe;
	bool is_send = cqe_opcode(cqe) == MLX5_CQE_REQ_ERR;
	char request[160];

	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	if (is_send)
		name_send(rq_qp(rq), cqe, request, sizeof(request));
	else
		name_receive(rq, cqe, request, sizeof(request));
	verbs_warn("%s 0x%x: the %s with wr_id %#llx (%s) failed: syndrome 0x%02x, %s; vendor "
		   "syndrome 0x%02x, %s",
		   rq_owner_name(rq), rq->number, is_send ? "send request" : "receive",
		   (unsigned long long)failed_wr_id(rq, cqe, is_send), request, err->syndrome,
		   mlx5_syndrome_str(err->syndrome), err->vendor_err_synd,
		   mlx5_vendor_syndrome_str(err->vendor_err_synd));
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

/* Returns whether this request has already failed. A request of several WQEs (mkey/configure.c)
 * counts as one, and ends with its first error. */
static bool request_is_over(struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	const struct wq *sends = &rq_qp(rq)->sq.wq;

	return cqe_opcode(cqe) == MLX5_CQE_REQ_ERR &&
	       wq_slot_at(sends, be16toh(cqe->wqe_counter))->tail_after == sends->tail;
}

/* Returns whether the error may be the program's fault. A flushed request, or a peer that does not
 * answer, is not. */
static bool error_is_ours(uint8_t syndrome)
{
	return syndrome != MLX5_CQE_SYNDROME_WR_FLUSH_ERR &&
	       syndrome != MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR;
}

/* Takes an error CQE. Only the first failure of a QP is logged: the ones after it are flushed
 * because of it. */
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
	if (syndrome != MLX5_CQE_SYNDROME_WR_FLUSH_ERR &&
	    !__atomic_exchange_n(&rq->error_reported, true, __ATOMIC_RELAXED))
		error_explain(rq, cqe);
	if (cq->freezes && error_is_ours(syndrome))
		error_freeze(cq);
	return syndrome_status(syndrome);
}
