/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain.c - a QP in state SQD, on drivers that support it: begun requests finish, later ones wait,
 * and attributes change meanwhile. IBTA vol 1, 10.3.1. A peer without receives keeps a request
 * waiting as long as the test needs.
 *
 * Covers: softhca/device/transport/drain.c, softhca/front/process/driver/qp_state.c,
 * providers/mlx5/qp/, providers/mlx4/qp.c
 */
#include <poll.h>

#include "diff.h"
#include "tests/lib/xrc.h"

enum { PATIENCE_MS = 20000, TRIES = 500, WRITES = 5, WRITE_BYTES = 8 << 20, QKEY = 0x11 };

struct side {
	struct ibv_qp *qp, *peer;
	struct ibv_cq *sent, *received;
	struct ibv_mr *mr, *peer_mr;
	enum ibv_wr_opcode opcode; /* of long requests, which are so long: */
	uint32_t len;
	struct ibv_ah *ah;   /* of datagrams */
	struct ibv_srq *srq; /* of XRC, which receives */
	uint32_t srqn;
	struct rig_pair *pair; /* of RC and UC */
};

static bool is_unreliable(const struct side *side)
{
	return side->ah || side->qp->qp_type == IBV_QPT_UC;
}

static int to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static int to_sqd(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

static void say_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	say("state %d, draining %u, qp->state %d", attr.qp_state, attr.sq_draining, qp->state);
}

static struct ibv_sge whole_region(const struct ibv_mr *mr, uint32_t len)
{
	return (struct ibv_sge){ .addr = (uintptr_t)mr->addr, .length = len, .lkey = mr->lkey };
}

static int request_post(const struct side *side, enum ibv_wr_opcode opcode, uint64_t id,
			uint32_t len)
{
	struct ibv_sge sge = whole_region(side->mr, len);
	struct ibv_send_wr wr = { .wr_id = id,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	wr.qp_type.xrc.remote_srqn = side->srqn;
	if (side->ah) {
		wr.wr.ud.ah = side->ah;
		wr.wr.ud.remote_qpn = side->peer->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)side->peer_mr->addr;
		wr.wr.rdma.rkey = side->peer_mr->rkey;
	}
	return ibv_post_send(side->qp, &wr, &bad);
}

static void post_one(const struct side *side, enum ibv_wr_opcode opcode, uint64_t id, uint32_t len)
{
	SAY_RET(request_post(side, opcode, id, len), "post %d", (int)id);
}

static void receive_by(struct ibv_qp *qp, struct ibv_srq *srq, const struct ibv_mr *mr)
{
	struct ibv_sge sge = whole_region(mr, 64);
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!(srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad)));
}

static void peer_receive(const struct side *side)
{
	receive_by(side->peer, side->srq, side->peer_mr);
}

/* Returns whether the event arrives within MS. An XRC target, which stays in RTR, gets another
 * event when a message reaches it. */
