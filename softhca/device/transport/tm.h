/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm.h - tag matching of an extended receive queue (XRQ). Software adds tagged buffers to a list,
 * and removes them, by WQEs of a command QP; the header of each arriving message is compared with
 * the list.
 *
 * Phases order the two sides. The adapter counts unexpected messages, which found no tag. Until
 * software has reported that it has seen them all, tags that it adds match nothing, since a message
 * that has already arrived may be meant for them.
 * IBTA does not define tag matching.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_TM_H
#define SOFTHCA_DEVICE_TRANSPORT_TM_H

#include "prm/mlx5/tm.h"
#include "softhca/device/core.h"

enum {
	TM_LOG_MAX_TAGS = 7,
	TM_LOG_OFFLOADED = 6, /* WQEs in the send queue that serves rendezvous */
};

struct tm_tag {
	TAILQ_ENTRY(tm_tag) in_list;
	bool used;    /* on the list */
	bool enabled; /* software has seen all unexpected messages before it */
	uint64_t tag, mask;
	bool has_buffer;
	struct wqe_sge sge;
};

struct tm {
	uint32_t size;               /* entries of tag[] */
	uint16_t next;               /* index of the entry to be added next */
	uint16_t sw_phase, hw_phase; /* unexpected messages: those that software has seen, all */
	TAILQ_HEAD(tm_list, tm_tag) list; /* in posting order */
	struct tm_tag tag[];
};

/* Creates a list of 2^LOG_SIZE entries whose first is NEXT. Returns NULL without memory; free()
 * frees it. */
struct tm *tm_create(unsigned int log_size, uint16_t next);

/* Executes the list operation in the WQE of LEN bytes at RAW. Returns 0 or the vendor syndrome. */
int tm_execute(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);

enum tm_verdict {
	TM_TAKE_RECEIVE, /* no tag matches: take a WQE of the queue */
	TM_MATCHED,      /* resp.recv is the buffer for the data behind the header */
	TM_CONSUMED,     /* nothing is left to do with the message */
	TM_BUSY,         /* no room: the peer must repeat the message */
};

enum tm_verdict tm_arrive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* Counts a message that matched no tag and went to a WQE, so that software matches it. */
void tm_count_unexpected(struct qp *qp);
/* Completes a matched tag in error, as the rest of its message will not come. */
void tm_cancel(struct hca *hca, struct qp *qp);

/* Gives the QP a send queue that the adapter owns. Returns 0 or ENOMEM. */
int tm_offload_start(struct qp *qp);
bool tm_offload_has_room(const struct qp *qp);
/* READs the data that HEADER (TM_RNDV_HEADER bytes) announces into BUFFER, then sends the sender
 * its confirmation. */
void tm_offload_fetch(struct hca *hca, struct qp *qp, const uint8_t *header, uint16_t tag,
		      const struct wqe_sge *buffer);
const uint8_t *tm_offload_wqe(const struct qp *qp, uint16_t index);
void tm_offload_complete(struct hca *hca, struct qp *qp, const struct completion *done);

#endif
