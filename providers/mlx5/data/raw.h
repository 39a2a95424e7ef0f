/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw.h - WQEs of raw packet QPs: control segment, Ethernet segment, data. post_send_raw.c and
 * send_wr_raw.c build them.
 *
 * PRM: the Ethernet segment contains the first bytes of the frame, as many as the device requires
 * (qp->min_header, 0 on newer devices), or for TSO the headers of each packet. The bytes start at
 * offset 14 of the segment, may run past its end, and may wrap at the end of the ring.
 * wqe_put_eth() makes room for them, header_take() fills it from the payload.
 */
#ifndef PROVIDERS_MLX5_DATA_RAW_H
#define PROVIDERS_MLX5_DATA_RAW_H

#include "providers/mlx5/data/send_wqe.h"

#define ETH_HEADER_AT offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start)

static_assert(ETH_HEADER_AT == 14, "PRM: Ethernet Segment, byte 0Eh");

struct header_place {
	uint8_t *to;
	uint32_t left;
};

enum {
	TSO_HEADER_MIN = 14, /* shortest header of a large send: Ethernet addresses and type */
	/* Control and Ethernet segment. A WQE of this size is a frame without bytes. */
	EMPTY_FRAME_UNITS = 2
};

WQE_INLINE void wqe_put_eth(const struct mlx5_sq *sq, struct send_wqe *wqe, uint8_t cs_flags,
			    uint16_t mss, uint32_t header, struct header_place *place)
{
	struct mlx5_wqe_eth_seg *seg = (struct mlx5_wqe_eth_seg *)wqe->seg;

	memset(seg, 0, ETH_HEADER_AT);
	seg->cs_flags = cs_flags;
	seg->mss = htobe16(mss);
	seg->inline_hdr_sz = htobe16((uint16_t)header);
	place->to = (uint8_t *)seg + ETH_HEADER_AT;
	place->left = header;
	wqe->ds += ((uint32_t)ETH_HEADER_AT + header + WQE_SEG - 1) / WQE_SEG;
	wqe->seg = wqe->ctrl + (size_t)wqe->ds * WQE_SEG;
	if (wqe->seg >= sq->end)
		wqe->seg -= sq->end - sq->buf;
}

WQE_INLINE uint32_t header_take(const struct mlx5_sq *sq, struct header_place *place,
				const void *from, uint64_t len)
{
	uint32_t part = len < place->left ? (uint32_t)len : place->left;

	if (part) {
		place->to = ring_copy(sq, place->to, from, part);
		place->left -= part;
	}
	return part;
}

WQE_INLINE uint8_t checksum_flags(unsigned int send_flags)
{
	return send_flags & IBV_SEND_IP_CSUM ? MLX5_ETH_WQE_L3_CSUM | MLX5_ETH_WQE_L4_CSUM : 0;
}

/* ---- the usual frame: a SEND of one buffer that is longer than the header. Its WQE is one WQEBB
 */

enum { ETH_PLAIN_SIZE = WQE_SEG, ETH_FULL_SIZE = 2 * WQE_SEG };

static_assert(ETH_HEADER_AT <= ETH_PLAIN_SIZE &&
		      ETH_HEADER_AT + WQE_ETH_MIN_HEADER == ETH_FULL_SIZE,
	      "an Ethernet segment with no header, or with the one that devices ask for");

WQE_INLINE bool frame_flags_are_usual(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	return !(wr->send_flags & (IBV_SEND_INLINE | (qp->rq.checksums ? 0 : IBV_SEND_IP_CSUM)));
}

WQE_INLINE bool frame_is_usual(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	return likely(wr->opcode == IBV_WR_SEND && wr->num_sge == 1 &&
		      frame_flags_are_usual(qp, wr) && wr->sg_list->length > qp->min_header);
}

WQE_INLINE void eth_put_start(uint8_t *seg, unsigned int send_flags, uint16_t mss)
{
	static_assert(offsetof(struct mlx5_wqe_eth_seg, cs_flags) == 4 &&
			      offsetof(struct mlx5_wqe_eth_seg, mss) == 6 &&
			      offsetof(struct mlx5_wqe_eth_seg, inline_hdr_sz) == 12,
		      "PRM: Ethernet Segment");
	seg_put_be64(seg, (uint64_t)checksum_flags(send_flags) << 24 | mss);
}

