/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_sq.c - send queues of frames: WQEs become frames, with the offloads they ask for.
 *
 * A WQE is a control segment, an Ethernet segment with the headers that are inline, and data
 * segments. Checksums are filled in, a VLAN tag inserted, and a large send cut into segments whose
 * headers are made from its own. PRM: Ethernet Segment
 */
#include <errno.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/uar.h"
#include "prm/mlx5/wq.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/mlx5.h"
#include "softhca/device/queue/wqe.h"

enum {
	TURN_WQES = 64,
	TURN_WORK = 1 << 18, /* in units of eth->work */
	FRAME_WORK = 256,    /* of a frame, beside what steering it costs */
	MAX_LSO_SEGMENTS = 1024,
};

/* The struct is a decoded WQE: headers first, then the bytes that segments describe. */
struct eth_send {
	uint8_t opcode;
	bool signaled;
	uint8_t cs_flags;
	uint16_t mss;
	uint16_t tpid; /* of a tag to insert, or 0 */
	uint16_t tci;
	const uint8_t *header;
	uint32_t header_len;
	uint64_t length; /* of all sges */
	unsigned int num_sge;
	struct wqe_sge sge[WQE_SGE_MAX];
};

/* ---- doorbells ---- */

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

int eth_sq_read_doorbell(struct hca *hca, struct eth_sq *sq)
{
	uint32_t word;
	int ret;

	if (sq->state == PRM_WQ_STATE_RST)
		return 0;
	ret = dma_read(hca, sq->wq.dbr + FLD_BYTE(QP_DBREC_SEND), &word, sizeof(word));
	if (ret)
		return ret;
	sq->pi = (uint16_t)be32toh(word);
	eth_sq_wake(hca, sq);
	return 0;
}

/* ---- decoding ---- */

/* Inline bytes follow their length, padded to a segment. The function returns the bytes taken, or 0
 * when they run over the end of the WQE. */
static size_t decode_inline_data(const uint8_t *seg, const uint8_t *end, struct wqe_sge *sge)
{
	size_t taken;

	sge->len = fld_get(seg, DATA_INLINE_LEN);
	sge->data = seg + WQE_INLINE_HEADER;
	taken = (WQE_INLINE_HEADER + sge->len + WQE_SEG - 1) / WQE_SEG * WQE_SEG;
	return taken <= (size_t)(end - seg) ? taken : 0;
}

static int decode_data(const uint8_t *seg, const uint8_t *end, struct eth_send *send)
{
	while (seg < end) {
		struct wqe_sge *sge = &send->sge[send->num_sge++];
		size_t taken = WQE_SEG;

		sge->data = NULL;
		sge->len = fld_get(seg, DATA_LEN);
		sge->lkey = fld_get(seg, DATA_LKEY);
		sge->addr = fld_get(seg, DATA_ADDR);
		if (fld_get(seg, DATA_INLINE))
			taken = decode_inline_data(seg, end, sge);
		if (!taken)
			return WQE_BAD_INLINE;
		send->length += sge->len;
		seg += taken;
	}
	return 0;
}

/* Inline headers share a place with the tag to insert. The function returns where data segments
 * begin, or NULL when the headers run over the end. */
static const uint8_t *decode_inline(const uint8_t *eth, const uint8_t *end, struct eth_send *send)
{
	uint32_t size = fld_get(eth, ETH_INLINE), taken;

	if (size & WQE_INSERT_VLAN) {
		if (size & ~(WQE_INSERT_VLAN | WQE_INSERT_SERVICE_TAG))
			return NULL;
		send->tpid = size & WQE_INSERT_SERVICE_TAG ? ETHERTYPE_QINQ : ETHERTYPE_VLAN;
		send->tci = fld_get(eth, ETH_TCI);
		return eth + WQE_SEG;
	}
	taken = (WQE_ETH_INLINE_START + size + WQE_SEG - 1) / WQE_SEG * WQE_SEG;
	if (taken < WQE_SEG)
		taken = WQE_SEG;
	if (taken > (size_t)(end - eth))
		return NULL;
	send->header = eth + WQE_ETH_INLINE_START;
	send->header_len = size;
	return eth + taken;
}

