/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - a queue pair: its two rings, the routines chosen when it was created, and the send WQE
 * under construction.
 *
 * Fields are ordered by their users: posting sends first, then the public object, then posting
 * receives, then slow paths. sq_lock guards the send ring and the WQE under construction. The
 * receive side has its own lock (rq.h). The pollers of the CQs own the tails (see wq.h).
 */
#ifndef PROVIDERS_MLX5_QP_QP_H
#define PROVIDERS_MLX5_QP_QP_H

#include <infiniband/mlx5dv.h>

#include "libibverbs/driver.h"
#include "providers/common/branch.h"
#include "providers/common/memory/hwbuf.h"
#include "providers/common/lock.h"
#include "providers/common/wq.h"
#include "providers/mlx5/mkey.h"
#include "providers/mlx5/queue_mem.h"
#include "providers/mlx5/data/rq.h"
#include "providers/mlx5/uar/uar.h"
#include "util/bits.h"

struct mlx5_doorbell {
	union {
		uint8_t *reg;             /* BFREG_OWN: half of the register to write next */
		struct mlx5_bfreg *bfreg; /* other uses: copy of mlx5_sq.bfreg, on this line */
	};
	uint32_t toggle; /* address bit by which the two halves differ */
	/* Longest WQE, in WQEBBs, that may be pushed whole, by kind of request (PUSH_*). 0: such
	 * requests are only rung. */
	uint8_t push[3];
	uint8_t use; /* enum bfreg_use; the posting routines were chosen for it */
	__be32 *dbrec;
};

/* Kinds of requests: without inline data, with inline data, or of several WQEs, which are never
 * pushed. */
enum { PUSH_PLAIN, PUSH_INLINE, PUSH_NEVER };

/* Fields that a poster writes and fields that a poller writes are on different cache lines. In
 * struct mlx5_qp, one line ends after wq.slots, a second after umr_flags, and a third with the QP's
 * context. A usual post reads the first and the third line; the poll of its completion reads the
 * second. */
struct mlx5_sq {
	uint8_t *buf;
	/* QPN << 8, as in the first 8 bytes of a control segment, so that a post only adds index
	 * and opcode */
	uint64_t qpn_shifted;
	/* next WQEBB; free-running, the device sees the low 16 bits. Guarded by the QP's sq_lock */
	uint32_t pi;
	/* A request's num_sge must be less than this. 0 while the state forbids posting, so one
	 * compare checks both. */
	uint32_t sge_limit;
	uint16_t opcodes; /* bit n: enum ibv_wr_opcode n can be posted directly; see umr.h */
	/* FENCE_NEXT if the next request must wait for an earlier UMR, else 0 */
	uint16_t fence_next;
	uint32_t slot_mask; /* wq.mask, as a byte offset into wq.slots */
	struct wq wq;

	/* The poller's copies of wq.slots, slot_mask and the QPN, on a line that posting does not
	 * write. */
	const struct wq_slot *done_slots;
	uint32_t done_mask;
	uint32_t number;
	struct mlx5_bfreg *bfreg;
	/* A request on memory keys must have one of these send flags. 0 while the state forbids
	 * posting, so one test checks both. */
	uint32_t key_flags;
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t wqe_bytes;
	/* Like ctrl_flags, for requests on memory keys; the index includes FENCE_NEXT. */
	uint8_t umr_flags[16];

	/* Inline data up to this length fits after the longest head of any operation of the QP;
	 * longer data is checked exactly. Most inline data is short, so one compare decides. */
	uint32_t usual_inline;
	uint32_t short_inline;
	uint8_t *end;
	struct mlx5_doorbell db;
	/* Last byte of the third word of a control segment, indexed by IBV_SEND_FENCE, _SIGNALED
	 * and _SOLICITED. */
	uint8_t ctrl_flags[8];
};

/* Sets the fields that poster and poller read from the slots and the mask of wq. The caller owns
 * the memory of the slots. */
static inline void sq_set_slots(struct mlx5_sq *sq)
{
	sq->slot_mask = sq->wq.mask * (uint32_t)sizeof(struct wq_slot);
	sq->done_mask = sq->slot_mask;
	sq->done_slots = sq->wq.slots;
}

#define FENCE_NEXT 8u

/* Flag in done_as of struct wq_slot: the request is an atomic. */
#define SQ_DONE_ATOMIC (1u << 30)
#define ATOMIC_BYTES   8u

struct send_wqe {
	uint8_t *ctrl;
	uint8_t *seg;
	uint32_t ds;
	struct wq_slot *slot;
	uint64_t head; /* first 8 bytes of the control segment, without the length */
};

struct mlx5_batch {
	/* The WQE that a builder has begun, for the setters that follow; as in struct send_wqe, but
	 * head includes the length minus BATCH_UNITS. seg is BATCH_NO_WQE before the first builder
	 * and after a failure. */
	uint8_t *ctrl, *seg;
	uint64_t head;
	/* indices of the queue at the start, restored when the batch is cancelled */
	uint32_t first_pi, first_head;
	uint8_t *header;
	/* raw packets: header bytes that the payload must still supply */
	uint32_t header_left;
	/* maximum PUSH_* of the batch's requests; used only if the batch has one request */
	uint8_t push;
	/* The gate of data/umr.h was opened since the last batch that was cancelled, so this batch
	 * may have the request that waits for a UMR. */
	bool opened_gate;
	int err; /* first error; the rest of the batch writes nothing */
};

