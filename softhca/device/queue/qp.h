/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - queue pairs: state (qp.c), send queue (sq.c), receive queue (rq.c); the transport has the
 * requester and the responder.
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

/* Describes a send WQE between its transmission and its completion. */
struct sq_entry {
	uint32_t psn, packets;
	uint32_t ssn; /* sequence number of the WQE's request; a long READ is several: the first */
	uint64_t length;
	uint16_t bbs;
	uint8_t opcode;
	bool signaled;
	/* READ or atomic: completed by a response, which carries its data, not by an ACK */
	bool returns_data;
};

struct sq {
	uint32_t log_size; /* in basic blocks */
	uint32_t block;    /* bytes of a basic block; indices count these */
	uint64_t offset;   /* of the ring in qp->map */
	/* end of the posted WQEs, as in the last doorbell, see sq_read_doorbell(); modulo 2^16, not
	 * 2^log_size, so that a full ring differs from an empty one */
	uint16_t pi;
	/* block of the next WQE to transmit: ci <= next <= pi, modulo 2^16; a retry sets it back to
	 * ci */
	uint16_t next;
	uint16_t ci; /* block of the oldest WQE that is not completed; completions are in order */
	/* state SQ_DRAINING: end of the last WQE that was begun; the queue is drained when ci has
	 * reached it */
	uint16_t drain_end;
	/* indexed by the WQE's first block, which a CQE names (wqe_counter); qp_free() frees it */
	struct sq_entry *entry;
	/* Strict adapter: digest[] has a digest of each WQE as posted, by index. unrung_since is
	 * when the doorbell record first said unrung_pi without a doorbell; 0: the doorbell has
	 * rung; HCA_IDLE: reported. See rules.c. */
	uint64_t *digest;
	uint64_t unrung_since;
	uint16_t unrung_pi;
	/* If is_ahead, the digests of the WQEs from pi to ahead_pi were taken before their
	 * doorbell, when only the doorbell record covered them. */
	uint16_t ahead_pi;
	bool is_ahead;
	/* The cache holds blocks cache_from to cache_from + cache_bbs - 1 of the ring, so that one
	 * bus call serves several WQEs. */
	uint16_t cache_from, cache_bbs;
	uint8_t cache[SQ_CACHE_BYTES];
};

struct rq {
	uint32_t log_size; /* in WQEs */
	uint64_t offset;   /* of the ring in qp->map */
	uint32_t stride;
	uint16_t pi, ci;
	/* A strict adapter keeps a digest, by index, of each posted WQE before noted_pi. Allocated
	 * at first use; qp_free() frees it. */
	uint64_t *digest;
	uint16_t noted_pi;
	uint16_t cache_from, cache_count;
	uint8_t cache[RQ_CACHE_BYTES];
};

/* Turns send WQEs into request packets, and responses into completions. IBTA vol 1, 9.7.3 */
struct requester {
	/* PSN of the next packet; a retry lowers it to unacked, so it is below sent_psn while
	 * packets are repeated */
	uint32_t next_psn;
	/* PSN after the highest one sent so far; the peer can acknowledge nothing behind it */
	uint32_t sent_psn;
	uint32_t unacked; /* oldest PSN without an acknowledge */
	/* bytes of the WQE at sq.next that have been sent, since one turn may send only a part of a
	 * long WQE */
	uint64_t offset;
	/* End-to-end credits: ssn is the number of the request at sq.next, lsn the highest number
	 * that has a receive, msn_shift what to add to the peer's MSNs. See transport/credits.h. */
	uint32_t ssn, lsn, msn_shift;
	uint32_t sent_ssn; /* number of the last request that was sent whole */
	bool unlimited;
	uint8_t retries_left, rnr_left;
	unsigned int reads; /* strict adapter: READs and atomics that may be outstanding */
	bool rnr_wait;
	bool gone_back;  /* a gap in the responses caused a retry; later responses cause no other */
	uint32_t window; /* bytes that may be in flight; halved on loss */
	/* when the QP's only timer expires: retransmission, RNR wait, or in state ERR the next
	 * flush; HCA_IDLE: off */
	uint64_t deadline;
	/* wqe holds the WQE at wqe.index, decoded once for all its messages */
	bool decoded;
	struct send_wqe wqe;
};

struct atomic_result {
	bool used;
	uint32_t psn;
	uint64_t value;
};

