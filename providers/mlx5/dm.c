/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dm.c - device memory: parts of the adapter's own memory, mapped so that the program can copy to
 * and from them, and registered like host memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dm.h"
#include "util/alloc.h"
#include "util/map.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#define ALLOWED_ACCESS                                                               \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_OPTIONAL_RANGE)
#define COPY_UNIT 4 /* the adapter's memory is accessed in 32-bit words */

struct mlx5_dm {
	struct ibv_dm dm;
	size_t length;
	void *map;
	size_t map_size;
	uint8_t *start; /* address of the memory in the first page of map; NULL: not mapped */
	uint64_t map_offset;
	uint64_t remote_va;
};

static struct mlx5_dm *to_mdm(struct ibv_dm *dm)
{
	return container_of(dm, struct mlx5_dm, dm);
}

/* Describes DM for mlx5dv_init_obj(). Regions of memory for data are zero-based, so their remote
 * address is 0. */
void mlx5_dm_describe(struct ibv_dm *ibdm, struct mlx5dv_dm *out)
{
	struct mlx5_dm *dm = to_mdm(ibdm);
	uint64_t asked = out->comp_mask;

	out->comp_mask = 0;
	out->buf = dm->start;
	out->length = dm->length;
	if (asked & MLX5DV_DM_MASK_REMOTE_VA) {
		out->remote_va = dm->remote_va;
		out->comp_mask |= MLX5DV_DM_MASK_REMOTE_VA;
	}
}

/* Returns whether the memory has LENGTH bytes of whole words at OFFSET. */
static inline bool dm_covers(const struct mlx5_dm *dm, uint64_t offset, size_t length)
{
	return offset <= dm->length && length <= dm->length - offset &&
	       !((offset | length) % COPY_UNIT);
}

static int dm_explain_copy(const struct mlx5_dm *dm, const char *call, uint64_t offset,
			   size_t length)
{
	if (offset > dm->length || length > dm->length - offset) {
		verbs_warn("%s: offset %llu and length %zu go beyond the %zu bytes of the memory",
			   call, (unsigned long long)offset, length, dm->length);
		return verbs_result(EFAULT);
	}
	verbs_warn("%s: offset %llu and length %zu must be multiples of %d", call,
		   (unsigned long long)offset, length, COPY_UNIT);
	return verbs_result(EINVAL);
}

static int dm_copy_to(struct ibv_dm *ibdm, uint64_t offset, const void *from, size_t length)
{
	struct mlx5_dm *dm = to_mdm(ibdm);
	uint8_t *to = dm->start + offset;
	uint32_t word;

	if (!dm_covers(dm, offset, length))
		return dm_explain_copy(dm, "memcpy_to_dm", offset, length);
	for (size_t i = 0; i < length; i += COPY_UNIT) {
		memcpy(&word, (const uint8_t *)from + i, sizeof(word));
		*(volatile uint32_t *)(to + i) = word;
	}
	return 0;
}

static int dm_copy_from(void *to, struct ibv_dm *ibdm, uint64_t offset, size_t length)
{
	struct mlx5_dm *dm = to_mdm(ibdm);
	const uint8_t *from = dm->start + offset;
	uint32_t word;

	if (!dm_covers(dm, offset, length))
		return dm_explain_copy(dm, "memcpy_from_dm", offset, length);
	for (size_t i = 0; i < length; i += COPY_UNIT) {
		word = *(const volatile uint32_t *)(from + i);
		memcpy((uint8_t *)to + i, &word, sizeof(word));
	}
	return 0;
}

static int dm_refuse_copy(const struct mlx5_dm *dm, const char *call)
{
	verbs_warn("%s: the %zu bytes of memory are of a type that cannot be mapped", call,
		   dm->length);
	return verbs_result(EOPNOTSUPP);
}

static int dm_refuse_copy_to(struct ibv_dm *dm, uint64_t offset, const void *from, size_t length)
{
	(void)offset;
	(void)from;
	(void)length;
	return dm_refuse_copy(to_mdm(dm), "memcpy_to_dm");
}

static int dm_refuse_copy_from(void *to, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	(void)to;
	(void)offset;
	(void)length;
	return dm_refuse_copy(to_mdm(dm), "memcpy_from_dm");
}

/* Returns the offset for mmap() in the kernel's format. The page number has, from the lowest bits,
 * the lower byte of INDEX, the command, and the upper byte of INDEX. */
static uint64_t dm_map_offset(uint16_t index, size_t page)
{
	uint64_t pgoff =
		(uint64_t)(index >> 8) << 16 | MLX5_IB_MMAP_DEVICE_MEM << 8 | (index & 0xff);

	return pgoff * page;
}

