/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * old_release.c - verbs-old-release: acts like a program built with release 1.0: it uses the
 * symbols of version IBVERBS_1.0 and the structures of that time. Two QPs of one process exchange
 * messages. It prints results, which must be the same on any library.
 *
 * Covers: libibverbs/compat/verbs_1_0.c, libibverbs/compat/queues_1_0.c
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "tests/verbs/diff/diff.h"
#include "tests/lib/topics.h"

struct old_context {
	void *device;
	void *ops_0[7];
	int (*poll_cq)(void *cq, int num_entries, struct ibv_wc *wc);
	int (*req_notify_cq)(void *cq, int solicited_only);
	void *ops_9[7];
	int (*post_srq_recv)(void *srq, void *wr, void *bad_wr);
	void *ops_17[4];
	int (*post_send)(void *qp, void *wr, void *bad_wr);
	int (*post_recv)(void *qp, void *wr, void *bad_wr);
};

struct old_mr {
	struct old_context *context;
	void *pd;
	uint32_t handle, lkey, rkey;
};

struct old_qp {
	struct old_context *context;
	void *qp_context, *pd, *send_cq, *recv_cq, *srq;
	uint32_t handle, qp_num;
	enum ibv_qp_state state;
	enum ibv_qp_type qp_type;
};

struct old_qp_init_attr {
	void *qp_context, *send_cq, *recv_cq, *srq;
	struct ibv_qp_cap cap;
	enum ibv_qp_type qp_type;
	int sq_sig_all;
};

struct old_send_wr {
	struct old_send_wr *next;
	uint64_t wr_id;
	struct ibv_sge *sg_list;
	int num_sge;
	enum ibv_wr_opcode opcode;
	unsigned int send_flags;
	uint32_t imm_data;
	struct {
		uint64_t remote_addr;
		uint32_t rkey;
	} rdma;
	char room[16]; /* other members of the union */
};

struct old_recv_wr {
	struct old_recv_wr *next;
	uint64_t wr_id;
	struct ibv_sge *sg_list;
	int num_sge;
};

struct old_event {
	struct old_qp *qp;
	enum ibv_event_type type;
};

/* Calls of that version are called through pointers of their type at that time. */
#define OLD(type, name, params) static type(*name) params
OLD(void **, get_device_list, (int *num));
OLD(void, free_device_list, (void **list));
OLD(const char *, get_device_name, (void *device));
OLD(struct old_context *, open_device, (void *device));
OLD(int, close_device, (struct old_context *));
OLD(int, query_port, (struct old_context *, uint8_t, struct ibv_port_attr *));
OLD(int, query_gid, (struct old_context *, uint8_t, int, union ibv_gid *));
OLD(void *, alloc_pd, (struct old_context *));
OLD(int, dealloc_pd, (void *pd));
OLD(struct old_mr *, reg_mr, (void *pd, void *addr, size_t length, int access));
OLD(int, dereg_mr, (struct old_mr *));
OLD(void *, create_cq,
    (struct old_context *, int cqe, void *cq_context, void *channel, int vector));
OLD(int, destroy_cq, (void *cq));
OLD(void *, create_srq, (void *pd, struct ibv_srq_init_attr *));
OLD(int, query_srq, (void *srq, struct ibv_srq_attr *));
OLD(int, destroy_srq, (void *srq));
OLD(struct old_qp *, create_qp, (void *pd, struct old_qp_init_attr *));
OLD(int, modify_qp, (struct old_qp *, struct ibv_qp_attr *, int mask));
OLD(int, query_qp, (struct old_qp *, struct ibv_qp_attr *, int mask, struct old_qp_init_attr *));
OLD(int, destroy_qp, (struct old_qp *));
OLD(void *, create_ah, (void *pd, struct ibv_ah_attr *));
OLD(int, destroy_ah, (void *ah));
OLD(int, get_async_event, (struct old_context *, struct old_event *));
OLD(void, ack_async_event, (struct old_event *));

static void *symbol_find(const char *name)
{
	void *function = dlvsym(RTLD_DEFAULT, name, "IBVERBS_1.0");

	if (!function)
		say_check(false, "%s@IBVERBS_1.0 is there", name);
	return function;
}

static void find_all(void)
{
#define FIND(name) (name = symbol_find("ibv_" #name))
	FIND(get_device_list), FIND(free_device_list), FIND(get_device_name);
	FIND(open_device), FIND(close_device), FIND(query_port), FIND(query_gid);
	FIND(alloc_pd), FIND(dealloc_pd), FIND(reg_mr), FIND(dereg_mr);
	FIND(create_cq), FIND(destroy_cq), FIND(create_srq), FIND(query_srq), FIND(destroy_srq);
	FIND(create_qp), FIND(modify_qp), FIND(query_qp), FIND(destroy_qp);
	FIND(create_ah), FIND(destroy_ah), FIND(get_async_event), FIND(ack_async_event);
}

struct side {
	void *cq;
	struct old_qp *qp;
};

