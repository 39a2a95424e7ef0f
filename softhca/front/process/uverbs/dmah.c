/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmah.c - DMA handles: hints for PCI transactions to a region, and regions that have one.
 *
 * There is no PCI bus, so a processing hint (PH) is accepted and has no effect. A steering tag (CPU
 * number and type of memory) comes from the platform, and is refused as on machines without
 * support.
 */
#include <errno.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/uverbs/objects.h"

enum { PH_VALUES = 4, TPH_MEM_TYPES = 2 };

static int dmah_destroy(struct object *object, pid_t tid)
{
	(void)object;
	(void)tid;
	return 0;
}

/* Checks the hints: PH is mandatory, and a steering tag needs both its attributes. */
static int check_hints(struct uverbs_call *uc)
{
	bool has_cpu = uc_attr(uc, UVERBS_ATTR_ALLOC_DMAH_CPU_ID);
	bool has_type = uc_attr(uc, UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE);
	uint8_t ph;

	if (uc_in(uc, UVERBS_ATTR_ALLOC_DMAH_PH, &ph, sizeof(ph)))
		return EFAULT;
	if (!uc_attr(uc, UVERBS_ATTR_ALLOC_DMAH_PH) || ph >= PH_VALUES || has_cpu != has_type)
		return EINVAL;
	return has_cpu ? EOPNOTSUPP : 0;
}

static int dmah_alloc(struct uverbs_call *uc)
{
	struct uverbs_dmah *dmah;
	int ret = check_hints(uc);

	if (!ret)
		ret = object_new(sizeof(*dmah), uc->file, UVERBS_OBJECT_DMAH, dmah_destroy, &dmah);
	return ret ? ret : uc_return_object(uc, UVERBS_ATTR_ALLOC_DMAH_HANDLE, &dmah->base);
}

static int dmah_free(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_FREE_DMA_HANDLE), uc->tid);
}

/* Reads a registration of memory at an address, or of a file at an offset. */
static int read_request(struct uverbs_call *uc, struct mr_request *req)
{
	bool has_addr = uc_attr(uc, UVERBS_ATTR_REG_MR_ADDR);
	const struct ib_uverbs_attr *fd = uc_attr(uc, UVERBS_ATTR_REG_MR_FD);
	bool has_fd = fd;

	if (has_addr == has_fd || has_fd != !!uc_attr(uc, UVERBS_ATTR_REG_MR_FD_OFFSET))
		return EINVAL;
	if (uc_in(uc, UVERBS_ATTR_REG_MR_IOVA, &req->iova, sizeof(req->iova)) ||
	    uc_in(uc, UVERBS_ATTR_REG_MR_LENGTH, &req->length, sizeof(req->length)) ||
	    uc_in(uc, UVERBS_ATTR_REG_MR_ACCESS_FLAGS, &req->access, sizeof(req->access)) ||
	    uc_in(uc, has_fd ? UVERBS_ATTR_REG_MR_FD_OFFSET : UVERBS_ATTR_REG_MR_ADDR, &req->start,
		  sizeof(req->start)))
		return EFAULT;
	req->fd = fd ? (int32_t)fd->data_s64 : -1;
	return 0;
}

static int mr_reg_any(struct uverbs_call *uc)
{
	struct uverbs_pd *pd = uc_object(uc, UVERBS_ATTR_REG_MR_PD_HANDLE);
	struct uverbs_dmah *dmah = uc_object(uc, UVERBS_ATTR_REG_MR_DMA_HANDLE);
	struct mr_request req;
	struct uverbs_mr *mr;
	int ret = read_request(uc, &req);

	if (!ret)
		ret = uc_attr(uc, UVERBS_ATTR_REG_MR_FD) ? mr_of_file(uc, pd, &req, &mr)
							 : mr_of_memory(uc, pd, &req, &mr);
	if (ret)
		return ret;
	mr->dmah = dmah;
	if (dmah)
		dmah->base.users++;
	return mr_return(uc, mr, UVERBS_ATTR_REG_MR_HANDLE, UVERBS_ATTR_REG_MR_RESP_LKEY,
			 UVERBS_ATTR_REG_MR_RESP_RKEY);
}

static const struct uverbs_attr alloc_attrs[] = {
	{ UVERBS_ATTR_ALLOC_DMAH_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_DMAH },
	{ UVERBS_ATTR_ALLOC_DMAH_CPU_ID, ATTR_IN, OPTIONAL, 4, 4, 0 },
	{ UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, ATTR_ENUM, OPTIONAL, 0, 0, TPH_MEM_TYPES },
	{ UVERBS_ATTR_ALLOC_DMAH_PH, ATTR_IN, OPTIONAL, 1, 1, 0 },
};

static const struct uverbs_attr free_attrs[] = {
	{ UVERBS_ATTR_FREE_DMA_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_DMAH },
};

static const struct uverbs_attr reg_attrs[] = {
	{ UVERBS_ATTR_REG_MR_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_MR },
	{ UVERBS_ATTR_REG_MR_PD_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_REG_MR_DMA_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_DMAH },
	{ UVERBS_ATTR_REG_MR_IOVA, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_MR_ADDR, ATTR_IN, OPTIONAL, 8, 8, 0 },
	{ UVERBS_ATTR_REG_MR_LENGTH, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_MR_ACCESS_FLAGS, ATTR_IN, MANDATORY, 4, 8, 0 },
	{ UVERBS_ATTR_REG_MR_FD, ATTR_RAW_FD, OPTIONAL, 0, 0, 0 },
	{ UVERBS_ATTR_REG_MR_FD_OFFSET, ATTR_IN, OPTIONAL, 8, 8, 0 },
	{ UVERBS_ATTR_REG_MR_RESP_LKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_REG_MR_RESP_RKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	UHW_ATTRS,
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(adapter_is_mlx5, "DMAH_ALLOC", UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC,
		  dmah_alloc, alloc_attrs),
	METHOD_IF(adapter_is_mlx5, "DMAH_FREE", UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE,
		  dmah_free, free_attrs),
	METHOD("REG_MR", UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR, mr_reg_any, reg_attrs),
};

const struct uverbs_methods dmah_methods = METHODS(method_table);