static int dm_map(struct mlx5_context *ctx, struct mlx5_dm *dm, uint16_t index, uint64_t start)
{
	size_t page = ctx->common.queue_bufs.page;

	dm->map_size = align_up((start & (page - 1)) + dm->length, page);
	dm->map_offset = dm_map_offset(index, page);
	dm->map = map_shared(dm->map_size, PROT_READ | PROT_WRITE, ctx->vctx.context.cmd_fd,
			     dm->map_offset);
	if (dm->map == MAP_FAILED) {
		int ret = errno;

		verbs_warn("device memory of %zu bytes cannot be mapped: errno %d", dm->length,
			   ret);
		return ret;
	}
	dm->start = (uint8_t *)dm->map + (start & (page - 1));
	dm->dm.memcpy_to_dm = dm_copy_to;
	dm->dm.memcpy_from_dm = dm_copy_from;
	return 0;
}

/* Maps memory for data. Memory of another type (steering) cannot be mapped; it only has an address
 * in the device. */
static int dm_place(struct mlx5_context *ctx, struct mlx5_dm *dm, uint32_t type, uint16_t index,
		    uint64_t start)
{
	if (type == MLX5_IB_UAPI_DM_TYPE_MEMIC)
		return dm_map(ctx, dm, index, start);
	dm->remote_va = start;
	dm->dm.memcpy_to_dm = dm_refuse_copy_to;
	dm->dm.memcpy_from_dm = dm_refuse_copy_from;
	return 0;
}

static int dm_run_alloc(struct mlx5_context *ctx, const struct ibv_alloc_dm_attr *attr,
			uint32_t type, struct mlx5_dm *dm)
{
	uint64_t start = 0;
	uint16_t index = 0;
	const bool is_memic = type == MLX5_IB_UAPI_DM_TYPE_MEMIC;
	const struct verbs_attr attrs[] = {
		verbs_short_out(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &start, sizeof(start)),
		is_memic ? verbs_short_out(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &index,
					   sizeof(index))
			 : verbs_short_u64(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, type),
	};
	int ret = verbs_cmd_alloc_dm(&ctx->vctx.context, attr, &dm->dm, attrs, ARRAY_SIZE(attrs));

	if (ret)
		return ret;
	ret = dm_place(ctx, dm, type, index, start);
	if (ret)
		verbs_cmd_free_dm(&dm->dm);
	return ret;
}

/* Returns EINVAL for a length that the device can never allocate. The kernel returns ENOMEM for it,
 * as for a length that is not free now. */
static int dm_explain_refusal(struct ibv_context *context, size_t length, int err)
{
	struct ibv_device_attr_ex device;

	if (err != ENOMEM || mlx5_device_query_ex(context, NULL, &device, sizeof(device)))
		return err;
	verbs_warn("alloc_dm: length is %zu, the device has %llu bytes in all", length,
		   (unsigned long long)device.max_dm_size);
	return length > device.max_dm_size ? EINVAL : err;
}

static struct mlx5_dm *dm_new(const char *call, struct ibv_context *context)
{
	struct mlx5_dm *dm =
		provider_cells_take(&to_mctx(context)->common.cells, call, sizeof(*dm));

	if (dm)
		*dm = (struct mlx5_dm){ .dm.context = context };
	return dm;
}

static void dm_delete(struct mlx5_dm *dm)
{
	provider_cells_give(&to_mctx(dm->dm.context)->common.cells, dm, sizeof(*dm));
}

static int dm_alloc(struct ibv_context *context, const struct ibv_alloc_dm_attr *attr,
		    uint32_t type, struct mlx5_dm **out)
{
	struct mlx5_dm *dm;
	int ret;

	if (attr->comp_mask) {
		verbs_warn("alloc_dm: comp_mask is %#x, must be 0", attr->comp_mask);
		return EINVAL;
	}
	dm = dm_new("alloc_dm", context);
	if (!dm)
		return ENOMEM;
	dm->length = attr->length;
	ret = dm_run_alloc(to_mctx(context), attr, type, dm);
	if (ret) {
		dm_delete(dm);
		return type == MLX5_IB_UAPI_DM_TYPE_MEMIC
			       ? dm_explain_refusal(context, attr->length, ret)
			       : ret;
	}
	*out = dm;
	return 0;
}

struct ibv_dm *mlx5_dm_alloc_of_type(struct ibv_context *context,
				     const struct ibv_alloc_dm_attr *attr, uint32_t type)
{
	struct mlx5_dm *dm = NULL;
	int ret = dm_alloc(context, attr, type, &dm);

	if (!ret)
		return &dm->dm;
	errno = ret;
	return NULL;
}

struct ibv_dm *mlx5_dm_alloc(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	return mlx5_dm_alloc_of_type(context, attr, MLX5_IB_UAPI_DM_TYPE_MEMIC);
}

int mlx5_dm_free(struct ibv_dm *ibdm)
{
	int ret = verbs_cmd_free_dm(ibdm);

	if (!ret)
		mlx5_dm_unimport(ibdm);
	return ret;
}

