/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_sq.c - send queues of frames: turns WQEs into frames and performs their offloads.
 *
 * Fills in checksums, inserts a VLAN tag, and cuts a large send (LSO) into segments whose headers
 * derive from its own. The format has the layout of WQEs and CQEs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/eth/eth.h"
#include "util/bits.h"
#include "softhca/device/eth/underlay.h"
#include "softhca/device/eth/work_request.h"
#include "softhca/device/queue/wqe.h"

enum {
	TURN_WQES = 64,
	TURN_WORK = 1 << 18, /* budget of a turn, in units of eth->work */
	FRAME_WORK = 256,    /* cost of a frame, without its steering */
	MAX_LSO_SEGMENTS = 1024,
};

static void sq_use(struct eth_sq *sq, int by)
{
	sq->cq->users += by;
	if (sq->wq.pd)
		sq->wq.pd->users += by;
	sq->uar->users += by;
	if (sq->tis)
		sq->tis->users += by;
	queue_umems_use(&sq->wq.umems, by);
}

void eth_sq_free(struct eth_sq *sq)
{
	dma_unmap(&sq->wq.map);
	free(sq);
}

static void sq_wake_scheduled(struct hca *hca, struct sched_queue *queue)
{
	eth_sq_wake(hca, container_of(queue, struct eth_sq, sched));
}

void eth_sq_schedule(struct hca *hca, struct eth_sq *sq, struct sched_element *group)
{
	sq->sched.wake = sq_wake_scheduled;
	sched_join(hca, &sq->sched, group);
}

int eth_sq_add(struct hca *hca, struct eth_sq *sq)
{
	int ret = res_add_wanted(&hca->eth->sqs, sq, &sq->n);

	if (ret)
		return ret;
	sq_use(sq, 1);
	uar_add_sq(sq);
	return 0;
}

void eth_sq_remove(struct hca *hca, struct eth_sq *sq)
{
	res_remove(&hca->eth->sqs, sq->n);
	pacing_forget(sq);
	eth_sq_schedule(hca, sq, NULL);
	if (sq->ready)
		TAILQ_REMOVE(&hca->eth->ready, sq, in_ready);
	uar_remove_sq(sq);
	sq_use(sq, -1);
	eth_sq_free(sq);
}

void eth_sq_set_state(struct hca *hca, struct eth_sq *sq, enum prm_wq_state state)
{
	sq->state = state;
	if (state == PRM_WQ_STATE_RST)
		sq->pi = sq->ci = 0;
	if (state != PRM_WQ_STATE_RDY) {
		sq->rests = false;
		sched_rests(&sq->sched);
	}
	eth_sq_wake(hca, sq);
}

void eth_sq_set_rest(struct hca *hca, struct eth_sq *sq, bool rests)
{
	sq->rests = rests && sq->state == PRM_WQ_STATE_RDY;
	eth_sq_wake(hca, sq);
}

static bool sq_may_send(const struct eth_sq *sq)
{
	return sq->state == PRM_WQ_STATE_RDY && !sq->rests;
}

void eth_sq_wake(struct hca *hca, struct eth_sq *sq)
{
	if (sq->ready)
		return;
	sq->ready = true;
	TAILQ_INSERT_TAIL(&hca->eth->ready, sq, in_ready);
}

void eth_sq_fail(struct hca *hca, struct eth_sq *sq)
{
	sq->state = PRM_WQ_STATE_ERR;
	eth_sq_wake(hca, sq);
}

int eth_sq_copy(struct hca *hca, const struct eth_sq *sq, uint16_t index, uint32_t bbs,
		uint8_t *raw)
{
	uint32_t size = 1u << sq->wq.log_size, slot = index & (size - 1), block = sq->wq.stride;
	uint32_t straight = size - slot < bbs ? size - slot : bbs;
	struct dma_batch batch;
	int ret;

	dma_begin_read(&batch, hca, raw);
	ret = dma_add_map(&batch, &sq->wq.map, (uint64_t)slot * block, (uint64_t)straight * block);
	if (!ret)
		ret = dma_add_map(&batch, &sq->wq.map, 0, (uint64_t)(bbs - straight) * block);
	return ret ? ret : dma_finish(&batch);
}

