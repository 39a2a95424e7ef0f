/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core.h - the adapter's objects and who offers what to whom inside the core.
 *
 * Everything here runs under the fabric's lock. An object is reached by its number through its
 * table (res.c) and holds plain pointers to the objects it uses; those count their users and cannot
 * be destroyed before them, so the pointers never dangle.
 */
#ifndef SOFTHCA_CORE_H
#define SOFTHCA_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/hca.h"
#include "softhca/fabric.h"
#include "softhca/fault.h"
#include "softhca/trace.h"
#include "softhca/device/driver_ifc.h"
#include "providers/mlx5/mlx5_ifc.h"

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull

/* ---- res.c: objects by number ---- */

struct res_table {
	void **slot;
	uint32_t size;   /* of slot[] */
	uint32_t first;  /* number of slot 0 */
	uint32_t cursor; /* where to look for a free slot: a freed number is not reused at once */
	uint32_t used;
	uint32_t max;
};

void res_init(struct res_table *table, uint32_t first, uint32_t max);
void res_free(struct res_table *table);
/* 0, ENOSPC at the table's limit, or ENOMEM */
int res_add(struct res_table *table, void *object, uint32_t *number);
void res_remove(struct res_table *table, uint32_t number);

static inline void *res_get(const struct res_table *table, uint32_t number)
{
	uint32_t index = number - table->first;

	return index < table->size ? table->slot[index] : NULL;
}

/* Walk all objects: for (i = 0; (obj = res_next(table, &i)) != NULL;) */
void *res_next(const struct res_table *table, uint32_t *index);

/* ---- dma.c: memory of the host ---- */

struct dma_extent {
	uint64_t offset; /* from the start of the map */
	uint64_t addr;
	uint64_t len;
};

/* A page list with its neighbours joined: offset in the object -> bus address. */
struct dma_map {
	struct dma_extent *extent;
	uint32_t count;
	uint64_t len;
};

/* Map LEN bytes that begin SKIP bytes into the first page of big-endian PAS[]. EINVAL: too few. */
int dma_map_pages(struct dma_map *map, const void *pas, size_t npas, unsigned int page_shift,
		  uint64_t skip, uint64_t len);
void dma_unmap(struct dma_map *map);

enum { DMA_BATCH_SEGS = 64 };

/* Collects pieces that are contiguous in BUF and moves them in as few bus calls as possible. */
struct dma_batch {
	struct hca *hca;
	bool write;
	uint8_t *buf;
	size_t bytes;
	unsigned int nsegs;
	struct hca_bus_seg seg[DMA_BATCH_SEGS];
};

void dma_begin_read(struct dma_batch *batch, struct hca *hca, void *buf);
void dma_begin_write(struct dma_batch *batch, struct hca *hca, const void *buf);
int dma_add(struct dma_batch *batch, uint64_t addr, uint64_t len);
int dma_add_map(struct dma_batch *batch, const struct dma_map *map, uint64_t offset, uint64_t len);
int dma_finish(struct dma_batch *batch);

int dma_read(struct hca *hca, uint64_t addr, void *buf, size_t len);
int dma_write(struct hca *hca, uint64_t addr, const void *buf, size_t len);
/* The same within a map, LEN bytes from OFFSET. */
int dma_write_map(struct hca *hca, const struct dma_map *map, uint64_t offset, const void *buf,
		  size_t len);

/* ---- simple objects ---- */

struct cq;
struct qp;

struct pd {
	uint32_t n;
	uint32_t users;
};

struct uar {
	uint32_t n;
	uint32_t users; /* send queues; a CQ can do without */
	LIST_HEAD(, qp) qps;
	LIST_HEAD(, cq) cqs;
	LIST_HEAD(, eth_sq) sqs;
};

/* ---- mkey.c ---- */

enum mkey_access {
	MKEY_LOCAL_READ = 1 << 0,
	MKEY_LOCAL_WRITE = 1 << 1,
	MKEY_REMOTE_READ = 1 << 2,
	MKEY_REMOTE_WRITE = 1 << 3,
	MKEY_REMOTE_ATOMIC = 1 << 4,
};

enum { MKEY_ANY_QP = 0xffffff };

/* Whether a key's range goes beyond the last address; it may end there. */
static inline bool mkey_range_wraps(uint64_t start, uint64_t len)
{
	return len && start + (len - 1) < start;
}