/* Executes requests that arrive. IBTA vol 1, 9.7.4 */
struct responder {
	uint32_t expected_psn;
	uint32_t msn;  /* message sequence number: requests completed */
	bool nak_sent; /* a NAK was sent for the current gap, which gets no second one */
	/* COMM_EST has been reported: one event for each connection, in state RTR */
	bool established;
	bool receiving; /* recv is the WQE of a SEND that is not complete */
	/* UC: drop packets until the next message begins, as the rest of this one is lost */
	bool dropping;
	/* a request has begun and is not complete, so a packet that begins another one is out of
	 * sequence */
	bool under_way;
	enum fabric_op op;
	/* queue and index that recv came from. If that is an SRQ, its PD, and its CQ if it has one,
	 * replace the QP's */
	struct held_receive held;
	struct recv_wqe recv;
	/* The SRQ WQE whose buffers had absent pages when the last message came. When the next
	 * message comes, the device reads this WQE from the ring and brings its pages, as a driver
	 * does. srq is NULL if there is no fault to resolve. */
	struct held_receive fault;
	uint64_t fault_digest; /* strict adapter: digest of that WQE at the time of the fault */
	/* Tag matching's result for the message in recv: fields of the CQE (tm), whether recv is a
	 * tag's buffer (matched), and how many bytes of the message are its header, which is not
	 * delivered. */
	struct tm_note tm;
	bool matched;
	uint8_t header;
	uint64_t received; /* bytes of this message so far */
	uint64_t write_addr, write_left;
	uint32_t write_key;
	/* Results of as many past atomics as may be outstanding, so that duplicates are answered
	 * without executing them twice. Freed with the QP. IBTA vol 1, 9.4.5 */
	struct atomic_result *results;
	unsigned int num_results, next_result;
};

/* Numbers of management QPs in packets. Each port has its own pair. */
enum { QP_SMI = 0, QP_GSI = 1, QP_SPECIAL = 2 };

/* Operations by which queues call the transport, so that calls only go down; transport/qp.c has the
 * table. own_wqe and own_done serve send queues that the adapter fills itself. */
struct qp_transport {
	/* Drops all requests and responses. */
	void (*reset)(struct qp *qp);
	/* A strict adapter noticed a doorbell: the requester updates its count of READs. */
	void (*posted)(struct qp *qp);
	/* Returns whether the QP stays usable after a request on STREAM has failed. */
	bool (*survives)(struct hca *hca, struct qp *qp, uint16_t stream);
	/* Completes in error the receives that were taken out of order. */
	void (*flush)(struct hca *hca, struct qp *qp);
	/* Cancels the tag whose buffer holds the start of an incomplete message. */
	void (*cancel)(struct hca *hca, struct qp *qp);
	void (*free)(struct hca *hca, struct qp *qp);
	/* For a send queue that the adapter fills itself (qp->offload): returns the WQE at INDEX,
	 * and takes the completion of the WQE at sq.ci. */
	const uint8_t *(*own_wqe)(const struct qp *qp, uint16_t index);
	void (*own_done)(struct hca *hca, struct qp *qp, const struct completion *done);
};

