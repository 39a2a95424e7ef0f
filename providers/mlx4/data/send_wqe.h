/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wqe.h - builds send WQEs: the only place that knows the order of their parts, and the order
 * of the stores.
 *
 * Each WQE has a slot of its own. The adapter may prefetch, in pieces of 64 bytes. Its ownership
 * bit marks the first piece as a WQE; a later piece belongs to the WQE if its first word is not a
 * stamp. So the first word of each piece is written after the rest of the piece, and the first word
 * of the WQE last of all. The free slots in front of the head have the ownership bit of no WQE in
 * their first piece, and stamps in the others, written before the adapter gets there.
 */
#ifndef PROVIDERS_MLX4_DATA_SEND_WQE_H
#define PROVIDERS_MLX4_DATA_SEND_WQE_H

#include <string.h>

#include "prm/mlx4/wqe.h"
#include "providers/common/branch.h"
#include "providers/common/seg.h"
#include "providers/mlx4/ah.h"
#include "providers/mlx4/qp.h"
#include "util/barrier.h"

#define WQE_INLINE __attribute__((always_inline)) static inline

enum {
	M4_SIGNALED = M4_CQE_WANTED << FLD_SHIFT(M4_CTRL_CQE),
	M4_CHECKSUMS = FLD_BITS(M4_CTRL_IP_CSUM) | FLD_BITS(M4_CTRL_L4_CSUM),
	WQE_SIZE_BYTE = 7, /* its low bits are M4_CTRL_DS */
	/* one of these bits is set if a WQE has several pieces */
	WQE_TWO_PIECES = FLD_MASK(M4_CTRL_DS) & ~(2 * M4_PIECE / M4_SEG - 1),
};

/* Returns whether the adapter computes checksums for QPs of KIND: only datagrams and frames have IP
 * headers that software writes. */
WQE_INLINE bool kind_has_sums(enum send_kind kind)
{
	return kind == SEND_DATAGRAM || kind == SEND_RAW;
}

WQE_INLINE uint8_t *sq_slot(const struct mlx4_sq *sq, uint32_t index)
{
	return sq->buf + ((size_t)(index & sq->wq.mask) << sq->slot_log);
}

WQE_INLINE uint32_t wqe_size(const uint8_t *ctrl)
{
	return (ctrl[WQE_SIZE_BYTE] & FLD_MASK(M4_CTRL_DS)) * M4_SEG;
}

/* Returns the first word of a posted WQE at INDEX. The owner bit flips with each lap of the ring,
 * so that the adapter can tell a new WQE from an old one. */
WQE_INLINE uint32_t wqe_owner_opcode(const struct mlx4_sq *sq, uint32_t index, uint32_t opcode)
{
	return opcode | (index << sq->owner_shift & FLD_BITS(M4_CTRL_OWNER));
}

/* Stamps the pieces of a slot from FROM on, up to the end of its last WQE, because the adapter
 * prefetches WQEs and takes a stamped piece for one that is not written yet. */
WQE_INLINE void slot_stamp(uint8_t *slot, uint32_t from)
{
	uint32_t size = wqe_size(slot);

	for (uint32_t at = from; at < size; at += M4_PIECE)
		*(__be32 *)(slot + at) = htobe32(M4_STAMP);
}

/* Stamps the slot at INDEX, except its first piece, up to the end of its last WQE. The second piece
 * is always stamped: that is harmless, and mostly sufficient. */
WQE_INLINE void sq_stamp(const struct mlx4_sq *sq, uint32_t index)
{
	uint8_t *slot = sq_slot(sq, index);

	*(__be32 *)(slot + M4_PIECE) = htobe32(M4_STAMP);
	if (unlikely(slot[WQE_SIZE_BYTE] & WQE_TWO_PIECES))
		slot_stamp(slot, 2 * M4_PIECE);
}

/* Returns whether slots in front of INDEX may need stamps: only if the last lap had a WQE of
 * several pieces. A first piece needs none, as its owner bit serves as the stamp. */
