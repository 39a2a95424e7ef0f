/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xsrq_pingpong.c - ibv_xsrq_pingpong: one server and several clients over the extended reliable
 * connected service. Each side has one XRC shared receive queue, and for each peer a sending and a
 * receiving queue pair.
 *
 * When all clients are connected, the server sends the first message to each; a client answers each
 * message. An address is a text as in the other programs, "LID:RECV QPN:SEND QPN:PSN:SRQN:GID"; at
 * the end each side sends "END", the client first. Other implementations of this program use the
 * same protocol.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pingpong.h"

struct xrc_address {
	uint16_t lid;
	uint32_t recv_qpn, send_qpn, psn, srqn;
	union ibv_gid gid;
};

struct xrc_peer {
	int fd;
	struct ibv_qp *recv_qp, *send_qp;
	struct xrc_address local, remote;
	unsigned int sends, receives;
};

struct xrc {
	struct pp pp;
	struct ibv_cq *send_cq;
	struct ibv_xrcd *xrcd;
	unsigned int num_peers;
	struct xrc_peer *peers;
};

/* ---- objects ---- */

static int create_cqs(struct xrc *x)
{
	struct pp *pp = &x->pp;

	pp->cq = ibv_create_cq(pp->context, (int)x->num_peers, NULL, pp->channel, 0);
	if (!pp->cq)
		return pp_fail("Couldn't create recv CQ");
	if (pp->channel && ibv_req_notify_cq(pp->cq, 0))
		return pp_fail("Couldn't request CQ notification");
	x->send_cq = ibv_create_cq(pp->context, (int)x->num_peers, NULL, NULL, 0);
	return x->send_cq ? 0 : pp_fail("Couldn't create send CQ");
}

/* Creates the SRQ. The XRC domain belongs to this process only, and contains both queue pairs and
 * the SRQ. */
static int create_srq(struct xrc *x)
{
	struct pp *pp = &x->pp;
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = x->num_peers, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = pp->pd,
		.cq = pp->cq,
	};

	x->xrcd = ibv_open_xrcd(pp->context, &domain);
	if (!x->xrcd) {
		fprintf(stderr, "Couldn't Open the XRC Domain %d\n", errno);
		return -1;
	}
	attr.xrcd = x->xrcd;
	pp->srq = ibv_create_srq_ex(pp->context, &attr);
	return pp->srq ? 0 : pp_fail("Couldn't create SRQ");
}

static int to_init(struct xrc *x, struct ibv_qp *qp, const char *kind, unsigned int index)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = (uint8_t)x->pp.options->ib_port,
	};

	if (!ibv_modify_qp(qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return 0;
	fprintf(stderr, "Failed to modify %s QP[%u] to INIT\n", kind, index);
	return -1;
}

static int create_qps(struct xrc *x, struct xrc_peer *peer, unsigned int index)
{
	struct ibv_qp_init_attr_ex recv_attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = x->xrcd,
	};
	struct ibv_qp_init_attr_ex send_attr = {
		.send_cq = x->send_cq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = x->pp.pd,
	};

	peer->recv_qp = ibv_create_qp_ex(x->pp.context, &recv_attr);
	if (!peer->recv_qp) {
		fprintf(stderr, "Couldn't create recv QP[%u] errno %d\n", index, errno);
		return -1;
	}
	if (to_init(x, peer->recv_qp, "recv", index))
		return -1;
	peer->send_qp = ibv_create_qp_ex(x->pp.context, &send_attr);
	if (!peer->send_qp) {
		fprintf(stderr, "Couldn't create send QP[%u] errno %d\n", index, errno);
		return -1;
	}
	return to_init(x, peer->send_qp, "send", index);
}

static int fill_addresses(struct xrc *x)
{
	uint32_t srqn;

	if (pp_find_address(&x->pp))
		return -1;
	if (ibv_get_srq_num(x->pp.srq, &srqn))
		return pp_fail("Couldn't get SRQ num");
	for (unsigned int i = 0; i < x->num_peers; i++) {
		struct xrc_peer *peer = &x->peers[i];

		peer->local = (struct xrc_address){
			.lid = x->pp.peers[0].local.lid,
			.recv_qpn = peer->recv_qp->qp_num,
			.send_qpn = peer->send_qp->qp_num,
			.psn = (uint32_t)lrand48() & 0xffffff,
			.srqn = srqn,
			.gid = x->pp.peers[0].local.gid,
		};
	}
	return 0;
}