#define BATCH_UNITS 1 /* length of the usual payload: one SGE */

/* Not an address, but larger than the end of any ring, so that the bounds check of inline setters
 * fails. */
#define BATCH_NO_WQE ((uint8_t *)-4096)

struct mkey_request {
	struct mlx5_mkey *mkey;
	uint8_t *ctrl;
	uint32_t head;
	__be32 flags;
	union mkey_progress progress;
	__be32 context;
	uint64_t length;
	uint32_t list_units;
	struct mkey_config next;
};

/* Memory keys that the batch has changed, and the original ends of a batch. A QP that configures
 * keys processes the list before it calls the original complete or abort. */
struct mkey_batch {
	struct mlx5_mkey *changed;
	int (*complete)(struct ibv_qp_ex *qpx);
	void (*abort)(struct ibv_qp_ex *qpx);
};

struct qp_rules;

struct mlx5_qp {
	struct qlock sq_lock;
	struct mlx5_sq sq;
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
	struct verbs_qp vqp;

	struct mlx5_batch batch;
	int (*bind_mw)(struct mlx5_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

	_Alignas(CACHE_LINE) struct mlx5_rq rq;

	const struct qp_rules *rules;
	/* bit n: enum ibv_wr_opcode n. ibv_post_send() has long_opcodes, too, by WQEs that count as
	 * several requests. */
	uint16_t opcodes, long_opcodes;
	struct queue_rec rec;
	__be32 *dbrec;
	__be32 withheld[2];  /* separate rings: replaces dbrec before state RTR */
	uint32_t min_header; /* raw packets: bytes of the frame that the WQE must contain */
	uint32_t max_tso_header;
	bool has_signatures;
	bool out_of_order;
	bool has_ece;
	uint32_t ece_asked, ece_granted;
	struct queue_mem sq_buf;
	struct queue_mem buf; /* receive ring, followed by the send ring */
	struct ibv_qp_cap cap;
	/* Device objects of a raw packet QP, if the kernel reports them, else 0. */
	struct {
		uint32_t tirn, tisn, rqn, sqn;
		uint64_t tir_icm_addr;
	} parts;
	struct mkey_request mkey_request;
	struct mkey_batch mkey_batch;
	/* First 8 bytes of WQEs without their index: of the usual request on a key, and of a
	 * request that sets a PSV. */
	uint64_t mkey_first, psv_first;
	uint16_t mkey_entries;
	/* The QP is destroyed in the kernel, but not freed yet, because releasing copy failed. */
	bool is_gone;
	bool drains;
	/* Memory copies: buffer for the device's status, limit of a copy. Nothing reads the status,
	 * but the WQE must name a place for it. */
	struct {
		struct hwbuf buf;
		struct verbs_mr *mr;
		uint32_t max;
	} copy;
	struct mlx5dv_qp_ex dv_qp;
};

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(struct mlx5_qp, sq.wq.tail) % CACHE_LINE == 0 &&
		      offsetof(struct mlx5_qp, rq.wq.tail) % CACHE_LINE == 0 &&
		      offsetof(struct mlx5_qp, sq.usual_inline) % CACHE_LINE == 0 &&
		      offsetof(struct mlx5_qp, sq.end) >
			      offsetof(struct mlx5_qp, sq.usual_inline) &&
		      (offsetof(struct mlx5_qp, vqp.qp.context) + sizeof(void *)) % CACHE_LINE == 0,
	      "lines of the poster, of the poller, and of both");
#endif

int mlx5_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		   struct verbs_qp **vqp);
/* Flag for the library's own QPs: no signatures, even if the environment enables them, because the
 * library writes the WQEs of these QPs without signatures. */
#define QP_CREATE_UNSIGNED (1u << 31)

/* Arguments of mlx5dv_create_qp() beyond those of the verb. */
struct mlx5_qp_dv {
	uint32_t flags;
	const struct qp_rules *rules;
	uint64_t access_key;
	bool has_streams;
	struct mlx5dv_dci_streams streams;
	uint64_t send_ops;
};

int mlx5_qp_create_dv(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		      const struct mlx5_qp_dv *dv, struct verbs_qp **vqp);
int mlx5_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
/* Opens the send queue of a QP that commands in the device's format have brought to RTS. */
void mlx5_qp_note_rts(struct ibv_qp *qp);
int mlx5_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		  struct ibv_qp_init_attr *init_attr);
int mlx5_qp_destroy(struct ibv_qp *qp);

/* Returns a zeroed QP for CALL, to be freed with free(). Returns NULL, logged, when there is no
 * memory. */
struct mlx5_qp *mlx5_qp_new(const char *call);

static inline struct mlx5_qp *to_mqp(struct ibv_qp *qp)
{
	return container_of(qp, struct mlx5_qp, vqp.qp);
}

static inline struct mlx5_qp *rq_qp(struct mlx5_rq *rq)
{
	return container_of(rq, struct mlx5_qp, rq);
}

static inline struct mlx5_qp *to_mqp_ex(struct ibv_qp_ex *qpx)
{
	return container_of(qpx, struct mlx5_qp, vqp.qp_ex);
}

#endif
