/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - queue pairs: state (qp.c), send and receive queue (sq.c, rq.c), requester and
 * responder (req.c, resp.c).
 */
#ifndef SOFTHCA_DEVICE_QUEUE_QP_H
#define SOFTHCA_DEVICE_QUEUE_QP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "prm/mlx5/states.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/queue/cq.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/umem.h"
#include "softhca/device/transport/path.h"
#include "softhca/device/queue/sched.h"
#include "softhca/device/queue/srq.h"
#include "softhca/device/queue/work_request.h"

struct dci;
struct dct;
struct hca;
struct pd;
struct uar;
struct srq;
struct tm_offload;
struct umr_wait;

enum { SQ_CACHE_BYTES = WQE_BYTES_MAX, RQ_CACHE_BYTES = 1024 };

/* An entry describes one send WQE between its transmission and its completion. */
struct sq_entry {
	uint32_t psn, packets;
	uint64_t length;
	uint16_t bbs;
	uint8_t opcode;
	bool signaled;
	bool returns_data; /* READ and atomics: completed by a response, not by an ACK */
};

struct sq {
	uint32_t log_size;      /* blocks */
	uint32_t block;         /* bytes of a block, by which indices count */
	uint64_t offset;        /* of the ring in qp->map */
	uint16_t pi;            /* as software last said, see sq_read_doorbell() */
	uint16_t next;          /* to transmit */
	uint16_t ci;            /* oldest not completed */
	uint16_t drain_end;     /* in state SQ_DRAINING: behind the last request that was begun */
	struct sq_entry *entry; /* by index of the first block */
	/* A strict adapter knows the WQEs when they were posted, as digests by index, and since
	 * when the record has said unrung_pi, which no doorbell announced. See rules.c. */
	uint64_t *digest;
	uint64_t unrung_since;
	uint16_t unrung_pi;
	/* The WQEs before ahead_pi were noted when the record covered them, and no doorbell yet. */
	uint16_t ahead_pi;
	bool is_ahead;
	/* The cache holds the fetched blocks cache_from .. cache_from + cache_bbs. */
	uint16_t cache_from, cache_bbs;
	uint8_t cache[SQ_CACHE_BYTES];
};

struct rq {
	uint32_t log_size; /* WQEs */
	uint64_t offset;   /* of the ring in qp->map */
	uint32_t stride;
	uint16_t pi, ci;
	/* A strict adapter has digests, by index, of the WQEs before noted_pi that are posted. */
	uint64_t *digest;
	uint16_t noted_pi;
	uint16_t cache_from, cache_count;
	uint8_t cache[RQ_CACHE_BYTES];
};

/* The requester turns send WQEs into requests, and responses into completions. IBTA vol 1, 9.7.3 */
struct requester {
	uint32_t next_psn; /* of the next packet to send; goes back on a retry */
	uint32_t sent_psn; /* behind the last packet ever sent */
	uint32_t unacked;  /* oldest PSN without acknowledge */
	uint64_t offset;   /* bytes of the WQE at sq.next that are on the wire */
	uint8_t retries_left, rnr_left;
	unsigned int reads; /* that software may have had under way, of a strict adapter */
	bool rnr_wait;
	bool gone_back;    /* for a gap in the responses: what follows the gap says nothing new */
	uint32_t window;   /* bytes that may be on the wire */
	uint64_t deadline; /* of the timer, HCA_IDLE when it is off */
	bool decoded;      /* wqe holds the WQE at wqe.index */
	struct send_wqe wqe;
};

struct atomic_result {
	bool used;
	uint32_t psn;
	uint64_t value;
};

/* The responder executes requests. IBTA vol 1, 9.7.4 */
struct responder {
	uint32_t expected_psn;
	uint32_t msn;             /* requests completed */
	bool nak_sent;            /* one NAK per gap */
	bool established;         /* COMM_EST was reported */
	bool receiving;           /* recv holds the receive WQE of a SEND under way */
	bool dropping;            /* UC: until the next request begins */
	bool under_way;           /* the last request is not complete, and */
	enum fabric_op op;        /* is one of these */
	struct held_receive held; /* which one recv is */
	struct recv_wqe recv;
	/* The last message met pages that are not there. Software brings those of this WQE, which
	 * it reads in the ring of the SRQ; NULL: there was no fault, or they have been brought. */
	struct held_receive fault;
	uint64_t fault_digest; /* of a strict adapter: the WQE as it was */
	/* Tag matching says of the message that recv is for: what its CQE reports (tm), whether
	 * recv is a tag's buffer (matched), and how much of the message's start is not data
	 * (header). */
	struct tm_note tm;
	bool matched;
	uint8_t header;
	uint64_t received; /* bytes of the message under way */
	uint64_t write_addr, write_left;
	uint32_t write_key;
	/* The results of the last atomics, for duplicates: as many as may be outstanding. */
	struct atomic_result *results;
	unsigned int num_results, next_result;
};

