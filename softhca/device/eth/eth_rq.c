/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_rq.c - receive queues of frames: scatters a frame into the next WQE, and reports it by a CQE
 * with what the adapter has found out. The format has the layout of WQEs and CQEs.
 *
 * Receives ring no doorbell, so the device reads the doorbell record when a frame needs a WQE. A
 * queue without a WQE drops the frame and counts it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "softhca/device/eth/work_request.h"
#include "softhca/device/queue/wqe.h"
#include "softhca/log.h"

static void rq_use(struct eth_rq *rq, int by)
{
	rq->cq->users += by;
	if (rq->wq.pd)
		rq->wq.pd->users += by;
	if (rq->counter)
		rq->counter->users += by;
	queue_umems_use(&rq->wq.umems, by);
}

void eth_rq_free(struct eth_rq *rq)
{
	if (rq->strides)
		log_note("RQ 0x%06x: %llu frames took %llu WQEs of strides", rq->n,
			 (unsigned long long)rq->frames, (unsigned long long)rq->wqes);
	lro_free(rq);
	recv_notes_free(&rq->notes);
	dma_unmap(&rq->wq.map);
	free(rq);
}

int eth_rq_add(struct hca *hca, struct eth_rq *rq)
{
	int ret = res_add_wanted(&hca->eth->rqs, rq, &rq->n);

	if (!ret)
		rq_use(rq, 1);
	return ret;
}

void eth_rq_remove(struct hca *hca, struct eth_rq *rq)
{
	res_remove(&hca->eth->rqs, rq->n);
	rq_use(rq, -1);
	eth_rq_free(rq);
}

void eth_rq_set_state(struct hca *hca, struct eth_rq *rq, enum prm_wq_state state)
{
	if (state == PRM_WQ_STATE_ERR) {
		eth_rq_fail(hca, rq);
		return;
	}
	rq->state = state;
	if (state == PRM_WQ_STATE_RST) {
		rq->pi = rq->ci = rq->used = rq->at = rq->next = 0;
		recv_notes_free(&rq->notes);
	}
}

void eth_rq_set_counter(struct eth_rq *rq, struct q_counter *counter)
{
	if (rq->counter)
		rq->counter->users--;
	rq->counter = counter;
	if (counter)
		counter->users++;
}

static bool rq_strips(const struct eth_rq *rq, const struct frame *frame)
{
	return rq->strip_vlan && frame->vlans && frame->tpid[0] == ETHERTYPE_VLAN;
}

/* Returns the checksum of the delivered bytes behind the Ethernet header, as capability
 * cqe_checksum_full promises it. */
static uint16_t full_sum(const struct frame *frame, bool stripped)
{
	size_t skip = ETHERNET_SIZE + (stripped ? VLAN_SIZE : 0);

	return frame_sum(frame->bytes + skip, frame->len - skip);
}

static void cqe_build(const struct hca *hca, const struct eth_rq *rq,
		      const struct frame_completion *done, uint8_t cqe[CQE_MAX])
{
	const struct cqe_place place = {
		.qpn = rq->n,
		.user_index = rq->user_index,
		.time = cqe_time(hca, rq->real_time),
		.has_time = rq->cq->has_time,
	};

	memset(cqe, 0, CQE_MAX);
	hca->format->encode_frame_cqe(&place, done, cqe);
}

static uint16_t rq_slot(const struct eth_rq *rq)
{
	return rq->at & ((1u << rq->wq.log_size) - 1);
}

static void wqe_end(struct eth_rq *rq)
{
	recv_notes_drop(&rq->notes, rq_slot(rq));
	rq->ci++;
	rq->at = rq->linked ? rq->next : rq->ci;
	rq->used = 0;
	rq->wqes++;
}

static void complete_error(struct hca *hca, struct eth_rq *rq, uint8_t syndrome,
			   uint8_t vendor_syndrome)
{
	const struct frame_completion done = {
		.opcode = CQE_OP_RESP_ERR,
		.syndrome = syndrome,
		.vendor_syndrome = vendor_syndrome,
		.wqe_counter = rq->at,
	};
	uint8_t cqe[CQE_MAX];

	cqe_build(hca, rq, &done, cqe);
	cq_post_cqe(hca, rq->cq, cqe, true, NULL);
	wqe_end(rq);
}

static int read_doorbell(struct hca *hca, struct eth_rq *rq)
{
	uint32_t word;
	int ret = dma_read(hca, rq->wq.dbr + hca->format->dbrec_recv, &word, sizeof(word));

	if (!ret)
		rq->pi = (uint16_t)be32toh(word);
	return ret;
}

static uint32_t rq_signature_size(const struct hca *hca, const struct eth_rq *rq)
{
	return rq->wq.has_signatures ? hca->format->recv_signature_size : 0;
}

