/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - verbs-devx granted|refused [ERRNO]: a device opened by ibv_open_device() accepts DevX
 * commands if the kernel grants them; without them it can still be opened. The kernel of "refused"
 * refuses the first command, which creates a context. Exit code 1 if a check failed.
 *
 * Covers: providers/mlx5/dv/devx.c, providers/mlx5/context.c, softhca/front/process/uverbs/device.c
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

static int command_run(struct ibv_context *context, uint32_t opcode)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[16 + PRM_HCA_CAP_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, opcode);
	return mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out));
}

/* A QP in RTR, and flags that no release defines, get no promise. */
static void ask_early(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct rig_end end;

	MUST(pd);
	rig_end_open(pd, &conf, &end);
	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		rig_qp_to(rig, &conf, end.qp, end.qp->qp_num, state);
		for (uint32_t flag = 4; flag; flag <<= 1)
			say_check(!ibv_query_qp_data_in_order(end.qp, IBV_WR_SEND, flag | 1),
				  "nothing in state %d with flag 0x%x", state, flag);
		say_check(state == IBV_QPS_RTS ||
				  !ibv_query_qp_data_in_order(end.qp, IBV_WR_SEND, 0),
			  "nothing in state %d", state);
	}
	rig_end_close(&end);
	MUST(!ibv_dealloc_pd(pd));
}

/* Queries whether a QP's messages are written in order, which needs a command. Before the QP is
 * connected, the answer is no. */
static void ask_order(struct rig *rig, bool granted)
{
	const uint32_t caps = 1 /* IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS */;
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct rig_pair pair;
	struct ibv_qp *qp;

	rig_pair_open(rig, &conf, &pair);
	qp = pair.end[0].qp;
	say_check(ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0) == granted, "in order");
	say("with caps: %d", ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, caps));
	MUST(!ibv_modify_qp(qp, &reset, IBV_QP_STATE));
	say_check(!ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0), "nothing when reset");
	rig_pair_close(&pair);
}

/* An object made by a command has a handle, which Debian 12's library does not return. */
static void name_object(struct ibv_context *context)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE] = { 0 };
	struct mlx5dv_devx dv = { .handle = UINT32_MAX };
	struct mlx5dv_obj obj = { .devx.out = &dv };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PD);
	obj.devx.in = mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out));
	MUST(obj.devx.in);
	say_check(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_DEVX) && dv.handle != UINT32_MAX,
		  "the handle of an object of DevX");
	MUST(!mlx5dv_devx_obj_destroy(obj.devx.in));
}

/* Opens the device with a request for DevX: it fails with the kernel's errno, and creates
 * nothing. */
static void open_asking(int refusal)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	MUST(list && list[0]);
	errno = 0;
	context = mlx5dv_open_device(list[0], &attr);
	if (refusal)
		say_check(!context && errno == refusal, "a device that is not opened for DevX");
	else
		say_check(context, "a device that is opened for DevX");
	if (context) {
		name_object(context);
		say_check(mlx5dv_devx_obj_destroy(NULL) == EINVAL, "an object that was not made");
		MUST(!ibv_close_device(context));
	}
	ibv_free_device_list(list);
}

static struct choice {
	bool refused; /* the kernel refuses the first command */
	int asking;   /* errno of a request for DevX, or 0 if granted; -1: no request */
} choice;

static void run_choice(void)
{
	struct rig rig;

	if (choice.asking >= 0) {
		open_asking(choice.asking);
		return;
	}
	rig_open(&rig);
	say_check(command_run(rig.ctx, PRM_OP_QUERY_HCA_CAP) == 0, "a command that is open to all");
	say_check(command_run(rig.ctx, PRM_OP_NOP) == (choice.refused ? EINVAL : 0),
		  "a command of DevX");
	ask_order(&rig, !choice.refused);
	ask_early(&rig);
	rig_close(&rig);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "granted", run_choice },
					       { "refused", run_choice } };

	choice.asking = argc == 3 ? atoi(argv[2]) : -1;
	choice.refused = argc > 1 && !strcmp(argv[1], "refused");
	MUST(argc == 2 || argc == 3);
	return topics_main(topics, ARRAY_SIZE(topics), 2, argv);
}