/* A piece of memory that a key made of other keys (KLM, KSM) stands for. */
struct klm {
	uint64_t offset; /* from the start of the list */
	uint64_t len;
	uint32_t key;
	uint64_t addr;
};

struct mkey {
	uint32_t n;    /* index, without the variant byte */
	uint32_t key;  /* as in WQEs */
	struct pd *pd; /* NULL: of the adapter's own, good in any */
	unsigned int access;
	uint8_t mode; /* enum prm_mkey_mode */
	bool whole;   /* length64: no end */
	bool free;    /* matches nothing, until UMR says otherwise */
	bool umr_enabled;
	bool may_invalidate;
	bool sink;    /* reads as zeroes, writes are lost */
	uint32_t qpn; /* the only one that may use it from remote, or MKEY_ANY_QP */
	uint64_t start, len;
	unsigned int page_shift;
	/* Translations: as software wrote them, and what follows from them once it is asked for */
	uint8_t *xlt;           /* NULL: none, or only map */
	uint32_t xlt_octowords; /* room */
	bool xlt_changed;
	struct dma_map map; /* MTT */
	struct klm *klm;
	uint32_t klms;
	uint8_t mkc[PRM_MKC_SIZE];
};

/* The memory key that allows ACCESS to LEN bytes at ADDR, or NULL. PD may be NULL for the queue that
 * works on memory keys: any. */
struct mkey *mkey_check(struct hca *hca, uint32_t key, const struct pd *pd, unsigned int access,
			uint64_t addr, uint64_t len);
/* Add the bytes, already checked, to a transfer. */
int mkey_dma(struct dma_batch *batch, struct mkey *mkey, uint64_t addr, uint64_t len);
void mkey_invalidate(struct mkey *mkey);
/* What is in the context has changed. */
void mkey_decode(struct mkey *mkey);

/* ---- xlt.c: translations of a key ---- */

enum { XLT_OCTOWORDS_MAX = 1 << 20, XLT_OCTOWORD = 16, LOG_MAX_KLMS = 16 };

/* Store LEN bytes that begin OFFSET into the table. 0, EINVAL: beyond its end, ENOMEM */
int xlt_write(struct mkey *mkey, uint64_t offset, const void *bytes, size_t len);
/* Bring map or klm up to date. 0 or EFAULT */
int xlt_prepare(struct mkey *mkey);
/* Of a key made of keys: the part of LEN bytes from ADDR that one key holds. False: there is none. */
bool xlt_piece(const struct mkey *mkey, uint64_t addr, uint64_t len, struct klm *piece);
void xlt_free(struct mkey *mkey);

/* ---- umr.c: work requests on memory keys ---- */

/* Execute the UMR that starts at RAW and has LEN bytes. 0 or the vendor syndrome */
int umr_execute(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);

/* What a SEND with invalidate from a peer may take away, or NULL. */
struct mkey *mkey_to_invalidate(struct hca *hca, uint32_t key, const struct pd *pd, uint32_t qpn);

/* ---- eq.c ---- */

struct eq {
	uint32_t n;
	uint32_t users; /* CQs that complete to it */
	uint64_t events;
	uint32_t log_size;
	uint32_t pi;
	uint32_t ci; /* as software last said; free-running, 24 bits of it come with the doorbell */
	uint32_t vector;    /* interrupt */
	bool armed;         /* the next EQE raises it */
	struct dma_map map; /* empty: the front gets events by call only */
	uint8_t eqc[PRM_EQC_SIZE];
};

void eq_completion(struct hca *hca, struct eq *eq, uint32_t cqn);
void eq_qp_event(struct hca *hca, enum prm_event type, uint32_t qpn); /* or an SRQ's number */
void eq_cq_error(struct hca *hca, uint32_t cqn, uint8_t syndrome);
void eq_internal_error(struct hca *hca);
/* COUNT below 0: to take back. False when no queue takes such events. */
bool eq_page_request(struct hca *hca, int32_t count);
void eq_port_change(struct hca *hca, unsigned int port, bool up);
/* A doorbell: software has consumed up to CI; when ARM, it wants to know of what comes behind. */
void eq_update(struct hca *hca, struct eq *eq, uint32_t ci, bool arm);

/* ---- cq.c ---- */

