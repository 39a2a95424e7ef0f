/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wqe.h - builds send WQEs in the ring: one function per segment.
 *
 * A WQE starts on a WQEBB. It is control, [XRC], [remote address, [atomic]] or [address vector],
 * and then data segments or one inline segment. An address vector fills the first WQEBB, and
 * wqe_wrap() then moves to the start of the ring if needed, so that the remote address and atomic
 * of a DC request do not straddle the end. All other heads end within the first WQEBB. Data
 * segments are as large as their alignment, so the ring wraps between two of them. Only inline
 * bytes can straddle the end; ring_copy() copies those in two parts.
 *
 * The callers (post_send.c, send_wr.c) hold sq_lock, where there is one, and check the capacities
 * first. The adapter sees nothing before the doorbell.
 */
#ifndef PROVIDERS_MLX5_DATA_SEND_WQE_H
#define PROVIDERS_MLX5_DATA_SEND_WQE_H

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "prm/mlx5/wqe.h"
#include "providers/common/seg.h"
#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/qp/qp.h"

/* PRM: the XRC segment names the receiver's SRQ. mlx5dv.h has no structure for it. */
struct wqe_xrc_seg {
	__be32 srqn;
	uint8_t reserved[12];
};
static_assert(sizeof(struct wqe_xrc_seg) == WQE_SEG &&
		      offsetof(struct wqe_xrc_seg, srqn) == FLD_DWORD(XRC_SRQN) * 4,
	      "PRM: XRC Segment");

#define WQE_INLINE __attribute__((always_inline)) static inline

/* Fills ctrl_flags and umr_flags, which have the last byte of a control segment's third word for
 * each combination of send flags. The word's other bytes, signature and stream id, are 0. Called
 * when the QP is created. */
static inline void sq_prepare_flags(struct mlx5_sq *sq, bool signal_all)
{
	for (unsigned int flags = 0; flags < ARRAY_SIZE(sq->ctrl_flags); flags++) {
		uint8_t fm_ce_se = 0;

		if (flags & IBV_SEND_FENCE)
			fm_ce_se |= MLX5_WQE_CTRL_FENCE;
		if (flags & IBV_SEND_SIGNALED || signal_all)
			fm_ce_se |= MLX5_WQE_CTRL_CQ_UPDATE;
		if (flags & IBV_SEND_SOLICITED)
			fm_ce_se |= MLX5_WQE_CTRL_SOLICITED;
		sq->ctrl_flags[flags] = fm_ce_se;
		sq->umr_flags[flags] = fm_ce_se;
		/* PRM: a request after a UMR, another UMR included, waits for it by a small
		 * fence. */
		if (!(flags & IBV_SEND_FENCE))
			fm_ce_se |= MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE;
		sq->umr_flags[flags | FENCE_NEXT] = fm_ce_se;
	}
}

/* Sets the limits that permit or forbid posting, by the QP's state. With a limit of 0, the check of
 * num_sge refuses each request, so posting needs no test of the state. */
static inline void sq_permit(struct mlx5_sq *sq, bool open)
{
	sq->sge_limit = open ? sq->max_sge + 1 : 0;
	sq->key_flags = open ? IBV_SEND_INLINE : 0;
}

static inline void sq_prepare_inline(struct mlx5_sq *sq, uint32_t usual)
{
	sq->usual_inline = usual;
	sq->short_inline = min_of(usual, (uint32_t)COPY_SMALL_MAX);
}

/* Returns how to report the completion of OPCODE: enum ibv_wc_opcode, with enum ibv_wc_flags above
 * it. Folds to a constant for a constant OPCODE. */
