/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdma_xclient.c - connects to rdma_xserver and sends it a message, over a reliable connection or
 * an extended one (XRC). With XRC, the server's private data has the number of the destination SRQ.
 */
#include "simple.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static int take_srqn(const struct simple *simple, uint32_t *srqn)
{
	const struct rdma_conn_param *param = &simple->id->event->param.conn;

	if (!param->private_data || param->private_data_len < sizeof(*srqn)) {
		printf("%s: the server has not said which SRQ it receives with\n", simple->name);
		return -1;
	}
	memcpy(srqn, param->private_data, sizeof(*srqn));
	*srqn = ntohl(*srqn);
	return 0;
}

static int post_send(struct simple *simple, int flags)
{
	struct ibv_sge sge = { .addr = (uintptr_t)simple->send_message,
			       .length = MESSAGE_SIZE,
			       .lkey = simple->send_mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = flags
	};
	struct ibv_send_wr *bad;

	if (simple->qp_type == IBV_QPT_XRC_SEND && take_srqn(simple, &wr.qp_type.xrc.remote_srqn))
		return -1;
	return simple_check("ibv_post_send",
			    rdma_seterrno(ibv_post_send(simple->id->qp, &wr, &bad)));
}

static int run_client(struct simple *simple)
{
	struct ibv_qp_init_attr attr;
	int ret;

	simple_fill_attr(simple, &attr);
	ret = simple_make_endpoint(simple, 0, &simple->id, &attr);
	if (!ret)
		ret = simple_register(simple);
	if (!ret)
		ret = simple_check("rdma_connect", rdma_connect(simple->id, NULL));
	if (ret)
		return ret;
	ret = post_send(simple, attr.cap.max_inline_data >= MESSAGE_SIZE ? IBV_SEND_INLINE : 0);
	if (!ret)
		ret = simple_check_completion(simple, "rdma_get_send_comp",
					      rdma_get_send_comp(simple->id, &simple->wc));
	rdma_disconnect(simple->id);
	return ret;
}

int main(int argc, char *argv[])
{
	struct simple simple = {
		.name = argv[0], .host = "127.0.0.1", .port = "7471", .qp_type = IBV_QPT_RC
	};

	if (simple_take_options(&simple, argc, argv, "s:p:c:",
				"\t[-s server]\n"
				"\t[-p port_number]\n"
				"\t[-c communication type]\n"
				"\t    r - RC: reliable-connected (default)\n"
				"\t    x - XRC: extended-reliable-connected\n"))
		return 1;
	return simple_main(&simple, run_client);
}