struct qp {
	uint32_t n;
	const struct qp_transport *transport;
	enum prm_qp_state state;
	enum fabric_service service;
	int special;         /* QP_SMI, QP_GSI, or -1 */
	uint32_t wire;       /* source QP number in its packets */
	bool writes_headers; /* mlx4: the WQE has the packet headers */
	uint32_t qkey;
	bool blocks_own_multicast;
	bool has_signatures; /* WQEs of its own queues are signed; SRQ WQEs are not checked */
	bool real_time;      /* CQEs have the time of day, not clock ticks */
	bool drains;         /* a signature error stops its send queue at the next fence */
	bool draining;       /* a signature error was found; stop at the next fence */
	bool tells_drained;  /* state SQ_DRAINING: raise an event when drained */
	/* software has enabled memory copies (MMO requests); without that, such a request fails
	 * with a bad opcode */
	bool may_copy;
	uint32_t ece; /* connection establishment options in force (ECE) */
	struct pd *pd;
	struct cq *send_cq, *recv_cq;
	/* the SRQ that replaces the receive queue, or NULL. It counts the QP in users, so it is not
	 * destroyed before the QP */
	struct srq *srq;
	struct pd *xrcd; /* of an XRC target QP */
	/* set if the adapter fills the QP's send queue for tag matching's rendezvous; else NULL.
	 * Freed with the QP, by transport/qp.c */
	struct tm_offload *offload;
	bool owes_last_wqe; /* state ERR: see qp_report_last_wqe() */
	struct uar *uar;    /* NULL: it has no send queue and no doorbell */
	uint32_t user_index;
	struct dma_map map;
	struct queue_umems umems;
	uint64_t dbr;
	uint64_t dbr_page; /* strict adapter: identity of the page at dbr, see pins.h */
	uint32_t mtu;      /* in bytes */
	uint32_t remote_qpn;
	struct qp_path path;
	uint8_t counter_set; /* counter set for its packets; 0: none */
	/* Most bytes of a response, or of a received message, that the CQE itself may carry. */
	uint8_t req_in_cqe, resp_in_cqe;
	bool remote_read, remote_write, remote_atomic;
	bool masked_4, masked_8; /* atomics with masks on 4, on 8 bytes are allowed */
	uint8_t retry_count, rnr_retry, min_rnr_timer, ack_timeout;
	uint32_t max_reads, max_reads_in;
	struct sq sq;
	struct rq rq;
	struct requester req;
	struct responder resp;
	TAILQ_HEAD(answers, answer) answers; /* responses to send: see transport/answer.h */
	bool out_of_order; /* takes requests out of order: see transport/out_of_order.h */
	unsigned int num_early;
	TAILQ_HEAD(, early) early;
	bool has_gap; /* a request before those of early is missing; on hca->gaps */
	uint64_t gap_since;
	LIST_ENTRY(qp) in_gaps;
	struct dci *dci;  /* of a DC initiator; else NULL. Freed with the QP, by transport/qp.c */
	struct dct *dct;  /* of a DC responder, its target; else NULL */
	uint32_t session; /* of a DC responder: the session that it serves, as in packets */
	TAILQ_ENTRY(qp) in_dct;
	struct sched_queue sched;
	/* group that is charged for the QP's responses, or NULL. Responses do not wait; the group's
	 * requests wait longer instead */
	struct sched_element *response_group;
	/* strict adapter: UMR that is delayed, or NULL; umr_forget() frees it when it has run, and
	 * on reset or failure */
	struct umr_wait *umr;
	bool ready;
	bool timed;
	/* state ERR: time between reads of the receive record, as software may post WQEs that must
	 * be flushed */
	uint64_t flush_poll;
	TAILQ_ENTRY(qp) in_uar;
	TAILQ_ENTRY(qp) in_ready;
	TAILQ_ENTRY(qp) in_timed;
	uint8_t context[CONTEXT_MAX];
};

/* Returns the protection domain that lkeys of the QP's send requests must belong to. */
struct pd *sq_pd(const struct qp *qp);
static inline bool qp_is_reliable(const struct qp *qp)
{
	return qp->service == FABRIC_RC || qp->service == FABRIC_XRC || qp->service == FABRIC_DC;
}

/* Returns whether the QP accepts incoming packets. State SQER stops only the send queue, so the QP
 * still accepts packets (IBTA vol 1, 10.3.1). */
static inline bool qp_receives(const struct qp *qp)
{
	return qp->state == PRM_QP_STATE_RTR || qp->state == PRM_QP_STATE_RTS ||
	       qp->state == PRM_QP_STATE_SQ_DRAINING || qp->state == PRM_QP_STATE_SQD ||
	       qp->state == PRM_QP_STATE_SQER;
}

/* Returns whether the QP sends requests and accepts their responses. In SQ_DRAINING only requests
 * that have begun go on: see drain.c. */
static inline bool qp_requests(const struct qp *qp)
{
	return qp->state == PRM_QP_STATE_RTS || qp->state == PRM_QP_STATE_SQ_DRAINING;
}

static inline uint16_t sq_mask(const struct qp *qp)
{
	return (1u << qp->sq.log_size) - 1;
}

/* Returns whether the WQE at INDEX is posted and sq.entry has its size, so that the next WQE can be
 * found. */
static inline bool sq_has_entry(const struct qp *qp, uint16_t index)
{
	uint16_t bbs = qp->sq.entry[index & sq_mask(qp)].bbs;

	return bbs && bbs <= (uint16_t)(qp->sq.pi - index);
}