static int check_control(const struct eth_sq *sq, const uint8_t *raw, uint32_t posted)
{
	uint8_t opcode = fld_get(raw, CTRL_OPCODE);

	if (fld_get(raw, CTRL_OPMOD) ||
	    (opcode != WQE_NOP && opcode != WQE_SEND && opcode != WQE_LSO))
		return WQE_BAD_OPCODE;
	if (fld_get(raw, CTRL_INDEX) != sq->ci)
		return WQE_BAD_INDEX;
	if (fld_get(raw, CTRL_QPN) != sq->n)
		return WQE_BAD_QPN;
	if (!mlx5_wqe_bbs(raw) || mlx5_wqe_bbs(raw) > posted || mlx5_wqe_bbs(raw) > WQE_BB_MAX)
		return WQE_BAD_SIZE;
	return 0;
}

static int send_decode(const uint8_t *raw, struct eth_send *send)
{
	const uint8_t *eth = raw + WQE_SEG, *end = raw + fld_get(raw, CTRL_DS) * WQE_SEG, *data;

	send->header = raw;
	send->header_len = 0;
	send->tpid = 0;
	send->length = 0;
	send->num_sge = 0;
	send->opcode = fld_get(raw, CTRL_OPCODE);
	send->signaled = fld_get(raw, CTRL_CE_SE) & WQE_CQ_UPDATE;
	if (send->opcode == WQE_NOP)
		return 0;
	if (end - eth < WQE_SEG)
		return WQE_BAD_SIZE;
	send->cs_flags = fld_get(eth, ETH_CS);
	send->mss = fld_get(eth, ETH_MSS);
	/* The device knows no sums of inner headers, and takes no word from software on where
	 * headers are. */
	if ((send->cs_flags & ~(WQE_CS_L3 | WQE_CS_L4)) || fld_get(eth, ETH_SWP))
		return WQE_BAD_OPCODE;
	data = decode_inline(eth, end, send);
	return data ? decode_data(data, end, send) : WQE_BAD_INLINE;
}

/* ---- frames ---- */

static size_t insert_vlan(uint8_t *bytes, size_t len, uint16_t tpid, uint16_t tci)
{
	memmove(bytes + 12 + VLAN_SIZE, bytes + 12, len - 12);
	put_be16(bytes + 12, tpid);
	put_be16(bytes + ETHERNET_SIZE, tci);
	return len + VLAN_SIZE;
}

/* The frame in eth->frame is complete but for offloads. */
static void finish_frame(struct hca *hca, struct eth_sq *sq, const struct eth_send *send,
			 size_t len)
{
	uint8_t *bytes = hca->eth->frame;
	struct frame frame;

	if (send->cs_flags) {
		frame_parse(&frame, bytes, len);
		if (send->cs_flags & WQE_CS_L3)
			frame_fill_l3(bytes, &frame);
		if (send->cs_flags & WQE_CS_L4)
			frame_fill_l4(bytes, &frame);
	}
	if (send->tpid)
		len = insert_vlan(bytes, len, send->tpid, send->tci);
	if (len < ETHERNET_MIN) {
		memset(bytes + len, 0, ETHERNET_MIN - len);
		len = ETHERNET_MIN;
	}
	hca->eth->work += FRAME_WORK;
	eth_transmit(hca, sq, bytes, len);
	pacing_sent(hca, sq, len);
}

/* The function puts headers and LEN payload bytes from OFFSET into eth->frame. It returns 0 or a
 * vendor syndrome. */
static int frame_gather(struct hca *hca, struct eth_sq *sq, const struct eth_send *send,
			uint64_t offset, uint64_t len)
{
	uint8_t *bytes = hca->eth->frame;
	struct dma_batch batch;

	if (!sq->wq.pd)
		return WQE_BAD_LKEY;
	memcpy(bytes, send->header, send->header_len);
	dma_begin_read(&batch, hca, bytes + send->header_len);
	return sges_dma(&batch, sq->wq.pd, MKEY_LOCAL_READ, send->sge, send->num_sge, offset, len);
}

static int send_frame(struct hca *hca, struct eth_sq *sq, const struct eth_send *send)
{
	uint64_t len = send->header_len + send->length;
	int ret;

	if (len < FABRIC_FRAME_MIN || len > FABRIC_FRAME_MAX - VLAN_SIZE)
		return WQE_BAD_LENGTH;
	ret = frame_gather(hca, sq, send, 0, send->length);
	if (!ret)
		finish_frame(hca, sq, send, len);
	return ret;
}

/* ---- large sends ---- */

/* A segment says which part of a large send it is. */
struct segment {
	unsigned int index;
	uint64_t offset;
	uint32_t len; /* of its payload */
	bool last;
};

static void fix_tcp(uint8_t *tcp, const struct segment *segment)
{
	put_be32(tcp + 4, get_be32(tcp + 4) + (uint32_t)segment->offset);
	if (!segment->last)
		tcp[13] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	if (segment->index)
		tcp[13] &= (uint8_t)~TCP_CWR;
}

