/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umem.c - user memory (UMEM): a program's memory as an object of the device, for queues and keys
 * that it creates by commands.
 *
 * The page size is the largest that the program allows and the memory permits. The device then
 * requires queues to begin at such a page.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/umem.h"
#include "softhca/front/process/uverbs/objects.h"

enum {
	PAGE_SHIFT = 12,
	LOG_PAGE_MAX = PAGE_SHIFT + 31, /* largest page size in a context */
	WRITABLE = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE,
	ALLOWED_ACCESS =
		WRITABLE | IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_RELAXED_ORDERING,
	MTT_READ = 1,
	MTT_WRITE = 2,
};

struct devx_umem {
	struct object base;
	uint32_t id;
	struct dmabuf dmabuf;
};

struct umem_request {
	uint64_t addr, length, page_sizes; /* bit mask of allowed page sizes */
	uint32_t access;
	int32_t fd; /* a dma-buf; below 0: memory at addr */
};

struct memory {
	uint64_t bus, start, length;
	bool writable;
};

static int umem_destroy(struct object *object, pid_t tid)
{
	struct devx_umem *umem = (struct devx_umem *)object;
	int ret = adapter_release(object->file->adapter, PRM_OP_DESTROY_UMEM, umem->id);

	(void)tid;
	if (!ret)
		dmabuf_unmap(&umem->dmabuf);
	return ret;
}

static int read_request(struct uverbs_call *uc, struct umem_request *req)
{
	const struct ib_uverbs_attr *fd = uc_attr(uc, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD);
	uint64_t access;

	if (uc_in(uc, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, &req->addr, sizeof(req->addr)) ||
	    uc_in(uc, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, &req->length, sizeof(req->length)) ||
	    uc_in(uc, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, &access, sizeof(access)) ||
	    uc_in(uc, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, &req->page_sizes,
		  sizeof(req->page_sizes)))
		return EFAULT;
	if (!uc_attr(uc, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP))
		req->page_sizes = UINT64_MAX;
	if (access & ~(uint64_t)ALLOWED_ACCESS)
		return EINVAL;
	req->access = access;
	req->fd = fd ? (int32_t)fd->data_s64 : -1;
	return fd && req->fd < 0 ? EBADF : 0;
}

static int find_memory(struct uverbs_call *uc, const struct umem_request *req,
		       struct devx_umem *umem, struct memory *memory)
{
	int ret = mr_check_access(uc, req->access);

	if (ret)
		return ret;
	*memory = (struct memory){
		.bus = client_bus_addr(uc->client, 0),
		.start = req->addr,
		.length = req->length,
		.writable = req->access & WRITABLE,
	};
	if (req->fd >= 0) {
		ret = dmabuf_map(uc->call, req->fd, req->addr, req->length, memory->writable, true,
				 &umem->dmabuf);
		memory->bus = umem->dmabuf.bus;
		memory->start = umem->dmabuf.start;
		return ret;
	}
	if (!req->length || req->addr + req->length < req->addr)
		return EINVAL;
	return uc_pin(uc, req->addr, req->length, memory->writable);
}

/* Returns whether no page has bytes outside the memory. A page above 4 KiB must not, as the adapter
 * could then write those. */
static bool pages_fit(const struct memory *memory, unsigned int shift)
{
	return shift == PAGE_SHIFT || !((memory->start | memory->length) & ((1ull << shift) - 1));
}

/* Returns log2 of the page size, or 0 if none of PAGE_SIZES fits. */
static unsigned int pick_page_shift(const struct memory *memory, uint64_t page_sizes)
{
	unsigned int shift = LOG_PAGE_MAX;

	while (shift >= PAGE_SHIFT && !(page_sizes >> shift & 1 && pages_fit(memory, shift)))
		shift--;
	return shift < PAGE_SHIFT ? 0 : shift;
}

static int create_umem(struct adapter *adapter, uint16_t uid, const struct memory *memory,
		       unsigned int shift, uint32_t *id)
{
	uint64_t first = memory->start >> shift;
	uint64_t entries = ((memory->start + memory->length - 1) >> shift) - first + 1;
	size_t in_len = PRM_CREATE_UMEM_IN_SIZE + entries * 8;
	uint8_t *in = calloc(1, in_len), *context, out[PRM_CMD_OUT_SIZE];
	unsigned int rights = MTT_READ | (memory->writable ? MTT_WRITE : 0);
	int ret;

	if (!in)
		return ENOMEM;
	context = fld_at(in, CREATE_UMEM_IN_UMEM);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_UMEM);
	fld_set(in, CMD_IN_UID, uid);
	fld_set(context, UMEM_LOG_PAGE_SIZE, shift - PAGE_SHIFT);
	fld_set(context, UMEM_PAGE_OFFSET, memory->start & ((1ull << shift) - 1));
	fld_set(context, UMEM_NUM_OF_MTT, entries);
	for (uint64_t i = 0; i < entries; i++)
		fld_set64(fld_at(context, UMEM_MTT), i * 8,
			  memory->bus | (first + i) << shift | rights);
	ret = adapter_command(adapter, in, in_len, out, sizeof(out));
	if (!ret)
		*id = fld_get(out, CREATE_UMEM_OUT_UMEM_ID);
	free(in);
	return ret;
}

static int umem_make(struct uverbs_call *uc, const struct umem_request *req, struct devx_umem *umem)
{
	struct memory memory;
	unsigned int shift;
	int ret = find_memory(uc, req, umem, &memory);

	if (ret)
		return ret;
	shift = pick_page_shift(&memory, req->page_sizes);
	if (!shift)
		return EINVAL;
	return create_umem(uc->adapter, uc->file->uid, &memory, shift, &umem->id);
}

static int umem_reg(struct uverbs_call *uc)
{
	struct umem_request req;
	struct devx_umem *umem;
	int ret = uc->file->uid ? read_request(uc, &req) : EINVAL;

	if (!ret)
		ret = object_new(sizeof(*umem), uc->file, MLX5_IB_OBJECT_DEVX_UMEM, umem_destroy,
				 &umem);
	if (ret)
		return ret;
	ret = umem_make(uc, &req, umem);
	if (ret)
		dmabuf_unmap(&umem->dmabuf);
	ret = uc_return_made(uc, ret, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, &umem->base);
	if (ret)
		return ret;
	return uc_answered(
		uc, uc_out(uc, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &umem->id, sizeof(umem->id)),
		&umem->base);
}

static int umem_dereg(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE), uc->tid);
}

static const struct uverbs_attr reg_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, ATTR_NEW, MANDATORY, 0, 0, MLX5_IB_OBJECT_DEVX_UMEM },
	{ MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, ATTR_IN, OPTIONAL, 4, 8, 0 },
	{ MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, ATTR_CONST64, OPTIONAL, 8, 8, 0 },
	{ MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, ATTR_RAW_FD, OPTIONAL, 0, 0, 0 },
};

static const struct uverbs_attr dereg_attrs[] = {
	{ MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0,
	  MLX5_IB_OBJECT_DEVX_UMEM },
};

static const struct uverbs_method method_table[] = {
	METHOD("DEVX_UMEM_REG", MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, umem_reg,
	       reg_attrs),
	METHOD("DEVX_UMEM_DEREG", MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG,
	       umem_dereg, dereg_attrs),
};

const struct uverbs_methods devx_umem_methods = METHODS(method_table);
