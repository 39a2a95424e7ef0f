/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw.h - WQEs of raw packet QPs: control, Ethernet segment, data. post_send_raw.c and
 * send_wr_raw.c build them.
 *
 * PRM: the Ethernet segment carries the first bytes of the frame, as many as the device wants to
 * see (qp->min_header, 0 on newer ones), or for TSO the headers that go in front of each packet.
 * They start at byte 14 of it and run on past it, if need be over the end of the ring.
 * wqe_put_eth() makes room for them, header_take() fills it from the payload.
 */
#ifndef PROVIDERS_MLX5_DATA_RAW_H
#define PROVIDERS_MLX5_DATA_RAW_H

#include "providers/mlx5/data/send_wqe.h"

#define ETH_HEADER_AT offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start)

static_assert(ETH_HEADER_AT == 14, "PRM: Ethernet Segment, byte 0Eh");

struct header_place {
	uint8_t *to;
	uint32_t left; /* bytes that the payload still owes */
};

/* The function puts an Ethernet segment, in which HEADER bytes of the frame will be. */
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

/* The function copies the part of FROM that belongs into the header. It returns its length. */
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

/* The function puts the whole WQE of a request (post_send_raw.c). It returns EINVAL or ENOMEM,
 * logged, when it cannot. */
int mlx5_put_raw(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
		 const struct ibv_send_wr *wr);
/* The function puts the whole WQE of a request of a QP that sends from another one's number: an
 * address vector and padding stand in front of the Ethernet segment. */
int mlx5_put_underlay(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
		      const struct ibv_send_wr *wr);

#endif
