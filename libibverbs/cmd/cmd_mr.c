/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_mr.c - commands on memory regions.
 */
#include "cmd/cmd.h"

#include <assert.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Reads from /proc/self/status how many bytes this process has pinned, and whether it may exceed
 * the limit. The file is read only for a log line, so the cost does not matter. */
static void read_pinned(unsigned long long *pinned, bool *is_exempt)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long value;
	char line[128];

	*pinned = 0;
	*is_exempt = false;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmPin: %llu kB", &value) == 1)
			*pinned = value * 1024;
		else if (sscanf(line, "CapEff: %llx", &value) == 1)
			*is_exempt = value >> CAP_IPC_LOCK & 1;
	}
	if (file)
		fclose(file);
}

/* Logs the reason of ENOMEM: the limit of pinned memory, or a lack of memory. The remedies differ.
 * Like the kernel, counts whole pages. */
static void explain_enomem(const void *addr, size_t length)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t wanted = align_up(((uintptr_t)addr & (page - 1)) + (uint64_t)length, page);
	unsigned long long pinned;
	struct rlimit limit;
	bool is_exempt;

	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	read_pinned(&pinned, &is_exempt);
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY && !is_exempt &&
	    pinned + wanted > limit.rlim_cur)
		verbs_warn("ibv_reg_mr: length %zu: ENOMEM: %llu bytes are pinned already and %llu "
			   "more would pass RLIMIT_MEMLOCK, which is %llu (ulimit -l)",
			   length, pinned, (unsigned long long)wanted,
			   (unsigned long long)limit.rlim_cur);
	else
		verbs_warn(
			"ibv_reg_mr: length %zu: ENOMEM: the host or the device has no memory for "
			"it; RLIMIT_MEMLOCK is not the reason",
			length);
}

/* IBTA vol 1, 10.6.3.1: remote write and atomic access require local write access. */
#define NEEDS_LOCAL_WRITE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

static const char *reg_mr_rule(int err, uintptr_t start, size_t length, uint64_t iova,
			       unsigned int access)
{
	if (err == EFAULT)
		return ": part of the range is not mapped, or not writable while access asks for "
		       "it";
	if (err != EINVAL)
		return "";
	if (access & NEEDS_LOCAL_WRITE && !(access & IBV_ACCESS_LOCAL_WRITE))
		return ": IBV_ACCESS_REMOTE_WRITE and IBV_ACCESS_REMOTE_ATOMIC need "
		       "IBV_ACCESS_LOCAL_WRITE";
	if (start + length < start)
		return ": addr + length is past the end of the address space";
	if ((start ^ iova) & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1))
		return ": iova and addr must have the same offset within a page";
	if (!length)
		return ": length 0";
	return ": no such access flag, or not on this device";
}

static void __attribute__((cold, noinline))
explain_reg_mr(int err, const struct ibv_mr *mr, uint64_t iova, unsigned int access)
{
	if (err == ENOMEM)
		explain_enomem(mr->addr, mr->length);
	else
		verbs_warn("ibv_reg_mr: addr %p length %zu iova 0x%llx access 0x%x: %s%s", mr->addr,
			   mr->length, (unsigned long long)iova, access, strerror(err),
			   reg_mr_rule(err, (uintptr_t)mr->addr, mr->length, iova, access));
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

	*vmr = (struct verbs_mr){
		.mr = { .context = pd->context, .pd = pd, .addr = addr, .length = length },
		.kind = VERBS_MR_USER,
		.access = access,
	};
	ret = verbs_cmd_run_write(pd->context, IB_USER_VERBS_CMD_REG_MR, &req, sizeof(req), &resp,
				  sizeof(resp), udata);
	if (ret) {
		explain_reg_mr(ret, &vmr->mr, req.hca_va, vmr->access);
		return ret;
	}
	vmr->mr.handle = resp.mr_handle;
	vmr->mr.lkey = resp.lkey;
	vmr->mr.rkey = resp.rkey;
	return 0;
}