/* Returns the slot of the WQE to use after the one at INDEX, whose bytes are RAW. */
static uint16_t rq_next(const struct hca *hca, const void *queue, uint16_t index,
			const uint8_t *raw)
{
	const struct eth_rq *rq = queue;
	uint16_t next = index + 1;

	if (rq->linked)
		next = hca->format->striding_next(raw + rq_signature_size(hca, rq));
	return next & ((1u << rq->wq.log_size) - 1);
}

static struct recv_ring rq_ring(const struct eth_rq *rq)
{
	return (struct recv_ring){ &rq->wq.map, rq->wq.stride, rq->wq.log_size, 0, rq_next, rq };
}

static void eth_rq_note(struct hca *hca, struct eth_rq *rq)
{
	struct recv_ring ring = rq_ring(rq);

	if (rq->state == PRM_WQ_STATE_RDY && !read_doorbell(hca, rq))
		recv_notes_look(hca, &rq->notes, &ring, rq_slot(rq), rq->pi - rq->ci);
}

void eth_rqs_note(struct hca *hca)
{
	struct eth_rq *rq;

	for (uint32_t i = 0; (rq = res_next(&hca->eth->rqs, &i)) != NULL;)
		eth_rq_note(hca, rq);
}

static void rq_judge(struct hca *hca, struct eth_rq *rq, const uint8_t *raw)
{
	struct recv_ring ring = rq_ring(rq);

	if (recv_notes_differ(hca, &rq->notes, &ring, rq_slot(rq), raw))
		rules_recv_early(hca, "RQ", rq->n, rq_slot(rq));
}

static int rq_read_next(struct hca *hca, struct eth_rq *rq)
{
	uint8_t raw[RECV_WQE_MAX];
	struct dma_batch batch;

	if (!rq->linked)
		return 0;
	dma_begin_read(&batch, hca, raw);
	if (dma_add_map(&batch, &rq->wq.map, rq_slot(rq) * rq->wq.stride, rq->wq.stride) ||
	    dma_finish(&batch))
		return EFAULT;
	rq->next = rq_next(hca, rq, 0, raw);
	return 0;
}

void eth_rq_fail(struct hca *hca, struct eth_rq *rq)
{
	unsigned int left = 1u << rq->wq.log_size;

	rq->state = PRM_WQ_STATE_ERR;
	if (!rq->flush || read_doorbell(hca, rq))
		return;
	for (; left && rq->ci != rq->pi && !rq_read_next(hca, rq); left--)
		complete_error(hca, rq, SYND_FLUSH, VEND_FLUSH);
}

static int rq_decode_wqe(const struct hca *hca, struct eth_rq *rq, const uint8_t *raw,
			 struct recv_wqe *wqe)
{
	uint32_t skip = rq_signature_size(hca, rq);

	if (rq->linked)
		rq->next = rq_next(hca, rq, 0, raw);
	if (skip && !hca->format->recv_is_signed(raw, rq->wq.stride, rq->n, rq->ci))
		return EBADMSG;
	if (rq->strides)
		skip += hca->format->striding_head;
	hca->format->decode_frame_recv(raw + skip, rq->wq.stride - skip, wqe);
	return 0;
}

/* Reads the doorbell record before the WQE, so that a WQE which the record covers is complete.
 * Returns 0, ENOENT if no WQE is posted, EFAULT, or EBADMSG if its signature is wrong. */
static int rq_fetch_wqe(struct hca *hca, struct eth_rq *rq, struct recv_wqe *wqe)
{
	uint64_t slot = rq_slot(rq);
	uint8_t buf[sizeof(uint32_t) + RECV_WQE_MAX];
	struct dma_batch batch;
	uint32_t word;

	dma_begin_read(&batch, hca, buf);
	if (dma_add(&batch, rq->wq.dbr + hca->format->dbrec_recv, sizeof(word)) ||
	    dma_add_map(&batch, &rq->wq.map, slot * rq->wq.stride, rq->wq.stride) ||
	    dma_finish(&batch))
		return EFAULT;
	memcpy(&word, buf, sizeof(word));
	rq->pi = (uint16_t)be32toh(word);
	if (rq->pi == rq->ci)
		return ENOENT;
	if (hca->config.strict)
		rq_judge(hca, rq, buf + sizeof(word));
	trace_bytes(hca->config.trace, buf + sizeof(word), rq->wq.stride,
		    "wqe recv qpn 0x%06x index %u", rq->n, rq->at);
	return rq_decode_wqe(hca, rq, buf + sizeof(word), wqe);
}

/* Copies the frame, without its VLAN tag if the CQE carries the tag. Returns the number of
 * bytes. */
static size_t frame_image(const struct eth_rq *rq, const struct frame *frame, uint8_t *to)
{
	size_t type = FLD_BYTE(ETHERNET_TYPE), skip = rq_strips(rq, frame) ? VLAN_SIZE : 0;

	memcpy(to, frame->bytes, type);
	memcpy(to + type, frame->bytes + type + skip, frame->len - type - skip);
	return frame->len - skip;
}