/* The function fixes what differs between segments: lengths, identification, sequence number. Where
 * the headers are was found out with lengths that fit one segment. */
static void fix_headers(uint8_t *bytes, const struct frame *frame, const struct segment *segment,
			uint32_t header_len)
{
	uint8_t *ip = bytes + frame->l3;
	uint32_t total = header_len - frame->l3 + segment->len;

	if (frame->ip_version == 4) {
		put_be16(ip + 2, (uint16_t)total);
		put_be16(ip + 4, (uint16_t)(get_be16(ip + 4) + segment->index));
	} else {
		put_be16(ip + 4, (uint16_t)(total - 40));
	}
	if (frame->protocol == PROTO_TCP)
		fix_tcp(bytes + frame->l4, segment);
	else
		put_be16(bytes + frame->l4 + 4, (uint16_t)(header_len - frame->l4 + segment->len));
}

/* The headers of a large send have no sound lengths yet. The function gives them the lengths of the
 * headers alone, so that they can be parsed. */
static int parse_headers(struct frame *frame, uint8_t *bytes, const struct eth_send *send)
{
	unsigned int at = ETHERNET_SIZE;

	memcpy(bytes, send->header, send->header_len);
	while (at + VLAN_SIZE <= send->header_len && get_be16(bytes + at - 2) == ETHERTYPE_VLAN)
		at += VLAN_SIZE;
	if (at + 6 > send->header_len)
		return WQE_BAD_INLINE;
	if (get_be16(bytes + at - 2) == ETHERTYPE_V4)
		put_be16(bytes + at + 2, (uint16_t)(send->header_len - at));
	else if (get_be16(bytes + at - 2) == ETHERTYPE_V6 && at + 40 <= send->header_len)
		put_be16(bytes + at + 4, (uint16_t)(send->header_len - at - 40));
	frame_parse(frame, bytes, send->header_len);
	return frame_is_tcp(frame) || frame_is_udp(frame) ? 0 : WQE_BAD_INLINE;
}

static int check_large(const struct eth_send *send)
{
	if (send->header_len < FABRIC_FRAME_MIN || !send->mss || !send->length ||
	    send->header_len + send->mss > FABRIC_FRAME_MAX - VLAN_SIZE)
		return WQE_BAD_LENGTH;
	if (send->length >> LOG_MAX_LSO > 1 ||
	    (send->length + send->mss - 1) / send->mss > MAX_LSO_SEGMENTS)
		return WQE_BAD_LENGTH;
	return 0;
}

static int send_large(struct hca *hca, struct eth_sq *sq, const struct eth_send *send)
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
		ret = frame_gather(hca, sq, send, segment.offset, segment.len);
		if (ret)
			return ret;
		fix_headers(bytes, &frame, &segment, send->header_len);
		finish_frame(hca, sq, send, send->header_len + segment.len);
		segment.offset += segment.len;
		segment.index++;
	}
	return ret;
}

/* ---- the queue ---- */

static void sq_complete_wqe(struct hca *hca, struct eth_sq *sq, uint8_t opcode, uint8_t send_opcode,
			    uint8_t vendor_syndrome)
{
	uint8_t cqe[PRM_CQE_SIZE] = { 0 };

	fld_set(cqe, CQE_USER_INDEX, fld_get(sq->sqc, SQC_USER_INDEX));
	fld_set(cqe, CQE_SEND_OPCODE, send_opcode);
	fld_set(cqe, CQE_QPN, sq->n);
	fld_set(cqe, CQE_WQE_COUNTER, sq->ci);
	fld_set(cqe, CQE_OPCODE, opcode);
	if (opcode == CQE_OP_REQ) {
		fld_set(cqe, CQE_TIMESTAMP, hca->now);
	} else {
		fld_set(cqe, CQE_VENDOR_SYNDROME, vendor_syndrome);
		fld_set(cqe, CQE_SYNDROME,
			vendor_syndrome == VEND_FLUSH       ? SYND_FLUSH
			: vendor_syndrome == WQE_BAD_LKEY   ? SYND_LOCAL_PROT
			: vendor_syndrome == WQE_BAD_LENGTH ? SYND_LOCAL_LENGTH
							    : SYND_LOCAL_QP_OP);
	}
	if (cq_post_cqe(hca, sq->cq, cqe, opcode != CQE_OP_REQ, NULL))
		sq->state = PRM_WQ_STATE_ERR;
}

