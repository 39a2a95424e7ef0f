/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdma_client.c - connects to rdma_server, sends a message, and receives the answer. It uses calls
 * that wait, and so is the shortest possible client.
 */
#include "simple.h"

static int run_client(struct simple *simple)
{
	struct ibv_qp_init_attr attr;
	int ret;

	simple_fill_attr(simple, &attr);
	ret = simple_make_endpoint(simple, 0, &simple->id, &attr);
	if (!ret)
		ret = simple_register(simple);
	if (!ret)
		ret = simple_post_recv(simple);
	if (!ret)
		ret = simple_check("rdma_connect", rdma_connect(simple->id, NULL));
	if (ret)
		return ret;
	ret = simple_send(simple, (int)attr.cap.max_inline_data);
	if (!ret)
		ret = simple_receive(simple);
	rdma_disconnect(simple->id);
	return ret;
}

int main(int argc, char *argv[])
{
	struct simple simple = {
		.name = "rdma_client", .host = "127.0.0.1", .port = "7471", .qp_type = IBV_QPT_RC
	};

	if (simple_take_options(&simple, argc, argv,
				"s:p:", "\t[-s server_address]\n\t[-p port_number]\n"))
		return 1;
	return simple_main(&simple, run_client);
}
