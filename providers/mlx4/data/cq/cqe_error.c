/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_error.c - completions with an error. The first one of each QP is explained in the log: the
 * adapter's syndrome, and the failed request, which is still in the ring.
 */
#include "prm/mlx5/cqe.h"
#include "providers/common/failed_request.h"
#include "providers/mlx4/data/cq/cqe.h"
#include "providers/mlx4/data/send_wqe.h"

static const char *operation_name(uint32_t opcode)
{
	static const char *const names[] = {
		[M4_NOP] = "NOP",
		[M4_SEND_INVAL] = "SEND_WITH_INV",
		[M4_RDMA_WRITE] = "RDMA_WRITE",
		[M4_RDMA_WRITE_IMM] = "RDMA_WRITE_WITH_IMM",
		[M4_SEND] = "SEND",
		[M4_SEND_IMM] = "SEND_WITH_IMM",
		[M4_LSO] = "TSO",
		[M4_RDMA_READ] = "RDMA_READ",
		[M4_ATOMIC_CS] = "ATOMIC_CMP_AND_SWP",
		[M4_ATOMIC_FA] = "ATOMIC_FETCH_AND_ADD",
		[M4_BIND_MW] = "BIND_MW",
		[M4_LOCAL_INVAL] = "LOCAL_INV",
	};

	return opcode < ARRAY_SIZE(names) && names[opcode] ? names[opcode] : "an unknown opcode";
}

static enum request_kind kind_of(const struct mlx4_qp *qp, uint32_t opcode)
{
	switch (opcode) {
	case M4_SEND:
	case M4_SEND_IMM:
	case M4_SEND_INVAL:
		return qp->kind == SEND_DATAGRAM ? REQUEST_DATAGRAM : REQUEST_SEND;
	case M4_LSO: /* may have several packets, so no datagram's limit applies */
		return REQUEST_SEND;
	case M4_RDMA_WRITE:
		return REQUEST_WRITE;
	case M4_RDMA_WRITE_IMM:
		return REQUEST_WRITE_IMM;
	case M4_RDMA_READ:
		return REQUEST_READ;
	case M4_ATOMIC_CS:
	case M4_ATOMIC_FA:
		return REQUEST_ATOMIC;
	default:
		return REQUEST_OTHER;
	}
}

static bool kind_has_target(enum request_kind kind)
{
	return kind == REQUEST_WRITE || kind == REQUEST_WRITE_IMM || kind == REQUEST_READ ||
	       kind == REQUEST_ATOMIC;
}

static void name_buffer(const uint8_t *segment, struct failed_request *f)
{
	const uint32_t bytes = (uint32_t)fld_get(segment, M4_DATA_LEN);

	if (fld_get(segment, M4_DATA_INLINE))
		provider_failed_name_inline(f, bytes);
	else
		provider_failed_name_buffer(f, fld_get(segment, M4_DATA_ADDR), bytes,
					    (uint32_t)fld_get(segment, M4_DATA_LKEY));
}

static void name_send(const struct mlx4_qp *qp, const uint8_t *cqe, struct failed_request *f)
{
	const uint8_t *ctrl = sq_slot(&qp->sq, cqe_wqe_index(cqe));
	const uint32_t opcode = (uint32_t)fld_get(ctrl, M4_CTRL_OPCODE);
	uint32_t at = M4_SEG + (qp->kind == SEND_DATAGRAM ? M4_DATAGRAM_SIZE : 0);

	provider_failed_name(f, operation_name(opcode));
	f->kind = kind_of(qp, opcode);
	if (f->kind == REQUEST_OTHER || opcode == M4_LSO || qp->kind == SEND_RAW)
		return;
	if (kind_has_target(f->kind)) {
		provider_failed_name_target(f, fld_get(ctrl + at, M4_RADDR_ADDR),
					    (uint32_t)fld_get(ctrl + at, M4_RADDR_RKEY));
		at += M4_SEG;
	}
	if (f->kind == REQUEST_ATOMIC)
		at += M4_SEG;
	if (at < wqe_size(ctrl))
		name_buffer(ctrl + at, f);
}

/* Returns the last WQE that has completed, as cqe_complete() has advanced the tail. */
static const uint8_t *last_of_rq(const struct mlx4_rq *rq)
{
	return rq->buf + ((size_t)((rq->wq.tail - 1) & rq->wq.mask) << rq->stride_log);
}

static void name_receive(const struct completion *comp, struct failed_request *f)
{
	const struct mlx4_qp *qp = comp->qp;
	const struct mlx4_srq *srq = comp->srq ? comp->srq : qp->srq;

	f->kind = qp && qp->kind == SEND_DATAGRAM ? REQUEST_DATAGRAM_RECEIVE : REQUEST_RECEIVE;
	provider_failed_name(f, "RECV");
	if (srq) /* the link to the next WQE is in front of the buffers */
		name_buffer(srq_wqe(srq, cqe_wqe_index(comp->cqe) & (srq->wqes - 1)) + M4_SEG, f);
	else if (qp->rq.buf)
		name_buffer(last_of_rq(&qp->rq), f);
}

static bool is_first(const struct completion *comp)
{
	bool *reported = comp->qp ? &comp->qp->error_reported : &comp->srq->error_reported;

	return !__atomic_exchange_n(reported, true, __ATOMIC_RELAXED);
}

/* Returns whether to log the error. Exceeded retries mean that a peer has ended or is slow, which
 * is no mistake of the program, so they are logged only if warnings are on. */
static bool is_logged(uint32_t syndrome)
{
	if (syndrome == SYND_RETRY_EXCEEDED || syndrome == SYND_RNR_EXCEEDED)
		return verbs_log_on(VERBS_LOG_WARN);
	return verbs_log_mistake();
}

static void __attribute__((cold)) error_explain(const struct completion *comp, uint8_t syndrome)
{
	struct failed_request failed = { .is_send = cqe_is_request(comp->cqe),
					 .wr_id = comp->wr_id };
	char cure[320];

	if (failed.is_send)
		name_send(comp->qp, comp->cqe, &failed);
	else
		name_receive(comp, &failed);
	provider_failed_cure(&failed, syndrome, cure, sizeof(cure));
	provider_failed_report(&failed, "qp", cqe_qpn(comp->cqe), syndrome,
			       (uint8_t)fld_get(comp->cqe, M4_CQE_VENDOR), cure);
}

void mlx4_cqe_fail(struct completion *comp)
{
	uint32_t syndrome = (uint32_t)fld_get(comp->cqe, M4_CQE_SYNDROME);

	comp->status = provider_syndrome_status(syndrome);
	if (syndrome != SYND_FLUSH && is_first(comp) && is_logged(syndrome))
		error_explain(comp, (uint8_t)syndrome);
}
