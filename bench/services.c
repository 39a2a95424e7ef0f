/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * services.c - services [frames]: instructions of rarer services: XRC and memory windows; or, on
 * Ethernet, raw packet QPs with checksums and large sends.
 *
 * It runs under callgrind: see count.h. A round is a burst of calls; preparation and cleanup are
 * not counted.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/count.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"

enum { BURST = 64, LIST = 16, POLL = 32, BYTES = 64, SLOT = 2048 };
enum { TSO_HEADER = 54, TSO_BYTES = 1400, TSO_MSS = 500 };

struct bench {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *sent, *received;
	struct ibv_qp *from, *to;
	struct ibv_mr *mr;
	uint8_t *buf; /* one slot to send from, and one to receive in */
	struct ibv_sge out, in;
	struct ibv_send_wr sends[LIST];
	struct ibv_recv_wr receives[LIST];
	struct ibv_srq *srq; /* receives for XRC */
	struct ibv_xrcd *xrcd;
	struct ibv_mw *windows[BURST];
	struct ibv_flow *flow;
};

/* Makes BURST calls, or prepares for them, or cleans up after them. */
typedef void burst_fn(struct bench *b);

static void no_setup(struct bench *b)
{
	(void)b;
}

static void burst_count(struct bench *b, const char *name, burst_fn *before, burst_fn *run,
			burst_fn *after)
{
	for (int round = 0; round < COUNT_ROUNDS; round++) {
		before(b);
		CALLGRIND_TOGGLE_COLLECT;
		run(b);
		CALLGRIND_TOGGLE_COLLECT;
		after(b);
		count_round_end(round);
	}
	count_dump(name, BURST);
}

static void bench_open(struct bench *b)
{
	*b = (struct bench){ .srq = NULL };
	rig_open(&b->rig);
	MUST(b->pd = ibv_alloc_pd(b->rig.ctx));
	MUST(b->sent = ibv_create_cq(b->rig.ctx, 2 * BURST, NULL, NULL, 0));
	MUST(b->received = ibv_create_cq(b->rig.ctx, 2 * BURST, NULL, NULL, 0));
	MUST(b->buf = calloc(2, SLOT));
	MUST(b->mr = ibv_reg_mr(b->pd, b->buf, 2 * (size_t)SLOT,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND));
	b->out = (struct ibv_sge){ (uintptr_t)b->buf, BYTES, b->mr->lkey };
	b->in = (struct ibv_sge){ (uintptr_t)b->buf + SLOT, SLOT, b->mr->lkey };
	for (int i = 0; i < LIST; i++) {
		b->receives[i] =
			(struct ibv_recv_wr){ .next = i + 1 < LIST ? &b->receives[i + 1] : NULL,
					      .sg_list = &b->in,
					      .num_sge = 1 };
		b->sends[i] = (struct ibv_send_wr){ .next = i + 1 < LIST ? &b->sends[i + 1] : NULL,
						    .sg_list = &b->out,
						    .num_sge = 1,
						    .opcode = IBV_WR_SEND,
						    .send_flags = IBV_SEND_SIGNALED };
	}
}

static void bench_close(struct bench *b)
{
	MUST(!ibv_destroy_cq(b->sent) && !ibv_destroy_cq(b->received));
	MUST(!ibv_dereg_mr(b->mr) && !ibv_dealloc_pd(b->pd));
	free(b->buf);
	rig_close(&b->rig);
}

static bool send_times(struct bench *b, int times, const struct ibv_send_wr *like)
{
	struct ibv_send_wr wr = *like, *bad;
	int failed = 0;

	wr.next = NULL;
	for (int i = 0; i < times; i++)
		failed |= ibv_post_send(b->from, &wr, &bad);
	return !failed;
}

static void send_plain(struct bench *b)
{
	MUST(send_times(b, BURST, b->sends));
}

static void send_lists(struct bench *b)
{
	struct ibv_send_wr *bad;
	int failed = 0;

	for (int i = 0; i < BURST; i += LIST)
		failed |= ibv_post_send(b->from, b->sends, &bad);
	MUST(!failed);
}

static void poll_all(struct ibv_cq *cq)
{
	struct ibv_wc wc[BURST];

	MUST(rig_poll(cq, BURST, wc) == BURST);
	for (int i = 0; i < BURST; i++)
		MUST(!wc[i].status);
}

static void poll_sent(struct bench *b)
{
	poll_all(b->sent);
}

static void poll_received(struct bench *b)
{
	poll_all(b->received);
}

static void poll_both(struct bench *b)
{
	poll_sent(b);
	poll_received(b);
}

