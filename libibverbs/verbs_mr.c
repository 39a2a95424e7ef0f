/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_mr.c - the public calls on memory regions.
 *
 * If the kernel does not copy pinned pages at fork(), a region of the process's memory is excluded
 * from its children while it is registered (fork.c). On-demand regions pin nothing and are not
 * excluded.
 */
#include "libibverbs/private.h"

#include <string.h>

static bool is_pinned(unsigned int access)
{
	return !(access & IBV_ACCESS_ON_DEMAND);
}

/* Registers memory that needs no fork protection. For instance, on-demand memory is not pinned, so
 * a child's copy does no harm. */
static inline struct ibv_mr *reg_only(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				      unsigned int access)
{
	struct verbs_mr *vmr;
	int err = get_ops(pd->context)->reg_mr(pd, addr, length, iova, access, &vmr);

	return err ? fail_null(err) : &vmr->mr;
}

static struct ibv_mr *__attribute__((noinline))
keep_and_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct ibv_mr *mr;
	int err = verbs_fork_keep(addr, length);

	if (err)
		return fail_null(err);
	mr = reg_only(pd, addr, length, iova, access);
	if (mr)
		return mr;
	err = errno;
	verbs_fork_release(addr, length);
	return fail_null(err);
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			     unsigned int access)
{
	return is_pinned(access) && !verbs_fork_never_keeps()
		       ? keep_and_reg(pd, addr, length, iova, access)
		       : reg_only(pd, addr, length, iova, access);
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

VERBS_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					      uint64_t iova, int fd, int access)
{
	struct verbs_mr *vmr;
	int err = get_ops(pd->context)
			  ->reg_dmabuf_mr(pd, offset, length, iova, fd, (unsigned int)access, &vmr);

	return err ? fail_null(err) : &vmr->mr;
}

#define MASK_FD  (IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET)
#define MASK_ALL (IBV_REG_MR_MASK_BUF * 2 - 1)

static const char *init_attr_fault(const struct ibv_mr_init_attr *attr)
{
	const uint64_t mask = attr->comp_mask;

	if (mask & IBV_REG_MR_MASK_BUF && mask & MASK_FD)
		return "IBV_REG_MR_MASK_BUF goes without _FD and _FD_OFFSET";
	if (mask & IBV_REG_MR_MASK_BUF && !(mask & IBV_REG_MR_MASK_ADDR))
		return "IBV_REG_MR_MASK_BUF needs _ADDR";
	if (!(mask & IBV_REG_MR_MASK_FD) == !(mask & IBV_REG_MR_MASK_ADDR))
		return "must have one of IBV_REG_MR_MASK_ADDR and _FD";
	if (mask & IBV_REG_MR_MASK_FD &&
	    !(mask & IBV_REG_MR_MASK_FD_OFFSET && mask & IBV_REG_MR_MASK_IOVA))
		return "IBV_REG_MR_MASK_FD needs _FD_OFFSET and _IOVA";
	if (mask & IBV_REG_MR_MASK_FD_OFFSET && !(mask & IBV_REG_MR_MASK_FD))
		return "IBV_REG_MR_MASK_FD_OFFSET needs _FD";
	return NULL;
}

static int mr_check_init_attr(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr)
{
	const char *fault;

	if (attr->comp_mask & ~(uint64_t)MASK_ALL) {
		verbs_warn("ibv_reg_mr_ex: comp_mask 0x%llx: no bit above 0x%x has a meaning",
			   (unsigned long long)attr->comp_mask, MASK_ALL);
		return EOPNOTSUPP;
	}
	fault = init_attr_fault(attr);
	if (fault) {
		verbs_warn("ibv_reg_mr_ex: comp_mask 0x%llx: %s",
			   (unsigned long long)attr->comp_mask, fault);
		return EINVAL;
	}
	return attr->comp_mask & IBV_REG_MR_MASK_BUF
		       ? verbs_buf_check_range(pd, attr->buf, attr->addr, attr->length)
		       : 0;
}

/* Registers memory with a DMA handle. The plain operations have no argument for the handle. */
static struct ibv_mr *reg_with_dmah(struct ibv_pd *pd, struct ibv_mr_init_attr attr)
{
	const bool pinned =
		attr.comp_mask & IBV_REG_MR_MASK_ADDR && is_pinned((unsigned int)attr.access);
	struct verbs_mr *vmr;
	int err = 0;

	if (pinned)
		err = verbs_fork_keep(attr.addr, attr.length);
	if (err)
		return fail_null(err);
	err = get_ops(pd->context)->reg_mr_ex(pd, &attr, &vmr);
	if (!err)
		return &vmr->mr;
	if (pinned)
		verbs_fork_release(attr.addr, attr.length);
	return fail_null(err);
}

