/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - creates, modifies and destroys queue pairs.
 */
#include "providers/mlx4/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx4/uar.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/srq.h"
#include "providers/mlx4/wq.h"
#include "providers/common/owner.h"
#include "providers/common/pd.h"
#include "util/alloc.h"

#define OPCODE(name) (1u << IBV_WR_##name)

enum {
	SENDS = OPCODE(SEND) | OPCODE(SEND_WITH_IMM),
	WRITES = OPCODE(RDMA_WRITE) | OPCODE(RDMA_WRITE_WITH_IMM),
	ON_KEYS = OPCODE(LOCAL_INV) | OPCODE(BIND_MW),
	RELIABLE = OPCODE(RDMA_READ) | OPCODE(ATOMIC_CMP_AND_SWP) | OPCODE(ATOMIC_FETCH_AND_ADD) |
		   OPCODE(SEND_WITH_INV),
};

#define COMP_MASK \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

static const struct qp_type {
	const char *name;
	enum ibv_qp_type type;
	enum send_kind kind;
	uint32_t opcodes;
	/* longest part of a WQE before its data; an atomic has one more segment */
	uint32_t head;
	uint32_t comp_mask;
	bool receives;
} qp_types[] = {
	{ "an RC", IBV_QPT_RC, SEND_CONNECTED, SENDS | WRITES | ON_KEYS | RELIABLE, 2 * M4_SEG,
	  COMP_MASK, true },
	{ "a UC", IBV_QPT_UC, SEND_CONNECTED, SENDS | WRITES | ON_KEYS, 2 * M4_SEG, COMP_MASK,
	  true },
	{ "a UD", IBV_QPT_UD, SEND_DATAGRAM, SENDS, M4_SEG + M4_DATAGRAM_SIZE, COMP_MASK, true },
	{ "an XRC send", IBV_QPT_XRC_SEND, SEND_XRC, SENDS | WRITES | ON_KEYS | RELIABLE,
	  2 * M4_SEG, COMP_MASK, false },
	/* An XRC receive QP has no receive queue, because requests name the SRQ that takes the
	 * message. */
	{ "an XRC receive", IBV_QPT_XRC_RECV, SEND_XRC, 0, 2 * M4_SEG,
	  IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS, false },
	{ "a raw packet", IBV_QPT_RAW_PACKET, SEND_RAW, OPCODE(SEND) | OPCODE(TSO), M4_SEG,
	  COMP_MASK | IBV_QP_INIT_ATTR_MAX_TSO_HEADER, true },
};

static const struct qp_type spreading = {
	.name = "a spreading raw packet",
	.type = IBV_QPT_RAW_PACKET,
	.kind = SEND_RAW,
	.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
		     IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
};

static bool is_spreading(const struct qp_type *type)
{
	return type == &spreading;
}

static bool is_target(const struct qp_type *type)
{
	return type->comp_mask & IBV_QP_INIT_ATTR_XRCD;
}

static uint32_t attr_tso_header(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER ? attr->max_tso_header : 0;
}

static struct ibv_pd *attr_pd(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
}

static uint64_t attr_send_ops(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? attr->send_ops_flags : 0;
}

/* ---- checks ---- */

static const struct qp_type *qp_find_type(enum ibv_qp_type type)
{
	for (size_t i = 0; i < ARRAY_SIZE(qp_types); i++)
		if (qp_types[i].type == type)
			return &qp_types[i];
	verbs_warn("create_qp: qp_type is %d: this provider has RC, UC, UD, XRC and raw "
		   "packets",
		   (int)type);
	return NULL;
}

static int qp_check_flags(const struct ibv_qp_init_attr_ex *attr)
{
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) || !attr->create_flags)
		return 0;
	if (attr->qp_type == IBV_QPT_UD && attr->create_flags == IBV_QP_CREATE_BLOCK_SELF_MCAST_LB)
		return 0;
	verbs_warn("create_qp: create_flags is %#x: a UD QP may have "
		   "IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, and others nothing",
		   attr->create_flags);
	return EOPNOTSUPP;
}

