/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - pages on the device's own commands (DevX), and on flows in the device's format.
 *
 * Covers: providers/mlx5/dv/devx.c, providers/mlx5/dv/flow.c, providers/mlx5/dv/flow_action.c
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>

#include "errors.h"
#include "prm/mlx5/mkc.h"
#include "tests/verbs/devx/dx.h"

/* The call by which the header's mlx5dv_create_flow() says how large its actions are. */
NEWER(__mlx5dv_create_flow);

enum { LONG = 70000 };

/* A context with DevX, which on the distribution's library has to be asked for. */
static struct ibv_context *devx_of(struct bed *bed)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	struct ibv_context *ctx = mlx5dv_open_device(bed->device, &attr);

	MUST(ctx);
	return ctx;
}

static struct dx_command command(uint32_t opcode, size_t len)
{
	struct dx_command cmd;

	dx_command(&cmd, opcode, len);
	return cmd;
}

static int general_run(struct ibv_context *ctx, uint32_t opcode, size_t len)
{
	struct dx_command cmd = command(opcode, 16);

	return RET(mlx5dv_devx_general_cmd(ctx, cmd.in, len, cmd.out, sizeof(cmd.out)));
}

CASE(mlx5dv_devx_general_cmd, EREMOTEIO, "The adapter refuses the command")
{
	struct dx_command cmd = command(PRM_OP_QUERY_HCA_CAP, 16);

	cmd.in[6] = 0x7f; /* a group of capabilities that does not exist */
	return RET(mlx5dv_devx_general_cmd(devx_of(bed), cmd.in, 16, cmd.out, sizeof(cmd.out)));
}

CASE(mlx5dv_devx_general_cmd, EINVAL, "A length is above 65535")
{
	return general_run(devx_of(bed), PRM_OP_QUERY_HCA_CAP, LONG);
}

CASE(mlx5dv_devx_general_cmd, EINVAL, "the kernel does not let the command pass")
{
	return general_run(devx_of(bed), PRM_OP_CREATE_CQ, 16);
}

CASE_ON(ON_MLX4, mlx5dv_devx_general_cmd, EOPNOTSUPP, "The context is of another provider")
{
	return general_run(bed->ctx, PRM_OP_QUERY_HCA_CAP, 16);
}

static int object_create(struct ibv_context *ctx, struct dx_command *cmd, size_t len)
{
	return OBJ(mlx5dv_devx_obj_create(ctx, cmd->in, len, cmd->out, sizeof(cmd->out)));
}

static struct mlx5dv_devx_obj *domain_of(struct ibv_context *ctx)
{
	struct dx_command cmd = command(PRM_OP_ALLOC_PD, 16);
	struct mlx5dv_devx_obj *obj = dx_create(ctx, &cmd);

	MUST(obj);
	return obj;
}

CASE(mlx5dv_devx_obj_create, EREMOTEIO, "The adapter refuses the command")
{
	struct dx_command cmd = command(PRM_OP_CREATE_MKEY, PRM_CREATE_MKEY_IN_SIZE);

	memset(cmd.in + 16, 0xff, PRM_CREATE_MKEY_IN_SIZE - 16);
	cmd.in[0x20] = 0;
	return object_create(devx_of(bed), &cmd, cmd.in_len);
}

CASE(mlx5dv_devx_obj_create, EINVAL, "A length is above 65535")
{
	struct dx_command cmd = command(PRM_OP_ALLOC_PD, 16);

	return object_create(devx_of(bed), &cmd, LONG);
}

CASE(mlx5dv_devx_obj_create, EINVAL, "the kernel does not let such a command pass")
{
	struct dx_command cmd = command(PRM_OP_QUERY_HCA_CAP, 16);

	return object_create(devx_of(bed), &cmd, 16);
}

CASE(mlx5dv_devx_obj_create, ENOMEM, "There is no memory")
{
	struct ibv_context *ctx = devx_of(bed);
	struct dx_command cmd = command(PRM_OP_ALLOC_PD, 16);
	int ret = 0;

	/* many times, so that the provider has no room left for it */
	for (int i = 0; i < 150 && !ret; i++)
		ret = NO_MEMORY(object_create(ctx, &cmd, 16));
	return ret;
}

