/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - DevX commands that concern no object, and the numbers of the kernel's event queues.
 * devx_obj.c has the commands on objects.
 */
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "prm/mlx5/cmd.h"
#include "providers/mlx5/dv/devx.h"
#include "providers/mlx5/vfio/vfio.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

int mlx5_devx_refuse(const char *call, struct ibv_context *context, size_t inlen, size_t outlen)
{
	int ret;

	if (context_is_vfio(context))
		return EOPNOTSUPP; /* unless the caller has another way for it, as on VFIO */
	ret = dv_check_context(call, context);
	if (ret)
		return ret;
	verbs_warn("%s: inlen is %zu, outlen %zu, limit %u", call, inlen, outlen, UINT16_MAX);
	return EINVAL;
}

const char *mlx5_devx_hint(struct ibv_context *context)
{
	return to_mctx(context)->has_devx ? "" : "; the context is without DevX";
}

/* Returns the opcode of the command at IN for the log, or 0 if the memory is not readable. A plain
 * read could crash there; the kernel returns EFAULT, or another error before it reads the
 * memory. */
static unsigned int command_opcode(const void *in, size_t inlen)
{
	uint8_t head[PRM_CMD_IN_SIZE] = { 0 };
	const struct iovec from = { (void *)(uintptr_t)in, sizeof(head) };
	const struct iovec to = { head, sizeof(head) };

	if (inlen < sizeof(head) ||
	    process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)sizeof(head))
		return 0;
	return (unsigned int)fld_get(head, CMD_IN_OPCODE);
}

/* EREMOTEIO: the kernel has read IN and written OUT, so both are readable. */
void mlx5_devx_log_refusal(const char *call, struct ibv_context *context, const void *in,
			   size_t inlen, const void *out, size_t outlen, int err)
{
	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	if (err == EREMOTEIO && outlen >= PRM_CMD_OUT_SIZE)
		verbs_warn("%s: command %#x: the device refuses, status %#x, syndrome %#x", call,
			   inlen >= PRM_CMD_IN_SIZE ? (unsigned int)fld_get(in, CMD_IN_OPCODE) : 0,
			   (unsigned int)fld_get(out, CMD_OUT_STATUS),
			   (unsigned int)fld_get(out, CMD_OUT_SYNDROME));
	else
		verbs_warn("%s: command %#x: the kernel refuses: %s%s", call,
			   command_opcode(in, inlen), strerror(err), mlx5_devx_hint(context));
}

DV_EXPORT int mlx5dv_devx_general_cmd(struct ibv_context *context, const void *in, size_t inlen,
				      void *out, size_t outlen)
{
	int ret = mlx5_devx_check("mlx5dv_devx_general_cmd", context, inlen, outlen);
	struct verbs_short cmd;

	if (ret)
		return context_is_vfio(context) ? mlx5_vfio_command("mlx5dv_devx_general_cmd",
								    context, in, inlen, out, outlen)
						: verbs_result(ret);
	cmd.attrs[0] = verbs_short_in(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, inlen);
	cmd.attrs[1] = verbs_short_out(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, outlen);
	ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, &cmd, 2);
	if (ret)
		mlx5_devx_log_refusal("mlx5dv_devx_general_cmd", context, in, inlen, out, outlen,
				      ret);
	return verbs_result(ret);
}

DV_EXPORT int mlx5dv_devx_query_eqn(struct ibv_context *context, uint32_t vector, uint32_t *eqn)
{
	struct verbs_short cmd;
	int ret;

	if (context_is_vfio(context))
		return mlx5_vfio_query_eqn(context, vector, eqn);
	ret = dv_check_context("mlx5dv_devx_query_eqn", context);
	cmd.attrs[0] = verbs_short_u32(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, vector);
	cmd.attrs[1] = verbs_short_out(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, eqn, sizeof(*eqn));
	if (!ret)
		ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_DEVX,
					  MLX5_IB_METHOD_DEVX_QUERY_EQN, &cmd, 2);
	if (ret)
		verbs_warn("mlx5dv_devx_query_eqn: vector is %u, %s has %d: %s", vector,
			   context->device->name, context->num_comp_vectors, strerror(ret));
	return verbs_result(ret);
}
