/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.h - queue pairs: first the fields for posting and polling, then those for control.
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

enum send_kind {
	SEND_CONNECTED,
	SEND_DATAGRAM,
	SEND_XRC,
	SEND_RAW,
	SEND_KINDS,
};

/* Opcodes of the fast path form a range: the WRITEs and SENDs that a kind supports, with or without
 * immediate data. Frames have no immediate data. */
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

/* Bits of done_as: IBV_WC_WITH_IMM, and a bit outside ibv_wc_flags for atomics. */
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

/* A ring of slots with one WQE each. Fields that posters write and fields that pollers write are on
 * different cache lines. In struct mlx4_qp a line ends after wq.slots, one before control_always,
 * and one with the QP's context: a usual post reads the first and the third of these lines, the
 * poll of its completion the second. */
struct mlx4_sq {
	uint8_t *buf;
	uint32_t slot_log;
	uint32_t spare; /* slots in front of the head that must not look like WQEs */
	/* index of the last WQE with several pieces: only such WQEs leave pieces that need
	 * stamps */
	uint32_t last_long;
	uint32_t owner_shift; /* left shift of an index, to move its lap's bit to M4_CTRL_OWNER */
	uint32_t max_sge;
	uint32_t usual_opcodes;
	struct wq wq; /* head is the index of the next WQE */

	struct wq_slot *done_slots; /* wq.slots, for pollers, on their own cache line */
	uint32_t note_mask;         /* mask for byte offsets into done_slots */
	uint32_t number;
	/* fills the cache line, so that posters and pollers write different ones */
	uint8_t gap[40];

	uint64_t control_always; /* M4_SIGNALED if all requests are signaled (sq_sig_all), else 0 */
	uint8_t *doorbell;
	struct mlx4_blueflame *bf;
	__be32 qpn_be; /* upper 24 bits, as the registers need it */
	/* send_flags that need the slow path: inline, and unsupported checksums */
	uint32_t unusual_flags;
	uint32_t max_inline;
	uint32_t opcodes; /* bit n: enum ibv_wr_opcode n may be posted in this state */
};

struct mlx4_rq {
	post_recv_fn *post;
	struct qlock lock;
	uint8_t *buf;
	__be32 *dbrec;
	uint32_t stride_log;
	/* max_sge + 1 while the state permits posting, else 0, so one compare checks both */
	uint32_t sge_limit;
	struct wq wq; /* in struct mlx4_qp, tail, which pollers write, begins a cache line */
	uint32_t max_sge;
};

struct mlx4_batch {
	int err;
	uint32_t first;
	uint8_t *ctrl;
	__be32 *aside;
	uint32_t head_size;
	uint32_t more;
	bool is_whole; /* the adapter need not read data from memory */
};

struct mlx4_qp {
	struct qlock sq_lock;
	struct mlx4_sq sq;
	qp_bind_mw_fn *bind_mw;
	qp_post_send_fn *post_send;
	struct verbs_qp vqp;
	struct mlx4_batch batch;
	__be32 *asides; /* first words of pieces by slot, for batches; NULL: no ibv_wr_* */

	_Alignas(CACHE_LINE) struct mlx4_rq rq;
	struct mlx4_srq *srq;
	enum send_kind kind;
	bool sq_sig_all, error_reported;
	bool is_ethernet;
	uint8_t sl_shift;
	bool has_checksums; /* the device computes and verifies checksums */
	uint32_t max_tso_header;
	uint32_t opcodes;
	struct ibv_qp_cap cap;
	struct queue_mem buf;
	struct queue_rec rec;
};

#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(struct mlx4_qp, sq.wq.tail) % CACHE_LINE == 0 &&
		      offsetof(struct mlx4_qp, rq.wq.tail) % CACHE_LINE == 0 &&
		      offsetof(struct mlx4_qp, sq.control_always) % CACHE_LINE == 0 &&
		      (offsetof(struct mlx4_qp, vqp.qp.context) + sizeof(void *)) % CACHE_LINE == 0,
	      "lines of the poster, of the poller, and of both");
#endif

static inline struct mlx4_qp *to_mqp(struct ibv_qp *qp)
{
	return container_of(qp, struct mlx4_qp, vqp.qp);
}

static inline struct mlx4_qp *to_mqp_ex(struct ibv_qp_ex *qpx)
{
	return container_of(qpx, struct mlx4_qp, vqp.qp_ex);
}

struct mlx4_qp_size {
	uint32_t sq_slots, sq_slot_log, sq_spare, sq_max_sge, sq_max_inline;
	uint32_t rq_wqes, rq_stride_log;
	size_t sq_offset, rq_offset, bytes;
};

/* HEAD is the longest part of a WQE before its data. An atomic, whose head has one more segment,
 * has less room for data, and needs only one SGE. */
int mlx4_qp_size(const struct ibv_qp_cap *cap, uint32_t head, bool has_rq,
		 struct mlx4_qp_size *size);
/* Sizes the queues of an XRC receive QP: it posts nothing, but the kernel requires one slot of
 * every QP. */
void mlx4_qp_size_target(struct mlx4_qp_size *size);
uint32_t mlx4_inline_room(uint32_t head, uint32_t slot);

int mlx4_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		   struct verbs_qp **vqp);
int mlx4_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int mlx4_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		  struct ibv_qp_init_attr *init_attr);
int mlx4_qp_destroy(struct ibv_qp *qp);
struct ibv_qp *mlx4_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr);

#endif
