/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_raw.c - ibv_wr_*() of raw packet QPs. Their setters first fill the inline header of the
 * Ethernet segment (raw.h), and then continue as in send_wr.c.
 * PRM: Ethernet Segment
 */
#include <errno.h>

#include "providers/mlx5/data/batch.h"
#include "providers/mlx5/data/raw.h"

static void raw_fail(struct mlx5_qp *qp, int err, const char *why)
{
	verbs_warn("ibv_wr: qp 0x%x, wr_id %#llx: %s", qp->vqp.qp.qp_num,
		   (unsigned long long)qp->vqp.qp_ex.wr_id, why);
	batch_set_err(qp, err);
}

static bool raw_begin(struct mlx5_qp *qp, enum ibv_wr_opcode op, uint8_t opcode, uint16_t mss,
		      uint32_t header)
{
	struct mlx5_batch *batch = &qp->batch;
	unsigned int flags = qp->vqp.qp_ex.wr_flags;
	struct header_place place = { NULL, 0 };
	struct send_wqe wqe;
	uint32_t units;

	if (!batch_begin(qp, op, opcode, 0, SEND_RAW))
		return false;
	if (flags & IBV_SEND_IP_CSUM && !qp->rq.checksums) {
		raw_fail(qp, EINVAL, "IBV_SEND_IP_CSUM: the device computes no checksums");
		return false;
	}
	wqe = batch_wqe(qp);
	units = wqe.ds;
	wqe_put_eth(&qp->sq, &wqe, checksum_flags(flags), mss, header, &place);
	batch_extend(qp, &wqe, wqe.ds - units);
	batch->header = place.to;
	batch->header_left = place.left;
	return true;
}

static void raw_send(struct ibv_qp_ex *qpx)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	raw_begin(qp, IBV_WR_SEND, MLX5_OPCODE_SEND, 0, qp->min_header);
}

static void raw_send_tso(struct ibv_qp_ex *qpx, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);

	if (!qp->batch.err && (hdr_sz < TSO_HEADER_MIN || hdr_sz > qp->max_tso_header))
		raw_fail(qp, EINVAL,
			 "ibv_wr_send_tso: hdr_sz must be 14 to max_tso_header of the QP");
	if (!raw_begin(qp, IBV_WR_TSO, MLX5_OPCODE_TSO, mss, hdr_sz))
		return;
	ring_copy(&qp->sq, qp->batch.header, hdr, hdr_sz);
	qp->batch.header_left = 0;
}

static void raw_finish(struct mlx5_qp *qp, struct send_wqe *wqe, const struct header_place *place,
		       bool has_inline)
{
	if (place->left || unlikely(wqe->ds == EMPTY_FRAME_UNITS))
		raw_fail(qp, EINVAL, "the frame is shorter than its Ethernet header");
	else
		batch_finish_wqe(qp, wqe, has_inline);
}

static void raw_set_sge_list(struct ibv_qp_ex *qpx, size_t num_sge, const struct ibv_sge *sge)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct header_place place = { qp->batch.header, qp->batch.header_left };
	struct send_wqe wqe = batch_wqe(qp);

	if (!batch_has_wqe(qp))
		return;
	if (num_sge > qp->sq.max_sge) {
		raw_fail(qp, ENOMEM, "ibv_wr_set_sge_list: num_sge exceeds max_send_sge of the QP");
		return;
	}
	for (size_t i = 0; i < num_sge; i++) {
		uint32_t taken =
			header_take(&qp->sq, &place, (void *)(uintptr_t)sge[i].addr, sge[i].length);

		wqe_put_data(&qp->sq, &wqe, sge[i].length - taken, sge[i].lkey,
			     sge[i].addr + taken);
	}
	raw_finish(qp, &wqe, &place, false);
}

static void raw_set_sge(struct ibv_qp_ex *qpx, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	raw_set_sge_list(qpx, 1, &sge);
}

static uint64_t raw_bufs_length(const struct ibv_data_buf *bufs, size_t n)
{
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += bufs[i].length;
	return total;
}

static void raw_set_inline_data_list(struct ibv_qp_ex *qpx, size_t num_buf,
				     const struct ibv_data_buf *bufs)
{
	struct mlx5_qp *qp = to_mqp_ex(qpx);
	struct header_place place = { qp->batch.header, qp->batch.header_left };
	struct send_wqe wqe = batch_wqe(qp);
	uint64_t total = raw_bufs_length(bufs, num_buf);
	uint8_t *to = wqe_inline_open(&wqe);

	if (!batch_has_wqe(qp))
		return;
	total -= min_of(total, (uint64_t)place.left);
	if (total > wqe_inline_limit(&qp->sq, &wqe)) {
		raw_fail(qp, ENOMEM, "inline data exceeds max_inline_data of the QP");
		return;
	}
	for (size_t i = 0; i < num_buf; i++) {
		uint32_t taken = header_take(&qp->sq, &place, bufs[i].addr, bufs[i].length);

		to = ring_copy(&qp->sq, to, (const uint8_t *)bufs[i].addr + taken,
			       bufs[i].length - taken);
	}
	wqe_inline_close(&wqe, (uint32_t)total);
	raw_finish(qp, &wqe, &place, true);
}

static void raw_set_inline_data(struct ibv_qp_ex *qpx, void *addr, size_t length)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	raw_set_inline_data_list(qpx, 1, &buf);
}

/* Installs the raw packet builders and setters. Must run after the common setters are in the table,
 * because it replaces them. */
void mlx5_batch_fill_raw(struct ibv_qp_ex *qpx)
{
	qpx->wr_send = raw_send;
	qpx->wr_send_tso = raw_send_tso;
	qpx->wr_set_sge = raw_set_sge;
	qpx->wr_set_sge_list = raw_set_sge_list;
	qpx->wr_set_inline_data = raw_set_inline_data;
	qpx->wr_set_inline_data_list = raw_set_inline_data_list;
}
