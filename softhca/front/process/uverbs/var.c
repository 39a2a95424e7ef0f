/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * var.c - doorbell pages of devices that programs emulate (VAR): pages of the uverbs file, numbered
 * as the adapter numbers them. No queue of the adapter uses these doorbells.
 */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/general_obj.h"
#include "softhca/front/process/uverbs/objects.h"

struct uverbs_var {
	struct object base;
	uint32_t page; /* the adapter's number */
};

static bool var_exists(const struct adapter *adapter)
{
	return fld_get(adapter->caps, HCA_CAP_GENERAL_OBJ_TYPES) & 1u << PRM_OBJ_TYPE_VIRTIO_NET_Q;
}

static uint64_t file_offset(const struct uverbs_var *var)
{
	return (uint64_t)(UVERBS_FILE_EMULATION + var->page) * UAR_PAGE_SIZE;
}

static int var_destroy(struct object *object, pid_t tid)
{
	(void)tid;
	object->file->adapter->emulation_page_used[((struct uverbs_var *)object)->page] = false;
	return 0;
}

static uint32_t pages_of(const struct adapter *adapter)
{
	return 1u << fld_get(adapter->emulation_caps, VDPA_CAP_LOG_DOORBELL_BAR_SIZE);
}

static int var_make(struct uverbs_call *uc, struct uverbs_var *var)
{
	bool *used = uc->adapter->emulation_page_used;

	while (var->page < pages_of(uc->adapter) && used[var->page])
		var->page++;
	if (var->page == pages_of(uc->adapter))
		return ENOSPC;
	used[var->page] = true;
	memset(uc->file->pages + file_offset(var), 0, UAR_PAGE_SIZE);
	return 0;
}

static int var_respond(struct uverbs_call *uc, const struct uverbs_var *var)
{
	uint32_t length = 1u << fld_get(uc->adapter->emulation_caps, VDPA_CAP_LOG_DOORBELL_STRIDE);
	uint64_t offset = file_offset(var);

	return uc_out(uc, MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset)) ||
			       uc_out(uc, MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, &var->page,
				      sizeof(var->page)) ||
			       uc_out(uc, MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH, &length,
				      sizeof(length))
		       ? EFAULT
		       : 0;
}

static int var_alloc(struct uverbs_call *uc)
{
	struct uverbs_var *var;
	uint64_t flags;
	int ret;

	if (uc_in(uc, MLX5_IB_ATTR_VAR_OBJ_ALLOC_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	if (flags) /* doorbells by PCI TLPs, which the adapter does not support */
		return flags & ~(uint64_t)MLX5_IB_UAPI_VAR_ALLOC_FLAG_TLP ? EINVAL : EOPNOTSUPP;
	ret = object_new(sizeof(*var), uc->file, MLX5_IB_OBJECT_VAR, var_destroy, &var);
	if (ret)
		return ret;
	ret = uc_return_made(uc, var_make(uc, var), MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, &var->base);
	return ret ? ret : uc_answered(uc, var_respond(uc, var), &var->base);
}

static int var_free(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE), uc->tid);
}

static const struct uverbs_attr alloc_attrs[] = {
	{ MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE, ATTR_NEW, MANDATORY, 0, 0, MLX5_IB_OBJECT_VAR },
	{ MLX5_IB_ATTR_VAR_OBJ_ALLOC_PAGE_ID, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_LENGTH, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_VAR_OBJ_ALLOC_MMAP_OFFSET, ATTR_OUT, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_VAR_OBJ_ALLOC_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
};

static const struct uverbs_attr free_attrs[] = {
	{ MLX5_IB_ATTR_VAR_OBJ_DESTROY_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, MLX5_IB_OBJECT_VAR },
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(var_exists, "VAR_ALLOC", MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_ALLOC,
		  var_alloc, alloc_attrs),
	METHOD_IF(var_exists, "VAR_DESTROY", MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_DESTROY,
		  var_free, free_attrs),
};

const struct uverbs_methods var_methods = METHODS(method_table);