/* Each port has management QPs of its own; on the wire they have these numbers. */
enum { QP_SMI = 0, QP_GSI = 1, QP_SPECIAL = 2 };

/* What the transport does for the queues of a QP, which call nothing else of it: the table is in
 * transport/qp.c. Only a send queue that is the adapter's own calls it for each request. */
struct qp_transport {
	/* Forgets all requests and responses. */
	void (*reset)(struct qp *qp);
	/* The strict adapter has found that software posted more. */
	void (*posted)(struct qp *qp);
	/* Returns whether the QP survives that a request on STREAM has failed. */
	bool (*survives)(struct hca *hca, struct qp *qp, uint16_t stream);
	/* Completes in error the receives that were taken before their turn. */
	void (*flush)(struct hca *hca, struct qp *qp);
	/* Cancels the tag whose buffer holds the start of a message. */
	void (*cancel)(struct hca *hca, struct qp *qp);
	/* Frees what the transport keeps. */
	void (*free)(struct hca *hca, struct qp *qp);
	/* Of a send queue that is the adapter's own (qp->offload): returns a WQE of its ring, and
	 * takes the completion of the WQE at sq.ci. */
	const uint8_t *(*own_wqe)(const struct qp *qp, uint16_t index);
	void (*own_done)(struct hca *hca, struct qp *qp, const struct completion *done);
};

struct qp {
	uint32_t n;
	const struct qp_transport *transport;
	enum prm_qp_state state;
	enum fabric_service service;
	int special;         /* QP_SMI, QP_GSI, or -1 */
	uint32_t wire;       /* the number of the sender in its packets */
	bool writes_headers; /* mlx4: software writes the headers of its datagrams */
	uint32_t qkey;
	bool blocks_own_multicast;
	bool has_signatures; /* each WQE of its queues; those of an SRQ are not looked at */
	bool real_time;      /* timestamps of its CQEs */
	bool drains;         /* a wrong signature stops its send queue at the next fence */
	bool draining;       /* a wrong signature was found, and the fence is not reached yet */
	bool tells_drained;  /* in state SQ_DRAINING: software wants an event at its end */
	bool may_copy;       /* it executes copies of memory */
	uint32_t ece;        /* connection establishment options in force */
	struct pd *pd;
	struct cq *send_cq, *recv_cq;
	struct srq *srq; /* takes the place of its receive queue; or NULL */
	struct pd *xrcd; /* of a QP that receives for XRC SRQs */
	struct tm_offload
		*offload; /* its send queue is tag matching's, for rendezvous; else NULL */
	struct uar *uar;  /* NULL: no send queue, no doorbell */
	uint32_t user_index;
	struct dma_map map;
	struct queue_umems umems;
	uint64_t dbr;
	uint64_t dbr_page; /* of a strict adapter: see pins.h */
	uint32_t mtu;      /* bytes */
	uint32_t remote_qpn;
	struct qp_path path;
	uint8_t counter_set; /* 0: none */
	/* So many bytes of a response, and of a message, may come inside their CQE. */
	uint8_t req_in_cqe, resp_in_cqe;
	bool remote_read, remote_write, remote_atomic;
	bool masked_4, masked_8; /* atomics with masks, of as many bytes, are allowed */
	uint8_t retry_count, rnr_retry, min_rnr_timer, ack_timeout;
	uint32_t max_reads, max_reads_in;
	struct sq sq;
	struct rq rq;
	struct requester req;
	struct responder resp;
	TAILQ_HEAD(answers, answer) answers; /* still to be sent: see transport/answer.h */
	bool out_of_order; /* requests are taken before their turn: see transport/out_of_order.h */
	unsigned int num_early; /* that were, */
	TAILQ_HEAD(, early) early;
	bool has_gap; /* before them, on hca->gaps, since then */
	uint64_t gap_since;
	LIST_ENTRY(qp) in_gaps;
	struct dci *dci;  /* of an initiator of DC; else NULL */
	struct dct *dct;  /* of a responder of DC: its target; else NULL */
	uint32_t session; /* the same: that it serves, as in messages */
	TAILQ_ENTRY(qp) in_dct;
	struct sched_queue sched;             /* of its requests */
	struct sched_element *response_group; /* of its responses; NULL: none */
	struct umr_wait *umr;                 /* under way; NULL: none. See umr_delay.c */
	bool ready;                           /* on hca->ready */
	bool timed;                           /* on hca->timed */
	uint64_t flush_poll; /* state ERR: pause between reads of the receive record */
	LIST_ENTRY(qp) in_uar;
	TAILQ_ENTRY(qp) in_ready;
	TAILQ_ENTRY(qp) in_timed;
	uint8_t context[CONTEXT_MAX];
};

