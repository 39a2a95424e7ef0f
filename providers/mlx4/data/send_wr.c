/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr.c - ibv_wr_*(): the second entry point to the builders of send_wqe.h.
 *
 * The WQEs of an open batch have the wrong ownership bit, and stamps in their later pieces, so that
 * the adapter ignores them until ibv_wr_complete() writes the right words, in order. So
 * ibv_wr_abort() has nothing to undo, whatever the adapter has prefetched.
 */
#include <errno.h>

#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/data/doorbell.h"
#include "providers/mlx4/data/send_wqe.h"

static void wr_start(struct ibv_qp_ex *qpx)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);

	qlock_enter(&qp->sq_lock);
	qp->batch = (struct mlx4_batch){ .first = qp->sq.wq.head };
}

/* Returns where the first words of a slot's pieces are kept while its batch is open: in the ring,
 * the pieces stay stamped until the batch completes. */
static __be32 *slot_aside(const struct mlx4_qp *qp, uint32_t index)
{
	return qp->asides +
	       ((size_t)(index & qp->sq.wq.mask) << (qp->sq.slot_log - M4_MIN_SLOT_LOG));
}

static void batch_fail(struct mlx4_qp *qp, int err, const char *what, uint64_t value)
{
	if (qp->batch.err)
		return;
	verbs_warn("wr_complete: qp 0x%x: %s: %llu", qp->vqp.qp.qp_num, what,
		   (unsigned long long)value);
	qp->batch.err = err;
}

/* Begins a WQE with OPCODE, whose data follows HEAD_SIZE bytes. Returns NULL if the batch has
 * failed or fails now. */
static uint8_t *wqe_begin(struct mlx4_qp *qp, uint32_t opcode, enum ibv_wr_opcode wr_opcode,
			  uint32_t done_as, uint32_t head_size, __be32 imm)
{
	const struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;
	struct mlx4_sq *sq = &qp->sq;
	uint32_t head = sq->wq.head;
	uint8_t *ctrl;

	if (unlikely(!(sq->opcodes & 1u << wr_opcode)))
		batch_fail(qp, EINVAL, "the state of the QP does not allow the request", wr_opcode);
	else if (unlikely(!wq_has_room(&sq->wq, head)))
		batch_fail(qp, ENOMEM, "as many requests are posted as max_send_wr",
			   sq->wq.max_post);
	if (unlikely(kind_has_sums(qp->kind) && qpx->wr_flags & IBV_SEND_IP_CSUM &&
		     !qp->has_checksums))
		batch_fail(qp, EINVAL, "no checksums for this QP on this port", qpx->wr_flags);
	if (unlikely(qp->batch.err))
		return NULL;
	/* Stamp now: this far in front of the posted WQEs the slot is not stamped yet, and building
	 * overwrites the size of its last WQE, which the stamps need. */
	if (unlikely(head - qp->batch.first >= sq->spare && sq->slot_log > M4_MIN_SLOT_LOG))
		sq_stamp(sq, head);
	ctrl = sq_slot(sq, head);
	wqe_put_control(ctrl, head_size, wqe_control(sq, qp->kind, qpx->wr_flags), imm);
	*(__be32 *)ctrl = htobe32(wqe_owner_opcode(sq, head, opcode) ^ FLD_BITS(M4_CTRL_OWNER));
	wq_slot_set(wq_slot_at(&sq->wq, head), head, qpx->wr_id, done_as);
	sq->wq.head = head + 1;
	qp->batch.ctrl = ctrl;
	qp->batch.aside = slot_aside(qp, head);
	qp->batch.head_size = head_size;
	qp->batch.more = opcode_is_atomic(opcode);
	qp->batch.is_whole = opcode == M4_RDMA_READ || opcode_is_atomic(opcode);
	return ctrl;
}

static uint32_t plain_head(const struct mlx4_qp *qp)
{
	return qp->kind == SEND_DATAGRAM ? M4_SEG + M4_DATAGRAM_SIZE : M4_SEG;
}

static void wr_send(struct ibv_qp_ex *qpx)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);

	wqe_begin(qp, M4_SEND, IBV_WR_SEND, IBV_WC_SEND, plain_head(qp), 0);
}

