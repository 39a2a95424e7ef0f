/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq.c - a shared receive queue, and events in place of polling.
 *
 * Four queue pairs, each connected to itself, take their receives from one SRQ. The process sleeps
 * until a completion comes, and an event says when the SRQ runs low. rc.c has two sides.
 */
#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>

enum { IB_PORT = 1, GID_INDEX = 0, QPS = 4, RECEIVES = 8, LOW = 5, SIZE = 64 };

static struct ibv_context *ctx;
static struct ibv_port_attr port;
static union ibv_gid gid;
static struct ibv_pd *pd;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_qp *qps[QPS];
static struct {
	char out[QPS][SIZE], in[RECEIVES][SIZE];
} memory;

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !list[0])
		errx(1, "no RDMA device");
	ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (!ctx || ibv_query_port(ctx, IB_PORT, &port) ||
	    ibv_query_gid(ctx, IB_PORT, GID_INDEX, &gid))
		err(1, "the device cannot be opened");
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, &memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!mr)
		err(1, "ibv_reg_mr");
}

static void create_queues(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = RECEIVES, .max_sge = 1 } };

	channel = ibv_create_comp_channel(ctx);
	cq = channel ? ibv_create_cq(ctx, QPS + RECEIVES, NULL, channel, 0) : NULL;
	srq = ibv_create_srq(pd, &init);
	if (!cq || !srq)
		err(1, "no queues");
}

static void post_receive(int slot)
{
	struct ibv_sge sge = { (uintptr_t)memory.in[slot], SIZE, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_srq_recv(srq, &wr, &bad);
	if (errno)
		err(1, "ibv_post_srq_recv");
}

/* Asks for one event as soon as fewer than LOW receives are left, which disarms the limit. */
static void arm_limit(void)
{
	errno = ibv_modify_srq(srq, &(struct ibv_srq_attr){ .srq_limit = LOW }, IBV_SRQ_LIMIT);
	if (errno)
		err(1, "ibv_modify_srq");
}

static void qp_modify(struct ibv_qp *qp, const struct ibv_qp_attr *values, enum ibv_qp_state state,
		      int mask)
{
	struct ibv_qp_attr attr = *values;

	attr.qp_state = state;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
	if (errno)
		err(1, "the queue pair does not go to state %d", state);
}

static void qp_connect_to_itself(struct ibv_qp *qp)
{
	const struct ibv_qp_attr attr = {
		.port_num = IB_PORT,
		.path_mtu = port.active_mtu,
		.dest_qp_num = qp->qp_num,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr.dlid = port.lid,
		.ah_attr.port_num = IB_PORT,
		.ah_attr.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
		.ah_attr.grh = { .dgid = gid, .sgid_index = GID_INDEX, .hop_limit = 64 },
	};

	qp_modify(qp, &attr, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	qp_modify(qp, &attr, IBV_QPS_RTR,
		  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	qp_modify(qp, &attr, IBV_QPS_RTS,
		  IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_MAX_QP_RD_ATOMIC);
}

static struct ibv_qp *qp_create(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq };
	struct ibv_qp *qp;

	init.srq = srq;
	init.cap.max_send_wr = init.cap.max_send_sge = 1;
	qp = ibv_create_qp(pd, &init);
	if (!qp)
		err(1, "ibv_create_qp");
	qp_connect_to_itself(qp);
	return qp;
}

static void send_message(int number)
{
	struct ibv_sge sge = { (uintptr_t)memory.out[number], SIZE, mr->lkey };
	struct ibv_send_wr wr = { .wr_id = number, .sg_list = &sge, .num_sge = 1 }, *bad;

	snprintf(memory.out[number], SIZE, "of queue pair %d", number);
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	errno = ibv_post_send(qps[number], &wr, &bad);
	if (errno)
		err(1, "ibv_post_send");
}

/* Takes what has completed. Returns how many messages were received. */
static int cq_drain(void)
{
	int received = 0;
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0) {
		if (wc.status != IBV_WC_SUCCESS)
			errx(1, "%s", ibv_wc_status_str(wc.status));
		if (wc.opcode != IBV_WC_RECV)
			continue;
		printf("received: %s\n", memory.in[wc.wr_id]);
		received++;
	}
	return received;
}

/* The CQ is looked at once more after it is armed, as what came before makes no event. */
static int wait_for_messages(void)
{
	struct ibv_cq *which;
	void *context;
	int received;

	if (ibv_req_notify_cq(cq, 0))
		errx(1, "ibv_req_notify_cq");
	received = cq_drain();
	if (!received && ibv_get_cq_event(channel, &which, &context))
		err(1, "ibv_get_cq_event");
	if (!received)
		ibv_ack_cq_events(which, 1);
	return received + cq_drain();
}

static void wait_for_limit(void)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(ctx, &event))
		err(1, "ibv_get_async_event");
	printf("event: %s\n", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
}

int main(void)
{
	int received = 0;

	open_device();
	create_queues();
	for (int slot = 0; slot < RECEIVES; slot++)
		post_receive(slot);
	arm_limit();
	for (int i = 0; i < QPS; i++)
		qps[i] = qp_create();
	for (int i = 0; i < QPS; i++)
		send_message(i);
	while (received < QPS)
		received += wait_for_messages();
	/* Four of eight are left, so a program posts more here, and calls arm_limit() again. */
	wait_for_limit();
	return 0;
}
