/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.c - regions of a program's memory, pinned or on demand.
 *
 * The device accesses a program's memory by virtual address when the data moves, so nothing is
 * really pinned. On-demand regions only differ in that their pages may be absent at registration.
 * An access to an unmapped page fails; pages that are mapped later are seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/log.h"

enum {
	PAGE_SHIFT = 12,
	MODIFIES = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
		   IB_UVERBS_ACCESS_REMOTE_ATOMIC | IB_UVERBS_ACCESS_MW_BIND,
	KNOWN_ACCESS = MODIFIES | IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_ZERO_BASED |
		       IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB |
		       IB_UVERBS_ACCESS_OPTIONAL_RANGE,
	/* Rights that can change without a new key. */
	CHANGEABLE_ACCESS = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
			    IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |
			    IB_UVERBS_ACCESS_RELAXED_ORDERING,
	USER_ADDRESS_BITS = 47, /* user addresses are below 2^47 */
};

static int mr_destroy(struct object *object, pid_t tid)
{
	struct uverbs_mr *mr = (struct uverbs_mr *)object;
	int ret = adapter_release(object->file->adapter, PRM_OP_DESTROY_MKEY, mr->key >> 8);

	(void)tid;
	if (ret)
		return ret; /* EBUSY, as windows are bound to it */
	mr->pd->base.users--;
	if (mr->dm)
		mr->dm->base.users--;
	if (mr->dmah)
		mr->dmah->base.users--;
	dmabuf_unmap(&mr->dmabuf);
	return 0;
}