struct cq {
	/* completions */
	uint32_t n;
	uint32_t log_size;
	uint32_t cqe_size;
	uint32_t pi, ci; /* free-running; ci is what the doorbell record last said */
	struct dma_map map;
	uint64_t dbr;
	bool ignore_overrun;
	uint8_t status;
	/* notification: see cq_notify() */
	uint8_t armed;       /* 0 or enum value PRM_CQC_ST_*ARMED */
	uint32_t armed_from; /* consumer index the arm came with */
	uint32_t arm_word;   /* last one seen, or the sentinel */
	uint32_t notified;   /* producer index at the last event */
	uint32_t solicited;  /* producer index behind the last CQE with a solicited event */
	/* moderation: an event waits for so many CQEs, or so long; period 0: it does not wait */
	uint32_t max_count;
	uint64_t period; /* ns */
	bool waiting;    /* on hca->waiting_cqs, until the deadline at the latest */
	uint64_t deadline;
	LIST_ENTRY(cq) in_waiting;
	struct eq *eq;
	struct uar *uar; /* NULL: it was freed first, and nobody can arm this CQ */
	uint32_t users;
	LIST_ENTRY(cq) in_uar;
	uint8_t cqc[PRM_CQC_SIZE];
};

/* What a completion says; cq_post() turns it into bytes. */
struct completion {
	uint8_t opcode; /* MLX5_CQE_* */
	/* of a datagram */
	bool grh;
	uint8_t sl_or_l3; /* service level; on RoCE enum cqe_l3 */
	bool tagged;
	uint16_t vlan; /* priority and id, as in the tag */
	/* of every completion */
	bool solicited;
	uint8_t syndrome, vendor_syndrome; /* error CQEs */
	uint8_t send_opcode;               /* requester CQEs: the WQE's */
	uint16_t wqe_counter;
	uint32_t byte_count;
	uint32_t imm; /* big-endian */
	uint32_t remote_qpn;
	uint16_t slid;
	const struct srq *srq;      /* that the WQE came from */
	const uint8_t *inline_data; /* scattered into the CQE */
	uint32_t inline_len;
	struct dma_batch
		*before; /* data to write in the same bus call, with room for a CQE behind it */
};

enum { CQE_ROOM = 128 };

/* 0; EIO: the CQ is in error, and the QP has to follow; EFAULT: the call with DONE->before failed
 * and nothing has happened */
int cq_post(struct hca *hca, struct cq *cq, const struct qp *qp, const struct completion *done);
/* The same for a CQE that is complete but for its ownership bit; BEFORE as in struct completion. */
int cq_post_cqe(struct hca *hca, struct cq *cq, uint8_t cqe[64], struct dma_batch *before);
void cq_arm(struct hca *hca, struct cq *cq, uint32_t word);
void cq_forget_uar(struct uar *uar);
void cq_scan_arms(struct hca *hca, struct uar *uar);
/* Raise the events that have waited long enough; the next deadline, or HCA_IDLE. */
uint64_t cq_run_timers(struct hca *hca);
/* Largest payload that fits a CQE of this CQ */
static inline uint32_t cq_inline_max(const struct cq *cq)
{
	return cq->cqe_size == 128 ? 64 : 32;
}

/* ---- wqe.c: work queue elements as the device reads them ---- */

enum { WQE_BB = 64, WQE_BB_MAX = 16, WQE_SGE_MAX = 62, RECV_WQE_MAX = 512 };
enum { WQE_AV_COMPACT = 16, WQE_AV_EXTENDED = 48 };

struct wqe_sge {
	uint32_t len, lkey;
	uint64_t addr;
	const uint8_t *data; /* inline bytes instead of lkey and addr */
};

struct send_wqe {
	uint8_t opcode;
	uint8_t fence;
	bool signaled, solicited;
	uint16_t index;
	uint16_t bbs;
	uint32_t imm; /* big-endian */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t swap_add, compare;
	uint32_t srqn;               /* XRC */
	uint8_t av[WQE_AV_EXTENDED]; /* UD; zeroes behind a compact one */
	uint64_t length;             /* of all sges */
	unsigned int num_sge;
	struct wqe_sge sge[WQE_SGE_MAX];
};

/* Decode BBS blocks that start at RAW. 0 or the vendor syndrome of what is wrong. */
int wqe_decode_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t qpn,
		    enum fabric_service service, struct send_wqe *wqe);

struct recv_wqe {
	uint64_t length;
	unsigned int num_sge;
	struct wqe_sge sge[WQE_SGE_MAX];
};