static void wr_send_imm(struct ibv_qp_ex *qpx, __be32 imm)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);

	wqe_begin(qp, M4_SEND_IMM, IBV_WR_SEND_WITH_IMM, IBV_WC_SEND | SENT_WITH_IMM,
		  plain_head(qp), imm);
}

static void wr_send_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	wqe_begin(to_mqp_ex(qpx), M4_SEND_INVAL, IBV_WR_SEND_WITH_INV, IBV_WC_SEND, M4_SEG,
		  htobe32(rkey));
}

static void put_rdma(struct ibv_qp_ex *qpx, uint32_t opcode, enum ibv_wr_opcode wr_opcode,
		     uint32_t done_as, uint32_t rkey, uint64_t addr, __be32 imm)
{
	uint8_t *ctrl = wqe_begin(to_mqp_ex(qpx), opcode, wr_opcode, done_as, 2 * M4_SEG, imm);

	if (ctrl)
		wqe_put_raddr(ctrl, M4_SEG, addr, rkey);
}

static void wr_rdma_write(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr)
{
	put_rdma(qpx, M4_RDMA_WRITE, IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, rkey, addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr, __be32 imm)
{
	put_rdma(qpx, M4_RDMA_WRITE_IMM, IBV_WR_RDMA_WRITE_WITH_IMM,
		 IBV_WC_RDMA_WRITE | SENT_WITH_IMM, rkey, addr, imm);
}

static void wr_rdma_read(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr)
{
	put_rdma(qpx, M4_RDMA_READ, IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, rkey, addr, 0);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr, uint64_t compare,
			      uint64_t swap)
{
	uint8_t *ctrl = wqe_begin(to_mqp_ex(qpx), M4_ATOMIC_CS, IBV_WR_ATOMIC_CMP_AND_SWP,
				  IBV_WC_COMP_SWAP | SENT_ATOMIC, 3 * M4_SEG, 0);

	if (ctrl)
		wqe_put_atomic(ctrl, wqe_put_raddr(ctrl, M4_SEG, addr, rkey), swap, compare);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qpx, uint32_t rkey, uint64_t addr, uint64_t add)
{
	uint8_t *ctrl = wqe_begin(to_mqp_ex(qpx), M4_ATOMIC_FA, IBV_WR_ATOMIC_FETCH_AND_ADD,
				  IBV_WC_FETCH_ADD | SENT_ATOMIC, 3 * M4_SEG, 0);

	if (ctrl)
		wqe_put_atomic(ctrl, wqe_put_raddr(ctrl, M4_SEG, addr, rkey), add, 0);
}

static void wr_bind_mw(struct ibv_qp_ex *qpx, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *bind)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);
	uint8_t *ctrl = wqe_begin(qp, M4_BIND_MW, IBV_WR_BIND_MW, IBV_WC_BIND_MW, M4_BIND_END, 0);

	if (!ctrl)
		return;
	qp->batch.err = mlx4_check_bind(qp, mw, bind);
	if (qp->batch.err)
		return;
	wqe_put_bind(ctrl, mw, rkey, bind_lkey(bind), bind);
	((__be32 *)ctrl)[2] |= htobe32(M4_ON_KEY);
}

static void wr_local_inv(struct ibv_qp_ex *qpx, uint32_t rkey)
{
	uint8_t *ctrl = wqe_begin(to_mqp_ex(qpx), M4_LOCAL_INVAL, IBV_WR_LOCAL_INV,
				  IBV_WC_LOCAL_INV, M4_INVAL_END, 0);

	if (!ctrl)
		return;
	wqe_put_inval(ctrl, rkey);
	((__be32 *)ctrl)[2] |= htobe32(M4_ON_KEY);
}

static void wr_send_tso(struct ibv_qp_ex *qpx, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);
	uint8_t *ctrl;

	if (hdr_sz < TSO_HEADER_MIN || hdr_sz > qp->max_tso_header)
		batch_fail(qp, EINVAL, "hdr_sz must be 14 to max_tso_header", hdr_sz);
	ctrl = wqe_begin(qp, wqe_large_opcode(hdr_sz), IBV_WR_TSO, IBV_WC_TSO,
			 wqe_large_end(hdr_sz), 0);
	if (!ctrl)
		return;
	wqe_put_header(ctrl, hdr, hdr_sz, mss, qp->batch.aside);
	wqe_put_mac(ctrl, 0, hdr, hdr_sz);
}

