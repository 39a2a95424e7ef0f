/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * devx.c - DevX commands and objects, umems and doorbell pages on a context of VFIO.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/uar.h"
#include "prm/mlx5/umem.h"
#include "providers/mlx5/vfio/vfio.h"
#include "util/alloc.h"

static int check_lengths(const char *call, size_t inlen, size_t outlen)
{
	if (inlen >= PRM_CMD_IN_SIZE && inlen <= UINT16_MAX && outlen >= PRM_CMD_OUT_SIZE &&
	    outlen <= UINT16_MAX)
		return 0;
	verbs_warn("%s: inlen is %zu, outlen %zu, must be %d to %u", call, inlen, outlen,
		   PRM_CMD_IN_SIZE, UINT16_MAX);
	return EINVAL;
}

/* Runs a command. Returns EREMOTEIO when the device refuses it, as the kernel's DevX does: programs
 * then read the status in OUT. */
static int command_run(const char *call, struct ibv_context *context, const void *in, size_t inlen,
		       void *out, size_t outlen)
{
	int ret = check_lengths(call, inlen, outlen);
	bool is_answered = false;

	if (ret)
		return ret;
	ret = mlx5_vfio_cmdq_run(&to_vfio(context)->cmdq, VFIO_LANE_COMMANDS, in, (uint32_t)inlen,
				 out, (uint32_t)outlen, &is_answered);
	if (!ret)
		return 0;
	if (is_answered)
		verbs_warn("%s: command %#x: the device refuses, status %#x, syndrome %#x", call,
			   (unsigned int)fld_get(in, CMD_IN_OPCODE),
			   (unsigned int)fld_get(out, CMD_OUT_STATUS),
			   (unsigned int)fld_get(out, CMD_OUT_SYNDROME));
	return is_answered ? EREMOTEIO : ret;
}

int mlx5_vfio_command(const char *call, struct ibv_context *context, const void *in, size_t inlen,
		      void *out, size_t outlen)
{
	return verbs_result(command_run(call, context, in, inlen, out, outlen));
}

/* Sets *EQN to the number of the library's only event queue, which is on vector 0. The program
 * creates the event queues of other vectors, so it knows their numbers. */
int mlx5_vfio_query_eqn(struct ibv_context *context, uint32_t vector, uint32_t *eqn)
{
	if (vector) {
		verbs_warn("mlx5dv_devx_query_eqn: vector is %u, must be 0 with VFIO", vector);
		return verbs_result(EINVAL);
	}
	*eqn = to_vfio(context)->events.eqn;
	return 0;
}

struct vfio_obj {
	struct mlx5dv_devx_obj obj; /* first, because programs get its address */
	uint8_t destroy[PRM_CMD_IN_SIZE];
};

/* Commands that create an object, and those that destroy it. The object's number is at offset 0x8
 * in the answer of the first and in the input of the second. */
static const struct {
	uint16_t create, destroy;
} pairs[] = {
	{ PRM_OP_CREATE_MKEY, PRM_OP_DESTROY_MKEY },
	{ PRM_OP_CREATE_CQ, PRM_OP_DESTROY_CQ },
	{ PRM_OP_CREATE_QP, PRM_OP_DESTROY_QP },
	{ PRM_OP_CREATE_XRC_SRQ, PRM_OP_DESTROY_XRC_SRQ },
	{ PRM_OP_CREATE_DCT, PRM_OP_DESTROY_DCT },
	{ PRM_OP_CREATE_XRQ, PRM_OP_DESTROY_XRQ },
	{ PRM_OP_ALLOC_Q_COUNTER, PRM_OP_DEALLOC_Q_COUNTER },
	{ PRM_OP_ALLOC_PD, PRM_OP_DEALLOC_PD },
	{ PRM_OP_ALLOC_UAR, PRM_OP_DEALLOC_UAR },
	{ PRM_OP_ALLOC_XRCD, PRM_OP_DEALLOC_XRCD },
	{ PRM_OP_ALLOC_TRANSPORT_DOMAIN, PRM_OP_DEALLOC_TRANSPORT_DOMAIN },
	{ PRM_OP_CREATE_TIR, PRM_OP_DESTROY_TIR },
	{ PRM_OP_CREATE_SQ, PRM_OP_DESTROY_SQ },
	{ PRM_OP_CREATE_RQ, PRM_OP_DESTROY_RQ },
	{ PRM_OP_CREATE_RMP, PRM_OP_DESTROY_RMP },
	{ PRM_OP_CREATE_TIS, PRM_OP_DESTROY_TIS },
	{ PRM_OP_CREATE_RQT, PRM_OP_DESTROY_RQT },
	{ PRM_OP_ALLOC_FLOW_COUNTER, PRM_OP_DEALLOC_FLOW_COUNTER },
	{ PRM_OP_ALLOC_PACKET_REFORMAT_CONTEXT, PRM_OP_DEALLOC_PACKET_REFORMAT_CONTEXT },
	{ PRM_OP_ALLOC_MODIFY_HEADER_CONTEXT, PRM_OP_DEALLOC_MODIFY_HEADER_CONTEXT },
	{ PRM_OP_CREATE_GENERAL_OBJECT, PRM_OP_DESTROY_GENERAL_OBJECT },
};