static void fill_mr(struct verbs_mr *vmr, struct ibv_pd *pd, enum verbs_mr_kind kind,
		    unsigned int access)
{
	vmr->mr.context = pd->context;
	vmr->mr.pd = pd;
	vmr->kind = kind;
	vmr->access = access;
}

/* Runs a command that registers MR. CMD's first attribute is the new handle. The kernel gets the
 * other attributes unchanged, with driver data (UDATA) or without. */
static int mr_run(struct ibv_pd *pd, uint16_t method, struct verbs_short *cmd, unsigned int count,
		  struct ibv_mr *mr, const struct verbs_udata *udata)
{
	int ret;

	if (!udata) {
		ret = verbs_cmd_run_short(pd->context, UVERBS_OBJECT_MR, method, cmd, count);
		if (!ret)
			mr->handle = (uint32_t)cmd->attrs[0].value;
		return ret;
	}
	cmd->attrs[0] = verbs_attr_new_handle(cmd->attrs[0].id, &mr->handle);
	for (unsigned int i = 1; i < count; i++)
		cmd->attrs[i].how = VERBS_ATTR_HOW(VERBS_ATTR_OUT);
	return verbs_cmd_run_core(pd->context, UVERBS_OBJECT_MR, method, cmd->attrs, count, udata);
}

VERBS_EXPORT int verbs_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					 uint64_t iova, int fd, unsigned int access,
					 struct verbs_mr *vmr, const struct verbs_udata *udata)
{
	struct ibv_mr *mr = &vmr->mr;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(UVERBS_ATTR_REG_DMABUF_MR_HANDLE);
	cmd.attrs[1] = verbs_short_handle(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd->handle);
	cmd.attrs[2] = verbs_short_u64(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset);
	cmd.attrs[3] = verbs_short_u64(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, length);
	cmd.attrs[4] = verbs_short_u64(UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova);
	cmd.attrs[5] = verbs_short_u32(UVERBS_ATTR_REG_DMABUF_MR_FD, (uint32_t)fd);
	cmd.attrs[6] = verbs_short_u32(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS,
				       supported_access(pd->context, access));
	cmd.attrs[7] =
		verbs_short_out(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &mr->lkey, sizeof(mr->lkey));
	cmd.attrs[8] =
		verbs_short_out(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &mr->rkey, sizeof(mr->rkey));
	ret = mr_run(pd, UVERBS_METHOD_REG_DMABUF_MR, &cmd, 9, mr, udata);
	if (ret) {
		verbs_warn("ibv_reg_dmabuf_mr: fd %d offset 0x%llx length %zu iova 0x%llx access "
			   "0x%x: %s",
			   fd, (unsigned long long)offset, length, (unsigned long long)iova, access,
			   strerror(ret));
		return ret;
	}
	fill_mr(vmr, pd, VERBS_MR_DMABUF, access);
	mr->addr = (void *)(uintptr_t)offset;
	mr->length = length;
	return 0;
}

