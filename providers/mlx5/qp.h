/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - a queue pair: its two rings, the routines chosen for it when it was created, and the send
 * WQE under construction.
 *
 * Fields are ordered by who touches them: posting sends first, then posting receives, then the
 * public object, then the rest. sq_lock guards the send ring and the WQE under construction; the
 * receive side has a lock of its own (rq.h); the tails belong to the pollers of the CQs (see wq.h).
 */
#ifndef PROVIDERS_MLX5_QP_H
#define PROVIDERS_MLX5_QP_H

#include <infiniband/mlx5dv.h>

#include "libibverbs/driver.h"
#include "providers/common/branch.h"
#include "providers/common/hwbuf.h"
#include "providers/common/lock.h"
#include "providers/common/wq.h"
#include "providers/mlx5/mkey.h"
#include "providers/mlx5/queue_mem.h"
#include "providers/mlx5/data/rq.h"
#include "providers/mlx5/uar.h"
#include "util/bits.h"

/* A doorbell is the register that a send queue rings, and the record that goes with it. */
struct mlx5_doorbell {
	uint8_t *reg;    /* that is rung; if the queue has it alone, the half that is next */
	uint32_t toggle; /* address bit by which the two halves differ */
	/* These are the lengths, in WQEBBs, of the longest request that may be pushed whole, by
	 * what it is (PUSH_*); at 0 such requests are only rung. */
	uint8_t push[3];
	uint8_t use; /* enum bfreg_use: the routines that post were chosen by it */
	__be32 *dbrec;
	struct mlx5_bfreg *bfreg;
};

#define SLOT_MASK(units) (((units)-1) * (uint32_t)sizeof(struct wq_slot))

/* A request has inline data or not, or has several WQEs, which no push takes. */
enum { PUSH_PLAIN, PUSH_INLINE, PUSH_NEVER };

struct mlx5_sq {
	uint8_t *buf;
	uint8_t *end;
	struct wq wq;         /* units are WQEBBs */
	uint64_t qpn_shifted; /* QPN << 8, as the control segment's first 8 bytes have it */
	uint32_t slot_mask;   /* wq.mask, in bytes of wq.slots */
	uint32_t pi;          /* next WQEBB; free-running, the device sees the low 16 bits */
	uint32_t sge_limit;   /* num_sge must be less; 0 while the state forbids to post */
	uint32_t key_flags;   /* of which requests on keys must have one; 0, as above */
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t wqe_bytes; /* room for one request */
	/* Inline data of no more bytes fits behind any head that an operation of the QP may have;
	 * what is longer is looked at more closely. */
	uint32_t usual_inline;
	uint32_t short_inline; /* the same, and no more than COPY_SMALL_MAX */
	uint16_t opcodes;      /* bit n: enum ibv_wr_opcode n can be posted as it is; see umr.h */
	uint16_t fence_next;   /* FENCE_NEXT: the next request waits for a UMR before it; or 0 */
	struct mlx5_doorbell db;
	/* The table has the third word of a control segment, by IBV_SEND_FENCE, _SIGNALED and
	 * _SOLICITED. */
	__be32 ctrl_flags[8];
	/* the same for requests on memory keys, which also depends on FENCE_NEXT */
	__be32 umr_flags[16];
};

/* This is beside the flags that choose a word of umr_flags. */
#define FENCE_NEXT 8u

/* What is noted of a request (struct wq_slot) has this bit when it is an atomic. */
#define SQ_DONE_ATOMIC (1u << 30)
#define ATOMIC_BYTES   8u

/* This is a send WQE under construction: see send_wqe.h. */
struct send_wqe {
	uint8_t *ctrl;
	uint8_t *seg;         /* where the next segment goes */
	uint32_t ds;          /* length so far, in 16-byte units */
	struct wq_slot *slot; /* where the request is noted */
	uint64_t head;        /* first 8 bytes of the control segment, less the length */
};

/* This is the batch between ibv_wr_start() and ibv_wr_complete(). */
struct mlx5_batch {
	/* The WQE that a builder has begun, for the setters. As in send_wqe, but the length is kept
	 * in the first 8 bytes of the control segment, less BATCH_UNITS. SEG is BATCH_NO_WQE
	 * before the first builder and after a failure. */
	uint8_t *ctrl, *seg;
	uint64_t head;
	uint32_t first_pi, first_head; /* the queue's indices before it, for when it is cancelled */
	uint8_t *header;               /* raw packets: where the frame's first bytes go, */
	uint32_t header_left;          /* and how many the payload still owes */
	uint8_t push;                  /* PUSH_*, of any request; asked when there is one */
	int err; /* first error, until the batch ends; from then on nothing is written */
};

