/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_mr.c - commands on memory regions.
 */
#include "cmd/cmd.h"

#include <sys/resource.h>
#include <unistd.h>

/* ENOMEM has two usual reasons that call for different cures, so say which one it can be. */
static void explain_enomem(size_t length)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		verbs_warn(
			"ibv_reg_mr: length %zu: ENOMEM, and not because of RLIMIT_MEMLOCK, which is unlimited",
			length);
	else
		verbs_warn(
			"ibv_reg_mr: length %zu: ENOMEM; RLIMIT_MEMLOCK is %llu bytes for all registered memory of "
			"this user (ulimit -l), unless the process has CAP_IPC_LOCK",
			length, (unsigned long long)limit.rlim_cur);
}

/* IBTA vol 1, 10.6.3.1: what others may write, this host must be able to. */
#define NEEDS_LOCAL_WRITE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static const char *reg_mr_rule(int err, uintptr_t start, size_t length, uint64_t iova,
			       unsigned int access)
{
	if (err == EFAULT)
		return ": part of the range is not mapped, or not writable while access asks for it";
	if (err != EINVAL)
		return "";
	if (access & NEEDS_LOCAL_WRITE && !(access & IBV_ACCESS_LOCAL_WRITE))
		return ": IBV_ACCESS_REMOTE_WRITE and IBV_ACCESS_REMOTE_ATOMIC need IBV_ACCESS_LOCAL_WRITE";
	if (start + length < start)
		return ": addr + length is past the end of the address space";
	if ((start ^ iova) & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1))
		return ": iova and addr must have the same offset within a page";
	if (!length)
		return ": length 0";
	return ": no such access flag, or not on this device";
}

static void explain_reg_mr(int err, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	if (err == ENOMEM)
		explain_enomem(length);
	else
		verbs_warn("ibv_reg_mr: addr %p length %zu iova 0x%llx access 0x%x: %s%s", addr,
			   length, (unsigned long long)iova, access, strerror(err),
			   reg_mr_rule(err, (uintptr_t)addr, length, iova, access));
}

static unsigned int supported_access(struct ibv_context *context, unsigned int access)
{
	if (to_priv(context)->core_support & IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS)
		return access;
	return access & ~(unsigned int)IBV_ACCESS_OPTIONAL_RANGE;
}

VERBS_EXPORT int verbs_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				  unsigned int access, struct verbs_mr *vmr,
				  const struct verbs_udata *udata)
{
	struct ib_uverbs_reg_mr req = {
		.start = (uintptr_t)addr,
		.length = length,
		.hca_va = iova,
		.pd_handle = pd->handle,
		.access_flags = supported_access(pd->context, access),
	};
	struct ib_uverbs_reg_mr_resp resp = {};
	int ret;

	ret = cmd_run_write(pd->context, IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req), &resp,
			    sizeof(resp), udata);
	if (ret) {
		explain_reg_mr(ret, addr, length, iova, access);
		return ret;
	}
	vmr->mr = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = addr,
		.length = length,
		.handle = resp.mr_handle,
		.lkey = resp.lkey,
		.rkey = resp.rkey,
	};
	vmr->kind = VERBS_MR_USER;
	vmr->access = access;
	return 0;
}

VERBS_EXPORT int verbs_cmd_dereg_mr(struct verbs_mr *vmr)
{
	int ret = cmd_destroy(vmr->mr.context, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
			      UVERBS_ATTR_DESTROY_MR_HANDLE, vmr->mr.handle, 0, NULL, 0);

	if (ret == EBUSY)
		verbs_warn("ibv_dereg_mr: lkey 0x%x is in use: unbind its memory windows first",
			   vmr->mr.lkey);
	return ret;
}
