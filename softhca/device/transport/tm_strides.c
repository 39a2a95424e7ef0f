/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm_strides.c - see tm_strides.h.
 *
 * PRM: WQ, CQE
 */
#include "softhca/device/transport/tm_strides.h"

#include <errno.h>

#include "prm/mlx5/cqe.h"
#include "softhca/device/core.h"
#include "softhca/device/queue/wqe.h"
#include "softhca/device/transport/answer.h"
#include "softhca/device/transport/resp.h"
#include "softhca/device/transport/tm.h"
#include "util/bits.h"

bool tm_takes_strides(const struct qp *qp)
{
	return qp->srq && qp->srq->tm && qp->srq->strides && !qp->resp.matched;
}

static void stride_refuse(struct hca *hca, struct qp *qp, int err)
{
	if (err == ENOENT) {
		q_count(hca, qp, Q_OUT_OF_BUFFER);
		qp->resp.nak_sent = true;
		answer_nak(hca, qp, FABRIC_NAK_RNR, qp->resp.expected_psn);
	} else {
		resp_refuse(hca, qp, FABRIC_NAK_REMOTE_OP, qp->resp.expected_psn);
	}
}

/* Completes the WQE in error, so that it returns to software with the strides that are left. */
static void stride_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor,
			enum fabric_nak nak)
{
	qp->srq->next_stride = 0;
	resp_fail_receive(hca, qp, syndrome, vendor, nak);
}

/* Completes a stride. Each CQE of a message has the message's fields of tag matching. */
static void stride_complete(struct hca *hca, struct qp *qp, const struct fabric_msg *packet,
			    uint16_t stride)
{
	struct completion done =
		resp_completion(packet, resp_send_opcode(packet), packet->payload_len);
	const struct tm_note note = qp->resp.tm;

	done.in_stride = true;
	done.stride = stride;
	done.is_last = packet->last;
	rq_complete(hca, qp, &done);
	if (!packet->last)
		qp->resp.tm = note;
}

/* Places the payload of a packet in the stride that was taken, and invalidates the key that the
 * packet names. Returns false if the stride has failed. */
static bool packet_place(struct hca *hca, struct qp *qp, const struct fabric_msg *packet)
{
	struct mkey *key = NULL;
	int why;

	if (packet->payload_len > qp->resp.recv.length) {
		q_count(hca, qp, Q_RESP_LENGTH);
		stride_fail(hca, qp, SYND_LOCAL_LENGTH, WQE_BAD_LENGTH, FABRIC_NAK_INVALID_REQUEST);
		return false;
	}
	if (packet->invalidate)
		key = resp_key_to_invalidate(hca, qp, packet);
	if (packet->invalidate && !key) {
		stride_fail(hca, qp, SYND_LOCAL_ACCESS, WQE_BAD_LKEY, FABRIC_NAK_REMOTE_ACCESS);
		return false;
	}
	qp->resp.received = 0;
	why = resp_scatter(hca, qp, packet, MKEY_LOCAL_WRITE);
	if (why) {
		stride_fail(hca, qp, SYND_LOCAL_PROT, why, FABRIC_NAK_REMOTE_OP);
		return false;
	}
	if (key)
		mkey_invalidate(key);
	return true;
}

/* Receives one packet. Returns false if it was refused, or if the QP receives no more. */
static bool packet_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *whole)
{
	struct fabric_msg packet = *whole;
	uint16_t stride;
	int err;

	qp->resp.held.srq = qp->srq;
	err = srq_take_stride(hca, qp->srq, &qp->resp.recv, &qp->resp.held.index, &stride);
	if (err) {
		stride_refuse(hca, qp, err);
		return false;
	}
	if (packet.first) {
		tm_count_unexpected(qp);
		packet.payload += qp->resp.header;
		packet.payload_len -= qp->resp.header;
	}
	if (!packet_place(hca, qp, &packet))
		return false;
	stride_complete(hca, qp, &packet, stride);
	resp_accept(hca, qp, whole);
	return qp_receives(qp);
}

void tm_receive_strides(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	for (uint32_t i = 0; i < msg->packets; i++) {
		const uint32_t from = min_of(i * qp->mtu, msg->payload_len);
		const bool is_last = i + 1 == msg->packets;
		struct fabric_msg packet = *msg;

		packet.psn = (msg->psn + i) & PSN_MASK;
		packet.packets = 1;
		packet.payload = msg->payload + from;
		packet.payload_len = min_of(qp->mtu, msg->payload_len - from);
		packet.first = msg->first && !i;
		packet.last = msg->last && is_last;
		packet.ack_req = msg->ack_req && is_last;
		packet.has_imm = msg->has_imm && packet.last;
		packet.invalidate = msg->invalidate && packet.last;
		packet.solicited = msg->solicited && packet.last;
		if (!packet_receive(hca, qp, &packet))
			return;
	}
}
