/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * post_send_agree_test.c - a single request takes a shorter path to its WQE than a request in a
 * list. Both paths write the same bytes, refuse the same requests, and stamp the slots ahead of
 * the head.
 *
 * Covers: providers/mlx4/data/post_send.c, providers/mlx4/data/send_wqe.h
 */
#include "rig.h"

#include <string.h>

#include "providers/mlx4/data/send_wqe.h"
#include "tests/unit/agree.h"
#include "util/bits.h"

struct setup {
	enum ibv_qp_type type;
	uint32_t first; /* a multiple of two laps */
	uint32_t sges, max_inline;
	bool no_checksums;
};

static struct rig *rig_for(const struct setup *setup)
{
	const bool frames = setup->type == IBV_QPT_RAW_PACKET;
	struct rig *rig = rig_new(&(struct rig_options){ .type = setup->type,
							 .send_wr = 8,
							 .send_sge = setup->sges,
							 .max_inline = setup->max_inline,
							 .second_port_is_ethernet = frames,
							 .port = frames ? 2 : 1,
							 .checksums = !setup->no_checksums,
							 .tso_header = frames ? 128 : 0 });
	struct wq *wq = &rig->qp->sq.wq;

	rig->qp->vqp.qp.pd = &any_pd;
	wq->head = wq->tail = setup->first;
	wq->limit = setup->first + wq->max_post;
	mlx4_sq_ring_init(&rig->qp->sq);
	return rig;
}

/* Checks that no slot ahead of the head looks like a WQE or its continuation, as the adapter reads
 * ahead of the doorbell. */
static void expect_stamps(const struct mlx4_sq *sq)
{
	for (uint32_t i = sq->wq.head; i != sq->wq.head + sq->spare; i++) {
		const uint8_t *slot = sq_slot(sq, i);
		const __be32 *words = (const __be32 *)slot;
		uint32_t owner = be32toh(*words) & FLD_BITS(M4_CTRL_OWNER);

		assert_int_not_equal(owner, wqe_owner_opcode(sq, i, 0));
		for (uint32_t at = M4_PIECE; at < wqe_size(slot); at += M4_PIECE)
			assert_int_equal(words[at / sizeof(*words)], htobe32(M4_STAMP));
	}
}

static void expect_same(struct mlx4_sq *single, struct mlx4_sq *list, uint32_t head)
{
	assert_int_equal(single->wq.head, list->wq.head);
	for (; head != list->wq.head; head++) {
		agree_on_note((struct wq *const[]){ &single->wq, &list->wq }, head, head);
		assert_memory_equal(sq_slot(single, head), sq_slot(list, head),
				    wqe_size(sq_slot(list, head)));
	}
	expect_stamps(single);
	expect_stamps(list);
}

static void one_round(struct any_source *source, struct mlx4_qp *single, struct mlx4_qp *list)
{
	const uint32_t head = list->sq.wq.head;

	agree_post(source, mlx4_post_send,
		   (struct ibv_qp *const[]){ &single->vqp.qp, &list->vqp.qp });
	expect_same(&single->sq, &list->sq, head);
	assert_int_equal(single->sq_lock.taken, 0);
	assert_int_equal(list->sq_lock.taken, 0);
	agree_complete(source, (struct wq *const[]){ &single->sq.wq, &list->sq.wq });
}

static void compare_ways(const struct setup *setup)
{
	static struct mlx4_ah ah;
	struct rig *const single = rig_for(setup), *const list = rig_for(setup);
	struct any_source source = { .seed = setup->first + setup->sges,
				     .type = setup->type,
				     .max_sge = (int)setup->sges,
				     .ah = &ah.ah };

	memset(ah.segment, 0x3c, sizeof(ah.segment));
	for (unsigned int i = 0; i < AGREE_ROUNDS; i++)
		one_round(&source, single->qp, list->qp);
	assert_true(list->qp->sq.wq.head - setup->first > AGREE_ROUNDS / 4);
	rig_free(single);
	rig_free(list);
}

static void agree_compare(void)
{
	static const struct setup setups[] = {
		{ .type = IBV_QPT_RC, .sges = 1 },
		{ .type = IBV_QPT_RC, .sges = 2, .max_inline = 100, .first = 0u - (1 << 10) },
		{ .type = IBV_QPT_UC, .sges = 7, .max_inline = 300 },
		{ .type = IBV_QPT_UD, .sges = 4 },
		{ .type = IBV_QPT_UD, .sges = 1, .max_inline = 64, .no_checksums = true },
		{ .type = IBV_QPT_XRC_SEND, .sges = 4 },
		{ .type = IBV_QPT_RAW_PACKET, .sges = 4, .first = 0u - (1 << 10) },
		{ .type = IBV_QPT_RAW_PACKET, .sges = 6, .max_inline = 100, .no_checksums = true },
	};

	any_fill_bytes();
	for (size_t i = 0; i < ARRAY_SIZE(setups); i++)
		compare_ways(&setups[i]);
}