CASE_ON(ON_MLX4, mlx5dv_devx_obj_create, EOPNOTSUPP, "The context is of another provider")
{
	struct dx_command cmd = command(PRM_OP_ALLOC_PD, 16);

	return object_create(bed->ctx, &cmd, 16);
}

CASE(mlx5dv_devx_obj_create, ENOENT,
     "names an event queue that is none of mlx5dv_devx_query_eqn(3)")
{
	struct dx_device device;
	struct dx_memory ring, record;
	struct dx_command cmd;

	dx_device_open(&device);
	dx_memory_open(device.ctx, 4096, &ring);
	dx_memory_open(device.ctx, 4096, &record);
	device.eqn = 77;
	dx_cq_command(&device, &ring, &record, &cmd);
	return object_create(device.ctx, &cmd, cmd.in_len);
}

static int qp_command(struct ibv_qp *qp, uint32_t opcode, size_t len)
{
	struct dx_command cmd = command(opcode, 16);

	return RET(mlx5dv_devx_qp_modify(qp, cmd.in, len, cmd.out, sizeof(cmd.out)));
}

CASE(mlx5dv_devx_qp_modify, EINVAL, "the kernel does not let the command pass")
{
	return qp_command(bed->rc, PRM_OP_QUERY_HCA_CAP, 16);
}

CASE(mlx5dv_devx_qp_modify, EINVAL, "A length is above 65535")
{
	return qp_command(bed->rc, PRM_OP_QUERY_HCA_CAP, LONG);
}

CASE_ON(ON_MLX4, mlx5dv_devx_qp_modify, EOPNOTSUPP, "The context is of another provider")
{
	return qp_command(bed->rc, PRM_OP_QUERY_HCA_CAP, 16);
}

CASE(mlx5dv_devx_query_eqn, ENOENT, "There is no such vector")
{
	uint32_t eqn;

	return RET(mlx5dv_devx_query_eqn(bed->ctx, 5000, &eqn));
}

CASE_ON(ON_MLX4, mlx5dv_devx_query_eqn, EOPNOTSUPP, "The context is of another provider")
{
	uint32_t eqn;

	return RET(mlx5dv_devx_query_eqn(bed->ctx, 0, &eqn));
}

static int alloc_uar(struct ibv_context *ctx, uint32_t flags)
{
	return OBJ(mlx5dv_devx_alloc_uar(ctx, flags));
}

CASE(mlx5dv_devx_alloc_uar, EOPNOTSUPP, "flags is none of the three")
{
	return alloc_uar(devx_of(bed), 77);
}

CASE_ON(ON_MLX4, mlx5dv_devx_alloc_uar, EOPNOTSUPP, "context is of another provider")
{
	return alloc_uar(bed->ctx, MLX5DV_UAR_ALLOC_TYPE_BF);
}

CASE(mlx5dv_devx_alloc_uar, ENOMEM, "There is no memory")
{
	struct ibv_context *ctx = devx_of(bed);
	int ret = 0;

	/* many times, so that the provider has no room left for it */
	for (int i = 0; i < 150 && !ret; i++)
		ret = NO_MEMORY(alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_BF));
	return ret;
}

static int umem_reg(struct ibv_context *ctx, struct mlx5dv_devx_umem_in in)
{
	return OBJ(mlx5dv_devx_umem_reg_ex(ctx, &in));
}

static struct mlx5dv_devx_umem_in umem_in(struct bed *bed)
{
	return (struct mlx5dv_devx_umem_in){ .addr = bed->buf,
					     .size = 4096,
					     .access = IBV_ACCESS_LOCAL_WRITE,
					     .pgsz_bitmap = 1 << 12 };
}

CASE(mlx5dv_devx_umem_reg, EOPNOTSUPP, "comp_mask has an unknown bit")
{
	struct mlx5dv_devx_umem_in in = umem_in(bed);

	in.comp_mask = 1 << 20;
	return umem_reg(devx_of(bed), in);
}

CASE_ON(ON_MLX4, mlx5dv_devx_umem_reg, EOPNOTSUPP, "The context is of another provider")
{
	return umem_reg(bed->ctx, umem_in(bed));
}

