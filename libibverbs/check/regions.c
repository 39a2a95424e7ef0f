/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regions.c - memory regions by their lkeys, and the lists of buffers that requests name.
 *
 * An lkey without a record is not reported: direct verbs make keys that libibverbs does not see,
 * and all null regions of a device share one lkey.
 */
#include "check.h"

#include <stdio.h>

static struct check_key *key_find(const struct ibv_context *context, uint32_t lkey)
{
	return verbs_check_find(CHECK_KEY, context, lkey);
}

static void key_add(const struct ibv_mr *mr, uint64_t start, uint64_t length, unsigned int access,
		    bool is_ranged)
{
	struct check_key *key;

	verbs_check_lock();
	key = verbs_check_add(CHECK_KEY, mr->context, mr->lkey, sizeof(*key));
	if (key) {
		key->pd = mr->pd->handle;
		key->start = start;
		key->length = length;
		key->access = access;
		key->is_ranged = is_ranged;
	}
	verbs_check_unlock();
}

/* Marks the record as dead before the call that ends the lkey, because another thread may get the
 * same lkey at once. Returns the record, or NULL if no record is alive. */
static struct check_key *key_end(const struct ibv_mr *mr, enum check_end end)
{
	struct check_key *key;

	verbs_check_lock();
	key = verbs_check_find_live(CHECK_KEY, mr->context, mr->lkey);
	if (key) {
		key->end = end;
		check_live(&key->record, false);
	}
	verbs_check_unlock();
	return key;
}

static void key_is_of_memory(const struct ibv_mr *mr)
{
	struct check_key *key;

	verbs_check_lock();
	key = verbs_check_find_live(CHECK_KEY, mr->context, mr->lkey);
	if (key)
		key->is_memory = key->is_ranged;
	verbs_check_unlock();
}

static bool has_range(unsigned int access)
{
	return !(access & IBV_ACCESS_ZERO_BASED);
}

static void region_add(const struct verbs_mr *vmr, uint64_t start, uint64_t length,
		       unsigned int access, const char *call)
{
	key_add(&vmr->mr, start, length, access, has_range(access));
	verbs_check_made(vmr, call);
}

int verbs_check_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		       unsigned int access, struct verbs_mr **vmr)
{
	int err = check_real(pd->context)->reg_mr(pd, addr, length, iova, access, vmr);

	if (!err)
		region_add(*vmr, iova, length, access, "ibv_reg_mr");
	if (!err && check_id(addr) == iova)
		key_is_of_memory(&(*vmr)->mr);
	return err;
}

int verbs_check_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			      int fd, unsigned int access, struct verbs_mr **vmr)
{
	int err = check_real(pd->context)->reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr);

	if (!err)
		region_add(*vmr, iova, length, access, "ibv_reg_dmabuf_mr");
	return err;
}

int verbs_check_reg_mr_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr,
			  struct verbs_mr **vmr)
{
	const unsigned int access = (unsigned int)attr->access;
	int err = check_real(pd->context)->reg_mr_ex(pd, attr, vmr);

	if (!err)
		region_add(*vmr, attr->iova, attr->length, access, "ibv_reg_mr_ex");
	return err;
}

static void busy_say(uint32_t lkey, const struct check_post *request)
{
	verbs_check_say(CHECK_KEY_BUSY,
			"ibv_dereg_mr: lkey 0x%x: %s of QP 0x%x, wr_id 0x%llx, names the MR and "
			"has not completed: poll its completion, or destroy the QP, before",
			lkey, request->call, request->number, (unsigned long long)request->wr_id);
}

int verbs_check_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
			 size_t length, unsigned int access)
{
	struct ibv_context *context = vmr->mr.context;
	const bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	struct check_key *key = key_end(&vmr->mr, CHECK_REREGISTERED);
	struct check_key now = key ? *key : (struct check_key){ .is_ranged = false };
	struct ibv_mr mr;
	int err = check_real(context)->rereg_mr(vmr, flags, pd, addr, length, access);

	if (err && key)
		check_live(&key->record, true);
	if (err || !key)
		return err;
	mr = vmr->mr;
	if (flags & IBV_REREG_MR_CHANGE_PD)
		mr.pd = pd;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		now.access = access;
	key_add(&mr, moves ? check_id(addr) : now.start, moves ? length : now.length, now.access,
		has_range(now.access) && (moves || now.is_ranged));
	return 0;
}

int verbs_check_dereg_mr(struct verbs_mr *vmr)
{
	struct ibv_context *context = vmr->mr.context;
	struct check_key *key = key_end(&vmr->mr, CHECK_DEREGISTERED);
	const uint32_t lkey = vmr->mr.lkey;
	struct check_post request;
	const bool is_busy = key && verbs_check_request_names(context, lkey, &request);
	int err;

	verbs_check_is_ours(context, "ibv_dereg_mr", "lkey", lkey);
	err = check_real(context)->dereg_mr(vmr);

	if (!err && is_busy)
		busy_say(lkey, &request);

	if (err && key)
		check_live(&key->record, true);
	if (!err)
		verbs_check_unmade(vmr);
	return err;
}

/* Counts an import of a region. The region has a record if this context registered it. */
static void import_add(const struct ibv_mr *mr)
{
	struct check_key *key;

	verbs_check_lock();
	key = verbs_check_find_live(CHECK_KEY, mr->context, mr->lkey);
	if (!key) {
		key = verbs_check_add(CHECK_KEY, mr->context, mr->lkey, sizeof(*key));
		if (key) {
			key->pd = mr->pd->handle;
			key->access = ~0u;
			key->imports = 1;
		}
	} else if (key->imports) {
		key->imports++;
	}
	verbs_check_unlock();
}

