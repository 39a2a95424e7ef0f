/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdma_xserver.c - waits for rdma_xclient and receives its message, over a reliable connection or
 * an extended one (XRC). With XRC, an SRQ receives it; the acceptance tells the client its number.
 */
#include "simple.h"

#include <arpa/inet.h>

/* Creates an SRQ. On an XRC id, rdma_create_srq() creates an XRC SRQ with the library's domain and
 * CQ. */
static int make_srq(struct simple *simple)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return simple_check("rdma_create_srq", rdma_create_srq(simple->id, NULL, &attr));
}

static int accept_request(struct simple *simple)
{
	struct rdma_conn_param param = { .responder_resources = RDMA_MAX_RESP_RES,
					 .initiator_depth = RDMA_MAX_INIT_DEPTH,
					 .rnr_retry_count = 7 };
	uint32_t srqn;

	if (simple->qp_type == IBV_QPT_RC)
		return simple_check("rdma_accept", rdma_accept(simple->id, NULL));
	if (simple_check("ibv_get_srq_num", rdma_seterrno(ibv_get_srq_num(simple->id->srq, &srqn))))
		return -1;
	srqn = htonl(srqn);
	param.private_data = &srqn;
	param.private_data_len = sizeof(srqn);
	return simple_check("rdma_accept", rdma_accept(simple->id, &param));
}

static int run_server(struct simple *simple)
{
	struct ibv_qp_init_attr attr;
	int ret = simple_await_request(simple, &attr);

	if (!ret && simple->qp_type != IBV_QPT_RC)
		ret = make_srq(simple);
	if (!ret)
		ret = simple_register(simple);
	if (!ret)
		ret = simple_post_recv(simple);
	if (!ret)
		ret = accept_request(simple);
	if (ret)
		return ret;
	ret = simple_receive(simple);
	rdma_disconnect(simple->id);
	return ret;
}

int main(int argc, char *argv[])
{
	struct simple simple = { .name = argv[0], .port = "7471", .qp_type = IBV_QPT_RC };

	if (simple_take_options(&simple, argc, argv, "p:c:",
				"\t[-p port_number]\n"
				"\t[-c communication type]\n"
				"\t    r - RC: reliable-connected (default)\n"
				"\t    x - XRC: extended-reliable-connected\n"))
		return 1;
	return simple_main(&simple, run_server);
}