struct old_rig {
	struct old_context *ctx, *other; /* two of one device */
	void *pd, *srq;
	struct old_mr *mr;
	struct side a, b;
	char *buf;
	bool is_ethernet;
	union ibv_gid gid;
	uint16_t lid;
};

static struct old_qp *make_qp(struct old_rig *rig, void *cq, void *srq, void *user)
{
	struct old_qp_init_attr attr = { .qp_context = user,
					 .send_cq = cq,
					 .recv_cq = cq,
					 .srq = srq,
					 .cap = { 40, 40, 1, 1, 0 },
					 .qp_type = IBV_QPT_RC,
					 .sq_sig_all = 1 };
	struct old_qp *qp = create_qp(rig->pd, &attr);

	MUST(qp);
	say_check(qp->context == rig->ctx && qp->qp_context == user && qp->pd == rig->pd &&
			  qp->send_cq == cq && qp->recv_cq == cq && qp->srq == srq &&
			  qp->qp_type == IBV_QPT_RC,
		  "a QP has what it was made of");
	say_check(attr.cap.max_send_wr >= 40, "and its capacities are told");
	return qp;
}

static void connect_to(struct old_rig *rig, struct old_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .port_num = 1,
				    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	SAY_RET(modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		"to INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .dlid = rig->lid, .is_global = rig->is_ethernet, .port_num = 1 },
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	attr.ah_attr.grh.dgid = rig->gid;
	SAY_RET(modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		"to RTR");
	attr.qp_state = IBV_QPS_RTS;
	SAY_RET(modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
		"to RTS");
	say("the QP says state %d", (int)qp->state);
}

static void open_rig(struct old_rig *rig)
{
	struct ibv_srq_init_attr srq_attr = { .srq_context = rig,
					      .attr = { .max_wr = 40, .max_sge = 1 } };
	struct ibv_port_attr port = {};
	struct ibv_srq_attr srq_now = {};
	void **list;
	int num = 0;

	MUST(list = get_device_list(&num));
	MUST(num);
	say("%d devices, the first is %s", num, get_device_name(list[0]));
	MUST(rig->ctx = open_device(list[0]));
	MUST(rig->other = open_device(list[0]));
	say_check(rig->other != rig->ctx, "each open makes a context");
	free_device_list(list);
	SAY_RET(query_port(rig->ctx, 1, &port), "query_port");
	say("state %d, link layer %d", port.state, port.link_layer);
	rig->is_ethernet = port.link_layer == IBV_LINK_LAYER_ETHERNET;
	rig->lid = port.lid;
	SAY_RET(query_gid(rig->ctx, 1, 0, &rig->gid), "query_gid");
	MUST(rig->pd = alloc_pd(rig->ctx));
	MUST(rig->buf = aligned_alloc(4096, 8192));
	MUST(rig->mr = reg_mr(rig->pd, rig->buf, 8192,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	say_check(rig->mr->context == rig->ctx && rig->mr->pd == rig->pd,
		  "an MR has what it was made of");
	MUST(rig->srq = create_srq(rig->pd, &srq_attr));
	SAY_RET(query_srq(rig->srq, &srq_now), "query_srq");
	MUST((rig->a.cq = create_cq(rig->ctx, 100, NULL, NULL, 0)));
	MUST((rig->b.cq = create_cq(rig->ctx, 100, NULL, NULL, 0)));
	rig->a.qp = make_qp(rig, rig->a.cq, NULL, &rig->a);
	rig->b.qp = make_qp(rig, rig->b.cq, rig->srq, &rig->b);
	connect_to(rig, rig->a.qp, rig->b.qp->qp_num);
	connect_to(rig, rig->b.qp, rig->a.qp->qp_num);
}

static void completions_await(struct old_rig *rig, void *cq, unsigned int count, const char *who)
{
	struct ibv_wc wc;

	while (count) {
		int n = rig->ctx->poll_cq(cq, 1, &wc);

		MUST(n >= 0);
		if (!n)
			continue;
		if (wc.status)
			say("%s: wr_id %d %s", who, (int)wc.wr_id, ibv_wc_status_str(wc.status));
		else
			say("%s: wr_id %d opcode %d length %u", who, (int)wc.wr_id, wc.opcode,
			    wc.opcode & IBV_WC_RECV ? wc.byte_len : 0);
		count--;
	}
}

/* More than the library converts at a time, by send, write and by way of the SRQ, so that it
 * converts in pieces. */
#define MESSAGES 37

static void messages_exchange(struct old_rig *rig)
{
	struct ibv_sge from = { (uintptr_t)rig->buf, 64, rig->mr->lkey };
	struct ibv_sge to = { (uintptr_t)rig->buf + 4096, 64, rig->mr->lkey };
	struct old_recv_wr recvs[MESSAGES] = {}, *bad_recv;
	struct old_send_wr sends[MESSAGES] = {}, *bad_send;

	memset(rig->buf, 'x', 64);
	memset(rig->buf + 4096, 0, 64);
	for (int i = 0; i < MESSAGES; i++) {
		recvs[i] = (struct old_recv_wr){ .next = i + 1 < MESSAGES ? &recvs[i + 1] : NULL,
						 .wr_id = 1000 + (unsigned)i,
						 .sg_list = &to,
						 .num_sge = 1 };
		sends[i] = (struct old_send_wr){
			.next = i + 1 < MESSAGES ? &sends[i + 1] : NULL,
			.wr_id = 2000 + (unsigned)i,
			.sg_list = &from,
			.num_sge = 1,
			.opcode = i % 2 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND,
			.imm_data = 5,
			.rdma = { (uintptr_t)rig->buf + 4096, rig->mr->rkey },
		};
	}
	SAY_RET(rig->ctx->post_srq_recv(rig->srq, recvs, &bad_recv), "post_srq_recv");
	SAY_RET(rig->ctx->post_send(rig->a.qp, sends, &bad_send), "post_send");
	completions_await(rig, rig->b.cq, MESSAGES, "receiver");
	completions_await(rig, rig->a.cq, MESSAGES, "sender");
	say_check(!memcmp(rig->buf, rig->buf + 4096, 64), "the data have come");
	sends[30].num_sge = 100;
	say_check(rig->ctx->post_send(rig->a.qp, sends, &bad_send) && bad_send == &sends[30],
		  "the first bad request of a list is named");
	SAY_RET(rig->ctx->post_recv(rig->a.qp, recvs, &bad_recv), "post_recv");
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* A call that a signal interrupts fails, and returns no event. */
static void no_event(struct old_rig *rig)
{
	const struct itimerval soon = { { 0, 50000 }, { 0, 50000 } },
			       never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct old_event rubbish = { (void *)rig, (enum ibv_event_type)77 };
	struct old_event event = rubbish;

	MUST(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &soon, NULL));
	SAY_RET(get_async_event(rig->ctx, &event), "get_async_event, interrupted");
	MUST(!setitimer(ITIMER_REAL, &never, NULL));
	say_check(event.qp == rubbish.qp && event.type == rubbish.type, "nothing was told");
}

/* A write to where the peer has no right: both QPs fail, the peer's with an event. */
static void rig_fail(struct old_rig *rig)
{
	struct ibv_sge from = { (uintptr_t)rig->buf, 64, rig->mr->lkey };
	struct old_send_wr wr = { .wr_id = 3000,
				  .sg_list = &from,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .rdma = { 0, 1 } };
	struct old_send_wr *bad_wr;
	struct old_event event;
	struct ibv_qp_attr attr;
	struct old_qp_init_attr init;

	no_event(rig);
	SAY_RET(rig->ctx->post_send(rig->b.qp, &wr, &bad_wr), "post a wrong write");
	completions_await(rig, rig->b.cq, 1, "writer");
	MUST(!get_async_event(rig->ctx, &event));
	say("event %s", ibv_event_type_str(event.type));
	say_check(event.qp == rig->a.qp, "it is about the QP that was written to");
	ack_async_event(&event);
	/* a QP with an SRQ, as the distribution's call crashes without one */
	SAY_RET(query_qp(rig->b.qp, &attr, IBV_QP_STATE, &init), "query_qp");
	say("state %d", attr.qp_state);
	say_check(init.send_cq == rig->b.cq && init.qp_context == &rig->b && init.srq == rig->srq,
		  "it names objects of that time");
}

static void close_rig(struct old_rig *rig)
{
	struct ibv_ah_attr attr = { .dlid = 1, .is_global = rig->is_ethernet, .port_num = 1 };
	struct ibv_port_attr port = {};
	void *ah;

	attr.grh.dgid = rig->gid;
	MUST(ah = create_ah(rig->pd, &attr));
	SAY_RET(destroy_ah(ah), "destroy_ah");
	SAY_RET(dealloc_pd(rig->pd), "dealloc_pd of a PD in use");
	SAY_RET(destroy_qp(rig->a.qp), "destroy_qp");
	SAY_RET(destroy_qp(rig->b.qp), "destroy_qp");
	SAY_RET(destroy_srq(rig->srq), "destroy_srq");
	SAY_RET(destroy_cq(rig->a.cq), "destroy_cq");
	SAY_RET(destroy_cq(rig->b.cq), "destroy_cq");
	SAY_RET(dereg_mr(rig->mr), "dereg_mr");
	SAY_RET(dealloc_pd(rig->pd), "dealloc_pd");
	SAY_RET(close_device(rig->ctx), "close_device");
	SAY_RET(query_port(rig->other, 1, &port), "query_port of the other context");
	SAY_RET(close_device(rig->other), "close_device of the other context");
	free(rig->buf);
}

static void release_1_works(void)
{
	struct old_rig rig = {};

	find_all();
	if (say_failures())
		return;
	open_rig(&rig);
	messages_exchange(&rig);
	rig_fail(&rig);
	close_rig(&rig);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "old-release", release_1_works } };

	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