static bool is_drained(struct ibv_qp *qp, int ms)
{
	struct pollfd pfd = { .fd = qp->context->async_fd, .events = POLLIN };
	struct ibv_async_event event = { .event_type = IBV_EVENT_COMM_EST };
	bool is_it = false;

	while (event.event_type == IBV_EVENT_COMM_EST && poll(&pfd, 1, ms) == 1) {
		MUST(!ibv_get_async_event(qp->context, &event));
		is_it = event.event_type == IBV_EVENT_SQ_DRAINED && event.element.qp == qp;
		if (!is_it && event.event_type != IBV_EVENT_COMM_EST)
			say("%s", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
	}
	return is_it;
}

static void say_sent(const struct side *side, int n)
{
	struct ibv_wc wc;

	while (n-- > 0 && rig_poll(side->sent, 1, &wc) == 1)
		say_wc("A", &wc, side->peer->qp_num);
}

static void say_received(const struct side *side)
{
	struct ibv_wc wc;

	if (rig_poll(side->received, 1, &wc) == 1)
		say_wc("B", &wc, side->qp->qp_num);
}

/* Sends a message until it arrives, as it may be lost on an unreliable service. */
static void message_exchange(const struct side *side)
{
	struct ibv_wc wc;
	int got = 0;

	peer_receive(side);
	if (!is_unreliable(side)) {
		post_one(side, IBV_WR_SEND, 1, 8);
		say_sent(side, 1);
		say_received(side);
		return;
	}
	for (int i = 0; i < TRIES && !got; i++) {
		MUST(!request_post(side, IBV_WR_SEND, 1, 8) && rig_poll(side->sent, 1, &wc) == 1);
		MUST(wc.status == IBV_WC_SUCCESS);
		rig_settle();
		got = ibv_poll_cq(side->received, 1, &wc);
	}
	if (say_check(got == 1, "a message arrives"))
		say_wc("B", &wc, side->qp->qp_num);
}

/* The adapter decides how many requests have begun. Those must be complete when the event comes. */
static void under_load(struct side *side)
{
	struct ibv_wc wc[WRITES + 1];
	int before, after;

	for (int i = 0; i < WRITES; i++)
		post_one(side, side->opcode, i, side->len);
	SAY_RET(to_sqd(side->qp), "to SQD");
	say_check(is_drained(side->qp, PATIENCE_MS), "the event comes");
	before = ibv_poll_cq(side->sent, WRITES, wc);
	say_state(side->qp);
	post_one(side, side->opcode, WRITES, 8);
	rig_settle();
	say_check(before >= 0 && !ibv_poll_cq(side->sent, 1, wc), "nothing completes behind it");
	SAY_RET(to_state(side->qp, IBV_QPS_RTS), "to RTS");
	after = rig_poll(side->sent, WRITES + 1 - before, wc + before);
	say_check(before + after == WRITES + 1, "the others follow");
	for (int i = 0; i < before + after; i++)
		say_check(wc[i].status == IBV_WC_SUCCESS && wc[i].wr_id == (uint64_t)i,
			  "request %d", i);
	say_check(!is_drained(side->qp, 0), "no other event");
}

static void while_it_waits(struct side *side)
{
	struct ibv_qp_attr timeout = { .timeout = 15 };

	post_one(side, IBV_WR_SEND, 1, 8);
	SAY_RET(to_sqd(side->qp), "to SQD");
	say_state(side->qp);
	post_one(side, IBV_WR_SEND, 2, 8);
	SAY_RET(to_state(side->qp, IBV_QPS_RTS), "to RTS, too soon");
	SAY_RET(ibv_modify_qp(side->qp, &timeout, IBV_QP_TIMEOUT), "timeout, too soon");
	say_check(!is_drained(side->qp, 0), "no event yet");
	peer_receive(side);
	peer_receive(side);
	say_check(is_drained(side->qp, PATIENCE_MS), "the event comes");
	say_sent(side, 1);
	say_received(side);
	say_state(side->qp);
	say_check(!rig_drain(side->sent), "the other waits");
	SAY_RET(ibv_modify_qp(side->qp, &timeout, IBV_QP_TIMEOUT), "timeout");
	SAY_RET(to_state(side->qp, IBV_QPS_RTS), "to RTS");
	say_sent(side, 1);
	say_received(side);
	say_state(side->qp);
}

static void not_told(struct side *side)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };

	SAY_RET(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
		"to SQD, notification off");
	say_state(side->qp);
	if (!side->srq)
		receive_by(side->qp, NULL, side->mr);
	SAY_RET(to_state(side->qp, IBV_QPS_RTS), "to RTS");
	SAY_RET(to_state(side->qp, IBV_QPS_SQD), "to SQD");
	rig_settle();
	say_check(!is_drained(side->qp, 0), "no event");
}

/* Of two requests, one had begun. */
static void flushed(struct side *side)
{
	post_one(side, IBV_WR_SEND, 1, 8);
	SAY_RET(to_sqd(side->qp), "to SQD");
	post_one(side, IBV_WR_SEND, 2, 8);
	SAY_RET(to_state(side->qp, IBV_QPS_ERR), "to ERR");
	say_sent(side, 2);
	say_state(side->qp);
	say_check(!is_drained(side->qp, 0), "no event");
}