static bool is_one_block(const struct hca *hca, const struct eth_sq *sq)
{
	return hca->format->wqe_is_block && !sq->spans;
}

/* Returns how many blocks the WQE at RAW claims to have. */
static uint32_t frame_bbs(const struct hca *hca, const struct eth_sq *sq, const uint8_t *raw)
{
	return (hca->format->wqe_size(raw) + sq->wq.stride - 1) / sq->wq.stride;
}

/* Returns the blocks of the WQE at RAW. For an invalid size it assumes one block, so that ci never
 * passes pi. */
static uint32_t wqe_blocks(const struct hca *hca, const struct eth_sq *sq, const uint8_t *raw,
			   uint32_t posted)
{
	uint32_t bbs = is_one_block(hca, sq) ? 1 : frame_bbs(hca, sq, raw);

	return bbs && bbs <= posted ? bbs : 1;
}

/* Finds the end of the posted WQEs by their ownership bits; see find_posted() in queue/sq.c. */
static int sq_find_posted(struct hca *hca, struct eth_sq *sq)
{
	uint32_t size = 1u << sq->wq.log_size;
	uint8_t raw[WQE_BYTES_MAX];
	uint16_t pi = sq->pi;
	int ret = 0;

	while ((uint16_t)(pi - sq->ci) < size) {
		ret = eth_sq_copy(hca, sq, pi, 1, raw);
		if (ret || !hca->format->send_is_posted(raw, pi >> sq->wq.log_size & 1))
			break;
		pi += wqe_blocks(hca, sq, raw, size);
	}
	if (ret || pi == sq->pi)
		return ret;
	sq->pi = pi;
	eth_sq_wake(hca, sq);
	if (hca->config.strict && hca->format->judge_frames_posted)
		hca->format->judge_frames_posted(hca, sq);
	return 0;
}

int eth_sq_read_doorbell(struct hca *hca, struct eth_sq *sq)
{
	uint32_t word;
	int ret;

	if (sq->state == PRM_WQ_STATE_RST)
		return 0;
	if (hca->format->send_is_posted)
		return sq_find_posted(hca, sq);
	ret = dma_read(hca, sq->wq.dbr + hca->format->dbrec_send, &word, sizeof(word));
	if (ret)
		return ret;
	sq->pi = (uint16_t)be32toh(word);
	eth_sq_wake(hca, sq);
	return 0;
}

static size_t insert_vlan(uint8_t *bytes, size_t len, uint16_t tpid, uint16_t tci)
{
	uint8_t *tag = fld_at(bytes, ETHERNET_TYPE);

	memmove(tag + VLAN_SIZE, tag, len - FLD_BYTE(ETHERNET_TYPE));
	fld_set(tag, VLAN_TPID, tpid);
	fld_set(tag, VLAN_TCI, tci);
	return len + VLAN_SIZE;
}

/* Reports a frame to our own address whose WQE names another destination. An mlx4 adapter decides
 * by the WQE's address whether a frame loops back, so this frame would be lost. Linux' driver
 * leaves a stale address in WQEs of frames to other hosts, which does no harm. */
static void judge_mac(const struct hca *hca, const struct eth_sq *sq, const struct frame_send *send)
{
	const uint8_t *own = hca->eth->vport.mac;

	if (memcmp(hca->eth->frame, own, sizeof(send->mac)) ||
	    !memcmp(send->mac, own, sizeof(send->mac)))
		return;
	strict_report(hca->config.strict, hca->config.trace, "wqe.mac",
		      "SQ 0x%06x, WQE %u: the address beside the flags is not the frame's", sq->n,
		      sq->ci);
}

