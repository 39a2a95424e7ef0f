/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * async.c - asynchronous events: causes each one, reads it, compares its object, and acknowledges
 * it.
 *
 * Covers: libibverbs/events.c ibv_get_async_event ibv_ack_async_event,
 * softhca/front/process/uverbs/async.c, softhca/front/process/uverbs/events.c
 */
#include <fcntl.h>
#include <poll.h>

#include "diff.h"

static const char *element(const struct ibv_async_event *event, const struct rig_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		if (event->event_type == IBV_EVENT_CQ_ERR) {
			if (event->element.cq == pair->end[i].cq)
				return i ? "CQ B" : "CQ A";
		} else if (event->element.qp == pair->end[i].qp) {
			return i ? "QP B" : "QP A";
		}
	}
	return "another object";
}

enum { PATIENCE_MS = 20000, QUIET_MS = 300 };

/* Print the events that are expected, and all that come until none has come for a while. */
static void say_events(const struct rig_pair *pair, int expected)
{
	struct ibv_context *ctx = pair->rig->ctx;
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&pfd, 1, expected-- > 0 ? PATIENCE_MS : QUIET_MS) == 1) {
		if (SAY_RET(ibv_get_async_event(ctx, &event), "get_async_event"))
			return;
		say("%s of %s", ibv_event_type_str(event.event_type), element(&event, pair));
		ibv_ack_async_event(&event);
	}
	say("no further event");
}

static void post_send(struct rig_pair *pair, enum ibv_wr_opcode opcode, uint32_t len, uint32_t rkey)
{
	struct rig_end *end = &pair->end[0];
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = len, .lkey = end->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED
	};
	struct ibv_send_wr *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)pair->end[1].buf;
	wr.wr.rdma.rkey = rkey;
	MUST(!ibv_post_send(end->qp, &wr, &bad));
}

static void post_recv(struct rig_pair *pair, uint32_t len)
{
	struct rig_end *end = &pair->end[1];
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = len, .lkey = end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

static void say_one_wc(struct rig_pair *pair, int i)
{
	struct ibv_wc wc;

	if (rig_poll(pair->end[i].cq, 1, &wc) == 1)
		say_wc(i ? "B" : "A", &wc, pair->end[!i].qp->qp_num);
}

static void no_event(struct rig_pair *pair)
{
	struct ibv_async_event event;

	SAY_RET(ibv_get_async_event(pair->rig->ctx, &event), "get_async_event, none there");
}

static void comm_est(struct rig_pair *pair)
{
	rig_qp_to(pair->rig, &pair->conf, pair->end[1].qp, pair->end[0].qp->qp_num, IBV_QPS_RTR);
	post_recv(pair, 64);
	post_send(pair, IBV_WR_SEND, 8, 0);
	say_one_wc(pair, 0);
	say_one_wc(pair, 1);
}

static void sq_drained(struct rig_pair *pair)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	SAY_RET(ibv_modify_qp(pair->end[0].qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		"modify_qp to SQD with notification");
}

static void bad_rkey_write(struct rig_pair *pair)
{
	post_send(pair, IBV_WR_RDMA_WRITE, 8, pair->end[1].mr->rkey ^ 0x5500);
	say_one_wc(pair, 0);
}

static void bad_rkey_read(struct rig_pair *pair)
{
	post_send(pair, IBV_WR_RDMA_READ, 8, pair->end[1].mr->rkey ^ 0x5500);
	say_one_wc(pair, 0);
}

static void long_message(struct rig_pair *pair)
{
	post_recv(pair, 8);
	post_send(pair, IBV_WR_SEND, 64, 0);
	say_one_wc(pair, 0);
	say_one_wc(pair, 1);
}

/* An unread event must not delay destroying its object, as nobody can acknowledge it, and
 * disappears with it. */
static void unread(struct rig_pair *pair)
{
	struct rig_end *end = &pair->end[1];

	comm_est(pair);
	rig_settle();
	SAY_RET(ibv_destroy_qp(end->qp), "destroy_qp with an unread event");
	MUST(end->qp = rig_qp_create(pair->pd, &pair->conf, end->cq));
}

static void run_case(struct rig *rig, const char *name, void (*body)(struct rig_pair *pair),
		     int events)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	say("%s:", name);
	rig_pair_open(rig, &conf, &pair);
	body(&pair);
	say_events(&pair, events);
	rig_pair_close(&pair);
}

static void cq_overrun(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	say("CQ overrun:");
	conf.cqe = 3;
	rig_pair_open(rig, &conf, &pair);
	for (int i = 0; i < 8; i++)
		post_send(&pair, IBV_WR_RDMA_WRITE, 8, pair.end[1].mr->rkey);
	say_events(&pair, 2);
	rig_pair_close(&pair);
}

void diff_async(struct rig *rig)
{
	int flags = fcntl(rig->ctx->async_fd, F_GETFL);

	MUST(!fcntl(rig->ctx->async_fd, F_SETFL, flags | O_NONBLOCK));
	run_case(rig, "nothing", no_event, 0);
	run_case(rig, "message in RTR", comm_est, 1);
	run_case(rig, "SQD", sq_drained, 0);
	run_case(rig, "write with a wrong rkey", bad_rkey_write, 1);
	run_case(rig, "read with a wrong rkey", bad_rkey_read, 1);
	run_case(rig, "message longer than the receive", long_message, 0);
	run_case(rig, "event unread", unread, 0);
	cq_overrun(rig);
	MUST(!fcntl(rig->ctx->async_fd, F_SETFL, flags));
}
