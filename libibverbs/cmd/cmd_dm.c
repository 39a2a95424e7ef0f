/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_dm.c - commands on device memory, and on dma-bufs made of device pages.
 */
#include "cmd/cmd.h"

#include <assert.h>
#include <string.h>

VERBS_EXPORT int verbs_cmd_alloc_dm(struct ibv_context *context,
				    const struct ibv_alloc_dm_attr *attr, struct ibv_dm *dm,
				    const struct verbs_attr *more, unsigned int nmore)
{
	enum { OWN = 3 };
	struct verbs_short cmd;
	int ret;

	assert(nmore <= VERBS_SHORT_MAX_ATTRS - OWN);
	cmd.attrs[0] = verbs_short_new(UVERBS_ATTR_ALLOC_DM_HANDLE);
	cmd.attrs[1] = verbs_short_u64(UVERBS_ATTR_ALLOC_DM_LENGTH, attr->length);
	cmd.attrs[2] = verbs_short_u32(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, attr->log_align_req);
	for (unsigned int i = 0; i < nmore; i++)
		cmd.attrs[OWN + i] = more[i];
	ret = verbs_cmd_run_short(context, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, &cmd,
				  OWN + nmore);
	if (ret) {
		verbs_warn("ibv_alloc_dm: length %zu log_align_req %u: %s%s", attr->length,
			   attr->log_align_req, strerror(ret),
			   ret == ENOMEM ? ": the device has not as much left (max_dm_size)" : "");
		return ret;
	}
	dm->handle = (uint32_t)cmd.attrs[0].value;
	dm->context = context;
	dm->comp_mask |= IBV_DM_MASK_HANDLE;
	return 0;
}

VERBS_EXPORT int verbs_cmd_free_dm(struct ibv_dm *dm)
{
	int ret = verbs_cmd_destroy(dm->context, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE,
				    UVERBS_ATTR_FREE_DM_HANDLE, dm->handle);

	if (ret)
		verbs_warn("ibv_free_dm: DM %u: %s%s", dm->handle, strerror(ret),
			   ret == EBUSY ? ": deregister the MRs on it first" : "");
	return ret;
}

/* The attribute's name suggests pages, but Linux (7.2) takes the offset in bytes, like mmap(). */
VERBS_EXPORT int verbs_cmd_alloc_dmabuf(struct ibv_context *context, uint64_t offset, int *fd)
{
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(UVERBS_ATTR_ALLOC_DMABUF_HANDLE);
	cmd.attrs[1] = verbs_short_u64(UVERBS_ATTR_ALLOC_DMABUF_PGOFF, offset);
	ret = verbs_cmd_run_short(context, UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC, &cmd,
				  2);
	if (!ret)
		*fd = (int)cmd.attrs[0].value;
	else
		verbs_warn("export of a dma-buf at offset 0x%llx of %s: %s",
			   (unsigned long long)offset, context->device->name, strerror(ret));
	return ret;
}