WQE_INLINE bool sq_is_dirty(const struct mlx4_sq *sq, uint32_t index)
{
	return index - sq->last_long <= sq->wq.mask;
}

/* Writes the stamps needed for posting a WQE of SIZE bytes at INDEX, in slots of several pieces.
 * All datagrams have several pieces, so they need no look at the last lap. */
WQE_INLINE void sq_stamp_ahead(struct mlx4_sq *sq, enum send_kind kind, uint32_t index,
			       uint32_t size)
{
	if (kind == SEND_DATAGRAM || unlikely(sq_is_dirty(sq, index)))
		sq_stamp(sq, index + sq->spare);
	if (kind != SEND_DATAGRAM && size > M4_PIECE)
		sq->last_long = index;
}

/* Does what sq_stamp_ahead() does for a WQE of several pieces. The last lap then usually had such
 * WQEs, too, so it is not tested. */
WQE_INLINE void sq_stamp_ahead_of_long(struct mlx4_sq *sq, enum send_kind kind, uint32_t index)
{
	sq_stamp(sq, index + sq->spare);
	if (kind != SEND_DATAGRAM)
		sq->last_long = index;
}

/* Returns whether the opcode is an atomic, whose WQE has one more segment before its data. */
WQE_INLINE bool opcode_is_atomic(uint32_t opcode)
{
	return opcode == M4_ATOMIC_CS || opcode == M4_ATOMIC_FA;
}

/* ---- parts ---- */

WQE_INLINE uint32_t wqe_put_raddr(uint8_t *ctrl, uint32_t at, uint64_t addr, uint32_t rkey)
{
	seg_put_be64(ctrl + at, addr);
	seg_put_pair(ctrl + at + 8, rkey, 0);
	return at + M4_SEG;
}

WQE_INLINE uint32_t wqe_put_atomic(uint8_t *ctrl, uint32_t at, uint64_t swap_add, uint64_t compare)
{
	seg_put_be64(ctrl + at, swap_add);
	seg_put_be64(ctrl + at + 8, compare);
	return at + M4_SEG;
}

/* Writes a datagram's address, after the control segment in the first piece. The segment was built
 * with the address handle, so a post only copies it. */
WQE_INLINE void wqe_put_address(uint8_t *ctrl, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	uint8_t *segment = ctrl + M4_SEG;

	memcpy(segment, to_mah(ah)->segment, M4_DATAGRAM_SIZE);
	seg_put_pair(segment + FLD_DWORD(M4_DGRAM_QPN) * sizeof(uint32_t), qpn, qkey);
}

/* ---- frames ---- */

enum { FRAME_MAC_SIZE = 6 };

/* Writes the destination address of a frame into the control segment, which the embedded switch
 * reads to loop frames back to functions on the same port: two bytes next to the flags, and the
 * rest in place of immediate data. */
WQE_INLINE void wqe_put_whole_mac(uint8_t *ctrl, const uint8_t *mac)
{
	memcpy(ctrl + FLD_BYTE(M4_CTRL_MAC_47_32), mac, 2);
	memcpy(ctrl + FLD_BYTE(M4_CTRL_MAC_31_0), mac + 2, 4);
}

/* Adds bytes of a frame's destination address to the control segment, which has HAVE of them: up to
 * LENGTH bytes at FROM. Returns how many it has now. */
WQE_INLINE uint32_t wqe_put_mac(uint8_t *ctrl, uint32_t have, const void *from, uint64_t length)
{
	uint8_t *const high = ctrl + FLD_BYTE(M4_CTRL_MAC_47_32);
	uint8_t *const low = ctrl + FLD_BYTE(M4_CTRL_MAC_31_0);
	const uint8_t *bytes = from;

	if (likely(!have && length >= FRAME_MAC_SIZE)) {
		wqe_put_whole_mac(ctrl, bytes);
		return FRAME_MAC_SIZE;
	}
	for (; have < FRAME_MAC_SIZE && length; have++, length--)
		*(have < 2 ? high + have : low + have - 2) = *bytes++;
	return have;
}

