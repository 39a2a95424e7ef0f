/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resp.c - the responder: executes requests in PSN order and answers them.
 *
 * A refused request gets a NAK and changes nothing; an executed one advances expected_psn. A
 * duplicate is acknowledged again: READs are read again, and atomics answered from a cache of
 * results. IBTA vol 1, 9.7.4 (responder), 9.7.5 (acknowledges), 9.9.3 (errors).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/transport/answer.h"
#include "softhca/device/transport/atomic.h"
#include "softhca/device/transport/out_of_order.h"
#include "softhca/device/transport/qp.h"
#include "softhca/device/transport/resp.h"
#include "softhca/device/transport/tm.h"
#include "softhca/device/transport/tm_strides.h"
#include "softhca/device/queue/sig_report.h"
#include "softhca/device/queue/wqe.h"
#include "util/bits.h"

void resp_free(struct qp *qp)
{
	out_of_order_forget(qp);
	answers_forget(qp);
	free(qp->resp.results);
}

void resp_reset(struct qp *qp)
{
	resp_free(qp);
	memset(&qp->resp, 0, sizeof(qp->resp));
}

void resp_ask_again(struct hca *hca, struct qp *qp)
{
	if (qp->resp.nak_sent)
		return;
	qp->resp.nak_sent = true;
	answer_nak(hca, qp, FABRIC_NAK_PSN, qp->resp.expected_psn);
}

/* Refuses a request with a fatal NAK, moves this QP to the error state and raises an event. An
 * unreliable service drops the request instead. IBTA vol 1, 9.8.2.2 */
void resp_refuse(struct hca *hca, struct qp *qp, enum fabric_nak nak, uint32_t psn)
{
	static const int event[] = {
		[FABRIC_NAK_INVALID_REQUEST] = PRM_EVENT_WQ_INVAL_REQ_ERROR,
		[FABRIC_NAK_REMOTE_ACCESS] = PRM_EVENT_WQ_ACCESS_ERROR,
		[FABRIC_NAK_REMOTE_OP] = PRM_EVENT_WQ_CATAS_ERROR,
	};

	if (nak == FABRIC_NAK_REMOTE_ACCESS)
		q_count(hca, qp, Q_RESP_REMOTE_ACCESS);
	if (!qp_is_reliable(qp)) {
		qp->resp.dropping = true;
		return;
	}
	qp_fail(hca, qp, event[nak]);
	answer_nak(hca, qp, nak, psn);
}

static void request_refuse(struct hca *hca, struct qp *qp, enum fabric_nak nak)
{
	resp_refuse(hca, qp, nak, qp->resp.expected_psn);
}

/* A tag's buffer has no WQE, so the next WQE of the queue reports the error, if there is one. */
void resp_fail_receive(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor,
		       enum fabric_nak nak)
{
	if (qp->resp.matched) {
		tm_cancel(hca, qp);
		if (rq_fetch(hca, qp)) {
			request_refuse(hca, qp, nak);
			return;
		}
	}
	rq_fail(hca, qp, syndrome, vendor);
	answer_nak(hca, qp, nak, qp->resp.expected_psn);
}

/* Returns the domain that remote keys must belong to: the QP's, or the SRQ's for XRC. IBTA vol 1,
 * annex A14 */
static struct pd *request_pd(const struct qp *qp)
{
	return qp->service == FABRIC_XRC ? rq_pd(qp) : qp->pd;
}

/* Finds a remote key that allows the access. A memory window (type 2) may be bound to one QP. */
static struct mkey *remote_key(struct hca *hca, const struct qp *qp, uint32_t key,
			       unsigned int access, uint64_t addr, uint64_t len)
{
	struct mkey *mkey = mkey_check(hca, key, request_pd(qp), access, addr, len);

	return mkey && (mkey->qpn == MKEY_ANY_QP || mkey->qpn == qp->n) ? mkey : NULL;
}

