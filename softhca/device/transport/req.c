/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * req.c - the requester: send WQEs become request messages, responses become completions.
 *
 * PSNs count packets of the path MTU; one message stands for many packets. WQEs from sq.ci to
 * sq.next are in flight. The fabric delivers by function calls, so an answer may arrive inside the
 * call that sends its request: update all state before sending. A retry goes back to the oldest
 * unacknowledged PSN. IBTA vol 1, 9.7.3 (requester), 9.7.5.2 (RNR), 9.9.2 (errors). Decision:
 * docs/adr/0033.
 */
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/memory/psv.h"
#include "softhca/device/transport/atomic.h"
#include "softhca/device/transport/credits.h"
#include "softhca/device/transport/dci.h"
#include "softhca/device/transport/drain.h"
#include "softhca/device/transport/qp.h"
#include "softhca/device/transport/tm.h"
#include "softhca/device/queue/sig_report.h"
#include "softhca/device/queue/umr_delay.h"
#include "softhca/device/queue/wqe.h"
#include "util/bits.h"

/* Bounds of the window, the bytes in flight without an acknowledge. A loss makes the requester
 * repeat all that follows, so losses shrink the window. */
enum { WINDOW_MAX = 2 * FABRIC_PAYLOAD_MAX, WINDOW_MIN = 16 * 1024 };

/* Most packets of one READ request: a quarter of the PSNs, so that fewer than half of them are in
 * use, which tells new PSNs from old ones. IBTA vol 1, 9.7.3.2 */
enum { READ_PACKETS_MAX = (PSN_MASK + 1) / 4 };

void req_reset(struct qp *qp)
{
	memset(&qp->req, 0, sizeof(qp->req));
	qp->req.window = WINDOW_MAX;
	qp->req.deadline = HCA_IDLE;
	credits_reset(qp);
}

static struct sq_entry *entry_at(struct qp *qp, uint16_t index)
{
	return &qp->sq.entry[index & sq_mask(qp)];
}

static bool is_read(uint8_t opcode)
{
	return opcode == WQE_RDMA_READ || atomic_is(opcode);
}

static bool is_outstanding(struct qp *qp)
{
	return qp->req.unacked != qp->req.next_psn;
}

static unsigned int reads_outstanding(struct qp *qp)
{
	unsigned int count = 0;

	for (uint16_t i = qp->sq.ci; i != qp->sq.next; i += entry_at(qp, i)->bbs)
		count += entry_at(qp, i)->returns_data;
	return count;
}

/* ---- timers and retries ---- */

/* Shortest timeout: code 12, 17 ms. Adapters have such a minimum, but no manual gives its value, so
 * this one is assumed; it lets a peer in software get its turn on the CPU. */
enum { ACK_TIMEOUT_MIN = 12 };

static void start_timer(struct hca *hca, struct qp *qp)
{
	if (qp->ack_timeout)
		qp_set_timer(hca, qp,
			     hca->now + (4096ull << max_of(qp->ack_timeout, ACK_TIMEOUT_MIN)));
}

void req_count_tries(struct qp *qp)
{
	qp->req.retries_left = qp->retry_count;
	qp->req.rnr_left = qp->rnr_retry;
}

static void progress_made(struct hca *hca, struct qp *qp)
{
	req_count_tries(qp);
	qp->req.rnr_wait = false;
	qp->req.gone_back = false;
	if (qp->req.window < WINDOW_MAX)
		qp->req.window += 2 * qp->mtu;
	if (is_outstanding(qp))
		start_timer(hca, qp);
	else
		qp_set_timer(hca, qp, HCA_IDLE);
	qp_wake(hca, qp);
}

static void go_back(struct hca *hca, struct qp *qp)
{
	struct sq_entry *entry = entry_at(qp, qp->sq.ci);

	qp->req.next_psn = qp->req.unacked;
	qp->sq.next = qp->sq.ci;
	qp->req.ssn = entry->ssn;
	qp->req.reads = 0;
	qp->req.offset = (uint64_t)psn_diff(qp->req.unacked, entry->psn) * qp->mtu;
	qp_wake(hca, qp);
}

/* Returns how many requests, each with a sequence number, a WQE becomes: a long READ becomes
 * several, as a response may not exceed READ_PACKETS_MAX packets. */
static uint32_t requests_of(const struct qp *qp, const struct sq_entry *entry)
{
	uint64_t most = (uint64_t)READ_PACKETS_MAX * qp->mtu;

	if (!entry->packets)
		return 0;
	return entry->opcode == WQE_RDMA_READ && entry->length > most
		       ? (uint32_t)((entry->length + most - 1) / most)
		       : 1;
}

