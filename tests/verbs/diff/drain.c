/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain.c - a QP in state SQD, where the driver leads one there: what was begun is finished, what
 * is posted later waits, and attributes change meanwhile. IBTA vol 1, 10.3.1.
 *
 * The peer that has no receive lets a request wait as long as the test wants.
 */
#include <fcntl.h>
#include <poll.h>

#include "diff.h"

enum { PATIENCE_MS = 20000, WRITES = 12, WRITE_BYTES = 8 << 20 };

static struct rig_end *end_of(struct rig_pair *pair)
{
	return &pair->end[0];
}

static int to_state(struct rig_pair *pair, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(end_of(pair)->qp, &attr, IBV_QP_STATE);
}

/* The function asks for an event. */
static int to_sqd(struct rig_pair *pair)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	return ibv_modify_qp(end_of(pair)->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

static void say_state(struct rig_pair *pair)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(end_of(pair)->qp, &attr, IBV_QP_STATE, &init));
	say("state %d, draining %u, qp->state %d", attr.qp_state, attr.sq_draining,
	    end_of(pair)->qp->state);
}

static void post_one(struct rig_pair *pair, enum ibv_wr_opcode opcode, uint64_t id, uint32_t len)
{
	struct rig_end *end = end_of(pair);
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = len, .lkey = end->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = id,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)pair->end[1].buf;
	wr.wr.rdma.rkey = pair->end[1].mr->rkey;
	SAY_RET(ibv_post_send(end->qp, &wr, &bad), "post %d", (int)id);
}

static void receive(struct rig_end *end)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = 64, .lkey = end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

/* The function tells whether the event is there, or comes within MS. */
static bool is_drained(struct rig_pair *pair, int ms)
{
	struct ibv_context *ctx = pair->rig->ctx;
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	bool is_it;

	if (poll(&pfd, 1, ms) != 1)
		return false;
	MUST(!ibv_get_async_event(ctx, &event));
	is_it = event.event_type == IBV_EVENT_SQ_DRAINED && event.element.qp == end_of(pair)->qp;
	if (!is_it)
		say("%s", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	return is_it;
}

static void say_wcs(struct rig_pair *pair, int i, int n)
{
	struct ibv_wc wc;

	while (n-- > 0) {
		if (rig_poll(pair->end[i].cq, 1, &wc) != 1)
			return;
		say_wc(i ? "B" : "A", &wc, pair->end[!i].qp->qp_num);
	}
}

/* ---- cases ---- */

/* How many of the writes have begun is the adapter's; those are complete when the event comes. */
static void under_load(struct rig_pair *pair)
{
	struct ibv_cq *cq = end_of(pair)->cq;
	struct ibv_wc wc[WRITES + 1];
	int before, after;

	for (int i = 0; i < WRITES; i++)
		post_one(pair, IBV_WR_RDMA_WRITE, i, WRITE_BYTES);
	SAY_RET(to_sqd(pair), "to SQD");
	say_check(is_drained(pair, PATIENCE_MS), "the event comes");
	before = ibv_poll_cq(cq, WRITES, wc);
	say_state(pair);
	post_one(pair, IBV_WR_RDMA_WRITE, WRITES, 8);
	rig_settle();
	say_check(before >= 0 && !ibv_poll_cq(cq, 1, wc), "nothing completes behind it");
	SAY_RET(to_state(pair, IBV_QPS_RTS), "to RTS");
	after = rig_poll(cq, WRITES + 1 - before, wc + before);
	say_check(before + after == WRITES + 1, "the others follow");
	for (int i = 0; i < before + after; i++)
		say_check(wc[i].status == IBV_WC_SUCCESS && wc[i].wr_id == (uint64_t)i, "write %d",
			  i);
	say_check(!is_drained(pair, 0), "no other event");
}

static void while_it_waits(struct rig_pair *pair)
{
	struct ibv_qp_attr timeout = { .timeout = 15 };

	post_one(pair, IBV_WR_SEND, 1, 8);
	SAY_RET(to_sqd(pair), "to SQD");
	say_state(pair);
	post_one(pair, IBV_WR_SEND, 2, 8);
	SAY_RET(to_state(pair, IBV_QPS_RTS), "to RTS, too soon");
	SAY_RET(ibv_modify_qp(end_of(pair)->qp, &timeout, IBV_QP_TIMEOUT), "timeout, too soon");
	say_check(!is_drained(pair, 0), "no event yet");
	receive(&pair->end[1]);
	receive(&pair->end[1]);
	say_check(is_drained(pair, PATIENCE_MS), "the event comes");
	say_wcs(pair, 0, 1);
	say_wcs(pair, 1, 1);
	say_state(pair);
	say_check(!rig_drain(end_of(pair)->cq), "the other waits");
	SAY_RET(ibv_modify_qp(end_of(pair)->qp, &timeout, IBV_QP_TIMEOUT), "timeout");
	SAY_RET(to_state(pair, IBV_QPS_RTS), "to RTS");
	say_wcs(pair, 0, 1);
	say_wcs(pair, 1, 1);
	say_state(pair);
}

static void not_told(struct rig_pair *pair)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };

	SAY_RET(ibv_modify_qp(end_of(pair)->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		"to SQD, notification off");
	say_state(pair);
	receive(end_of(pair));
	SAY_RET(to_state(pair, IBV_QPS_RTS), "to RTS");
	SAY_RET(to_state(pair, IBV_QPS_SQD), "to SQD");
	rig_settle();
	say_check(!is_drained(pair, 0), "no event");
}

