/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.c - memory regions.
 *
 * Bus addresses are virtual ones, so a region is contiguous on the bus: it is described by pages as large as its alignment
 * relative to the address programs use for it allows, which are few.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/uverbs/objects.h"
#include "softhca/log.h"

enum {
	MIN_PAGE_SHIFT = 12,
	MAX_PAGE_SHIFT = 31,
	MODIFIES = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
		   IB_UVERBS_ACCESS_REMOTE_ATOMIC | IB_UVERBS_ACCESS_MW_BIND,
	KNOWN_ACCESS = MODIFIES | IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_ZERO_BASED |
		       IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE,
};

static int mr_destroy(struct object *object, pid_t tid)
{
	struct uverbs_mr *mr = (struct uverbs_mr *)object;
	int ret = adapter_release(object->file->adapter, PRM_OP_DESTROY_MKEY, mr->key >> 8);

	(void)tid;
	if (!ret)
		mr->pd->base.users--;
	return ret;
}

/* IBTA: remote writes and atomics need local write. */
static int check_access(uint32_t access)
{
	if (access & ~KNOWN_ACCESS)
		return EINVAL;
	if (access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return EINVAL;
	return 0;
}

/* The largest page of which START and IOVA are at the same offset and that is not needlessly larger than the region. */
static unsigned int pick_page_shift(uint64_t start, uint64_t iova, uint64_t length)
{
	unsigned int shift = MIN_PAGE_SHIFT;

	while (shift < MAX_PAGE_SHIFT && 1ull << shift < length &&
	       !((start ^ iova) & ((1ull << (shift + 1)) - 1)))
		shift++;
	return shift;
}

static void fill_mkc(uint8_t *mkc, const struct ib_uverbs_reg_mr *cmd, uint32_t pdn,
		     unsigned int page_shift, uint32_t octwords)
{
	prm_set(mkc, MKC_A, !!(cmd->access_flags & IB_UVERBS_ACCESS_REMOTE_ATOMIC));
	prm_set(mkc, MKC_RW, !!(cmd->access_flags & IB_UVERBS_ACCESS_REMOTE_WRITE));
	prm_set(mkc, MKC_RR, !!(cmd->access_flags & IB_UVERBS_ACCESS_REMOTE_READ));
	prm_set(mkc, MKC_LW, !!(cmd->access_flags & IB_UVERBS_ACCESS_LOCAL_WRITE));
	prm_set(mkc, MKC_LR, 1);
	prm_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MTT);
	prm_set(mkc, MKC_QPN, 0xffffff); /* any */
	prm_set(mkc, MKC_PD, pdn);
	prm_set(mkc, MKC_START_ADDR, cmd->hca_va);
	prm_set(mkc, MKC_LEN, cmd->length);
	prm_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, octwords);
	prm_set(mkc, MKC_LOG_PAGE_SIZE, page_shift);
}

static int create_mkey(struct uverbs_call *uc, const struct ib_uverbs_reg_mr *cmd, uint32_t pdn,
		       uint32_t *key)
{
	unsigned int shift = pick_page_shift(cmd->start, cmd->hca_va, cmd->length);
	uint64_t first = cmd->start >> shift, last = (cmd->start + cmd->length - 1) >> shift;
	uint64_t pages = cmd->length ? last - first + 1 : 1;
	uint32_t octwords = (pages + 1) / 2; /* of 16 bytes: two addresses */
	size_t in_len = PRM_CREATE_MKEY_IN_SIZE + octwords * 16;
	uint8_t *in = calloc(1, in_len), out[PRM_CMD_OUT_SIZE];
	int ret;

	if (!in)
		return ENOMEM;
	prm_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	prm_set(in, CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, octwords);
	fill_mkc(prm_at(in, CREATE_MKEY_IN_MKC), cmd, pdn, shift, octwords);
	for (uint64_t i = 0; i < pages; i++)
		prm_set64(in, PRM_BYTE(CREATE_MKEY_IN_PAS) + i * 8,
			  client_bus_addr(uc->client, (first + i) << shift));
	ret = adapter_command(uc->adapter, in, in_len, out, sizeof(out));
	if (!ret)
		*key = prm_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8;
	free(in);
	return ret;
}

static int check_region(struct uverbs_call *uc, const struct ib_uverbs_reg_mr *cmd)
{
	int ret = check_access(cmd->access_flags);

	if (ret)
		return ret;
	if ((cmd->start ^ cmd->hca_va) & ((1u << MIN_PAGE_SHIFT) - 1))
		return EINVAL;
	if (!cmd->length || cmd->start + cmd->length < cmd->start)
		return EINVAL;
	if (cmd->length >> MIN_PAGE_SHIFT > UINT32_MAX)
		return EINVAL; /* more pages than are counted */
	return client_check_range(uc->client, cmd->start, cmd->length,
				  cmd->access_flags & MODIFIES);
}