void wqe_decode_recv(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);

/* ---- srq.c, srq_ring.c: shared receive queues ---- */

enum { LOG_MAX_SRQ = 16, LOG_MAX_SRQ_WQES = 15, LOG_MAX_XRCD = 10 };

struct srq_layout;

struct srq {
	uint32_t n;
	const struct srq_layout *layout; /* of its context: XRC SRQ or RMP */
	struct pd *pd;   /* that its buffers, and XRC requests, are checked against */
	struct pd *xrcd; /* NULL: no XRC SRQ */
	struct cq *cq;   /* of an XRC SRQ */
	uint32_t user_index;
	uint32_t log_size, stride;
	uint16_t next;  /* index of the WQE to take */
	uint16_t pi;    /* as the doorbell record last said: WQEs ever posted */
	uint16_t taken; /* WQEs ever taken */
	uint16_t limit; /* 0: no event wanted */
	bool failed;    /* its memory cannot be read */
	uint32_t users; /* QPs */
	struct dma_map map;
	uint64_t dbr;
	uint8_t context[PRM_SRQ_CONTEXT_MAX];
};

/* Take a WQE: 0 and its INDEX, ENOENT when none is posted, or EFAULT */
int srq_take(struct hca *hca, struct srq *srq, struct recv_wqe *wqe, uint16_t *index);
/* Raise the event when there are fewer WQEs than LIMIT, now or later. */
void srq_arm(struct hca *hca, struct srq *srq, uint16_t limit);
/* The XRC SRQ of that number in that domain, or NULL. */
struct srq *srq_find_xrc(const struct hca *hca, uint32_t n, const struct pd *xrcd);

/* ---- qp.c, qp_modify.c, sq.c, rq.c ---- */

enum { SQ_CACHE_BBS = WQE_BB_MAX, RQ_CACHE_BYTES = 1024 };

/* One send WQE between transmission and completion. */
struct sq_entry {
	uint32_t psn, packets;
	uint64_t length;
	uint16_t bbs;
	uint8_t opcode;
	bool signaled;
	bool returns_data; /* READ and atomics: completed by a response, not by an ACK */
};

struct sq {
	uint32_t log_size;      /* WQEBBs */
	uint64_t offset;        /* of the ring in qp->map */
	uint16_t pi;            /* from the doorbell record */
	uint16_t next;          /* to transmit */
	uint16_t ci;            /* oldest not completed */
	struct sq_entry *entry; /* by index of the first WQEBB */
	/* fetched blocks cache_from .. cache_from + cache_bbs */
	uint16_t cache_from, cache_bbs;
	uint8_t cache[SQ_CACHE_BBS * WQE_BB];
};

struct rq {
	uint32_t log_size; /* WQEs */
	uint32_t stride;
	uint16_t pi, ci;
	uint16_t cache_from, cache_count;
	uint8_t cache[RQ_CACHE_BYTES];
};

/* Requester: turns send WQEs into requests, and responses into completions. IBTA 9.7.3 */
struct requester {
	uint32_t next_psn; /* of the next packet to send; goes back on a retry */
	uint32_t sent_psn; /* behind the last packet ever sent */
	uint32_t unacked;  /* oldest PSN without acknowledge */
	uint64_t offset;   /* bytes of the WQE at sq.next that are on the wire */
	uint8_t retries_left, rnr_left;
	bool rnr_wait;
	bool gone_back;    /* for a gap in the responses: what follows the gap says nothing new */
	uint32_t window;   /* bytes that may be on the wire */
	uint64_t deadline; /* of the timer, HCA_IDLE when it is off */
	bool decoded;      /* wqe holds the WQE at wqe.index */
	struct send_wqe wqe;
};

enum { ATOMIC_CACHE = 16 };

/* Responder: executes requests. IBTA 9.7.4 */
struct responder {
	uint32_t expected_psn;
	uint32_t msn;      /* requests completed */
	bool nak_sent;     /* one NAK per gap */
	bool established;  /* COMM_EST was reported */
	bool receiving;    /* recv holds the receive WQE of a SEND under way */
	bool dropping;     /* UC: until the next request begins */
	bool under_way;    /* the last request is not complete, and */
	enum fabric_op op; /* is one of these */
	struct srq *srq;   /* that recv was taken from, or will be; NULL: the QP's own queue */
	uint16_t index;    /* of recv in its queue */
	struct recv_wqe recv;
	uint64_t received; /* bytes of the message under way */
	uint64_t write_addr, write_left;
	uint32_t write_key;
	unsigned int atomics; /* cursor in the cache of results, for duplicates */
	struct {
		bool used;
		uint32_t psn;
		uint64_t value;
	} atomic[ATOMIC_CACHE];
};

