/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - queue pairs: what posting and polling need of them first, then what their life needs.
 */
#ifndef PROVIDERS_MLX4_QP_H
#define PROVIDERS_MLX4_QP_H

#include <assert.h>

#include "libibverbs/driver.h"
#include "prm/mlx4/wqe.h"
#include "providers/common/lock.h"
#include "providers/common/memory/queue_mem.h"
#include "providers/common/wq.h"
#include "util/bits.h"

/* What a QP sends, as far as WQEs differ. */
enum send_kind {
	SEND_CONNECTED,
	SEND_DATAGRAM,
	SEND_XRC, /* connected, and each request names an SRQ */
	SEND_RAW, /* frames of Ethernet */
	SEND_KINDS,
};

/* The usual opcodes are a range: what a kind of QP has of WRITEs and SENDs, with immediate data or
 * without. A frame has no immediate data. */
static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_RDMA_WRITE_WITH_IMM == 1 && IBV_WR_SEND == 2 &&
		      IBV_WR_SEND_WITH_IMM == 3,
	      "verbs: the usual opcodes are the first");

static inline uint32_t first_usual_opcode(enum send_kind kind)
{
	return kind == SEND_DATAGRAM || kind == SEND_RAW ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
}

static inline uint32_t usual_opcodes_of(enum send_kind kind)
{
	return (kind == SEND_RAW ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM) + 1 -
	       first_usual_opcode(kind);
}

/* done_as of a request has IBV_WC_WITH_IMM, and what no ibv_wc_flags is: it is an atomic one. */
#define SENT_WITH_IMM ((uint32_t)IBV_WC_WITH_IMM << WQ_DONE_FLAGS_SHIFT)
#define SENT_ATOMIC   (0x80u << WQ_DONE_FLAGS_SHIFT)

struct mlx4_blueflame;
struct mlx4_qp;
struct mlx4_rq;
struct mlx4_srq;

typedef int qp_post_send_fn(struct mlx4_qp *qp, struct ibv_send_wr *wr,
			    struct ibv_send_wr **bad_wr);

typedef int qp_bind_mw_fn(struct mlx4_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

typedef int post_recv_fn(struct mlx4_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

/* A ring of slots, each of which has one WQE. */
struct mlx4_sq {
	struct wq wq; /* its head is the index of the next WQE */
	uint8_t *buf;
	uint32_t slot_log;
	uint32_t note_mask;   /* bytes of wq.slots, but for those of one */
	uint32_t spare;       /* slots in front of the head that must not look like WQEs */
	uint32_t last_long;   /* index of the last WQE of several pieces: see sq_is_dirty() */
	uint32_t owner_shift; /* from an index to the bit of its lap in M4_CTRL_OWNER */
	uint32_t max_sge;
	uint32_t max_inline;
	uint32_t opcodes;          /* a bit for each ibv_wr_opcode that the state lets be posted */
	uint32_t usual_opcodes;    /* how many of them are usual: see usual_opcodes_of() */
	uint32_t unusual_flags;    /* of enum ibv_send_flags: inline, and checksums without help */
	uint64_t control_always;   /* words 1 and 2 of each WQE: all requests are signaled */
	uint8_t *doorbell;         /* register */
	struct mlx4_blueflame *bf; /* NULL: there is none */
	__be32 qpn_be;             /* as the registers want it: in the upper 24 bits */
};

struct mlx4_rq {
	struct wq wq;
	uint8_t *buf;
	uint32_t stride_log;
	uint32_t max_sge;
	uint32_t sge_limit; /* max_sge + 1 while the state allows to post, else 0 */
	__be32 *dbrec;
	post_recv_fn *post;
	struct qlock lock;
};

/* A batch of ibv_wr_*: from ibv_wr_start() to ibv_wr_complete() or ibv_wr_abort(). */
struct mlx4_batch {
	int err;
	uint32_t first;     /* head before it */
	uint8_t *ctrl;      /* of the WQE that setters work on */
	__be32 *aside;      /* of it: what its further pieces begin with */
	uint32_t head_size; /* of it, before its data; */
	uint32_t more;      /* and segments that other requests do not have there */
	bool is_whole;      /* the adapter need not read any data for it */
};

struct mlx4_qp {
	struct mlx4_sq sq;
	struct qlock sq_lock;
	qp_post_send_fn *post_send;
	qp_bind_mw_fn *bind_mw;
	struct mlx4_rq rq;
	struct mlx4_srq *srq; /* that it receives through; NULL: it has a ring */
	struct mlx4_batch batch;
	__be32 *asides; /* of each slot, for batches; NULL: the QP has no ibv_wr_* */
	struct verbs_qp vqp;

	enum send_kind kind;
	bool sq_sig_all, error_reported;
	bool is_ethernet;   /* the port is */
	uint8_t sl_shift;   /* so a service level stands in the word of a CQE */
	bool has_checksums; /* the device computes those of what it sends and receives */
	uint32_t max_tso_header;
	uint32_t opcodes; /* of the type */
	struct ibv_qp_cap cap;
	struct queue_mem buf;
	struct queue_rec rec; /* of receives; none without them */
};

static inline struct mlx4_qp *to_mqp(struct ibv_qp *qp)
{
	return container_of(qp, struct mlx4_qp, vqp.qp);
}

static inline struct mlx4_qp *to_mqp_ex(struct ibv_qp_ex *qpx)
{
	return container_of(qpx, struct mlx4_qp, vqp.qp_ex);
}

/* What the queues of a QP are like in memory */
struct mlx4_qp_size {
	uint32_t sq_slots, sq_slot_log, sq_spare, sq_max_sge, sq_max_inline;
	uint32_t rq_wqes, rq_stride_log;
	size_t sq_offset, rq_offset, bytes;
};

/* HEAD is how long a WQE of the type can be before its data. An atomic one, whose head is a segment
 * longer, has room for as much less. */
int mlx4_qp_size(const struct ibv_qp_cap *cap, uint32_t head, bool has_rq,
		 struct mlx4_qp_size *size);
/* A QP that receives for XRC posts nothing, and yet has a slot: the kernel takes no less. */
void mlx4_qp_size_target(struct mlx4_qp_size *size);
/* Returns how many inline bytes fit behind HEAD in a slot. */
uint32_t mlx4_inline_room(uint32_t head, uint32_t slot);

int mlx4_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		   struct verbs_qp **vqp);
int mlx4_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int mlx4_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		  struct ibv_qp_init_attr *init_attr);
int mlx4_qp_destroy(struct ibv_qp *qp);
/* Makes a further handle of a QP that receives for XRC. */
struct ibv_qp *mlx4_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr);

#endif
