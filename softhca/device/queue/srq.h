/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.h - shared receive queues of all kinds: RMPs, XRC SRQs and XRQs.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_SRQ_H
#define SOFTHCA_DEVICE_QUEUE_SRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/format/format.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/umem.h"
#include "softhca/device/queue/recv_notes.h"
#include "softhca/device/queue/work_request.h"

struct cq;
struct hca;
struct pd;

enum { LOG_MAX_SRQ = 16, LOG_MAX_SRQ_WQES = 15, LOG_MAX_XRCD = 10 };

/* What the CQE of a message reports about tag matching. An op of 0: nothing. */
struct tm_note {
	uint8_t op;       /* enum tm_cqe */
	uint16_t tag;     /* index in the matching list */
	uint8_t head[16]; /* the first bytes of the CQE */
};

struct srq_layout;
struct tm;

/* Names a receive WQE that was taken, or is about to be. */
struct held_receive {
	/* the SRQ that the WQE comes from; NULL: the QP's own receive queue */
	struct srq *srq;
	uint16_t index;
};

struct srq {
	uint32_t n;
	const struct srq_layout *layout; /* of its context: XRC SRQ, RMP or XRQ */
	struct pd *pd;   /* owns the keys of its buffers, and those of XRC requests */
	struct pd *xrcd; /* NULL: not an XRC SRQ */
	/* only of an XRC SRQ or XRQ; WQEs of others complete to the CQ of the QP that takes them */
	struct cq *cq;
	struct tm *tm; /* tag matching of an XRQ; srq_free() frees it */
	uint32_t user_index;
	uint32_t log_size, stride;
	/* Of an XRQ: each buffer of a WQE is for one packet. 0: a WQE is for a message. */
	uint16_t strides;
	uint16_t next_stride;    /* next stride of the WQE taken; 0: take a new WQE */
	uint16_t strided_index;  /* index of the WQE whose strides are taken */
	struct recv_wqe strided; /* that WQE */
	bool cyclic;             /* WQEs are taken in ring order, not along their links */
	uint16_t next;           /* index of the WQE to take */
	/* WQEs ever posted, as in the last doorbell record read; pi - taken, modulo 2^16, are
	 * posted now */
	uint16_t pi;
	uint16_t taken; /* WQEs ever taken */
	/* an event is raised when fewer WQEs are left; 0: off. The event resets it to 0, so
	 * software arms it again */
	uint16_t limit;
	/* its ring cannot be read; never cleared, so that SRQ_CATAS_ERROR is raised once */
	bool failed;
	uint32_t users; /* number of QPs; it cannot be destroyed before them */
	struct dma_map map;
	struct queue_umems umems;
	uint64_t dbr;
	uint64_t dbr_page;       /* strict adapter: identity of the page at dbr, see pins.h */
	struct recv_notes notes; /* of a strict adapter */
	uint8_t context[CONTEXT_MAX];
};

/* Takes a WQE. Returns 0 and its INDEX, ENOENT if none is posted, or EFAULT. EFAULT also means that
 * the WQE's link leads out of the ring, as no later WQE can be found then. */
int srq_take(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index);
/* Takes the next stride of the current WQE, or the first one of the next WQE if none is left. WQE
 * describes the buffer of the stride, whose number is STRIDE. Returns as srq_take() does. */
int srq_take_stride(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index,
		    uint16_t *stride);
/* Reads the next WQE as srq_take() does, but leaves it in the queue. */
int srq_peek(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index);
void srqs_note(struct hca *hca);
/* Arms the limit event: raised when fewer than LIMIT WQEs are left, which may be now. The event
 * disarms it, so software arms it again. PRM: Shared Receive Queue. */
void srq_arm(struct hca *hca, struct srq *srq, uint16_t limit);
/* Returns the XRC SRQ of number N in the domain XRCD, or NULL. */
struct srq *srq_find_xrc(const struct hca *hca, uint32_t n, const struct pd *xrcd);

/* Returns whether all pages of the WQE's first LEN bytes of buffers are present. */
bool srq_has_pages(struct hca *hca, const struct recv_wqe *wqe, uint64_t len);
void srq_report_fault(struct hca *hca, struct qp *qp);
/* Brings the pages of the last fault, as a driver does some time later: reads the WQE from the ring
 * and maps its buffers. Called when the next message comes. */
void srq_resolve_fault(struct hca *hca, struct qp *qp);

void srq_free(struct srq *srq);

#endif
