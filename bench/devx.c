/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - the costs of mlx5dv calls on DevX and small objects: kernel calls, and bytes of an
 * object; under callgrind, instructions, with a dump for each call.
 *
 * kernel_calls.h counts. Each call is made COUNT times, the first ones of a kind not counted, for
 * what they bring with them. For their bytes MANY objects are made, or as many as there are, as a
 * library may take memory for several at once; each kind has a context of its own, as it may keep
 * that for others. Calls on which the device or the library has nothing are left out.
 */
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "tests/lib/kernel/kernel_calls.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { COUNT = 24, MANY = 480, PAGE = 4096 };

struct bench {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint8_t *memory;
	uint8_t in[16], out[1024];
	bool counting; /* set under callgrind: counts instructions */
};

static size_t command_write(struct bench *b, uint32_t opcode, uint32_t number)
{
	memset(b->in, 0, sizeof(b->in));
	fld_set(b->in, CMD_IN_OPCODE, opcode);
	fld_set(b->in, QUERY_CQ_IN_CQN, number);
	return sizeof(b->in);
}

static void *umem_make(struct bench *b)
{
	return mlx5dv_devx_umem_reg(b->ctx, b->memory, PAGE, IBV_ACCESS_LOCAL_WRITE);
}

static void umem_end(void *umem)
{
	MUST(!mlx5dv_devx_umem_dereg(umem));
}

static void *object_make(struct bench *b)
{
	return mlx5dv_devx_obj_create(b->ctx, b->in, command_write(b, PRM_OP_ALLOC_PD, 0), b->out,
				      16);
}

static void object_end(void *object)
{
	MUST(!mlx5dv_devx_obj_destroy(object));
}

