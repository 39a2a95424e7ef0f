/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_mr.c - the public calls on memory regions.
 *
 * There is no madvise() here: the kernel copies pinned pages when a process forks.
 */
#include "private.h"

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			     unsigned int access)
{
	struct verbs_mr *vmr;
	int err = get_ops(pd->context)->reg_mr(pd, addr, length, iova, access, &vmr);

	return err ? fail_null(err) : &vmr->mr;
}

#undef ibv_reg_mr
VERBS_EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

#undef ibv_reg_mr_iova
VERBS_EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length,
					    uint64_t iova, int access)
{
	return reg_mr(pd, addr, length, iova, (unsigned int)access);
}

VERBS_EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
					     uint64_t iova, unsigned int access)
{
	return reg_mr(pd, addr, length, iova, access);
}

VERBS_EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	return get_ops(mr->context)->dereg_mr(to_vmr(mr));
}
