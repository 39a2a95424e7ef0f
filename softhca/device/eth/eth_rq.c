/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_rq.c - receive queues of frames: a frame is scattered into the next WQE, and a CQE says what
 * the adapter found out about it. PRM: CQE
 *
 * A queue without a WQE drops and counts; receives ring no doorbell, so the record is read then.
 */
#include <errno.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/wq.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/queue/wqe.h"

static uint8_t l3_type(const struct frame *frame)
{
	if (!frame->l3)
		return CQE_ETH_L3_NONE;
	return frame->ip_version == 4 ? CQE_ETH_L3_IPV4 : CQE_ETH_L3_IPV6;
}

static uint8_t l4_type(const struct frame *frame)
{
	const uint8_t *tcp = frame->bytes + frame->l4;

	if (frame->fragment || !frame->l4)
		return CQE_ETH_L4_NONE;
	if (frame_is_udp(frame))
		return CQE_ETH_L4_UDP;
	if (!frame_is_tcp(frame))
		return CQE_ETH_L4_NONE;
	if (!(tcp[13] & TCP_ACK))
		return CQE_ETH_L4_TCP_NO_ACK;
	return frame->l4 + (tcp[12] >> 4) * 4u < frame->l3_end ? CQE_ETH_L4_TCP_ACK_AND_DATA
							       : CQE_ETH_L4_TCP_ACK_NO_DATA;
}

static bool rq_strips(const struct eth_rq *rq, const struct frame *frame)
{
	return rq->strip_vlan && frame->vlans && frame->tpid[0] == ETHERTYPE_VLAN;
}

/* The sum covers what is behind the addresses and the type, as delivered: cqe_checksum_full
 * promises that. */
static uint16_t full_sum(const struct frame *frame, bool stripped)
{
	size_t skip = ETHERNET_SIZE + (stripped ? VLAN_SIZE : 0);

	return frame_sum(frame->bytes + skip, frame->len - skip);
}

static void cqe_describe(const struct eth_rq *rq, const struct eth_arrival *arrival, uint8_t *cqe)
{
	const struct frame *frame = &arrival->frame;
	bool stripped = rq_strips(rq, frame);

	fld_set(cqe, CQE_RSS_HASH, arrival->hash);
	fld_set(cqe, CQE_RSS_HASH_TYPE, arrival->hash_type);
	fld_set(cqe, CQE_CHECK_SUM, full_sum(frame, stripped));
	fld_set(cqe, CQE_HEADERS_OK,
		CQE_L2_OK | (frame_l3_ok(frame) ? CQE_L3_OK : 0) |
			(frame_l4_ok(frame) ? CQE_L4_OK : 0));
	fld_set(cqe, CQE_ETH_L3_TYPE, l3_type(frame));
	fld_set(cqe, CQE_ETH_L4_TYPE, l4_type(frame));
	if (stripped) {
		fld_set(cqe, CQE_VLAN_PRESENT, 1);
		fld_set(cqe, CQE_VLAN, frame->tci[0]);
	}
	fld_set(cqe, CQE_BYTE_COUNT, frame->len - (stripped ? VLAN_SIZE : 0));
	fld_set(cqe, CQE_FLOW_TAG, arrival->tag);
}

static void start_cqe(const struct hca *hca, const struct eth_rq *rq, uint8_t opcode, uint8_t *cqe)
{
	memset(cqe, 0, PRM_CQE_SIZE);
	fld_set(cqe, CQE_USER_INDEX, fld_get(rq->rqc, RQC_USER_INDEX));
	fld_set(cqe, CQE_WQE_COUNTER, rq->ci);
	fld_set(cqe, CQE_OPCODE, opcode);
	if (opcode == CQE_OP_RESP_SEND)
		fld_set(cqe, CQE_TIMESTAMP, hca->now);
	else
		fld_set(cqe, CQE_QPN, rq->n);
}

/* The WQE at ci ends in error. */
static void complete_error(struct hca *hca, struct eth_rq *rq, uint8_t syndrome,
			   uint8_t vendor_syndrome)
{
	uint8_t cqe[PRM_CQE_SIZE];

	start_cqe(hca, rq, CQE_OP_RESP_ERR, cqe);
	fld_set(cqe, CQE_SYNDROME, syndrome);
	fld_set(cqe, CQE_VENDOR_SYNDROME, vendor_syndrome);
	cq_post_cqe(hca, rq->cq, cqe, true, NULL);
	rq->ci++;
}

static int read_doorbell(struct hca *hca, struct eth_rq *rq)
{
	uint32_t word;
	int ret = dma_read(hca, rq->wq.dbr, &word, sizeof(word));

	if (!ret)
		rq->pi = (uint16_t)be32toh(word);
	return ret;
}

