/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - lives of objects that programs create by the device's own commands: memory, queues,
 * keys, channels of answers and of events.
 *
 * Covers: providers/mlx5/dv/devx_obj.c, providers/mlx5/dv/devx_umem.c,
 * providers/mlx5/dv/devx_async.c, providers/mlx5/dv/devx_event.c, softhca/fault.c
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include "faults.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/qpc.h"
#include "tests/verbs/devx/dx.h"

static uint8_t memory[8][DX_PAGE] __attribute__((aligned(DX_PAGE)));

static struct mlx5dv_devx_umem *life_umem(struct life *l, unsigned int i)
{
	return KEEP(l,
		    mlx5dv_devx_umem_reg(l->rig.ctx, memory[i], DX_PAGE,
					 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ),
		    mlx5dv_devx_umem_dereg);
}

static int free_uar(void *uar)
{
	mlx5dv_devx_free_uar(uar);
	return 0;
}

static struct mlx5dv_devx_obj *life_obj(struct life *l, struct dx_command *cmd)
{
	return KEEP(l,
		    mlx5dv_devx_obj_create(l->rig.ctx, cmd->in, cmd->in_len, cmd->out,
					   sizeof(cmd->out)),
		    mlx5dv_devx_obj_destroy);
}

static bool life_device(struct life *l, struct dx_device *device)
{
	struct mlx5dv_pd dv = { 0 };
	struct mlx5dv_obj obj = { 0 };

	device->ctx = l->rig.ctx;
	device->pd = life_pd(l);
	if (!device->pd)
		return false;
	obj.pd.in = device->pd;
	obj.pd.out = &dv;
	if (!OK(l, mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD)) ||
	    !OK(l, mlx5dv_devx_query_eqn(l->rig.ctx, 0, &device->eqn)))
		return false;
	device->pdn = dv.pdn;
	device->uar =
		KEEP(l, mlx5dv_devx_alloc_uar(l->rig.ctx, MLX5DV_UAR_ALLOC_TYPE_BF), free_uar);
	return device->uar;
}

static bool life_memory(struct life *l, struct dx_memory *places, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		places[i] = (struct dx_memory){ memory[i], DX_PAGE, life_umem(l, i), 0 };
		if (!places[i].umem)
			return false;
	}
	return true;
}

static struct mlx5dv_devx_obj *life_devx_cq(struct life *l, const struct dx_device *device,
					    const struct dx_memory *places, uint32_t *cqn)
{
	struct mlx5dv_devx_obj *obj;
	struct dx_command cmd;

	dx_cq_command(device, &places[0], &places[1], &cmd);
	obj = life_obj(l, &cmd);
	*cqn = fld_get(cmd.out, CREATE_QP_OUT_QPN);
	return obj;
}

static void live_devx(struct life *l)
{
	struct mlx5dv_devx_obj *qp;
	struct dx_memory places[5];
	struct dx_device device;
	struct dx_command cmd;
	uint32_t cqn, qpn;

	if (!life_device(l, &device) || !life_memory(l, places, 5) ||
	    !life_devx_cq(l, &device, places, &cqn))
		return;
	dx_qp_command(&device, cqn, &places[2], &places[3], &cmd);
	qp = life_obj(l, &cmd);
	qpn = fld_get(cmd.out, CREATE_QP_OUT_QPN);
	if (!qp)
		return;
	dx_command(&cmd, PRM_OP_RST2INIT_QP, PRM_MODIFY_QP_IN_SIZE);
	fld_set(cmd.in, MODIFY_QP_IN_QPN, qpn);
	fld_set(fld_at(fld_at(cmd.in, MODIFY_QP_IN_QPC), QPC_PRIMARY_PATH), ADS_VHCA_PORT_NUM, 1);
	if (!OK(l, mlx5dv_devx_obj_modify(qp, cmd.in, cmd.in_len, cmd.out, sizeof(cmd.out))))
		return;
	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, qpn);
	if (!OK(l, mlx5dv_devx_obj_query(qp, cmd.in, cmd.in_len, cmd.out, sizeof(cmd.out))))
		return;
	dx_key_command(&device, &places[4], &cmd);
	life_obj(l, &cmd);
}

static int destroy_comp(void *comp)
{
	mlx5dv_devx_destroy_cmd_comp(comp);
	return 0;
}

static int destroy_channel(void *channel)
{
	mlx5dv_devx_destroy_event_channel(channel);
	return 0;
}

static bool subscribe(struct life *l, struct mlx5dv_devx_event_channel *channel,
		      struct mlx5dv_devx_obj *cq)
{
	uint16_t comp = PRM_EVENT_COMP, port = PRM_EVENT_PORT_CHANGE;
	int fd = eventfd(0, EFD_CLOEXEC);
	bool ok;

	MUST(fd >= 0);
	ok = OK(l, mlx5dv_devx_subscribe_devx_event(channel, cq, sizeof(comp), &comp, 1)) &&
	     OK(l, mlx5dv_devx_subscribe_devx_event(channel, NULL, sizeof(port), &port, 2)) &&
	     OK(l, mlx5dv_devx_subscribe_devx_event_fd(channel, fd, cq, comp));
	close(fd);
	return ok;
}

static void live_devx_channels(struct life *l)
{
	struct mlx5dv_devx_event_channel *channel;
	struct mlx5dv_devx_cmd_comp *comp;
	struct mlx5dv_devx_obj *cq;
	struct dx_memory places[2];
	struct dx_device device;
	struct dx_command cmd;
	uint32_t cqn;

	if (!life_device(l, &device) || !life_memory(l, places, 2))
		return;
	cq = life_devx_cq(l, &device, places, &cqn);
	comp = cq ? KEEP(l, mlx5dv_devx_create_cmd_comp(l->rig.ctx), destroy_comp) : NULL;
	if (!comp)
		return;
	dx_command(&cmd, PRM_OP_QUERY_CQ, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, cqn);
	if (!OK(l, mlx5dv_devx_obj_query_async(cq, cmd.in, 16, 256, 3, comp)))
		return;
	channel = KEEP(l,
		       mlx5dv_devx_create_event_channel(
			       l->rig.ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA),
		       destroy_channel);
	if (channel)
		subscribe(l, channel, cq);
}

const struct life_kind life_devx[] = {
	{ .name = "devx", .live = live_devx },
	{ .name = "devx-channels", .live = live_devx_channels },
	{ .name = NULL },
};
