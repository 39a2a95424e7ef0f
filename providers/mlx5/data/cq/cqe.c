/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe.c - slow paths of the decoder in cqe.h: a payload inside the CQE, or a receive that is not
 * the next one of its queue. Errors are in cqe_error.c, tag matching is in tm_done.c, runs are in
 * cqe_run.c.
 */
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/cq/cqe.h"
#include "providers/mlx5/data/cq/cqe_run.h"
#include "providers/mlx5/data/sent_wqe.h"
#include "providers/mlx5/data/srq_ring.h"
#include "providers/mlx5/data/tm_done.h"
#include "providers/mlx5/mkey.h"
#include "providers/common/scatter.h"
#include "providers/mlx5/qp/rules.h"
#include "providers/mlx5/srq.h"
#include "providers/mlx5/tm.h"

/* ---- payload inside the CQE: up to 32 bytes at its start, or up to 64 bytes before it in a
 * 128-byte entry
 */

static const uint8_t *cqe_payload(const struct mlx5_cqe64 *cqe)
{
	const uint8_t *start = (const uint8_t *)cqe;

	return (cqe->op_own & FLD_BITS(CQE_FORMAT)) == MLX5_INLINE_SCATTER_64 ? start - sizeof(*cqe)
									      : start;
}

static int __attribute__((noinline))
payload_copy_to_list(const void *list, uint32_t n, __be32 null_lkey, const uint8_t *from,
		     uint32_t len)
{
	return scatter_fill(list, n, null_lkey, from, len) ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

/* Returns the index of a message's WQE in its own receive queue: the oldest WQE, because WQEs are
 * used in order. With out-of-order messages, the CQE has the index. */
static uint32_t rq_unit(const struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	return (rq->out_of_order ? be16toh(cqe->wqe_counter) : rq->wq.tail) & rq->wq.mask;
}

/* Copies the payload to the receive buffers, because the adapter wrote it into the CQE only. The
 * buffers are those of the receive WQE, or of the SRQ's WQE that the CQE names. */
static int __attribute__((noinline))
payload_copy_to_rq(const struct mlx5_rq *rq, __be32 null_lkey, const struct mlx5_cqe64 *cqe)
{
	uint32_t unit = rq_unit(rq, cqe), max_sge = rq->max_sge, len;
	const struct mlx5_wqe_data_seg *scatter;

	if (rq->srq) {
		scatter = (const void *)(srq_wqe(rq->srq,
						 be16toh(cqe->wqe_counter) & (rq->srq->wqes - 1)) +
					 1);
		max_sge = rq->srq->max_sge;
	} else {
		scatter = (const void *)(rq->buf + ((size_t)unit << rq->stride_log));
	}
	len = be32toh(cqe->byte_cnt);
	/* The first buffer is nearly always large enough, so a plain copy saves the walk over the
	 * list. */
	if (likely(len <= be32toh(scatter->byte_count) && len && scatter->lkey != null_lkey)) {
		copy_small((uint8_t *)(uintptr_t)be64toh(scatter->addr), cqe_payload(cqe), len);
		return IBV_WC_SUCCESS;
	}
	return payload_copy_to_list(scatter, max_sge, null_lkey, cqe_payload(cqe), len);
}

/* Copies the payload of a READ or an atomic to the buffers of its send WQE, because the adapter
 * wrote it into the CQE only. */
static int __attribute__((noinline))
payload_copy_to_sq(const struct mlx5_qp *qp, __be32 null_lkey, const struct mlx5_cqe64 *cqe)
{
	const struct sent_wqe wqe = sent_wqe_at(&qp->sq, be16toh(cqe->wqe_counter));
	bool read = cqe_send_opcode(cqe) == MLX5_OPCODE_RDMA_READ;
	/* Units before the data: control, [XRC] or [address vector], remote address[, atomic]. The
	 * WQE is the only record of the buffers, as the library keeps no scatter lists. */
	uint32_t unit = (read ? 2 : 3) + qp->rules->address_size / WQE_SEG;
	uint32_t bytes = read ? be32toh(cqe->byte_cnt) : ATOMIC_BYTES, left = bytes;

	for (; left && unit < wqe.units; unit++)
		left = scatter_fill(sent_wqe_unit(&wqe, unit), 1, null_lkey,
				    cqe_payload(cqe) + bytes - left, left);
	return left ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

/* ---- the slow paths that cqe.h calls */

static bool cqe_is_tagged(const struct mlx5_rq *rq, const struct mlx5_cqe64 *cqe)
{
	return rq->srq && rq->srq->tm && cqe->app == CQE_APP_TAG_MATCHING &&
	       cqe_opcode(cqe) <= MLX5_CQE_NO_PACKET;
}

static bool cqe_is_in_srq(const struct mlx5_cqe64 *cqe)
{
	return cqe->app_op == TM_CQE_UNEXPECTED || cqe->app_op == TM_CQE_NO_TAG;
}

static void take_error(struct mlx5_mkey *mkey, const void *cqe)
{
	mkey->sig->error = (struct mkey_sig_error){
		.syndrome = (uint16_t)fld_get(cqe, SIG_ERR_SYNDROME),
		.type = (uint8_t)fld_get(cqe, SIG_ERR_TYPE),
		.domain = (uint8_t)fld_get(cqe, SIG_ERR_DOMAIN),
		.expected = fld_get(cqe, SIG_ERR_EXPECTED_TRANS) << 32 |
			    fld_get(cqe, SIG_ERR_EXPECTED_REF),
		.actual =
			fld_get(cqe, SIG_ERR_ACTUAL_TRANS) << 32 | fld_get(cqe, SIG_ERR_ACTUAL_REF),
		.offset = fld_get(cqe, SIG_ERR_OFFSET),
	};
	__atomic_store_n(&mkey->sig->has_error, true, __ATOMIC_RELEASE);
}

/* Stores the error in the key until the program asks for it. The lock of the table of keys keeps
 * the key valid: a key is removed from the table, under this lock, before it is destroyed. PRM:
 * Signature Error CQE */
static void keep_sig_error(const struct mlx5_context *ctx, const void *cqe)
{
	struct id_lookup *keys = __atomic_load_n(&ctx->sig_keys, __ATOMIC_ACQUIRE);
	uint32_t key = (uint32_t)fld_get(cqe, SIG_ERR_MKEY);
	struct mlx5_mkey *mkey = NULL;

	if (keys) {
		pthread_mutex_lock(&keys->lock);
		mkey = keys->root ? id_find(keys->root, key >> 8) : NULL;
		if (mkey)
			take_error(mkey, cqe);
		pthread_mutex_unlock(&keys->lock);
	}
	if (!mkey)
		verbs_warn("poll_cq: a signature error of key 0x%x, which does not exist here: "
			   "skipped",
			   key);
}

/* Takes a signature error CQE. Does not look up its queue: the CQE has error data in the field of
 * the queue number, which may match an existing queue. */
static int take_sig_error(const struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	keep_sig_error(to_mctx(cq->vcq.cq.context), cqe);
	return -1;
}

int mlx5_cqe_take_exception(const struct mlx5_cq *cq, struct mlx5_rq *rq,
			    const struct mlx5_cqe64 *cqe)
{
	unsigned int opcode = cqe_opcode(cqe);

	if (unlikely(cqe_is_title(cqe)))
		return mlx5_cqe_run_take(cq, cqe);
	if (opcode == MLX5_CQE_SIG_ERR)
		return take_sig_error(cq, cqe);
	order_observe(&rq->wq);
	if (cqe_is_tagged(rq, cqe) && opcode == MLX5_CQE_NO_PACKET)
		return mlx5_tm_take_operation(rq->srq, cqe);
	if (cqe_is_tagged(rq, cqe) && opcode != MLX5_CQE_REQ && !cqe_is_in_srq(cqe))
		return mlx5_tm_copy_inline(rq->srq, cqe, cqe_payload(cqe));
	if (opcode == MLX5_CQE_REQ)
		return payload_copy_to_sq(rq_qp(rq), cq->null_lkey, cqe);
	if (likely(opcode <= MLX5_CQE_RESP_SEND_INV))
		return payload_copy_to_rq(rq, cq->null_lkey, cqe);
	if (opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR)
		return mlx5_cqe_take_error(cq, rq, cqe);
	verbs_warn("poll_cq: %s 0x%x: unexpected CQE opcode %u: skipped", rq_owner_name(rq),
		   rq->number, opcode);
	return -1;
}

struct special_completion mlx5_cqe_complete_special(struct mlx5_rq *rq,
						    const struct mlx5_cqe64 *cqe, int status)
{
	struct special_completion done = { .status = (uint8_t)status,
					   .opcode = (uint8_t)cqe_opcode(cqe) };

	if (cqe_is_tagged(rq, cqe))
		return mlx5_tm_complete(rq->srq, cqe, status);
	if (rq->checksums && cqe_opcode(cqe) <= MLX5_CQE_RESP_SEND_INV)
		done.wc_flags = cqe_checksum_flags(cqe);
	if (rq->srq)
		done.wr_id = mlx5_srq_complete(rq->srq, be16toh(cqe->wqe_counter));
	else
		done.wr_id = wq_complete_one(&rq->wq, rq_unit(rq, cqe));
	return done;
}

/* Handles a CQE whose queue is not found, and logs it. Does not log a CQE whose number
 * mlx5_cq_disown() has removed (cq_ring.c). Expands a run first, so that its CQEs come here one by
 * one. */
bool mlx5_cqe_take_stray(struct mlx5_cq *cq, const struct mlx5_cqe64 *cqe)
{
	if (mlx5_cq_disown(cq))
		return false;
	if (cqe_is_title(cqe))
		mlx5_cqe_run_take(cq, cqe);
	if (cqe_opcode(cqe) == MLX5_CQE_SIG_ERR) {
		take_sig_error(cq, cqe);
		return true;
	}
	if (cqe_rsn_raw(cq, cqe) == htobe32(PRM_NO_USER_INDEX))
		return true;
	verbs_warn("poll_cq: cq 0x%x: a completion (opcode %u) for qp 0x%x, which does not exist "
		   "here: skipped",
		   cq->cqn, cqe_opcode(cqe), cqe_qpn(cqe));
	return true;
}
