/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm.c - tag matching: the list of tagged buffers, and matching of messages. See tm.h.
 *
 * A message takes the first enabled tag, in the order of posting, and its header is not delivered.
 * Without a matching tag, all of the message goes to a WQE of the queue. IBTA does not define tag
 * matching. Headers: prm/mlx5/tm.h; WQEs: prm/mlx5/wqe.h.
 */
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/transport/tm.h"
#include "softhca/device/queue/wqe.h"

struct tm *tm_create(unsigned int log_size, uint16_t next)
{
	struct tm *tm = calloc(1, sizeof(*tm) + (sizeof(tm->tag[0]) << log_size));

	if (!tm)
		return NULL;
	TAILQ_INIT(&tm->list);
	tm->size = 1u << log_size;
	tm->next = next;
	return tm;
}

static void take_off(struct tm *tm, struct tm_tag *tag)
{
	TAILQ_REMOVE(&tm->list, tag, in_list);
	tag->used = false;
}

static void put_note(struct tm_note *note, enum tm_cqe op, uint16_t index)
{
	*note = (struct tm_note){ .op = op, .tag = index };
}

/* Adds a tag to the list. Each entry names the index of the entry to be added next, as in an SRQ
 * (PRM: append_next_index). A tag for messages without data has no buffer. */
static int tag_append(struct tm *tm, const uint8_t *seg, size_t len)
{
	struct tm_tag *tag = &tm->tag[tm->next];
	const uint8_t *data = seg + WQE_TM_SEG;

	if (fld_get(seg, TM_SEG_INDEX) >= tm->size || tag->used)
		return WQE_BAD_TAG;
	if (len != WQE_TM_SEG && len != WQE_TM_SEG + WQE_SEG)
		return WQE_BAD_SIZE;
	tm->next = fld_get(seg, TM_SEG_INDEX);
	*tag = (struct tm_tag){
		.used = true,
		.tag = fld_get(seg, TM_SEG_TAG),
		.mask = fld_get(seg, TM_SEG_MASK),
		.has_buffer = len > WQE_TM_SEG,
	};
	if (tag->has_buffer)
		tag->sge = (struct wqe_sge){
			.len = fld_get(data, DATA_LEN),
			.lkey = fld_get(data, DATA_LKEY),
			.addr = fld_get(data, DATA_ADDR),
		};
	TAILQ_INSERT_TAIL(&tm->list, tag, in_list);
	return 0;
}

/* Removes a tag from the list. If a message has matched the tag, it is gone already. That is no
 * error, as the message and the removal may cross. */
static int take_away(struct tm *tm, const uint8_t *seg, bool *success)
{
	uint32_t index = fld_get(seg, TM_SEG_INDEX);

	if (index >= tm->size)
		return WQE_BAD_TAG;
	*success = tm->tag[index].used;
	if (*success)
		take_off(tm, &tm->tag[index]);
	return 0;
}

/* Enables new tags once software has seen all unexpected messages, as no message that came before a
 * tag can then be meant for it. */
static void tags_resume(struct tm *tm)
{
	struct tm_tag *tag;

	if (tm->sw_phase != tm->hw_phase)
		return;
	TAILQ_FOREACH(tag, &tm->list, in_list)
		tag->enabled = true;
}