CASE(mlx5dv_devx_umem_reg, EINVAL, "size is 0")
{
	struct mlx5dv_devx_umem_in in = umem_in(bed);

	in.size = 0;
	return umem_reg(devx_of(bed), in);
}

CASE(mlx5dv_devx_umem_reg, EINVAL, "access has another right than those above")
{
	struct mlx5dv_devx_umem_in in = umem_in(bed);

	in.access = 1 << 19;
	return umem_reg(devx_of(bed), in);
}

CASE(mlx5dv_devx_umem_reg, EINVAL, "no size of pgsz_bitmap will do")
{
	struct mlx5dv_devx_umem_in in = umem_in(bed);

	in.pgsz_bitmap = 1ull << 40;
	return umem_reg(devx_of(bed), in);
}

CASE(mlx5dv_devx_umem_reg, EFAULT, "The memory is not there")
{
	struct mlx5dv_devx_umem_in in = umem_in(bed);

	in.addr = (void *)0x1000;
	return umem_reg(devx_of(bed), in);
}

CASE(mlx5dv_devx_umem_reg, EBADF, "dmabuf_fd is no descriptor")
{
	struct mlx5dv_devx_umem_in in = umem_in(bed);

	in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
	in.addr = NULL;
	in.dmabuf_fd = 9999;
	return umem_reg(devx_of(bed), in);
}

CASE(mlx5dv_devx_umem_reg, ENOMEM, "There is no memory")
{
	struct ibv_context *ctx = devx_of(bed);
	int ret = 0;

	/* many times, so that the provider has no room left for it */
	for (int i = 0; i < 150 && !ret; i++)
		ret = NO_MEMORY(umem_reg(ctx, umem_in(bed)));
	return ret;
}

static struct mlx5dv_devx_event_channel *channel_of(struct ibv_context *ctx)
{
	struct mlx5dv_devx_event_channel *channel = mlx5dv_devx_create_event_channel(ctx, 0);

	MUST(channel);
	return channel;
}

CASE(mlx5dv_devx_create_event_channel, EINVAL, "flags has an unknown flag")
{
	return OBJ(mlx5dv_devx_create_event_channel(devx_of(bed), 1 << 20));
}

CASE_ON(ON_MLX4, mlx5dv_devx_create_event_channel, EOPNOTSUPP, "The context is of another provider")
{
	return OBJ(mlx5dv_devx_create_event_channel(bed->ctx, 0));
}

CASE(mlx5dv_devx_create_event_channel, ENOMEM, "There is no memory")
{
	struct ibv_context *ctx = devx_of(bed);

	return NO_MEMORY(OBJ(mlx5dv_devx_create_event_channel(ctx, 0)));
}

static int subscribe_fd(struct bed *bed, int fd, uint16_t type)
{
	return RET(mlx5dv_devx_subscribe_devx_event_fd(channel_of(devx_of(bed)), fd, NULL, type));
}

CASE(mlx5dv_devx_subscribe_devx_event, EINVAL, "A type is unknown")
{
	uint16_t types[] = { 0xffff };

	return RET(mlx5dv_devx_subscribe_devx_event(channel_of(devx_of(bed)), NULL, sizeof(types),
						    types, 0));
}

CASE(mlx5dv_devx_subscribe_devx_event, EBADF, "fd is no descriptor")
{
	return subscribe_fd(bed, 9999, 9);
}

CASE_ON(ON_MLX4, mlx5dv_devx_create_cmd_comp, EOPNOTSUPP, "The context is of another provider")
{
	return OBJ(mlx5dv_devx_create_cmd_comp(bed->ctx));
}

CASE(mlx5dv_devx_create_cmd_comp, ENOMEM, "There is no memory")
{
	struct ibv_context *ctx = devx_of(bed);

	return NO_MEMORY(OBJ(mlx5dv_devx_create_cmd_comp(ctx)));
}

static struct mlx5dv_devx_cmd_comp *answers_of(struct ibv_context *ctx)
{
	struct mlx5dv_devx_cmd_comp *comp = mlx5dv_devx_create_cmd_comp(ctx);