enum { TSO_HEADER_MIN = 14 }; /* Ethernet's addresses and type */

WQE_INLINE uint32_t wqe_large_end(uint32_t header)
{
	return M4_SEG + (uint32_t)align_up(M4_LARGE_HEADER + header, M4_SEG);
}

WQE_INLINE uint32_t wqe_large_opcode(uint32_t header)
{
	return M4_LSO | (align_up(M4_LARGE_HEADER + header, M4_SEG) > M4_LARGE_SHORT
				 ? FLD_BITS(M4_CTRL_LONG_HEADER)
				 : 0);
}

/* ---- requests on memory keys ---- */

/* Sizes of WQEs for requests on memory keys, which fit in the first piece. M4_ON_KEY: strong
 * ordering, which delays all later requests until the request is complete. */
enum {
	M4_BIND_END = M4_SEG + M4_BIND_SIZE,
	M4_INVAL_END = M4_SEG + M4_INVAL_SIZE,
	M4_ON_KEY = FLD_BITS(M4_CTRL_STRONG_ORDER),
};

int mlx4_check_bind(const struct mlx4_qp *qp, const struct ibv_mw *mw,
		    const struct ibv_mw_bind_info *bind);

/* First two words of a binding, without the window's type, for each combination of access
 * rights. */
#define BIND_FLAGS(access)                                                                    \
	((uint64_t)(((access)&IBV_ACCESS_REMOTE_ATOMIC ? FLD_BITS(M4_BIND_ATOMIC) : 0) |      \
		    ((access)&IBV_ACCESS_REMOTE_WRITE ? FLD_BITS(M4_BIND_REMOTE_WRITE) : 0) | \
		    ((access)&IBV_ACCESS_REMOTE_READ ? FLD_BITS(M4_BIND_REMOTE_READ) : 0))    \
		 << 32 |                                                                      \
	 ((access)&IBV_ACCESS_ZERO_BASED ? FLD_BITS(M4_BIND_ZERO_BASED) : 0))
#define BIND_FLAGS_4(n) BIND_FLAGS(n), BIND_FLAGS((n) + 1), BIND_FLAGS((n) + 2), BIND_FLAGS((n) + 3)
#define BIND_FLAGS_16(n) \
	BIND_FLAGS_4(n), BIND_FLAGS_4((n) + 4), BIND_FLAGS_4((n) + 8), BIND_FLAGS_4((n) + 12)

WQE_INLINE void wqe_put_bind(uint8_t *ctrl, const struct ibv_mw *mw, uint32_t rkey, uint32_t lkey,
			     const struct ibv_mw_bind_info *bind)
{
	static const uint64_t flags[] = { BIND_FLAGS_16(0), BIND_FLAGS_16(16), BIND_FLAGS_16(32),
					  BIND_FLAGS_16(48) };
	uint8_t *seg = ctrl + M4_SEG;

	static_assert((int)IBV_MW_TYPE_2 == 2, "bit 1 tells the types apart");
	static_assert((int)IBV_ACCESS_ZERO_BASED < 64, "flags[] has it");
	seg_put_be64(seg, flags[bind->mw_access_flags % ARRAY_SIZE(flags)] |
				  (uint32_t)mw->type >> 1 << FLD_SHIFT(M4_BIND_TYPE_2));
	*(__be32 *)(seg + FLD_BYTE(M4_BIND_RKEY)) = htobe32(rkey);
	*(__be32 *)(seg + FLD_BYTE(M4_BIND_LKEY)) = htobe32(lkey);
	seg_put_be64(seg + 16, bind->addr);
	seg_put_be64(seg + 24, bind->length);
}

WQE_INLINE uint32_t bind_lkey(const struct ibv_mw_bind_info *bind)
{
	return bind->mr ? bind->mr->lkey : 0;
}

WQE_INLINE void wqe_put_inval(uint8_t *ctrl, uint32_t rkey)
{
	uint8_t *seg = ctrl + M4_SEG;

	memset(seg, 0, M4_INVAL_SIZE);
	*(__be32 *)(seg + FLD_BYTE(M4_INVAL_KEY)) = htobe32(rkey);
}