static int open_all(struct xrc *x, const struct pp_options *options)
{
	if (pp_open_memory(options, &x->pp))
		return -1;
	x->num_peers = options->host ? 1 : options->num_clients;
	x->peers = calloc(x->num_peers, sizeof(*x->peers));
	if (!x->peers)
		return pp_fail("Couldn't allocate work buf.");
	for (unsigned int i = 0; i < x->num_peers; i++)
		x->peers[i].fd = -1;
	if (create_cqs(x) || create_srq(x))
		return -1;
	for (unsigned int i = 0; i < x->num_peers; i++)
		if (create_qps(x, &x->peers[i], i))
			return -1;
	return fill_addresses(x);
}

static int close_all(struct xrc *x)
{
	int ret = 0;

	for (unsigned int i = 0; x->peers && i < x->num_peers; i++) {
		if (x->peers[i].send_qp && ibv_destroy_qp(x->peers[i].send_qp))
			ret = pp_fail("Couldn't destroy INI QP");
		if (x->peers[i].recv_qp && ibv_destroy_qp(x->peers[i].recv_qp))
			ret = pp_fail("Couldn't destroy TGT QP");
		if (x->peers[i].fd >= 0)
			close(x->peers[i].fd);
	}
	if (x->pp.srq && ibv_destroy_srq(x->pp.srq))
		ret = pp_fail("Couldn't destroy SRQ");
	x->pp.srq = NULL;
	if (x->xrcd && ibv_close_xrcd(x->xrcd))
		ret = pp_fail("Couldn't close the XRC Domain");
	if (x->send_cq && ibv_destroy_cq(x->send_cq))
		ret = pp_fail("Couldn't destroy send CQ");
	free(x->peers);
	return pp_close(&x->pp) ? -1 : ret;
}

/* ---- connections ---- */

static int connect_qp(struct xrc *x, struct ibv_qp *qp, uint32_t remote_qpn,
		      const struct xrc_peer *peer, const char *kind)
{
	const struct pp_address remote = { .lid = peer->remote.lid, .gid = peer->remote.gid };
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = x->pp.options->mtu,
		.dest_qp_num = remote_qpn,
		.rq_psn = peer->remote.psn,
		.min_rnr_timer = 12,
		.ah_attr = pp_path_to(&x->pp, &remote),
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = peer->local.psn,
	};
	const bool sends = qp->qp_type == IBV_QPT_XRC_SEND;
	const int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN |
			(sends ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	const int rts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN |
			(sends ? IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC : 0);

	if (ibv_modify_qp(qp, &attr, rtr)) {
		fprintf(stderr, "Failed to modify %s QP[%d] to RTR\n", kind,
			(int)(peer - x->peers));
		return -1;
	}
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(qp, &attr, rts)) {
		fprintf(stderr, "Failed to modify %s QP[%d] to RTS\n", kind,
			(int)(peer - x->peers));
		return -1;
	}
	return 0;
}

static int connect_peer(struct xrc *x, struct xrc_peer *peer)
{
	return connect_qp(x, peer->recv_qp, peer->remote.send_qpn, peer, "recv") ||
			       connect_qp(x, peer->send_qp, peer->remote.recv_qpn, peer, "send")
		       ? -1
		       : 0;
}

#define ADDRESS_TEXT sizeof("0000:000000:000000:000000:000000:00000000000000000000000000000000")
#define GID_TEXT     32

static void print_address(const char *whose, const struct xrc_address *address)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &address->gid, gid, sizeof(gid));
	printf("%8s: LID %04x, QPN RECV %06x SEND %06x, PSN %06x, SRQN %06x, GID %s\n", whose,
	       address->lid, address->recv_qpn, address->send_qpn, address->psn, address->srqn,
	       gid);
	fflush(stdout);
}