WQE_INLINE uint32_t done_as(uint8_t opcode)
{
	switch (opcode) {
	case MLX5_OPCODE_SEND_IMM:
		return IBV_WC_SEND | IBV_WC_WITH_IMM << WQ_DONE_FLAGS_SHIFT;
	case MLX5_OPCODE_RDMA_WRITE:
		return IBV_WC_RDMA_WRITE;
	case MLX5_OPCODE_RDMA_WRITE_IMM:
		return IBV_WC_RDMA_WRITE | IBV_WC_WITH_IMM << WQ_DONE_FLAGS_SHIFT;
	case MLX5_OPCODE_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case MLX5_OPCODE_ATOMIC_CS:
		return IBV_WC_COMP_SWAP | SQ_DONE_ATOMIC;
	case MLX5_OPCODE_ATOMIC_FA:
		return IBV_WC_FETCH_ADD | SQ_DONE_ATOMIC;
	case MLX5_OPCODE_TSO:
		return IBV_WC_TSO;
	default:
		return IBV_WC_SEND;
	}
}

WQE_INLINE uint8_t *sq_wqebb(const struct mlx5_sq *sq, uint32_t pi)
{
	return sq->buf + ((size_t)(pi & sq->wq.mask) << WQE_BB_LOG);
}

WQE_INLINE void wqe_place(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi)
{
	const size_t at = pi * (uint32_t)sizeof(struct wq_slot) & sq->slot_mask;

	wqe->ctrl = sq->buf + at * (WQE_BB / sizeof(struct wq_slot));
	/* keeps the address in a register, as the compiler would recompute it for each segment */
	__asm__("" : "+r"(wqe->ctrl));
	wqe->slot = (struct wq_slot *)((uint8_t *)sq->wq.slots + at);
}

/* Starts the WQE placed at WQEBB PI; wqe_finish() adds the length. WORD is the third word of the
 * control segment. The caller notes how to report the completion. */
WQE_INLINE void wqe_begin_with(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
			       uint8_t opcode, __be32 word, __be32 imm)
{
	const uint64_t index = pi & FLD_MASK(CTRL_INDEX);

	wqe->seg = wqe->ctrl + sizeof(struct mlx5_wqe_ctrl_seg);
	wqe->ds = 1;
	wqe->head =
		index << (32 + FLD_SHIFT(CTRL_INDEX)) | (uint64_t)opcode << 32 | sq->qpn_shifted;
	/* wqe_finish() writes the first half, which has the length, as the length is known only at
	 * the end. */
	seg_put_raw_pair(wqe->ctrl + offsetof(struct mlx5_wqe_ctrl_seg, signature), word, imm);
}

/* Returns the third word of a control segment whose last byte is FLAGS. Does not call htobe32(),
 * for which compilers take two more instructions. */
WQE_INLINE __be32 ctrl_word(uint8_t flags)
{
	return (__be32)flags << (__BYTE_ORDER == __LITTLE_ENDIAN ? 24 : 0);
}

WQE_INLINE void wqe_begin_placed(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
				 uint8_t opcode, unsigned int flags, __be32 imm)
{
	wqe_begin_with(sq, wqe, pi, opcode,
		       ctrl_word(sq->ctrl_flags[flags % ARRAY_SIZE(sq->ctrl_flags)]), imm);
}

WQE_INLINE void wqe_begin(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t pi,
			  uint8_t opcode, unsigned int flags, __be32 imm)
{
	wqe_place(sq, wqe, pi);
	wqe->slot->done_as = done_as(opcode);
	wqe_begin_placed(sq, wqe, pi, opcode, flags, imm);
}

/* Moves the next segment to the start of the ring if it would lie at the end. */
WQE_INLINE void wqe_wrap(const struct mlx5_sq *sq, struct send_wqe *wqe)
{
	if (unlikely(wqe->seg == sq->end))
		wqe->seg = sq->buf;
}

WQE_INLINE void *wqe_second(uint8_t *ctrl)
{
	return ctrl + sizeof(struct mlx5_wqe_ctrl_seg);
}

/* PRM: an XRC WQE names the receiver's SRQ, after the control segment. */
WQE_INLINE void wqe_reserve_xrc(struct send_wqe *wqe)
{
	wqe->seg += sizeof(struct wqe_xrc_seg);
	wqe->ds++;
}

WQE_INLINE void wqe_set_xrc(uint8_t *ctrl, uint32_t srqn)
{
	struct wqe_xrc_seg *seg = wqe_second(ctrl);

	*seg = (struct wqe_xrc_seg){ .srqn = htobe32(srqn) };
}