	MUST(comp);
	return comp;
}

CASE(mlx5dv_devx_create_cmd_comp, EAGAIN, "fd is non-blocking and there is none")
{
	struct mlx5dv_devx_cmd_comp *comp = answers_of(devx_of(bed));
	struct mlx5dv_devx_async_cmd_hdr hdr;

	MUST(!fcntl(comp->fd, F_SETFL, O_NONBLOCK));
	return RET(mlx5dv_devx_get_async_cmd_comp(comp, &hdr, sizeof(hdr)));
}

CASE(mlx5dv_devx_create_cmd_comp, EINVAL, "the kernel does not let the command pass")
{
	struct ibv_context *ctx = devx_of(bed);
	struct dx_command cmd = command(PRM_OP_QUERY_HCA_CAP, 16);

	return RET(mlx5dv_devx_obj_query_async(domain_of(ctx), cmd.in, 16, 16, 1, answers_of(ctx)));
}

/* ---- flows ---- */

static struct mlx5dv_flow_match_parameters *match_of(size_t size)
{
	struct mlx5dv_flow_match_parameters *match = calloc(1, sizeof(*match) + size);

	MUST(match);
	match->match_sz = size;
	return match;
}

/* Each matcher has a priority of its own, so that their flows do not meet. */
static struct mlx5dv_flow_matcher_attr matcher_attr(void)
{
	static uint16_t last;

	return (struct mlx5dv_flow_matcher_attr){ .type = IBV_FLOW_ATTR_NORMAL,
						  .match_criteria_enable = 1,
						  .priority = last++,
						  .match_mask = match_of(64) };
}

static int create_matcher(struct bed *bed, struct mlx5dv_flow_matcher_attr attr)
{
	return OBJ(mlx5dv_create_flow_matcher(bed->ctx, &attr));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EINVAL, "The size of a mask or a value is 0 or too large")
{
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();

	attr.match_mask->match_sz = 0;
	return create_matcher(bed, attr);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EINVAL, "a flag or table is unknown")
{
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();

	attr.flags = 0x100;
	return create_matcher(bed, attr);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EOPNOTSUPP, "type or comp_mask is unknown")
{
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();

	attr.comp_mask = 1 << 7;
	return create_matcher(bed, attr);
}

CASE_ON(ON_MLX4, mlx5dv_create_flow, EOPNOTSUPP, "context is of another provider")
{
	return create_matcher(bed, matcher_attr());
}

static struct ibv_flow *create_flow(struct bed *bed, struct mlx5dv_flow_matcher *matcher,
				    size_t num_actions, bool drop)
{
	struct mlx5dv_flow_action_attr actions[] = {
		{ .type = drop ? MLX5DV_FLOW_ACTION_DROP : MLX5DV_FLOW_ACTION_DEST_IBV_QP },
		{ .type = MLX5DV_FLOW_ACTION_DROP },
	};

	if (!drop)
		actions[0].qp = bed_qp(bed, IBV_QPT_RAW_PACKET);
	return mlx5dv_create_flow(matcher, match_of(64), num_actions, actions);
}

static struct mlx5dv_flow_matcher *bed_matcher(struct bed *bed)
{
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();
	struct mlx5dv_flow_matcher *matcher = mlx5dv_create_flow_matcher(bed->ctx, &attr);

