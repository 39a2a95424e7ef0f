/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lines.c - see lines.h. The simulated cache has 512 lines, and drops the one unused for longest.
 */
#include "bench/lines.h"

#include <stddef.h>
#include <valgrind/callgrind.h>

enum { LINE = 64, OTHER_LINES = 2 * 512 };

static char other[OTHER_LINES * LINE] __attribute__((aligned(LINE)));
static struct ibv_context_ops real;
static struct ibv_qp_ex *hooked_qp;
static struct ibv_cq_ex *hooked_cq;
static void (*real_wr_start)(struct ibv_qp_ex *qpx);
static int (*real_wr_complete)(struct ibv_qp_ex *qpx);
static void (*real_wr_abort)(struct ibv_qp_ex *qpx);
static int (*real_start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
static void (*real_end_poll)(struct ibv_cq_ex *cq);
static bool counts;
static int calls;

static void cache_fill(void)
{
	for (size_t i = 0; i < sizeof(other); i += LINE)
		*(volatile char *)&other[i];
}

/* Starts collecting for one call, with none of its data in the cache. Returns false, and does
 * nothing, while calls are not counted. */
static bool call_begin(void)
{
	if (!counts)
		return false;
	calls++;
	cache_fill();
	CALLGRIND_TOGGLE_COLLECT;
	return true;
}

static void call_end(bool is_counted)
{
	if (is_counted)
		CALLGRIND_TOGGLE_COLLECT;
}

static int hook_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	int (*const call)(struct ibv_qp * qp, struct ibv_send_wr * wr, struct ibv_send_wr * *bad) =
		real.post_send;
	const bool is_counted = call_begin();
	const int ret = call(qp, wr, bad);

	call_end(is_counted);
	return ret;
}

static int hook_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int (*const call)(struct ibv_qp * qp, struct ibv_recv_wr * wr, struct ibv_recv_wr * *bad) =
		real.post_recv;
	const bool is_counted = call_begin();
	const int ret = call(qp, wr, bad);

	call_end(is_counted);
	return ret;
}

static int hook_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int (*const call)(struct ibv_srq * srq, struct ibv_recv_wr * wr,
			  struct ibv_recv_wr * *bad) = real.post_srq_recv;
	const bool is_counted = call_begin();
	const int ret = call(srq, wr, bad);

	call_end(is_counted);
	return ret;
}

static int hook_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	int (*const call)(struct ibv_cq * cq, int count, struct ibv_wc *wc) = real.poll_cq;
	const bool is_counted = call_begin();
	const int ret = call(cq, count, wc);

	call_end(is_counted);
	return ret;
}

static void hook_wr_start(struct ibv_qp_ex *qpx)
{
	void (*const call)(struct ibv_qp_ex *) = real_wr_start;

	(void)call_begin();
	call(qpx);
}

static int hook_wr_complete(struct ibv_qp_ex *qpx)
{
	int ret = real_wr_complete(qpx);

	call_end(counts);
	return ret;
}

static void hook_wr_abort(struct ibv_qp_ex *qpx)
{
	real_wr_abort(qpx);
	call_end(counts);
}

static int hook_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	int (*const call)(struct ibv_cq_ex *, struct ibv_poll_cq_attr *) = real_start_poll;
	const bool is_counted = call_begin();
	const int ret = call(cq, attr);

	if (ret)
		call_end(is_counted);
	return ret;
}

static void hook_end_poll(struct ibv_cq_ex *cq)
{
	real_end_poll(cq);
	call_end(counts);
}

void lines_hook_context(struct ibv_context *ctx)
{
	real = ctx->ops;
	ctx->ops.post_send = hook_post_send;
	ctx->ops.post_recv = hook_post_recv;
	ctx->ops.post_srq_recv = hook_post_srq_recv;
	ctx->ops.poll_cq = hook_poll_cq;
}

void lines_hook_qp(struct ibv_qp_ex *qpx)
{
	hooked_qp = qpx;
	if (!qpx)
		return;
	real_wr_start = qpx->wr_start;
	real_wr_complete = qpx->wr_complete;
	real_wr_abort = qpx->wr_abort;
	qpx->wr_start = hook_wr_start;
	qpx->wr_complete = hook_wr_complete;
	qpx->wr_abort = hook_wr_abort;
}

void lines_hook_cq(struct ibv_cq_ex *cq)
{
	hooked_cq = cq;
	if (!cq)
		return;
	real_start_poll = cq->start_poll;
	real_end_poll = cq->end_poll;
	cq->start_poll = hook_start_poll;
	cq->end_poll = hook_end_poll;
}

void lines_unhook(void)
{
	if (hooked_qp) {
		hooked_qp->wr_start = real_wr_start;
		hooked_qp->wr_complete = real_wr_complete;
		hooked_qp->wr_abort = real_wr_abort;
	}
	if (hooked_cq) {
		hooked_cq->start_poll = real_start_poll;
		hooked_cq->end_poll = real_end_poll;
	}
	hooked_qp = NULL;
	hooked_cq = NULL;
}

void lines_count(bool on)
{
	counts = on;
}

int lines_calls(void)
{
	const int count = calls;

	calls = 0;
	return count;
}