/* PRM: the address vector of a datagram, in its full size, which fills the first WQEBB. */
WQE_INLINE void wqe_reserve_av(const struct mlx5_sq *sq, struct send_wqe *wqe)
{
	static_assert(sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_datagram_seg) ==
			      WQE_BB,
		      "PRM: control and datagram segments fill a WQEBB");
	wqe->seg += sizeof(struct mlx5_wqe_datagram_seg);
	wqe->ds += sizeof(struct mlx5_wqe_datagram_seg) / WQE_SEG;
	wqe_wrap(sq, wqe);
}

WQE_INLINE void wqe_set_av(uint8_t *ctrl, const struct mlx5_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct mlx5_wqe_datagram_seg *seg = wqe_second(ctrl);

	seg->av = ah->av;
	seg->av.dqp_dct = htobe32(qpn | MLX5_EXTENDED_UD_AV);
	seg->av.key.qkey.qkey = htobe32(qkey);
}

/* PRM: the address vector of DC has an access key in place of the Q_Key. */
WQE_INLINE void wqe_set_dc_av(uint8_t *ctrl, const struct mlx5_ah *ah, uint32_t dctn, uint64_t key)
{
	uint8_t *to = wqe_second(ctrl);

	seg_put_be64(to, key);
	seg_put_be64(to + AV_AT_NUMBER, ah->number | (uint64_t)dctn << 32);
	copy_32(to + AV_AT_PATH, (const uint8_t *)&ah->av + AV_AT_PATH);
}

/* Sets the DCI stream in the control segment. Call it after wqe_begin(), because that writes the
 * whole word. */
WQE_INLINE void wqe_set_stream(uint8_t *ctrl, uint16_t stream)
{
	((struct mlx5_wqe_ctrl_seg *)ctrl)->dci_stream_channel_id = htobe16(stream);
}

WQE_INLINE void wqe_put_raddr(struct send_wqe *wqe, uint64_t raddr, uint32_t rkey)
{
	seg_put_be64(wqe->seg, raddr);
	seg_put_pair(wqe->seg + offsetof(struct mlx5_wqe_raddr_seg, rkey), rkey, 0);
	wqe->seg += sizeof(struct mlx5_wqe_raddr_seg);
	wqe->ds++;
}

WQE_INLINE void wqe_put_atomic(struct send_wqe *wqe, uint64_t swap_add, uint64_t compare)
{
	struct mlx5_wqe_atomic_seg *seg = (struct mlx5_wqe_atomic_seg *)wqe->seg;

	seg->swap_add = htobe64(swap_add);
	seg->compare = htobe64(compare);
	wqe->seg += sizeof(*seg);
	wqe->ds++;
}

/* Writes a data segment; none for length 0, because a byte_count of 0 means 2 GiB. */
WQE_INLINE void wqe_put_data(const struct mlx5_sq *sq, struct send_wqe *wqe, uint32_t length,
			     uint32_t lkey, uint64_t addr)
{
	if (unlikely(!length))
		return;
	wqe_wrap(sq, wqe);
	seg_put_data(wqe->seg, length, lkey, addr);
	wqe->seg += sizeof(struct mlx5_wqe_data_seg);
	wqe->ds++;
}

WQE_INLINE void wqe_put_sge(const struct mlx5_sq *sq, struct send_wqe *wqe,
			    const struct ibv_sge *sge)
{
	if (unlikely(!sge->length))
		return;
	wqe_wrap(sq, wqe);
	seg_put_sge(wqe->seg, sge);
	wqe->seg += sizeof(struct mlx5_wqe_data_seg);
	wqe->ds++;
}

WQE_INLINE void wqe_put_sges(const struct mlx5_sq *sq, struct send_wqe *wqe,
			     const struct ibv_sge *sge, int n)
{
	if (likely(n == 1)) {
		wqe_put_sge(sq, wqe, sge);
		return;
	}
	for (; n > 0; n--, sge++)
		wqe_put_sge(sq, wqe, sge);
}

/* Copies LEN bytes into the ring at TO, continuing at its start when the end is reached. Returns
 * the address after the last byte. */