struct mkey *resp_key_to_invalidate(struct hca *hca, const struct qp *qp,
				    const struct fabric_msg *msg)
{
	return mkey_to_invalidate(hca, be32toh(msg->imm), request_pd(qp), qp->n);
}

/* Advances expected_psn behind an executed request, and acknowledges it if the request asks so. */
void resp_accept(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	qp->resp.expected_psn = (msg->psn + msg->packets) & PSN_MASK;
	qp->resp.msn += msg->last;
	qp->resp.under_way = !msg->last;
	qp->resp.op = msg->op;
	if (msg->ack_req && qp->state != PRM_QP_STATE_ERR)
		answer_ack(hca, qp, (qp->resp.expected_psn - 1) & PSN_MASK);
}

/* Takes a receive WQE for this message, unless it has one. Returns false if none can be used: a
 * reliable service has then sent a NAK. */
static bool take_receive(struct hca *hca, struct qp *qp)
{
	int ret;

	if (qp->resp.receiving)
		return true;
	ret = rq_fetch(hca, qp);
	if (!ret) {
		qp->resp.receiving = true;
		return true;
	}
	if (ret == ENOENT)
		q_count(hca, qp, Q_OUT_OF_BUFFER);
	if (ret == EBADMSG) {
		resp_fail_receive(hca, qp, SYND_LOCAL_QP_OP, WQE_BAD_SIGNATURE,
				  FABRIC_NAK_REMOTE_OP);
	} else if (ret == ENOENT && qp_is_reliable(qp)) {
		qp->resp.nak_sent = true; /* set, as one NAK also covers the packets that follow */
		answer_nak(hca, qp, FABRIC_NAK_RNR, qp->resp.expected_psn);
	} else {
		request_refuse(hca, qp, FABRIC_NAK_REMOTE_OP);
	}
	return false;
}

/* ---- SEND ---- */

/* Returns whether the payload fits the CQE. A CQE of tag matching has a header in that place, so it
 * carries none. */
bool resp_fits_cqe(const struct qp *qp, const struct fabric_msg *msg)
{
	uint32_t limit = rq_note(qp) ? 0 : qp->resp_in_cqe;

	if (limit > cq_inline_max(rq_cq(qp)))
		limit = cq_inline_max(rq_cq(qp));
	return msg->first && msg->last && msg->payload_len && msg->payload_len <= limit;
}

uint8_t resp_send_opcode(const struct fabric_msg *msg)
{
	if (msg->invalidate)
		return CQE_OP_RESP_SEND_INVAL;
	return msg->has_imm ? CQE_OP_RESP_SEND_IMM : CQE_OP_RESP_SEND;
}

struct completion resp_completion(const struct fabric_msg *msg, uint8_t opcode, uint64_t length)
{
	return (struct completion){
		.opcode = opcode,
		.solicited = msg->solicited,
		.byte_count = length,
		.imm = msg->has_imm || msg->invalidate ? msg->imm : 0,
	};
}

int resp_scatter(struct hca *hca, struct qp *qp, const struct fabric_msg *msg, unsigned int access)
{
	const struct recv_wqe *recv = &qp->resp.recv;
	struct dma_batch batch;
	int why;

	dma_begin_write(&batch, hca, msg->payload);
	why = sges_dma(&batch, rq_pd(qp), access, recv->sge, recv->num_sge, qp->resp.received,
		       msg->payload_len);
	sig_report(hca, qp, false);
	return why;
}

/* Writes the payload of a short message and its CQE in one bus call. Returns false, with nothing
 * done, on any failure; the caller's slower path then finds the reason. */