/* From an address path in a QP's context, or an address vector in a WQE. */
struct qp_path {
	struct fabric_addr addr; /* what the source GID does not say */
	uint8_t gid_index;
	uint16_t pkey;
};

/* The QPs for management, each port has its own; on the wire they have these numbers. */
enum { QP_SMI = 0, QP_GSI = 1, QP_SPECIAL = 2 };

struct qp {
	uint32_t n;
	enum prm_qp_state state;
	enum fabric_service service;
	int special;   /* QP_SMI, QP_GSI, or -1 */
	uint32_t wire; /* number that it sends from */
	uint32_t qkey;
	bool blocks_own_multicast;
	struct pd *pd;
	struct cq *send_cq, *recv_cq;
	struct srq *srq; /* that it receives through */
	struct pd *xrcd; /* of a QP that receives for XRC SRQs */
	struct uar *uar; /* NULL: no send queue, no doorbell */
	uint32_t user_index;
	struct dma_map map;
	uint64_t dbr;
	uint32_t mtu; /* bytes */
	uint32_t remote_qpn;
	struct qp_path path;
	uint8_t counter_set; /* 0: none */
	uint8_t cs_req, cs_res;
	bool remote_read, remote_write, remote_atomic;
	uint8_t retry_count, rnr_retry, min_rnr_timer, ack_timeout;
	uint32_t max_reads, max_reads_in;
	struct sq sq;
	struct rq rq;
	struct requester req;
	struct responder resp;
	bool ready;          /* on hca->ready */
	bool timed;          /* on hca->timed */
	uint64_t flush_poll; /* in state ERR: pause between looks at the receive doorbell record */
	LIST_ENTRY(qp) in_uar;
	TAILQ_ENTRY(qp) in_ready;
	TAILQ_ENTRY(qp) in_timed;
	uint8_t qpc[PRM_QPC_SIZE];
};

static inline bool qp_is_reliable(const struct qp *qp)
{
	return qp->service == FABRIC_RC || qp->service == FABRIC_XRC;
}

/* Does it take what arrives? In state SQER only its send queue is in error. */
static inline bool qp_receives(const struct qp *qp)
{
	return qp->state == PRM_QP_STATE_RTR || qp->state == PRM_QP_STATE_RTS ||
	       qp->state == PRM_QP_STATE_SQER;
}

static inline uint16_t sq_mask(const struct qp *qp)
{
	return (1u << qp->sq.log_size) - 1;
}

/* Has the queue work to look at; called by doorbells and by state changes. */
void qp_wake(struct hca *hca, struct qp *qp);
void qp_set_timer(struct hca *hca, struct qp *qp, uint64_t deadline);
/* To state ERR; what is posted, and what will be, is flushed. EVENT below 0: no asynchronous event.
 * */
void qp_fail(struct hca *hca, struct qp *qp, int event);
/* The send queue is in error; on a reliable service, the QP. */
void qp_fail_send(struct hca *hca, struct qp *qp);
void qp_reset_queues(struct qp *qp);
/* A management QP no longer serves its port. */
void qp_leave_port(struct hca *hca, struct qp *qp);

/* sq.c: ring and completions of the send queue */
void sq_scan_doorbells(struct hca *hca, struct uar *uar);
int sq_read_doorbell(struct hca *hca, struct qp *qp);
/* The posted WQE at INDEX; *RAW stays valid until the next fetch. EFAULT or 0 */
int sq_fetch(struct hca *hca, struct qp *qp, uint16_t index, const uint8_t **raw);
/* The WQE at sq.ci is done; data for its CQE only if it fits and the QP scatters to CQEs. */
void sq_complete(struct hca *hca, struct qp *qp, const uint8_t *inline_data, uint32_t inline_len);
/* The WQE at sq.ci failed, and with it the QP. */
void sq_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor_syndrome);
/* Flush up to BUDGET WQEs; true when some are left */
bool sq_flush(struct hca *hca, struct qp *qp, unsigned int budget);

/* rq.c */
/* Fetch the next WQE into qp->resp: 0, ENOENT when none is posted, or EFAULT. One from an SRQ is taken
 * from there for good. */