/* ---- data ---- */

/* Writes a word. If it is the first of its piece, all other words of the piece must be visible
 * before it. ASIDE, unless NULL, collects such first words by piece, for a WQE that may not be
 * posted. */
WQE_INLINE void wqe_put_word(uint8_t *ctrl, uint32_t at, uint32_t value, __be32 *aside)
{
	if (at % M4_PIECE) {
		*(__be32 *)(ctrl + at) = htobe32(value);
	} else if (aside) {
		aside[at / M4_PIECE] = htobe32(value);
	} else {
		dma_store_barrier();
		*(__be32 *)(ctrl + at) = htobe32(value);
	}
}

#ifdef __AVX__
/* Write nonempty SGEs, from last to first. Return false if one is empty; segments written before
 * are valid. A CPU with AVX stores 16 aligned bytes atomically (Intel SDM vol. 3, "Guaranteed
 * Atomic Operations"), so a segment appears as a whole, including the first word of its piece. */
WQE_INLINE bool wqe_put_four_sges(uint8_t *to, const struct ibv_sge *sge)
{
	const seg_sge a = seg_load_sge(&sge[0]), b = seg_load_sge(&sge[1]);
	const seg_sge c = seg_load_sge(&sge[2]), d = seg_load_sge(&sge[3]);

	if (unlikely(!seg_has_bytes(seg_least(seg_least(a, b), seg_least(c, d)))))
		return false;
	seg_store_sge(to + 3 * M4_SEG, d);
	seg_store_sge(to + 2 * M4_SEG, c);
	seg_store_sge(to + M4_SEG, b);
	seg_store_sge(to, a);
	return true;
}

/* Writes one to three SGEs. Some are written twice, which is cheaper than branching on their
 * number. */
WQE_INLINE bool wqe_put_few_sges(uint8_t *to, const struct ibv_sge *sge, int n)
{
	const int middle = n > 1;
	const seg_sge a = seg_load_sge(&sge[0]), b = seg_load_sge(&sge[middle]);
	const seg_sge c = seg_load_sge(&sge[n - 1]);

	if (unlikely(!seg_has_bytes(seg_least(seg_least(a, b), c))))
		return false;
	seg_store_sge(to + (n - 1) * M4_SEG, c);
	seg_store_sge(to + middle * M4_SEG, b);
	seg_store_sge(to, a);
	return true;
}

/* Writes N SGEs, at least 1, in groups of four; the first group overlaps the second if N is no
 * multiple of four, so no loop over the rest is needed. */
WQE_INLINE bool wqe_put_whole_sges(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge, int n)
{
	uint8_t *const to = ctrl + at;

	if (n < 4)
		return wqe_put_few_sges(to, sge, n);
	for (n -= 4; n > 0; n -= 4)
		if (unlikely(!wqe_put_four_sges(to + n * M4_SEG, sge + n)))
			return false;
	return wqe_put_four_sges(to, sge);
}

enum { SGES_ARE_WHOLE = true };
#else
enum { SGES_ARE_WHOLE = false };

WQE_INLINE bool wqe_put_four_sges(uint8_t *to, const struct ibv_sge *sge)
{
	(void)to;
	(void)sge;
	return false;
}

WQE_INLINE bool wqe_put_whole_sges(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge, int n)
{
	(void)ctrl;
	(void)at;
	(void)sge;
	(void)n;
	return false;
}
#endif

/* Writes an SGE. Length 0 would mean 2 GiB, so an empty one is written as empty inline data. */
WQE_INLINE void wqe_put_sge(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge, __be32 *aside)
{
	struct data_seg *data = (struct data_seg *)(ctrl + at);
	const seg_sge loaded = seg_load_sge(sge);

	if (likely(at % M4_PIECE && seg_has_bytes(loaded))) {
		seg_put_loaded(data, loaded);
		return;
	}
#ifdef __AVX__
	if (!aside && likely(sge->length)) {
		seg_store_sge(data, loaded);
		return;
	}
#endif
	data->lkey = htobe32(sge->lkey);
	data->addr = htobe64(sge->addr);
	wqe_put_word(ctrl, at, sge->length ? sge->length : FLD_BITS(M4_DATA_INLINE), aside);
}

