/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_reach.c - frame-reach DEVICE INTERFACE OTHER-DEVICE OTHER-INTERFACE: who sees a frame that
 * a raw packet QP of DEVICE broadcasts, and one that the host broadcasts on INTERFACE. The
 * interfaces are the adapters' and are connected with each other.
 *
 * Prints a line for each. Exit code 0: it could ask.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 2048, SLOTS = 32, LENGTH = 64, TYPE = 0x88b5 /* for experiments */, WAIT_MS = 500 };

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	int socket;
	int index; /* of the interface */
	uint8_t buf[SLOTS + 1][ROOM];
};

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static void device_open(struct side *side, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	require(list != NULL, "ibv_get_device_list");
	for (struct ibv_device **device = list; *device; device++)
		if (!strcmp(ibv_get_device_name(*device), name))
			side->ctx = ibv_open_device(*device);
	require(side->ctx != NULL, name);
	ibv_free_device_list(list);
	side->pd = ibv_alloc_pd(side->ctx);
	side->cq = ibv_create_cq(side->ctx, 2 * SLOTS, NULL, NULL, 0);
	require(side->pd && side->cq, "ibv_create_cq");
	side->mr = ibv_reg_mr(side->pd, side->buf, sizeof(side->buf), IBV_ACCESS_LOCAL_WRITE);
	require(side->mr != NULL, "ibv_reg_mr");
}

static void qp_open(struct side *side)
{
	struct ibv_qp_init_attr init = { .send_cq = side->cq,
					 .recv_cq = side->cq,
					 .cap = { SLOTS, SLOTS, 1, 1, 0 },
					 .qp_type = IBV_QPT_RAW_PACKET };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	side->qp = ibv_create_qp(side->pd, &init);
	require(side->qp != NULL, "ibv_create_qp");
	require(!ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_PORT), "to INIT");
	attr.qp_state = IBV_QPS_RTR;
	require(!ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), "to RTR");
	attr.qp_state = IBV_QPS_RTS;
	require(!ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), "to RTS");
}

static void flow_open(struct side *side)
{
	struct ibv_flow_attr all = { .type = IBV_FLOW_ATTR_ALL_DEFAULT,
				     .size = sizeof(all),
				     .port = 1 };

	require(ibv_create_flow(side->qp, &all) != NULL, "ibv_create_flow");
	for (uint64_t slot = 0; slot < SLOTS; slot++) {
		struct ibv_sge sge = { (uintptr_t)side->buf[slot], ROOM, side->mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

		require(!ibv_post_recv(side->qp, &wr, &bad), "ibv_post_recv");
	}
}

static void socket_open(struct side *side, const char *interface)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(TYPE) };

	side->index = at.sll_ifindex = (int)if_nametoindex(interface);
	require(side->index > 0, interface);
	side->socket = socket(AF_PACKET, SOCK_RAW, htons(TYPE));
	require(side->socket >= 0 && !bind(side->socket, (struct sockaddr *)&at, sizeof(at)),
		"a packet socket");
}

/* A broadcast with a mark, by which its receivers know it. */
static void frame_make(uint8_t *frame, uint8_t mark)
{
	memset(frame, 0xff, 6);
	memcpy(frame + 6, "\2\2\xc9\x5f\0\xee", 6);
	frame[12] = TYPE >> 8;
	frame[13] = TYPE & 0xff;
	memset(frame + 14, mark, LENGTH - 14);
}

static bool is_ours(const uint8_t *frame, uint8_t mark)
{
	return frame[12] == TYPE >> 8 && frame[13] == (TYPE & 0xff) && frame[14] == mark;
}

static void send_by_qp(struct side *side, uint8_t mark)
{
	struct ibv_sge sge = { (uintptr_t)side->buf[SLOTS], LENGTH, side->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = SLOTS,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	frame_make(side->buf[SLOTS], mark);
	require(!ibv_post_send(side->qp, &wr, &bad), "ibv_post_send");
}

static void send_by_host(const struct side *side, uint8_t mark)
{
	uint8_t frame[LENGTH];

	frame_make(frame, mark);
	require(send(side->socket, frame, sizeof(frame), 0) == sizeof(frame), "send");
}

static bool qp_has(struct side *side, uint8_t mark)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(side->cq, 1, &wc) == 1)
		if (!wc.status && wc.wr_id < SLOTS && is_ours(side->buf[wc.wr_id], mark))
			return true;
	return false;
}

static bool host_has(const struct side *side, uint8_t mark)
{
	uint8_t frame[ROOM];

	while (recv(side->socket, frame, sizeof(frame), MSG_DONTWAIT) >= LENGTH)
		if (is_ours(frame, mark))
			return true;
	return false;
}

/* Prints whether the QP or the host's interface receives the frame with MARK within WAIT_MS. */
static void say_arrival(const char *from, struct side *to, uint8_t mark)
{
	bool qp = false, host = false;

	for (int i = 0; i < WAIT_MS; i++) {
		qp = qp_has(to, mark) || qp;
		host = host_has(to, mark) || host;
		usleep(1000);
	}
	printf("by the %s: the other adapter %s it, the other interface %s it\n", from,
	       qp ? "has" : "lacks", host ? "has" : "lacks");
}

int main(int argc, char **argv)
{
	static struct side own, other;

	if (argc != 5)
		return 1;
	device_open(&own, argv[1]);
	device_open(&other, argv[3]);
	qp_open(&own);
	qp_open(&other);
	flow_open(&other);
	socket_open(&own, argv[2]);
	socket_open(&other, argv[4]);
	send_by_qp(&own, 1);
	say_arrival("adapter", &other, 1);
	send_by_host(&own, 2);
	say_arrival("interface", &other, 2);
	return 0;
}
