/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connection.c - a program that is linked with all archives at once: it opens the device by
 * direct verbs, connects two queue pairs by rdma_cm, finds their rings by direct verbs and sends a
 * message. run-connection builds and runs it.
 *
 * Covers: libibverbs/discovery/static_all.c, librdmacm/id.c
 */
/* A static program has no plugins, so it names the providers to link. */
#define RDMA_STATIC_PROVIDERS mlx5

#include <infiniband/mlx5dv.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"

static void device_is_open_by_direct_verbs(void)
{
	struct mlx5dv_context_attr attr = { 0 };
	struct mlx5dv_context dv = { 0 };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	MUST(list && list[0]);
	say_check(mlx5dv_is_supported(list[0]), "the device is one of mlx5");
	ctx = mlx5dv_open_device(list[0], &attr);
	MUST(ctx);
	say_check(!mlx5dv_query_device(ctx, &dv) && dv.flags & MLX5DV_CONTEXT_FLAGS_CQE_V1,
		  "its CQEs are of version 1");
	say_check(!ibv_close_device(ctx), "the device is closed");
	ibv_free_device_list(list);
}

static void qp_has_rings(struct ibv_qp *qp)
{
	struct mlx5dv_qp dv_qp = { 0 };
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &dv_qp } };

	say_check(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP) && dv_qp.sq.buf && dv_qp.dbrec,
		  "direct verbs find the rings of rdma_cm's QP");
}

static void message_arrives(struct cm_pair *pair)
{
	static char buf[2][16] = { "hello", "" };
	struct ibv_mr *from = rdma_reg_msgs(pair->client, buf[0], sizeof(buf[0]));
	struct ibv_mr *to = rdma_reg_msgs(pair->server, buf[1], sizeof(buf[1]));
	struct ibv_wc wc;

	MUST(from && to);
	MUST(!rdma_post_recv(pair->server, NULL, buf[1], sizeof(buf[1]), to));
	MUST(!rdma_post_send(pair->client, NULL, buf[0], sizeof(buf[0]), from, IBV_SEND_SIGNALED));
	say_check(rdma_get_send_comp(pair->client, &wc) == 1 && wc.status == IBV_WC_SUCCESS,
		  "it is sent");
	say_check(rdma_get_recv_comp(pair->server, &wc) == 1 && wc.status == IBV_WC_SUCCESS &&
			  !strcmp(buf[1], "hello"),
		  "it has arrived");
	rdma_dereg_mr(from);
	rdma_dereg_mr(to);
}

static void rdma_cm_carries_a_message(void)
{
	struct cm_pair pair;

	cm_pair_connect(&pair);
	qp_has_rings(pair.client->qp);
	message_arrives(&pair);
	cm_pair_close(&pair);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "device", device_is_open_by_direct_verbs },
					       { "message", rdma_cm_carries_a_message } };

	return topics_main(topics, 2, argc, argv);
}
