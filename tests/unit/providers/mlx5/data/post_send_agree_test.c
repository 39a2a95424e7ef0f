/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send_agree_test.c - a single request takes a shorter path to its WQE than a request in a
 * list. Both paths write the same bytes, and refuse the same requests.
 *
 * Covers: providers/mlx5/data/post_send.c, providers/mlx5/data/builders.h
 */
#include "rig.h"

#include <string.h>

#include "providers/mlx5/data/umr.h"
#include "tests/unit/agree.h"
#include "util/bits.h"

enum { WQEBBS = 16, REQUESTS = 4, UNWRITTEN = 0xa5 };

struct setup {
	enum ibv_qp_type type;
	uint32_t first, min_header;
	bool no_checksums, single_threaded;
	enum bfreg_use use;
};

/* Makes a rig, whose register is shared with another queue if the setup says so. */
static struct rig *rig_for(const struct setup *setup, struct mlx5_bfreg *bfreg)
{
	static _Alignas(RIG_PAGE) uint8_t page[RIG_PAGE];
	struct rig *rig;

	*bfreg = (struct mlx5_bfreg){ .use = setup->use, .reg = page, .half = page };
	qlock_init(&bfreg->lock, true);
	rig = rig_new(&(struct rig_options){ .sq_wqebbs = WQEBBS,
					     .max_send = REQUESTS,
					     .bfreg = setup->use == BFREG_OWN ? NULL : bfreg,
					     .sq_pi = setup->first,
					     .single_threaded = setup->single_threaded,
					     .type = setup->type });

	rig->qp->vqp.qp.pd = &any_pd;
	rig->qp->min_header = setup->min_header;
	rig->qp->max_tso_header = 128;
	rig->qp->rq.checksums = !setup->no_checksums;
	return rig;
}

/* Allows or forbids sends, as qp.c does. */
static void open_for_sends(struct mlx5_qp *qp, bool open)
{
	sq_permit(&qp->sq, open);
	qp->sq.opcodes = open ? qp->opcodes & (uint16_t)~UMR_OPCODES : 0;
}

/* Compares a WQE; bytes behind its last segment must be 0. Returns its number of WQEBBs. */
static uint32_t expect_same_wqe(struct rig *const rigs[AGREE_WAYS], uint32_t pi)
{
	uint32_t blocks = 0, ds = rig_sq(rigs[AGREE_LIST], pi)[7] & 0x3f;

	assert_in_range(ds, 1, 4 * WQEBBS);
	for (; ds; ds -= min_of(ds, 4u), blocks++)
		assert_memory_equal(rig_sq(rigs[AGREE_SINGLE], pi + blocks),
				    rig_sq(rigs[AGREE_LIST], pi + blocks),
				    min_of(ds, 4u) * WQE_SEG);
	return blocks;
}

/* Compares the requests from HEAD on, which start at WQEBB PI. */
static void expect_same(struct rig *const rigs[AGREE_WAYS], uint32_t pi, uint32_t head)
{
	struct mlx5_sq *single = &rigs[AGREE_SINGLE]->qp->sq, *list = &rigs[AGREE_LIST]->qp->sq;

	assert_int_equal(single->pi, list->pi);
	assert_int_equal(single->wq.head, list->wq.head);
	assert_int_equal(single->opcodes, list->opcodes);
	assert_int_equal(single->fence_next, list->fence_next);
	for (int i = 0; i < AGREE_WAYS; i++) {
		assert_int_equal(rigs[i]->qp->sq_lock.taken, 0);
		assert_int_equal(rig_dbrec(rigs[i], MLX5_SND_DBR),
				 list->wq.head == head ? rig_dbrec(rigs[AGREE_LIST], MLX5_SND_DBR)
						       : list->pi & 0xffff);
	}
	for (; pi != list->pi; head++) {
		agree_on_note((struct wq *const[]){ &single->wq, &list->wq }, pi, head);
		pi += expect_same_wqe(rigs, pi);
	}
	assert_int_equal(head, list->wq.head);
}

static void one_round(struct any_source *source, struct rig *const rigs[AGREE_WAYS])
{
	struct mlx5_qp *single = rigs[AGREE_SINGLE]->qp, *list = rigs[AGREE_LIST]->qp;
	const uint32_t pi = list->sq.pi, head = list->sq.wq.head;
	bool open = any_number(source, 50);

	for (int i = 0; i < AGREE_WAYS; i++) {
		memset(rigs[i]->qp->sq.buf, UNWRITTEN, WQEBBS * WQE_BB);
		open_for_sends(rigs[i]->qp, open);
	}
	agree_post(source, mlx5_post_send,
		   (struct ibv_qp *const[]){ &single->vqp.qp, &list->vqp.qp });
	expect_same(rigs, pi, head);
	assert_true(open || list->sq.wq.head == head);
	agree_complete(source, (struct wq *const[]){ &single->sq.wq, &list->sq.wq });
}

static void compare_ways(const struct setup *setup)
{
	static struct mlx5_ah ah;
	struct mlx5_bfreg bfregs[AGREE_WAYS];
	struct rig *const rigs[AGREE_WAYS] = { rig_for(setup, &bfregs[0]),
					       rig_for(setup, &bfregs[1]) };
	struct any_source source = { .seed = setup->first + setup->min_header,
				     .type = setup->type,
				     .max_sge = 4,
				     .ah = &ah.ah };

	memset(&ah.av, 0x3c, sizeof(ah.av));
	for (unsigned int i = 0; i < AGREE_ROUNDS; i++)
		one_round(&source, rigs);
	assert_true(rigs[AGREE_LIST]->qp->sq.wq.head - setup->first > AGREE_ROUNDS / 4);
	rig_free(rigs[AGREE_SINGLE]);
	rig_free(rigs[AGREE_LIST]);
}

static void agree_compare(void)
{
	static const struct setup setups[] = {
		{ .type = IBV_QPT_RC },
		{ .type = IBV_QPT_RC, .first = UINT32_MAX - 1000, .single_threaded = true },
		{ .type = IBV_QPT_UC, .first = UINT16_MAX - 1000 },
		{ .type = IBV_QPT_UD },
		{ .type = IBV_QPT_RC, .use = BFREG_SHARED },
		{ .type = IBV_QPT_RC, .use = BFREG_DOMAIN, .single_threaded = true },
		{ .type = IBV_QPT_XRC_SEND },
		{ .type = IBV_QPT_RAW_PACKET },
		{ .type = IBV_QPT_RAW_PACKET, .use = BFREG_SHARED, .min_header = 18 },
		{ .type = IBV_QPT_RAW_PACKET, .use = BFREG_DOMAIN, .single_threaded = true },
		{ .type = IBV_QPT_RAW_PACKET, .min_header = 18, .first = UINT32_MAX - 1000 },
		{ .type = IBV_QPT_RAW_PACKET, .single_threaded = true, .no_checksums = true },
	};

	any_fill_bytes();
	for (size_t i = 0; i < ARRAY_SIZE(setups); i++)
		compare_ways(&setups[i]);
}
