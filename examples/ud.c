/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ud.c - datagrams between two processes: a UD queue pair sends to any other, without a connection.
 *
 *     ud PORT          the server: receives three datagrams, answers each to where it came from
 *     ud PORT HOST     its client
 *
 * The client learns by TCP how the server's queue pair is reached; the server needs no such
 * message, as each datagram says where it came from. A datagram may be lost: a real program waits
 * for an answer with a time limit, and sends again.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The first 40 bytes of each receive are for the Global Routing Header. */
enum { IB_PORT = 1, GID_INDEX = 0, GRH = 40, SIZE = 64, DATAGRAMS = 3, QKEY = 0x11111111 };

struct address {
	uint32_t lid, qpn; /* in network byte order */
	union ibv_gid gid;
};

static struct ibv_context *ctx;
static struct ibv_port_attr port;
static struct ibv_pd *pd;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static struct {
	char out[SIZE], in[DATAGRAMS][GRH + SIZE];
} memory;

static int tcp_open(const char *service, const char *host)
{
	struct addrinfo hints = { .ai_family = AF_INET,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE };
	struct addrinfo *info;
	int fd, one = 1;

	if (getaddrinfo(host, service, &hints, &info))
		errx(1, "%s: unknown host or port", host ? host : service);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (host && connect(fd, info->ai_addr, info->ai_addrlen))
		err(1, "connect to %s", host);
	if (!host) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, 1))
			err(1, "port %s", service);
		fd = accept(fd, NULL, NULL);
	}
	return fd;
}

static void qp_modify(const struct ibv_qp_attr *values, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = *values;

	attr.qp_state = state;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
	if (errno)
		err(1, "the queue pair does not go to state %d", state);
}

static void qp_create(void)
{
	const struct ibv_qp_attr attr = { .port_num = IB_PORT, .qkey = QKEY };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = DATAGRAMS,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	if (!list || !list[0])
		errx(1, "no RDMA device");
	ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (!ctx || ibv_query_port(ctx, IB_PORT, &port))
		err(1, "the device cannot be opened");
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, &memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE) : NULL;
	send_cq = init.send_cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	recv_cq = init.recv_cq = ibv_create_cq(ctx, DATAGRAMS, NULL, NULL, 0);
	qp = mr && send_cq && recv_cq ? ibv_create_qp(pd, &init) : NULL;
	if (!qp)
		err(1, "no queue pair");
	qp_modify(&attr, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	qp_modify(&attr, IBV_QPS_RTR, 0);
	qp_modify(&attr, IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

static void post_receives(void)
{
	for (int i = 0; i < DATAGRAMS; i++) {
		struct ibv_sge sge = { (uintptr_t)memory.in[i], GRH + SIZE, mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

		errno = ibv_post_recv(qp, &wr, &bad);
		if (errno)
			err(1, "ibv_post_recv");
	}
}

static struct ibv_wc next_completion(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) < 1)
		;
	if (wc.status != IBV_WC_SUCCESS)
		errx(1, "%s", ibv_wc_status_str(wc.status));
	return wc;
}

static void send_datagram(struct ibv_ah *ah, uint32_t qpn)
{
	struct ibv_sge sge = { (uintptr_t)memory.out, SIZE, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.ud = { .ah = ah, .remote_qpn = qpn, .remote_qkey = QKEY } },
			   *bad;

	errno = ibv_post_send(qp, &wr, &bad);
	if (errno)
		err(1, "ibv_post_send");
	next_completion(send_cq);
}

static void server_run(void)
{
	for (int i = 0; i < DATAGRAMS; i++) {
		struct ibv_wc wc = next_completion(recv_cq);
		struct ibv_ah *ah =
			ibv_create_ah_from_wc(pd, &wc, (void *)memory.in[wc.wr_id], IB_PORT);

		if (!ah)
			err(1, "ibv_create_ah_from_wc");
		snprintf(memory.out, sizeof(memory.out), "answer to '%.20s'",
			 memory.in[wc.wr_id] + GRH);
		send_datagram(ah, wc.src_qp);
		ibv_destroy_ah(ah);
	}
}

static void client_run(const struct address *server)
{
	struct ibv_ah_attr attr = {
		.dlid = ntohl(server->lid),
		.port_num = IB_PORT,
		.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
		.grh = { .dgid = server->gid, .sgid_index = GID_INDEX, .hop_limit = 64 },
	};
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	if (!ah)
		err(1, "ibv_create_ah");
	for (int i = 0; i < DATAGRAMS; i++) {
		snprintf(memory.out, sizeof(memory.out), "datagram %d", i);
		send_datagram(ah, ntohl(server->qpn));
		printf("received: %s\n", memory.in[next_completion(recv_cq).wr_id] + GRH);
	}
}

int main(int argc, char **argv)
{
	struct address server = { 0 };
	int fd;

	if (argc < 2)
		errx(2, "usage: ud PORT [HOST]");
	qp_create();
	post_receives();
	fd = tcp_open(argv[1], argv[2]);
	if (argv[2]) {
		if (recv(fd, &server, sizeof(server), MSG_WAITALL) != sizeof(server))
			errx(1, "the server has gone");
		client_run(&server);
		return 0;
	}
	server = (struct address){ .lid = htonl(port.lid), .qpn = htonl(qp->qp_num) };
	if (ibv_query_gid(ctx, IB_PORT, GID_INDEX, &server.gid))
		err(1, "no GID %d", GID_INDEX);
	if (write(fd, &server, sizeof(server)) != sizeof(server))
		err(1, "the client has gone");
	server_run();
	return 0;
}
