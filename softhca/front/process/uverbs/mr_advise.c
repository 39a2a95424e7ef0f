/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr_advise.c - prefetches pages of on-demand regions (ibv_advise_mr()).
 *
 * Only advice with the FLUSH flag waits and reports errors. It touches pages that the program has
 * not used yet, so that their first use costs no page fault; the device has no page table to fill.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/uverbs/objects.h"

enum {
	PAGE = 4096,
	PAGES_AT_ONCE = 64,
	MAX_PAGES = 1 << 16, /* pages of one call */
	MAX_RANGES = 1 << 12,
};

/* struct ibv_sge, as in the program's memory. */
struct sge {
	uint64_t addr;
	uint32_t length, lkey;
};
static_assert(sizeof(struct sge) == 16, "the kernel's struct ib_uverbs_sge");

/* A memory range of the call, and the MR that contains it. */
struct range {
	const struct uverbs_mr *mr;
	uint64_t addr, len;
};

static const struct uverbs_mr *find_mr(const struct uverbs_file *file, uint32_t lkey)
{
	for (uint32_t i = 0; i < file->num_objects; i++) {
		const struct uverbs_mr *mr = (const struct uverbs_mr *)file->object[i];

		if (mr && mr->base.type == UVERBS_OBJECT_MR && mr->key == lkey)
			return mr->kind == MR_ON_DEMAND || mr->kind == MR_IMPLICIT ||
					       mr->kind == MR_DMABUF
				       ? mr
				       : NULL;
	}
	return NULL;
}

static int check_key(const struct uverbs_mr *mr, const struct uverbs_pd *pd, uint64_t advice)
{
	if (!mr)
		return ENOENT;
	if (mr->pd != pd)
		return EPERM;
	if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    !(mr->region.access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return EPERM;
	return 0;
}

static int range_fetch(const struct range *range)
{
	const struct region *region = &range->mr->region;
	uint64_t at = region->start + (range->addr - region->iova), end = at + range->len;
	struct hca_bus_seg seg[PAGES_AT_ONCE];
	uint8_t bytes[PAGES_AT_ONCE];
	unsigned int pages = 0, count;
	int ret = 0;

	while (!ret && at < end && pages < MAX_PAGES) {
		for (count = 0; count < PAGES_AT_ONCE && at < end; count++) {
			seg[count] = (struct hca_bus_seg){ region->bus | at, 1 };
			at = (at & ~(uint64_t)(PAGE - 1)) + PAGE;
		}
		pages += count;
		ret = client_bus_ops.read(NULL, seg, count, bytes);
	}
	return ret ? EFAULT : 0;
}

static int advise_range(struct uverbs_call *uc, const struct range *range, uint64_t advice)
{
	const struct region *region = &range->mr->region;
	uint64_t at;

	if (range->addr < region->iova || range->len > region->length ||
	    range->addr - region->iova > region->length - range->len)
		return EFAULT;
	if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return 0; /* nothing to fetch, as only present pages are wanted */
	at = region->start + (range->addr - region->iova);
	if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    (region->bus & ~CLIENT_ON_DEMAND) == client_bus_addr(uc->client, 0) &&
	    client_check_range(uc->client, at, range->len, true))
		return EFAULT;
	return range_fetch(range);
}

/* Finds all ranges before fetching any page, so that a wrong range refuses the call as a whole. */
static int find_ranges(struct uverbs_call *uc, const struct sge *sges, size_t count,
		       uint64_t advice, struct range *ranges)
{
	const struct uverbs_pd *pd = uc_object(uc, UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
	int ret = 0;

	for (size_t i = 0; !ret && i < count; i++) {
		ranges[i] = (struct range){ find_mr(uc->file, sges[i].lkey), sges[i].addr,
					    sges[i].length };
		ret = check_key(ranges[i].mr, pd, advice);
	}
	return ret;
}

static int advice_apply(struct uverbs_call *uc, uint64_t advice, bool flush, size_t count)
{
	struct sge *sges = calloc(count, sizeof(*sges));
	struct range *ranges = calloc(count, sizeof(*ranges));
	int ret = sges && ranges ? 0 : ENOMEM;

	if (!ret)
		ret = uc_in(uc, UVERBS_ATTR_ADVISE_MR_SGE_LIST, sges, count * sizeof(*sges));
	if (!ret)
		ret = find_ranges(uc, sges, count, advice, ranges);
	for (size_t i = 0; !ret && i < count; i++) {
		ret = advise_range(uc, &ranges[i], advice);
		if (!flush)
			ret = 0;
	}
	free(sges);
	free(ranges);
	return ret;
}

static int mr_advise(struct uverbs_call *uc)
{
	size_t bytes = uc_len(uc, UVERBS_ATTR_ADVISE_MR_SGE_LIST);
	uint64_t advice, flags;

	if (uc_in(uc, UVERBS_ATTR_ADVISE_MR_ADVICE, &advice, sizeof(advice)) ||
	    uc_in(uc, UVERBS_ATTR_ADVISE_MR_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	if (flags & ~(uint64_t)IB_UVERBS_ADVISE_MR_FLAG_FLUSH || bytes % sizeof(struct sge) ||
	    bytes / sizeof(struct sge) > MAX_RANGES)
		return EINVAL;
	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return EOPNOTSUPP;
	return advice_apply(uc, advice, flags, bytes / sizeof(struct sge));
}

static const struct uverbs_attr advise_attrs[] = {
	{ UVERBS_ATTR_ADVISE_MR_PD_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_ADVISE_MR_ADVICE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_ADVISE_MR_FLAGS, ATTR_IN, MANDATORY, 4, 8, 0 },
	{ UVERBS_ATTR_ADVISE_MR_SGE_LIST, ATTR_IN, MANDATORY, sizeof(struct sge), ANY_SIZE, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(adapter_is_mlx5, "ADVISE_MR", UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR,
		  mr_advise, advise_attrs),
};

const struct uverbs_methods mr_advise_methods = METHODS(method_table);