int rq_fetch(struct hca *hca, struct qp *qp);
/* The WQE in qp->resp is done. EFAULT: as cq_post() says, and the WQE is still there. */
int rq_complete(struct hca *hca, struct qp *qp, struct completion *done);
/* Whose keys and which CQ count for what is received. */
struct pd *rq_pd(const struct qp *qp);
struct cq *rq_cq(const struct qp *qp);
/* It failed, and with it the QP: the CQE says enough without an event. */
void rq_fail(struct hca *hca, struct qp *qp, uint8_t syndrome, uint8_t vendor_syndrome);
bool rq_flush(struct hca *hca, struct qp *qp, unsigned int budget);

/* ---- q_counter.c: what happens on the queues that name a set of counters ---- */

enum q_event {
	Q_RX_WRITE,
	Q_RX_READ,
	Q_RX_ATOMIC,
	Q_OUT_OF_BUFFER,
	Q_OUT_OF_SEQUENCE,
	Q_DUPLICATE,
	Q_RNR_NAK,
	Q_SEQUENCE_NAK,
	Q_IMPLIED_NAK,
	Q_TIMEOUT,
	Q_RESP_LENGTH,
	Q_RESP_CQE_ERROR,
	Q_REQ_CQE_ERROR,
	Q_REQ_REMOTE_INVALID,
	Q_REQ_REMOTE_ACCESS,
	Q_RESP_REMOTE_ACCESS,
	Q_RESP_FLUSH,
	Q_REQ_FLUSH,
	Q_COUNTERS,
};

enum { MAX_Q_COUNTERS = 255 }; /* sets */

void q_count(struct hca *hca, const struct qp *qp, enum q_event event);

/* ---- req.c, resp.c ---- */

/* Transmit up to BUDGET bytes; true when there is more to do now. */
bool req_run(struct hca *hca, struct qp *qp, uint64_t budget);
void req_timeout(struct hca *hca, struct qp *qp);
void req_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
void resp_receive(struct hca *hca, struct qp *qp, const struct fabric_msg *msg);
/* A datagram, for one QP or for those that joined its group. */
void ud_receive(struct hca *hca, unsigned int port, const struct fabric_msg *msg);
void req_reset(struct qp *qp);
void resp_reset(struct qp *qp);
/* Address MSG to the peer. */
void qp_address(struct hca *hca, const struct qp *qp, struct fabric_msg *msg);

/* ---- path.c ---- */

void path_decode(const struct hca *hca, const uint8_t *ads, struct qp_path *path);
/* From an address vector of a QP whose path is OWN. False: it leads nowhere. */
bool path_decode_av(const struct hca *hca, const uint8_t *av, const struct qp_path *own,
		    struct qp_path *path);
/* Where a message along PATH goes, and where it comes from as of now. */
void path_address(const struct hca *hca, const struct qp_path *path, struct fabric_addr *addr);

#define PSN_MASK 0xffffffu

/* Signed distance from B to A on the circle of 24 bits */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/* Is the payload as long as that many packets have to be? Not those of READ requests. */
bool packets_fit(const struct fabric_msg *msg, uint32_t mtu);
/* Take the packets before PSN, which have arrived before, out of a message; one at least is left. */
void packets_skip(struct fabric_msg *msg, uint32_t psn, uint32_t mtu);

/* A message without payload is one packet. */
static inline uint32_t packets_of(uint64_t len, uint32_t mtu)
{
	return len ? (uint32_t)((len + mtu - 1) / mtu) : 1;
}

/* ---- port.c ---- */

enum { PORT_MAX = 4, PORT_GIDS_IB = 8, PORT_GIDS_ROCE = 256, PORT_PKEYS = 128 };

struct gid_entry {
	uint8_t raw[PRM_ROCE_ADDR_SIZE]; /* roce_addr_layout */
	bool valid;
};

enum {
	FRAME_FCS_LEN = 4,
	FRAME_SIZES = 10, /* classes of frames by their size: RFC 2819 */
	PORT_MTU_MAX = FABRIC_FRAME_MAX + FRAME_FCS_LEN,
	PORT_MTU_DEFAULT = 1522, /* addresses, type, a tag and FCS included */
};

