/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - PDs and MRs of ibv_*; all other objects are refused.
 */
#include <errno.h>
#include <stdlib.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/pd.h"
#include "providers/common/pd.h"
#include "providers/mlx5/vfio/vfio.h"
#include "util/alloc.h"

struct vfio_mr {
	struct verbs_mr vmr;
	struct vfio_dma dma;
};

static int run_command(struct ibv_context *context, const void *in, uint32_t inlen, void *out)
{
	return mlx5_vfio_cmdq_run(&to_vfio(context)->cmdq, VFIO_LANE_COMMANDS, in, inlen, out,
				  PRM_CMD_OUT_SIZE, NULL);
}

static int run_destroy(struct ibv_context *context, const void *in, uint32_t inlen, void *out)
{
	return vfio_destroy_result(&to_vfio(context)->cmdq, run_command(context, in, inlen, out));
}

static int pd_alloc(struct ibv_context *context, struct ibv_pd **out_pd)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	struct provider_pd *pd = calloc_for("ibv_alloc_pd", 1, sizeof(*pd));
	int ret;

	if (!pd)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_PD);
	ret = run_command(context, in, sizeof(in), out);
	if (ret) {
		free(pd);
		return ret;
	}
	pd->pdn = (uint32_t)fld_get(out, ALLOC_PD_OUT_PD);
	pd->pd.context = context;
	pd->pd.handle = pd->pdn;
	*out_pd = &pd->pd;
	return 0;
}

static int pd_dealloc(struct ibv_pd *pd)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DEALLOC_PD);
	fld_set(in, DEALLOC_PD_IN_PD, to_ppd(pd)->pdn);
	ret = run_destroy(pd->context, in, sizeof(in), out);
	if (ret)
		verbs_warn("ibv_dealloc_pd: PD %u stays, is it in use? %s", to_ppd(pd)->pdn,
			   strerror(ret));
	else
		free(to_ppd(pd));
	return ret;
}

enum {
	KNOWN_ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		       IBV_ACCESS_REMOTE_ATOMIC,
	KEY_VARIANT = 0x42, /* the low byte of a key, which software chooses */
	MTTS_PER_OCTWORD = 2,
};

static void mkc_fill(void *mkc, const struct provider_pd *pd, const struct vfio_shape *shape,
		     uint64_t iova, uint64_t length, unsigned int access)
{
	fld_set(mkc, MKC_A, !!(access & IBV_ACCESS_REMOTE_ATOMIC));
	fld_set(mkc, MKC_RW, !!(access & IBV_ACCESS_REMOTE_WRITE));
	fld_set(mkc, MKC_RR, !!(access & IBV_ACCESS_REMOTE_READ));
	fld_set(mkc, MKC_LW, !!(access & IBV_ACCESS_LOCAL_WRITE));
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MTT);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_MKEY_7_0, KEY_VARIANT);
	fld_set(mkc, MKC_PD, pd->pdn);
	fld_set(mkc, MKC_START_ADDR, iova);
	fld_set(mkc, MKC_LEN, length);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE,
		(shape->count + MTTS_PER_OCTWORD - 1) / MTTS_PER_OCTWORD);
	fld_set(mkc, MKC_LOG_PAGE_SIZE, shape->log_page);
}

static int mkey_create(struct ibv_pd *pd, const struct vfio_mr *mr, uint64_t iova, uint64_t length,
		       unsigned int access, uint32_t *key)
{
	const struct vfio_shape *shape = &mr->dma.shape;
	const uint32_t octwords = (shape->count + MTTS_PER_OCTWORD - 1) / MTTS_PER_OCTWORD;
	const uint32_t inlen = PRM_CREATE_MKEY_IN_SIZE + octwords * MTTS_PER_OCTWORD * 8;
	uint8_t *in = calloc_for("ibv_reg_mr", 1, inlen), out[PRM_CMD_OUT_SIZE];
	int ret;

	if (!in)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(in, CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, octwords);
	mkc_fill(fld_at(in, CREATE_MKEY_IN_MKC), to_ppd(pd), shape, iova, length, access);
	mlx5_vfio_dma_put_pages(&mr->dma, fld_at(in, CREATE_MKEY_IN_PAS));
	ret = run_command(pd->context, in, inlen, out);
	free(in);
	if (!ret)
		*key = (uint32_t)fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8 | KEY_VARIANT;
	return ret;
}