static void poll_by(struct bench *b, int step)
{
	struct ibv_wc wc[POLL];
	int polled = 0;

	for (int i = 0; i < BURST; i += step)
		polled += ibv_poll_cq(b->received, step, wc);
	MUST(polled == BURST);
}

static void poll_one_by_one(struct bench *b)
{
	poll_by(b, 1);
}

static void poll_many(struct bench *b)
{
	poll_by(b, POLL);
}

static void xrc_srq_open(struct bench *b)
{
	struct ibv_xrcd_init_attr domain = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							  IBV_XRCD_INIT_ATTR_OFLAGS,
					     .fd = -1,
					     .oflags = O_CREAT };
	struct ibv_srq_init_attr_ex attr = {
		.attr = { 2 * BURST, 1, 0 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = b->pd,
		.cq = b->received,
	};
	uint32_t srqn;

	MUST(attr.xrcd = b->xrcd = ibv_open_xrcd(b->rig.ctx, &domain));
	MUST(b->srq = ibv_create_srq_ex(b->rig.ctx, &attr));
	MUST(!ibv_get_srq_num(b->srq, &srqn));
	for (int i = 0; i < LIST; i++)
		b->sends[i].qp_type.xrc.remote_srqn = srqn;
}

static void xrc_open(struct bench *b)
{
	struct ibv_qp_init_attr_ex from = { .qp_type = IBV_QPT_XRC_SEND,
					    .send_cq = b->sent,
					    .cap = { .max_send_wr = BURST, .max_send_sge = 1 },
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = b->pd };
	struct ibv_qp_init_attr_ex to = { .qp_type = IBV_QPT_XRC_RECV,
					  .comp_mask = IBV_QP_INIT_ATTR_XRCD };
	struct rig_conf conf = rig_conf_default();

	xrc_srq_open(b);
	to.xrcd = b->xrcd;
	MUST(b->from = ibv_create_qp_ex(b->rig.ctx, &from));
	MUST(b->to = ibv_create_qp_ex(b->rig.ctx, &to));
	rig_qp_to(&b->rig, &conf, b->to, b->from->qp_num, IBV_QPS_RTR);
	rig_qp_to(&b->rig, &conf, b->from, b->to->qp_num, IBV_QPS_RTS);
}

static void xrc_close(struct bench *b)
{
	MUST(!ibv_destroy_qp(b->from) && !ibv_destroy_qp(b->to) && !ibv_destroy_srq(b->srq));
	MUST(!ibv_close_xrcd(b->xrcd));
}

static void xrc_receive(struct bench *b)
{
	struct ibv_recv_wr *bad;

	for (int i = 0; i < BURST; i += LIST)
		MUST(!ibv_post_srq_recv(b->srq, b->receives, &bad));
}

static void xrc_exchange(struct bench *b)
{
	xrc_receive(b);
	send_lists(b);
	poll_sent(b); /* so that they are acknowledged */
}

static void count_xrc(struct bench *b)
{
	bench_open(b);
	xrc_open(b);
	burst_count(b, "post_send, XRC", xrc_receive, send_plain, poll_both);
	burst_count(b, "post_send, XRC, list of 16", xrc_receive, send_lists, poll_both);
	burst_count(b, "poll_cq, 1 of XRC", xrc_exchange, poll_one_by_one, no_setup);
	burst_count(b, "poll_cq, 32 of XRC", xrc_exchange, poll_many, no_setup);
	xrc_close(b);
	bench_close(b);
}

static struct ibv_mw_bind_info window_info(const struct bench *b)
{
	return (struct ibv_mw_bind_info){ b->mr, (uintptr_t)b->buf, SLOT,
					  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE };
}

static void windows_open(struct bench *b, enum ibv_mw_type type)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_init_attr attr;

	bench_open(b);
	conf.cap.max_send_wr = BURST;
	rig_qp_init_attr(&conf, b->sent, &attr);
	attr.recv_cq = b->received;
	MUST(b->from = ibv_create_qp(b->pd, &attr));
	MUST(b->to = ibv_create_qp(b->pd, &attr));
	rig_qp_to(&b->rig, &conf, b->to, b->from->qp_num, IBV_QPS_RTR);
	rig_qp_to(&b->rig, &conf, b->from, b->to->qp_num, IBV_QPS_RTS);
	for (int i = 0; i < BURST; i++)
		MUST(b->windows[i] = ibv_alloc_mw(b->pd, type));
}

static void windows_close(struct bench *b)
{
	for (int i = 0; i < BURST; i++)
		MUST(!ibv_dealloc_mw(b->windows[i]));
	MUST(!ibv_destroy_qp(b->from) && !ibv_destroy_qp(b->to));
	bench_close(b);
}