/* Applies the offloads to the frame in eth->frame, which is complete otherwise, and sends it. */
static void finish_frame(struct hca *hca, struct eth_sq *sq, const struct frame_send *send,
			 size_t len)
{
	uint8_t *bytes = hca->eth->frame;
	struct frame frame;

	if (send->fill_l3 || send->fill_l4)
		frame_parse(&frame, bytes, len);
	if (send->fill_l3)
		frame_fill_l3(bytes, &frame);
	if (send->fill_l4)
		frame_fill_l4(bytes, &frame);
	if (send->tpid)
		len = insert_vlan(bytes, len, send->tpid, send->tci);
	if (len < ETHERNET_MIN)
		memset(bytes + len, 0, ETHERNET_MIN - len);
	if (hca->config.strict && send->has_mac)
		judge_mac(hca, sq, send);
	hca->eth->work += FRAME_WORK;
	eth_transmit(hca, sq, bytes, len);
	len = len < ETHERNET_MIN ? ETHERNET_MIN : len;
	pacing_sent(hca, sq, len);
	sched_sent(hca, sq->sched.group, len);
}

int eth_gather(struct hca *hca, struct eth_sq *sq, const struct frame_send *send, uint8_t *bytes,
	       uint64_t offset, uint64_t len)
{
	struct dma_batch batch;

	if (!sq->wq.pd)
		return WQE_BAD_LKEY;
	memcpy(bytes, send->header, send->header_len);
	dma_begin_read(&batch, hca, bytes + send->header_len);
	return sges_dma(&batch, sq->wq.pd, MKEY_LOCAL_READ | MKEY_PLAIN, send->sge, send->num_sge,
			offset, len);
}

static int send_frame(struct hca *hca, struct eth_sq *sq, const struct frame_send *send)
{
	uint64_t len = send->header_len + send->length;
	int ret;

	if (len < FABRIC_FRAME_MIN || len > FABRIC_FRAME_MAX - VLAN_SIZE)
		return WQE_BAD_LENGTH;
	ret = eth_gather(hca, sq, send, hca->eth->frame, 0, send->length);
	if (!ret)
		finish_frame(hca, sq, send, len);
	return ret;
}

/* Describes a segment of a large send: which part of the payload it has. */
struct segment {
	unsigned int index;
	uint64_t offset;
	uint32_t len;
	bool last;
};

static void fix_tcp(uint8_t *tcp, const struct segment *segment)
{
	uint32_t flags = fld_get(tcp, TCP_FLAGS);

	if (!segment->last)
		flags &= ~(uint32_t)(TCP_FIN | TCP_PSH);
	if (segment->index)
		flags &= ~(uint32_t)TCP_CWR;
	fld_set(tcp, TCP_SEQUENCE, fld_get(tcp, TCP_SEQUENCE) + segment->offset);
	fld_set(tcp, TCP_FLAGS, flags);
}

/* Sets the fields that differ between segments: lengths, IP identification, TCP sequence number.
 * The offsets in FRAME were parsed from headers without payload. */
static void fix_headers(uint8_t *bytes, const struct frame *frame, const struct segment *segment,
			uint32_t header_len)
{
	uint8_t *ip = bytes + frame->l3, *l4 = bytes + frame->l4;
	uint32_t total = header_len - frame->l3 + segment->len;

	if (frame->ip_version == 4) {
		fld_set(ip, IP4_LENGTH, total);
		fld_set(ip, IP4_ID, fld_get(ip, IP4_ID) + segment->index);
	} else {
		fld_set(ip, IP6_PAYLOAD, total - IP6_SIZE);
	}
	if (frame->protocol == PROTO_TCP)
		fix_tcp(l4, segment);
	else
		fld_set(l4, UDP_LENGTH, header_len - frame->l4 + segment->len);
}

static uint16_t type_before(const uint8_t *bytes, unsigned int at)
{
	return fld_get16(bytes + at - ETHERNET_SIZE, ETHERNET_TYPE);
}

/* Parses the headers of a large send. Its length fields are not valid yet, so they are first set to
 * the lengths of the headers alone. */
