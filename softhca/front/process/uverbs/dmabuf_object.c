/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dmabuf_object.c - exports the adapter's memory as a dma-buf: pages of a uverbs file, named by
 * their mmap() offset.
 *
 * The program's descriptor stands for the pages; dmabuf.c knows which. Regions registered from it
 * become unusable when the pages are freed (dmabuf_revoke()).
 */
#include <errno.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/notify.h"
#include "softhca/front/process/uverbs/objects.h"

/* Returns the number of pages of the object whose pages begin at PAGE; 0: none. */
static uint32_t pages_at(const struct uverbs_file *file, uint64_t page)
{
	for (uint32_t i = 0; i < file->num_objects; i++) {
		const struct object *object = file->object[i];
		const struct uverbs_uar *uar = (const struct uverbs_uar *)object;
		const struct uverbs_dm *dm = (const struct uverbs_dm *)object;

		if (object && object->type == MLX5_IB_OBJECT_UAR && uar->index == page)
			return 1;
		if (object && object->type == UVERBS_OBJECT_DM &&
		    uverbs_file_memory_page(dm->first_page) == page)
			return dm->pages;
	}
	return 0;
}

static int dmabuf_alloc(struct uverbs_call *uc)
{
	uint64_t offset;
	uint32_t pages;
	int fd, number, ret;

	if (uc_in(uc, UVERBS_ATTR_ALLOC_DMABUF_PGOFF, &offset, sizeof(offset)))
		return EFAULT;
	pages = pages_at(uc->file, offset / UAR_PAGE_SIZE);
	if (!pages)
		return EINVAL;
	ret = dmabuf_export(uc->file, (uint32_t)(offset / UAR_PAGE_SIZE), pages, &fd);
	if (ret)
		return ret;
	number = call_give_fd(uc->call, fd, true);
	if (number < 0)
		return -number;
	uc_set(uc, UVERBS_ATTR_ALLOC_DMABUF_HANDLE, number);
	return 0;
}

static const struct uverbs_attr alloc_attrs[] = {
	{ UVERBS_ATTR_ALLOC_DMABUF_HANDLE, ATTR_NEW_FD, MANDATORY, 0, 0, UVERBS_OBJECT_DMABUF },
	{ UVERBS_ATTR_ALLOC_DMABUF_PGOFF, ATTR_IN, MANDATORY, 8, 8, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(adapter_is_mlx5, "DMABUF_ALLOC", UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC,
		  dmabuf_alloc, alloc_attrs),
};

const struct uverbs_methods dmabuf_methods = METHODS(method_table);
