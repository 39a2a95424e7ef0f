/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * without.c - DevX calls in a context without DevX, as the kernel has refused its first command:
 * some of the calls still succeed.
 *
 * Covers: providers/mlx5/dv/devx.c, providers/mlx5/dv/absent.c,
 * softhca/front/process/uverbs/devx/devx.c
 */
#include <string.h>
#include <unistd.h>

#include "dx.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/caps.h"
#include "tests/lib/say.h"
#include "util/bits.h"

static struct ibv_context *open_plainly(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	MUST(list && list[0]);
	ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	MUST(ctx);
	return ctx;
}

/* Linux answers the first to anybody. */
static void commands(struct ibv_context *ctx)
{
	static const struct {
		uint32_t opcode;
		const char *name;
	} asked[] = {
		{ PRM_OP_QUERY_HCA_CAP, "QUERY_HCA_CAP" },
		{ PRM_OP_QUERY_ADAPTER, "QUERY_ADAPTER" },
		{ PRM_OP_NOP, "NOP" },
		{ PRM_OP_QUERY_ISSI, "QUERY_ISSI" },
		{ PRM_OP_ALLOC_PD, "ALLOC_PD" },
	};
	static uint8_t out[16 + PRM_HCA_CAP_SIZE];
	struct mlx5dv_devx_obj *obj;
	struct dx_command cmd;

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		dx_command(&cmd, asked[i].opcode, 16);
		SAY_RET(mlx5dv_devx_general_cmd(ctx, cmd.in, 16, out, sizeof(out)), "%s",
			asked[i].name);
	}
	dx_command(&cmd, PRM_OP_ALLOC_PD, 16);
	obj = SAY_PTR(dx_create(ctx, &cmd), "an object");
	if (obj)
		MUST(!mlx5dv_devx_obj_destroy(obj));
}

static void channels(struct ibv_context *ctx)
{
	uint16_t event = PRM_EVENT_PORT_CHANGE;
	struct mlx5dv_devx_event_channel *channel;
	struct mlx5dv_devx_cmd_comp *comp;

	comp = SAY_PTR(mlx5dv_devx_create_cmd_comp(ctx), "a channel of answers");
	if (comp)
		mlx5dv_devx_destroy_cmd_comp(comp);
	channel = SAY_PTR(mlx5dv_devx_create_event_channel(
				  ctx, (enum mlx5dv_devx_create_event_channel_flags)0),
			  "a channel of events");
	if (!channel)
		return;
	SAY_RET(mlx5dv_devx_subscribe_devx_event(channel, NULL, sizeof(event), &event, 1),
		"a subscription");
	mlx5dv_devx_destroy_event_channel(channel);
}

static void memory(struct ibv_context *ctx)
{
	static uint8_t page[DX_PAGE] __attribute__((aligned(DX_PAGE)));
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	uint32_t eqn = 0, rate = 1000;
	struct mlx5dv_pp *pp;

	umem = SAY_PTR(mlx5dv_devx_umem_reg(ctx, page, sizeof(page), IBV_ACCESS_LOCAL_WRITE),
		       "a umem");
	if (umem)
		MUST(!mlx5dv_devx_umem_dereg(umem));
	SAY_RET(mlx5dv_devx_query_eqn(ctx, 0, &eqn), "an event queue");
	uar = SAY_PTR(mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF), "a page");
	if (uar)
		mlx5dv_devx_free_uar(uar);
	pp = SAY_PTR(mlx5dv_pp_alloc(ctx, sizeof(rate), &rate, 0), "a rate");
	if (pp)
		mlx5dv_pp_free(pp);
}

/* The parts that Debian 12's library knows. */
static void facts(struct ibv_context *ctx)
{
	struct mlx5dv_context dv = { .comp_mask = UINT64_MAX };

	SAY_RET(mlx5dv_query_device(ctx, &dv), "the device");
	say("mask %#llx", (unsigned long long)(dv.comp_mask & 0x3fff));
}

static void of_verbs(struct ibv_context *ctx)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 10, NULL, NULL, 0);
	struct mlx5dv_cq dv = { 0 };
	struct mlx5dv_obj obj = { .cq = { cq, &dv } };
	struct dx_command cmd;

	MUST(cq);
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	dx_command(&cmd, PRM_OP_QUERY_CQ, 16);
	fld_set(cmd.in, QUERY_CQ_IN_CQN, dv.cqn);
	SAY_RET(mlx5dv_devx_cq_query(cq, cmd.in, 16, cmd.out, sizeof(cmd.out)), "a CQ's query");
	MUST(!ibv_destroy_cq(cq));
}

void dx_without(void)
{
	struct ibv_context *ctx = open_plainly();

	commands(ctx);
	channels(ctx);
	memory(ctx);
	facts(ctx);
	of_verbs(ctx);
	MUST(!ibv_close_device(ctx));
}
