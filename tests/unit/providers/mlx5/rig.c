/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.c - see rig.h. Rings are allocated exactly as large as they are, so that a sanitizer sees one
 * byte too many.
 */
#include "rig.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/uar.h"
#include "providers/mlx5/data/cq/cq_ring.h"
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/umr.h"
#include "util/bits.h"

#define OR_DEFAULT(value, fallback) ((value) ? (value) : (fallback))

static void *alloc_zeroed(size_t align, size_t size)
{
	void *mem = aligned_alloc(align, size);

	assert_non_null(mem);
	memset(mem, 0, size);
	return mem;
}

static void wq_set_up(struct wq *wq, uint32_t units, uint32_t max_post, uint32_t head)
{
	wq->mask = units - 1;
	wq->max_post = max_post;
	wq->slots = calloc(units, sizeof(*wq->slots));
	assert_non_null(wq->slots);
	wq->head = head;
	wq->tail = head;
	wq->limit = head + max_post;
}

static void sq_set_up(struct rig *rig, const struct rig_options *opt)
{
	struct mlx5_sq *sq = &rig->qp->sq;
	uint32_t units = OR_DEFAULT(opt->sq_wqebbs, 8);

	sq->buf = alloc_zeroed(WQE_BB, (size_t)units * WQE_BB);
	sq->end = sq->buf + (size_t)units * WQE_BB;
	wq_set_up(&sq->wq, units, OR_DEFAULT(opt->max_send, units), opt->sq_pi);
	sq_set_slots(sq);
	sq->pi = opt->sq_pi;
	sq->qpn_shifted = RIG_QPN << 8;
	sq->max_sge = OR_DEFAULT(opt->send_sge, 4);
	sq_permit(sq, true);
	sq->max_inline = OR_DEFAULT(opt->max_inline, 64);
	sq->wqe_bytes = sq->max_inline + 4 + rig->qp->rules->longest_head;
	sq_prepare_inline(sq, mlx5_qp_usual_inline(rig->qp->rules, sq->max_inline, sq->wqe_bytes));
	sq_prepare_flags(sq, opt->signal_all);
	assert_int_equal(mlx5_qp_send_opcodes(rig->qp->rules, SEND_OPS_ANY, !opt->no_atomics, 0,
					      &rig->qp->opcodes),
			 0);
	sq->opcodes = rig->qp->opcodes & (uint16_t)~UMR_OPCODES;
	sq->db.reg = rig->uar + PRM_UAR_SQ;
	sq->db.toggle = 0x100;
	sq->db.push[PUSH_PLAIN] = sq->db.push[PUSH_INLINE] = (uint8_t)(opt->bf_max / WQE_BB);
	sq->db.dbrec = rig->qp->dbrec;
	sq->bfreg = opt->bfreg;
	sq->db.use = opt->bfreg ? (uint8_t)opt->bfreg->use : BFREG_OWN;
	if (opt->bfreg)
		sq->db.bfreg = opt->bfreg;
}

static void rq_set_up(struct rig *rig, const struct rig_options *opt)
{
	struct mlx5_rq *rq = &rig->qp->rq;
	uint32_t units = OR_DEFAULT(opt->rq_wqes, 4);

	rq->max_sge = OR_DEFAULT(opt->recv_sge, 2);
	rq->sge_limit = rq->max_sge + 1;
	rq->stride_log = log2_ceil(rq->max_sge * sizeof(struct mlx5_wqe_data_seg));
	rq->buf = alloc_zeroed(WQE_BB, align_up((size_t)units << rq->stride_log, WQE_BB));
	wq_set_up(&rq->wq, units, units, opt->rq_head);
	rq->dbrec = rig->qp->dbrec;
}

static void qp_set_up(struct rig *rig, const struct rig_options *opt)
{
	struct mlx5_qp *qp = alloc_zeroed(64, align_up(sizeof(*qp), 64));
	bool shared = !opt->single_threaded;

	rig->qp = qp;
	qp->dbrec = alloc_zeroed(64, 64);
	qlock_init(&qp->sq_lock, shared);
	qlock_init(&qp->rq.lock, shared);
	qp->rules = opt->type == IBV_QPT_DRIVER
			    ? mlx5_qp_dci_rules()
			    : mlx5_qp_rules_of(OR_DEFAULT(opt->type, IBV_QPT_RC));
	sq_set_up(rig, opt);
	rq_set_up(rig, opt);
	qp->post_send =
		mlx5_post_send_routine(qp->rules->kind, shared, (enum bfreg_use)qp->sq.db.use);
	qp->bind_mw = mlx5_bind_mw_routine(qp->rules->kind, shared, (enum bfreg_use)qp->sq.db.use);
	qp->rq.post = mlx5_post_recv_routine(qp->rq.max_sge, qp->rq.stride_log, shared);
	qp->vqp.qp.qp_num = RIG_QPN;
	qp->rq.number = qp->sq.number = RIG_QPN;
	qp->rq.rsn = opt->cqe_v0 ? RIG_QPN : RIG_RSN;
	mlx5_send_wr_fill(qp);
	assert_int_equal(provider_id_set(rig->ids, qp->rq.rsn, &qp->rq), 0);
}

/* Makes the ring as it is after CI consumed CQEs: each entry has the owner bit of the lap
 * before. */