static int qp_check_objects(const struct qp_type *type, const struct ibv_qp_init_attr_ex *attr)
{
	const char *missing = NULL;

	if (is_target(type))
		missing = attr->comp_mask & IBV_QP_INIT_ATTR_XRCD && attr->xrcd ? NULL : "xrcd";
	else if (!attr_pd(attr))
		missing = "pd";
	else if (is_spreading(type))
		missing = attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE ? NULL : "rwq_ind_tbl";
	else if (!attr->send_cq)
		missing = "send_cq";
	else if (type->receives && !attr->recv_cq)
		missing = "recv_cq";
	if (missing) {
		verbs_warn("create_qp: %s is missing: %s QP needs one", missing, type->name);
		return EINVAL;
	}
	if (!attr->srq || type->receives)
		return 0;
	verbs_warn("create_qp: srq is set: %s QP has none", type->name);
	return EINVAL;
}

/* Checks ATTR. Bit n of send_ops_flags stands for enum ibv_wr_opcode n, as in type->opcodes, so
 * both masks can be compared. */
static int qp_check_attr(const struct qp_type *type, const struct ibv_qp_init_attr_ex *attr)
{
	int ret;

	if (attr->comp_mask & ~type->comp_mask) {
		verbs_warn("create_qp: comp_mask is %#x, %s QP has %#x", attr->comp_mask,
			   type->name, type->comp_mask);
		return EOPNOTSUPP;
	}
	ret = qp_check_flags(attr);
	if (ret)
		return ret;
	if (attr_send_ops(attr) & ~(uint64_t)type->opcodes) {
		verbs_warn("create_qp: send_ops_flags is %#llx, %s QP has %#x",
			   (unsigned long long)attr_send_ops(attr), type->name, type->opcodes);
		return EOPNOTSUPP;
	}
	return qp_check_objects(type, attr);
}

/* ---- queues ---- */

static int qp_alloc_notes(struct mlx4_qp *qp, const struct mlx4_qp_size *size, bool has_batches)
{
	size_t pieces = (size_t)size->sq_slots << (size->sq_slot_log - M4_MIN_SLOT_LOG);

	qp->sq.wq.slots = calloc_for("create_qp", size->sq_slots, sizeof(*qp->sq.wq.slots));
	if (has_batches)
		qp->asides = calloc_for("create_qp", pieces, sizeof(*qp->asides));
	if (!qp->sq.wq.slots || (has_batches && !qp->asides))
		return ENOMEM;
	if (!size->rq_wqes)
		return 0;
	qp->rq.wq.wr_ids = calloc_for("create_qp", size->rq_wqes, sizeof(*qp->rq.wq.wr_ids));
	return qp->rq.wq.wr_ids ? 0 : ENOMEM;
}

/* Allocates rings that may keep old bytes: the change to INIT stamps the send ring, and the adapter
 * reads a receive only after it was posted. */
static int qp_alloc_queues(struct mlx4_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			   const struct mlx4_qp_size *size, struct mlx4_qp *qp)
{
	bool has_batches = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	struct ibv_pd *pd = attr_pd(attr);
	const struct queue_mem_request request = {
		.size = size->bytes,
		.place = { .align = ctx->common.queue_bufs.page, .keeps_bytes = true },
		.alloc = ENV_ALLOC_ANON,
	};
	int ret = mlx4_queue_mem_alloc(ctx, pd, &request, &qp->buf);

	if (ret) {
		verbs_warn("create_qp: no memory for queues of %zu bytes", size->bytes);
		return ret;
	}
	ret = qp_alloc_notes(qp, size, has_batches);
	if (ret)
		return ret;
	if (!size->rq_wqes) { /* no receive ring, so no record */
		qp->rec.domain = provider_pd_use(pd);
		return 0;
	}
	ret = provider_queue_rec_alloc(&ctx->common.dbrecs, pd, 0, &qp->rec);
	qp->rq.dbrec = qp->rec.words;
	return ret;
}

static void qp_free_queues(struct mlx4_context *ctx, struct mlx4_qp *qp)
{
	free(qp->rq.wq.wr_ids);
	free(qp->asides);
	free(qp->sq.wq.slots);
	if (qp->buf.addr)
		provider_queue_mem_free(&qp->buf);
	if (qp->rec.words)
		provider_queue_rec_free(&ctx->common.dbrecs, 0, &qp->rec);
	else
		provider_pd_leave(qp->rec.domain);
}