static bool deliver_at_once(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	enum { SHORT = 1024 };
	const struct recv_wqe *recv = &qp->resp.recv;
	struct completion done = resp_completion(msg, resp_send_opcode(msg), msg->payload_len);
	uint8_t buf[SHORT + CQE_ROOM];
	struct dma_batch batch;

	if (!msg->first || !msg->last || !msg->payload_len || msg->payload_len > SHORT)
		return false;
	memcpy(buf, msg->payload, msg->payload_len);
	dma_begin_write(&batch, hca, buf);
	if (sges_add(&batch, rq_pd(qp), MKEY_LOCAL_WRITE, recv->sge, recv->num_sge, 0,
		     msg->payload_len))
		return false;
	sig_report(hca, qp, false);
	done.before = &batch;
	return !rq_complete(hca, qp, &done);
}

static bool matches_tags(const struct qp *qp)
{
	return qp->srq && qp->srq->tm;
}

/* Returns whether the message hits an absent page that software must bring. Faults of a QP's own
 * queue are resolved here without software, so only SRQs count. Tag matching has none: Linux'
 * driver does not resolve faults of its queues. */
static bool send_faults(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	return msg->first && qp->resp.held.srq && qp_is_reliable(qp) && !matches_tags(qp) &&
	       !resp_fits_cqe(qp, msg) && !srq_has_pages(hca, &qp->resp.recv, msg->payload_len);
}

/* Delivers a part of a SEND. Returns 0 or the vendor syndrome. */
static int send_deliver(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct completion done;
	bool in_cqe = resp_fits_cqe(qp, msg);
	int why;

	if (!in_cqe && deliver_at_once(hca, qp, msg))
		return 0;
	why = in_cqe ? 0 : resp_scatter(hca, qp, msg, MKEY_LOCAL_WRITE);
	if (why || !msg->last)
		return why;
	done = resp_completion(msg, resp_send_opcode(msg), qp->resp.received + msg->payload_len);
	done.inline_data = msg->payload;
	done.inline_len = in_cqe ? msg->payload_len : 0;
	rq_complete(hca, qp, &done);
	return 0;
}

/* Chooses the buffer of a new message. Returns false if nothing is left to do. */
static bool begin_send(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	enum tm_verdict verdict = TM_TAKE_RECEIVE;

	qp->resp.received = 0;
	if (!matches_tags(qp))
		return true;
	verdict = tm_arrive(hca, qp, msg);
	if (verdict == TM_CONSUMED)
		resp_accept(hca, qp, msg);
	if (verdict == TM_BUSY) {
		qp->resp.nak_sent = true;
		answer_nak(hca, qp, FABRIC_NAK_RNR, qp->resp.expected_psn);
	}
	return verdict == TM_TAKE_RECEIVE || verdict == TM_MATCHED;
}

static void receive_send(struct hca *hca, struct qp *qp, const struct fabric_msg *whole)
{
	bool invalidate = whole->invalidate && whole->last;
	struct fabric_msg msg = *whole;
	struct mkey *key = NULL;
	int why;

	if (msg.first && !begin_send(hca, qp, &msg))
		return;
	if (tm_takes_strides(qp)) {
		tm_receive_strides(hca, qp, &msg);
		return;
	}
	srq_resolve_fault(hca, qp);
	if (!take_receive(hca, qp))
		return;
	if (send_faults(hca, qp, &msg)) {
		srq_report_fault(hca, qp);
		qp->resp.nak_sent = true;
		answer_nak(hca, qp, FABRIC_NAK_RNR,
			   qp->resp.expected_psn); /* the peer repeats the message later */
		return;
	}
	if (msg.first && matches_tags(qp)) {
		tm_count_unexpected(qp);
		msg.payload += qp->resp.header;
		msg.payload_len -= qp->resp.header;
	}
	if (qp->resp.received + msg.payload_len > qp->resp.recv.length) {
		q_count(hca, qp, Q_RESP_LENGTH);
		resp_fail_receive(hca, qp, SYND_LOCAL_LENGTH, WQE_BAD_LENGTH,
				  FABRIC_NAK_INVALID_REQUEST);
		return;
	}
	if (invalidate)
		key = resp_key_to_invalidate(hca, qp, &msg);
	if (invalidate && !key) {
		resp_fail_receive(hca, qp, SYND_LOCAL_ACCESS, WQE_BAD_LKEY,
				  FABRIC_NAK_REMOTE_ACCESS);
		return;
	}
	why = send_deliver(hca, qp, &msg);
	if (why) {
		resp_fail_receive(hca, qp, SYND_LOCAL_PROT, why, FABRIC_NAK_REMOTE_OP);
		return;
	}
	if (key)
		mkey_invalidate(key);
	qp->resp.received += msg.payload_len;
	resp_accept(hca, qp, whole);
}

