/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uar.c - doorbell pages (UARs): pages of the memfd behind the program's uverbs file.
 */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/cmd.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/uverbs/objects.h"

static int uar_destroy(struct object *object, pid_t tid)
{
	struct uverbs_uar *uar = (struct uverbs_uar *)object;
	int ret = adapter_release(object->file->adapter, PRM_OP_DEALLOC_UAR, uar->page.uar);

	(void)tid;
	if (ret)
		return ret;
	engine_remove_page(object->file->adapter, &uar->page);
	dmabuf_revoke(object->file, uar->index);
	object->file->page_used[uar->index] = false;
	return 0;
}

static int pick_page(struct uverbs_file *file, uint32_t *index)
{
	for (uint32_t i = 0; i < UVERBS_FILE_UARS; i++) {
		if (!file->page_used[i]) {
			*index = i;
			return 0;
		}
	}
	return ENOMEM;
}

static int uar_make(struct uverbs_call *uc, struct uverbs_uar *uar)
{
	struct uverbs_file *file = uc->file;
	int ret = pick_page(file, &uar->index);

	if (!ret)
		ret = adapter_allocate(uc->adapter, PRM_OP_ALLOC_UAR, &uar->page.uar);
	if (ret)
		return ret;
	file->page_used[uar->index] = true;
	uar->page.page = (volatile uint64_t *)(file->pages + uar->index * UAR_PAGE_SIZE);
	memset(file->pages + uar->index * UAR_PAGE_SIZE, 0, UAR_PAGE_SIZE);
	engine_add_page(uc->adapter, &uar->page);
	return 0;
}

static int uar_respond(struct uverbs_call *uc, const struct uverbs_uar *uar)
{
	uint64_t offset = (uint64_t)uar->index * UAR_PAGE_SIZE;
	uint32_t length = UAR_PAGE_SIZE;

	if (uc_out(uc, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset)) ||
	    uc_out(uc, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length)) ||
	    uc_out(uc, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &uar->page.uar, sizeof(uint32_t)))
		return EFAULT;
	return 0;
}

static int uar_alloc(struct uverbs_call *uc)
{
	struct uverbs_uar *uar;
	uint32_t type;
	int ret;

	if (uc_in(uc, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, &type, sizeof(type)))
		return EFAULT;
	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return EOPNOTSUPP;
	ret = object_new(sizeof(*uar), uc->file, MLX5_IB_OBJECT_UAR, uar_destroy, &uar);
	if (ret)
		return ret;
	ret = uc_return_made(uc, uar_make(uc, uar), MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &uar->base);
	return ret ? ret : uc_answered(uc, uar_respond(uc, uar), &uar->base);
}

static int uar_free(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE), uc->tid);
}

struct uverbs_uar *uverbs_uar_by_number(const struct uverbs_file *file, uint32_t number)
{
	for (uint32_t i = 0; i < file->num_objects; i++) {
		struct uverbs_uar *uar = (struct uverbs_uar *)file->object[i];

		if (uar && uar->base.type == MLX5_IB_OBJECT_UAR && uar->page.uar == number)
			return uar;
	}
	return NULL;
}

static const struct uverbs_attr alloc_attrs[] = {
	{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, ATTR_NEW, MANDATORY, 0, 0, MLX5_IB_OBJECT_UAR },
	{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, ATTR_OUT, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, ATTR_OUT, MANDATORY, 4, 4, 0 },
};

static const struct uverbs_attr free_attrs[] = {
	{ MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, MLX5_IB_OBJECT_UAR },
};

static const struct uverbs_method method_table[] = {
	METHOD("UAR_ALLOC", MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, uar_alloc,
	       alloc_attrs),
	METHOD("UAR_DESTROY", MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, uar_free,
	       free_attrs),
};

const struct uverbs_methods uar_methods = METHODS(method_table);
