/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_dmah.c - DMA handles: hints for the PCI transactions that access a memory region. Only the
 * kernel implements them; providers are not involved.
 */
#include "cmd/cmd.h"
#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

#define MASK_ALL (IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE * 2 - 1)

static int run_alloc(struct ibv_context *context, const struct ibv_dmah_init_attr *attr,
		     uint32_t *handle)
{
	const uint32_t mask = attr->comp_mask;
	unsigned int count = 0;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[count++] = verbs_short_new(UVERBS_ATTR_ALLOC_DMAH_HANDLE);
	if (mask & IBV_DMAH_INIT_ATTR_MASK_CPU_ID)
		cmd.attrs[count++] = verbs_short_u32(UVERBS_ATTR_ALLOC_DMAH_CPU_ID, attr->cpu_id);
	if (mask & IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE) {
		cmd.attrs[count] = verbs_short_attr(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, 0, 0);
		cmd.attrs[count++].elem = (uint8_t)min_of(attr->tph_mem_type, UINT8_MAX);
	}
	if (mask & IBV_DMAH_INIT_ATTR_MASK_PH)
		cmd.attrs[count++] =
			verbs_short_in(UVERBS_ATTR_ALLOC_DMAH_PH, &attr->ph, sizeof(attr->ph));
	ret = verbs_cmd_run_short(context, UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC, &cmd,
				  count);
	if (!ret)
		*handle = (uint32_t)cmd.attrs[0].value;
	return ret;
}

static int alloc_dmah(struct ibv_context *context, const struct ibv_dmah_init_attr *attr,
		      struct verbs_dmah *vdmah)
{
	int err;

	if (!attr) {
		verbs_warn("ibv_alloc_dmah: attr is NULL");
		return EINVAL;
	}
	if (attr->comp_mask & ~(uint32_t)MASK_ALL) {
		verbs_warn("ibv_alloc_dmah: comp_mask 0x%x: no bit above 0x%x has a meaning",
			   attr->comp_mask, MASK_ALL);
		return EINVAL;
	}
	err = run_alloc(context, attr, &vdmah->handle);
	if (is_lacking(err))
		err = EOPNOTSUPP;
	if (err)
		verbs_warn(
			"ibv_alloc_dmah on %s: comp_mask 0x%x cpu_id %u ph %u tph_mem_type %u: %s",
			context->device->name, attr->comp_mask, attr->cpu_id, attr->ph,
			attr->tph_mem_type, strerror(err));
	return err;
}

VERBS_EXPORT struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *context,
					     struct ibv_dmah_init_attr *attr)
{
	struct verbs_dmah *vdmah = calloc_for("ibv_alloc_dmah", 1, sizeof(*vdmah));
	int err = vdmah ? alloc_dmah(context, attr, vdmah) : ENOMEM;

	if (err) {
		free(vdmah);
		return fail_null(err);
	}
	vdmah->dmah.context = context;
	return &vdmah->dmah;
}

VERBS_EXPORT int ibv_dealloc_dmah(struct ibv_dmah *dmah)
{
	struct verbs_dmah *vdmah = to_vdmah(dmah);
	int err = verbs_cmd_destroy(dmah->context, UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE,
				    UVERBS_ATTR_FREE_DMA_HANDLE, vdmah->handle);

	if (err) {
		verbs_warn("ibv_dealloc_dmah: handle %u: %s%s", vdmah->handle, strerror(err),
			   err == EBUSY ? ": deregister the MRs that use it first" : "");
		return verbs_result(err);
	}
	free(vdmah);
	return 0;
}