static void qp_set_sends(struct mlx4_context *ctx, const struct ibv_qp_init_attr_ex *attr,
			 const struct mlx4_qp_size *size, struct mlx4_qp *qp)
{
	struct mlx4_sq *sq = &qp->sq;

	sq->buf = (uint8_t *)qp->buf.addr + size->sq_offset;
	sq->slot_log = size->sq_slot_log;
	sq->spare = size->sq_spare;
	sq->max_sge = size->sq_max_sge;
	sq->max_inline = size->sq_max_inline;
	sq->control_always = attr->sq_sig_all ? M4_CQE_WANTED << FLD_SHIFT(M4_CTRL_CQE) : 0;
	sq->doorbell = ctx->uar + M4_UAR_SEND;
	sq->bf = ctx->bf.half ? &ctx->bf : NULL;
	sq->wq.mask = size->sq_slots - 1;
	sq->owner_shift = FLD_SHIFT(M4_CTRL_OWNER) - log2_floor(size->sq_slots);
	sq->note_mask = sq->wq.mask * (uint32_t)sizeof(*sq->wq.slots);
	sq->done_slots = sq->wq.slots;
	sq->wq.max_post = size->sq_slots - size->sq_spare;
	wq_reset(&sq->wq);
}

static void qp_set_receives(const struct mlx4_qp_size *size, struct mlx4_qp *qp)
{
	struct mlx4_rq *rq = &qp->rq;

	if (!size->rq_wqes)
		return;
	rq->buf = (uint8_t *)qp->buf.addr + size->rq_offset;
	rq->stride_log = size->rq_stride_log;
	rq->max_sge = (1u << size->rq_stride_log) / M4_SEG;
	rq->wq.mask = size->rq_wqes - 1;
	rq->wq.max_post = size->rq_wqes;
	wq_reset(&rq->wq);
}

static void qp_choose_sends(struct mlx4_qp *qp)
{
	qp->post_send = mlx4_datapath()->post_send_routine(qp);
	qp->bind_mw = mlx4_datapath()->bind_mw_routine(qp);
}

/* Chooses the routines. Sends may be posted from RTS on, receives from INIT on; limits of 0 forbid
 * them until then, so posting needs no test of the state. */
static void qp_choose_routines(const struct ibv_qp_init_attr_ex *attr, const struct qp_type *type,
			       struct mlx4_qp *qp)
{
	bool shared = !pd_thread_domain(attr_pd(attr));

	verbs_threads_look();
	qlock_init(&qp->sq_lock, shared);
	qlock_init(&qp->rq.lock, shared);
	qp->kind = type->kind;
	qp->sl_shift = FLD_SHIFT(M4_CQE_SL);
	qp->opcodes = type->opcodes;
	qp->srq = attr->srq ? to_msrq(attr->srq) : NULL;
	qp->sq_sig_all = attr->sq_sig_all;
	qp->max_tso_header = attr_tso_header(attr);
	qp_choose_sends(qp);
	qp->rq.post = mlx4_datapath()->post_recv_routine(qp->rq.stride_log, shared);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		mlx4_datapath()->send_wr_fill(qp);
		verbs_qp_set_ex(&qp->vqp);
	}
}

/* ---- creation ---- */

static void qp_grant(const struct mlx4_qp_size *size, const struct mlx4_qp *qp,
		     struct ibv_qp_cap *cap)
{
	*cap = (struct ibv_qp_cap){
		.max_send_wr = size->sq_slots - size->sq_spare,
		.max_recv_wr = size->rq_wqes,
		.max_send_sge = size->sq_max_sge,
		.max_recv_sge = qp->rq.max_sge,
		.max_inline_data = size->sq_max_inline,
	};
}

/* Runs CREATE_QP. The kernel computes the receive queue from the same capacities, so mlx4_qp_size()
 * must round as the kernel does. */