static int mr_check(const struct vfio_space *space, const void *addr, uint64_t length,
		    uint64_t iova, unsigned int access)
{
	if (access & ~(unsigned int)(KNOWN_ACCESS | IBV_ACCESS_OPTIONAL_RANGE)) {
		verbs_warn("ibv_reg_mr: access is %#x, known by VFIO are %#x", access,
			   KNOWN_ACCESS);
		return EOPNOTSUPP;
	}
	if (!length || iova + length < iova) {
		verbs_warn("ibv_reg_mr: length is %llu", (unsigned long long)length);
		return EINVAL;
	}
	if (vfio_in_unit(space, iova ^ (uintptr_t)addr)) {
		verbs_warn("ibv_reg_mr: iova is %#llx, must differ from addr by pages of 2^%u",
			   (unsigned long long)iova, space->log_unit);
		return EOPNOTSUPP;
	}
	return 0;
}

static int mr_make(struct ibv_pd *pd, struct vfio_mr *mr, void *addr, size_t length, uint64_t iova,
		   unsigned int access)
{
	const bool writable = access & ~(unsigned int)IBV_ACCESS_REMOTE_READ & KNOWN_ACCESS;
	struct vfio_space *space = &to_vfio(pd->context)->space;
	uint32_t key;
	int ret = mr_check(space, addr, length, iova, access);

	if (!ret)
		ret = mlx5_vfio_dma_map(space, addr, iova, length, writable, &mr->dma);
	if (ret)
		return ret;
	ret = mkey_create(pd, mr, iova, length, access, &key);
	if (ret) {
		mlx5_vfio_dma_free(space, &mr->dma);
		return ret;
	}
	mr->vmr.mr = (struct ibv_mr){ .context = pd->context,
				      .pd = pd,
				      .addr = addr,
				      .length = length,
				      .handle = key >> 8,
				      .lkey = key,
				      .rkey = key };
	mr->vmr.access = access;
	return 0;
}

static int mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		  struct verbs_mr **vmr)
{
	struct vfio_mr *mr = calloc_for("ibv_reg_mr", 1, sizeof(*mr));
	int ret = mr ? mr_make(pd, mr, addr, length, iova, access) : ENOMEM;

	if (ret)
		free(mr);
	else
		*vmr = &mr->vmr;
	return ret;
}

static int mr_dereg(struct verbs_mr *vmr)
{
	struct vfio_mr *mr = container_of(vmr, struct vfio_mr, vmr);
	struct ibv_context *context = vmr->mr.context;
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DESTROY_MKEY);
	fld_set(in, DESTROY_MKEY_IN_MKEY_INDEX, vmr->mr.handle);
	ret = run_destroy(context, in, sizeof(in), out);
	if (ret) {
		verbs_warn("ibv_dereg_mr: key %#x stays: %s", vmr->mr.lkey, strerror(ret));
		return ret;
	}
	mlx5_vfio_dma_free(&to_vfio(context)->space, &mr->dma);
	free(mr);
	return 0;
}

static int port_query(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
		      size_t attr_size)
{
	(void)port_num;
	(void)attr;
	(void)attr_size;
	verbs_warn("ibv_query_port: %s: not supported by VFIO", context->device->name);
	return EOPNOTSUPP;
}

static int mr_advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge)
{
	(void)advice;
	(void)flags;
	(void)sg_list;
	(void)num_sge;
	verbs_warn("ibv_advise_mr: %s: not supported by VFIO", pd->context->device->name);
	return EOPNOTSUPP;
}

const struct verbs_ops mlx5_vfio_ops = {
	.query_port = port_query,
	.alloc_pd = pd_alloc,
	.dealloc_pd = pd_dealloc,
	.reg_mr = mr_reg,
	.dereg_mr = mr_dereg,
	.advise_mr = mr_advise,
};
