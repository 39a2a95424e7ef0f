/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tm.h - tag matching of an extended receive queue: a list of tagged buffers that software adds to
 * and takes from with WQEs of a command QP, and that the header of each arriving message is
 * compared with.
 *
 * Ordering between the two is kept by phases. The adapter counts messages that found no tag; while
 * software has not said that it has seen them all, tags that it adds wait and match nothing, since
 * a message that has arrived may be meant for them.
 */
#ifndef SOFTHCA_DEVICE_TRANSPORT_TM_H
#define SOFTHCA_DEVICE_TRANSPORT_TM_H

#include "prm/mlx5/tm.h"
#include "softhca/device/core.h"

enum {
	TM_LOG_MAX_TAGS = 7,
	TM_LOG_OFFLOADED = 6, /* WQEs of the send queue of a QP whose rendezvous are run here */
};

struct tm_tag {
	TAILQ_ENTRY(tm_tag) in_list;
	bool used;    /* on the list */
	bool enabled; /* was added in, or lived to see, a moment without unseen messages */
	uint64_t tag, mask;
	bool has_buffer;
	struct wqe_sge sge;
};

struct tm {
	uint32_t size;                    /* of tag[] */
	uint16_t next;                    /* where the next entry will be */
	uint16_t sw_phase, hw_phase;      /* unexpected messages that software has seen, and all */
	TAILQ_HEAD(tm_list, tm_tag) list; /* as added */
	struct tm_tag tag[];
};

/* Creates a list of 2^LOG_SIZE entries, the first at NEXT. It returns NULL when there is no
 * memory. One free() gives it back. */
struct tm *tm_create(unsigned int log_size, uint16_t next);

/* Executes the operation on the list that starts at RAW and has LEN bytes. It returns 0 or the
 * vendor syndrome. */
int tm_execute(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);

enum tm_verdict {
	TM_TAKE_RECEIVE, /* no tag: it needs a WQE */
	TM_MATCHED,      /* resp.recv is the buffer, for what follows the header */
	TM_CONSUMED,     /* nothing is left to be done with it */
	TM_BUSY,         /* it has to come again */
};

/* A message begins to arrive at a QP whose SRQ has tag matching. */
enum tm_verdict tm_arrive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* The message has a WQE of the queue, and software has to match it. */
void tm_count_unexpected(struct qp *qp);
/* The rest of a message that has a tag will not come. */
void tm_cancel(struct hca *hca, struct qp *qp);

/* ---- tm_offload.c: rendezvous; READs and answers go through a send queue that no program sees
 * ---- */

/* Makes the QP's send queue the adapter's own, and returns 0 or ENOMEM. */
int tm_offload_start(struct qp *qp);
bool tm_offload_has_room(const struct qp *qp);
/* Fetches what HEADER (of TM_RNDV_HEADER bytes) announces into BUFFER, then tells the sender. */
void tm_offload_fetch(struct hca *hca, struct qp *qp, const uint8_t *header, uint16_t tag,
		      const struct wqe_sge *buffer);
const uint8_t *tm_offload_wqe(const struct qp *qp, uint16_t index);
/* The WQE at sq.ci is done, as DONE says. */
void tm_offload_complete(struct hca *hca, struct qp *qp, const struct completion *done);

#endif