static int qp_run_create(struct mlx4_context *ctx, const struct qp_type *type,
			 struct ibv_qp_init_attr_ex *attr, const struct mlx4_qp_size *size,
			 struct mlx4_qp *qp)
{
	struct ibv_qp_init_attr_ex kernel_attr = *attr;
	const struct mlx4_ib_create_qp req = {
		.buf_addr = (uintptr_t)qp->buf.addr,
		.db_addr = (uintptr_t)qp->rq.dbrec,
		.log_sq_bb_count = (uint8_t)log2_floor(size->sq_slots),
		.log_sq_stride = (uint8_t)size->sq_slot_log,
	};
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	int ret;

	/* Pass the requested value, because the kernel checks it before it rounds it, as this
	 * library has. */
	kernel_attr.cap.max_recv_wr = size->rq_wqes ? max_of(attr->cap.max_recv_wr, 1u) : 0;
	kernel_attr.cap.max_recv_sge = size->rq_wqes ? max_of(attr->cap.max_recv_sge, 1u) : 0;
	/* Linux before 5.2 would size the queues of an XRC receive QP by these values. */
	if (is_target(type))
		kernel_attr.cap = (struct ibv_qp_cap){ 0 };
	ret = verbs_cmd_create_qp(&ctx->vctx.context, &kernel_attr, &qp->vqp, &udata);
	if (ret)
		return ret;
	if (!is_target(type)) /* not looked up, because its messages complete in SRQs */
		ret = provider_id_set(&ctx->common.ids, qp->vqp.qp.qp_num, qp);
	if (ret)
		verbs_cmd_destroy_qp(&qp->vqp.qp);
	qp->sq.number = qp->vqp.qp.qp_num;
	qp->sq.qpn_be = htobe32(qp->vqp.qp.qp_num << FLD_SHIFT(M4_SEND_QPN));
	return ret;
}

static uint32_t large_head(uint32_t max_tso_header)
{
	return M4_SEG + (uint32_t)align_up(M4_LARGE_HEADER + max_tso_header, M4_SEG);
}

/* Returns the longest part of a WQE before its data. Limits the length of headers, because
 * mlx4_qp_size() refuses all headers of M4_MAX_SEND bytes and more. */
static uint32_t qp_head(const struct qp_type *type, const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t header = min_of(attr_tso_header(attr), (uint32_t)M4_MAX_SEND);

	return header ? large_head(header) : type->head;
}

static int qp_build(struct mlx4_context *ctx, const struct qp_type *type,
		    struct ibv_qp_init_attr_ex *attr, struct mlx4_qp *qp)
{
	struct ibv_qp_cap cap = attr->cap;
	struct mlx4_qp_size size;
	int ret = 0;

	if (is_target(type))
		mlx4_qp_size_target(&size);
	else
		ret = mlx4_qp_size(&cap, qp_head(type, attr), type->receives && !attr->srq, &size);
	if (!ret)
		ret = qp_alloc_queues(ctx, attr, &size, qp);
	if (ret)
		return ret;
	qp_set_sends(ctx, attr, &size, qp);
	qp_set_receives(&size, qp);
	qp_choose_routines(attr, type, qp);
	if (!is_target(type))
		qp_grant(&size, qp, &qp->cap);
	ret = qp_run_create(ctx, type, attr, &size, qp);
	if (!ret)
		attr->cap = qp->cap;
	return ret;
}

static int qp_build_spreading(struct mlx4_context *ctx, struct ibv_qp_init_attr_ex *attr,
			      struct mlx4_qp *qp)
{
	qp->kind = SEND_RAW;
	qp_choose_sends(qp);
	qp->rq.post = mlx4_datapath()->post_recv_routine(0, false);
	return mlx4_qp_create_spreading(&ctx->vctx.context, attr, &qp->vqp);
}

int mlx4_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		   struct verbs_qp **vqp)
{
	bool spreads = attr->comp_mask & IBV_QP_INIT_ATTR_RX_HASH;
	const struct qp_type *type = spreads ? &spreading : qp_find_type(attr->qp_type);
	int ret = type ? qp_check_attr(type, attr) : EOPNOTSUPP;
	struct mlx4_qp *qp;

	if (!ret)
		ret = provider_qp_check_owners(context, attr);
	if (ret)
		return ret;
	qp = zalloc_aligned_for("create_qp", CACHE_LINE, sizeof(*qp));
	if (!qp)
		return ENOMEM;
	ret = spreads ? qp_build_spreading(to_mctx(context), attr, qp)
		      : qp_build(to_mctx(context), type, attr, qp);
	if (ret) {
		qp_free_queues(to_mctx(context), qp);
		free_aligned(qp);
		return ret;
	}
	*vqp = &qp->vqp;
	return 0;
}