/* Returns tag matching's fields for a CQE, or NULL. */
static inline const struct tm_note *rq_note(const struct qp *qp)
{
	return qp->resp.tm.op ? &qp->resp.tm : NULL;
}

/* Puts the QP on the loop's list of QPs with work. Doorbells and state changes call it. A QP that
 * is on the list keeps its place. */
void qp_wake(struct hca *hca, struct qp *qp);
void qp_set_timer(struct hca *hca, struct qp *qp, uint64_t deadline);
/* Puts the QP's requests and responses in these scheduling groups; NULL: in none. */
void qp_schedule(struct hca *hca, struct qp *qp, struct sched_element *requests,
		 struct sched_element *responses);
/* Moves the QP to state ERR, which flushes posted WQEs and all that follow. An EVENT below 0: raise
 * no asynchronous event. Does nothing in state ERR, so that a QP that fails raises one event. */
void qp_fail(struct hca *hca, struct qp *qp, int event);
/* Puts the send queue in state SQER, which only unreliable services have; on a reliable service,
 * moves the whole QP to state ERR. IBTA vol 1, 10.3.1 */
void qp_fail_send(struct hca *hca, struct qp *qp);
/* Reports once that a QP in error takes no more WQEs of its SRQ and completes no more, so that
 * software can free the buffers after the event. Does nothing while the QP still fetches messages
 * for matched tags; qp_flush() calls it again. IBTA vol 1, 10.3.1 */
void qp_report_last_wqe(struct hca *hca, struct qp *qp);
void qp_reset_queues(struct qp *qp);
void qp_leave_port(struct hca *hca, struct qp *qp);

void sq_scan_doorbells(struct hca *hca, struct uar *uar);
int sq_read_doorbell(struct hca *hca, struct qp *qp);
/* Fetches the posted WQE at INDEX. Returns 0 or EFAULT; *RAW is valid until the next fetch. */
int sq_fetch(struct hca *hca, struct qp *qp, uint16_t index, const uint8_t **raw);
/* Drops cached WQEs and digests, as software may change waiting WQEs while the queue is stopped,
 * and the queue must read the new ones. */
void sq_read_again(struct hca *hca, struct qp *qp);
/* Copies BBS blocks of the ring from INDEX on, whether posted or not. Returns 0 or EFAULT. */
int sq_copy(struct hca *hca, const struct qp *qp, uint16_t index, uint32_t bbs, uint8_t *buf);
/* Completes the WQE at sq.ci. The CQE carries the inline data only if the data fit and the QP
 * scatters to CQEs. */
void sq_complete(struct hca *hca, struct qp *qp, const uint8_t *inline_data, uint32_t inline_len);
/* Completes the WQE at sq.ci in error, which puts the QP in error. */
void sq_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor_syndrome);
/* Flushes up to BUDGET WQEs. Returns true if some are left. The caller calls again in the QP's next
 * turn, so that one QP does not stop the others. */
bool sq_flush(struct hca *hca, struct qp *qp, unsigned int budget);

/* Fetches the next WQE into qp->resp. Returns 0, ENOENT if none is posted, EBADMSG if its signature
 * is wrong, or EFAULT. A WQE of an SRQ leaves the SRQ at once, as other QPs take the next one. */
int rq_fetch(struct hca *hca, struct qp *qp);
/* Completes the WQE in qp->resp, which HELD names, for a request that was taken out of order. */
void rq_complete_early(struct hca *hca, struct qp *qp, struct completion *done,
		       const struct held_receive *held);
/* Completes the WQE in qp->resp. Returns 0, or an error of cq_post(); after EFAULT the WQE is still
 * there. */
int rq_complete(struct hca *hca, struct qp *qp, struct completion *done);
/* Return the protection domain and the CQ for the WQE in qp->resp: the SRQ's if the WQE came from
 * an SRQ. */
struct pd *rq_pd(const struct qp *qp);
struct cq *rq_cq(const struct qp *qp);
/* Completes the WQE in qp->resp in error and moves the QP to ERR. Raises no event, as the CQE
 * reports the error. */
void rq_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor_syndrome);
bool rq_flush(struct hca *hca, struct qp *qp, unsigned int budget);
void qp_free(struct hca *hca, struct qp *qp);

#endif