/* Of an Ethernet port; bytes without FCS. */
struct frame_counters {
	uint64_t frames, bytes;
	uint64_t multicast, multicast_bytes, broadcast, broadcast_bytes;
	uint64_t by_size[FRAME_SIZES];
	uint64_t discards, too_long;
};

/* RDMA messages of a port, in packets and bytes of payload. */
struct message_counters {
	uint64_t packets, bytes, multicast_packets, multicast_bytes;
};

struct port {
	uint16_t lid;
	uint64_t guid;
	bool admin_down; /* software does not want the link, */
	bool link_down;  /* or there is nothing at its other end */
	uint16_t mtu;    /* largest frame, FCS included */
	uint32_t link_downs;
	struct frame_counters sent, received;
	struct message_counters messages_sent, messages_received;
	uint32_t cap_mask;
	struct qp *special[QP_SPECIAL];
	unsigned int gids; /* entries from here on are empty */
	struct gid_entry gid[PORT_GIDS_ROCE];
};

void port_init(struct hca *hca, unsigned int port);
bool port_is_up(const struct hca *hca, unsigned int port);
void port_count_message(struct message_counters *counters, const struct fabric_msg *msg);
/* Software wants the link up, or down: PORT_CHANGE when that makes a difference. */
void port_set_admin(struct hca *hca, unsigned int port, bool up);
/* What is at INDEX of a port's table, or NULL when that entry is empty; its GID. */
const struct gid_entry *port_gid_entry(const struct hca *hca, unsigned int port,
				       unsigned int index);
const uint8_t *port_gid(const struct hca *hca, unsigned int port, unsigned int index);
bool port_has_gid(const struct hca *hca, unsigned int port, const uint8_t gid[16]);

/* ---- mcg.c: multicast groups ---- */

enum { MCG_MAX = 1 << 10, MCG_MAX_QPS = 240 };

struct mcg_member {
	LIST_ENTRY(mcg_member) entry;
	uint8_t gid[16];
	struct qp *qp;
};

/* The QP is going away. */
void mcg_forget(struct hca *hca, struct qp *qp);

/* ---- cmd.c: dispatch ---- */

struct cmd {
	const uint8_t *in;
	size_t in_len;
	uint8_t *out;
	size_t out_len;
	const char *why; /* it failed; becomes the syndrome and a line in the trace */
};

typedef enum prm_status (*cmd_fn)(struct hca *hca, struct cmd *cmd);

static inline enum prm_status cmd_fail(struct cmd *cmd, enum prm_status status, const char *why)
{
	cmd->why = why;
	return status;
}

/* errno of an allocation -> status */
enum prm_status cmd_errno(struct cmd *cmd, int err, const char *what);

enum { CMD_OUT_MAX = PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE };

/* Bytes that an answer of variable length may have */
static inline size_t cmd_out_room(const struct cmd *cmd)
{
	return cmd->out_len < CMD_OUT_MAX ? cmd->out_len : CMD_OUT_MAX;
}

/* PAS[] at PART of the input mailbox: pointer and how many fit */
static inline const void *cmd_pas(const struct cmd *cmd, uint32_t part, size_t *count)
{
	size_t at = PRM_BYTE(part);

	*count = cmd->in_len > at ? (cmd->in_len - at) / 8 : 0;
	return cmd->in + at;
}