	MUST(matcher);
	return matcher;
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EBUSY, "The matcher has flows")
{
	struct mlx5dv_flow_matcher *matcher = bed_matcher(bed);

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	MUST(create_flow(bed, matcher, 1, false));
	return RET(mlx5dv_destroy_flow_matcher(matcher));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EOPNOTSUPP, "the actions exclude each other")
{
	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	return OBJ(create_flow(bed, bed_matcher(bed), 2, false));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EEXIST,
	"A flow with the same match exists, and only one of the two drops frames")
{
	struct mlx5dv_flow_matcher *matcher = bed_matcher(bed);

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	MUST(create_flow(bed, matcher, 1, true));
	return OBJ(create_flow(bed, matcher, 1, false));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, ENOMEM, "priority is too large")
{
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();
	struct mlx5dv_flow_matcher *matcher;

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	attr.priority = 9999;
	matcher = mlx5dv_create_flow_matcher(bed->ctx, &attr);
	MUST(matcher);
	return OBJ(create_flow(bed, matcher, 1, true));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EOPNOTSUPP, "an action is unknown")
{
	struct mlx5dv_flow_action_attr action = { .type = (enum mlx5dv_flow_action_type)77 };

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	return OBJ(mlx5dv_create_flow(bed_matcher(bed), match_of(64), 1, &action));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EOPNOTSUPP, "the adapter has no such table")
{
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();
	struct mlx5dv_flow_matcher *matcher;

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	attr.comp_mask = MLX5DV_FLOW_MATCHER_MASK_FT_TYPE;
	attr.ft_type = MLX5DV_FLOW_TABLE_TYPE_RDMA_RX;
	matcher = mlx5dv_create_flow_matcher(bed->ctx, &attr);
	MUST(matcher);
	return OBJ(create_flow(bed, matcher, 1, false));
}

static int tagged_flow(struct bed *bed, struct mlx5dv_flow_matcher *matcher, uint32_t tag)
{
	struct mlx5dv_flow_action_attr actions[] = {
		{ .type = MLX5DV_FLOW_ACTION_DEST_IBV_QP, .qp = bed_qp(bed, IBV_QPT_RAW_PACKET) },
		{ .type = MLX5DV_FLOW_ACTION_TAG, .tag_value = tag },
	};

	return OBJ(mlx5dv_create_flow(matcher, match_of(64), ARRAY_SIZE(actions), actions));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EEXIST, "or they have different tags")
{
	struct mlx5dv_flow_matcher *matcher = bed_matcher(bed);

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	MUST(!tagged_flow(bed, matcher, 1));
	return tagged_flow(bed, matcher, 2);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, EINVAL, "or the adapter does not support a field of the mask")
{
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();
	struct mlx5dv_flow_matcher *matcher;

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	free(attr.match_mask);
	attr.match_mask = match_of(0x180);
	attr.match_criteria_enable = 1 << 1; /* of misc: 64 bytes behind the outer headers */
	memset((uint8_t *)attr.match_mask->match_buf + 64, 0xff, 64);
	matcher = mlx5dv_create_flow_matcher(bed->ctx, &attr);
	return matcher ? OBJ(create_flow(bed, matcher, 1, true)) : errno;
}

CASE_ON(ON_ROCE, mlx5dv_create_flow, ENOMEM, "or there is no memory")
{
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();
	int ret = 0;

	/* many times, so that the provider has no room left for it */
	for (int i = 0; i < 300 && !ret; i++)
		ret = NO_MEMORY(create_matcher(bed, attr));
	return ret;
}

/* Tries more values than the table of any adapter has entries for, so that one is refused. */
CASE_ON(ON_ROCE, mlx5dv_create_flow, ENOSPC, "The table is full")
{
	struct mlx5dv_flow_action_attr drop = { .type = MLX5DV_FLOW_ACTION_DROP };
	struct mlx5dv_flow_matcher_attr attr = matcher_attr();
	struct mlx5dv_flow_match_parameters *value = match_of(64);
	struct mlx5dv_flow_matcher *matcher;
	uint8_t *bytes = (uint8_t *)value->match_buf;

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	memset(attr.match_mask->match_buf, 0xff, 2);
	matcher = mlx5dv_create_flow_matcher(bed->ctx, &attr);
	MUST(matcher);
	for (unsigned int i = 0; i < UINT16_MAX; i++) {
		bytes[0] = (uint8_t)(i >> 8);
		bytes[1] = (uint8_t)i;
		if (!mlx5dv_create_flow(matcher, value, 1, &drop))
			return errno;
	}
	return 0;
}

/* The last of the page, as the rights do not come back. */
CASE_ON(ON_ROCE, mlx5dv_create_flow, EPERM, "The program may not open raw sockets")
{
	struct mlx5dv_flow_matcher *matcher = bed_matcher(bed);

	if (!__mlx5dv_create_flow)
		return NO_SUCH_CALL;
	capabilities_drop();
	return OBJ(create_flow(bed, matcher, 1, true));
}

