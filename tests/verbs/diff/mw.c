/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mw.c - memory windows of both types: binds them, writes through them, invalidates them, and tries
 * invalid requests.
 *
 * Covers: libibverbs/cmd/cmd_mw.c, providers/mlx5/data/bind_mw.c, providers/common/mw.c,
 * softhca/front/process/uverbs/mw.c
 */
#include "diff.h"

#include <stdio.h>
#include <sys/mman.h>

#define WINDOW_AT 4096

static void completion_report(struct rig_end *end, const char *what)
{
	struct ibv_wc wc;

	if (rig_poll(end->cq, 1, &wc) != 1)
		say("%s: no completion", what);
	else if (wc.status)
		say("%s: status %d", what, (int)wc.status);
	else
		say("%s: opcode %d", what, (int)wc.opcode);
}

/* Writes from end 0, by KEY, to the memory bound to a window of end 1. */
static void write_to(struct rig_pair *pair, uint32_t rkey, uint8_t *to, uint32_t len,
		     const char *what)
{
	struct rig_end *from = &pair->end[0];
	struct ibv_sge sge = { (uintptr_t)from->buf, len, from->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)to;
	wr.wr.rdma.rkey = rkey;
	memset(to, 0, len);
	MUST(!ibv_post_send(from->qp, &wr, &bad));
	completion_report(from, what);
	say("%s: arrived %d", what, !memcmp(from->buf, to, len));
}

static void write_through(struct rig_pair *pair, uint32_t rkey, uint32_t len, const char *what)
{
	write_to(pair, rkey, pair->end[1].buf + WINDOW_AT, len, what);
}

static struct ibv_mw_bind_info whole_window(struct rig_end *end, unsigned int access)
{
	return (struct ibv_mw_bind_info){ end->mr, (uintptr_t)end->buf + WINDOW_AT, 256, access };
}

static void unbind(struct rig_end *end, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	bind->bind_info.length = 0;
	bind->bind_info.mr = NULL;
	SAY_RET(ibv_bind_mw(end->qp, mw, bind), "bind addr without mr");
	bind->bind_info.addr = 0;
	SAY_RET(ibv_bind_mw(end->qp, mw, bind), "unbind");
	completion_report(end, "unbind");
}

static void type_1(struct rig_pair *pair, bool unbinds)
{
	struct rig_end *end = &pair->end[1];
	struct ibv_mw *mw = SAY_PTR(ibv_alloc_mw(pair->pd, IBV_MW_TYPE_1), "alloc type 1");
	struct ibv_mw_bind bind = { .wr_id = 1, .send_flags = IBV_SEND_SIGNALED };
	uint32_t first;

	if (!mw)
		return;
	bind.bind_info = whole_window(end, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED);
	if (!SAY_RET(ibv_bind_mw(end->qp, mw, &bind), "bind type 1 zero based"))
		completion_report(end, "bind type 1 zero based");
	bind.bind_info = whole_window(end, IBV_ACCESS_REMOTE_WRITE);
	first = mw->rkey;
	SAY_RET(ibv_bind_mw(end->qp, mw, &bind), "bind");
	completion_report(end, "bind");
	say_check(mw->rkey != first, "the key is another");
	write_through(pair, mw->rkey, 256, "type 1");
	if (unbinds)
		unbind(end, mw, &bind);
	SAY_RET(ibv_dealloc_mw(mw), "dealloc");
}

static void post_bind(struct rig_end *end, struct ibv_mw *mw, uint32_t rkey,
		      const struct ibv_mw_bind_info *info, const char *what)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED }, *bad;
	int ret;

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = rkey;
	wr.bind_mw.bind_info = *info;
	ret = SAY_RET(ibv_post_send(end->qp, &wr, &bad), "%s", what);
	if (!ret)
		completion_report(end, what);
}

static void post_invalidate(struct rig_end *end, uint32_t rkey, const char *what)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	wr.invalidate_rkey = rkey;
	SAY_RET(ibv_post_send(end->qp, &wr, &bad), "%s", what);
	completion_report(end, what);
}

static void type_2(struct rig_pair *pair)
{
	struct rig_end *end = &pair->end[1];
	struct ibv_mw *mw = SAY_PTR(ibv_alloc_mw(pair->pd, IBV_MW_TYPE_2), "alloc type 2");
	struct ibv_mw_bind_info info =
		whole_window(end, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mw_bind bind = { .bind_info = info };
	uint32_t rkey;

	if (!mw)
		return;
	SAY_RET(ibv_bind_mw(end->qp, mw, &bind), "bind verb of type 2");
	rkey = ibv_inc_rkey(mw->rkey);
	post_bind(end, mw, rkey, &info, "bind by request");
	mw->rkey = rkey;
	write_through(pair, rkey, 256, "type 2");
	post_bind(end, mw, ibv_inc_rkey(rkey), &info, "bind what is bound");
	rig_pair_reconnect(pair);
	post_invalidate(end, rkey, "invalidate");
	write_through(pair, rkey, 256, "type 2 after invalidate");
	rig_pair_reconnect(pair);
	SAY_RET(ibv_dealloc_mw(mw), "dealloc");
}

static void bind_by_batch(struct rig_end *end, struct ibv_mw *mw,
			  const struct ibv_mw_bind_info *info, const char *what)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(end->qp);
	uint32_t rkey = ibv_inc_rkey(mw->rkey);
	int ret;

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(qpx, mw, rkey, info);
	ret = SAY_RET(ibv_wr_complete(qpx), "%s: by a batch", what);
	if (!ret)
		completion_report(end, what);
}