static int dm_run_query(struct mlx5_context *ctx, uint32_t handle, struct mlx5_dm *dm)
{
	uint64_t start = 0, length = 0;
	uint16_t index = 0;
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, handle),
		verbs_attr_out(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, &start, sizeof(start)),
		verbs_attr_out(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, &index, sizeof(index)),
		verbs_attr_out(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &length, sizeof(length)),
	};
	int ret = verbs_cmd_run(&ctx->vctx.context, UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY,
				attrs, ARRAY_SIZE(attrs));

	if (ret) {
		verbs_warn("import_dm: the context has no device memory of handle %u: errno %d",
			   handle, ret);
		return ret;
	}
	dm->length = length;
	return dm_map(ctx, dm, index, start);
}

int mlx5_dm_import(struct ibv_context *context, uint32_t handle, struct ibv_dm **out)
{
	struct mlx5_dm *dm = dm_new("import_dm", context);
	int ret = dm ? dm_run_query(to_mctx(context), handle, dm) : ENOMEM;

	if (ret && dm)
		dm_delete(dm);
	if (ret)
		return ret;
	dm->dm.handle = handle;
	dm->dm.comp_mask = IBV_DM_MASK_HANDLE;
	*out = &dm->dm;
	return 0;
}

/* Unmaps the memory and frees the object of this process. The adapter's memory stays allocated, as
 * the process that allocated it may use it. */
void mlx5_dm_unimport(struct ibv_dm *ibdm)
{
	struct mlx5_dm *dm = to_mdm(ibdm);

	if (dm->start)
		munmap(dm->map, dm->map_size);
	dm_delete(dm);
}

static int dm_reg(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
		  unsigned int access, struct verbs_mr **mr)
{
	int ret;

	if (offset > to_mdm(dm)->length || length > to_mdm(dm)->length - offset) {
		verbs_warn("reg_dm_mr: offset %llu and length %zu go beyond the %zu bytes of the "
			   "memory",
			   (unsigned long long)offset, length, to_mdm(dm)->length);
		return EINVAL;
	}
	if (access & ~(unsigned int)ALLOWED_ACCESS) {
		verbs_warn("reg_dm_mr: access is %#x, supported are %#x", access, ALLOWED_ACCESS);
		return EINVAL;
	}
	*mr = calloc_for("reg_dm_mr", 1, sizeof(**mr));
	if (!*mr)
		return ENOMEM;
	ret = verbs_cmd_reg_dm_mr(pd, dm, offset, length, access, *mr, NULL);
	if (ret)
		free(*mr);
	return ret;
}

struct ibv_mr *mlx5_dm_reg_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			      unsigned int access)
{
	struct verbs_mr *mr;
	int ret = dm_reg(pd, dm, offset, length, access, &mr);

	if (!ret)
		return &mr->mr;
	errno = ret;
	return NULL;
}

/* Makes a dma-buf of the pages that the memory is mapped from. Returns its descriptor, or -1 and
 * errno. */
int mlx5_dm_export_dmabuf(struct ibv_dm *ibdm)
{
	const struct mlx5_dm *dm = to_mdm(ibdm);
	int fd = -1, ret = EOPNOTSUPP;

	if (dm->start)
		ret = verbs_cmd_alloc_dmabuf(ibdm->context, dm->map_offset, &fd);
	else
		verbs_warn("dm_export_dmabuf_fd: memory for steering has no pages to export");
	if (!ret)
		return fd;
	errno = ret;
	return -1;
}

/* Maps a page, accesses to which perform operation OP on the memory at the same offset. The kernel
 * removes the page when the memory is freed. */
int mlx5_dm_map_operation(struct ibv_dm *ibdm, uint8_t op, void **addr)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct mlx5_dm *dm = to_mdm(ibdm);
	uint64_t start = 0;
	uint16_t index = 0;
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE, ibdm->handle),
		verbs_attr_in(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, &op, sizeof(op)),
		verbs_attr_out(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, &start,
			       sizeof(start)),
		verbs_attr_out(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, &index, sizeof(index)),
	};
	int ret = verbs_cmd_run(ibdm->context, UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_MAP_OP_ADDR,
				attrs, ARRAY_SIZE(attrs));
	uint8_t *map;

	if (ret) {
		verbs_warn("mlx5dv_dm_map_op_addr: operation %u is refused: errno %d", op, ret);
		return ret;
	}
	map = map_shared(align_up((start & (page - 1)) + dm->length, page), PROT_READ | PROT_WRITE,
			 ibdm->context->cmd_fd, dm_map_offset(index, page));
	if (map == MAP_FAILED) {
		ret = errno;
		verbs_warn("mlx5dv_dm_map_op_addr: operation %u cannot be mapped: errno %d", op,
			   ret);
		return ret;
	}
	*addr = map + (start & (page - 1));
	return 0;
}