static int parse_headers(struct frame *frame, uint8_t *bytes, const struct frame_send *send)
{
	const unsigned int least = FLD_BYTE(IP6_PAYLOAD) + sizeof(uint16_t);
	unsigned int at = ETHERNET_SIZE;

	memcpy(bytes, send->header, send->header_len);
	while (at + VLAN_SIZE <= send->header_len && type_before(bytes, at) == ETHERTYPE_VLAN)
		at += VLAN_SIZE;
	if (at + least > send->header_len)
		return WQE_BAD_INLINE;
	if (type_before(bytes, at) == ETHERTYPE_V4)
		fld_set(bytes + at, IP4_LENGTH, send->header_len - at);
	else if (type_before(bytes, at) == ETHERTYPE_V6 && at + IP6_SIZE <= send->header_len)
		fld_set(bytes + at, IP6_PAYLOAD, send->header_len - at - IP6_SIZE);
	frame_parse(frame, bytes, send->header_len);
	return frame_is_tcp(frame) || frame_is_udp(frame) ? 0 : WQE_BAD_INLINE;
}

static int check_large(const struct frame_send *send)
{
	if (send->header_len < FABRIC_FRAME_MIN || !send->mss || !send->length ||
	    send->header_len + send->mss > FABRIC_FRAME_MAX - VLAN_SIZE)
		return WQE_BAD_LENGTH;
	if (send->length >> LOG_MAX_LSO > 1 ||
	    (send->length + send->mss - 1) / send->mss > MAX_LSO_SEGMENTS)
		return WQE_BAD_LENGTH;
	return 0;
}

static int send_large(struct hca *hca, struct eth_sq *sq, const struct frame_send *send)
{
	uint8_t *bytes = hca->eth->frame;
	struct segment segment = { .index = 0 };
	struct frame frame;
	int ret = check_large(send);

	if (!ret)
		ret = parse_headers(&frame, bytes, send);
	while (!ret && segment.offset < send->length) {
		uint64_t left = send->length - segment.offset;

		segment.last = left <= send->mss;
		segment.len = segment.last ? left : send->mss;
		ret = eth_gather(hca, sq, send, bytes, segment.offset, segment.len);
		if (ret)
			return ret;
		fix_headers(bytes, &frame, &segment, send->header_len);
		finish_frame(hca, sq, send, send->header_len + segment.len);
		segment.offset += segment.len;
		segment.index++;
	}
	return ret;
}

static enum cqe_syndrome syndrome_of(uint8_t vendor_syndrome)
{
	switch (vendor_syndrome) {
	case VEND_FLUSH:
		return SYND_FLUSH;
	case WQE_BAD_LKEY:
		return SYND_LOCAL_PROT;
	case WQE_BAD_LENGTH:
		return SYND_LOCAL_LENGTH;
	default:
		return SYND_LOCAL_QP_OP;
	}
}

/* Completes a WQE. A VENDOR_SYNDROME other than 0 completes it in error. */
static void sq_complete_wqe(struct hca *hca, struct eth_sq *sq, uint8_t send_opcode,
			    uint8_t vendor_syndrome)
{
	const struct cqe_place place = {
		.qpn = sq->n,
		.user_index = sq->user_index,
		.time = cqe_time(hca, sq->real_time),
		.has_time = sq->cq->has_time,
	};
	const struct frame_completion done = {
		.opcode = vendor_syndrome ? CQE_OP_REQ_ERR : CQE_OP_REQ,
		.syndrome = syndrome_of(vendor_syndrome),
		.vendor_syndrome = vendor_syndrome,
		.send_opcode = send_opcode,
		.wqe_counter = sq->ci,
	};
	uint8_t cqe[CQE_MAX] = { 0 };

	hca->format->encode_frame_cqe(&place, &done, cqe);
	if (cq_post_cqe(hca, sq->cq, cqe, vendor_syndrome, NULL))
		sq->state = PRM_WQ_STATE_ERR;
}

static int execute_underlay(struct hca *hca, struct eth_sq *sq, const uint8_t *raw, uint32_t posted)
{
	struct frame_send send;
	struct datagram_to to;
	int ret = hca->format->decode_underlay_send(raw, sq->ci, posted, sq->n, &send, &to);

	if (!ret && send.opcode == WQE_SEND)
		ret = underlay_send(hca, sq, &send, &to);
	if (!ret && send.signaled)
		sq_complete_wqe(hca, sq, send.opcode, 0);
	return ret;
}