static int mr_respond(struct uverbs_call *uc, const struct uverbs_mr *mr)
{
	struct ib_uverbs_reg_mr_resp resp = {
		.mr_handle = mr->base.handle,
		.lkey = mr->key,
		.rkey = mr->key,
	};

	return uc_out(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static int mr_reg(struct uverbs_call *uc)
{
	struct ib_uverbs_reg_mr cmd;
	struct uverbs_pd *pd;
	struct uverbs_mr *mr;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_PD, cmd.pd_handle, &pd);
	if (!ret)
		ret = check_region(uc, &cmd);
	if (!ret)
		ret = object_new(sizeof(*mr), uc->file, UVERBS_OBJECT_MR, mr_destroy, &mr);
	if (ret)
		return ret;
	*mr = (struct uverbs_mr){ mr->base,        pd, 0, cmd.start, cmd.hca_va, cmd.length,
				  cmd.access_flags };
	ret = create_mkey(uc, &cmd, pd->pdn, &mr->key);
	if (ret) {
		object_free(&mr->base);
		return ret;
	}
	pd->base.users++;
	ret = uc_publish(uc, &mr->base);
	if (ret)
		return ret;
	ret = mr_respond(uc, mr);
	if (ret)
		object_destroy(&mr->base, uc->tid);
	return ret;
}

/* ---- changing a region: the key is a new one ---- */

enum {
	REREG_TRANSLATION = 1 << 0,
	REREG_PD = 1 << 1,
	REREG_ACCESS = 1 << 2,
	REREG_KNOWN = REREG_TRANSLATION | REREG_PD | REREG_ACCESS,
};

/* The region that MR would be with the changes in CMD, as for REG_MR. */
static int changed_region(struct uverbs_call *uc, const struct ib_uverbs_rereg_mr *cmd,
			  const struct uverbs_mr *mr, struct ib_uverbs_reg_mr *region,
			  struct uverbs_pd **pd)
{
	int ret = 0;

	*region = (struct ib_uverbs_reg_mr){ .start = mr->start,
					     .length = mr->length,
					     .hca_va = mr->iova,
					     .access_flags = mr->access };
	*pd = mr->pd;
	if (cmd->flags & REREG_TRANSLATION) {
		region->start = cmd->start;
		region->length = cmd->length;
		region->hca_va = cmd->hca_va;
	}
	if (cmd->flags & REREG_ACCESS)
		region->access_flags = cmd->access_flags;
	if (cmd->flags & REREG_PD)
		ret = object_find(uc->file, UVERBS_OBJECT_PD, cmd->pd_handle, pd);
	return ret ? ret : check_region(uc, region);
}

static int replace_mkey(struct uverbs_call *uc, const struct ib_uverbs_reg_mr *region,
			struct uverbs_pd *pd, struct uverbs_mr *mr)
{
	uint32_t key;
	int ret = create_mkey(uc, region, pd->pdn, &key);

	if (ret)
		return ret;
	ret = adapter_release(uc->adapter, PRM_OP_DESTROY_MKEY, mr->key >> 8);
	if (ret) {
		adapter_release(uc->adapter, PRM_OP_DESTROY_MKEY, key >> 8);
		return ret;
	}
	mr->pd->base.users--;
	pd->base.users++;
	*mr = (struct uverbs_mr){ mr->base,
				  pd,
				  key,
				  region->start,
				  region->hca_va,
				  region->length,
				  region->access_flags };
	return 0;
}

static int mr_rereg(struct uverbs_call *uc)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ib_uverbs_rereg_mr cmd;
	struct ib_uverbs_reg_mr region;
	struct uverbs_pd *pd;
	struct uverbs_mr *mr;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (!cmd.flags)
		return EINVAL;
	if (cmd.flags & ~REREG_KNOWN)
		return EOPNOTSUPP;
	ret = object_find(uc->file, UVERBS_OBJECT_MR, cmd.mr_handle, &mr);
	if (!ret)
		ret = changed_region(uc, &cmd, mr, &region, &pd);
	if (!ret)
		ret = replace_mkey(uc, &region, pd, mr);
	if (ret)
		return ret;
	resp = (struct ib_uverbs_rereg_mr_resp){ .lkey = mr->key, .rkey = mr->key };
	return uc_out(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static int mr_dereg(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_DESTROY_MR_HANDLE), uc->tid);
}

static int mr_dereg_write(struct uverbs_call *uc)
{
	return uc_destroy_by_handle(uc, UVERBS_OBJECT_MR);
}

static int mr_query(struct uverbs_call *uc)
{
	const struct uverbs_mr *mr = uc_object(uc, UVERBS_ATTR_QUERY_MR_HANDLE);

	if (uc_out(uc, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->key, sizeof(mr->key)) ||
	    uc_out(uc, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->key, sizeof(mr->key)) ||
	    uc_out(uc, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &mr->length, sizeof(mr->length)) ||
	    uc_out(uc, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &mr->iova, sizeof(mr->iova)))
		return EFAULT;
	return 0;
}

static const struct uverbs_attr dereg_attrs[] = {
	{ UVERBS_ATTR_DESTROY_MR_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_MR },
};

static const struct uverbs_attr query_attrs[] = {
	{ UVERBS_ATTR_QUERY_MR_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_MR },
	{ UVERBS_ATTR_QUERY_MR_RESP_LKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_QUERY_MR_RESP_RKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_QUERY_MR_RESP_LENGTH, ATTR_OUT, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_QUERY_MR_RESP_IOVA, ATTR_OUT, OPTIONAL, 8, 8, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("MR_DESTROY", UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, mr_dereg, dereg_attrs),
	METHOD("QUERY_MR", UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, mr_query, query_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "REG_MR", IB_USER_VERBS_CMD_REG_MR, sizeof(struct ib_uverbs_reg_mr),
	  sizeof(struct ib_uverbs_reg_mr_resp), mr_reg },
	{ "REREG_MR", IB_USER_VERBS_CMD_REREG_MR, sizeof(struct ib_uverbs_rereg_mr),
	  sizeof(struct ib_uverbs_rereg_mr_resp), mr_rereg },
	{ "DEREG_MR", IB_USER_VERBS_CMD_DEREG_MR, sizeof(struct ib_uverbs_dereg_mr), 0,
	  mr_dereg_write },
};

const struct uverbs_methods mr_methods = METHODS(method_table);
const struct uverbs_writes mr_writes = METHODS(write_table);