static void reset_in_sqd(struct side *side)
{
	post_one(side, IBV_WR_SEND, 1, 8);
	SAY_RET(to_sqd(side->qp), "to SQD");
	post_one(side, IBV_WR_SEND, 2, 8);
	SAY_RET(to_state(side->qp, IBV_QPS_RESET), "to RESET");
	rig_pair_reconnect(side->pair);
	peer_receive(side);
	post_one(side, IBV_WR_SEND, 3, 8);
	say_sent(side, 1);
	say_received(side);
	say_check(!rig_drain(side->sent), "nothing of before");
}

/* Tries each bit alone, with a valid value. */
static void masks(struct ibv_qp *qp, bool within)
{
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
	attr.qkey = QKEY;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	for (int bit = 0; bit <= 20; bit++) {
		int mask = within ? 1 << bit : 1 << bit | IBV_QP_STATE;

		if (mask & IBV_QP_ALT_PATH) /* left out, as no adapter here has one */
			continue;
		SAY_RET(ibv_modify_qp(qp, &attr, mask), "bit %d", bit);
		if (!within)
			(void)to_state(qp, IBV_QPS_RTS);
	}
	MUST(!ibv_query_qp(qp, &got, IBV_QP_TIMEOUT, &init));
	say("timeout %u retry %u rnr %u timer %u access %#x port %u lid as before %d", got.timeout,
	    got.retry_cnt, got.rnr_retry, got.min_rnr_timer, got.qp_access_flags, got.port_num,
	    got.ah_attr.dlid == attr.ah_attr.dlid);
}

static void masks_to_sqd(struct side *side)
{
	masks(side->qp, false);
}

static void masks_in_sqd(struct side *side)
{
	SAY_RET(to_state(side->qp, IBV_QPS_SQD), "to SQD");
	masks(side->qp, true);
	SAY_RET(to_state(side->qp, IBV_QPS_RTS), "to RTS");
	message_exchange(side);
}

/* Datagrams for another Q_Key than the receiver's do not arrive. */
static void other_qkey(struct side *side)
{
	struct ibv_qp_attr attr = { .qkey = QKEY + 1 };

	SAY_RET(to_state(side->peer, IBV_QPS_SQD), "peer to SQD");
	message_exchange(side);
	SAY_RET(ibv_modify_qp(side->peer, &attr, IBV_QP_QKEY), "Q_Key");
	peer_receive(side);
	post_one(side, IBV_WR_SEND, 2, 8);
	say_sent(side, 1);
	say_check(!rig_drain(side->received), "nothing arrives");
	attr.qkey = QKEY;
	SAY_RET(ibv_modify_qp(side->peer, &attr, IBV_QP_QKEY), "Q_Key as before");
	message_exchange(side);
	SAY_RET(to_state(side->peer, IBV_QPS_RTS), "peer to RTS");
}

/* An XRC target has no send queue, but can still drain. */
static void target(struct side *side)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .timeout = 14 };

	SAY_RET(to_state(side->peer, IBV_QPS_SQD), "from RTR to SQD");
	SAY_RET(ibv_modify_qp(side->peer, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT),
		"to RTS");
	masks(side->peer, false);
	SAY_RET(to_sqd(side->peer), "to SQD");
	say_check(is_drained(side->peer, PATIENCE_MS), "the event comes");
	message_exchange(side);
	masks(side->peer, true);
	say_state(side->peer);
}

typedef void case_fn(struct side *side);

static void run_case(struct rig *rig, const char *name, bool unreliable, case_fn *body)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct side side;

	say("%s, %s:", name, unreliable ? "UC" : "RC");
	conf.unreliable = unreliable;
	if (body == under_load)
		conf.buf_size = WRITE_BYTES;
	rig_pair_open(rig, &conf, &pair);
	side = (struct side){ .qp = pair.end[0].qp,
			      .peer = pair.end[1].qp,
			      .sent = pair.end[0].cq,
			      .received = pair.end[1].cq,
			      .mr = pair.end[0].mr,
			      .peer_mr = pair.end[1].mr,
			      .opcode = IBV_WR_RDMA_WRITE,
			      .len = WRITE_BYTES,
			      .pair = &pair };
	body(&side);
	rig_pair_close(&pair);
}