/* The request that was begun, and the one that was not */
static void flushed(struct rig_pair *pair)
{
	post_one(pair, IBV_WR_SEND, 1, 8);
	SAY_RET(to_sqd(pair), "to SQD");
	post_one(pair, IBV_WR_SEND, 2, 8);
	SAY_RET(to_state(pair, IBV_QPS_ERR), "to ERR");
	say_wcs(pair, 0, 2);
	say_state(pair);
	say_check(!is_drained(pair, 0), "no event");
}

static void reset_in_sqd(struct rig_pair *pair)
{
	post_one(pair, IBV_WR_SEND, 1, 8);
	SAY_RET(to_sqd(pair), "to SQD");
	post_one(pair, IBV_WR_SEND, 2, 8);
	SAY_RET(to_state(pair, IBV_QPS_RESET), "to RESET");
	rig_pair_reconnect(pair);
	receive(&pair->end[1]);
	post_one(pair, IBV_WR_SEND, 3, 8);
	say_wcs(pair, 0, 1);
	say_wcs(pair, 1, 1);
	say_check(!rig_drain(end_of(pair)->cq), "nothing of before");
}

/* Each bit is given alone, with a value that is right. */
static void masks(struct rig_pair *pair, bool within)
{
	struct ibv_qp *qp = end_of(pair)->qp;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr, got;

	MUST(!ibv_query_qp(qp, &attr, IBV_QP_AV, &init));
	attr.qp_state = IBV_QPS_SQD;
	attr.cur_qp_state = within ? IBV_QPS_SQD : IBV_QPS_RTS;
	attr.en_sqd_async_notify = 0;
	attr.retry_cnt = 5;
	attr.rnr_retry = 6;
	attr.timeout = 16;
	attr.min_rnr_timer = 2;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	for (int bit = 0; bit <= 20; bit++) {
		int mask = within ? 1 << bit : 1 << bit | IBV_QP_STATE;

		if (mask & IBV_QP_ALT_PATH) /* no adapter here has one */
			continue;
		SAY_RET(ibv_modify_qp(qp, &attr, mask), "bit %d", bit);
		if (!within)
			(void)to_state(pair, IBV_QPS_RTS);
	}
	MUST(!ibv_query_qp(qp, &got, IBV_QP_TIMEOUT, &init));
	say("timeout %u retry %u rnr %u timer %u access %#x port %u lid as before %d", got.timeout,
	    got.retry_cnt, got.rnr_retry, got.min_rnr_timer, got.qp_access_flags, got.port_num,
	    got.ah_attr.dlid == attr.ah_attr.dlid);
}

static void masks_to_sqd(struct rig_pair *pair)
{
	masks(pair, false);
}

static void masks_in_sqd(struct rig_pair *pair)
{
	SAY_RET(to_state(pair, IBV_QPS_SQD), "to SQD");
	masks(pair, true);
	SAY_RET(to_state(pair, IBV_QPS_RTS), "to RTS");
	receive(&pair->end[1]);
	post_one(pair, IBV_WR_SEND, 1, 8);
	say_wcs(pair, 0, 1);
	say_wcs(pair, 1, 1);
}

static void run_case(struct rig *rig, const char *name, bool unreliable, size_t size,
		     void (*body)(struct rig_pair *pair))
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	say("%s, %s:", name, unreliable ? "UC" : "RC");
	conf.unreliable = unreliable;
	if (size)
		conf.buf_size = size;
	rig_pair_open(rig, &conf, &pair);
	body(&pair);
	rig_pair_close(&pair);
}

/* mlx5's driver has no command for the state. */
static bool may_drain(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	bool may;

	rig_pair_open(rig, &conf, &pair);
	may = !SAY_RET(to_state(&pair, IBV_QPS_SQD), "RTS to SQD");
	say_check(may == !strncmp(ibv_get_device_name(rig->ctx->device), "mlx4", 4),
		  "mlx4 drains, and no other");
	say_state(&pair);
	rig_pair_close(&pair);
	return may;
}

void diff_drain(struct rig *rig)
{
	if (!may_drain(rig))
		return;
	run_case(rig, "under load", false, WRITE_BYTES, under_load);
	run_case(rig, "under load", true, WRITE_BYTES, under_load);
	run_case(rig, "while it waits", false, 0, while_it_waits);
	run_case(rig, "not told", false, 0, not_told);
	run_case(rig, "flushed", false, 0, flushed);
	run_case(rig, "reset", false, 0, reset_in_sqd);
	run_case(rig, "to SQD", false, 0, masks_to_sqd);
	run_case(rig, "in SQD", false, 0, masks_in_sqd);
	run_case(rig, "in SQD", true, 0, masks_in_sqd);
}
