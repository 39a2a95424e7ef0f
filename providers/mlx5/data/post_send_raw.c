/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send_raw.c - ibv_post_send() of frames, for post_send.c: builds the WQE of a request on a
 * raw packet QP, or on an underlay QP, which sends IP over InfiniBand with the number of another
 * QP. raw.h has the segments.
 * PRM: Ethernet Segment
 */
#include <errno.h>

#include "providers/mlx5/data/raw.h"

static int __attribute__((cold, noinline))
frame_refuse(const struct mlx5_qp *qp, const struct ibv_send_wr *wr, int err, const char *why)
{
	verbs_warn("post_send: qp 0x%x, wr_id %#llx: %s", qp->vqp.qp.qp_num,
		   (unsigned long long)wr->wr_id, why);
	return verbs_result(err);
}

static uint64_t frame_length(const struct ibv_send_wr *wr)
{
	uint64_t total = 0;

	for (int i = 0; i < wr->num_sge; i++)
		total += wr->sg_list[i].length;
	return total;
}

static int frame_put_data(const struct mlx5_qp *qp, struct send_wqe *wqe,
			  struct header_place *place, const struct ibv_send_wr *wr)
{
	for (int i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];
		uint32_t taken =
			header_take(&qp->sq, place, (void *)(uintptr_t)sge->addr, sge->length);

		wqe_put_data(&qp->sq, wqe, sge->length - taken, sge->lkey, sge->addr + taken);
	}
	return 0;
}

static int frame_put_inline(const struct mlx5_qp *qp, struct send_wqe *wqe,
			    struct header_place *place, const struct ibv_send_wr *wr)
{
	uint64_t total = frame_length(wr) - place->left;
	uint8_t *to = wqe_inline_open(wqe);

	if (total > wqe_inline_limit(&qp->sq, wqe))
		return frame_refuse(qp, wr, ENOMEM,
				    "inline data exceeds max_inline_data of the QP");
	for (int i = 0; i < wr->num_sge; i++) {
		const uint8_t *from = (const uint8_t *)(uintptr_t)wr->sg_list[i].addr;
		uint32_t taken = header_take(&qp->sq, place, from, wr->sg_list[i].length);

		to = ring_copy(&qp->sq, to, from + taken, wr->sg_list[i].length - taken);
	}
	wqe_inline_close(wqe, (uint32_t)total);
	return 0;
}

static int frame_begin(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
		       const struct ibv_send_wr *wr, struct header_place *place)
{
	const uint64_t length = frame_length(wr);

	if (!length || length < qp->min_header)
		return frame_refuse(qp, wr, EINVAL,
				    "the frame is shorter than its Ethernet header");
	wqe_begin(&qp->sq, wqe, pi, MLX5_OPCODE_SEND, wr->send_flags, 0);
	wqe_put_eth(&qp->sq, wqe, checksum_flags(wr->send_flags), 0, qp->min_header, place);
	return 0;
}

static int frame_begin_tso(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
			   const struct ibv_send_wr *wr, struct header_place *place)
{
	if (wr->tso.hdr_sz < TSO_HEADER_MIN || wr->tso.hdr_sz > qp->max_tso_header)
		return frame_refuse(qp, wr, EINVAL,
				    "tso.hdr_sz must be 14 to max_tso_header of the QP");
	wqe_begin(&qp->sq, wqe, pi, MLX5_OPCODE_TSO, wr->send_flags, 0);
	wqe_put_eth(&qp->sq, wqe, checksum_flags(wr->send_flags), wr->tso.mss, wr->tso.hdr_sz,
		    place);
	header_take(&qp->sq, place, wr->tso.hdr, wr->tso.hdr_sz);
	return 0;
}

int mlx5_put_raw(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
		 const struct ibv_send_wr *wr)
{
	struct header_place place = { NULL, 0 };
	int ret;

	if (unlikely(wr->send_flags & IBV_SEND_IP_CSUM && !qp->rq.checksums))
		return frame_refuse(qp, wr, EINVAL,
				    "IBV_SEND_IP_CSUM: the device computes no checksums");
	ret = wr->opcode == IBV_WR_TSO ? frame_begin_tso(qp, wqe, pi, wr, &place)
				       : frame_begin(qp, wqe, pi, wr, &place);
	if (unlikely(ret))
		return ret;
	if (wr->send_flags & IBV_SEND_INLINE)
		return frame_put_inline(qp, wqe, &place, wr);
	return frame_put_data(qp, wqe, &place, wr);
}

static void wqe_put_pad(struct send_wqe *wqe)
{
	memset(wqe->seg, 0, UNDERLAY_PAD);
	wqe->seg += UNDERLAY_PAD;
	wqe->ds += UNDERLAY_PAD / WQE_SEG;
}

static uint32_t underlay_header(const struct ibv_send_wr *wr)
{
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;

	return is_inline && wr->sg_list[0].length >= UNDERLAY_HEADER_INLINE ? UNDERLAY_HEADER_INLINE
									    : UNDERLAY_HEADER;
}

static int underlay_check(const struct mlx5_qp *qp, const struct ibv_send_wr *wr)
{
	if (wr->send_flags & IBV_SEND_IP_CSUM)
		return frame_refuse(qp, wr, EINVAL,
				    "IBV_SEND_IP_CSUM: not with IBV_QP_CREATE_SOURCE_QPN");
	if (wr->num_sge < 1 || wr->sg_list[0].length < UNDERLAY_HEADER)
		return frame_refuse(qp, wr, EINVAL,
				    "the first SGE must have the 4 bytes that the device looks at");
	return 0;
}

int mlx5_put_underlay(const struct mlx5_qp *qp, struct send_wqe *wqe, uint32_t pi,
		      const struct ibv_send_wr *wr)
{
	struct header_place place;
	int ret = underlay_check(qp, wr);

	if (ret)
		return ret;
	wqe_begin(&qp->sq, wqe, pi, MLX5_OPCODE_SEND, wr->send_flags, 0);
	wqe_reserve_av(&qp->sq, wqe);
	wqe_set_av(wqe->ctrl, to_mah(wr->wr.ud.ah), wr->wr.ud.remote_qpn, wr->wr.ud.remote_qkey);
	wqe_put_pad(wqe);
	wqe_put_eth(&qp->sq, wqe, 0, 0, underlay_header(wr), &place);
	if (wr->send_flags & IBV_SEND_INLINE)
		return frame_put_inline(qp, wqe, &place, wr);
	return frame_put_data(qp, wqe, &place, wr);
}