static void run_xrc(struct rig *rig, const char *name, case_fn *body)
{
	struct ibv_qp_init_attr_ex attr;
	struct side side;
	struct xrc xrc;

	say("%s, XRC:", name);
	xrc_open(rig, rig_conf_default(), &xrc);
	attr = xrc_initiator_attr(&xrc);
	MUST(xrc.from = ibv_create_qp_ex(rig->ctx, &attr));
	xrc_connect(&xrc);
	side = (struct side){ .qp = xrc.from,
			      .peer = xrc.to,
			      .sent = xrc.sent,
			      .received = xrc.received,
			      .mr = xrc.mr,
			      .peer_mr = xrc.mr,
			      .opcode = IBV_WR_RDMA_WRITE,
			      .len = XRC_SLICE,
			      .srq = xrc.srq[0],
			      .srqn = xrc.srqn[0] };
	body(&side);
	xrc_close(&xrc);
}

static struct ibv_qp *datagram_qp(const struct rig_end *end)
{
	const int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_attr attr = { .port_num = RIG_PORT, .qkey = QKEY };
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	rig_qp_init_attr(&conf, end->cq, &init);
	init.qp_type = IBV_QPT_UD;
	MUST(qp = ibv_create_qp(end->mr->pd, &init));
	for (attr.qp_state = IBV_QPS_INIT; attr.qp_state <= IBV_QPS_RTS; attr.qp_state++)
		MUST(!ibv_modify_qp(qp, &attr,
				    attr.qp_state == IBV_QPS_INIT  ? to_init
				    : attr.qp_state == IBV_QPS_RTR ? IBV_QP_STATE
								   : IBV_QP_STATE | IBV_QP_SQ_PSN));
	return qp;
}

static struct ibv_ah *to_itself(const struct rig *rig, struct ibv_pd *pd)
{
	struct ibv_ah_attr attr = { .dlid = rig->port.lid, .port_num = RIG_PORT };
	struct ibv_ah *ah;

	MUST(ah = ibv_create_ah(pd, &attr));
	return ah;
}

static void run_datagrams(struct rig *rig, const char *name, case_fn *body)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_end end[2];
	struct ibv_pd *pd;
	struct side side;

	say("%s, UD:", name);
	MUST(pd = ibv_alloc_pd(rig->ctx));
	for (int i = 0; i < 2; i++)
		rig_end_open(pd, &conf, &end[i]);
	side = (struct side){ .qp = datagram_qp(&end[0]),
			      .peer = datagram_qp(&end[1]),
			      .sent = end[0].cq,
			      .received = end[1].cq,
			      .mr = end[0].mr,
			      .peer_mr = end[1].mr,
			      .opcode = IBV_WR_SEND,
			      .len = 1024,
			      .ah = to_itself(rig, pd) };
	body(&side);
	MUST(!ibv_destroy_qp(side.qp) && !ibv_destroy_qp(side.peer) && !ibv_destroy_ah(side.ah));
	for (int i = 0; i < 2; i++)
		rig_end_close(&end[i]);
	MUST(!ibv_dealloc_pd(pd));
}

static void frames_to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT));
	MUST(!to_state(qp, IBV_QPS_RTR) && !to_state(qp, IBV_QPS_RTS));
}