int mr_check_access(const struct uverbs_call *uc, uint64_t access)
{
	if (access & ~(uint64_t)KNOWN_ACCESS)
		return EINVAL;
	if (access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IB_UVERBS_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (access & IB_UVERBS_ACCESS_ON_DEMAND && !adapter_cap(uc->adapter, HCA_CAP_PG))
		return EINVAL;
	return 0;
}

static bool is_implicit(const struct mr_request *req)
{
	return req->access & IB_UVERBS_ACCESS_ON_DEMAND && !req->start && req->length == UINT64_MAX;
}

/* Checks an on-demand region, which must begin where a program can have memory. An implicit one
 * covers the whole address space. */
static int check_on_demand(const struct mr_request *req)
{
	if (is_implicit(req))
		return req->iova ? EINVAL : 0;
	if (!req->length)
		return EINVAL;
	if (req->start + req->length < req->start ||
	    req->start + req->length > -(uint64_t)(1u << PAGE_SHIFT))
		return EOVERFLOW; /* refused, as the last page's end must not wrap */
	return req->start >> USER_ADDRESS_BITS ? EFAULT : 0;
}

/* Returns how many pages a region touches. Linux refuses only regions that touch none: 0 bytes
 * within a page touch it. Sources: ib_umem_get(), ib_umem_num_pages() */
static uint64_t pages_of(const struct mr_request *req)
{
	uint64_t page = 1u << PAGE_SHIFT, end = req->start + req->length;
	uint64_t last = end >> PAGE_SHIFT, first = req->start >> PAGE_SHIFT;

	return last - first + (end % page != 0);
}

static int check_memory(const struct mr_request *req)
{
	if (req->start + req->length < req->start || !pages_of(req))
		return EINVAL;
	/* refused, as Linux counts pages in 32 bits */
	return pages_of(req) > UINT32_MAX ? EINVAL : 0;
}

static int check_request(struct uverbs_call *uc, const struct mr_request *req)
{
	int ret = mr_check_access(uc, req->access);

	if (ret)
		return ret;
	if ((req->start ^ req->iova) & ((1u << PAGE_SHIFT) - 1))
		return EINVAL;
	if (req->access & IB_UVERBS_ACCESS_ON_DEMAND)
		return check_on_demand(req);
	return check_memory(req);
}

/* Pins the memory, unless it is on demand. */
static int pin_memory(struct uverbs_call *uc, const struct mr_request *req)
{
	if (req->access & IB_UVERBS_ACCESS_ON_DEMAND)
		return 0;
	return uc_pin(uc, req->start, req->length, req->access & MODIFIES);
}

/* Returns how much of the range the program's address space can have. */
static uint64_t reachable_length(const struct mr_request *req)
{
	uint64_t room = (1ull << USER_ADDRESS_BITS) - req->start;

	return req->length < room ? req->length : room;
}

static void set_region(struct uverbs_call *uc, const struct mr_request *req, struct uverbs_mr *mr)
{
	bool on_demand = req->access & IB_UVERBS_ACCESS_ON_DEMAND;

	mr->kind = is_implicit(req) ? MR_IMPLICIT : on_demand ? MR_ON_DEMAND : MR_PINNED;
	mr->iova = req->iova;
	mr->length = req->length;
	mr->region = (struct region){
		.bus = client_bus_addr(uc->client, 0) | (on_demand ? CLIENT_ON_DEMAND : 0),
		.start = req->start,
		.iova = req->iova,
		.length = on_demand ? reachable_length(req) : req->length,
		.access = req->access,
		.fixed = is_implicit(req),
	};
}

int mr_new(struct uverbs_call *uc, struct uverbs_mr **mr)
{
	return object_new(sizeof(**mr), uc->file, UVERBS_OBJECT_MR, mr_destroy, mr);
}

void mr_free(struct uverbs_mr *mr)
{
	dmabuf_unmap(&mr->dmabuf);
	object_free(&mr->base);
}

int mr_publish(struct uverbs_call *uc, struct uverbs_mr *mr, struct uverbs_pd *pd)
{
	mr->pd = pd;
	pd->base.users++;
	if (mr->dm) {
		mr->dm->base.users++;
		mr->base.scarce = true;
	}
	return uc_publish(uc, &mr->base);
}

int mr_finish(struct uverbs_call *uc, struct uverbs_mr *mr, struct uverbs_pd *pd)
{
	int ret = region_create_key(uc->adapter, &mr->region, pd->pdn, &mr->key, &mr->room);

	if (!ret)
		return mr_publish(uc, mr, pd);
	mr_free(mr);
	return ret;
}

int mr_return(struct uverbs_call *uc, struct uverbs_mr *mr, uint16_t handle, uint16_t lkey,
	      uint16_t rkey)
{
	uc_set(uc, handle, mr->base.handle);
	if (!uc_out(uc, lkey, &mr->key, sizeof(mr->key)) &&
	    !uc_out(uc, rkey, &mr->key, sizeof(mr->key)))
		return 0;
	object_destroy(&mr->base, uc->tid);
	return EFAULT;
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

int mr_of_memory(struct uverbs_call *uc, struct uverbs_pd *pd, const struct mr_request *req,
		 struct uverbs_mr **mr)
{
	int ret = check_request(uc, req);

	if (!ret)
		ret = pin_memory(uc, req);
	if (!ret)
		ret = mr_new(uc, mr);
	if (ret)
		return ret;
	set_region(uc, req, *mr);
	return mr_finish(uc, *mr, pd);
}

static int mr_reg(struct uverbs_call *uc)
{
	struct ib_uverbs_reg_mr cmd;
	struct mr_request req;
	struct uverbs_pd *pd;
	struct uverbs_mr *mr;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_PD, cmd.pd_handle, &pd);
	req = (struct mr_request){ cmd.start, cmd.length, cmd.hca_va, cmd.access_flags, -1 };
	if (!ret)
		ret = mr_of_memory(uc, pd, &req, &mr);
	if (ret)
		return ret;
	ret = mr_respond(uc, mr);
	if (ret)
		object_destroy(&mr->base, uc->tid);
	return ret;
}

enum {
	REREG_TRANSLATION = 1 << 0,
	REREG_PD = 1 << 1,
	REREG_ACCESS = 1 << 2,
	REREG_KNOWN = REREG_TRANSLATION | REREG_PD | REREG_ACCESS,
};

struct change {
	uint32_t flags;
	struct mr_request req;
	struct uverbs_pd *pd;
};

/* Reads the changes that CMD asks for. An implicit region keeps its range. */
static int read_change(struct uverbs_call *uc, const struct ib_uverbs_rereg_mr *cmd,
		       const struct uverbs_mr *mr, struct change *change)
{
	struct mr_request *req = &change->req;

	change->flags = cmd->flags;
	change->pd = mr->pd;
	*req = (struct mr_request){ mr->region.start, mr->length, mr->iova, mr->region.access, -1 };
	if (cmd->flags & REREG_TRANSLATION) {
		req->start = cmd->start;
		req->length = cmd->length;
		req->iova = cmd->hca_va;
	}
	if (cmd->flags & REREG_ACCESS)
		req->access = cmd->access_flags;
	if (mr->kind == MR_IMPLICIT && !(cmd->flags & REREG_TRANSLATION)) {
		if (!(req->access & IB_UVERBS_ACCESS_ON_DEMAND))
			return EOPNOTSUPP;
		change->flags |= REREG_TRANSLATION;
	}
	return cmd->flags & REREG_PD
		       ? object_find(uc->file, UVERBS_OBJECT_PD, cmd->pd_handle, &change->pd)
		       : 0;
}

/* Checks the changed region. Pages that stay are pinned already, but the program must have the
 * access rights that it asks for, as it may have lost them since. */
static int check_change(struct uverbs_call *uc, const struct uverbs_mr *mr,
			const struct change *change)
{
	const struct mr_request *req = &change->req;
	bool moved = change->flags & REREG_TRANSLATION;
	int ret;

	if (!moved && mr->kind == MR_DMABUF)
		return mr_check_access(uc, req->access);
	ret = check_request(uc, req);
	if (ret || req->access & IB_UVERBS_ACCESS_ON_DEMAND)
		return ret;
	return moved ? pin_memory(uc, req)
		     : client_check_range(uc->client, req->start, req->length ? req->length : 1,
					  req->access & MODIFIES);
}

/* Returns whether the key can stay: the range does not change and only some rights do, or the new
 * range fits. */
static bool keeps_key(const struct uverbs_mr *mr, const struct change *change,
		      const struct region *region)
{
	if ((mr->region.access ^ region->access) & ~CHANGEABLE_ACCESS)
		return false;
	if (!(change->flags & REREG_TRANSLATION))
		return !mr->region.fixed;
	return mr->kind == MR_PINNED && region_fits(region, mr->room);
}

static void move_to_pd(struct uverbs_mr *mr, struct uverbs_pd *pd)
{
	mr->pd->base.users--;
	mr->pd = pd;
	pd->base.users++;
}

static int replace_key(struct uverbs_call *uc, struct uverbs_mr *mr, struct uverbs_mr *changed,
		       const struct uverbs_pd *pd)
{
	int ret = region_create_key(uc->adapter, &changed->region, pd->pdn, &changed->key,
				    &changed->room);

	if (ret)
		return ret;
	ret = adapter_release(uc->adapter, PRM_OP_DESTROY_MKEY, mr->key >> 8);
	if (ret)
		adapter_release(uc->adapter, PRM_OP_DESTROY_MKEY, changed->key >> 8);
	return ret;
}

static int apply_change(struct uverbs_call *uc, struct uverbs_mr *mr, const struct change *change)
{
	bool moved = change->flags & REREG_TRANSLATION;
	struct uverbs_mr changed = *mr;
	int ret;

	if (moved)
		set_region(uc, &change->req, &changed);
	else
		changed.region.access = change->req.access;
	if (keeps_key(mr, change, &changed.region))
		ret = region_change_key(uc->adapter, mr->key, &changed.region, change->pd->pdn,
					moved);
	else if (!moved && mr->kind != MR_PINNED)
		/* refused, as a new key for the same pages works for pinned memory only */
		return EOPNOTSUPP;
	else
		ret = replace_key(uc, mr, &changed, change->pd);
	if (ret)
		return ret;
	if (moved) {
		dmabuf_unmap(&mr->dmabuf);
		changed.dmabuf = mr->dmabuf;
		pinned_take(uc->client, &changed.base.pinned);
	}
	*mr = changed;
	move_to_pd(mr, change->pd);
	return 0;
}

static int mr_rereg(struct uverbs_call *uc)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ib_uverbs_rereg_mr cmd;
	struct change change;
	struct uverbs_mr *mr;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (!cmd.flags)
		return EINVAL;
	if (cmd.flags & ~REREG_KNOWN)
		return EOPNOTSUPP;
	ret = object_find(uc->file, UVERBS_OBJECT_MR, cmd.mr_handle, &mr);
	if (!ret && mr->dm)
		ret = EINVAL;
	if (!ret)
		ret = read_change(uc, &cmd, mr, &change);
	if (!ret)
		ret = check_change(uc, mr, &change);
	if (!ret)
		ret = object_will_move(&mr->base);
	if (!ret)
		ret = apply_change(uc, mr, &change);
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