/* Drops an import. If an import made the record, the last drop ends it. If a registration made the
 * record, it stays, because the region stays registered. */
static void import_drop(const struct ibv_mr *mr)
{
	struct check_key *key;

	verbs_check_lock();
	key = verbs_check_find_live(CHECK_KEY, mr->context, mr->lkey);
	if (key && key->imports && !--key->imports) {
		key->end = CHECK_UNIMPORTED;
		check_live(&key->record, false);
	}
	verbs_check_unlock();
}

int verbs_check_import_mr(struct ibv_pd *pd, uint32_t handle, struct verbs_mr **vmr)
{
	int err = check_real(pd->context)->import_mr(pd, handle, vmr);

	if (err)
		return err;
	import_add(&(*vmr)->mr);
	verbs_check_made(*vmr, "ibv_import_mr");
	return 0;
}

void verbs_check_unimport_mr(struct verbs_mr *vmr)
{
	import_drop(&vmr->mr);
	verbs_check_unmade(vmr);
	check_real(vmr->mr.context)->unimport_mr(vmr);
}

struct ibv_mr *verbs_check_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
				     size_t length, unsigned int access)
{
	struct ibv_mr *mr = check_real(pd->context)->reg_dm_mr(pd, dm, offset, length, access);

	if (mr)
		key_add(mr, 0, length, access, true); /* requests name offsets in the region */
	return mr;
}

#define SAY(fault, post, format, ...)                                                             \
	verbs_check_say(fault, "%s: %s 0x%x: wr_id 0x%llx: " format, (post)->call, (post)->owner, \
			(post)->number, (unsigned long long)(post)->wr_id, __VA_ARGS__)

static bool key_holds(const struct check_key *key, const struct ibv_sge *sge)
{
	return sge->addr >= key->start && sge->length <= key->length &&
	       sge->addr - key->start <= key->length - sge->length;
}

bool verbs_check_is_memory(const struct ibv_context *context, const struct ibv_sge *sge)
{
	const struct check_key *key = key_find(context, sge->lkey);

	return key && check_lives(&key->record) && key->is_memory && key_holds(key, sge);
}

static void dead_say(const struct check_post *post, const struct ibv_sge *sge, int index,
		     const struct check_key *key)
{
	char range[64] = "";

	if (key->is_ranged)
		snprintf(range, sizeof(range), " (0x%llx, %llu bytes)",
			 (unsigned long long)key->start, (unsigned long long)key->length);
	if (key->end == CHECK_REREGISTERED)
		SAY(CHECK_KEY_DEAD, post,
		    "sg_list[%d]: lkey 0x%x is of an MR%s that ibv_rereg_mr() gave another lkey: "
		    "read mr->lkey again after ibv_rereg_mr()",
		    index, sge->lkey, range);
	else if (key->end == CHECK_UNIMPORTED)
		SAY(CHECK_KEY_DEAD, post,
		    "sg_list[%d]: lkey 0x%x is of an MR that was unimported: post before "
		    "ibv_unimport_mr()",
		    index, sge->lkey);
	else
		SAY(CHECK_KEY_DEAD, post,
		    "sg_list[%d]: lkey 0x%x is of an MR that was deregistered%s: post before "
		    "ibv_dereg_mr(), or register the buffer again",
		    index, sge->lkey, range);
}

static void sge_check(const struct check_post *post, const struct ibv_sge *sge, int index,
		      const char *why)
{
	const struct check_key *key = key_find(post->context, sge->lkey);

	if (!key || !sge->length)
		return;
	if (!check_lives(&key->record))
		dead_say(post, sge, index, key);
	else if (key->pd != post->pd)
		SAY(CHECK_KEY_PD, post,
		    "sg_list[%d]: lkey 0x%x is of an MR on PD %u, but the %s is on PD %u: "
		    "register the buffer on the %s's PD",
		    index, sge->lkey, key->pd, post->owner, post->pd, post->owner);
	else if (key->is_ranged && !key_holds(key, sge))
		SAY(CHECK_KEY_RANGE, post,
		    "sg_list[%d]: %u bytes at 0x%llx are not all in the MR of lkey 0x%x, which has "
		    "%llu bytes at 0x%llx: register all of the buffer, or correct addr and length",
		    index, sge->length, (unsigned long long)sge->addr, sge->lkey,
		    (unsigned long long)key->length, (unsigned long long)key->start);
	else if (why && !(key->access & IBV_ACCESS_LOCAL_WRITE))
		SAY(CHECK_KEY_RIGHTS, post,
		    "sg_list[%d]: %s writes to the buffer, but the MR of lkey 0x%x lacks "
		    "IBV_ACCESS_LOCAL_WRITE: register it with that flag",
		    index, why, sge->lkey);
}

void verbs_check_sges(const struct check_post *post, const struct ibv_sge *sges, int count,
		      const char *why)
{
	for (int i = 0; sges && i < count; i++)
		sge_check(post, &sges[i], i, why);
}

void verbs_check_atomic(const struct check_post *post, const struct ibv_sge *sges, int count)
{
	const char *why = "the answer of the atomic";
	struct ibv_sge one;

	if (count != 1 || !sges) {
		verbs_check_sges(post, sges, count, why);
		return;
	}
	one = *sges;
	one.length = one.length ? 8 : 0;
	sge_check(post, &one, 0, why);
}