/* Notes address and length, which only the first packet of a request has (in its RETH). Returns 0
 * or the NAK code. */
static int begin_write(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
		       unsigned int access)
{
	struct responder *resp = &qp->resp;

	resp->received = 0;
	resp->write_addr = msg->raddr;
	resp->write_key = msg->rkey;
	resp->write_left = msg->length;
	if (msg->length && !remote_key(hca, qp, msg->rkey, access, msg->raddr, msg->length))
		return FABRIC_NAK_REMOTE_ACCESS;
	return 0;
}

/* Writes a part of the payload to memory. Returns 0 or the NAK code. */
static int write_payload(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct responder *resp = &qp->resp;
	struct dma_batch batch;
	struct mkey *mkey;
	bool failed;

	if (msg->payload_len > resp->write_left ||
	    (msg->last && msg->payload_len != resp->write_left))
		return FABRIC_NAK_INVALID_REQUEST;
	if (!msg->payload_len)
		return 0;
	mkey = remote_key(hca, qp, resp->write_key, MKEY_REMOTE_WRITE, resp->write_addr,
			  msg->payload_len);
	if (!mkey)
		return FABRIC_NAK_REMOTE_ACCESS;
	dma_begin_write(&batch, hca, msg->payload);
	failed = mkey_dma(&batch, mkey, resp->write_addr, msg->payload_len) || dma_finish(&batch);
	sig_report(hca, qp, false);
	if (failed)
		return FABRIC_NAK_REMOTE_OP;
	resp->write_addr += msg->payload_len;
	resp->write_left -= msg->payload_len;
	return 0;
}

int resp_write(struct hca *hca, struct qp *qp, const struct fabric_msg *msg, unsigned int access)
{
	int nak = begin_write(hca, qp, msg, access);

	return nak ? nak : write_payload(hca, qp, msg);
}

static void receive_write(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	int nak = qp->remote_write ? 0 : FABRIC_NAK_INVALID_REQUEST;

	if (!nak && msg->first)
		nak = begin_write(hca, qp, msg, MKEY_REMOTE_WRITE);
	if (!nak && msg->has_imm && msg->last && !take_receive(hca, qp))
		return;
	if (!nak)
		nak = write_payload(hca, qp, msg);
	if (nak) {
		request_refuse(hca, qp, nak);
		return;
	}
	qp->resp.received += msg->payload_len;
	if (msg->has_imm && msg->last) {
		struct completion done =
			resp_completion(msg, CQE_OP_RESP_WRITE_IMM, qp->resp.received);

		rq_complete(hca, qp, &done);
	}
	resp_accept(hca, qp, msg);
}

/* Returns whether one more READ or atomic is allowed. The responder keeps each until it is
 * answered, up to max_reads_in. msg->reads is set by strict requesters: how many may be
 * outstanding. IBTA vol 1, 9.4.4 and 9.7.5.1.1 */
static bool has_room(struct hca *hca, const struct qp *qp, const struct fabric_msg *msg)
{
	if (!hca->config.strict || msg->reads <= qp->max_reads_in)
		return answers_have_room(qp);
	strict_report(hca->config.strict, hca->config.trace, "read.resources",
		      "QP 0x%06x: QP 0x%06x may have %u READs and atomics under way, and "
		      "log_rra_max allows %u",
		      qp->n, msg->src_qpn, msg->reads, qp->max_reads_in);
	return false;
}