/* Returns the number of the last request that ends within the first PACKETS packets of a WQE. */
static uint32_t request_after(const struct qp *qp, const struct sq_entry *entry, uint32_t packets)
{
	uint32_t whole = entry->opcode == WQE_RDMA_READ ? packets / READ_PACKETS_MAX : 0;

	if (packets == entry->packets)
		whole = requests_of(qp, entry);
	return (entry->ssn - 1 + whole) & PSN_MASK;
}

/* Returns the number of the last request whose packets end at or before PSN. */
static uint32_t request_done(struct qp *qp, uint32_t psn)
{
	const struct sq_entry *entry = entry_at(qp, qp->sq.ci);

	for (uint16_t i = qp->sq.ci; sq_has_entry(qp, i); i += entry->bbs) {
		entry = entry_at(qp, i);
		if (psn_diff(psn, entry->psn + entry->packets) < 0)
			break;
	}
	return request_after(qp, entry, psn_diff(psn, entry->psn) + 1);
}

/* Undoes go_back() up to PSN: packets before PSN have arrived, so they need not be repeated. A
 * request that returns data must be repeated, unless DATA_IS_THERE. */
static void go_forward(struct qp *qp, uint32_t psn, bool data_is_there)
{
	if (psn_diff(psn, qp->req.sent_psn) > 0)
		psn = qp->req.sent_psn;
	while (psn_diff(psn, qp->req.next_psn) > 0 && sq_has_entry(qp, qp->sq.next)) {
		struct sq_entry *entry = entry_at(qp, qp->sq.next);
		uint32_t end = (entry->psn + entry->packets) & PSN_MASK;

		if (entry->returns_data && !data_is_there)
			return;
		if (psn_diff(psn, end) < 0) {
			qp->req.next_psn = psn;
			qp->req.offset = (uint64_t)psn_diff(psn, entry->psn) * qp->mtu;
		} else {
			qp->req.next_psn = end;
			qp->req.offset = 0;
			qp->req.ssn = (entry->ssn + requests_of(qp, entry)) & PSN_MASK;
			qp->sq.next += entry->bbs;
		}
	}
}

/* Continues with PSNs that were never used, so that late answers to earlier requests are
 * ignored. */
void req_go_on(struct hca *hca, struct qp *qp)
{
	struct requester *req = &qp->req;

	qp_set_timer(hca, qp, HCA_IDLE);
	if (qp->sq.next != qp->sq.ci)
		req->ssn = entry_at(qp, qp->sq.ci)->ssn;
	qp->sq.next = qp->sq.ci;
	req->next_psn = req->unacked = req->sent_psn;
	req->offset = 0;
	req->reads = 0;
	req_count_tries(qp);
	req->rnr_wait = req->gone_back = req->decoded = false;
	qp_wake(hca, qp);
}

static void req_retry(struct hca *hca, struct qp *qp)
{
	if (!qp->req.retries_left) {
		sq_fail(hca, qp, SYND_RETRY_EXCEEDED, VEND_RETRY_EXCEEDED);
		return;
	}
	qp->req.retries_left--;
	if (qp->req.window > WINDOW_MIN)
		qp->req.window /= 2;
	go_back(hca, qp);
}

/* Retries because a response shows that an earlier one is lost: an implied NAK. IBTA vol 1,
 * 9.7.5.1.1 */
static void implied_loss(struct hca *hca, struct qp *qp)
{
	if (qp->req.gone_back)
		return;
	qp->req.gone_back = true;
	q_count(hca, qp, Q_IMPLIED_NAK);
	req_retry(hca, qp);
}

void req_timeout(struct hca *hca, struct qp *qp)
{
	qp->req.gone_back = false;
	if (qp->req.rnr_wait) {
		qp->req.rnr_wait = false;
		qp_wake(hca, qp);
	} else if (is_outstanding(qp)) {
		q_count(hca, qp, Q_TIMEOUT);
		req_retry(hca, qp);
	}
}

