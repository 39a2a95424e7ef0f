/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mw.c - memory windows of both types: bind, write through, invalidate, and what is refused.
 */
#include "diff.h"

#define WINDOW_AT 4096

static void report(struct rig_end *end, const char *what)
{
	struct ibv_wc wc;

	if (rig_poll(end->cq, 1, &wc) != 1)
		say("%s: no completion", what);
	else if (wc.status)
		say("%s: status %d", what, (int)wc.status);
	else
		say("%s: opcode %d", what, (int)wc.opcode);
}

/* Into the window of end 1, by the key. */
static void write_through(struct rig_pair *pair, uint32_t rkey, uint64_t addr, uint32_t len,
			  const char *what)
{
	struct rig_end *from = &pair->end[0];
	struct ibv_sge sge = { (uintptr_t)from->buf, len, from->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = rkey;
	memset(pair->end[1].buf + WINDOW_AT, 0, len);
	MUST(!ibv_post_send(from->qp, &wr, &bad));
	report(from, what);
	say("%s: arrived %d", what, !memcmp(from->buf, pair->end[1].buf + WINDOW_AT, len));
}

static struct ibv_mw_bind_info whole(struct rig_end *end, unsigned int access)
{
	return (struct ibv_mw_bind_info){ end->mr, (uintptr_t)end->buf + WINDOW_AT, 256, access };
}

static void type_1(struct rig_pair *pair)
{
	struct rig_end *end = &pair->end[1];
	struct ibv_mw *mw = SAY_PTR(ibv_alloc_mw(pair->pd, IBV_MW_TYPE_1), "alloc type 1");
	struct ibv_mw_bind bind = { .wr_id = 1, .send_flags = IBV_SEND_SIGNALED };
	uint32_t first;

	if (!mw)
		return;
	bind.bind_info = whole(end, IBV_ACCESS_REMOTE_WRITE);
	first = mw->rkey;
	SAY_RET(ibv_bind_mw(end->qp, mw, &bind), "bind");
	report(end, "bind");
	say_check(mw->rkey != first, "the key is another");
	write_through(pair, mw->rkey, bind.bind_info.addr, 256, "type 1");
	bind.bind_info.length = 0;
	bind.bind_info.mr = NULL;
	SAY_RET(ibv_bind_mw(end->qp, mw, &bind), "bind addr without mr");
	bind.bind_info.addr = 0;
	SAY_RET(ibv_bind_mw(end->qp, mw, &bind), "unbind");
	report(end, "unbind");
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
		report(end, what);
}

static void post_invalidate(struct rig_end *end, uint32_t rkey, const char *what)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	wr.invalidate_rkey = rkey;
	SAY_RET(ibv_post_send(end->qp, &wr, &bad), "%s", what);
	report(end, what);
}

static void type_2(struct rig_pair *pair)
{
	struct rig_end *end = &pair->end[1];
	struct ibv_mw *mw = SAY_PTR(ibv_alloc_mw(pair->pd, IBV_MW_TYPE_2), "alloc type 2");
	struct ibv_mw_bind_info info = whole(end, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
	struct ibv_mw_bind bind = { .bind_info = info };
	uint32_t rkey;

	if (!mw)
		return;
	SAY_RET(ibv_bind_mw(end->qp, mw, &bind), "bind verb of type 2");
	rkey = ibv_inc_rkey(mw->rkey);
	post_bind(end, mw, rkey, &info, "bind by request");
	mw->rkey = rkey;
	write_through(pair, rkey, info.addr, 256, "type 2");
	post_bind(end, mw, ibv_inc_rkey(rkey), &info, "bind what is bound");
	rig_pair_reconnect(pair);
	post_invalidate(end, rkey, "invalidate");
	write_through(pair, rkey, info.addr, 256, "type 2 after invalidate");
	rig_pair_reconnect(pair);
	SAY_RET(ibv_dealloc_mw(mw), "dealloc");
}

void diff_mw_data(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	conf.mr_access |= IBV_ACCESS_MW_BIND;
	rig_pair_open(rig, &conf, &pair);
	for (int i = 0; i < 256; i++)
		pair.end[0].buf[i] = (uint8_t)(i + 1);
	type_1(&pair);
	type_2(&pair);
	SAY_PTR(ibv_alloc_mw(pair.pd, (enum ibv_mw_type)3), "alloc type 3");
	rig_pair_close(&pair);
}