/* ---- modify and destroy ---- */

/* Returns whether CQEs have the QP's number. Those of XRC receive QPs and RSS QPs have not: SRQs or
 * WQs receive for such a QP, and it sends nothing. */
static bool qp_has_cqes(const struct mlx4_qp *qp)
{
	return qp->sq.buf && qp->vqp.qp.qp_type != IBV_QPT_XRC_RECV;
}

/* Removes the QP's completions, which would name a freed QP. CQs that it does not use are skipped:
 * the program may have destroyed them already. */
static void qp_clean_cqs(struct mlx4_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;
	struct ibv_cq *send = ibqp->send_cq, *recv = ibqp->recv_cq;

	if (!qp_has_cqes(qp))
		return;
	if (ibqp->qp_type == IBV_QPT_XRC_SEND)
		recv = NULL;
	if (recv)
		mlx4_cq_clean(to_mcq(recv), qp);
	if (send && send != recv)
		mlx4_cq_clean(to_mcq(send), qp);
}

static void qp_open_sends(struct mlx4_qp *qp)
{
	qlock_enter(&qp->sq_lock);
	qp->sq.opcodes = qp->opcodes;
	qp->sq.usual_opcodes = usual_opcodes_of(qp->kind);
	qp->sq.unusual_flags = IBV_SEND_INLINE | (qp->has_checksums ? 0 : IBV_SEND_IP_CSUM);
	qlock_leave(&qp->sq_lock);
}

/* Prepares the rings in INIT: the adapter reads the send ring from RTS on, or to flush it in ERR,
 * and receives may be posted from now on. From INIT to INIT, the send ring stays, because a program
 * that writes it by itself (mlx4dv) may have begun. */
static void qp_init_rings(struct mlx4_qp *qp, bool was_reset)
{
	if (qp->sq.buf && was_reset) {
		qlock_enter(&qp->sq_lock);
		mlx4_sq_ring_init(&qp->sq);
		qlock_leave(&qp->sq_lock);
	}
	qlock_enter(&qp->rq.lock);
	qp->rq.sge_limit = qp->rq.buf ? qp->rq.max_sge + 1 : 0;
	qlock_leave(&qp->rq.lock);
}

/* Empties the queues, as the adapter does on a reset. Cleans the CQs first, because a poller that
 * handles a completion changes its queue's tail. */
static void qp_reset(struct mlx4_qp *qp)
{
	qp_clean_cqs(qp);
	qlock_enter(&qp->sq_lock);
	qp->sq.opcodes = qp->sq.usual_opcodes = 0;
	wq_reset(&qp->sq.wq);
	qlock_leave(&qp->sq_lock);
	qlock_enter(&qp->rq.lock);
	qp->rq.sge_limit = 0;
	wq_reset(&qp->rq.wq);
	if (qp->rq.dbrec)
		*qp->rq.dbrec = 0;
	qlock_leave(&qp->rq.lock);
	__atomic_store_n(&qp->error_reported, false, __ATOMIC_RELAXED);
}

/* Returns whether the adapter computes checksums for the QP: of frames, and of datagrams on
 * InfiniBand, because no other packet has an IP header that software writes. */
static bool qp_computes_sums(const struct mlx4_qp *qp, unsigned int device_cap_flags)
{
	if (qp->kind == SEND_RAW)
		return qp->is_ethernet && device_cap_flags & IBV_DEVICE_RAW_IP_CSUM;
	return qp->kind == SEND_DATAGRAM && !qp->is_ethernet &&
	       device_cap_flags & IBV_DEVICE_UD_IP_CSUM;
}

/* Stores the properties of the QP's port, since ports of a device may differ in their link layer.
 * Unchanged fields are not written, because a thread may be polling completions from before a
 * reset. */