/* Binds by ibv_bind_mw(), whose inline part requires that window and region belong to one PD
 * object. */
static void bind_type_1(struct rig_end *end, struct ibv_pd *mw_pd, struct ibv_mr *mr,
			const char *what)
{
	struct ibv_mw *mw = ibv_alloc_mw(mw_pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };

	MUST(mw);
	bind.bind_info = whole_window(end, IBV_ACCESS_REMOTE_WRITE);
	bind.bind_info.mr = mr;
	if (!SAY_RET(ibv_bind_mw(end->qp, mw, &bind), "%s: by ibv_bind_mw", what))
		completion_report(end, what);
	MUST(!ibv_dealloc_mw(mw));
}

static void bind_type_2(struct rig_end *end, struct ibv_pd *mw_pd, struct ibv_mr *mr,
			const char *what)
{
	struct ibv_mw_bind_info info = whole_window(end, IBV_ACCESS_REMOTE_WRITE);
	struct ibv_mw *mw[2];

	info.mr = mr;
	for (int i = 0; i < 2; i++)
		MUST(mw[i] = ibv_alloc_mw(mw_pd, IBV_MW_TYPE_2));
	post_bind(end, mw[0], ibv_inc_rkey(mw[0]->rkey), &info, what);
	bind_by_batch(end, mw[1], &info, what);
	for (int i = 0; i < 2; i++)
		MUST(!ibv_dealloc_mw(mw[i]));
}

static struct ibv_pd *parent_of(struct ibv_pd *pd)
{
	struct ibv_parent_domain_init_attr attr = { .pd = pd };
	struct ibv_pd *parent = ibv_alloc_parent_domain(pd->context, &attr);

	MUST(parent);
	return parent;
}

static void bind_across(struct rig_end *end, struct ibv_pd *base, struct ibv_pd *parent,
			struct ibv_pd *other, const char *who)
{
	struct ibv_pd *pds[] = { base, parent, other };
	static const char *const names[] = { "base", "parent", "other" };
	char what[64];

	for (int r = 0; r < 2; r++) {
		struct ibv_mr *mr =
			ibv_reg_mr(pds[r], end->buf, 65536,
				   IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE);

		MUST(mr);
		for (int w = 0; w < 3; w++) {
			snprintf(what, sizeof(what), "QP of %s, window of %s, region of %s", who,
				 names[w], names[r]);
			if (w == r || pds[w] == other)
				bind_type_1(end, pds[w], mr, what);
			if (pds[w] != other)
				bind_type_2(end, pds[w], mr, what);
		}
		MUST(!ibv_dereg_mr(mr));
	}
}

void diff_mw_domains(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_end ends[2];
	struct ibv_pd *base = ibv_alloc_pd(rig->ctx), *other = ibv_alloc_pd(rig->ctx), *parent;

	MUST(base && other);
	parent = parent_of(base);
	conf.send_ops = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	rig_end_open(parent, &conf, &ends[0]);
	rig_end_open(base, &conf, &ends[1]);
	for (int i = 0; i < 2; i++)
		rig_qp_to(rig, &conf, ends[i].qp, ends[!i].qp->qp_num, IBV_QPS_RTS);
	bind_across(&ends[0], base, parent, other, "parent");
	bind_across(&ends[1], base, parent, other, "base");
	for (int i = 0; i < 2; i++)
		rig_end_close(&ends[i]);
	MUST(!ibv_dealloc_pd(parent));
	MUST(!ibv_dealloc_pd(base));
	MUST(!ibv_dealloc_pd(other));
}

static void windows(struct rig *rig, bool unbinds)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	conf.mr_access |= IBV_ACCESS_MW_BIND;
	rig_pair_open(rig, &conf, &pair);
	for (int i = 0; i < 256; i++)
		pair.end[0].buf[i] = (uint8_t)(i + 1);
	type_1(&pair, unbinds);
	type_2(&pair);
	SAY_PTR(ibv_alloc_mw(pair.pd, (enum ibv_mw_type)3), "alloc type 3");
	rig_pair_close(&pair);
}

void diff_mw_data(struct rig *rig)
{
	windows(rig, true);
}