static bool batch_has_wqe(const struct mlx4_qp *qp)
{
	return !qp->batch.err && qp->batch.ctrl;
}

/* Returns whether the control segment still needs the destination address of a frame, which is at
 * the start of its data. */
static bool needs_mac(const struct mlx4_qp *qp)
{
	return qp->kind == SEND_RAW && qp->batch.head_size == M4_SEG;
}

static void empty_frame_fail(struct mlx4_qp *qp)
{
	batch_fail(qp, EINVAL, "the frame has no bytes", 0);
}

static void wr_set_ud_addr(struct ibv_qp_ex *qpx, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);

	if (batch_has_wqe(qp))
		wqe_put_address(qp->batch.ctrl, ah, qpn, qkey);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qpx, uint32_t srqn)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);
	__be32 *words = (__be32 *)qp->batch.ctrl;

	if (batch_has_wqe(qp))
		words[2] =
			(words[2] & ~htobe32(FLD_BITS(M4_CTRL_XRC_SRQN))) | htobe32(wqe_srqn(srqn));
}

static void set_size(struct mlx4_batch *batch, uint32_t at)
{
	__be32 *words = (__be32 *)batch->ctrl;

	words[1] = htobe32((be32toh(words[1]) & FLD_BITS(M4_CTRL_FENCE)) | at / M4_SEG);
}

static void wr_set_sge_list(struct ibv_qp_ex *qpx, size_t count, const struct ibv_sge *sges)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);
	struct mlx4_batch *batch = &qp->batch;
	uint32_t have = 0;

	if (!batch_has_wqe(qp))
		return;
	if (unlikely(count + batch->more > qp->sq.max_sge)) {
		batch_fail(qp, ENOMEM, "more segments than max_send_sge", count);
		return;
	}
	if (needs_mac(qp)) {
		for (size_t i = 0; i < count; i++)
			have = wqe_put_mac(batch->ctrl, have, (void *)(uintptr_t)sges[i].addr,
					   sges[i].length);
		if (unlikely(!have)) {
			empty_frame_fail(qp);
			return;
		}
	}
	set_size(batch,
		 wqe_put_sges(batch->ctrl, batch->head_size, sges, (int)count, batch->aside));
}

static void wr_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(qpx, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qpx, size_t count,
				    const struct ibv_data_buf *bufs)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);
	struct mlx4_batch *batch = &qp->batch;
	struct wqe_stream stream;
	uint64_t length = 0;
	uint32_t have = 0;

	if (!batch_has_wqe(qp))
		return;
	for (size_t i = 0; i < count; i++)
		length += bufs[i].length;
	if (unlikely(length + batch->more * M4_SEG > qp->sq.max_inline)) {
		batch_fail(qp, ENOMEM, "more inline bytes than max_inline_data", length);
		return;
	}
	if (needs_mac(qp)) {
		for (size_t i = 0; i < count; i++)
			have = wqe_put_mac(batch->ctrl, have, bufs[i].addr, bufs[i].length);
		if (unlikely(!have)) {
			empty_frame_fail(qp);
			return;
		}
	}
	stream_begin(&stream, batch->ctrl, batch->head_size, batch->aside);
	for (size_t i = 0; i < count; i++)
		stream_put(&stream, bufs[i].addr, (uint32_t)bufs[i].length);
	set_size(batch, stream_end(&stream));
	batch->is_whole = true;
}

static void wr_set_inline_data(struct ibv_qp_ex *qpx, void *addr, size_t length)
{
	const struct ibv_data_buf buf = { addr, length };

	wr_set_inline_data_list(qpx, 1, &buf);
}

/* Writes the first words of the WQE's later pieces in place of the stamps. The barrier before it
 * keeps a piece invalid until its other bytes are visible. */
static void wqe_reveal(const struct mlx4_qp *qp, uint32_t index)
{
	uint8_t *ctrl = sq_slot(&qp->sq, index);
	uint32_t size = wqe_size(ctrl);
	const __be32 *aside = slot_aside(qp, index);

	dma_store_barrier();
	for (uint32_t at = M4_PIECE; at < size; at += M4_PIECE)
		*(__be32 *)(ctrl + at) = aside[at / M4_PIECE];
}

