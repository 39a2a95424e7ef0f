/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mw_on_demand.c - windows on a region of all memory: small ones and the largest that a binding can
 * describe, at each address that needs one more bit.
 *
 * Covers: providers/mlx5/data/bind_mw.c, softhca/device/memory/odp.c
 */
#include "diff.h"

#include <stdio.h>
#include <sys/mman.h>

enum { PAGE = 4096, PLACE = 256 * PAGE };

#define ACCESS (IBV_ACCESS_ON_DEMAND | IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE)

static uint8_t *place_map(uint64_t boundary)
{
	void *at = (void *)(uintptr_t)(boundary - PLACE / 2);
	uint8_t *place = mmap(at, PLACE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (place == MAP_FAILED)
		place = mmap(NULL, PLACE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0);
	MUST(place != MAP_FAILED);
	return place;
}

static void request_finish(struct rig_pair *pair, struct ibv_send_wr *wr, const char *what)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	MUST(!ibv_post_send(pair->end[0].qp, wr, &bad) && rig_poll(pair->end[0].cq, 1, &wc) == 1);
	say_check(!wc.status, "%s is done", what);
	if (wc.status)
		rig_pair_reconnect(pair);
}

static uint32_t window_bind(struct rig_pair *pair, struct ibv_mw *mw,
			    const struct ibv_mw_bind_info *info)
{
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED, .bind_info = *info };
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_qp *qp = pair->end[1].qp;
	struct ibv_wc wc;

	if (mw->type == IBV_MW_TYPE_1) {
		MUST(!ibv_bind_mw(qp, mw, &bind));
	} else {
		wr.bind_mw.mw = mw;
		wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
		wr.bind_mw.bind_info = *info;
		MUST(!ibv_post_send(qp, &wr, &bad));
		mw->rkey = wr.bind_mw.rkey;
	}
	MUST(rig_poll(pair->end[1].cq, 1, &wc) == 1 && !wc.status);
	return mw->rkey;
}

static void place_fill(uint8_t *bytes, unsigned int seed)
{
	for (unsigned int i = 0; i < PLACE; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

/* A WRITE to the whole of PLACE and a READ from it, by the window's key. */
static void window_use(struct rig_pair *pair, uint32_t rkey, uint8_t *place, unsigned int seed)
{
	struct rig_end *from = &pair->end[0];
	struct ibv_sge sge = { (uintptr_t)from->buf, PLACE, from->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .opcode = IBV_WR_RDMA_WRITE };

	wr.wr.rdma.remote_addr = (uintptr_t)place;
	wr.wr.rdma.rkey = rkey;
	place_fill(from->buf, seed);
	memset(place, 0, PLACE);
	request_finish(pair, &wr, "WRITE");
	say_check(!memcmp(place, from->buf, PLACE), "all has arrived");
	place_fill(place, seed + 1);
	wr.opcode = IBV_WR_RDMA_READ;
	request_finish(pair, &wr, "READ");
	say_check(!memcmp(place, from->buf, PLACE), "all was read");
}

/* A SEND from PLACE, which is received there too, at its other half. */
static void place_send(struct rig_pair *pair, uint32_t lkey, uint8_t *place)
{
	struct ibv_sge to = { (uintptr_t)place + PLACE / 2, PLACE / 2, lkey };
	struct ibv_sge from = { (uintptr_t)place, PLACE / 2, lkey };
	struct ibv_send_wr wr = { .sg_list = &from, .opcode = IBV_WR_SEND };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad;
	struct ibv_wc wc;

	MUST(!ibv_post_recv(pair->end[1].qp, &recv, &bad));
	request_finish(pair, &wr, "SEND");
	MUST(rig_poll(pair->end[1].cq, 1, &wc) == 1);
	say_check(!wc.status && !memcmp(place, place + PLACE / 2, PLACE / 2), "and received");
}

/* Binds windows of both types before, behind and around the address: small ones, and the largest
 * that a binding can describe. */
static void windows_at(struct rig_pair *pair, struct ibv_mr *mr, uint8_t *place)
{
	const uint64_t start = (uintptr_t)place, most = 1ull << 31;
	const struct ibv_mw_bind_info infos[] = {
		{ mr, start, PLACE, RIG_ALL_REMOTE },
		{ mr, start, most, RIG_ALL_REMOTE },
		{ mr, start + PLACE - most, most, RIG_ALL_REMOTE },
		{ mr, start - most / 2, most, RIG_ALL_REMOTE },
	};

	for (unsigned int i = 0; i < sizeof(infos) / sizeof(infos[0]); i++) {
		for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
			struct ibv_mw *mw = ibv_alloc_mw(pair->pd, type);

			say("window %u of type %d", i, (int)type);
			MUST(mw);
			window_use(pair, window_bind(pair, mw, &infos[i]), place, i);
			MUST(!ibv_dealloc_mw(mw));
		}
	}
	place_send(pair, mr->lkey, place);
}

/* A byte more than a translation's length holds, so the bind fails. */
static void window_too_long(struct rig_pair *pair, struct ibv_mr *mr)
{
	struct ibv_mw *mw = ibv_alloc_mw(pair->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.bind_info = { mr, PLACE, (1ull << 31) + 1, RIG_ALL_REMOTE },
	};

	MUST(mw);
	SAY_RET(ibv_bind_mw(pair->end[1].qp, mw, &bind), "a window of more than 2 GiB");
	MUST(!ibv_dealloc_mw(mw));
}

void diff_mw_on_demand(struct rig *rig)
{
	static const unsigned int bits[] = { 31, 32, 33, 36, 40, 46 };
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_mr *mr;
	uint8_t *place;

	conf.buf_size = PLACE;
	rig_pair_open(rig, &conf, &pair);
	mr = ibv_reg_mr(pair.pd, NULL, SIZE_MAX, ACCESS);
	if (!mr) {
		say("no region of all memory");
		rig_pair_close(&pair);
		return;
	}
	for (unsigned int i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		say("around 2^%u", bits[i]);
		place = place_map(1ull << bits[i]);
		windows_at(&pair, mr, place);
		MUST(!munmap(place, PLACE));
	}
	say("below 2^47");
	place = place_map((1ull << 47) - PAGE - PLACE / 2);
	windows_at(&pair, mr, place);
	MUST(!munmap(place, PLACE));
	window_too_long(&pair, mr);
	MUST(!ibv_dereg_mr(mr));
	rig_pair_close(&pair);
}
