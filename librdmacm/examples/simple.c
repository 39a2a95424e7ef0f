/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * simple.c - shared by rdma_client, rdma_server, rdma_xclient and rdma_xserver; see simple.h.
 */
#include "simple.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "address.h"

int simple_check(const char *call, int ret)
{
	if (ret)
		perror(call);
	return ret;
}

int simple_check_completion(const struct simple *simple, const char *call, int count)
{
	if (count < 0)
		return simple_check(call, count);
	if (simple->wc.status == IBV_WC_SUCCESS)
		return 0;
	printf("%s: %s\n", call, ibv_wc_status_str(simple->wc.status));
	return -1;
}

static int take_kind(struct simple *simple, char kind)
{
	switch (kind) {
	case 'r':
		simple->qp_type = IBV_QPT_RC;
		return 0;
	case 'x':
		simple->qp_type = IBV_QPT_XRC_SEND;
		return 0;
	default:
		return 1;
	}
}

int simple_take_options(struct simple *simple, int argc, char *argv[], const char *options,
			const char *usage)
{
	int ret = 0;
	int option;

	while (!ret && (option = getopt(argc, argv, options)) != -1) {
		switch (option) {
		case 's':
			simple->host = optarg;
			break;
		case 'p':
			simple->port = optarg;
			break;
		case 'c':
			ret = take_kind(simple, optarg[0]);
			break;
		default:
			ret = 1;
		}
	}
	if (ret)
		printf("usage: %s\n%s", argv[0], usage);
	return ret;
}

static int resolve_address(const struct simple *simple, int passive, struct rdma_addrinfo **info)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	int ret;

	if (simple->qp_type != IBV_QPT_RC) {
		hints.ai_port_space = RDMA_PS_IB;
		hints.ai_qp_type = passive ? IBV_QPT_XRC_RECV : IBV_QPT_XRC_SEND;
	}
	ret = passive ? address_resolve_passive(simple->host, simple->port, &hints, info)
		      : address_resolve(simple->host, simple->port, NULL, &hints, info);
	if (ret)
		printf("rdma_getaddrinfo: %s\n", gai_strerror(ret));
	return ret;
}

void simple_fill_attr(const struct simple *simple, struct ibv_qp_init_attr *attr)
{
	*attr = (struct ibv_qp_init_attr){
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = MESSAGE_SIZE },
		.qp_type = simple->qp_type,
		.sq_sig_all = 1,
	};
	if (simple->qp_type == IBV_QPT_XRC_SEND)
		attr->cap.max_recv_wr = attr->cap.max_recv_sge = 0;
}

int simple_make_endpoint(struct simple *simple, int passive, struct rdma_cm_id **id,
			 struct ibv_qp_init_attr *attr)
{
	struct rdma_addrinfo *info;
	int ret = resolve_address(simple, passive, &info);

	if (ret)
		return ret;
	ret = simple_check("rdma_create_ep", rdma_create_ep(id, info, NULL, attr));
	rdma_freeaddrinfo(info);
	return ret;
}

int simple_await_request(struct simple *simple, struct ibv_qp_init_attr *attr)
{
	int ret;

	simple_fill_attr(simple, attr);
	ret = simple_make_endpoint(simple, 1, &simple->listener, attr);
	if (!ret)
		ret = simple_check("rdma_listen", rdma_listen(simple->listener, 0));
	if (!ret)
		ret = simple_check("rdma_get_request",
				   rdma_get_request(simple->listener, &simple->id));
	return ret;
}

static int register_message(struct simple *simple, uint8_t *message, struct ibv_mr **mr)
{
	*mr = rdma_reg_msgs(simple->id, message, MESSAGE_SIZE);
	return simple_check("rdma_reg_msgs", *mr ? 0 : -1);
}

int simple_register(struct simple *simple)
{
	int ret = register_message(simple, simple->recv_message, &simple->recv_mr);

	return ret ? ret : register_message(simple, simple->send_message, &simple->send_mr);
}

int simple_post_recv(struct simple *simple)
{
	return simple_check("rdma_post_recv", rdma_post_recv(simple->id, NULL, simple->recv_message,
							     MESSAGE_SIZE, simple->recv_mr));
}

int simple_send(struct simple *simple, int inline_size)
{
	int flags = inline_size >= MESSAGE_SIZE ? IBV_SEND_INLINE : 0;
	int ret = simple_check("rdma_post_send",
			       rdma_post_send(simple->id, NULL, simple->send_message, MESSAGE_SIZE,
					      simple->send_mr, flags));

	if (ret)
		return ret;
	return simple_check_completion(simple, "rdma_get_send_comp",
				       rdma_get_send_comp(simple->id, &simple->wc));
}

int simple_receive(struct simple *simple)
{
	return simple_check_completion(simple, "rdma_get_recv_comp",
				       rdma_get_recv_comp(simple->id, &simple->wc));
}

static void take_down(struct simple *simple)
{
	if (simple->recv_mr)
		rdma_dereg_mr(simple->recv_mr);
	if (simple->send_mr)
		rdma_dereg_mr(simple->send_mr);
	if (simple->id)
		rdma_destroy_ep(simple->id);
	if (simple->listener)
		rdma_destroy_ep(simple->listener);
}

int simple_main(struct simple *simple, int (*run)(struct simple *simple))
{
	int ret;

	printf("%s: start\n", simple->name);
	ret = run(simple);
	take_down(simple);
	printf("%s: end %d\n", simple->name, ret);
	return ret;
}
