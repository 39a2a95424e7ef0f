/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answers.c - responses of READs and atomics inside the CQE: the library copies them to the SGEs of
 * the request. The request may begin at any WQEBB of the ring, so its segments may wrap. The
 * program looks at the CQE before it polls: if the adapter has put the response there, memory is
 * unchanged until the poll. Results of atomics are in the CQE if softhca runs with
 * --atomics-in-cqe.
 *
 * Covers: providers/mlx5/data/cq/cqe.c, providers/mlx5/data/sent_wqe.h,
 * softhca/device/format/mlx5/cqe.c, softhca/device/transport/req.c
 */
#include <sched.h>
#include <time.h>

#include "dc.h"

enum {
	UNIT = 16,
	UNITS_A_BLOCK = 4,
	MAX_SGES = 4,
	GAP = 5, /* bytes between two entries */
	UNTOUCHED = 0xee,
	DEADLINE_S = 60,
	INLINE_BITS = 0xc, /* in op_own: PRM, CQE format */
};

enum operation { READ, ADD, SWAP };

struct request {
	enum operation operation;
	uint32_t length;
	int sges;
};

static const struct request requests[] = {
	{ READ, 1, 1 },  { READ, 32, 1 }, { READ, 31, 2 }, { READ, 32, 3 },
	{ READ, 32, 4 }, { READ, 33, 1 }, { READ, 64, 2 }, { READ, 63, 4 },
	{ READ, 65, 4 }, { ADD, 8, 1 },   { SWAP, 8, 1 },
};

/* A queue pair that sends to itself, or to a target. */
struct asker {
	struct dc dc;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp, *target; /* TARGET is NULL for RC */
	struct dc_to to;
	struct mlx5dv_cq cqes;
	/* consumer index, WQEBBs of the ring, and WQEBBs of all requests so far */
	uint32_t consumer, ring, at;
	unsigned int count;
};

static void cq_open(struct asker *asker, uint16_t cqe_size)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct mlx5dv_cq_init_attr mlx5 = { .comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
					    .cqe_size = cqe_size };
	struct mlx5dv_obj obj = { .cq = { .out = &asker->cqes } };

	MUST(asker->cq = mlx5dv_create_cq(asker->dc.rig->ctx, &attr, &mlx5));
	obj.cq.in = ibv_cq_ex_to_cq(asker->cq);
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	MUST(asker->cqes.cqe_size == cqe_size);
}

static struct ibv_qp_init_attr_ex qp_attr(const struct asker *asker, bool of_dc, bool signal_all)
{
	struct ibv_qp_init_attr_ex attr = dc_attr(&asker->dc);

	attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(asker->cq);
	attr.qp_type = of_dc ? IBV_QPT_DRIVER : IBV_QPT_RC;
	attr.sq_sig_all = signal_all;
	attr.cap = (struct ibv_qp_cap){ .max_send_wr = 8, .max_send_sge = MAX_SGES };
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = DC_OPS;
	return attr;
}

static void qp_connect(struct asker *asker)
{
	struct rig_conf conf = rig_conf_default();

	if (asker->target) {
		asker->to = dc_to(&asker->dc, asker->target);
		dc_initiator_ready(&asker->dc, asker->qp);
	} else {
		rig_qp_to(asker->dc.rig, &conf, asker->qp, asker->qp->qp_num, IBV_QPS_RTS);
	}
}

static void qp_open(struct asker *asker, bool of_dc, bool signal_all)
{
	struct ibv_qp_init_attr_ex attr = qp_attr(asker, of_dc, signal_all);
	struct mlx5dv_qp_init_attr mlx5 = { 0 };
	struct mlx5dv_obj obj;
	struct mlx5dv_qp qp = { 0 };

	if (of_dc)
		mlx5 = dc_initiator_attr();
	if (!signal_all) {
		mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
		mlx5.create_flags = MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE;
	}
	MUST(asker->qp = mlx5dv_create_qp(asker->dc.rig->ctx, &attr, &mlx5));
	asker->target = of_dc ? dc_target(&asker->dc, DC_KEY) : NULL;
	qp_connect(asker);
	obj = (struct mlx5dv_obj){ .qp = { .in = asker->qp, .out = &qp } };
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	asker->ring = qp.sq.wqe_cnt;
}