/* Checks a READ: its range must be within the key, and the memory of its first piece must exist.
 * Later pieces are checked when they are read. Returns 0 or the NAK code. */
static int read_check(struct hca *hca, const struct qp *qp, const struct fabric_msg *msg)
{
	uint64_t first = min_of(msg->length, (uint64_t)FABRIC_PAYLOAD_MAX);
	struct mkey *mkey;

	if (msg->length > hca->config.limits.max_msg_size)
		return FABRIC_NAK_INVALID_REQUEST;
	if (!msg->length)
		return 0;
	mkey = remote_key(hca, qp, msg->rkey, MKEY_REMOTE_READ, msg->raddr, first);
	return mkey && mkey_holds(mkey, msg->raddr, msg->length) ? 0 : FABRIC_NAK_REMOTE_ACCESS;
}

int resp_read(struct hca *hca, struct qp *qp, const struct fabric_msg *piece)
{
	struct dma_batch batch;
	struct mkey *mkey;
	bool failed;

	if (!piece->payload_len)
		return 0;
	mkey = remote_key(hca, qp, piece->rkey, MKEY_REMOTE_READ, piece->raddr, piece->payload_len);
	if (!mkey)
		return FABRIC_NAK_REMOTE_ACCESS;
	dma_begin_read(&batch, hca, hca->bounce);
	failed = mkey_dma(&batch, mkey, piece->raddr, piece->payload_len) || dma_finish(&batch);
	sig_report(hca, qp, false);
	return failed ? FABRIC_NAK_REMOTE_OP : 0;
}

/* Executes a READ or a duplicate. A duplicate moves expected_psn only if it asks for more than the
 * first request. A READ of 2^31 bytes may take half of all PSNs, so its end can look as if it were
 * in the past; hence the test for equality. */
static void receive_read(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	uint32_t behind = (msg->psn + packets_of(msg->length, qp->mtu)) & PSN_MASK;
	int nak = qp->remote_read ? 0 : FABRIC_NAK_INVALID_REQUEST;

	answers_repeat_from(qp, msg->psn);
	if (!nak && !has_room(hca, qp, msg))
		nak = FABRIC_NAK_INVALID_REQUEST;
	if (!nak)
		nak = read_check(hca, qp, msg);
	if (nak) {
		resp_refuse(hca, qp, nak, msg->psn);
		return;
	}
	if (msg->psn == qp->resp.expected_psn || psn_diff(behind, qp->resp.expected_psn) > 0) {
		qp->resp.expected_psn = behind;
		qp->resp.msn++;
	}
	nak = answer_read(hca, qp, msg);
	if (nak)
		resp_refuse(hca, qp, nak, msg->psn);
}

/* Makes room for as many atomic results as may be outstanding. Software may change that number.
 * Returns false if there is no memory at all. */
static bool results_make(struct responder *resp, uint32_t count)
{
	struct atomic_result *results;

	if (count <= resp->num_results)
		return true;
	results = reallocarray(resp->results, count, sizeof(*results));
	if (!results)
		return resp->num_results;
	memset(results + resp->num_results, 0, (count - resp->num_results) * sizeof(*results));
	resp->results = results;
	resp->num_results = count;
	return true;
}

static void remember_atomic(struct qp *qp, uint32_t psn, uint64_t value)
{
	struct responder *resp = &qp->resp;

	if (!results_make(resp, qp->max_reads_in))
		return;
	resp->results[resp->next_result] = (struct atomic_result){ true, psn, value };
	resp->next_result = (resp->next_result + 1) % resp->num_results;
}

/* Copies the atomic's operand from memory to VALUE, or back if WRITE. In memory it has 4 or 8
 * bytes, as the request says. */