enum prm_status driver_enable(struct hca *hca, struct cmd *cmd);
enum prm_status driver_disable(struct hca *hca, struct cmd *cmd);
enum prm_status driver_query_issi(struct hca *hca, struct cmd *cmd);
enum prm_status driver_set_issi(struct hca *hca, struct cmd *cmd);
enum prm_status driver_query_pages(struct hca *hca, struct cmd *cmd);
enum prm_status driver_manage_pages(struct hca *hca, struct cmd *cmd);
enum prm_status driver_init(struct hca *hca, struct cmd *cmd);
enum prm_status driver_teardown(struct hca *hca, struct cmd *cmd);
enum prm_status xrcd_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status xrcd_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status xrc_srq_create(struct hca *hca, struct cmd *cmd);
enum prm_status xrc_srq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status rmp_create(struct hca *hca, struct cmd *cmd);
enum prm_status rmp_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status xrc_srq_arm(struct hca *hca, struct cmd *cmd);
enum prm_status xrc_srq_query(struct hca *hca, struct cmd *cmd);
enum prm_status rmp_modify(struct hca *hca, struct cmd *cmd);
enum prm_status rmp_query(struct hca *hca, struct cmd *cmd);
enum prm_status reg_access(struct hca *hca, struct cmd *cmd);
enum prm_status caps_query(struct hca *hca, struct cmd *cmd);
enum prm_status caps_set(struct hca *hca, struct cmd *cmd);
enum prm_status caps_query_adapter(struct hca *hca, struct cmd *cmd);
enum prm_status uar_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status uar_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status pd_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status pd_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status td_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status td_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status mkey_create(struct hca *hca, struct cmd *cmd);
enum prm_status mkey_query(struct hca *hca, struct cmd *cmd);
enum prm_status mkey_query_special(struct hca *hca, struct cmd *cmd);
enum prm_status mkey_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status eq_create(struct hca *hca, struct cmd *cmd);
enum prm_status eq_query(struct hca *hca, struct cmd *cmd);
enum prm_status eq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status cq_create(struct hca *hca, struct cmd *cmd);
enum prm_status cq_query(struct hca *hca, struct cmd *cmd);
enum prm_status cq_modify(struct hca *hca, struct cmd *cmd);
enum prm_status cq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status qp_create(struct hca *hca, struct cmd *cmd);
enum prm_status qp_query(struct hca *hca, struct cmd *cmd);
enum prm_status qp_modify(struct hca *hca, struct cmd *cmd);
enum prm_status qp_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status mcg_attach(struct hca *hca, struct cmd *cmd);
enum prm_status mcg_detach(struct hca *hca, struct cmd *cmd);
enum prm_status port_query_context(struct hca *hca, struct cmd *cmd);
enum prm_status port_modify_context(struct hca *hca, struct cmd *cmd);
enum prm_status port_query_gid(struct hca *hca, struct cmd *cmd);
enum prm_status port_query_pkey(struct hca *hca, struct cmd *cmd);
enum prm_status port_set_roce_address(struct hca *hca, struct cmd *cmd);
enum prm_status port_query_roce_address(struct hca *hca, struct cmd *cmd);

/* The keys that the adapter has of its own. */
int mkey_add_special(struct hca *hca);

/* Free what the front left behind. */
void pages_free(struct hca *hca);
/* Ask the driver for pages, or to take some back, where the number of objects calls for it. */
void pages_balance(struct hca *hca);
void pages_forget_requests(struct hca *hca);
void srq_free(struct srq *srq);
void srq_free_all(struct hca *hca);
void pd_free_all(struct hca *hca);
void mkey_free(struct mkey *mkey);
void eq_free(struct eq *eq);
void cq_free(struct cq *cq);
void qp_free(struct hca *hca, struct qp *qp);

/* ---- driver.c ---- */

struct driver {
	bool enabled, initialized;
	uint16_t issi;
	uint64_t *page; /* of the host, kept for it */
	uint32_t pages;
	int64_t requested; /* pages that an event has asked for; below 0: to take back */
	uint32_t denied;   /* how many were wanted when the driver had none to give */
};

/* ---- caps.c ---- */

enum { CAPS_WRITABLE = 2 };

struct caps {
	bool is_set[CAPS_WRITABLE];
	uint8_t value[CAPS_WRITABLE];
};

/* ---- hca.c ---- */

struct hca {
	struct hca_config config;
	struct fabric *fabric;
	bool owns_fabric;
	bool dead;
	bool owner_gone; /* memory was needed for the message under way whose owner has ended */
	uint64_t now;
	uint64_t next_timer; /* no timer is due before */
	TAILQ_HEAD(qp_list, qp) ready;
	struct qp_list timed;
	LIST_HEAD(, cq) waiting_cqs; /* for their moderation's time */
	LIST_HEAD(, mcg_member) mcg_members;
	struct mkey *sink_key;
	struct res_table uars, pds, tds, mkeys, eqs, cqs, qps, xrcds, srqs;
	struct port port[PORT_MAX];
	struct driver driver;
	struct caps caps;
	struct eth *eth; /* eth.h */
	uint8_t *bounce; /* payload of the message under way, FABRIC_PAYLOAD_MAX */
};

/* The adapter dies, with the lock held. */
void hca_die(struct hca *hca);
/* A message has arrived at a port. */
void hca_receive(struct hca *hca, unsigned int port, const struct fabric_msg *msg);
/* A frame has arrived at an Ethernet port; FABRIC_FRAME_MIN bytes or more. */
void hca_receive_frame(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len);

#endif
