/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr_dmabuf.c - memory regions of dma-bufs.
 */
#include <errno.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/uverbs/objects.h"

enum {
	PAGE = 4096,
	ALLOWED_ACCESS = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
			 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |
			 IB_UVERBS_ACCESS_RELAXED_ORDERING,
};

static int map_file(struct uverbs_call *uc, const struct mr_request *req, struct uverbs_mr *mr)
{
	int ret = dmabuf_map(uc->call, req->fd, req->start, req->length,
			     req->access & IB_UVERBS_ACCESS_LOCAL_WRITE, false, &mr->dmabuf);

	mr->kind = MR_DMABUF;
	mr->iova = mr->region.iova = req->iova;
	mr->length = mr->region.length = req->length;
	mr->region.bus = mr->dmabuf.bus;
	mr->region.start = mr->dmabuf.start;
	mr->region.access = req->access;
	return ret;
}

int mr_of_file(struct uverbs_call *uc, struct uverbs_pd *pd, const struct mr_request *req,
	       struct uverbs_mr **mr)
{
	int ret;

	if ((req->start ^ req->iova) % PAGE || req->access & ~(uint64_t)ALLOWED_ACCESS)
		return EINVAL;
	ret = mr_check_access(uc, req->access);
	if (!ret)
		ret = mr_new(uc, mr);
	if (ret)
		return ret;
	ret = map_file(uc, req, *mr);
	if (ret) {
		mr_free(*mr);
		return ret;
	}
	return mr_finish(uc, *mr, pd);
}

static int read_request(struct uverbs_call *uc, struct mr_request *req)
{
	if (uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, &req->start, sizeof(req->start)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, &req->length, sizeof(req->length)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_IOVA, &req->iova, sizeof(req->iova)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_FD, &req->fd, sizeof(req->fd)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, &req->access, sizeof(req->access)))
		return EFAULT;
	return 0;
}

/* Checks the driver's flags. Data direct is refused, as it needs a second PCI function, which the
 * adapter does not have. */
static int check_driver_flags(struct uverbs_call *uc)
{
	uint64_t flags;

	if (uc_in(uc, MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	return flags ? EINVAL : 0;
}

static int mr_reg_dmabuf(struct uverbs_call *uc)
{
	struct uverbs_pd *pd = uc_object(uc, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE);
	struct mr_request req;
	struct uverbs_mr *mr;
	int ret = read_request(uc, &req);

	if (!ret)
		ret = check_driver_flags(uc);
	if (!ret)
		ret = mr_of_file(uc, pd, &req, &mr);
	return ret ? ret
		   : mr_return(uc, mr, UVERBS_ATTR_REG_DMABUF_MR_HANDLE,
			       UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY,
			       UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY);
}

static const struct uverbs_attr reg_attrs[] = {
	{ UVERBS_ATTR_REG_DMABUF_MR_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_MR },
	{ UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_REG_DMABUF_MR_OFFSET, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_LENGTH, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_IOVA, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_FD, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(adapter_is_mlx5, "REG_DMABUF_MR", UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR,
		  mr_reg_dmabuf, reg_attrs),
};

const struct uverbs_methods mr_dmabuf_methods = METHODS(method_table);