#define OUT_NUMBER FLD(0x8, 31, 0)
#define IN_NUMBER  FLD(0x8, 31, 0)

static uint16_t destroyer_of(unsigned int opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i].create == opcode)
			return pairs[i].destroy;
	return 0;
}

static void obj_fill(struct vfio_obj *obj, struct ibv_context *context, const void *in,
		     const void *out)
{
	const unsigned int opcode = (unsigned int)fld_get(in, CMD_IN_OPCODE);

	obj->obj.context = context;
	obj->obj.id = (uint32_t)fld_get(out, OUT_NUMBER);
	fld_set(obj->destroy, CMD_IN_OPCODE, destroyer_of(opcode));
	fld_set(obj->destroy, CMD_IN_UID, fld_get(in, CMD_IN_UID));
	fld_set(obj->destroy, IN_NUMBER, obj->obj.id);
	if (opcode == PRM_OP_CREATE_GENERAL_OBJECT)
		fld_set(obj->destroy, GENERAL_OBJ_IN_OBJ_TYPE,
			fld_get(in, GENERAL_OBJ_IN_OBJ_TYPE));
}

struct mlx5dv_devx_obj *mlx5_vfio_obj_create(struct ibv_context *context, const void *in,
					     size_t inlen, void *out, size_t outlen)
{
	int ret = check_lengths("mlx5dv_devx_obj_create", inlen, outlen);
	struct vfio_obj *obj;

	if (!ret && !destroyer_of((unsigned int)fld_get(in, CMD_IN_OPCODE))) {
		verbs_warn("mlx5dv_devx_obj_create: command %#x creates no object that VFIO knows",
			   (unsigned int)fld_get(in, CMD_IN_OPCODE));
		ret = EOPNOTSUPP;
	}
	if (ret)
		return dv_fail(ret);
	obj = calloc_for("mlx5dv_devx_obj_create", 1, sizeof(*obj));
	if (!obj)
		return dv_fail(ENOMEM);
	ret = command_run("mlx5dv_devx_obj_create", context, in, inlen, out, outlen);
	if (ret) {
		free(obj);
		return dv_fail(ret);
	}
	obj_fill(obj, context, in, out);
	return &obj->obj;
}

int mlx5_vfio_obj_destroy(struct mlx5dv_devx_obj *obj)
{
	uint8_t out[PRM_CMD_OUT_SIZE];
	int ret = command_run("mlx5dv_devx_obj_destroy", obj->context,
			      ((struct vfio_obj *)obj)->destroy, PRM_CMD_IN_SIZE, out, sizeof(out));

	ret = vfio_destroy_result(&to_vfio(obj->context)->cmdq, ret);
	if (!ret)
		free(obj);
	return verbs_result(ret);
}

struct vfio_umem {
	struct devx_umem umem; /* first, because callers have its address */
	struct vfio_dma dma;
};

/* Creates the umem in the device. The memory begins at OFFSET in its first page. */
static int umem_create(struct vfio_umem *umem, uint64_t offset)
{
	const struct vfio_dma *dma = &umem->dma;
	const uint32_t inlen = PRM_CREATE_UMEM_IN_SIZE + dma->shape.count * 8;
	uint8_t *in = calloc_for("mlx5dv_devx_umem_reg", 1, inlen), out[PRM_CMD_OUT_SIZE], *layout;
	int ret;

	if (!in)
		return ENOMEM;
	layout = fld_at(in, CREATE_UMEM_IN_UMEM);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_UMEM);
	fld_set(layout, UMEM_LOG_PAGE_SIZE, dma->shape.log_page - VFIO_LOG_PAGE);
	fld_set(layout, UMEM_PAGE_OFFSET, offset);
	fld_set(layout, UMEM_NUM_OF_MTT, dma->shape.count);
	mlx5_vfio_dma_put_pages(dma, fld_at(layout, UMEM_MTT));
	ret = command_run("mlx5dv_devx_umem_reg", umem->umem.context, in, inlen, out, sizeof(out));
	free(in);
	if (!ret)
		umem->umem.umem.umem_id = (uint32_t)fld_get(out, CREATE_UMEM_OUT_UMEM_ID);
	return ret;
}