static void qp_take_port(struct mlx4_qp *qp, uint8_t port_num)
{
	struct mlx4_context *ctx = to_mctx(qp->vqp.qp.context);
	const struct ibv_device_attr *device;
	bool is_ethernet, has_checksums;
	uint8_t traits;

	if (provider_device_port_traits(&ctx->common.device, port_num, &traits) ||
	    provider_device_attr_get(&ctx->common.device, &device))
		return;
	is_ethernet = traits & PORT_ETHERNET;
	if (qp->is_ethernet != is_ethernet) {
		qp->is_ethernet = is_ethernet;
		/* on Ethernet the field begins one bit higher (M4_CQE_ETH_PRIO), so one shift
		 * serves both */
		qp->sl_shift = FLD_SHIFT(M4_CQE_SL) + is_ethernet;
	}
	has_checksums = qp_computes_sums(qp, device->device_cap_flags);
	if (qp->has_checksums != has_checksums)
		qp->has_checksums = has_checksums;
}

/* Returns the QP's new port, or 0 if it does not change. A path without a port changes the port,
 * too: the kernel adds IBV_QP_PORT (modify_qp() in uverbs_cmd.c). That can only happen in SQD, or
 * in the change to RTR. */
static uint8_t attr_port(const struct ibv_qp_attr *attr, int attr_mask)
{
	if (attr_mask & IBV_QP_PORT)
		return attr->port_num;
	if (!(attr_mask & IBV_QP_AV))
		return 0;
	return attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR ? 0
									 : attr->ah_attr.port_num;
}

int mlx4_qp_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct mlx4_qp *qp = to_mqp(ibqp);
	bool was_reset = ibqp->state == IBV_QPS_RESET;
	int ret = verbs_cmd_modify_qp(ibqp, attr, attr_mask, NULL);
	uint8_t port = attr_port(attr, attr_mask);

	if (!ret && port)
		qp_take_port(qp, port);
	if (ret || !(attr_mask & IBV_QP_STATE))
		return ret;
	if (attr->qp_state == IBV_QPS_RESET)
		qp_reset(qp);
	else if (attr->qp_state == IBV_QPS_INIT)
		qp_init_rings(qp, was_reset);
	/* In state ERR, posted requests are flushed, so posting is allowed. */
	if (attr->qp_state == IBV_QPS_RTS || attr->qp_state == IBV_QPS_ERR)
		qp_open_sends(qp);
	return 0;
}

int mlx4_qp_query(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		  struct ibv_qp_init_attr *init_attr)
{
	int ret = verbs_cmd_query_qp(ibqp, attr, attr_mask, init_attr);

	if (ret)
		return ret;
	init_attr->cap = to_mqp(ibqp)->cap;
	attr->cap = init_attr->cap;
	return 0;
}

int mlx4_qp_destroy(struct ibv_qp *ibqp)
{
	struct mlx4_context *ctx = to_mctx(ibqp->context);
	struct mlx4_qp *qp = to_mqp(ibqp);
	int ret = verbs_cmd_destroy_qp(ibqp);

	if (ret)
		return ret;
	/* After its destruction, the adapter writes no CQE for the QP; CQEs already written must
	 * not find it. */
	qp_clean_cqs(qp);
	if (qp_has_cqes(qp))
		provider_id_clear(&ctx->common.ids, ibqp->qp_num);
	qp_free_queues(ctx, qp);
	free_aligned(qp);
	return 0;
}

/* Opens a handle, which can neither post nor poll: the QP's rings belong to the process that
 * created it. */
struct ibv_qp *mlx4_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	struct mlx4_qp *qp = zalloc_aligned_for("open_qp", CACHE_LINE, sizeof(*qp));
	int ret = ENOMEM;

	if (qp) {
		qp->kind = SEND_XRC;
		qp_choose_sends(qp);
		qp->rq.post = mlx4_datapath()->post_recv_routine(0, false);
		ret = verbs_cmd_open_qp(context, attr, &qp->vqp, NULL);
	}
	if (!ret)
		return &qp->vqp.qp;
	free_aligned(qp);
	errno = ret;
	return NULL;
}