/* The distribution's libmlx4 crashes where a window is bound to no region. */
void diff_mw_bound(struct rig *rig)
{
	windows(rig, false);
}

/* A region registered without windows accepts no binding. Only adapters of mlx4 check that. */
void diff_mw_refused(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_mw_bind_info info;
	struct rig_pair pair;
	struct ibv_mw *mw;

	rig_pair_open(rig, &conf, &pair);
	MUST(mw = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_2));
	info = whole_window(&pair.end[1], IBV_ACCESS_REMOTE_WRITE);
	post_bind(&pair.end[1], mw, ibv_inc_rkey(mw->rkey), &info, "no right to bind");
	rig_pair_reconnect(&pair);
	info.length = 1 << 30;
	post_bind(&pair.end[1], mw, ibv_inc_rkey(mw->rkey), &info, "beyond the region");
	MUST(!ibv_dealloc_mw(mw));
	rig_pair_close(&pair);
}

/* The following cases are for mlx4, as mlx5's adapters let regions with windows be deregistered,
 * and do not look at the region when a window is bound. */
static bool is_mlx4(const struct rig *rig)
{
	if (rig->device.vendor_part_id < 4113) /* the first Connect-IB */
		return true;
	say("not on this adapter");
	return false;
}

static void post_rebind(struct rig_end *end, struct ibv_mw *mw, struct ibv_mr *mr, const char *what)
{
	struct ibv_mw_bind_info info = whole_window(end, IBV_ACCESS_REMOTE_WRITE);
	uint32_t rkey = ibv_inc_rkey(mw->rkey);

	info.mr = mr;
	post_bind(end, mw, rkey, &info, what);
	mw->rkey = rkey;
}

static void say_bound(struct ibv_mr *mr, const char *what)
{
	say_check(ibv_dereg_mr(mr) == EBUSY, "%s: the region stays", what);
	say_check(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND) &&
			  errno == EBUSY,
		  "%s: and as it is", what);
}

/* Linux' driver of mlx4 keeps a region as long as windows are bound to it, so it cannot go before
 * them. */
void diff_mw_bound_to(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct rig_end *end = &pair.end[1];
	struct ibv_mr *mr[3];
	struct ibv_mw *one, *two;

	if (!is_mlx4(rig))
		return;
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	rig_pair_open(rig, &conf, &pair);
	for (int i = 0; i < 3; i++)
		MUST(mr[i] = ibv_reg_mr(pair.pd, end->buf, 65536,
					IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE |
						RIG_ALL_REMOTE));
	MUST(one = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_1));
	MUST(two = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_2));
	post_rebind(end, one, mr[0], "type 1");
	say_bound(mr[0], "a window of type 1");
	post_rebind(end, one, mr[1], "type 1 to another");
	SAY_RET(ibv_dereg_mr(mr[0]), "dereg what it has left");
	say_bound(mr[1], "a window that was bound again");
	MUST(!ibv_dealloc_mw(one));
	SAY_RET(ibv_dereg_mr(mr[1]), "dereg after dealloc");
	post_rebind(end, two, mr[2], "type 2");
	say_bound(mr[2], "a window of type 2");
	post_invalidate(end, two->rkey, "invalidate");
	SAY_RET(ibv_dereg_mr(mr[2]), "dereg after the invalidation");
	MUST(!ibv_dealloc_mw(two));
	rig_pair_close(&pair);
}

#define HUGE_REGION (9ull << 30)

/* A window may be as long as a region; a refused binding leaves it unchanged. */
void diff_mw_huge(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	size_t len = SIZE_MAX >> 32 ? (size_t)HUGE_REGION : SIZE_MAX >> 4;
	struct ibv_mw_bind_info info = { .length = len };
	struct rig_pair pair;
	struct rig_end *end = &pair.end[1];
	struct ibv_mw *mw;
	uint32_t rkey;
	uint8_t *mem;

	if (!is_mlx4(rig))
		return;
	mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	MUST(mem != MAP_FAILED);
	info.addr = (uintptr_t)mem;
	rig_pair_open(rig, &conf, &pair);
	memset(pair.end[0].buf, 0x5a, 256);
	MUST(info.mr = ibv_reg_mr(pair.pd, mem, len,
				  IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE));
	MUST(mw = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_1));
	rkey = ibv_inc_rkey(mw->rkey);
	info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	post_bind(end, mw, rkey, &info, "all of it");
	mw->rkey = rkey;
	write_to(&pair, rkey, mem + len - 256, 256, "the end of it");
	info.addr += 4096;
	post_bind(end, mw, ibv_inc_rkey(rkey), &info, "beyond its end");
	rig_pair_reconnect(&pair);
	write_to(&pair, rkey, mem + 512, 256, "the window as it was");
	MUST(!ibv_dealloc_mw(mw));
	MUST(!ibv_dereg_mr(info.mr));
	munmap(mem, len);
	rig_pair_close(&pair);
}