#define BATCH_UNITS 1 /* the usual payload: one SGE */

/* This is no address, and behind the end of any ring, which setters of inline data look for. */
#define BATCH_NO_WQE ((uint8_t *)-4096)

/* This is the request on a memory key that is under construction: see data/mkey/configure.c. */
struct mkey_request {
	struct mlx5_mkey *mkey;
	uint8_t *ctrl; /* the WQE */
	uint32_t head; /* of the queue, when it began */
	__be32 flags;  /* the third word of the control segment */
	union mkey_progress progress;
	__be32 context;  /* first word of the context */
	uint64_t length; /* of what is laid out */
	uint32_t list_units;
	struct mkey_config next; /* what the key will have been told */
};

/* A QP that lays out memory keys knows which ones its batch has changed, a list, and looks at it
 * before it comes to the ends that its batches would have without. */
struct mkey_batch {
	struct mlx5_mkey *changed;
	int (*complete)(struct ibv_qp_ex *qpx);
	void (*abort)(struct ibv_qp_ex *qpx);
};

struct qp_rules;

struct mlx5_qp {
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
	int (*bind_mw)(struct mlx5_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
	struct qlock sq_lock;
	struct mlx5_sq sq;
	struct mlx5_batch batch;

	struct mlx5_rq rq;

	struct verbs_qp vqp;

	const struct qp_rules *rules; /* of its type */
	uint16_t opcodes;             /* of the send queue, when the state allows */
	struct queue_rec rec;
	__be32 *dbrec;       /* of rec */
	__be32 withheld[2];  /* rings apart: what stands for dbrec before state RTR */
	uint32_t min_header; /* raw packets: bytes of the frame that the device wants in the WQE */
	uint32_t max_tso_header; /* raw packets: bytes */
	bool has_signatures;     /* each WQE: see data/signature.h */
	bool out_of_order;       /* messages may be taken before their turn */
	bool has_ece;            /* the device answers to options */
	uint32_t ece_asked, ece_granted;
	struct queue_mem sq_buf; /* of types whose rings lie apart */
	struct queue_mem buf;    /* receive ring, then send ring */
	struct ibv_qp_cap cap;   /* as granted */
	/* What a raw packet QP is made of, if the kernel says so; 0: it does not, or there is no
	 * such part. */
	struct {
		uint32_t tirn, tisn, rqn, sqn;
		uint64_t tir_icm_addr;
	} parts;
	struct mkey_request mkey_request;
	struct mkey_batch mkey_batch;
	/* These are the first 8 bytes of WQEs, but for their index: of the usual request on a key,
	 * and of one that starts signatures. */
	uint64_t mkey_first, psv_first;
	uint16_t mkey_entries; /* pieces that a request has room for */
	bool is_gone;          /* the kernel has it no more, but what was made for it */
	bool drains;           /* the device stops the send queue when a signature is wrong */
	/* memory copies: where the device writes their outcome, which is not read */
	struct {
		struct hwbuf buf;
		struct verbs_mr *mr;
		uint32_t max; /* bytes of a copy */
	} copy;
	struct mlx5dv_qp_ex dv_qp; /* mlx5dv_qp_ex_from_ibv_qp_ex() */
};

int mlx5_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		   struct verbs_qp **vqp);
/* A QP of the library's own has no signatures, whatever the environment says. */
#define QP_CREATE_UNSIGNED (1u << 31)

/* The struct holds what mlx5dv_create_qp() is told beyond the verb. */
struct mlx5_qp_dv {
	uint32_t flags;               /* MLX5DV_QP_CREATE_* and QP_CREATE_UNSIGNED */
	const struct qp_rules *rules; /* of IBV_QPT_DRIVER; NULL for any other type */
	uint64_t access_key;          /* of a DCT */
	bool has_streams;             /* of a DCI, and then: */
	struct mlx5dv_dci_streams streams;
	uint64_t send_ops; /* enum mlx5dv_qp_create_send_ops_flags */
};

int mlx5_qp_create_dv(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		      const struct mlx5_qp_dv *dv, struct verbs_qp **vqp);
int mlx5_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int mlx5_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		  struct ibv_qp_init_attr *init_attr);
int mlx5_qp_destroy(struct ibv_qp *qp);

/* Returns a zeroed QP for CALL, which free() frees. It returns NULL when there is no memory, as the
 * log says. */
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