/* Returns the protection domain that the keys of the QP's send requests must belong to. */
struct pd *sq_pd(const struct qp *qp);
static inline bool qp_is_reliable(const struct qp *qp)
{
	return qp->service == FABRIC_RC || qp->service == FABRIC_XRC || qp->service == FABRIC_DC;
}

/* Returns whether the QP takes what arrives. In state SQER only its send queue is in error. */
static inline bool qp_receives(const struct qp *qp)
{
	return qp->state == PRM_QP_STATE_RTR || qp->state == PRM_QP_STATE_RTS ||
	       qp->state == PRM_QP_STATE_SQ_DRAINING || qp->state == PRM_QP_STATE_SQD ||
	       qp->state == PRM_QP_STATE_SQER;
}

/* Returns whether requests go out, and responses are taken. */
static inline bool qp_requests(const struct qp *qp)
{
	return qp->state == PRM_QP_STATE_RTS || qp->state == PRM_QP_STATE_SQ_DRAINING;
}

static inline uint16_t sq_mask(const struct qp *qp)
{
	return (1u << qp->sq.log_size) - 1;
}

/* Returns what a CQE says of tag matching, or NULL. */
static inline const struct tm_note *rq_note(const struct qp *qp)
{
	return qp->resp.tm.op ? &qp->resp.tm : NULL;
}

/* Makes the loop look at the queue for work; doorbells and state changes call it. */
void qp_wake(struct hca *hca, struct qp *qp);
void qp_set_timer(struct hca *hca, struct qp *qp, uint64_t deadline);
/* The QP's requests and responses are of these groups from now on; NULL: of none. */
void qp_schedule(struct hca *hca, struct qp *qp, struct sched_element *requests,
		 struct sched_element *responses);
/* Moves the QP to state ERR; what is posted, and what will be, is flushed. An EVENT below 0 means
 * that there is no asynchronous event. */
void qp_fail(struct hca *hca, struct qp *qp, int event);
/* Puts the send queue in error; on a reliable service, the QP. */
void qp_fail_send(struct hca *hca, struct qp *qp);
void qp_reset_queues(struct qp *qp);
/* For a management QP that no longer serves its port. */
void qp_leave_port(struct hca *hca, struct qp *qp);

/* The file sq.c holds the ring and the completions of the send queue. */
void sq_scan_doorbells(struct hca *hca, struct uar *uar);
int sq_read_doorbell(struct hca *hca, struct qp *qp);
/* Fetches the posted WQE at INDEX and returns 0 or EFAULT; *RAW stays valid until the next
 * fetch. */
int sq_fetch(struct hca *hca, struct qp *qp, uint16_t index, const uint8_t **raw);
/* Software may have changed what waits in the ring while the queue had stopped. */
void sq_read_again(struct hca *hca, struct qp *qp);
/* Copies BBS blocks of the ring from INDEX on, posted or not; 0 or EFAULT. */
int sq_copy(struct hca *hca, const struct qp *qp, uint16_t index, uint32_t bbs, uint8_t *buf);
/* Completes the WQE at sq.ci; its CQE carries data only if that fits and the QP scatters to
 * CQEs. */
void sq_complete(struct hca *hca, struct qp *qp, const uint8_t *inline_data, uint32_t inline_len);
/* Fails the WQE at sq.ci, and with it the QP. */
void sq_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor_syndrome);
/* Flushes up to BUDGET WQEs and returns true when some are left. */
bool sq_flush(struct hca *hca, struct qp *qp, unsigned int budget);

/* The file rq.c holds the receive queue. */
/* Fetches the next WQE into qp->resp; it returns 0, ENOENT when none is posted, EBADMSG when its
 * signature is wrong, or EFAULT. A WQE from an SRQ is taken from there for good. */
int rq_fetch(struct hca *hca, struct qp *qp);
/* Completes a WQE that was taken before its turn. */
void rq_complete_early(struct hca *hca, struct qp *qp, struct completion *done,
		       const struct held_receive *held);
/* Completes the WQE in qp->resp. EFAULT is as cq_post() says, and the WQE is still there. */
int rq_complete(struct hca *hca, struct qp *qp, struct completion *done);
/* The two functions return the domain whose keys, and the CQ that, count for what is received. */
struct pd *rq_pd(const struct qp *qp);
struct cq *rq_cq(const struct qp *qp);
/* Completes the WQE in qp->resp with an error and moves the QP to ERR. Raises no event, as the CQE
 * reports the error. */
void rq_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor_syndrome);
bool rq_flush(struct hca *hca, struct qp *qp, unsigned int budget);
void qp_free(struct hca *hca, struct qp *qp);

#endif