static bool batch_pushes(const struct mlx4_qp *qp, uint32_t size)
{
	return qp->sq.wq.head - qp->batch.first == 1 && qp->batch.is_whole && qp->sq.bf &&
	       size <= qp->sq.bf->half;
}

static void batch_stamp(struct mlx4_qp *qp, uint32_t index, uint32_t size)
{
	if (qp->sq.slot_log > M4_MIN_SLOT_LOG)
		sq_stamp_ahead(&qp->sq, qp->kind, index, size);
}

static void batch_push(struct mlx4_qp *qp, uint32_t size)
{
	uint32_t owner_opcode = be32toh(*(__be32 *)qp->batch.ctrl) ^ FLD_BITS(M4_CTRL_OWNER);

	doorbell_push(&qp->sq, qp->batch.ctrl, size, owner_opcode, qp->batch.first);
	batch_stamp(qp, qp->batch.first, size);
}

static void batch_post(struct mlx4_qp *qp)
{
	struct mlx4_sq *sq = &qp->sq;
	uint32_t size = wqe_size(qp->batch.ctrl);

	order_publish(&sq->wq);
	if (batch_pushes(qp, size)) {
		wqe_reveal(qp, qp->batch.first);
		batch_push(qp, size);
		return;
	}
	for (uint32_t i = qp->batch.first; i != sq->wq.head; i++) {
		__be32 *first = (__be32 *)sq_slot(sq, i);

		wqe_reveal(qp, i);
		dma_store_barrier();
		*first ^= htobe32(FLD_BITS(M4_CTRL_OWNER));
		batch_stamp(qp, i, wqe_size((uint8_t *)first));
	}
	doorbell_send(sq);
}

static int wr_complete(struct ibv_qp_ex *qpx)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);
	int err = qp->batch.err;

	if (unlikely(err)) {
		qp->sq.wq.head = qp->batch.first;
		errno = err;
	} else if (likely(qp->sq.wq.head != qp->batch.first)) {
		batch_post(qp);
	}
	qlock_leave(&qp->sq_lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *qpx)
{
	struct mlx4_qp *qp = to_mqp_ex(qpx);

	qp->sq.wq.head = qp->batch.first;
	qlock_leave(&qp->sq_lock);
}

static void fill_raw(struct ibv_qp_ex *qpx)
{
	qpx->wr_send_imm = NULL;
	qpx->wr_send_tso = wr_send_tso;
}

/* Sets the ibv_wr_* functions of QP. A UD QP has SENDs only; only RC and XRC QPs have READs,
 * atomics and SENDs with invalidation. */
void mlx4_send_wr_fill(struct mlx4_qp *qp)
{
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	qpx->wr_start = wr_start;
	qpx->wr_complete = wr_complete;
	qpx->wr_abort = wr_abort;
	qpx->wr_send = wr_send;
	qpx->wr_send_imm = wr_send_imm;
	qpx->wr_set_sge = wr_set_sge;
	qpx->wr_set_sge_list = wr_set_sge_list;
	qpx->wr_set_inline_data = wr_set_inline_data;
	qpx->wr_set_inline_data_list = wr_set_inline_data_list;
	if (qp->kind == SEND_RAW) {
		fill_raw(qpx);
		return;
	}
	if (qp->kind == SEND_DATAGRAM) {
		qpx->wr_set_ud_addr = wr_set_ud_addr;
		return;
	}
	if (qp->kind == SEND_XRC)
		qpx->wr_set_xrc_srqn = wr_set_xrc_srqn;
	qpx->wr_rdma_write = wr_rdma_write;
	qpx->wr_rdma_write_imm = wr_rdma_write_imm;
	qpx->wr_bind_mw = wr_bind_mw;
	qpx->wr_local_inv = wr_local_inv;
	if (!(qp->opcodes & 1u << IBV_WR_RDMA_READ))
		return;
	qpx->wr_send_inv = wr_send_inv;
	qpx->wr_rdma_read = wr_rdma_read;
	qpx->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	qpx->wr_atomic_fetch_add = wr_atomic_fetch_add;
}