/* Writes a nonempty SGE at the start of a piece. The half with the piece's first word is stored
 * last, in one store: once that word is no stamp, the adapter may use the piece. */
WQE_INLINE void wqe_put_first_sge(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge)
{
	/* an 8-byte store may be split in two here, so the order needs barriers */
	if (sizeof(long) < sizeof(uint64_t)) {
		wqe_put_sge(ctrl, at, sge, NULL);
		return;
	}
	seg_put_be64(ctrl + at + 8, sge->addr);
	dma_store_barrier();
	__atomic_store_n((uint64_t *)(ctrl + at), htobe64((uint64_t)sge->length << 32 | sge->lkey),
			 __ATOMIC_RELAXED);
}

/* Writes the four SGEs of a piece, from last to first, because the first word of a piece ends its
 * stamp. */
WQE_INLINE void wqe_put_piece(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge)
{
	enum { SGES = M4_PIECE / M4_SEG };

	if (likely(sge[0].length && sge[1].length && sge[2].length && sge[3].length)) {
		seg_put_sge(ctrl + at + 3 * M4_SEG, &sge[3]);
		seg_put_sge(ctrl + at + 2 * M4_SEG, &sge[2]);
		seg_put_sge(ctrl + at + M4_SEG, &sge[1]);
		wqe_put_first_sge(ctrl, at, sge);
		return;
	}
	for (int i = SGES - 1; i >= 0; i--)
		wqe_put_sge(ctrl, at + (uint32_t)i * M4_SEG, &sge[i], NULL);
}

/* Writes the headers of a large send after its data; the first word of each piece comes last, as it
 * ends the stamp by which the adapter knows unfinished pieces. */
WQE_INLINE void wqe_put_header(uint8_t *ctrl, const uint8_t *from, uint32_t size, uint32_t mss,
			       __be32 *aside)
{
	const uint32_t end = M4_SEG + M4_LARGE_HEADER + size;
	uint32_t at = M4_SEG + M4_LARGE_HEADER;

	*(__be32 *)(ctrl + M4_SEG) = htobe32(mss << FLD_SHIFT(M4_LARGE_MSS) | size);
	memcpy(ctrl + at, from, min_of(end, (uint32_t)M4_PIECE) - at);
	for (at = M4_PIECE; at < end; at += M4_PIECE) {
		const uint8_t *part = from + at - M4_SEG - M4_LARGE_HEADER;
		uint32_t left = min_of(end - at, (uint32_t)M4_PIECE);
		__be32 word = 0;

		memcpy(&word, part, min_of(left, (uint32_t)sizeof(word)));
		if (left > sizeof(word))
			memcpy(ctrl + at + sizeof(word), part + sizeof(word), left - sizeof(word));
		wqe_put_word(ctrl, at, be32toh(word), aside);
	}
}

/* Writes N SGEs from the last to the first, so that the first word of each piece comes last.
 * Returns the end of the WQE. */
WQE_INLINE uint32_t wqe_put_sges(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge, int n,
				 __be32 *aside)
{
	uint32_t end = at + (uint32_t)n * M4_SEG;

	if (!aside && n && wqe_put_whole_sges(ctrl, at, sge, n))
		return end;
	sge += n;
	for (uint32_t seg = end; seg != at;) {
		if (!aside && seg % M4_PIECE == 0 && seg - at >= M4_PIECE) {
			seg -= M4_PIECE;
			sge -= M4_PIECE / M4_SEG;
			wqe_put_piece(ctrl, seg, sge);
			continue;
		}
		seg -= M4_SEG;
		wqe_put_sge(ctrl, seg, --sge, aside);
	}
	return end;
}

struct wqe_stream {
	uint8_t *ctrl;
	uint32_t header;
	uint32_t at;
	__be32 *aside;
};