VERBS_EXPORT struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *init_attr)
{
	struct ibv_mr_init_attr attr = *init_attr;
	int err = mr_check_init_attr(pd, &attr);

	if (err)
		return fail_null(err);
	if (!(attr.comp_mask & IBV_REG_MR_MASK_IOVA))
		attr.iova = (uintptr_t)attr.addr;
	if (attr.comp_mask & IBV_REG_MR_MASK_DMAH)
		return reg_with_dmah(pd, attr);
	if (attr.comp_mask & IBV_REG_MR_MASK_FD)
		return ibv_reg_dmabuf_mr(pd, attr.fd_offset, attr.length, attr.iova, attr.fd,
					 attr.access);
	return reg_mr(pd, attr.addr, attr.length, attr.iova, (unsigned int)attr.access);
}

/* Checks the arguments. Regions of device memory pass, because the kernel refuses them with an
 * errno of its own. */
static int mr_check_rereg(const struct verbs_mr *vmr, int flags, const struct ibv_pd *pd,
			  const void *addr, size_t length, int access)
{
	const char *why = NULL;

	if (vmr->kind != VERBS_MR_USER && vmr->kind != VERBS_MR_DM)
		why = "only a region of the process' own memory can change";
	else if (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED)
		why = "there is no such flag";
	else if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && (!addr || !length))
		why = "a new translation needs addr and length";
	else if (flags & IBV_REREG_MR_CHANGE_PD && !pd)
		why = "a change of PD needs one";
	else if (access && !(flags & IBV_REREG_MR_CHANGE_ACCESS))
		why = "access counts only with IBV_REREG_MR_CHANGE_ACCESS";
	if (!why)
		return 0;
	verbs_warn("ibv_rereg_mr: lkey 0x%x flags 0x%x addr %p length %zu access 0x%x: %s",
		   vmr->mr.lkey, flags, addr, length, access, why);
	return EINVAL;
}

static void mr_adopt(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length)
{
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr->pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		mr->addr = addr;
		mr->length = length;
	}
}

/* Which address ranges a change affects: the new range is to be protected from fork, the old one to
 * be released. Unchanged ranges are not touched. */
struct rereg_ranges {
	bool keeps_new, releases_old;
};

static struct rereg_ranges rereg_plan(const struct verbs_mr *vmr, int flags, unsigned int access)
{
	const bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	const bool was = vmr->kind == VERBS_MR_USER && is_pinned(vmr->access);
	const bool will = vmr->kind == VERBS_MR_USER &&
			  is_pinned(flags & IBV_REREG_MR_CHANGE_ACCESS ? access : vmr->access);

	return (struct rereg_ranges){ .keeps_new = will && (moves || !was),
				      .releases_old = was && (moves || !will) };
}

/* Returns enum ibv_rereg_mr_err_code instead of an errno: which of the old and the new region is
 * still valid. */
VERBS_EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			      size_t length, int access)
{
	struct verbs_mr *vmr = to_vmr(mr);
	const bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	const struct rereg_ranges ranges = rereg_plan(vmr, flags, (unsigned int)access);
	void *const old_addr = mr->addr, *const new_addr = moves ? addr : old_addr;
	const size_t old_length = mr->length, new_length = moves ? length : old_length;
	int err = mr_check_rereg(vmr, flags, pd, addr, length, access);

	if (err) {
		errno = err;
		return IBV_REREG_MR_ERR_INPUT;
	}
	if (ranges.keeps_new && verbs_fork_keep(new_addr, new_length))
		return IBV_REREG_MR_ERR_DONT_FORK_NEW;
	err = get_ops(mr->context)->rereg_mr(vmr, flags, pd, addr, length, (unsigned int)access);
	if (err) {
		const bool kept = ranges.keeps_new && verbs_fork_release(new_addr, new_length);

		errno = err;
		return kept ? IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW : IBV_REREG_MR_ERR_CMD;
	}
	mr_adopt(mr, flags, pd, addr, length);
	if (ranges.releases_old && verbs_fork_release(old_addr, old_length))
		return IBV_REREG_MR_ERR_DO_FORK_OLD;
	return 0;
}

static int dereg_and_release(struct verbs_mr *vmr)
{
	const bool pinned = vmr->kind == VERBS_MR_USER && is_pinned(vmr->access);
	void *const addr = vmr->mr.addr;
	const size_t length = vmr->mr.length;
	int err = get_ops(vmr->mr.context)->dereg_mr(vmr);

	if (!err && pinned)
		verbs_fork_release(addr, length);
	return err;
}

VERBS_EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
	struct verbs_mr *vmr = to_vmr(mr);

	return verbs_result(verbs_fork_never_keeps() ? get_ops(mr->context)->dereg_mr(vmr)
						     : dereg_and_release(vmr));
}

VERBS_EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	struct verbs_mr *vmr;
	int err = get_ops(pd->context)->import_mr(pd, mr_handle, &vmr);

	return err ? fail_null(err) : &vmr->mr;
}

VERBS_EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
	get_ops(mr->context)->unimport_mr(to_vmr(mr));
}