/* The function reads the posted blocks at ci, in two parts where the ring wraps. */
static int sq_fetch_blocks(struct hca *hca, struct eth_sq *sq, uint8_t *raw, uint32_t bbs)
{
	uint32_t size = 1u << sq->wq.log_size, slot = sq->ci & (size - 1);
	uint32_t straight = size - slot < bbs ? size - slot : bbs;
	struct dma_batch batch;
	int ret;

	dma_begin_read(&batch, hca, raw);
	ret = dma_add_map(&batch, &sq->wq.map, (uint64_t)slot * WQE_BB,
			  (uint64_t)straight * WQE_BB);
	if (!ret)
		ret = dma_add_map(&batch, &sq->wq.map, 0, (uint64_t)(bbs - straight) * WQE_BB);
	return ret ? ret : dma_finish(&batch);
}

/* The function returns the blocks of the WQE at RAW. Where that is not sound, the next WQE's place
 * is a guess, but not behind what is posted. */
static uint32_t wqe_blocks(const uint8_t *raw, uint32_t posted)
{
	uint32_t bbs = mlx5_wqe_bbs(raw);

	return bbs && bbs <= posted ? bbs : 1;
}

static int wqe_execute(struct hca *hca, struct eth_sq *sq, const uint8_t *raw, uint32_t posted)
{
	struct eth_send send;
	int ret = check_control(sq, raw, posted);

	if (!ret)
		ret = send_decode(raw, &send);
	if (ret)
		return ret;
	if (send.opcode == WQE_SEND)
		ret = send_frame(hca, sq, &send);
	else if (send.opcode == WQE_LSO)
		ret = send_large(hca, sq, &send);
	if (!ret && send.signaled)
		sq_complete_wqe(hca, sq, CQE_OP_REQ, send.opcode, 0);
	return ret;
}

static void run_one(struct hca *hca, struct eth_sq *sq)
{
	uint8_t raw[WQE_BB_MAX * WQE_BB];
	uint32_t posted = (uint16_t)(sq->pi - sq->ci), bbs = posted;
	int ret;

	if (bbs > WQE_BB_MAX)
		bbs = WQE_BB_MAX;
	if (bbs > 1u << sq->wq.log_size)
		bbs = 1u << sq->wq.log_size;
	ret = sq_fetch_blocks(hca, sq, raw, bbs) ? WQE_BAD_FETCH : 0;
	if (!ret) {
		trace_wqe(hca->config.trace, "send", sq->n, sq->ci, raw,
			  (mlx5_wqe_bbs(raw) < bbs ? mlx5_wqe_bbs(raw) : bbs) * WQE_BB);
		ret = wqe_execute(hca, sq, raw, bbs);
	}
	if (ret) {
		sq_complete_wqe(hca, sq, CQE_OP_REQ_ERR,
				ret == WQE_BAD_FETCH ? 0 : fld_get(raw, CTRL_OPCODE), (uint8_t)ret);
		sq->state = PRM_WQ_STATE_ERR;
	}
	sq->ci += ret == WQE_BAD_FETCH ? 1 : wqe_blocks(raw, posted);
}

static bool sq_flush_some(struct hca *hca, struct eth_sq *sq)
{
	uint8_t raw[WQE_BB];

	if (!sq->flush)
		sq->ci = sq->pi;
	for (unsigned int i = 0; i < TURN_WQES && sq->ci != sq->pi; i++) {
		bool known = !sq_fetch_blocks(hca, sq, raw, 1);

		sq_complete_wqe(hca, sq, CQE_OP_REQ_ERR, known ? fld_get(raw, CTRL_OPCODE) : 0,
				VEND_FLUSH);
		sq->ci += known ? wqe_blocks(raw, (uint16_t)(sq->pi - sq->ci)) : 1;
	}
	return sq->ci != sq->pi;
}

bool eth_sq_run(struct hca *hca, struct eth_sq *sq)
{
	uint64_t end = hca->eth->work + TURN_WORK;

	if ((uint16_t)(sq->pi - sq->ci) > 1u << sq->wq.log_size)
		sq->state = PRM_WQ_STATE_ERR; /* a producer that is nowhere near the ring */
	for (unsigned int i = 0; i < TURN_WQES && sq->state == PRM_WQ_STATE_RDY &&
				 sq->ci != sq->pi && hca->eth->work < end && !pacing_waits(hca, sq);
	     i++)
		run_one(hca, sq);
	if (sq->state == PRM_WQ_STATE_ERR)
		return sq_flush_some(hca, sq);
	return sq->state == PRM_WQ_STATE_RDY && sq->ci != sq->pi && !sq->waits;
}