WQE_INLINE void stream_begin(struct wqe_stream *stream, uint8_t *ctrl, uint32_t at, __be32 *aside)
{
	*stream = (struct wqe_stream){ ctrl, at, at + M4_INLINE_HEADER, aside };
}

/* Writes the header of the current inline segment. All data of the segment must be written before,
 * because the header replaces the stamp of its piece. */
WQE_INLINE void stream_close(const struct wqe_stream *stream)
{
	uint32_t length = stream->at - stream->header - M4_INLINE_HEADER;

	wqe_put_word(stream->ctrl, stream->header, FLD_BITS(M4_DATA_INLINE) | length,
		     stream->aside);
}

WQE_INLINE void stream_put(struct wqe_stream *stream, const uint8_t *from, uint32_t length)
{
	while (length) {
		uint32_t room = M4_PIECE - stream->at % M4_PIECE, part;

		if (room == M4_PIECE) {
			stream_close(stream);
			stream->header = stream->at;
			stream->at += M4_INLINE_HEADER;
			room = M4_PIECE - M4_INLINE_HEADER;
		}
		part = min_of(length, room);
		copy_small(stream->ctrl + stream->at, from, part);
		stream->at += part;
		from += part;
		length -= part;
	}
}

WQE_INLINE uint32_t stream_end(const struct wqe_stream *stream)
{
	stream_close(stream);
	return (uint32_t)align_up(stream->at, M4_SEG);
}

enum { PIECE_INLINE = M4_PIECE - M4_INLINE_HEADER };

WQE_INLINE uint32_t wqe_put_last_inline(uint8_t *ctrl, uint32_t at, const uint8_t *from,
					uint32_t length)
{
	copy_small(ctrl + at + M4_INLINE_HEADER, from, length);
	wqe_put_word(ctrl, at, FLD_BITS(M4_DATA_INLINE) | length, NULL);
	return (uint32_t)align_up(at + M4_INLINE_HEADER + length, M4_SEG);
}

WQE_INLINE uint32_t wqe_inline_room(uint32_t at)
{
	return M4_PIECE - at % M4_PIECE - M4_INLINE_HEADER;
}

WQE_INLINE uint32_t wqe_put_short_inline(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge,
					 int n)
{
	uint32_t end = at + M4_INLINE_HEADER;

	for (; n > 0; n--, sge++) {
		copy_small(ctrl + end, (const uint8_t *)(uintptr_t)sge->addr, sge->length);
		end += sge->length;
	}
	wqe_put_word(ctrl, at, FLD_BITS(M4_DATA_INLINE) | (end - at - M4_INLINE_HEADER), NULL);
	return (uint32_t)align_up(end, M4_SEG);
}

/* Does what wqe_put_short_inline() does for two buffers, with LENGTH bytes together. */
WQE_INLINE uint32_t wqe_put_pair_inline(uint8_t *ctrl, uint32_t at, const struct ibv_sge *sge,
					uint32_t length)
{
	uint8_t *const to = ctrl + at + M4_INLINE_HEADER;

	copy_small(to, (const uint8_t *)(uintptr_t)sge[0].addr, sge[0].length);
	copy_small(to + sge[0].length, (const uint8_t *)(uintptr_t)sge[1].addr, sge[1].length);
	wqe_put_word(ctrl, at, FLD_BITS(M4_DATA_INLINE) | length, NULL);
	return (uint32_t)align_up(at + M4_INLINE_HEADER + length, M4_SEG);
}

WQE_INLINE void wqe_fill_inline(uint8_t *ctrl, uint32_t at, const uint8_t *from, uint32_t part)
{
	uint8_t *to = ctrl + at + M4_INLINE_HEADER;

	if (part >= 32) {
		copy_32(to, from);
		copy_32(to + part - 32, from + part - 32);
	} else {
		copy_small(to, from, part);
	}
	wqe_put_word(ctrl, at, FLD_BITS(M4_DATA_INLINE) | part, NULL);
}

