/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - creating completion queues, plain and extended, and their events.
 *
 * Covers: libibverbs/verbs_cq.c, libibverbs/cmd/cmd_cq.c, providers/mlx5/cq.c,
 * providers/mlx5/cq_resize.c, providers/mlx4/cq.c, providers/mlx4/cq_resize.c,
 * softhca/front/process/uverbs/cq.c
 */
#include <fcntl.h>
#include <poll.h>

#include "diff.h"

static void cq_one(struct rig *rig, int cqe, struct ibv_comp_channel *channel, int vector)
{
	int context;
	struct ibv_cq *cq =
		SAY_PTR(ibv_create_cq(rig->ctx, cqe, &context, channel, vector),
			"cqe %d vector %d %s", cqe, vector, channel ? "channel" : "no channel");

	if (!cq)
		return;
	say("cq cqe %d context %s channel %s", cq->cqe,
	    cq->cq_context == &context ? "ours" : "other",
	    cq->channel == channel ? "ours" : "other");
	SAY_RET(ibv_destroy_cq(cq), "destroy_cq");
}

static void cq_sizes(struct rig *rig)
{
	const int sizes[] = { 0,
			      -1,
			      -2147483647 - 1,
			      1,
			      2,
			      3,
			      63,
			      64,
			      65,
			      127,
			      128,
			      4096,
			      rig->device.max_cqe - 1,
			      rig->device.max_cqe,
			      rig->device.max_cqe + 1,
			      0x7fffffff };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		cq_one(rig, sizes[i], NULL, 0);
}

void diff_cq(struct rig *rig)
{
	struct ibv_comp_channel *channel =
		SAY_PTR(ibv_create_comp_channel(rig->ctx), "create_comp_channel");
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 4, NULL, NULL, 0);
	struct ibv_wc wc;

	MUST(channel && cq);
	cq_sizes(rig);
	cq_one(rig, 16, channel, 0);
	cq_one(rig, 16, NULL, rig->ctx->num_comp_vectors - 1);
	cq_one(rig, 16, NULL, rig->ctx->num_comp_vectors);
	cq_one(rig, 16, channel, rig->ctx->num_comp_vectors);
	cq_one(rig, 16, channel, -1);
	cq_one(rig, 16, NULL, 100000);
	SAY_RET(-ibv_poll_cq(cq, 1, &wc), "poll_cq of an empty CQ");
	SAY_RET(-ibv_poll_cq(cq, 0, &wc), "poll_cq of 0 entries");
	SAY_RET(ibv_req_notify_cq(cq, 0), "req_notify_cq without a channel");
	SAY_RET(ibv_req_notify_cq(cq, 1), "req_notify_cq, solicited only");
	SAY_RET(ibv_destroy_cq(cq), "destroy_cq");
	SAY_RET(ibv_destroy_comp_channel(channel), "destroy_comp_channel");
}

static struct ibv_cq_ex *cq_ex_try(struct rig *rig, struct ibv_cq_init_attr_ex *attr)
{
	return SAY_PTR(ibv_create_cq_ex(rig->ctx, attr),
		       "cqe %u vector %u wc_flags 0x%llx mask 0x%x flags 0x%x", attr->cqe,
		       attr->comp_vector, (unsigned long long)attr->wc_flags, attr->comp_mask,
		       attr->flags);
}

static void cq_ex_one(struct rig *rig, struct ibv_cq_init_attr_ex attr)
{
	struct ibv_cq_ex *cq = cq_ex_try(rig, &attr);

	if (!cq)
		return;
	say("cq_ex cqe %d mask 0x%x", cq->cqe, cq->comp_mask);
	SAY_RET(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "destroy_cq");
}

static void cq_ex_flags(struct rig *rig)
{
	static const struct ibv_cq_init_attr_ex cases[] = {
		{ .cqe = 0 },
		{ .cqe = 1 },
		{ .cqe = 0x7fffffff },
		/* not 0xffffffff, as the distribution's provider computes 0 from that, which the
		 * kernel accepts */
		{ .cqe = 0x80000000 },
		{ .cqe = 16, .comp_vector = 100000 },
		{ .cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS },
		{ .cqe = 16,
		  .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		  .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED },
		{ .cqe = 16, .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED },
		{ .cqe = 16,
		  .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		  .flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN },
		{ .cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = 1 << 2 },
		{ .cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = ~0U },
		{ .cqe = 16, .flags = 1U << 31 },
		{ .cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD },
		{ .cqe = 16, .comp_mask = 1 << 2 },
		{ .cqe = 16, .comp_mask = ~0U },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		cq_ex_one(rig, cases[i]);
}

void diff_cq_ex(struct rig *rig)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16 };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);

	MUST(pd);
	cq_ex_flags(rig);
	for (int bit = 0; bit < 14; bit++) {
		attr.wc_flags = 1ULL << bit;
		cq_ex_one(rig, attr);
	}
	attr.wc_flags = 1ULL << 63;
	cq_ex_one(rig, attr);
	attr.wc_flags = IBV_WC_STANDARD_FLAGS;
	cq_ex_one(rig, attr);
	attr.wc_flags = IBV_CREATE_CQ_SUP_WC_FLAGS;
	cq_ex_one(rig, attr);
	attr.wc_flags = 0;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
	attr.parent_domain = pd;
	say("parent_domain is a plain PD:");
	cq_ex_one(rig, attr);
	MUST(!ibv_dealloc_pd(pd));
}