/* RNR NAK timer codes in units of 10 us; code 0 is the longest. IBTA vol 1, table 45 */
static const uint32_t rnr_delay[32] = {
	65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,    32,
	48,    64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static void receiver_not_ready(struct hca *hca, struct qp *qp, uint8_t code)
{
	if (qp->rnr_retry != 7) {
		if (!qp->req.rnr_left) {
			sq_fail(hca, qp, SYND_RNR_EXCEEDED, VEND_RNR_EXCEEDED);
			return;
		}
		qp->req.rnr_left--;
	}
	go_back(hca, qp);
	qp->req.rnr_wait = true;
	qp_set_timer(hca, qp, hca->now + rnr_delay[code & 31] * 10 * NS_PER_US);
}

/* ---- transmission ---- */

/* Returns how many blocks at INDEX the WQE may have: at most the ring's size, even if the doorbell
 * announced more. */
static uint32_t blocks_from(const struct qp *qp, uint16_t index)
{
	uint16_t posted = qp->sq.pi - index;

	return posted <= sq_mask(qp) ? posted : sq_mask(qp) + 1u;
}

/* Returns whether WQEs are signed. The device's own WQEs for tag matching are not. */
static bool wants_signatures(const struct qp *qp)
{
	return qp->has_signatures && !qp->offload;
}

/* Decodes the WQE at INDEX, unless that has been done. Returns 0 or a vendor syndrome. */
static int wqe_load(struct hca *hca, struct qp *qp, uint16_t index)
{
	struct requester *req = &qp->req;
	const uint8_t *raw;
	int why;

	if (req->decoded && req->wqe.index == index)
		return 0;
	req->decoded = false;
	if (sq_fetch(hca, qp, index, &raw))
		return WQE_BAD_FETCH;
	if (hca->format->wqe_is_block && !wqe_bbs(hca, qp, raw))
		why = WQE_BAD_SIZE;
	else if (qp->writes_headers)
		why = hca->format->decode_special(hca, qp, raw, index, &req->wqe);
	else
		why = hca->format->decode_send(raw, index, blocks_from(qp, index), qp->n,
					       qp->service, &req->wqe);
	if (wants_signatures(qp) && why != WQE_BAD_SIZE && !hca->format->send_is_signed(raw))
		why = WQE_BAD_SIGNATURE;
	req->decoded = !why;
	if (why != WQE_BAD_SIZE)
		hca->format->trace_send(hca->config.trace, qp->n, index, raw,
					wqe_bbs(hca, qp, raw) * qp->sq.block);
	if (hca->config.strict && !why)
		hca->format->judge_send(hca, qp, index, raw);
	return why;
}

/* Fails the WQE at sq.next because of a local fault, once all WQEs before it have completed. */
static void local_error(struct hca *hca, struct qp *qp, int why)
{
	if (qp->umr && !umr_finish(hca, qp))
		return;
	if (qp->sq.ci == qp->sq.next)
		sq_fail(hca, qp, wqe_syndrome(why), why);
}

static int check_lengths(const struct hca *hca, const struct qp *qp)
{
	const struct send_wqe *wqe = &qp->req.wqe;

	if (wqe->length > hca->config.limits.max_msg_size)
		return WQE_BAD_LENGTH;
	if (qp->service == FABRIC_UD && wqe->length > qp->mtu)
		return WQE_BAD_LENGTH;
	return atomic_is(wqe->opcode) && wqe->length != wqe->operand ? WQE_BAD_LENGTH : 0;
}

/* Returns whether the adapter executes the WQE without the peer, so that it waits until all before
 * it are done. */
static bool is_local(const struct send_wqe *wqe)
{
	return wqe->opcode == WQE_NOP || wqe->on_key || wqe->opcode == WQE_MMO ||
	       wqe->opcode == WQE_SET_PSV || wqe->opcode == WQE_TAG_MATCHING;
}

static uint32_t packets_for(const struct qp *qp, const struct send_wqe *wqe)
{
	return is_local(wqe) ? 0 : packets_of(wqe->length, qp->mtu);
}

/* Counts the READs and atomics that could be outstanding on a wire, where responses may come late;
 * here they come at once. At a fence, which waits for all of them, the count begins anew. */
static void count_reads(struct qp *qp, bool returns_data)
{
	if (qp->req.wqe.fence > WQE_FENCE_INITIATOR_SMALL || is_local(&qp->req.wqe))
		qp->req.reads = 0;
	if (returns_data && qp->req.reads < qp->max_reads)
		qp->req.reads++;
}

void req_posted(struct qp *qp)
{
	qp->req.reads = reads_outstanding(qp);
}

/* Returns the access that a strict adapter needs to read local data. Adapters need lr in the key's
 * context, although IBTA always allows local reads. PRM: Memory Key Context, lr */
static unsigned int gather_access(const struct hca *hca)
{
	return hca->config.strict ? MKEY_LOCAL_READ : 0;
}

static bool is_repeated(const struct qp *qp)
{
	return qp->req.offset || psn_diff(qp->req.next_psn, qp->req.sent_psn) < 0;
}

/* Checks that a WQE which is read again still has its size, as the PSNs and positions of all later
 * WQEs depend on it. Reports a change once, when the WQE fails. */
static int check_repeated(struct hca *hca, struct qp *qp)
{
	const struct send_wqe *wqe = &qp->req.wqe;
	const struct sq_entry *entry = entry_at(qp, qp->sq.next);
	uint32_t packets = packets_for(qp, wqe);

	if (packets == entry->packets && wqe->bbs == entry->bbs)
		return 0;
	if (hca->config.strict && qp->sq.ci == qp->sq.next)
		strict_report(hca->config.strict, hca->config.trace, "wqe.changed",
			      "QP 0x%06x, WQE %u: %u packets from %u blocks were sent, and now it "
			      "has %u from %u",
			      qp->n, qp->sq.next, entry->packets, entry->bbs, packets, wqe->bbs);
	return WQE_BAD_LENGTH;
}

/* Checks a WQE before its first packet and gives it its PSNs. Buffers for an answer are checked
 * when the answer comes; by then the peer has executed the request, as with an adapter. */
static int wqe_begin(struct hca *hca, struct qp *qp)
{
	const struct send_wqe *wqe = &qp->req.wqe;
	struct sq_entry *entry = entry_at(qp, qp->sq.next);
	bool returns_data = is_read(wqe->opcode);
	int why = check_lengths(hca, qp);

	if (why)
		return why;
	if (!returns_data &&
	    !sges_allow(hca, sq_pd(qp), gather_access(hca), wqe->sge, wqe->num_sge))
		return WQE_BAD_LKEY;
	count_reads(qp, returns_data);
	*entry = (struct sq_entry){
		.psn = qp->req.next_psn,
		.packets = packets_for(qp, wqe),
		.ssn = qp->req.ssn,
		.length = wqe->length,
		.bbs = wqe->bbs,
		.opcode = wqe->opcode,
		.signaled = wqe->signaled,
		.returns_data = returns_data,
	};
	return 0;
}

static bool window_is_full(const struct qp *qp)
{
	uint64_t packets = (uint32_t)psn_diff(qp->req.next_psn, qp->req.unacked);

	return packets * qp->mtu >= qp->req.window;
}

/* Returns whether the WQE at sq.next must wait for earlier ones: a READ or atomic while as many as
 * allowed are outstanding, a fenced WQE for READs and atomics, a strongly fenced or local one for
 * all. */
static bool must_wait(struct qp *qp)
{
	const struct send_wqe *wqe = &qp->req.wqe;

	if (qp->req.offset || qp->sq.ci == qp->sq.next)
		return false;
	if (wqe->fence == WQE_FENCE_STRONG || is_local(wqe))
		return true;
	if (wqe->fence)
		return reads_outstanding(qp) > 0;
	return is_read(wqe->opcode) && reads_outstanding(qp) >= qp->max_reads;
}

static bool takes_receive(uint8_t opcode)
{
	return !is_read(opcode) && opcode != WQE_RDMA_WRITE;
}

/* Returns whether a SEND may leave only with its first packet, as the peer may have no receive. */
static bool is_tried(const struct qp *qp)
{
	uint8_t opcode = qp->req.wqe.opcode;

	return takes_receive(opcode) && opcode != WQE_RDMA_WRITE_IMM && credits_are_short(qp);
}

/* Returns whether the request at sq.next must wait for the peer's credits, which acknowledges of
 * earlier packets bring. While packets are outstanding, only the first request without a credit may
 * be tried, a SEND only with its first packet. Otherwise no request waits. */
static bool lacks_credits(struct qp *qp)
{
	if (!takes_receive(qp->req.wqe.opcode) || is_local(&qp->req.wqe) || !is_outstanding(qp) ||
	    !credits_are_short(qp))
		return false;
	return psn_diff(qp->req.ssn, qp->req.lsn) > 1 || (qp->req.offset && is_tried(qp));
}

static enum fabric_op op_of(uint8_t opcode)
{
	switch (opcode) {
	case WQE_RDMA_WRITE:
	case WQE_RDMA_WRITE_IMM:
		return FABRIC_WRITE;
	case WQE_RDMA_READ:
		return FABRIC_READ;
	case WQE_ATOMIC_CS:
		return FABRIC_ATOMIC_CS;
	case WQE_ATOMIC_FA:
		return FABRIC_ATOMIC_FA;
	case WQE_MASKED_CS:
		return FABRIC_MASKED_CS;
	case WQE_MASKED_FA:
		return FABRIC_MASKED_FA;
	default:
		return FABRIC_SEND;
	}
}

/* Returns how many bytes from req.offset on go into the next message; it ends where an acknowledge
 * is due. */
static uint64_t next_part(const struct qp *qp)
{
	uint64_t left = qp->req.wqe.length - qp->req.offset;
	uint64_t read_max = (uint64_t)READ_PACKETS_MAX * qp->mtu;
	uint64_t part = FABRIC_PAYLOAD_MAX - qp->req.offset % FABRIC_PAYLOAD_MAX;

	if (is_read(qp->req.wqe.opcode))
		return min_of(left, read_max);
	if (qp->service != FABRIC_UD && part > qp->req.window)
		part = qp->req.window - qp->req.window % qp->mtu;
	if (part > qp->mtu && is_tried(qp))
		part = qp->mtu;
	return left < part ? left : part;
}

/* Builds the message for the part of the request at req.offset. Each part of a READ is a READ
 * request of its own. */
static void msg_build(struct hca *hca, struct qp *qp, struct fabric_msg *msg)
{
	const struct send_wqe *wqe = &qp->req.wqe;
	uint64_t left = wqe->length - qp->req.offset;
	uint64_t part = next_part(qp);

	*msg = (struct fabric_msg){
		.op = op_of(wqe->opcode),
		.ack_req = qp_is_reliable(qp),
		.srqn = wqe->srqn,
		.psn = qp->req.next_psn,
		.packets = packets_of(part, qp->mtu),
		.first = qp->req.offset == 0,
		.last = part == left,
		.solicited = wqe->solicited,
		.has_imm = wqe->opcode == WQE_SEND_IMM || wqe->opcode == WQE_RDMA_WRITE_IMM,
		.invalidate = wqe->opcode == WQE_SEND_INVAL,
		.imm = wqe->imm,
		.raddr = wqe->raddr + qp->req.offset,
		.rkey = wqe->rkey,
		.reads = hca->config.strict && is_read(wqe->opcode) ? qp->req.reads : 0,
		.length = wqe->opcode == WQE_RDMA_READ ? part : left,
		.swap_add = wqe->swap_add,
		.compare = wqe->compare,
		.swap_mask = wqe->swap_mask,
		.compare_mask = wqe->compare_mask,
		.payload_len = part,
	};
	qp_address(hca, qp, msg);
}

/* Addresses a datagram as its WQE says. */
static int address_datagram(struct hca *hca, struct qp *qp, struct fabric_msg *msg)
{
	struct datagram_to to;

	hca->format->decode_av(qp->req.wqe.av, station_is_ethernet(hca), &to);
	if (!path_take_port(hca, &qp->path, &to.path))
		return WQE_BAD_AV;
	msg->dest_qpn = to.qpn;
	msg->qkey = to.has_qkey ? to.qkey : qp->qkey;
	path_address(hca, &to.path, &msg->addr);
	return 0;
}

/* Reads the payload into a buffer, except for READs, whose responses bring the payload. Short
 * inline data is sent from the WQE, without a copy. */
static int payload_gather(struct hca *hca, struct qp *qp, struct fabric_msg *msg)
{
	const struct send_wqe *wqe = &qp->req.wqe;
	struct dma_batch batch;
	int why;

	if (is_read(wqe->opcode) || !msg->payload_len)
		return 0;
	if (wqe->num_sge == 1 && wqe->sge[0].data) {
		msg->payload = wqe->sge[0].data;
		return 0;
	}
	msg->payload = hca->bounce;
	dma_begin_read(&batch, hca, hca->bounce);
	why = sges_dma(&batch, qp->pd, 0, wqe->sge, wqe->num_sge, qp->req.offset, msg->payload_len);
	sig_report(hca, qp, true);
	return why;
}

static void psn_advance(struct qp *qp, const struct fabric_msg *msg)
{
	const struct sq_entry *entry = entry_at(qp, qp->sq.next);
	bool again;

	qp->req.next_psn = (qp->req.next_psn + msg->packets) & PSN_MASK;
	again = psn_diff(qp->req.next_psn, qp->req.sent_psn) <= 0;
	if (!again) {
		qp->req.sent_psn = qp->req.next_psn;
		qp->req.sent_ssn = request_after(qp, entry, psn_diff(qp->req.next_psn, entry->psn));
	}
	qp->req.offset += msg->payload_len;
	if (msg->last) {
		if (!again)
			credits_sent(qp, requests_of(qp, entry), takes_receive(entry->opcode));
		qp->req.ssn = (entry->ssn + requests_of(qp, entry)) & PSN_MASK;
		qp->sq.next += qp->req.wqe.bbs;
		qp->req.offset = 0;
	}
}

static void send_reliable(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	bool idle = !is_outstanding(qp);

	psn_advance(qp, msg);
	station_send(hca, msg);
	if (idle && is_outstanding(qp) && !qp->req.rnr_wait)
		start_timer(hca, qp);
}

/* Sends a message of an unreliable service, which completes its WQE at once. */
static void send_unreliable(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	psn_advance(qp, msg);
	qp->req.unacked = qp->req.next_psn;
	station_send(hca, msg);
	if (msg->last)
		sq_complete(hca, qp, NULL, 0);
}

static bool wqe_transmit(struct hca *hca, struct qp *qp, uint64_t *bytes)
{
	struct fabric_msg msg;
	int why;

	msg_build(hca, qp, &msg);
	why = qp->service == FABRIC_UD ? address_datagram(hca, qp, &msg) : 0;
	if (!why)
		why = payload_gather(hca, qp, &msg);
	if (why) {
		local_error(hca, qp, why);
		return false;
	}
	if (qp->umr && !umr_finish(hca, qp))
		return false;
	/* READ: the answer carries the bytes, so the request has none. */
	*bytes = is_read(qp->req.wqe.opcode) ? 0 : msg.payload_len;
	if (qp_is_reliable(qp))
		send_reliable(hca, qp, &msg);
	else
		send_unreliable(hca, qp, &msg);
	return true;
}

static int execute_copy(struct hca *hca, struct qp *qp)
{
	int why;

	if (!qp->may_copy)
		return WQE_BAD_OPCODE;
	why = sges_copy(hca, qp->pd, &qp->req.wqe.from, &qp->req.wqe.to);
	sig_report(hca, qp, true);
	return why;
}

/* Executes a local WQE. Returns 0 or the vendor syndrome. */
static int execute_opcode(struct hca *hca, struct qp *qp)
{
	const uint8_t *raw;
	uint32_t size;

	if (qp->req.wqe.opcode == WQE_NOP)
		return 0;
	if (qp->req.wqe.opcode == WQE_SET_PSV)
		return psv_set(hca, qp, qp->req.wqe.psv, qp->req.wqe.signature);
	if (qp->req.wqe.opcode == WQE_MMO)
		return execute_copy(hca, qp);
	if (sq_fetch(hca, qp, qp->sq.next, &raw))
		return WQE_BAD_FETCH;
	size = hca->format->wqe_size(raw);
	if (qp->req.wqe.on_key && !qp->req.wqe.at_once && hca->config.strict &&
	    !umr_delay(hca, qp, raw, size))
		return 0;
	return qp->req.wqe.on_key ? hca->format->execute_umr(hca, qp, raw, size)
				  : tm_execute(hca, qp, raw, size);
}

static bool execute_local(struct hca *hca, struct qp *qp)
{
	uint16_t bbs = qp->req.wqe.bbs;
	int why = execute_opcode(hca, qp);

	if (why) {
		local_error(hca, qp, why);
		return false;
	}
	qp->sq.next += bbs;
	if (!qp->umr)
		sq_complete(hca, qp, NULL, 0);
	return true;
}

/* Returns whether the WQE at sq.next may begin while a UMR before it is delayed. Executes that UMR
 * first for a fenced or local WQE, and reports any other WQE. */
static bool pass_umr(struct hca *hca, struct qp *qp)
{
	const struct send_wqe *wqe = &qp->req.wqe;

	if (wqe->fence || is_local(wqe))
		return umr_finish(hca, qp);
	umr_overtaken(hca, qp, wqe);
	return true;
}

static bool pass_dci(struct hca *hca, struct qp *qp)
{
	switch (dci_take_turn(hca, qp)) {
	case DCI_GO:
		return true;
	case DCI_FLUSH:
		sq_fail(hca, qp, SYND_FLUSH, VEND_FLUSH);
		return false;
	case DCI_BAD_AV:
		local_error(hca, qp, WQE_BAD_AV);
		return false;
	default:
		return false;
	}
}

/* Returns whether the queue stops for a signature error: it stops at the next strongly fenced
 * request, and raises the event when all requests before that are done. */
static bool stops_for_signature(struct hca *hca, struct qp *qp)
{
	if (!qp->draining || qp->req.offset || qp->req.wqe.fence < WQE_FENCE_STRONG)
		return false;
	if (qp->sq.ci != qp->sq.next)
		return true;
	drain_finish(hca, qp, true);
	return true;
}

/* Sends one message of *BYTES payload bytes. Returns false if the queue has to wait. */
static bool send_one(struct hca *hca, struct qp *qp, uint64_t *bytes)
{
	int why = wqe_load(hca, qp, qp->sq.next);

	*bytes = 0;
	if (!why && stops_for_signature(hca, qp))
		return false;
	if (!why && qp->umr && !pass_umr(hca, qp))
		return false;
	if (!why && qp->dci && !is_local(&qp->req.wqe) && !pass_dci(hca, qp))
		return false;
	if (!why && (window_is_full(qp) || must_wait(qp) || lacks_credits(qp)))
		return false;
	if (!why && is_repeated(qp))
		why = check_repeated(hca, qp);
	if (!why && !qp->req.offset)
		why = wqe_begin(hca, qp);
	if (why) {
		local_error(hca, qp, why);
		return false;
	}
	return is_local(&qp->req.wqe) ? execute_local(hca, qp) : wqe_transmit(hca, qp, bytes);
}

bool req_run(struct hca *hca, struct qp *qp, uint64_t budget)
{
	/* Minimal charge, so that small messages use up the budget */
	enum { MESSAGE_COST = 16384 };
	uint64_t bytes, spent = 0;

	while (qp_requests(qp) && qp->sq.next != drain_limit(qp) && !qp->req.rnr_wait) {
		if (spent >= budget) {
			/* Decode the next WQE before the previous completes, as it may be padding
			 * that software then rewrites. */
			(void)wqe_load(hca, qp, qp->sq.next);
			return true;
		}
		if (sched_waits(hca, &qp->sched))
			return false;
		if (!send_one(hca, qp, &bytes))
			break;
		sched_sent(hca, qp->sched.group, bytes);
		spent += bytes + MESSAGE_COST;
	}
	sched_rests(&qp->sched);
	drain_look(hca, qp);
	return false;
}

/* ---- responses ---- */

/* Completes the WQEs that end before PSN, as the peer has received all packets before PSN. Returns
 * false if one of them lacks its response, which is then lost (an implied NAK). */
static bool psn_acknowledge(struct hca *hca, struct qp *qp, uint32_t psn)
{
	while (qp->sq.ci != qp->sq.next || qp->req.offset) {
		struct sq_entry *entry = entry_at(qp, qp->sq.ci);
		uint32_t end = (entry->psn + entry->packets) & PSN_MASK;

		if (psn_diff(psn, qp->req.unacked) <= 0)
			return true;
		if (entry->returns_data)
			return false;
		if (psn_diff(psn, end) < 0) {
			qp->req.unacked = psn;
			return true;
		}
		qp->req.unacked = end;
		sq_complete(hca, qp, NULL, 0);
		if (!qp_requests(qp))
			return true;
	}
	return true;
}

static bool is_expected(const struct qp *qp, uint32_t psn)
{
	return psn_diff(psn, qp->req.unacked) >= 0 && psn_diff(psn, qp->req.sent_psn) < 0;
}

static void receive_ack(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	bool in_order = psn_acknowledge(hca, qp, (msg->psn + 1) & PSN_MASK);

	if (!qp_requests(qp))
		return;
	progress_made(hca, qp);
	if (!in_order)
		implied_loss(hca, qp);
}

static void count_nak(struct hca *hca, struct qp *qp, enum fabric_nak nak)
{
	if (nak == FABRIC_NAK_RNR)
		q_count(hca, qp, Q_RNR_NAK);
	else if (nak == FABRIC_NAK_PSN)
		q_count(hca, qp, Q_SEQUENCE_NAK);
	else if (nak == FABRIC_NAK_INVALID_REQUEST)
		q_count(hca, qp, Q_REQ_REMOTE_INVALID);
	else if (nak == FABRIC_NAK_REMOTE_ACCESS)
		q_count(hca, qp, Q_REQ_REMOTE_ACCESS);
}

static void receive_nak(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	static const struct {
		uint8_t syndrome, vendor;
	} fatal[] = {
		[FABRIC_NAK_INVALID_REQUEST] = { SYND_REMOTE_INVAL_REQ, VEND_REMOTE_INVAL_REQ },
		[FABRIC_NAK_REMOTE_ACCESS] = { SYND_REMOTE_ACCESS, VEND_REMOTE_ACCESS },
		[FABRIC_NAK_REMOTE_OP] = { SYND_REMOTE_OP, VEND_REMOTE_OP },
	};
	uint32_t before = qp->req.unacked;

	count_nak(hca, qp, msg->nak);
	/* A NAK acknowledges all packets before the refused one. */
	psn_acknowledge(hca, qp, msg->psn);
	if (!qp_requests(qp))
		return;
	if (qp->req.unacked != before)
		progress_made(hca, qp);
	if (msg->nak == FABRIC_NAK_RNR)
		receiver_not_ready(hca, qp, msg->rnr_timer);
	else if (msg->nak == FABRIC_NAK_PSN || msg->nak == FABRIC_NAK_NO_TARGET)
		req_retry(hca, qp);
	else
		sq_fail(hca, qp, fatal[msg->nak].syndrome, fatal[msg->nak].vendor);
}

/* Returns whether the CQE carries the whole response. Atomic results go to memory unless configured
 * otherwise, as libraries disagree on their byte order in a CQE. */
static bool fits_cqe(const struct hca *hca, const struct qp *qp, const struct sq_entry *entry)
{
	uint32_t limit = qp->req_in_cqe;

	if (atomic_is(entry->opcode) && !hca->config.atomics_in_cqe)
		return false;
	if (limit > cq_inline_max(qp->send_cq))
		limit = cq_inline_max(qp->send_cq);
	return entry->signaled && entry->length && entry->length <= limit;
}

static int response_scatter(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
			    uint64_t offset)
{
	struct dma_batch batch;
	int why = wqe_load(hca, qp, qp->sq.ci);

	if (why)
		return why;
	dma_begin_write(&batch, hca, msg->payload);
	why = sges_dma(&batch, sq_pd(qp), MKEY_LOCAL_WRITE, qp->req.wqe.sge, qp->req.wqe.num_sge,
		       offset, msg->payload_len);
	sig_report(hca, qp, true);
	return why;
}

static void receive_data(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct sq_entry *entry = entry_at(qp, qp->sq.ci);
	uint64_t offset = (uint64_t)psn_diff(msg->psn, entry->psn) * qp->mtu;
	bool in_cqe = fits_cqe(hca, qp, entry);
	int why;

	if (offset + msg->payload_len > entry->length || !packets_fit(msg, qp->mtu)) {
		sq_fail(hca, qp, SYND_BAD_RESPONSE, SYND_BAD_RESPONSE);
		return;
	}
	why = in_cqe ? 0 : response_scatter(hca, qp, msg, offset);
	if (why) {
		sq_fail(hca, qp, wqe_syndrome(why), why);
		return;
	}
	qp->req.unacked = (msg->psn + msg->packets) & PSN_MASK;
	if (offset + msg->payload_len == entry->length)
		sq_complete(hca, qp, msg->payload, in_cqe ? msg->payload_len : 0);
	if (qp_requests(qp))
		progress_made(hca, qp);
}

/* Writes an atomic's result to memory: 4 bytes in big-endian order, 8 bytes in the host's order.
 * This is endianness mode 1, see caps.c. */
static void receive_result(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	const struct sq_entry *entry = entry_at(qp, qp->sq.ci);
	struct fabric_msg result = *msg;
	uint64_t value;
	uint32_t four;

	if (atomic_is_masked(entry->opcode) && entry->length == sizeof(four)) {
		memcpy(&value, msg->payload, sizeof(value));
		four = htobe32((uint32_t)value);
		result.payload = (const uint8_t *)&four;
		result.payload_len = sizeof(four);
	}
	receive_data(hca, qp, &result);
}

static void receive_response(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	if (!psn_acknowledge(hca, qp, msg->psn) || qp->req.unacked != msg->psn) {
		if (qp_requests(qp))
			implied_loss(hca, qp);
		return;
	}
	if (!qp_requests(qp))
		return;
	if (!entry_at(qp, qp->sq.ci)->returns_data) {
		sq_fail(hca, qp, SYND_BAD_RESPONSE, SYND_BAD_RESPONSE);
		return;
	}
	go_forward(qp, (msg->psn + msg->packets) & PSN_MASK, true);
	if (msg->op == FABRIC_ATOMIC_RESPONSE)
		receive_result(hca, qp, msg);
	else
		receive_data(hca, qp, msg);
}

/* Returns the last PSN that a response acknowledges, which the requester has sent. */
static uint32_t last_psn(const struct qp *qp, const struct fabric_msg *msg)
{
	uint32_t psn = msg->op == FABRIC_ACK ? msg->psn : msg->psn + msg->packets - 1;
	uint32_t sent = qp->req.sent_psn - 1;

	return (psn_diff(psn, sent) < 0 ? psn : sent) & PSN_MASK;
}

void req_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct fabric_msg rest = *msg;

	if (msg->op == FABRIC_READ_RESPONSE)
		packets_skip(&rest, qp->req.unacked, qp->mtu);
	if (!qp_requests(qp) || !is_expected(qp, rest.psn))
		return;
	/* only then, as packets in the middle have no AETH */
	if (msg->op != FABRIC_NAK && msg->last)
		credits_take(qp, msg, request_done(qp, last_psn(qp, msg)));
	go_forward(qp, (rest.psn + (msg->op == FABRIC_ACK)) & PSN_MASK, false);
	if (msg->op == FABRIC_ACK)
		receive_ack(hca, qp, msg);
	else if (msg->op == FABRIC_NAK)
		receive_nak(hca, qp, msg);
	else
		receive_response(hca, qp, &rest);
}