VERBS_EXPORT int verbs_cmd_reg_mr_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr,
				     struct verbs_mr *vmr, const struct verbs_udata *udata)
{
	const bool has_fd = attr->comp_mask & IBV_REG_MR_MASK_FD;
	const unsigned int access = (unsigned int)attr->access;
	struct ibv_mr *mr = &vmr->mr;
	unsigned int count = 0;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[count++] = verbs_short_new(UVERBS_ATTR_REG_MR_HANDLE);
	cmd.attrs[count++] = verbs_short_handle(UVERBS_ATTR_REG_MR_PD_HANDLE, pd->handle);
	if (attr->comp_mask & IBV_REG_MR_MASK_DMAH)
		cmd.attrs[count++] = verbs_short_handle(UVERBS_ATTR_REG_MR_DMA_HANDLE,
							to_vdmah(attr->dmah)->handle);
	cmd.attrs[count++] = verbs_short_u64(UVERBS_ATTR_REG_MR_IOVA, attr->iova);
	if (!has_fd)
		cmd.attrs[count++] =
			verbs_short_u64(UVERBS_ATTR_REG_MR_ADDR, (uintptr_t)attr->addr);
	cmd.attrs[count++] = verbs_short_u64(UVERBS_ATTR_REG_MR_LENGTH, attr->length);
	cmd.attrs[count++] = verbs_short_u32(UVERBS_ATTR_REG_MR_ACCESS_FLAGS,
					     supported_access(pd->context, access));
	if (has_fd) {
		cmd.attrs[count++] = verbs_short_fd(UVERBS_ATTR_REG_MR_FD, attr->fd);
		cmd.attrs[count++] = verbs_short_u64(UVERBS_ATTR_REG_MR_FD_OFFSET, attr->fd_offset);
	}
	cmd.attrs[count++] =
		verbs_short_out(UVERBS_ATTR_REG_MR_RESP_LKEY, &mr->lkey, sizeof(mr->lkey));
	cmd.attrs[count++] =
		verbs_short_out(UVERBS_ATTR_REG_MR_RESP_RKEY, &mr->rkey, sizeof(mr->rkey));
	ret = mr_run(pd, UVERBS_METHOD_REG_MR, &cmd, count, mr, udata);
	if (ret) {
		verbs_warn("ibv_reg_mr_ex: comp_mask 0x%llx length %zu iova 0x%llx access 0x%x: %s",
			   (unsigned long long)attr->comp_mask, attr->length,
			   (unsigned long long)attr->iova, access, strerror(ret));
		return ret;
	}
	fill_mr(vmr, pd, has_fd ? VERBS_MR_DMABUF : VERBS_MR_USER, access);
	mr->addr = has_fd ? (void *)(uintptr_t)attr->fd_offset : attr->addr;
	mr->length = attr->length;
	return 0;
}

VERBS_EXPORT int verbs_cmd_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset,
				     size_t length, unsigned int access, struct verbs_mr *vmr,
				     const struct verbs_udata *udata)
{
	struct ibv_mr *mr = &vmr->mr;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_new(UVERBS_ATTR_REG_DM_MR_HANDLE);
	cmd.attrs[1] = verbs_short_u64(UVERBS_ATTR_REG_DM_MR_OFFSET, dm_offset);
	cmd.attrs[2] = verbs_short_u64(UVERBS_ATTR_REG_DM_MR_LENGTH, length);
	cmd.attrs[3] = verbs_short_handle(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd->handle);
	cmd.attrs[4] = verbs_short_u32(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS,
				       supported_access(pd->context, access));
	cmd.attrs[5] = verbs_short_handle(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm->handle);
	cmd.attrs[6] =
		verbs_short_out(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &mr->lkey, sizeof(mr->lkey));
	cmd.attrs[7] =
		verbs_short_out(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &mr->rkey, sizeof(mr->rkey));
	ret = mr_run(pd, UVERBS_METHOD_DM_MR_REG, &cmd, 8, mr, udata);
	if (ret) {
		verbs_warn("ibv_reg_dm_mr: DM %u dm_offset %llu length %zu access 0x%x: %s%s",
			   dm->handle, (unsigned long long)dm_offset, length, access, strerror(ret),
			   ret == EINVAL && !(access & IBV_ACCESS_ZERO_BASED)
				   ? ": access must have IBV_ACCESS_ZERO_BASED"
				   : "");
		return ret;
	}
	fill_mr(vmr, pd, mr_kind_of_dm, access);
	mr->addr = NULL;
	mr->length = length;
	return 0;
}

VERBS_EXPORT int verbs_cmd_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
				    size_t length, uint64_t iova, unsigned int access,
				    const struct verbs_udata *udata)
{
	struct ib_uverbs_rereg_mr req = {
		.mr_handle = vmr->mr.handle,
		.flags = (uint32_t)flags,
	};
	struct ib_uverbs_rereg_mr_resp resp = {};
	int ret;

	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
		req.start = (uintptr_t)addr;
		req.length = length;
		req.hca_va = iova;
	}
	if (flags & IBV_REREG_MR_CHANGE_PD)
		req.pd_handle = pd->handle;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		req.access_flags = supported_access(vmr->mr.context, access);
	ret = verbs_cmd_run_write(vmr->mr.context, IB_USER_VERBS_CMD_REREG_MR, &req, sizeof(req),
				  &resp, sizeof(resp), udata);
	if (ret) {
		verbs_warn("ibv_rereg_mr: lkey 0x%x flags 0x%x addr %p length %zu access 0x%x: %s",
			   vmr->mr.lkey, flags, addr, length, access, strerror(ret));
		return ret;
	}
	vmr->mr.lkey = resp.lkey;
	vmr->mr.rkey = resp.rkey;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		vmr->access = access;
	return 0;
}