static void asker_open(struct rig *rig, struct asker *asker, uint16_t cqe_size, bool of_dc,
		       bool signal_all)
{
	*asker = (struct asker){ 0 };
	dc_open(rig, &asker->dc);
	cq_open(asker, cqe_size);
	qp_open(asker, of_dc, signal_all);
}

static void asker_close(struct asker *asker)
{
	MUST(!ibv_destroy_qp(asker->qp));
	if (asker->target)
		MUST(!ibv_destroy_qp(asker->target));
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(asker->cq)));
	dc_close(&asker->dc);
}

static uint32_t request_blocks(const struct asker *asker, const struct request *request)
{
	uint32_t head = 2 + (request->operation != READ) + (asker->target ? 3 : 0);

	return (head + request->sges + UNITS_A_BLOCK - 1) / UNITS_A_BLOCK;
}

/* All entries have the same length, except the last, which has the rest. */
static void entries_fill(const struct asker *asker, const struct request *request,
			 struct ibv_sge *sges)
{
	uint32_t part = request->length / request->sges;
	uint64_t at = (uintptr_t)dc_buf(&asker->dc, 4) + GAP;

	if (request->operation != READ)
		at += 8 - GAP;
	for (int i = 0; i < request->sges; i++) {
		sges[i] = (struct ibv_sge){ at, part, asker->dc.mr->lkey };
		at += part + GAP;
	}
	sges[request->sges - 1].length = request->length - part * (request->sges - 1);
}

static void request_post(struct asker *asker, const struct request *request,
			 const struct ibv_sge *sges)
{
	uint64_t there = (uintptr_t)dc_buf(&asker->dc, 1);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(asker->qp);
	uint32_t rkey = asker->dc.mr->rkey;

	ibv_wr_start(qpx);
	qpx->wr_id = asker->count;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	if (request->operation == READ)
		ibv_wr_rdma_read(qpx, rkey, there);
	else if (request->operation == ADD)
		ibv_wr_atomic_fetch_add(qpx, rkey, there, 1);
	else
		ibv_wr_atomic_cmp_swp(qpx, rkey, there, 0, 0);
	if (asker->target)
		dc_set_address(asker->qp, &asker->to);
	ibv_wr_set_sge_list(qpx, request->sges, sges);
	MUST(!ibv_wr_complete(qpx));
	asker->at += request_blocks(asker, request);
}

/* Waits for the next CQE, and returns whether the answer is in it. */
static bool answer_is_in_cqe(const struct asker *asker)
{
	uint32_t index = asker->consumer & (asker->cqes.cqe_cnt - 1);
	bool owner = asker->consumer & asker->cqes.cqe_cnt;
	const volatile uint8_t *cqe =
		(uint8_t *)asker->cqes.buf + (size_t)(index + 1) * asker->cqes.cqe_size - 64;
	time_t end = time(NULL) + DEADLINE_S;

	while ((cqe[63] & MLX5_CQE_OWNER_MASK) != owner || cqe[63] >> 4 == MLX5_CQE_INVALID) {
		MUST(time(NULL) < end);
		sched_yield();
	}
	return cqe[63] & INLINE_BITS;
}

/* Takes the completion, in turn by each way to poll. */
static bool completion_take(struct asker *asker)
{
	struct ibv_poll_cq_attr attr = { 0 };
	bool right;
	struct ibv_wc wc;

	asker->consumer++;
	if (asker->count % 2) {
		MUST(rig_poll(ibv_cq_ex_to_cq(asker->cq), 1, &wc) == 1);
		return !wc.status && wc.wr_id == asker->count;
	}
	MUST(!ibv_start_poll(asker->cq, &attr));
	right = !asker->cq->status && asker->cq->wr_id == asker->count;
	ibv_end_poll(asker->cq);
	return right;
}