/* Linux accepts no attributes of raw packet QPs here, so an event cannot be requested. */
static void frames_wait(struct side *side)
{
	SAY_RET(to_sqd(side->qp), "to SQD, with an event");
	SAY_RET(to_state(side->qp, IBV_QPS_SQD), "to SQD");
	say_state(side->qp);
	post_one(side, IBV_WR_SEND, 1, side->len);
	say_check(!rig_drain(side->sent), "it waits");
	SAY_RET(to_state(side->qp, IBV_QPS_SQD), "within");
	SAY_RET(to_state(side->qp, IBV_QPS_RTS), "to RTS");
	say_sent(side, 1);
	say_state(side->qp);
	SAY_RET(to_state(side->qp, IBV_QPS_SQD), "to SQD");
	post_one(side, IBV_WR_SEND, 2, side->len);
	SAY_RET(to_state(side->qp, IBV_QPS_ERR), "to ERR");
	say_sent(side, 1);
	say_state(side->qp);
}

static void frames_anew(struct side *side)
{
	SAY_RET(to_state(side->qp, IBV_QPS_SQD), "to SQD");
	post_one(side, IBV_WR_SEND, 1, side->len);
	SAY_RET(to_state(side->qp, IBV_QPS_RESET), "to RESET");
	frames_to_rts(side->qp);
	post_one(side, IBV_WR_SEND, 2, side->len);
	say_sent(side, 1);
	say_check(!rig_drain(side->sent), "nothing of before");
}

static void run_frames(struct rig *rig, const char *name, case_fn *body)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_init_attr init;
	struct rig_end end;
	struct ibv_pd *pd;
	struct side side;

	say("%s, frames:", name);
	MUST(pd = ibv_alloc_pd(rig->ctx));
	rig_end_open(pd, &conf, &end);
	rig_qp_init_attr(&conf, end.cq, &init);
	init.qp_type = IBV_QPT_RAW_PACKET;
	init.cap.max_inline_data = 0;
	side = (struct side){ .sent = end.cq, .mr = end.mr, .peer_mr = end.mr, .len = 100 };
	MUST(side.qp = side.peer = ibv_create_qp(pd, &init));
	memset(end.buf, 2, side.len); /* frames to an address that is not ours */
	frames_to_rts(side.qp);
	body(&side);
	MUST(!ibv_destroy_qp(side.qp));
	rig_end_close(&end);
	MUST(!ibv_dealloc_pd(pd));
}

/* mlx5's driver has no command for the state. */
static bool may_drain(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	bool may;

	rig_pair_open(rig, &conf, &pair);
	may = !SAY_RET(to_state(pair.end[0].qp, IBV_QPS_SQD), "RTS to SQD");
	say_check(may == !strncmp(ibv_get_device_name(rig->ctx->device), "mlx4", 4),
		  "mlx4 drains, and no other");
	say_state(pair.end[0].qp);
	rig_pair_close(&pair);
	return may;
}

void diff_drain(struct rig *rig)
{
	if (!may_drain(rig))
		return;
	run_case(rig, "under load", false, under_load);
	run_case(rig, "under load", true, under_load);
	run_case(rig, "while it waits", false, while_it_waits);
	run_case(rig, "not told", false, not_told);
	run_case(rig, "flushed", false, flushed);
	run_case(rig, "reset", false, reset_in_sqd);
	run_case(rig, "to SQD", false, masks_to_sqd);
	run_case(rig, "in SQD", false, masks_in_sqd);
	run_case(rig, "in SQD", true, masks_in_sqd);
	run_xrc(rig, "under load", under_load);
	run_xrc(rig, "while it waits", while_it_waits);
	run_xrc(rig, "not told", not_told);
	run_xrc(rig, "flushed", flushed);
	run_xrc(rig, "to SQD", masks_to_sqd);
	run_xrc(rig, "in SQD", masks_in_sqd);
	run_xrc(rig, "a target", target);
	/* Nothing else on Ethernet, as libmlx4 takes a RoCE address from the network interface, and
	 * ports here have none. */
	if (rig->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
		run_frames(rig, "waiting", frames_wait);
		run_frames(rig, "reset", frames_anew);
		return;
	}
	run_datagrams(rig, "under load", under_load);
	run_datagrams(rig, "not told", not_told);
	run_datagrams(rig, "to SQD", masks_to_sqd);
	run_datagrams(rig, "in SQD", masks_in_sqd);
	run_datagrams(rig, "another Q_Key", other_qkey);
}