static void windows_bind_1(struct bench *b)
{
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED, .bind_info = window_info(b) };
	int failed = 0;

	for (int i = 0; i < BURST; i++)
		failed |= ibv_bind_mw(b->from, b->windows[i], &bind);
	MUST(!failed);
}

static void windows_bind_2(struct bench *b)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED }, *bad;
	int failed = 0;

	wr.bind_mw.bind_info = window_info(b);
	for (int i = 0; i < BURST; i++) {
		wr.bind_mw.mw = b->windows[i];
		wr.bind_mw.rkey = b->windows[i]->rkey = ibv_inc_rkey(b->windows[i]->rkey);
		failed |= ibv_post_send(b->from, &wr, &bad);
	}
	MUST(!failed);
}

static void windows_invalidate(struct bench *b)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	int failed = 0;

	for (int i = 0; i < BURST; i++) {
		wr.invalidate_rkey = b->windows[i]->rkey;
		failed |= ibv_post_send(b->from, &wr, &bad);
	}
	MUST(!failed);
}

static void windows_bound(struct bench *b)
{
	windows_bind_2(b);
	poll_sent(b);
}

static void windows_unbind(struct bench *b)
{
	poll_sent(b);
	windows_invalidate(b);
	poll_sent(b);
}

/* Binds each window to the buffer, and revokes it, in one batch of ibv_wr_*(). */
static void windows_bind_and_revoke(struct bench *b)
{
	const struct ibv_mw_bind_info info = window_info(b);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(b->from);
	int failed = 0;

	for (int i = 0; i < BURST / 2; i++) {
		const uint32_t rkey = ibv_inc_rkey(b->windows[i]->rkey);

		b->windows[i]->rkey = rkey;
		ibv_wr_start(qpx);
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_bind_mw(qpx, b->windows[i], rkey, &info);
		ibv_wr_local_inv(qpx, rkey);
		failed |= ibv_wr_complete(qpx);
	}
	MUST(!failed);
}

/* Creates the sender again, for ibv_wr_*(). Returns false with libraries that lack it. */
static bool windows_reopen(struct bench *b)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = b->sent,
		.recv_cq = b->received,
		.cap = { BURST, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = b->pd,
		.send_ops_flags = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV,
	};
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp = ibv_create_qp_ex(b->rig.ctx, &attr);

	if (!qp)
		return false;
	MUST(!ibv_destroy_qp(b->from));
	b->from = qp;
	rig_qp_to(&b->rig, &conf, b->from, b->to->qp_num, IBV_QPS_RTS);
	return true;
}

static void count_batches_of_windows(struct bench *b)
{
	static const char name[] = "wr_bind_mw and wr_local_inv, one batch";

	windows_open(b, IBV_MW_TYPE_2);
	if (windows_reopen(b))
		burst_count(b, name, no_setup, windows_bind_and_revoke, poll_sent);
	else
		count_absent(name);
	windows_close(b);
}

static void count_windows(struct bench *b)
{
	windows_open(b, IBV_MW_TYPE_1);
	burst_count(b, "bind_mw", no_setup, windows_bind_1, poll_sent);
	windows_close(b);
	windows_open(b, IBV_MW_TYPE_2);
	burst_count(b, "post_send, BIND_MW", no_setup, windows_bind_2, windows_unbind);
	burst_count(b, "post_send, LOCAL_INV", windows_bound, windows_invalidate, poll_sent);
	windows_close(b);
}

static struct ibv_qp *frames_qp(const struct bench *b, struct ibv_cq *cq, uint16_t tso_header)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { BURST, BURST, 1, 1, 0 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | (tso_header ? IBV_QP_INIT_ATTR_MAX_TSO_HEADER : 0),
		.pd = b->pd,
		.max_tso_header = tso_header,
	};
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };
	struct ibv_qp *qp = ibv_create_qp_ex(b->rig.ctx, &attr);

	if (!qp)
		return NULL;
	MUST(!ibv_modify_qp(qp, &state, IBV_QP_STATE | IBV_QP_PORT));
	for (state.qp_state = IBV_QPS_RTR; state.qp_state <= IBV_QPS_RTS; state.qp_state++)
		MUST(!ibv_modify_qp(qp, &state, IBV_QP_STATE));
	return qp;
}

static void frame_fill(const struct bench *b)
{
	static const uint8_t ip[] = { 8, 0, 0x45, 0, 0, BYTES - 14, 0, 0, 0, 0, 64, 17 };
	const uint8_t *gid = b->rig.gid.raw;
	const uint8_t mac[6] = { gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15] };

	memcpy(b->buf, mac, sizeof(mac));
	memcpy(b->buf + sizeof(mac), mac, sizeof(mac));
	memcpy(b->buf + 2 * sizeof(mac), ip, sizeof(ip));
}