/* Returns how many strides LEN bytes take; 0 for a queue with one frame in each WQE. */
static uint32_t frame_strides(const struct eth_rq *rq, size_t len)
{
	return rq->strides ? (uint32_t)((len + (1u << rq->log_stride) - 1) >> rq->log_stride) : 0;
}

static void frame_describe(const struct eth_rq *rq, const struct eth_arrival *arrival,
			   uint32_t strides, struct frame_completion *done)
{
	*done = (struct frame_completion){
		.opcode = CQE_OP_RESP_SEND,
		.wqe_counter = strides ? rq->used : rq->at,
		.wqe_id = rq->at,
		.strides = strides,
		.arrival = arrival,
		.stripped = rq_strips(rq, &arrival->frame),
		.sum = arrival->lro.segments
			       ? arrival->lro.sum
			       : full_sum(&arrival->frame, rq_strips(rq, &arrival->frame)),
	};
}

static void wqe_use(struct eth_rq *rq, uint32_t strides)
{
	rq->used += strides;
	if (rq->used == rq->strides)
		wqe_end(rq);
}

/* Writes the frame and its CQE in one bus call, which orders them, as software must not see the CQE
 * before the bytes. Returns 0 or a vendor syndrome. */
static int frame_deliver(struct hca *hca, struct eth_rq *rq, const struct recv_wqe *wqe,
			 const struct eth_arrival *arrival)
{
	uint8_t *bytes = hca->eth->image, cqe[CQE_MAX];
	size_t len = rq->shift + frame_image(rq, &arrival->frame, bytes + rq->shift);
	uint64_t at = (uint64_t)rq->used << rq->log_stride;
	uint32_t strides = frame_strides(rq, len);
	struct frame_completion done;
	struct dma_batch batch;
	int ret;

	if (at + len > wqe->length || rq->used + strides > rq->strides)
		return WQE_BAD_LENGTH;
	if (!rq->wq.pd)
		return WQE_BAD_LKEY;
	memset(bytes, 0, rq->shift);
	dma_begin_write(&batch, hca, bytes);
	ret = sges_add(&batch, rq->wq.pd, MKEY_LOCAL_WRITE | MKEY_PLAIN, wqe->sge, wqe->num_sge, at,
		       len);
	if (ret)
		return ret;
	frame_describe(rq, arrival, strides, &done);
	cqe_build(hca, rq, &done, cqe);
	if (cq_post_cqe(hca, rq->cq, cqe, false, &batch) == EFAULT)
		return WQE_BAD_DMA;
	rq->frames++;
	wqe_use(rq, strides);
	return 0;
}

/* Ends the current WQE, which has too few strides left for the frame. A filler CQE reports the
 * unused strides, so that software can free the WQE. The frame goes into the next WQE. */
static void wqe_fill(struct hca *hca, struct eth_rq *rq)
{
	const struct frame_completion done = {
		.opcode = CQE_OP_RESP_SEND,
		.wqe_counter = rq->used,
		.wqe_id = rq->at,
		.strides = rq->strides - rq->used,
		.filler = true,
	};
	uint8_t cqe[CQE_MAX];

	cqe_build(hca, rq, &done, cqe);
	cq_post_cqe(hca, rq->cq, cqe, false, NULL);
	wqe_end(rq);
}

static bool wqe_is_short(const struct eth_rq *rq, const struct eth_arrival *arrival)
{
	const struct frame *frame = &arrival->frame;
	size_t len = rq->shift + frame->len - (rq_strips(rq, frame) ? VLAN_SIZE : 0);

	return rq->used && rq->used + frame_strides(rq, len) > rq->strides;
}

static void frame_drop(struct eth_rq *rq, const struct eth_arrival *arrival)
{
	if (rq->counter)
		rq->counter->value[Q_OUT_OF_BUFFER] +=
			arrival->lro.segments ? arrival->lro.segments : 1;
}

void eth_rq_receive(struct hca *hca, struct eth_rq *rq, const struct eth_arrival *arrival)
{
	struct recv_wqe wqe;
	int ret;

	if (rq->state != PRM_WQ_STATE_RDY)
		return;
	if (wqe_is_short(rq, arrival))
		wqe_fill(hca, rq);
	ret = rq_fetch_wqe(hca, rq, &wqe);
	if (ret == ENOENT) {
		frame_drop(rq, arrival);
		return;
	}
	ret = ret ? WQE_BAD_FETCH : frame_deliver(hca, rq, &wqe, arrival);
	if (!ret)
		return;
	complete_error(hca, rq, ret == WQE_BAD_LENGTH ? SYND_LOCAL_LENGTH : SYND_LOCAL_PROT,
		       (uint8_t)ret);
	eth_rq_fail(hca, rq);
}