static int send_address(const struct xrc_peer *peer)
{
	const struct xrc_address *address = &peer->local;
	char text[ADDRESS_TEXT];
	int used = snprintf(text, sizeof(text), "%04x:%06x:%06x:%06x:%06x:", address->lid,
			    address->recv_qpn & 0xffffff, address->send_qpn & 0xffffff,
			    address->psn & 0xffffff, address->srqn & 0xffffff);

	for (int i = 0; i < 16; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%02x",
				 address->gid.raw[i]);
	if (pp_send_all(peer->fd, text, sizeof(text)) == sizeof(text))
		return 0;
	return pp_fail("Couldn't send local address");
}

static int receive_address(struct xrc_peer *peer, int index)
{
	struct xrc_address *address = &peer->remote;
	char text[ADDRESS_TEXT], gid[GID_TEXT + 1];
	size_t n = pp_recv_all(peer->fd, text, sizeof(text));
	unsigned int lid;

	if (n != sizeof(text) || text[n - 1] ||
	    sscanf(text, "%x:%x:%x:%x:%x:%32s", &lid, &address->recv_qpn, &address->send_qpn,
		   &address->psn, &address->srqn, gid) != 6 ||
	    strlen(gid) != GID_TEXT) {
		fprintf(stderr, "%zu/%zu: Couldn't read remote address [%d]\n", n, sizeof(text),
			index);
		return -1;
	}
	address->lid = (uint16_t)lid;
	for (int i = 0; i < 16; i++)
		if (sscanf(gid + 2 * i, "%2hhx", &address->gid.raw[i]) != 1)
			return pp_fail("Couldn't read remote address");
	return 0;
}

static int meet_server(struct xrc *x)
{
	struct xrc_peer *peer = &x->peers[0];

	peer->fd = pp_dial(x->pp.options->host, x->pp.options->port);
	if (peer->fd < 0 || send_address(peer) || receive_address(peer, 0))
		return -1;
	print_address("local", &peer->local);
	print_address("remote", &peer->remote);
	return connect_peer(x, peer);
}

static int meet_client(struct xrc *x, struct xrc_peer *peer, int listener)
{
	const int index = (int)(peer - x->peers);

	peer->fd = accept(listener, NULL, NULL);
	if (peer->fd < 0) {
		fprintf(stderr, "accept() failed for client %d\n", index);
		return -1;
	}
	if (receive_address(peer, index))
		return -1;
	print_address("remote", &peer->remote);
	print_address("local", &peer->local);
	return connect_peer(x, peer) || send_address(peer) ? -1 : 0;
}

static int meet_clients(struct xrc *x)
{
	int listener = pp_listen(x->pp.options->port);
	int ret = 0;

	if (listener < 0)
		return -1;
	for (unsigned int i = 0; i < x->num_peers && !ret; i++)
		ret = meet_client(x, &x->peers[i], listener);
	close(listener);
	return ret;
}

/* ---- messages ---- */

static int post_receive(struct xrc *x)
{
	struct ibv_sge sge = { (uintptr_t)x->pp.buf, x->pp.options->size, x->pp.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)x, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad_wr;

	if (ibv_post_srq_recv(x->pp.srq, &wr, &bad_wr))
		return pp_fail("Failed to post receive to SRQ");
	return 0;
}

/* Waits for each send, so that one queue entry is enough. */
static int await_send(struct xrc *x)
{
	struct ibv_wc wc;
	int n;

	do
		n = ibv_poll_cq(x->send_cq, 1, &wc);
	while (!n);
	if (n < 0) {
		fprintf(stderr, "Error polling cq %d\n", n);
		return -1;
	}
	if (wc.status == IBV_WC_SUCCESS)
		return 0;
	fprintf(stderr, "Work completion error %d\n", wc.status);
	return -1;
}

static int send_message(struct xrc *x, struct xrc_peer *peer)
{
	struct ibv_sge sge = { (uintptr_t)x->pp.buf, x->pp.options->size, x->pp.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)peer,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.qp_type.xrc.remote_srqn = peer->remote.srqn,
	};
	struct ibv_send_wr *bad_wr;

	if (ibv_post_send(peer->send_qp, &wr, &bad_wr))
		return pp_fail("Couldn't post send");
	peer->sends++;
	return await_send(x);
}

