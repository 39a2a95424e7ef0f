/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * onesided.c - a client that writes, reads and counts in a server's memory, while the server's
 * processor does nothing.
 *
 *     onesided PORT          the server
 *     onesided PORT HOST     its client
 *
 * The server tells address and key of its memory as it accepts the connection. Connections are
 * made as in cm.c.
 */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 64 };

/* The memory that the server offers. Atomics need a multiple of 8 as their address. */
static struct {
	uint64_t counter;
	char text[SIZE];
} offered;

/* What the server tells, in network byte order: private data of the connection. */
struct offer {
	uint64_t addr;
	uint32_t rkey;
};

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
		.sq_sig_all = 1,
	};
}

static void server_run(struct rdma_addrinfo *info)
{
	struct ibv_qp_init_attr sizes = queue_sizes();
	struct rdma_cm_id *listener, *id;
	struct rdma_conn_param param = { .responder_resources =
						 1 }; /* READs and atomics at a time */
	struct rdma_cm_event *event;
	struct offer offer;
	struct ibv_mr *mr;

	if (rdma_create_ep(&listener, info, NULL, &sizes) || rdma_listen(listener, 1))
		err(1, "listening");
	if (rdma_get_request(listener, &id))
		err(1, "rdma_get_request");
	mr = ibv_reg_mr(id->pd, &offered, sizeof(offered),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		err(1, "ibv_reg_mr");
	offer = (struct offer){ htobe64((uintptr_t)&offered), htobe32(mr->rkey) };
	param.private_data = &offer;
	param.private_data_len = sizeof(offer);
	if (rdma_accept(id, &param))
		err(1, "rdma_accept");
	/* Nothing is to be done here until the client has gone. */
	if (rdma_get_cm_event(id->channel, &event) || event->event != RDMA_CM_EVENT_DISCONNECTED)
		errx(1, "another event than that the client has gone");
	rdma_ack_cm_event(event);
	printf("text: %s\ncounter: %d\n", offered.text, (int)offered.counter);
	rdma_disconnect(id);
	rdma_dereg_mr(mr);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
}

static struct rdma_cm_id *client_connect(struct rdma_addrinfo *info)
{
	struct rdma_conn_param param = { .initiator_depth = 1, .retry_count = 7 };
	struct ibv_qp_init_attr sizes = queue_sizes();
	struct rdma_cm_id *id;

	if (rdma_create_ep(&id, info, NULL, &sizes))
		err(1, "rdma_create_ep");
	if (rdma_connect(id, &param))
		err(1, "rdma_connect");
	return id;
}

/* Executes one request, and waits for its completion. */
static void request_execute(struct rdma_cm_id *id, struct ibv_send_wr *wr, void *addr,
			    uint32_t size, struct ibv_mr *mr)
{
	struct ibv_sge sge = { (uintptr_t)addr, size, mr->lkey };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	errno = ibv_post_send(id->qp, wr, &bad);
	if (errno || rdma_get_send_comp(id, &wc) < 1)
		err(1, "ibv_post_send");
	if (wc.status != IBV_WC_SUCCESS)
		errx(1, "%s", ibv_wc_status_str(wc.status));
}

static void memory_use(struct rdma_cm_id *id, uint64_t addr, uint32_t rkey)
{
	static char text[SIZE];
	static uint64_t before; /* results of atomics come here */
	struct ibv_mr *texts = rdma_reg_msgs(id, text, sizeof(text));
	struct ibv_mr *counts = rdma_reg_msgs(id, &before, sizeof(before));
	uint64_t remote_text = addr + sizeof(before);

	if (!texts || !counts)
		err(1, "rdma_reg_msgs");
	strcpy(text, "written from afar");
	request_execute(
		id,
		&(struct ibv_send_wr){ .opcode = IBV_WR_RDMA_WRITE,
				       .wr.rdma = { .remote_addr = remote_text, .rkey = rkey } },
		text, SIZE, texts);
	memset(text, 0, SIZE);
	request_execute(
		id,
		&(struct ibv_send_wr){ .opcode = IBV_WR_RDMA_READ,
				       .wr.rdma = { .remote_addr = remote_text, .rkey = rkey } },
		text, SIZE, texts);
	printf("read: %s\n", text);
	request_execute(
		id,
		&(struct ibv_send_wr){
			.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			.wr.atomic = { .remote_addr = addr, .compare_add = 5, .rkey = rkey } },
		&before, sizeof(before), counts);
	printf("added 5 to: %d\n", (int)before);
	/* 42 if it is 5 */
	request_execute(id,
			&(struct ibv_send_wr){ .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
					       .wr.atomic = { .remote_addr = addr,
							      .compare_add = 5,
							      .swap = 42,
							      .rkey = rkey } },
			&before, sizeof(before), counts);
	printf("exchanged: %d\n", (int)before);
	rdma_dereg_mr(texts);
	rdma_dereg_mr(counts);
}

int main(int argc, char **argv)
{
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;
	struct offer offer;

	if (argc < 2 || argc > 3)
		errx(2, "usage: onesided PORT [HOST]");
	info = address_resolve(argv[1], argv[2]);
	if (argc == 2) {
		server_run(info);
	} else {
		id = client_connect(info);
		if (id->event->param.conn.private_data_len < sizeof(offer))
			errx(1, "the server offers no memory");
		memcpy(&offer, id->event->param.conn.private_data, sizeof(offer));
		memory_use(id, be64toh(offer.addr), be32toh(offer.rkey));
		rdma_disconnect(id);
		rdma_destroy_ep(id);
	}
	rdma_freeaddrinfo(info);
	return 0;
}