void eth_rq_fail(struct hca *hca, struct eth_rq *rq)
{
	unsigned int left = 1u << rq->wq.log_size;

	rq->state = PRM_WQ_STATE_ERR;
	fld_set(rq->rqc, RQC_STATE, rq->state);
	if (!rq->flush || read_doorbell(hca, rq))
		return;
	for (; left && rq->ci != rq->pi; left--)
		complete_error(hca, rq, SYND_FLUSH, VEND_FLUSH);
}

/* Bit 31 of a length asks for padding in front of the data up to where a cache line begins, which
 * is allowed to the adapter, not demanded. */
static void rq_wqe_decode(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe)
{
	const uint8_t *seg;

	wqe->length = 0;
	wqe->num_sge = 0;
	for (seg = raw; seg < raw + stride && fld_get(seg, DATA_LKEY) != WQE_TERMINATOR_LKEY;
	     seg += WQE_SEG) {
		struct wqe_sge *sge = &wqe->sge[wqe->num_sge++];

		sge->len = fld_get(seg, DATA_FRAME_LEN);
		sge->lkey = fld_get(seg, DATA_LKEY);
		sge->addr = fld_get(seg, DATA_ADDR);
		sge->data = NULL;
		wqe->length += sge->len;
	}
}

/* The doorbell record is read before the WQE, so the WQE that it announces is complete. The
 * function returns 0, ENOENT or EFAULT. */
static int rq_fetch_wqe(struct hca *hca, struct eth_rq *rq, struct recv_wqe *wqe)
{
	uint64_t slot = rq->ci & ((1u << rq->wq.log_size) - 1);
	uint8_t buf[sizeof(uint32_t) + RECV_WQE_MAX];
	struct dma_batch batch;
	uint32_t word;

	dma_begin_read(&batch, hca, buf);
	if (dma_add(&batch, rq->wq.dbr, sizeof(word)) ||
	    dma_add_map(&batch, &rq->wq.map, slot * rq->wq.stride, rq->wq.stride) ||
	    dma_finish(&batch))
		return EFAULT;
	memcpy(&word, buf, sizeof(word));
	rq->pi = (uint16_t)be32toh(word);
	if (rq->pi == rq->ci)
		return ENOENT;
	trace_wqe(hca->config.trace, "recv", rq->n, rq->ci, buf + sizeof(word), rq->wq.stride);
	rq_wqe_decode(buf + sizeof(word), rq->wq.stride, wqe);
	return 0;
}

/* The function copies the frame, without its tag if that goes into the CQE, and returns the bytes
 * to write. */
static size_t frame_image(const struct eth_rq *rq, const struct frame *frame, uint8_t *to)
{
	size_t skip = rq_strips(rq, frame) ? VLAN_SIZE : 0;

	memcpy(to, frame->bytes, 12);
	memcpy(to + 12, frame->bytes + 12 + skip, frame->len - 12 - skip);
	return frame->len - skip;
}

/* The function delivers frame and CQE in one bus call. It returns 0 or a vendor syndrome. */
static int frame_deliver(struct hca *hca, struct eth_rq *rq, const struct recv_wqe *wqe,
			 const struct eth_arrival *arrival)
{
	uint8_t bytes[FABRIC_FRAME_MAX + CQE_ROOM], cqe[PRM_CQE_SIZE];
	size_t len = frame_image(rq, &arrival->frame, bytes);
	struct dma_batch batch;
	int ret;

	if (len > wqe->length)
		return WQE_BAD_LENGTH;
	if (!rq->wq.pd)
		return WQE_BAD_LKEY;
	dma_begin_write(&batch, hca, bytes);
	ret = sges_add(&batch, rq->wq.pd, MKEY_LOCAL_WRITE, wqe->sge, wqe->num_sge, 0, len);
	if (ret)
		return ret;
	start_cqe(hca, rq, CQE_OP_RESP_SEND, cqe);
	cqe_describe(rq, arrival, cqe);
	if (cq_post_cqe(hca, rq->cq, cqe, false, &batch) == EFAULT)
		return WQE_BAD_DMA;
	rq->ci++;
	return 0;
}

static void frame_drop(struct eth_rq *rq)
{
	if (rq->counter)
		rq->counter->value[Q_OUT_OF_BUFFER]++;
}

void eth_rq_receive(struct hca *hca, struct eth_rq *rq, const struct eth_arrival *arrival)
{
	struct recv_wqe wqe;
	int ret;

	if (rq->state != PRM_WQ_STATE_RDY)
		return;
	ret = rq_fetch_wqe(hca, rq, &wqe);
	if (ret == ENOENT) {
		frame_drop(rq);
		return;
	}
	ret = ret ? WQE_BAD_FETCH : frame_deliver(hca, rq, &wqe, arrival);
	if (!ret)
		return;
	complete_error(hca, rq, ret == WQE_BAD_LENGTH ? SYND_LOCAL_LENGTH : SYND_LOCAL_PROT,
		       (uint8_t)ret);
	eth_rq_fail(hca, rq);
}