static bool move_value(struct hca *hca, struct mkey *mkey, const struct fabric_msg *msg, bool write,
		       uint64_t *value)
{
	uint32_t four = (uint32_t)*value;
	uint32_t len = atomic_length(msg);
	bool is_short = len == sizeof(four);
	void *at = is_short ? (void *)&four : value;
	struct dma_batch batch;

	if (write)
		dma_begin_write(&batch, hca, at);
	else
		dma_begin_read(&batch, hca, at);
	if (mkey_dma(&batch, mkey, msg->raddr, len) || dma_finish(&batch))
		return false;
	if (is_short)
		*value = four;
	return true;
}

static int do_atomic(struct hca *hca, struct qp *qp, const struct fabric_msg *msg, uint64_t *old)
{
	struct mkey *mkey;
	uint64_t new;

	mkey = remote_key(hca, qp, msg->rkey, MKEY_REMOTE_ATOMIC, msg->raddr, atomic_length(msg));
	if (!mkey)
		return FABRIC_NAK_REMOTE_ACCESS;
	if (!move_value(hca, mkey, msg, false, old))
		return FABRIC_NAK_REMOTE_OP;
	new = atomic_result(msg, *old);
	return move_value(hca, mkey, msg, true, &new) ? 0 : FABRIC_NAK_REMOTE_OP;
}

/* Executes an atomic. Values in memory are in the host's byte order. */
static void receive_atomic(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	uint64_t old = 0;
	int nak;

	if (!atomic_is_allowed(qp, msg) || !has_room(hca, qp, msg)) {
		request_refuse(hca, qp, FABRIC_NAK_INVALID_REQUEST);
		return;
	}
	nak = do_atomic(hca, qp, msg, &old);
	sig_report(hca, qp, false);
	if (nak) {
		request_refuse(hca, qp, nak);
		return;
	}
	qp->resp.expected_psn = (msg->psn + 1) & PSN_MASK;
	qp->resp.msn++;
	remember_atomic(qp, msg->psn, old);
	answer_atomic(hca, qp, msg->psn, old);
}

static void repeat_atomic(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	answers_repeat_from(qp, msg->psn);
	for (unsigned int i = 0; i < qp->resp.num_results; i++)
		if (qp->resp.results[i].used && qp->resp.results[i].psn == msg->psn)
			answer_atomic(hca, qp, msg->psn, qp->resp.results[i].value);
}

/* ---- dispatch ---- */

typedef void (*request_fn)(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);

static void repeat_ack(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	if (msg->ack_req)
		answer_ack(hca, qp, (qp->resp.expected_psn - 1) & PSN_MASK);
}

static const struct {
	request_fn execute, repeat;
} requests[] = {
	[FABRIC_SEND] = { receive_send, repeat_ack },
	[FABRIC_WRITE] = { receive_write, repeat_ack },
	[FABRIC_READ] = { receive_read, receive_read },
	[FABRIC_ATOMIC_CS] = { receive_atomic, repeat_atomic },
	[FABRIC_ATOMIC_FA] = { receive_atomic, repeat_atomic },
	[FABRIC_MASKED_CS] = { receive_atomic, repeat_atomic },
	[FABRIC_MASKED_FA] = { receive_atomic, repeat_atomic },
};

static void report_established(struct hca *hca, struct qp *qp)
{
	if (qp->state != PRM_QP_STATE_RTR || qp->resp.established)
		return;
	qp->resp.established = true;
	eq_qp_event(hca, PRM_EVENT_COMM_EST, qp->n);
}

/* Returns whether the message fits the sequence: a first packet after a complete request, any other
 * within one. All packets but the last have the size of the path MTU. IBTA vol 1, 9.7.4.1.4 and
 * 9.7.4.1.6 */