static void cq_age(struct mlx5_cq *cq, uint32_t ci)
{
	uint32_t count = 1u << cq->count_log;

	cq->ci = ci;
	for (uint32_t i = ci; i != ci + count; i++)
		cq->ring[((size_t)(i % count) << cq->entry_log) + 63] ^= i / count & 1;
}

static void cq_set_up(struct rig *rig, const struct rig_options *opt)
{
	struct mlx5_cq *cq = alloc_zeroed(64, align_up(sizeof(*cq), 64));
	uint32_t cqes = OR_DEFAULT(opt->cqes, 8), size = OR_DEFAULT(opt->cqe_size, 64);
	bool shared = !opt->single_threaded;

	rig->cq = cq;
	cq->entry_log = log2_ceil(size);
	cq->count_log = log2_ceil(cqes);
	cq->mask = cqes - 1;
	cq->buf.addr = alloc_zeroed(128, align_up((size_t)cqes * size, 128));
	cq->ring = (uint8_t *)cq->buf.addr + size - sizeof(struct mlx5_cqe64);
	cq->dbrec = alloc_zeroed(64, 64);
	assert_int_equal(provider_id_root_get(rig->ids, &cq->ids), 0);
	cq->rsn_offset = opt->cqe_v0 ? offsetof(struct mlx5_cqe64, sop_drop_qpn)
				     : offsetof(struct mlx5_cqe64, srqn_uidx);
	cq->cqn = RIG_CQN;
	cq->null_lkey = htobe32(RIG_NULL_LKEY);
	rig->cq_pi = opt->cq_ci;
	qlock_init(&cq->lock, shared);
	mlx5_cq_ring_init(cq);
	cq_age(cq, opt->cq_ci);
	mlx5_cq_ex_fill(cq, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
}

struct rig *rig_new(const struct rig_options *options)
{
	static const struct rig_options defaults;
	const struct rig_options *opt = options ? options : &defaults;
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	rig->uar = alloc_zeroed(RIG_PAGE, RIG_PAGE);
	rig->ids = calloc(1, sizeof(*rig->ids));
	assert_non_null(rig->ids);
	provider_id_lookup_init(rig->ids);
	qp_set_up(rig, opt);
	cq_set_up(rig, opt);
	return rig;
}

void rig_add_threads(void)
{
	static const char several;

	verbs_one_thread = &several;
}

void rig_free(struct rig *rig)
{
	assert_false(rig->qp->sq_lock.taken || rig->qp->rq.lock.taken || rig->cq->lock.taken);
	provider_id_lookup_destroy(rig->ids);
	free(rig->ids);
	free(rig->cq->buf.addr);
	free(rig->cq->dbrec);
	free(rig->cq->orphans);
	free(rig->cq);
	free(rig->qp->sq.buf);
	free(rig->qp->sq.wq.slots);
	free(rig->qp->rq.buf);
	free(rig->qp->rq.wq.wr_ids);
	free(rig->qp->dbrec);
	free(rig->qp);
	free(rig->uar);
	free(rig);
}

uint8_t *rig_sq(struct rig *rig, uint32_t pi)
{
	return rig->qp->sq.buf + (size_t)(pi & rig->qp->sq.wq.mask) * WQE_BB;
}

uint8_t *rig_rq(struct rig *rig, uint32_t head)
{
	return rig->qp->rq.buf + ((size_t)(head & rig->qp->rq.wq.mask) << rig->qp->rq.stride_log);
}

/* Writes the fields by byte numbers: the library's names for them are under test, so a wrong one
 * would hide itself. */
void rig_complete(struct rig *rig, const struct rig_cqe *want)
{
	uint32_t size = 1u << rig->cq->entry_log, count = 1u << rig->cq->count_log;
	uint8_t *entry = (uint8_t *)rig->cq->buf.addr + (size_t)(rig->cq_pi % count) * size;
	uint8_t *cqe = entry + size - 64;
	uint32_t uidx = htobe32(OR_DEFAULT(want->rsn, RIG_RSN));
	uint32_t rqpn = htobe32(want->flags_rqpn), bytes = htobe32(want->byte_cnt);
	uint32_t sop_qpn =
		htobe32((uint32_t)want->send_opcode << 24 | OR_DEFAULT(want->qpn, RIG_QPN));
	uint64_t stamp = htobe64(0x1122334455667788);
	uint16_t counter = htobe16(want->wqe_counter);
	uint8_t format = 0;

	memset(entry, 0, size - 1);
	memcpy(cqe + 24, &rqpn, 4);
	memcpy(cqe + 32, &uidx, 4);
	memcpy(cqe + 36, &want->imm, 4);
	memcpy(cqe + 44, &bytes, 4);
	memcpy(cqe + 48, &stamp, 8);
	memcpy(cqe + 56, &sop_qpn, 4);
	memcpy(cqe + 60, &counter, 2);
	if (want->syndrome) {
		cqe[54] = want->vendor;
		cqe[55] = want->syndrome;
	}
	if (want->payload) {
		format = want->byte_cnt > 32 ? 2 : 1;
		memcpy(format == 2 ? entry : cqe, want->payload, want->byte_cnt);
	}
	cqe[63] = (uint8_t)(want->opcode << 4 | format << 2 | (rig->cq_pi / count & 1));
	rig->cq_pi++;
}