static void *blueflame_make(struct bench *b)
{
	return mlx5dv_devx_alloc_uar(b->ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
}

static void *plain_make(struct bench *b)
{
	return mlx5dv_devx_alloc_uar(b->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
}

static void uar_end(void *uar)
{
	mlx5dv_devx_free_uar(uar);
}

static void *comp_make(struct bench *b)
{
	return mlx5dv_devx_create_cmd_comp(b->ctx);
}

static void comp_end(void *comp)
{
	mlx5dv_devx_destroy_cmd_comp(comp);
}

static void *channel_make(struct bench *b)
{
	return mlx5dv_devx_create_event_channel(b->ctx,
						(enum mlx5dv_devx_create_event_channel_flags)0);
}

static void channel_end(void *channel)
{
	mlx5dv_devx_destroy_event_channel(channel);
}

static void *var_make(struct bench *b)
{
	return mlx5dv_alloc_var(b->ctx, 0);
}

static void var_end(void *var)
{
	mlx5dv_free_var(var);
}

static void *rate_make(struct bench *b)
{
	const uint8_t rate[4] = { 0, 0, 0, 100 };

	return mlx5dv_pp_alloc(b->ctx, sizeof(rate), rate, 0);
}

static void rate_end(void *pp)
{
	mlx5dv_pp_free(pp);
}

static void *dm_make(struct bench *b)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct mlx5dv_alloc_dm_attr mlx5 = { .type = MLX5DV_DM_TYPE_MEMIC };

	return mlx5dv_alloc_dm(b->ctx, &attr, &mlx5);
}

static void dm_end(void *dm)
{
	MUST(!ibv_free_dm(dm));
}

static void *sched_make(struct bench *b)
{
	const struct mlx5dv_sched_attr attr = { 0 };

	return mlx5dv_sched_node_create(b->ctx, &attr);
}

static void sched_end(void *node)
{
	MUST(!mlx5dv_sched_node_destroy(node));
}

static const struct kind {
	const char *name;
	void *(*make)(struct bench *b);
	void (*end)(void *object);
} kinds[] = {
	{ "umem", umem_make, umem_end },
	{ "object (PD)", object_make, object_end },
	{ "page for BlueFlame", blueflame_make, uar_end },
	{ "plain page", plain_make, uar_end },
	{ "channel of answers", comp_make, comp_end },
	{ "channel of events", channel_make, channel_end },
	{ "VAR", var_make, var_end },
	{ "rate", rate_make, rate_end },
	{ "device memory", dm_make, dm_end },
	{ "scheduler", sched_make, sched_end },
};

static void ask_general(struct bench *b)
{
	MUST(!mlx5dv_devx_general_cmd(b->ctx, b->in, command_write(b, PRM_OP_NOP, 0), b->out, 16));
}

static void ask_object(struct bench *b)
{
	struct mlx5dv_cq dv;
	struct mlx5dv_obj obj = { .cq = { b->cq, &dv } };

	dv.comp_mask = 0;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	MUST(!mlx5dv_devx_cq_query(b->cq, b->in, command_write(b, PRM_OP_QUERY_CQ, dv.cqn), b->out,
				   sizeof(b->out)));
}

static void ask_eqn(struct bench *b)
{
	uint32_t eqn;

	MUST(!mlx5dv_devx_query_eqn(b->ctx, 0, &eqn));
}

static void lay_open(struct bench *b)
{
	struct mlx5dv_qp dv;
	struct mlx5dv_obj obj = { .qp = { b->qp, &dv } };

	dv.comp_mask = 0;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
}

static const struct call {
	const char *name;
	void (*run)(struct bench *b);
} calls[] = {
	{ "general command", ask_general },
	{ "init_obj, and a query of a CQ", ask_object },
	{ "query_eqn", ask_eqn },
	{ "init_obj of a QP", lay_open },
};

static void print_figure(const char *of, const char *what, double value)
{
	printf("%s: %s\t%.1f\n", of, what, value);
}

/* Starts to count instructions. region_end() dumps them, as those of COUNT calls. */
static void region_begin(const struct bench *b)
{
	if (b->counting)
		CALLGRIND_TOGGLE_COLLECT;
}

static void region_end(const struct bench *b, const char *of, const char *what)
{
	if (!b->counting)
		return;
	CALLGRIND_TOGGLE_COLLECT;
	CALLGRIND_DUMP_STATS;
	printf("%s: %s\t%d\n", of, what, COUNT);
}

/* Measures a kind. The first two calls also pay for what stays, so they are not counted. */
static void measure_kind(struct bench *b, const struct kind *kind)
{
	const int wanted = b->counting ? COUNT : MANY;
	void *object[MANY], *first = kind->make(b), *second = kind->make(b);
	long ioctls = kernel_calls.ioctls, bytes = kernel_calls_bytes_in_use();
	int count = 0;

	if (!first || !second)
		return;
	region_begin(b);
	while (count < wanted && (object[count] = kind->make(b)))
		count++;
	MUST(count >= COUNT);
	region_end(b, kind->name, "instructions to create");
	if (!b->counting) {
		print_figure(kind->name, "bytes",
			     (double)(kernel_calls_bytes_in_use() - bytes) / count);
		print_figure(kind->name, "ioctls to create",
			     (double)(kernel_calls.ioctls - ioctls) / count);
	}
	ioctls = kernel_calls.ioctls;
	region_begin(b);
	for (int i = 0; i < count; i++)
		kind->end(object[i]);
	region_end(b, kind->name, "instructions to destroy");
	if (!b->counting)
		print_figure(kind->name, "ioctls to destroy",
			     (double)(kernel_calls.ioctls - ioctls) / count);
	kind->end(first);
	kind->end(second);
}

static void measure_call(struct bench *b, const struct call *call)
{
	long ioctls;

	call->run(b);
	ioctls = kernel_calls.ioctls;
	region_begin(b);
	for (int i = 0; i < COUNT; i++)
		call->run(b);
	region_end(b, call->name, "instructions");
	if (!b->counting)
		print_figure(call->name, "ioctls", (double)(kernel_calls.ioctls - ioctls) / COUNT);
}

static void bench_open(struct bench *b)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_qp_init_attr qp = { .cap = { 8, 8, 1, 1, 0 }, .qp_type = IBV_QPT_RC };

	MUST(list && list[0]);
	MUST(b->ctx = mlx5dv_open_device(list[0], &attr));
	ibv_free_device_list(list);
	MUST(b->pd = ibv_alloc_pd(b->ctx));
	MUST(b->cq = ibv_create_cq(b->ctx, 63, NULL, NULL, 0));
	qp.send_cq = qp.recv_cq = b->cq;
	MUST(b->qp = ibv_create_qp(b->pd, &qp));
	MUST(b->memory = aligned_alloc(PAGE, PAGE));
}

static void bench_close(struct bench *b)
{
	MUST(!ibv_destroy_qp(b->qp));
	MUST(!ibv_destroy_cq(b->cq));
	MUST(!ibv_dealloc_pd(b->pd));
	MUST(!ibv_close_device(b->ctx));
	free(b->memory);
}

int main(void)
{
	struct bench b = { .counting = RUNNING_ON_VALGRIND };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		bench_open(&b);
		measure_kind(&b, &kinds[i]);
		bench_close(&b);
	}
	bench_open(&b);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		measure_call(&b, &calls[i]);
	bench_close(&b);
	return 0;
}