static bool is_in_sequence(const struct qp *qp, const struct fabric_msg *msg)
{
	const struct responder *resp = &qp->resp;

	if (msg->op > FABRIC_WRITE)
		return !resp->under_way;
	return msg->first != resp->under_way && (msg->first || msg->op == resp->op) &&
	       packets_fit(msg, qp->mtu);
}

static void count_request(struct hca *hca, const struct qp *qp, const struct fabric_msg *msg)
{
	if (msg->op == FABRIC_WRITE && msg->first)
		q_count(hca, qp, Q_RX_WRITE);
	else if (msg->op == FABRIC_READ)
		q_count(hca, qp, Q_RX_READ);
	else if (msg->op >= FABRIC_ATOMIC_CS && msg->op <= FABRIC_MASKED_FA)
		q_count(hca, qp, Q_RX_ATOMIC);
}

static void request_execute(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	qp->resp.nak_sent = false;
	count_request(hca, qp, msg);
	if (is_in_sequence(qp, msg))
		requests[msg->op].execute(hca, qp, msg);
	else
		request_refuse(hca, qp, FABRIC_NAK_INVALID_REQUEST);
}

static void request_repeat(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct fabric_msg rest = *msg;

	q_count(hca, qp, Q_DUPLICATE);
	if (msg->op <= FABRIC_WRITE)
		packets_skip(&rest, qp->resp.expected_psn, qp->mtu);
	if (rest.psn == qp->resp.expected_psn)
		request_execute(hca, qp, &rest);
	else
		requests[msg->op].repeat(hca, qp, msg);
}

/* Checks the sequence of an unreliable request. It may begin with any PSN, as earlier ones may be
 * lost; its other packets must follow without a gap, or it is dropped. IBTA vol 1, 9.8.2.1 */
static bool uc_is_in_sequence(struct qp *qp, const struct fabric_msg *msg)
{
	struct responder *resp = &qp->resp;

	if (msg->first) {
		resp->dropping = false;
		resp->expected_psn = msg->psn;
	}
	if (msg->psn != resp->expected_psn)
		resp->dropping = true;
	return !resp->dropping;
}

static void receive_unreliable(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	if (msg->op != FABRIC_SEND && msg->op != FABRIC_WRITE)
		return;
	if (uc_is_in_sequence(qp, msg) && packets_fit(msg, qp->mtu))
		requests[msg->op].execute(hca, qp, msg);
}

/* Finds the SRQ that an XRC request names. Returns false if it does not exist; true for other
 * services. */
bool resp_find_srq(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	if (qp->service != FABRIC_XRC)
		return true;
	qp->resp.held.srq = srq_find_xrc(hca, msg->srqn, qp->xrcd);
	return qp->resp.held.srq;
}

void resp_perform(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	if (resp_find_srq(hca, qp, msg))
		request_execute(hca, qp, msg);
	else
		request_refuse(hca, qp, FABRIC_NAK_INVALID_REQUEST);
}

/* Handles a request ahead of expected_psn: packets before it are lost or late. A QP that allows
 * out-of-order requests keeps it and waits; others send a NAK. */
static void receive_ahead(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	q_count(hca, qp, Q_OUT_OF_SEQUENCE);
	if (!qp->out_of_order || !out_of_order_take(hca, qp, msg))
		resp_ask_again(hca, qp);
}

static void receive_reliable(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	int32_t ahead = psn_diff(msg->psn, qp->resp.expected_psn);

	if (ahead > 0) {
		receive_ahead(hca, qp, msg);
		return;
	}
	if (ahead < 0 && resp_find_srq(hca, qp, msg))
		request_repeat(hca, qp, msg);
	else
		resp_perform(hca, qp, msg);
	out_of_order_go_on(hca, qp);
}

void resp_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	hca->owner_gone = false;
	if (!qp_receives(qp))
		return;
	report_established(hca, qp);
	if (qp_is_reliable(qp))
		receive_reliable(hca, qp, msg);
	else
		receive_unreliable(hca, qp, msg);
}