VERBS_EXPORT int verbs_cmd_query_mr(struct ibv_pd *pd, uint32_t handle, struct verbs_mr *vmr)
{
	struct ibv_mr *mr = &vmr->mr;
	uint64_t length = 0, iova = 0;
	struct verbs_short cmd;
	int ret;

	cmd.attrs[0] = verbs_short_handle(UVERBS_ATTR_QUERY_MR_HANDLE, handle);
	cmd.attrs[1] = verbs_short_out(UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->lkey, sizeof(mr->lkey));
	cmd.attrs[2] = verbs_short_out(UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->rkey, sizeof(mr->rkey));
	cmd.attrs[3] = verbs_short_out(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &length, sizeof(length));
	cmd.attrs[4] = verbs_attr_optional(
		verbs_short_out(UVERBS_ATTR_QUERY_MR_RESP_IOVA, &iova, sizeof(iova)));
	ret = verbs_cmd_run_short(pd->context, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, &cmd, 5);
	if (ret) {
		verbs_warn("ibv_import_mr: mr_handle %u: %s%s", handle, strerror(ret),
			   ret == ENOENT ? ": the context has no such MR" : "");
		return ret;
	}
	fill_mr(vmr, pd, VERBS_MR_IMPORTED, 0);
	mr->handle = handle;
	mr->addr = NULL;
	mr->length = length;
	return 0;
}

static void __attribute__((cold, noinline)) explain_dereg_mr(const struct verbs_mr *vmr, int err)
{
	verbs_warn("ibv_dereg_mr: lkey 0x%x: %s%s", vmr->mr.lkey, strerror(err),
		   err == EBUSY ? ": unbind its memory windows first" : "");
}

VERBS_EXPORT int verbs_cmd_dereg_mr(struct verbs_mr *vmr)
{
	int ret = verbs_cmd_destroy(vmr->mr.context, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
				    UVERBS_ATTR_DESTROY_MR_HANDLE, vmr->mr.handle);

	if (ret)
		explain_dereg_mr(vmr, ret);
	return ret;
}

static_assert(sizeof(struct ibv_sge) == 16 && offsetof(struct ibv_sge, lkey) == 12,
	      "the kernel's SGE of ADVISE_MR has the same layout");

VERBS_EXPORT int verbs_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
				     uint32_t flags, struct ibv_sge *sg_list, uint32_t num_sge)
{
	const uint32_t most = UINT16_MAX / sizeof(*sg_list);
	struct verbs_short cmd;
	int ret;

	if (num_sge > most) {
		verbs_warn("ibv_advise_mr: num_sge %u: must be at most %u", num_sge, most);
		return EINVAL;
	}
	cmd.attrs[0] = verbs_short_handle(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd->handle);
	cmd.attrs[1] = verbs_short_u64(UVERBS_ATTR_ADVISE_MR_ADVICE, advice);
	cmd.attrs[2] = verbs_short_u32(UVERBS_ATTR_ADVISE_MR_FLAGS, flags);
	cmd.attrs[3] =
		verbs_short_in(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sg_list, num_sge * sizeof(*sg_list));
	ret = verbs_cmd_run_short(pd->context, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, &cmd, 4);
	/* a driver without on-demand memory lacks the method, which to a program means that it is
	 * not supported */
	if (ret == EPROTONOSUPPORT)
		ret = errno = EOPNOTSUPP;
	if (ret)
		verbs_warn("ibv_advise_mr: advice %d flags 0x%x num_sge %u: %s%s", advice, flags,
			   num_sge, strerror(ret),
			   ret == ENOENT || ret == EINVAL
				   ? ": each SGE must lie in an on-demand MR of this PD"
				   : "");
	return ret;
}