static int umem_check(const char *call, const struct mlx5dv_devx_umem_in *req)
{
	const uint32_t known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING;

	if (req->comp_mask || req->access & ~known) {
		verbs_warn("%s: comp_mask is %#llx, must be 0 with VFIO; access is %#x, known are "
			   "%#x",
			   call, (unsigned long long)req->comp_mask, req->access, known);
		return EOPNOTSUPP;
	}
	if (!(req->access & IBV_ACCESS_REMOTE_WRITE) || req->access & IBV_ACCESS_LOCAL_WRITE)
		return 0;
	verbs_warn("%s: access is %#x: IBV_ACCESS_REMOTE_WRITE needs IBV_ACCESS_LOCAL_WRITE", call,
		   req->access);
	return EINVAL;
}

/* Checks that the program accepts (pgsz_bitmap) the page size of the mapping, the only size that
 * VFIO offers for this memory. */
static int check_page(const char *call, const struct vfio_dma *dma, uint64_t allowed)
{
	if (allowed >> dma->shape.log_page & 1)
		return 0;
	verbs_warn("%s: pgsz_bitmap is %#llx, VFIO needs pages of 2^%u bytes", call,
		   (unsigned long long)allowed, dma->shape.log_page);
	return allowed ? EOPNOTSUPP : EINVAL;
}

struct mlx5dv_devx_umem *mlx5_vfio_umem_reg(const char *call, struct ibv_context *context,
					    const struct mlx5dv_devx_umem_in *req)
{
	const bool writable = req->access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	struct vfio_space *space = &to_vfio(context)->space;
	struct vfio_umem *umem;
	uint64_t offset;
	int ret = umem_check(call, req);

	if (ret)
		return dv_fail(ret);
	umem = calloc_for(call, 1, sizeof(*umem));
	if (!umem)
		return dv_fail(ENOMEM);
	umem->umem.context = context;
	umem->umem.addr = req->addr;
	umem->umem.size = req->size;
	if (ibv_dontfork_range(req->addr, req->size)) {
		ret = errno;
		goto free_umem;
	}
	offset = vfio_in_unit(space, (uintptr_t)req->addr);
	ret = mlx5_vfio_dma_map(space, req->addr, offset, req->size, writable, &umem->dma);
	if (ret)
		goto dofork;
	ret = check_page(call, &umem->dma, req->pgsz_bitmap);
	if (!ret)
		ret = umem_create(umem, offset);
	if (ret)
		goto unmap;
	return &umem->umem.umem;
unmap:
	mlx5_vfio_dma_free(space, &umem->dma);
dofork:
	ibv_dofork_range(req->addr, req->size);
free_umem:
	free(umem);
	return dv_fail(ret);
}

int mlx5_vfio_umem_dereg(struct devx_umem *umem)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_UMEM);
	fld_set(in, DESTROY_UMEM_IN_UMEM_ID, umem->umem.umem_id);
	ret = command_run("mlx5dv_devx_umem_dereg", umem->context, in, sizeof(in), out,
			  sizeof(out));
	ret = vfio_destroy_result(&to_vfio(umem->context)->cmdq, ret);
	if (ret)
		return verbs_result(ret);
	mlx5_vfio_dma_free(&to_vfio(umem->context)->space, &((struct vfio_umem *)umem)->dma);
	ibv_dofork_range(umem->addr, umem->size);
	free(umem);
	return 0;
}

/* Begins with the same fields as struct dv_uar, because dv/uar.c reads the field context of
 * both. */
struct vfio_uar {
	struct mlx5dv_devx_uar uar;
	struct ibv_context *context;
};

struct mlx5dv_devx_uar *mlx5_vfio_uar_alloc(struct ibv_context *context, uint32_t flags)
{
	struct vfio_context *ctx = to_vfio(context);
	struct vfio_uar *uar;
	int ret;

	if (flags != MLX5DV_UAR_ALLOC_TYPE_NC) {
		verbs_warn("mlx5dv_devx_alloc_uar: flags is %#x, must be "
			   "MLX5DV_UAR_ALLOC_TYPE_NC with VFIO",
			   flags);
		return dv_fail(EOPNOTSUPP);
	}
	uar = calloc_for("mlx5dv_devx_alloc_uar", 1, sizeof(*uar));
	ret = uar ? mlx5_vfio_uar_number_alloc(&ctx->cmdq, ctx->files.bar_size, &uar->uar.page_id)
		  : ENOMEM;
	if (ret) {
		free(uar);
		return dv_fail(ret);
	}
	uar->context = context;
	uar->uar.base_addr = ctx->files.bar + (size_t)uar->uar.page_id * PRM_UAR_SIZE;
	uar->uar.reg_addr = (uint8_t *)uar->uar.base_addr + PRM_UAR_SQ;
	return &uar->uar;
}

void mlx5_vfio_uar_free(struct mlx5dv_devx_uar *devx_uar)
{
	struct vfio_uar *uar = (struct vfio_uar *)devx_uar;

	if (mlx5_vfio_uar_number_dealloc(&to_vfio(uar->context)->cmdq, uar->uar.page_id))
		verbs_warn("mlx5dv_devx_free_uar: page %u stays", uar->uar.page_id);
	free(uar);
}