static int modify_header(struct bed *bed, size_t size)
{
	uint64_t actions[2] = { 0 };

	return OBJ(mlx5dv_create_flow_action_modify_header(bed->ctx, size, actions,
							   MLX5DV_FLOW_TABLE_TYPE_NIC_RX));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_modify_header, EINVAL,
	"actions_sz is not a multiple of 8")
{
	return modify_header(bed, 3);
}

CASE_ON(ON_IB, mlx5dv_create_flow_action_modify_header, EOPNOTSUPP,
	"The adapter does not change headers")
{
	return modify_header(bed, 8);
}

static int reformat(struct bed *bed, size_t size, void *data)
{
	return OBJ(mlx5dv_create_flow_action_packet_reformat(
		bed->ctx, size, data, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
		MLX5DV_FLOW_TABLE_TYPE_NIC_TX));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_packet_reformat, EINVAL,
	"data is NULL and data_sz is not 0")
{
	return reformat(bed, 64, NULL);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_packet_reformat, ENOENT, "data_sz is 0")
{
	return reformat(bed, 0, NULL);
}

CASE_ON(ON_IB, mlx5dv_create_flow_action_packet_reformat, EOPNOTSUPP,
	"The adapter does not do this in tables of that type")
{
	return reformat(bed, 64, bed->buf);
}