WQE_INLINE void eth_put_header_start(uint8_t *seg, uint32_t header, const uint8_t *first)
{
	__be16 two;

	memcpy(&two, first, sizeof(two));
	seg_put_pair(seg + 8, 0, header << 16 | be16toh(two));
}

WQE_INLINE void wqe_put_usual_frame(const struct mlx5_qp *qp, struct send_wqe *wqe,
				    const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	const uint8_t *from = (const uint8_t *)(uintptr_t)sge->addr;
	uint8_t *const seg = wqe->ctrl + WQE_SEG;

	eth_put_start(seg, wr->send_flags, 0);
	if (likely(!qp->min_header)) {
		seg_put_raw(seg + 8, 0);
		seg_put_sge(seg + ETH_PLAIN_SIZE, sge);
		wqe->ds = (2 * WQE_SEG + ETH_PLAIN_SIZE) / WQE_SEG;
		return;
	}
	eth_put_header_start(seg, WQE_ETH_MIN_HEADER, from);
	memcpy(seg + WQE_SEG, from + 2, WQE_SEG);
	seg_put_data(seg + ETH_FULL_SIZE, sge->length - WQE_ETH_MIN_HEADER, sge->lkey,
		     sge->addr + WQE_ETH_MIN_HEADER);
	wqe->ds = (2 * WQE_SEG + ETH_FULL_SIZE) / WQE_SEG;
}

/* ---- the usual large send: one buffer, and headers of the length of TCP's. Its WQE is two WQEBBs
 * that do not wrap
 */

enum { USUAL_TSO_BLOCKS = 2, USUAL_TSO_HEADER_MIN = 19 };

WQE_INLINE bool tso_is_usual(const struct mlx5_qp *qp, const uint8_t *ctrl,
			     const struct ibv_send_wr *wr)
{
	const uint32_t header = wr->tso.hdr_sz;

	return wr->opcode == IBV_WR_TSO && wr->num_sge == 1 && header <= qp->max_tso_header &&
	       wr->sg_list->length && frame_flags_are_usual(qp, wr) &&
	       header - USUAL_TSO_HEADER_MIN <= COPY_SMALL_MAX - USUAL_TSO_HEADER_MIN &&
	       ctrl + USUAL_TSO_BLOCKS * WQE_BB <= qp->sq.end;
}

WQE_INLINE void wqe_put_usual_tso(struct send_wqe *wqe, const struct ibv_send_wr *wr)
{
	const uint32_t header = wr->tso.hdr_sz;
	uint8_t *const seg = wqe->ctrl + WQE_SEG;

	static_assert(WQE_SEG + ETH_HEADER_AT + COPY_SMALL_MAX + WQE_SEG <= 2 * WQE_BB - WQE_SEG &&
			      WQE_SEG + ETH_HEADER_AT + USUAL_TSO_HEADER_MIN > WQE_BB - WQE_SEG,
		      "control and Ethernet segment, and data behind, in the second WQEBB");
	eth_put_start(seg, wr->send_flags, wr->tso.mss);
	eth_put_header_start(seg, header, wr->tso.hdr);
	copy_small(seg + WQE_SEG, (const uint8_t *)wr->tso.hdr + 2, header - 2);
	wqe->ds = 1 + ((uint32_t)ETH_HEADER_AT + header + WQE_SEG - 1) / WQE_SEG;
	seg_put_sge(wqe->ctrl + (size_t)wqe->ds++ * WQE_SEG, wr->sg_list);
}

/* Writes the whole WQE of a request (post_send_raw.c). Returns EINVAL or ENOMEM, logged, if that is
 * not possible. */
int mlx5_put_raw(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
		 const struct ibv_send_wr *wr);
/* Writes the whole WQE of a request on an underlay QP. An address vector and padding precede the
 * Ethernet segment. */
int mlx5_put_underlay(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
		      const struct ibv_send_wr *wr);

#endif