static struct xrc_peer *find_peer(struct xrc *x, uint32_t recv_qpn)
{
	for (unsigned int i = 0; i < x->num_peers; i++)
		if (x->peers[i].local.recv_qpn == recv_qpn)
			return &x->peers[i];
	fprintf(stderr, "Unable to find qp %x\n", recv_qpn);
	return NULL;
}

static int await_event(struct xrc *x)
{
	struct ibv_cq *cq;
	void *cq_context;

	if (ibv_get_cq_event(x->pp.channel, &cq, &cq_context))
		return pp_fail("Failed to get cq_event");
	ibv_ack_cq_events(cq, 1);
	if (cq != x->pp.cq) {
		fprintf(stderr, "CQ event for unknown CQ %p\n", (void *)cq);
		return -1;
	}
	return ibv_req_notify_cq(cq, 0) ? pp_fail("Couldn't request CQ notification") : 0;
}

static struct xrc_peer *await_message(struct xrc *x)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(x->pp.cq, 1, &wc)))
		if (x->pp.channel && await_event(x))
			return NULL;
	if (n < 0) {
		fprintf(stderr, "Error polling cq %d\n", n);
		return NULL;
	}
	if (wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "Work completion error %d\n", wc.status);
		return NULL;
	}
	return find_peer(x, wc.qp_num);
}

static int bounce_messages(struct xrc *x)
{
	const unsigned int total = x->pp.options->iters * x->num_peers;

	for (unsigned int received = 0; received < total; received++) {
		struct xrc_peer *peer = await_message(x);

		if (!peer || post_receive(x))
			return -1;
		if (peer->sends < x->pp.options->iters && send_message(x, peer))
			return -1;
	}
	return 0;
}

static int start_messages(struct xrc *x)
{
	for (unsigned int i = 0; i < x->num_peers && !x->pp.options->host; i++)
		if (send_message(x, &x->peers[i]))
			return -1;
	return 0;
}

static const char end_text[] = "END";

static int say_end(const struct xrc_peer *peer)
{
	if (pp_send_all(peer->fd, end_text, sizeof(end_text)) == sizeof(end_text))
		return 0;
	return pp_fail("Couldn't send termination ack");
}

static int hear_end(const struct xrc_peer *peer)
{
	char text[sizeof(end_text)];
	size_t n = pp_recv_all(peer->fd, text, sizeof(text));

	if (n == sizeof(text))
		return 0;
	fprintf(stderr, "%zu/%zu: Couldn't read remote termination ack\n", n, sizeof(text));
	return -1;
}

/* Ends the exchange. No side may destroy its queue pairs while the other may still wait for an
 * acknowledgement, because it would never come. */
static int finish_peers(struct xrc *x)
{
	const bool is_client = x->pp.options->host;

	if (is_client && say_end(&x->peers[0]))
		return -1;
	for (unsigned int i = 0; i < x->num_peers; i++)
		if (hear_end(&x->peers[i]))
			return -1;
	for (unsigned int i = 0; i < x->num_peers && !is_client; i++)
		if (say_end(&x->peers[i]))
			return -1;
	return 0;
}

static int run_peers(struct xrc *x)
{
	for (unsigned int i = 0; i < x->num_peers; i++)
		if (post_receive(x))
			return pp_fail("Couldn't post receives");
	if (x->pp.options->host ? meet_server(x) : meet_clients(x))
		return -1;
	if (start_messages(x) || bounce_messages(x) || finish_peers(x))
		return -1;
	printf("success\n");
	return 0;
}

int main(int argc, char **argv)
{
	struct pp_options options = pp_defaults();
	static struct xrc x;
	int ret;

	options.iters = 5;
	if (pp_parse(argc, argv, "pdis567leog", &options))
		return EXIT_FAILURE;
	ret = open_all(&x, &options);
	if (!ret)
		ret = run_peers(&x);
	if (close_all(&x))
		ret = -1;
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