static int wqe_execute(struct hca *hca, struct eth_sq *sq, const uint8_t *raw, uint32_t posted)
{
	uint32_t most = is_one_block(hca, sq) ? 1 : posted;
	struct frame_send send = { .has_mac = false };
	int ret;

	if (hca->config.strict && hca->format->judge_frame)
		hca->format->judge_frame(hca, sq, raw);
	if (frame_bbs(hca, sq, raw) > most)
		return WQE_BAD_SIZE;
	ret = hca->format->decode_frame_send(raw, sq->ci, posted, sq->n, &send);
	if (ret)
		return ret;
	if (send.opcode == WQE_SEND)
		ret = send_frame(hca, sq, &send);
	else if (send.opcode == WQE_LSO)
		ret = send_large(hca, sq, &send);
	else if (send.opcode == WQE_UMR)
		ret = hca->format->execute_frame_umr(hca, sq, raw, hca->format->wqe_size(raw));
	if (!ret && send.signaled)
		sq_complete_wqe(hca, sq, send.opcode, 0);
	return ret;
}

static void run_one(struct hca *hca, struct eth_sq *sq)
{
	uint8_t raw[WQE_BYTES_MAX];
	uint32_t posted = (uint16_t)(sq->pi - sq->ci), bbs = posted;
	int ret;

	if (bbs > WQE_BYTES_MAX / sq->wq.stride)
		bbs = WQE_BYTES_MAX / sq->wq.stride;
	if (bbs > 1u << sq->wq.log_size)
		bbs = 1u << sq->wq.log_size;
	ret = eth_sq_copy(hca, sq, sq->ci, bbs, raw) ? WQE_BAD_FETCH : 0;
	if (!ret) {
		uint32_t size = frame_bbs(hca, sq, raw);

		hca->format->trace_send(hca->config.trace, sq->n, sq->ci, raw,
					(size < bbs ? size : bbs) * sq->wq.stride);
		ret = sq->tis && sq->tis->underlay_qpn ? execute_underlay(hca, sq, raw, bbs)
						       : wqe_execute(hca, sq, raw, bbs);
	}
	if (ret) {
		sq_complete_wqe(hca, sq, ret == WQE_BAD_FETCH ? 0 : hca->format->wqe_opcode(raw),
				(uint8_t)ret);
		sq->state = PRM_WQ_STATE_ERR;
	}
	sq->ci += ret == WQE_BAD_FETCH ? 1 : wqe_blocks(hca, sq, raw, posted);
}

static bool sq_flush_some(struct hca *hca, struct eth_sq *sq)
{
	uint8_t raw[WQE_BYTES_MAX];

	if (!sq->flush)
		sq->ci = sq->pi;
	for (unsigned int i = 0; i < TURN_WQES && sq->ci != sq->pi; i++) {
		bool known = !eth_sq_copy(hca, sq, sq->ci, 1, raw);

		sq_complete_wqe(hca, sq, known ? hca->format->wqe_opcode(raw) : 0, VEND_FLUSH);
		sq->ci += known ? wqe_blocks(hca, sq, raw, (uint16_t)(sq->pi - sq->ci)) : 1;
	}
	return sq->ci != sq->pi;
}

bool eth_sq_run(struct hca *hca, struct eth_sq *sq)
{
	uint64_t end = hca->eth->work + TURN_WORK;

	if ((uint16_t)(sq->pi - sq->ci) > 1u << sq->wq.log_size)
		sq->state = PRM_WQ_STATE_ERR; /* ERR, as the producer index is beyond the ring */
	for (unsigned int i = 0;
	     i < TURN_WQES && sq_may_send(sq) && sq->ci != sq->pi && hca->eth->work < end &&
	     !pacing_waits(hca, sq) && !sched_waits(hca, &sq->sched);
	     i++)
		run_one(hca, sq);
	if (sq->state == PRM_WQ_STATE_ERR)
		return sq_flush_some(hca, sq);
	if (!sq_may_send(sq) || sq->ci == sq->pi || sq->waits)
		sched_rests(&sq->sched);
	return sq_may_send(sq) && sq->ci != sq->pi && !sq->waits && !sq->sched.waits;
}