/* Returns whether an event of CQ is waiting, takes it and acknowledges it. */
static void take_event(struct ibv_comp_channel *channel, struct ibv_cq *want, int wait_ms)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, wait_ms) != 1) {
		say("no event");
		return;
	}
	if (SAY_RET(ibv_get_cq_event(channel, &cq, &context), "get_cq_event"))
		return;
	say("event of %s, context %s", cq == want ? "the CQ" : "another CQ",
	    context == want->cq_context ? "right" : "wrong");
	ibv_ack_cq_events(cq, 1);
}

static void send_one(struct rig_end *from, unsigned int flags)
{
	struct ibv_sge sge = { .addr = (uintptr_t)from->buf, .length = 8, .lkey = from->mr->lkey };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED | flags,
				  .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_send_wr *bad;

	MUST(!ibv_post_send(from->qp, &wr, &bad));
}

static void recv_one(struct rig_end *end)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = 64, .lkey = end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

static void message(struct rig_pair *pair, unsigned int flags)
{
	struct ibv_wc wc;

	recv_one(&pair->end[1]);
	send_one(&pair->end[0], flags);
	MUST(rig_poll(pair->end[0].cq, 1, &wc) == 1);
}

static void cq_drain(struct rig_end *end)
{
	struct ibv_wc wc[16];
	int n;

	while ((n = ibv_poll_cq(end->cq, 16, wc)) > 0)
		say("drained %d", n);
}

static void arm_rules(struct rig_pair *pair, struct ibv_comp_channel *channel)
{
	struct rig_end *end = &pair->end[1];

	say("a completion without a request:");
	message(pair, 0);
	take_event(channel, end->cq, 50);
	say("a request after the completion:");
	SAY_RET(ibv_req_notify_cq(end->cq, 0), "req_notify_cq");
	take_event(channel, end->cq, 20000);
	cq_drain(end);
	say("a request, then a completion:");
	SAY_RET(ibv_req_notify_cq(end->cq, 0), "req_notify_cq");
	take_event(channel, end->cq, 50);
	message(pair, 0);
	take_event(channel, end->cq, 20000);
	say("one request, one event:");
	message(pair, 0);
	take_event(channel, end->cq, 50);
	cq_drain(end);
	say("solicited only:");
	SAY_RET(ibv_req_notify_cq(end->cq, 1), "req_notify_cq");
	message(pair, 0);
	take_event(channel, end->cq, 50);
	message(pair, IBV_SEND_SOLICITED);
	take_event(channel, end->cq, 20000);
	cq_drain(end);
}

static void unblocked_channel(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	MUST(!fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK));
	SAY_RET(ibv_get_cq_event(channel, &cq, &context), "get_cq_event, none there");
}

/* destroy_cq drops the event that was never read, so it must not wait for it. */
static void unread_event(struct rig_pair *pair)
{
	struct rig_end *end = &pair->end[1];

	SAY_RET(ibv_req_notify_cq(end->cq, 0), "req_notify_cq");
	message(pair, 0);
	say("an event stays unread");
}

static void end_with_channel(struct rig_pair *pair, struct rig_end *end,
			     struct ibv_comp_channel *channel)
{
	MUST(!ibv_destroy_qp(end->qp) && !ibv_destroy_cq(end->cq));
	end->cq = ibv_create_cq(pair->rig->ctx, 16, pair, channel, 0);
	MUST(end->cq);
	end->qp = rig_qp_create(pair->pd, &pair->conf, end->cq);
	MUST(end->qp);
}

void diff_cq_events(struct rig *rig)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(rig->ctx);
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	MUST(channel);
	rig_pair_open(rig, &conf, &pair);
	end_with_channel(&pair, &pair.end[1], channel);
	rig_pair_reconnect(&pair);
	arm_rules(&pair, channel);
	unblocked_channel(channel);
	unread_event(&pair);
	rig_pair_close(&pair);
	unblocked_channel(channel);
	SAY_RET(ibv_destroy_comp_channel(channel), "destroy_comp_channel");
}