static void operation_report(struct hca *hca, struct qp *qp, const uint8_t *seg, uint16_t index,
			     bool success)
{
	static const enum tm_cqe cqe_of[] = {
		[TM_SEG_OP_NOP] = TM_CQE_NOOP,
		[TM_SEG_OP_APPEND] = TM_CQE_APPEND,
		[TM_SEG_OP_REMOVE] = TM_CQE_REMOVE,
	};
	struct tm_note note;
	struct completion done = {
		.opcode = CQE_OP_NO_PACKET,
		.wqe_counter = qp->sq.next,
		.srq = qp->srq,
		.tm = &note,
	};

	put_note(&note, cqe_of[fld_get(seg, TM_SEG_OPCODE)], index);
	fld_set(note.head, CQE_TM_SUCCESS, success);
	fld_set(note.head, CQE_TM_HW_PHASE, qp->srq->tm->hw_phase);
	if (cq_post(hca, qp->srq->cq, qp, &done))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

int tm_execute(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len)
{
	const uint8_t *seg = raw + WQE_SEG;
	struct tm *tm = qp->srq ? qp->srq->tm : NULL;
	bool success = true;
	uint16_t index;
	int why = 0;

	if (!tm)
		return WQE_BAD_OPCODE;
	if (len < WQE_SEG + WQE_TM_SEG)
		return WQE_BAD_SIZE;
	if (fld_get(seg, TM_SEG_OPCODE) > TM_SEG_OP_REMOVE)
		return WQE_BAD_TAG;
	index = fld_get(seg, TM_SEG_OPCODE) == TM_SEG_OP_APPEND ? tm->next
								: fld_get(seg, TM_SEG_INDEX);
	if (fld_get(seg, TM_SEG_OPCODE) == TM_SEG_OP_APPEND)
		why = tag_append(tm, seg, len - WQE_SEG);
	else if (fld_get(seg, TM_SEG_OPCODE) == TM_SEG_OP_REMOVE)
		why = take_away(tm, seg, &success);
	if (why)
		return why;
	if (fld_get(seg, TM_SEG_FLAGS) & TM_SEG_FLAG_SW_COUNT)
		tm->sw_phase = fld_get(seg, TM_SEG_SW_COUNT);
	tags_resume(tm);
	if (fld_get(seg, TM_SEG_FLAGS) & TM_SEG_FLAG_CQE)
		operation_report(hca, qp, seg, index, success);
	return 0;
}

static struct tm_tag *tag_find(struct tm *tm, uint64_t value)
{
	struct tm_tag *tag;

	TAILQ_FOREACH(tag, &tm->list, in_list)
		if (tag->enabled && (value & tag->mask) == tag->tag)
			return tag;
	return NULL;
}

static uint32_t room_of(const struct tm_tag *tag)
{
	return tag->has_buffer ? tag->sge.len : 0;
}

/* Reports a match before the data has arrived, so that software sees matches in order. */
static void match_announce(struct hca *hca, struct qp *qp, const struct tm_note *note)
{
	struct completion done = {
		.opcode = CQE_OP_NO_PACKET,
		.srq = qp->srq,
		.tm = note,
	};

	if (cq_post(hca, qp->srq->cq, qp, &done))
		qp_fail(hca, qp, PRM_EVENT_WQ_CATAS_ERROR);
}

static void use_buffer(struct qp *qp, const struct tm_tag *tag, bool with_header)
{
	struct responder *resp = &qp->resp;

	resp->recv = (struct recv_wqe){ .length = room_of(tag), .num_sge = tag->has_buffer };
	resp->recv.sge[0] = tag->sge;
	resp->receiving = true;
	resp->matched = true;
	resp->header = with_header ? 0 : TM_HEADER;
	resp->held.srq = qp->srq;
	resp->held.index = 0;
}

static void put_header(struct tm_note *note, const uint8_t *header)
{
	fld_set(note->head, CQE_TM_APP, fld_get(header, TMH_APP));
	fld_set(note->head, CQE_TM_TAG, fld_get(header, TMH_TAG));
}

/* Matches an eager message. If it has arrived whole and fits, one CQE reports match and data;
 * otherwise one reports the match and another the data. */
static enum tm_verdict match_eager(struct hca *hca, struct qp *qp, const struct fabric_msg *msg,
				   struct tm_tag *tag)
{
	bool at_once =
		msg->last && msg->packets == 1 && msg->payload_len - TM_HEADER <= room_of(tag);
	struct tm_note *note = &qp->resp.tm;

	put_note(note, at_once ? TM_CQE_CONSUMED_MSG : TM_CQE_CONSUMED, tag - qp->srq->tm->tag);
	put_header(note, msg->payload);
	use_buffer(qp, tag, false);
	if (!at_once) {
		match_announce(hca, qp, note);
		put_note(note, TM_CQE_EXPECTED, note->tag);
	}
	return TM_MATCHED;
}

/* Matches a rendezvous message. The adapter fetches the data if they fit the buffer and it owns the
 * QP's send queue; otherwise software does. */
static enum tm_verdict match_rendezvous(struct hca *hca, struct qp *qp,
					const struct fabric_msg *msg, struct tm_tag *tag)
{
	struct tm_note *note = &qp->resp.tm;
	bool fits = fld_get(msg->payload, RVH_LEN) <= room_of(tag);

	if (fits && qp->offload && !tm_offload_has_room(qp))
		return TM_BUSY;
	put_note(note, fits && qp->offload ? TM_CQE_CONSUMED : TM_CQE_CONSUMED_MSG_SW_RNDV,
		 tag - qp->srq->tm->tag);
	put_header(note, msg->payload);
	if (note->op != TM_CQE_CONSUMED) {
		use_buffer(qp, tag, true);
		return TM_MATCHED;
	}
	match_announce(hca, qp, note);
	tm_offload_fetch(hca, qp, msg->payload, note->tag, &tag->sge);
	note->op = 0;
	return TM_CONSUMED;
}

void tm_cancel(struct hca *hca, struct qp *qp)
{
	const struct tm_note note = { .op = TM_CQE_CANCELED, .tag = qp->resp.tm.tag };
	const struct completion done = {
		.opcode = CQE_OP_RESP_SEND,
		.srq = qp->srq,
		.tm = &note,
	};

	qp->resp.receiving = qp->resp.matched = false;
	qp->resp.tm.op = 0;
	cq_post(hca, qp->srq->cq, qp, &done);
}

static bool has_headers(const struct fabric_msg *msg)
{
	uint64_t op = msg->payload_len >= TM_HEADER ? fld_get(msg->payload, TMH_OP) : TMH_NO_TAG;

	return op == TMH_EAGER ||
	       (op == TMH_RNDV && msg->last && msg->payload_len >= TM_RNDV_HEADER);
}

enum tm_verdict tm_arrive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg)
{
	struct tm *tm = qp->srq->tm;
	enum tm_verdict verdict;
	struct tm_tag *tag;

	put_note(&qp->resp.tm, TM_CQE_NO_TAG, 0);
	qp->resp.matched = false;
	qp->resp.header = 0;
	if (!has_headers(msg))
		return TM_TAKE_RECEIVE;
	tag = tag_find(tm, fld_get(msg->payload, TMH_TAG));
	if (!tag) {
		qp->resp.tm.op = TM_CQE_UNEXPECTED;
		return TM_TAKE_RECEIVE;
	}
	verdict = fld_get(msg->payload, TMH_OP) == TMH_RNDV ? match_rendezvous(hca, qp, msg, tag)
							    : match_eager(hca, qp, msg, tag);
	if (verdict != TM_BUSY)
		take_off(tm, tag);
	return verdict;
}

void tm_count_unexpected(struct qp *qp)
{
	if (qp->resp.tm.op == TM_CQE_UNEXPECTED)
		qp->srq->tm->hw_phase++;
}