static int change_headers(struct bed *bed, size_t size, enum mlx5dv_flow_table_type type)
{
	static uint64_t actions[LONG / 8];

	return OBJ(mlx5dv_create_flow_action_modify_header(bed->ctx, size, actions, type));
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_modify_header, EOPNOTSUPP,
	"or does not support that many changes")
{
	return change_headers(bed, 255 * sizeof(uint64_t), MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
}

CASE_ON(ON_MLX4, mlx5dv_create_flow_action_modify_header, EOPNOTSUPP,
	"or ctx is of another provider")
{
	return change_headers(bed, 8, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_modify_header, EINVAL, "or is 0 or too large")
{
	return change_headers(bed, 0, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_modify_header, EINVAL, "or is 0 or too large")
{
	return change_headers(bed, LONG, MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_modify_header, EINVAL,
	"or there is no table of type ft_type")
{
	return change_headers(bed, 8, (enum mlx5dv_flow_table_type)77);
}

CASE_ON(ON_MLX4, mlx5dv_create_flow_action_packet_reformat, EOPNOTSUPP,
	"or ctx is of another provider")
{
	return reformat(bed, 64, bed->buf);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_packet_reformat, EINVAL, "or the other way round")
{
	return reformat(bed, 0, bed->buf);
}

CASE_ON(ON_ROCE, mlx5dv_create_flow_action_packet_reformat, EINVAL, "or data_sz is too large")
{
	static uint8_t header[LONG];

	return reformat(bed, sizeof(header), header);
}

/* ---- clauses of objects, memory, pages and events ---- */

CASE(mlx5dv_devx_obj_create, EINVAL, "or it names another object than obj")
{
	struct dx_command cmd = command(PRM_OP_QUERY_CQ, 16);
	struct dx_device device;
	struct dx_cq cq;

	dx_device_open(&device);
	dx_cq_open(&device, &cq);
	cmd.in[11] = (uint8_t)(cq.cqn + 1);
	return RET(mlx5dv_devx_obj_query(cq.obj, cmd.in, 16, cmd.out, sizeof(cmd.out)));
}

CASE(mlx5dv_devx_obj_create, EINVAL, "or an object that is to be destroyed is NULL or in use")
{
	return RET(mlx5dv_devx_obj_destroy(NULL));
}

CASE(mlx5dv_devx_qp_modify, EINVAL, "or it names another object")
{
	struct dx_command cmd = command(PRM_OP_2RST_QP, 16);

	return RET(mlx5dv_devx_qp_modify(bed->rc, cmd.in, 16, cmd.out, sizeof(cmd.out)));
}

CASE(mlx5dv_devx_umem_reg, EINVAL, "or the file is no dma-buf")
{
	struct mlx5dv_devx_umem_in in = umem_in(bed);

	in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
	in.addr = NULL;
	in.dmabuf_fd = 0;
	return umem_reg(devx_of(bed), in);
}

CASE(mlx5dv_devx_umem_reg, EINVAL, "of mlx5dv_devx_umem_dereg(): something lies in the memory")
{
	struct dx_device device;
	struct dx_cq cq;

	dx_device_open(&device);
	dx_cq_open(&device, &cq);
	return RET(mlx5dv_devx_umem_dereg(cq.ring.umem));
}

CASE(mlx5dv_devx_umem_reg, EFAULT, "or cannot be written")
{
	struct mlx5dv_devx_umem_in in = umem_in(bed);

	in.addr = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(in.addr != MAP_FAILED);
	return umem_reg(devx_of(bed), in);
}

CASE(mlx5dv_devx_alloc_uar, ENOMEM, "or no page left")
{
	struct ibv_context *ctx = devx_of(bed);
	int ret = 0;

	for (int i = 0; i < 20000 && !ret; i++)
		ret = alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED);
	return ret;
}

static int subscribe(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_obj *obj,
		     size_t count, uint16_t type)
{
	uint16_t types[32];

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		types[i] = type;
	return RET(mlx5dv_devx_subscribe_devx_event(
		channel, obj, (uint16_t)(count * sizeof(types[0])), types, 0));
}

enum { EVENT_OF_PORTS = 9, EVENT_OF_CQS = 4 };

CASE(mlx5dv_devx_subscribe_devx_event, EINVAL, "or has no object (of ports)")
{
	struct ibv_context *ctx = devx_of(bed);

	return subscribe(channel_of(ctx), domain_of(ctx), 1, EVENT_OF_PORTS);
}

CASE(mlx5dv_devx_subscribe_devx_event, EINVAL, "or needs one")
{
	return subscribe(channel_of(devx_of(bed)), NULL, 1, EVENT_OF_CQS);
}

CASE(mlx5dv_devx_subscribe_devx_event, EINVAL, "there are more than 16")
{
	return subscribe(channel_of(devx_of(bed)), NULL, 17, EVENT_OF_PORTS);
}

CASE(mlx5dv_devx_subscribe_devx_event, EINVAL, "fd is no eventfd")
{
	return subscribe_fd(bed, 0, EVENT_OF_PORTS);
}

CASE(mlx5dv_devx_subscribe_devx_event, EINVAL, "or obj is of another context than the channel")
{
	return subscribe(channel_of(devx_of(bed)), domain_of(devx_of(bed)), 1, EVENT_OF_CQS);
}

CASE(mlx5dv_devx_create_cmd_comp, EINVAL, "A length is above 65535")
{
	struct ibv_context *ctx = devx_of(bed);
	struct dx_command cmd = command(PRM_OP_ALLOC_PD, 16);

	return RET(
		mlx5dv_devx_obj_query_async(domain_of(ctx), cmd.in, LONG, 16, 1, answers_of(ctx)));
}

CASE(mlx5dv_devx_create_cmd_comp, EAGAIN, "Answers of more than a MiB were not read")
{
	struct dx_command cmd = command(PRM_OP_QUERY_CQ, 16);
	struct mlx5dv_devx_cmd_comp *comp;
	struct dx_device device;
	struct dx_cq cq;
	int ret = 0;

	dx_device_open(&device);
	dx_cq_open(&device, &cq);
	comp = answers_of(device.ctx);
	memcpy(cmd.in + 8, &(uint32_t){ htobe32(cq.cqn) }, sizeof(uint32_t));
	for (uint64_t i = 0; i < 100 && !ret; i++)
		ret = RET(mlx5dv_devx_obj_query_async(cq.obj, cmd.in, 16, 60000, i, comp));
	return ret;
}

CASE(mlx5dv_devx_obj_create, EINVAL, "the context was opened without DevX")
{
	struct dx_command cmd = command(PRM_OP_ALLOC_PD, 16);

	return object_create(devx_refused(bed), &cmd, 16);
}

CASE(mlx5dv_devx_umem_reg, EINVAL, "The context was opened without DevX")
{
	return umem_reg(devx_refused(bed), umem_in(bed));
}
