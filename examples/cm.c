/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.c - two processes that exchange messages by RC queue pairs, connected by rdma_cm.
 *
 *     cm PORT          the server
 *     cm PORT HOST     its client; HOST is an address of the server's adapter
 *
 * It does what rc.c does. rdma_cm finds the adapter and the path, exchanges the numbers, and
 * changes the states of the queue pairs.
 */
#include <err.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 64 };

static char buf[2][SIZE]; /* the message to send, and the one received */

static struct rdma_addrinfo *address_resolve(char *service, char *host)
{
	struct rdma_addrinfo hints = { .ai_flags = host ? 0 : RAI_PASSIVE,
				       .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *info;

	if (rdma_getaddrinfo(host, service, &hints, &info))
		err(1, "rdma_getaddrinfo");
	return info;
}

static struct ibv_qp_init_attr queue_sizes(void)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1, /* so that every request produces a completion */
	};
}

static struct ibv_mr *receive_prepare(struct rdma_cm_id *id)
{
	struct ibv_mr *mr = rdma_reg_msgs(id, buf, sizeof(buf));

	/* now, as it must be there before the peer can send */
	if (!mr || rdma_post_recv(id, NULL, buf[1], SIZE, mr))
		err(1, "no receive");
	return mr;
}

/* Accepts one connection. Its queue pair exists already, as librdmacm creates it when the request
 * arrives. */
static struct rdma_cm_id *server_accept(struct rdma_addrinfo *info, struct ibv_mr **mr)
{
	struct ibv_qp_init_attr sizes = queue_sizes();
	struct rdma_cm_id *listener, *id;

	if (rdma_create_ep(&listener, info, NULL, &sizes) || rdma_listen(listener, 1))
		err(1, "listening");
	if (rdma_get_request(listener, &id))
		err(1, "rdma_get_request");
	*mr = receive_prepare(id);
	if (rdma_accept(id, NULL))
		err(1, "rdma_accept");
	rdma_destroy_ep(listener);
	return id;
}

static struct rdma_cm_id *client_connect(struct rdma_addrinfo *info, struct ibv_mr **mr)
{
	struct ibv_qp_init_attr sizes = queue_sizes();
	struct rdma_cm_id *id;

	if (rdma_create_ep(&id, info, NULL, &sizes))
		err(1, "rdma_create_ep");
	*mr = receive_prepare(id);
	if (rdma_connect(id, NULL))
		err(1, "rdma_connect");
	return id;
}

static void completion_check(int n, const struct ibv_wc *wc)
{
	if (n < 0)
		err(1, "no completion");
	if (wc->status != IBV_WC_SUCCESS)
		errx(1, "%s", ibv_wc_status_str(wc->status));
}

static void receive_message(struct rdma_cm_id *id)
{
	struct ibv_wc wc;

	completion_check(rdma_get_recv_comp(id, &wc), &wc);
	printf("received: %s\n", buf[1]);
}

static void send_message(struct rdma_cm_id *id, struct ibv_mr *mr, const char *text)
{
	struct ibv_wc wc;

	strcpy(buf[0], text);
	if (rdma_post_send(id, NULL, buf[0], SIZE, mr, 0))
		err(1, "rdma_post_send");
	completion_check(rdma_get_send_comp(id, &wc), &wc);
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;

	if (argc < 2 || argc > 3)
		errx(2, "usage: cm PORT [HOST]");
	info = address_resolve(argv[1], argv[2]);
	if (argc == 3) {
		id = client_connect(info, &mr);
		send_message(id, mr, "hello");
		receive_message(id);
	} else {
		id = server_accept(info, &mr);
		receive_message(id);
		send_message(id, mr, "and good-bye");
	}
	rdma_freeaddrinfo(info);
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	return 0;
}