static void frames_open(struct bench *b)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = { .attr = { .size = sizeof(rule), .num_of_specs = 1, .port = RIG_PORT },
		   .eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) } };

	bench_open(b);
	MUST(b->from = frames_qp(b, b->sent, 0));
	MUST(b->to = frames_qp(b, b->received, 0));
	MUST(b->flow = ibv_create_flow(b->to, &rule.attr));
	frame_fill(b);
}

static void frames_close(struct bench *b)
{
	MUST(!ibv_destroy_flow(b->flow));
	MUST(!ibv_destroy_qp(b->from) && !ibv_destroy_qp(b->to));
	bench_close(b);
}

static void frames_receive(struct bench *b)
{
	struct ibv_recv_wr *bad;

	for (int i = 0; i < BURST; i += LIST)
		MUST(!ibv_post_recv(b->to, b->receives, &bad));
}

static void frames_receive_singly(struct bench *b)
{
	struct ibv_recv_wr wr = b->receives[LIST - 1], *bad;
	int failed = 0;

	for (int i = 0; i < BURST; i++)
		failed |= ibv_post_recv(b->to, &wr, &bad);
	MUST(!failed);
}

/* Sends the frames; each has arrived when its send completes. */
static void frames_exchange(struct bench *b)
{
	frames_receive(b);
	send_lists(b);
	poll_sent(b);
}

static void frames_use_up(struct bench *b)
{
	send_lists(b);
	poll_both(b);
}

static void frames_send_summed(struct bench *b)
{
	struct ibv_send_wr wr = b->sends[0];

	wr.send_flags |= IBV_SEND_IP_CSUM;
	MUST(send_times(b, BURST, &wr));
}

static bool send_large(struct bench *b, int times)
{
	struct ibv_sge sge = { b->out.addr, TSO_BYTES, b->out.lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_TSO,
				  .send_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM,
				  .tso = { b->buf, TSO_HEADER, TSO_MSS } };

	return send_times(b, times, &wr);
}

static void frames_send_large(struct bench *b)
{
	MUST(send_large(b, BURST));
}

/* Returns whether the library accepts the opcode, as it may create the QP and still refuse that. */
static bool has_large_sends(struct bench *b)
{
	struct ibv_wc wc;

	if (!b->from || !send_large(b, 1))
		return false;
	MUST(rig_poll(b->sent, 1, &wc) == 1);
	return true;
}

static void sums_are_asked_for(struct bench *b, bool asked)
{
	for (int i = 0; i < LIST; i++)
		b->sends[i].send_flags = IBV_SEND_SIGNALED | (asked ? IBV_SEND_IP_CSUM : 0);
}

/* No queue receives the segments. */
static void count_large(struct bench *b)
{
	static const char name[] = "post_send, large send";

	bench_open(b);
	b->from = frames_qp(b, b->sent, TSO_HEADER);
	frame_fill(b);
	if (has_large_sends(b))
		burst_count(b, name, no_setup, frames_send_large, poll_sent);
	else
		count_absent(name);
	MUST(!b->from || !ibv_destroy_qp(b->from));
	bench_close(b);
}

static void count_frames(struct bench *b)
{
	frames_open(b);
	burst_count(b, "post_send, frame", frames_receive, send_plain, poll_both);
	burst_count(b, "post_send, frame, checksums", frames_receive, frames_send_summed,
		    poll_both);
	burst_count(b, "post_send, frame, list of 16", frames_receive, send_lists, poll_both);
	sums_are_asked_for(b, true);
	burst_count(b, "post_send, frame, checksums, list of 16", frames_receive, send_lists,
		    poll_both);
	sums_are_asked_for(b, false);
	burst_count(b, "post_recv, frame", no_setup, frames_receive_singly, frames_use_up);
	burst_count(b, "post_recv, frame, list of 16", no_setup, frames_receive, frames_use_up);
	burst_count(b, "poll_cq, 1 frame", frames_exchange, poll_one_by_one, no_setup);
	burst_count(b, "poll_cq, 32 frames", frames_exchange, poll_many, no_setup);
	frames_close(b);
	count_large(b);
}

int main(int argc, char **argv)
{
	struct bench b = { .srq = NULL };

	if (argc > 1 && !strcmp(argv[1], "frames")) {
		count_frames(&b);
		return 0;
	}
	count_xrc(&b);
	count_windows(&b);
	count_batches_of_windows(&b);
	return 0;
}