WQE_INLINE uint32_t wqe_put_inline(uint8_t *ctrl, uint32_t at, const uint8_t *from, uint32_t length)
{
	const uint32_t room = wqe_inline_room(at);

	if (likely(length <= room))
		return wqe_put_last_inline(ctrl, at, from, length);
	wqe_fill_inline(ctrl, at, from, room);
	from += room;
	length -= room;
	for (at += M4_INLINE_HEADER + room; length > PIECE_INLINE; length -= PIECE_INLINE) {
		wqe_fill_inline(ctrl, at, from, PIECE_INLINE);
		from += PIECE_INLINE;
		at += M4_PIECE;
	}
	return wqe_put_last_inline(ctrl, at, from, length);
}

/* ---- control ---- */

/* Writes the control segment of a WQE of SIZE bytes, except its first word. CONTROL has the second
 * word in its upper half, and the third in its lower half. */
WQE_INLINE void wqe_put_control(uint8_t *ctrl, uint32_t size, uint64_t control, __be32 imm)
{
	seg_put_be64(ctrl + sizeof(imm), control | (uint64_t)(size / M4_SEG) << 32);
	*(__be32 *)fld_at(ctrl, M4_CTRL_IMM) = imm;
}

/* Second and third word of the control segment for each combination of enum ibv_send_flags. Only
 * datagrams and frames have checksums; a frame has no ICRC. */
#define CONTROL_OF(send_flags)                                                         \
	((uint64_t)((send_flags)&IBV_SEND_FENCE ? FLD_BITS(M4_CTRL_FENCE) : 0) << 32 | \
	 ((send_flags)&IBV_SEND_SIGNALED ? M4_SIGNALED : 0) |                          \
	 ((send_flags)&IBV_SEND_SOLICITED ? FLD_BITS(M4_CTRL_SOLICITED) : 0) |         \
	 ((send_flags)&IBV_SEND_IP_CSUM ? M4_CHECKSUMS : 0))
#define CONTROL_OF_4(n) CONTROL_OF(n), CONTROL_OF((n) + 1), CONTROL_OF((n) + 2), CONTROL_OF((n) + 3)

WQE_INLINE uint64_t wqe_control(const struct mlx4_sq *sq, enum send_kind kind,
				unsigned int send_flags)
{
	static const uint64_t control[] = {
		CONTROL_OF_4(0),  CONTROL_OF_4(4),  CONTROL_OF_4(8),  CONTROL_OF_4(12),
		CONTROL_OF_4(16), CONTROL_OF_4(20), CONTROL_OF_4(24), CONTROL_OF_4(28),
	};

	return sq->control_always | (kind == SEND_RAW ? FLD_BITS(M4_CTRL_SOLICITED) : 0) |
	       control[send_flags % (kind_has_sums(kind) ? ARRAY_SIZE(control) : IBV_SEND_IP_CSUM)];
}

#define ON_KEY_OF(send_flags) \
	(CONTROL_OF(send_flags) | M4_ON_KEY | (uint64_t)(M4_BIND_END / M4_SEG) << 32)
#define ON_KEY_OF_4(n) ON_KEY_OF(n), ON_KEY_OF((n) + 1), ON_KEY_OF((n) + 2), ON_KEY_OF((n) + 3)

WQE_INLINE void wqe_put_control_on_key(const struct mlx4_sq *sq, uint8_t *ctrl,
				       unsigned int send_flags)
{
	static const uint64_t control[IBV_SEND_IP_CSUM] = { ON_KEY_OF_4(0), ON_KEY_OF_4(4),
							    ON_KEY_OF_4(8), ON_KEY_OF_4(12) };

	static_assert((int)M4_BIND_END == (int)M4_INVAL_END, "they are equally long");
	wqe_put_control(ctrl, 0, sq->control_always | control[send_flags % ARRAY_SIZE(control)], 0);
}

WQE_INLINE uint32_t wqe_srqn(uint32_t srqn)
{
	return srqn << FLD_SHIFT(M4_CTRL_XRC_SRQN);
}

#endif