static bool entries_are(const struct ibv_sge *sges, int count, const uint8_t *from)
{
	for (int i = 0; i < count; from += sges[i++].length)
		if (memcmp((void *)(uintptr_t)sges[i].addr, from, sges[i].length))
			return false;
	return true;
}

static bool rest_is_untouched(const struct ibv_sge *sges, int count, const uint8_t *end)
{
	for (int i = 0; i < count; i++) {
		const uint8_t *from = (uint8_t *)(uintptr_t)sges[i].addr + sges[i].length;
		const uint8_t *to = i + 1 < count ? (uint8_t *)(uintptr_t)sges[i + 1].addr : end;

		while (from < to)
			if (*from++ != UNTOUCHED)
				return false;
	}
	return true;
}

struct result {
	unsigned int in_cqe, right, early; /* EARLY: memory had the answer before the poll */
};

static void request_try(struct asker *asker, const struct request *request, struct result *result)
{
	static const uint8_t untouched[128] = { [0 ... 127] = UNTOUCHED };
	uint8_t *there = dc_buf(&asker->dc, 1), *room = dc_buf(&asker->dc, 4), was[128];
	struct ibv_sge sges[MAX_SGES];
	bool right;

	asker->count++;
	memset(room, UNTOUCHED, 256);
	for (unsigned int i = 0; i < sizeof(was); i++)
		there[i] = was[i] = (uint8_t)(asker->count * 3 + i + (i == 0));
	entries_fill(asker, request, sges);
	request_post(asker, request, sges);
	result->in_cqe += answer_is_in_cqe(asker);
	result->early += !entries_are(sges, request->sges, untouched);
	right = completion_take(asker);
	result->right += right && entries_are(sges, request->sges, was) &&
			 rest_is_untouched(sges, request->sges, room + 256);
}

static const char *request_name(const struct request *request)
{
	static const char *const names[] = { "read", "fetch-and-add", "compare-and-swap" };

	return names[request->operation];
}

/* Makes the request at each WQEBB of the ring. A step of an odd number of blocks reaches all, as
 * the ring's size is a power of two. */
static void request_everywhere(struct asker *asker, const struct request *request)
{
	const struct request odd = { READ, 4, asker->target ? 4 : 1 };
	uint32_t blocks = request_blocks(asker, request);
	struct result result = { 0 }, unused = { 0 };
	bool seen[256] = { 0 };
	uint32_t starts = 0;

	MUST(asker->ring <= ARRAY_SIZE(seen) && !(asker->ring & (asker->ring - 1)));
	for (uint32_t i = 0; i < asker->ring; i++) {
		starts += !seen[asker->at % asker->ring];
		seen[asker->at % asker->ring] = true;
		request_try(asker, request, &result);
		if (blocks % 2 == 0)
			request_try(asker, &odd, &unused);
	}
	MUST(starts == asker->ring);
	say("%s of %u in %d: in the CQE %s", request_name(request), request->length, request->sges,
	    result.in_cqe == starts ? "always"
	    : result.in_cqe         ? "sometimes"
				    : "never");
	say_check(result.right == starts, "the answer is where the entries are");
	say_check(result.early == starts - result.in_cqe, "and comes there by the poll");
}

static void asker_try(struct rig *rig, uint16_t cqe_size, bool of_dc, bool signal_all)
{
	struct asker asker;

	asker_open(rig, &asker, cqe_size, of_dc, signal_all);
	say("%s, CQEs of %u, %s", of_dc ? "DC" : "RC", cqe_size,
	    signal_all ? "all signaled" : "by a flag");
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		request_everywhere(&asker, &requests[i]);
	asker_close(&asker);
}

void dc_answers(struct rig *rig)
{
	asker_try(rig, 64, false, false);
	asker_try(rig, 64, false, true);
}

/* Not compared: the distribution's library reads short answers from another place of such CQEs. */
void dc_wide_answers(struct rig *rig)
{
	asker_try(rig, 128, false, false);
	asker_try(rig, 128, false, true);
}

/* The distribution's library does not request them. */
void dc_answers_of_dc(struct rig *rig)
{
	for (unsigned int i = 0; i < 4; i++)
		asker_try(rig, i & 1 ? 128 : 64, true, i & 2);
}