WQE_INLINE uint8_t *ring_copy(const struct mlx5_sq *sq, uint8_t *to, const void *from, size_t len)
{
	size_t room = (size_t)(sq->end - to);

	if (unlikely(!len))
		return to; /* FROM may be NULL, which memcpy() must not get */
	if (unlikely(len >= room)) {
		memcpy(to, from, room);
		from = (const uint8_t *)from + room;
		len -= room;
		to = sq->buf;
	}
	if (likely(len <= COPY_SMALL_MAX))
		copy_small(to, from, (uint32_t)len);
	else
		memcpy(to, from, len);
	return to + len;
}

WQE_INLINE uint32_t wqe_inline_start(const struct send_wqe *wqe)
{
	return wqe->ds * WQE_SEG + (uint32_t)sizeof(struct mlx5_wqe_inl_data_seg);
}

/* Returns the limit of inline bytes: the smaller of the QP's max_inline and the space that is left
 * for the request in the ring. The space is the smaller one if the operation has a longer head than
 * those that the QP was created for. */
WQE_INLINE uint32_t wqe_inline_limit(const struct mlx5_sq *sq, const struct send_wqe *wqe)
{
	uint32_t used = wqe_inline_start(wqe);
	uint32_t room = used < sq->wqe_bytes ? sq->wqe_bytes - used : 0;

	return min_of(room, sq->max_inline);
}

WQE_INLINE uint32_t inline_units(uint32_t len)
{
	return (len + (uint32_t)sizeof(struct mlx5_wqe_inl_data_seg) + WQE_SEG - 1) / WQE_SEG;
}

/* To write inline data, call wqe_inline_open(), ring_copy() for each part, and wqe_inline_close()
 * with the total length. */
WQE_INLINE uint8_t *wqe_inline_open(const struct send_wqe *wqe)
{
	return wqe->seg + sizeof(struct mlx5_wqe_inl_data_seg);
}

WQE_INLINE void wqe_inline_close(struct send_wqe *wqe, uint32_t total)
{
	if (likely(total)) {
		*(__be32 *)wqe->seg = htobe32(MLX5_INLINE_SEG | total);
		wqe->ds += inline_units(total);
	}
}

WQE_INLINE void copy_inline(uint8_t *to, const void *from, uint32_t len)
{
	if (likely(len <= COPY_SMALL_MAX))
		copy_small(to, from, len);
	else
		copy_large(to, from, len);
}

/* Returns whether LEN inline bytes at SEG are at least 1, at most MOST, and end before the end of
 * the ring. LEN may be a total of several lengths, which size_t does not hold on 32-bit hosts. */
WQE_INLINE bool inline_is_up_to(const struct mlx5_sq *sq, const uint8_t *seg, uint64_t len,
				uint32_t most)
{
	return likely(len - 1 < most && seg + sizeof(struct mlx5_wqe_inl_data_seg) + len < sq->end);
}

WQE_INLINE bool inline_is_usual(const struct mlx5_sq *sq, const uint8_t *seg, uint64_t len)
{
	return inline_is_up_to(sq, seg, len, sq->usual_inline);
}

/* Returns whether LEN inline bytes at SEG take the fast path and are at most COPY_SMALL_MAX. */
WQE_INLINE bool inline_is_short(const struct mlx5_sq *sq, const uint8_t *seg, uint64_t len)
{
	return inline_is_up_to(sq, seg, len, sq->short_inline);
}

WQE_INLINE uint32_t wqe_blocks(const struct send_wqe *wqe)
{
	if (wqe->ds - 1 >= FLD_MASK(CTRL_DS))
		__builtin_unreachable(); /* the control segment counts, so ds is at least 1 */
	return (wqe->ds + (WQE_BB / WQE_SEG) - 1) / (WQE_BB / WQE_SEG);
}

/* Writes the length of the WQE, which is known only when all segments are written. Returns the size
 * of the WQE in WQEBBs. */
WQE_INLINE uint32_t wqe_finish(const struct send_wqe *wqe)
{
	seg_put_be64(wqe->ctrl, wqe->head | wqe->ds);
	return wqe_blocks(wqe);
}

#endif
