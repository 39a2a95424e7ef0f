/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.h - shared receive queues: RMPs, XRC SRQs and XRQs.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_SRQ_H
#define SOFTHCA_DEVICE_QUEUE_SRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/format/format.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/umem.h"
#include "softhca/device/queue/work_request.h"

struct cq;
struct hca;
struct pd;

enum { LOG_MAX_SRQ = 16, LOG_MAX_SRQ_WQES = 15, LOG_MAX_XRCD = 10 };

/* A note is what the completion of a message says of tag matching; an op of 0 says that there is
 * none. */
struct tm_note {
	uint8_t op;       /* enum tm_cqe */
	uint16_t tag;     /* index in the matching list */
	uint8_t head[16]; /* the first bytes of the CQE */
};

struct srq_layout;
struct tm;

/* A receive WQE that was taken, or is about to be. */
struct held_receive {
	struct srq *srq; /* that it is of; NULL: the QP's own queue */
	uint16_t index;
};

struct srq {
	uint32_t n;
	const struct srq_layout *layout; /* of its context: XRC SRQ, RMP or XRQ */
	struct pd *pd;   /* that its buffers, and XRC requests, are checked against */
	struct pd *xrcd; /* NULL: no XRC SRQ */
	struct cq *cq;   /* of an XRC SRQ or an XRQ */
	struct tm *tm;   /* of an XRQ: tag matching */
	uint32_t user_index;
	uint32_t log_size, stride;
	bool cyclic;    /* WQEs are taken in the order of the ring, and not as they are linked */
	uint16_t next;  /* index of the WQE to take */
	uint16_t pi;    /* as the doorbell record last said: WQEs ever posted */
	uint16_t taken; /* WQEs ever taken */
	uint16_t limit; /* 0: no event wanted */
	bool failed;    /* its memory cannot be read */
	uint32_t users; /* QPs */
	struct dma_map map;
	struct queue_umems umems;
	uint64_t dbr;
	uint64_t dbr_page; /* of a strict adapter: see pins.h */
	uint8_t context[CONTEXT_MAX];
};

/* Takes a WQE and returns 0 and its INDEX, ENOENT when none is posted, or EFAULT. */
int srq_take(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index);
/* The same, but the WQE stays in the queue. */
int srq_peek(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index);
/* Arms the event that there are fewer WQEs than LIMIT, and raises it now or later. */
void srq_arm(struct hca *hca, struct srq *srq, uint16_t limit);
/* Returns the XRC SRQ of number N in the domain XRCD, or NULL. */
struct srq *srq_find_xrc(const struct hca *hca, uint32_t n, const struct pd *xrcd);

/* ---- srq_fault.c: buffers on demand ---- */

/* Returns whether the pages are there that LEN bytes at the start of the buffers want. */
bool srq_has_pages(struct hca *hca, const struct recv_wqe *wqe, uint64_t len);
/* Reports that the WQE which QP has taken of its SRQ wants pages that are absent. */
void srq_report_fault(struct hca *hca, struct qp *qp);
/* Does, with the next message, what a driver does some time after a fault: it reads the WQE in the
 * ring and brings its pages. */
void srq_resolve_fault(struct hca *hca, struct qp *qp);

void srq_free(struct srq *srq);
void srq_free_all(struct hca *hca);

#endif
