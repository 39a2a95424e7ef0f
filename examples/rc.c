/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rc.c - two processes that exchange messages by an RC queue pair each.
 *
 *     rc PORT          the server
 *     rc PORT HOST     its client
 *
 * TCP carries the addresses of their queue pairs. The client sends, and the server answers.
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

enum { IB_PORT = 1, GID_INDEX = 0, SIZE = 64 };

/* The address of a queue pair, which the peer needs. All numbers are in network byte order. */
struct address {
	uint32_t lid, qpn, psn;
	union ibv_gid gid;
};

static struct ibv_context *ctx;
static struct ibv_port_attr port;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char buf[2][SIZE]; /* the message to send, and the one received */

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

/* Sends MINE and receives THEIRS. Returns only when both sides have called it. */
static void swap(int fd, const void *mine, void *theirs, size_t size)
{
	if (write(fd, mine, size) != (ssize_t)size ||
	    recv(fd, theirs, size, MSG_WAITALL) != (ssize_t)size)
		errx(1, "the peer has closed the connection");
}

static void qp_create(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 }, /* sends, receives, and the SGEs of each */
	};
	struct ibv_pd *pd;

	if (!list || !list[0])
		errx(1, "no RDMA device");
	ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (!ctx || ibv_query_port(ctx, IB_PORT, &port))
		err(1, "the device cannot be opened");
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE) : NULL;
	cq = ibv_create_cq(ctx, 2, NULL, NULL, 0); /* room for a completion of each request */
	init.send_cq = init.recv_cq = cq;
	qp = mr && cq ? ibv_create_qp(pd, &init) : NULL;
	if (!qp)
		err(1, "no queue pair");
}

static void qp_modify(const struct ibv_qp_attr *values, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = *values;

	attr.qp_state = state;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
	if (errno)
		err(1, "the queue pair does not go to state %d", state);
}

/* Sets the values that the mask selects. */
static void qp_connect(const struct address *mine, const struct address *theirs)
{
	const struct ibv_qp_attr attr = {
		.path_mtu = port.active_mtu, /* must be the same at both ends */
		.dest_qp_num = ntohl(theirs->qpn),
		.rq_psn = ntohl(theirs->psn), /* the peer's sq_psn */
		.sq_psn = ntohl(mine->psn),
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, /* 0.64 ms */
		.timeout = 14,       /* 67 ms until a retransmission */
		.retry_cnt = 7,
		.rnr_retry = 7, /* without limit */
		.ah_attr.dlid = ntohl(theirs->lid),
		.ah_attr.port_num = IB_PORT,
		.ah_attr.is_global = port.link_layer == IBV_LINK_LAYER_ETHERNET,
		.ah_attr.grh = { .dgid = theirs->gid, .sgid_index = GID_INDEX, .hop_limit = 64 },
	};

	qp_modify(&attr, IBV_QPS_RTR,
		  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	qp_modify(&attr, IBV_QPS_RTS,
		  IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_MAX_QP_RD_ATOMIC);
}

static void post_receive(void)
{
	struct ibv_sge sge = { (uintptr_t)buf[1], SIZE, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_recv(qp, &wr, &bad);
	if (errno)
		err(1, "ibv_post_recv");
}

static void send_message(const char *text)
{
	struct ibv_sge sge = { (uintptr_t)buf[0], SIZE, mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 0,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	strcpy(buf[0], text);
	errno = ibv_post_send(qp, &wr, &bad);
	if (errno)
		err(1, "ibv_post_send");
}

/* Waits for the completion of request WR_ID, as the other request may complete first. */
static void wait_for(uint64_t wr_id)
{
	static int done[2];
	struct ibv_wc wc;

	while (!done[wr_id]) {
		if (ibv_poll_cq(cq, 1, &wc) < 1)
			continue;
		if (wc.status != IBV_WC_SUCCESS)
			errx(1, "request %d: %s", (int)wc.wr_id, ibv_wc_status_str(wc.status));
		done[wc.wr_id] = 1;
	}
}

int main(int argc, char **argv)
{
	const struct ibv_qp_attr first = { .port_num = IB_PORT };
	struct address mine = { 0 }, theirs;
	char ready;
	int fd;

	if (argc < 2)
		errx(2, "usage: rc PORT [HOST]");
	fd = tcp_open(argv[1], argv[2]);
	qp_create();
	qp_modify(&first, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	post_receive(); /* now, as it must be there before the peer can send */
	mine.lid = htonl(port.lid);
	mine.qpn = htonl(qp->qp_num);
	mine.psn = htonl(getpid() & 0xffffff);
	if (ibv_query_gid(ctx, IB_PORT, GID_INDEX, &mine.gid))
		err(1, "no GID %d", GID_INDEX);
	swap(fd, &mine, &theirs, sizeof(mine));
	qp_connect(&mine, &theirs);
	swap(fd, "", &ready, 1); /* both queue pairs are ready, so the peer can receive */

	if (argv[2])
		send_message("hello");
	wait_for(1);
	printf("received: %s\n", buf[1]);
	if (!argv[2])
		send_message("and good-bye");
	wait_for(0);
	swap(fd, "", &ready, 1); /* the peer has received and completed, too */
	return 0;
}
