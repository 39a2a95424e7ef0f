/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdma_server.c - waits for rdma_client, receives its message, and answers it.
 */
#include "simple.h"

static int inline_size(const struct simple *simple)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(simple->id->qp, &attr, IBV_QP_CAP, &init))
		return 0;
	return (int)init.cap.max_inline_data;
}

static int run_server(struct simple *simple)
{
	struct ibv_qp_init_attr attr;
	int ret = simple_await_request(simple, &attr);

	if (!ret)
		ret = simple_register(simple);
	if (!ret)
		ret = simple_post_recv(simple);
	if (!ret)
		ret = simple_check("rdma_accept", rdma_accept(simple->id, NULL));
	if (ret)
		return ret;
	ret = simple_receive(simple);
	if (!ret)
		ret = simple_send(simple, inline_size(simple));
	rdma_disconnect(simple->id);
	return ret;
}

int main(int argc, char *argv[])
{
	struct simple simple = {
		.name = "rdma_server", .host = "0.0.0.0", .port = "7471", .qp_type = IBV_QPT_RC
	};

	if (simple_take_options(&simple, argc, argv,
				"s:p:", "\t[-s server_address]\n\t[-p port_number]\n"))
		return 1;
	return simple_main(&simple, run_server);
}
