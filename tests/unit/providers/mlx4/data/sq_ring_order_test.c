/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sq_ring_order_test.c - states that a prefetching adapter could see in a send ring during a post:
 * a WQE with a valid owner bit is complete and stays unchanged, a further piece without a stamp
 * likewise, and the doorbell comes after the WQE.
 *
 * Covers: providers/mlx4/data/sq_ring.c, providers/mlx4/data/doorbell.c,
 * providers/mlx4/data/post_send.c
 */
#include "rig.h"
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx4/uar.h"
#include "util/bits.h"

enum { SLOTS_MAX = 128, SLOT_MAX = 1024, PIECES_MAX = SLOT_MAX / M4_PIECE };

/* Contents of a slot once its owner bit is valid, and of its further pieces once their stamp is
 * gone */
struct seen {
	bool is_posted, is_stamped[PIECES_MAX], is_bare[PIECES_MAX];
	uint8_t wqe[SLOT_MAX], bare[SLOT_MAX];
};

static struct {
	struct rig *rig;
	uint32_t first, count; /* requests of this post */
	struct seen slots[SLOTS_MAX];
	const char *wrong;
	uint32_t wrong_at;
} watch;

static uint32_t slot_size(const struct rig *rig)
{
	return 1u << rig->qp->sq.slot_log;
}

static uint32_t wqe_bytes(const uint8_t *wqe)
{
	return (uint32_t)fld_get(wqe, M4_CTRL_DS) * M4_SEG;
}

static bool is_stamp(const uint8_t *piece)
{
	return fld_get(piece, FLD(0x0, 31, 0)) == M4_STAMP;
}

static void watch_say(const char *what, uint32_t at)
{
	if (watch.wrong)
		return;
	watch.wrong = what;
	watch.wrong_at = at;
}

static void look_at_slot(uint32_t n)
{
	const uint32_t index = watch.first + n, size = slot_size(watch.rig);
	const uint8_t *slot = rig_slot(watch.rig, index);
	struct seen *seen = &watch.slots[n];
	const bool is_posted = fld_get(slot, M4_CTRL_OWNER) == (index / rig_slots(watch.rig) & 1);

	if (seen->is_posted) {
		if (memcmp(seen->wqe, slot, wqe_bytes(seen->wqe)))
			watch_say("a WQE changed while it was posted", n);
	} else if (is_posted) {
		memcpy(seen->wqe, slot, size);
		seen->is_posted = true;
	}
	for (uint32_t at = M4_PIECE; at < size; at += M4_PIECE)
		if (seen->is_stamped[at / M4_PIECE] && !seen->is_bare[at / M4_PIECE] &&
		    !is_stamp(slot + at)) {
			memcpy(seen->bare + at, slot + at, M4_PIECE);
			seen->is_bare[at / M4_PIECE] = true;
		}
}

static bool is_rung(const struct rig *rig)
{
	return *(const __be32 *)(rig->ctx->uar + M4_UAR_SEND) ||
	       (rig->ctx->bf.page && *(const __be32 *)rig->ctx->bf.page);
}

static void look_at_ring(void)
{
	const bool rung = is_rung(watch.rig);

	for (uint32_t n = 0; n < rig_slots(watch.rig); n++)
		look_at_slot(n);
	for (uint32_t n = 0; rung && n < watch.count; n++)
		if (!watch.slots[n].is_posted)
			watch_say("a doorbell is in front of its WQE", n);
}

static void watch_begin(struct rig *rig, uint32_t count)
{
	assert_true(rig_slots(rig) <= SLOTS_MAX && slot_size(rig) <= SLOT_MAX);
	memset(&watch, 0, sizeof(watch));
	watch.rig = rig;
	watch.first = rig->qp->sq.wq.head;
	watch.count = count;
	memset(rig->ctx->uar + M4_UAR_SEND, 0, sizeof(__be32));
	if (rig->ctx->bf.page) {
		memset(rig->ctx->bf.page, 0, sizeof(__be32));
		rig->ctx->bf.next = rig->ctx->bf.page;
	}
	for (uint32_t n = 0; n < rig_slots(rig); n++)
		for (uint32_t at = M4_PIECE; at < slot_size(rig); at += M4_PIECE)
			watch.slots[n].is_stamped[at / M4_PIECE] =
				is_stamp(rig_slot(rig, watch.first + n) + at);
}

/* Checks that the prefetched pieces of each WQE equal the final ones, as the adapter does not read
 * them again. */
static void check_pieces(const struct seen *seen)
{
	const uint32_t size = seen->is_posted ? wqe_bytes(seen->wqe) : 0;

	for (uint32_t at = M4_PIECE; at < slot_size(watch.rig); at += M4_PIECE)
		if (seen->is_bare[at / M4_PIECE]) {
			assert_true(at < size);
			assert_memory_equal(seen->bare + at, seen->wqe + at,
					    min_of(size - at, (uint32_t)M4_PIECE));
		}
}

static void watch_end(void)
{
	if (watch.wrong)
		fail_msg("request %u of %u: %s", watch.wrong_at, watch.count, watch.wrong);
	assert_true(is_rung(watch.rig));
	assert_int_equal(watch.rig->qp->sq.wq.head, watch.first + watch.count);
	for (uint32_t n = 0; n < rig_slots(watch.rig); n++) {
		assert_int_equal(watch.slots[n].is_posted, n < watch.count);
		check_pieces(&watch.slots[n]);
	}
}

static void complete_sends(struct rig *rig)
{
	struct ibv_wc wc;

	rig_complete(rig, &(struct rig_cqe){ .is_send = true,
					     .opcode = M4_SEND,
					     .wqe_index = (uint16_t)(rig->qp->sq.wq.head - 1) });
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
}

struct post {
	struct rig *rig;
	struct ibv_send_wr *wr;
	int ret;
};

static void by_pointer(void *arg)
{
	struct post *post = arg;
	struct ibv_send_wr *bad;

	post->ret = mlx4_post_send(&post->rig->qp->vqp.qp, post->wr, &bad);
}

static void wr_begin(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, 1);
		break;
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(qpx, wr->invalidate_rkey);
		break;
	case IBV_WR_TSO:
		ibv_wr_send_tso(qpx, wr->tso.hdr, wr->tso.hdr_sz, wr->tso.mss);
		break;
	default:
		ibv_wr_send(qpx);
	}
}

static void by_calls(void *arg)
{
	struct post *post = arg;
	struct ibv_qp_ex *qpx = &post->rig->qp->vqp.qp_ex;

	ibv_wr_start(qpx);
	for (const struct ibv_send_wr *wr = post->wr; wr; wr = wr->next) {
		qpx->wr_flags = wr->send_flags;
		wr_begin(qpx, wr);
		if (wr->opcode == IBV_WR_LOCAL_INV)
			continue;
		if (post->rig->qp->kind == SEND_DATAGRAM)
			ibv_wr_set_ud_addr(qpx, wr->wr.ud.ah, 5, 6);
		if (wr->send_flags & IBV_SEND_INLINE)
			ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)wr->sg_list->addr,
					       wr->sg_list->length);
		else
			ibv_wr_set_sge_list(qpx, (size_t)wr->num_sge, wr->sg_list);
	}
	post->ret = ibv_wr_complete(qpx);
}

/* Returns false if the CPU cannot single-step. */
static bool post_watched(struct rig *rig, struct ibv_send_wr *wr, void (*post_call)(void *))
{
	struct post post = { rig, wr, -1 };
	uint32_t count = 0;
	bool steps;

	for (struct ibv_send_wr *each = wr; each; each = each->next)
		count++;
	watch_begin(rig, count);
	steps = steps_run(post_call, &post, look_at_ring);
	assert_int_equal(post.ret, 0);
	if (steps)
		watch_end();
	complete_sends(rig);
	return steps;
}

enum { SGES_MAX = 14, LIST_MAX = 4, ROUNDS = 2 };

static uint8_t bytes[400];

struct shape {
	enum ibv_wr_opcode opcode;
	unsigned int flags, sges, list;
	uint32_t length; /* of each SGE */
};

static const struct shape connected[] = {
	{ IBV_WR_SEND, 0, 1, 1, 20 },
	{ IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED, 1, 4, 20 },
	{ IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 1, 0 },
	{ IBV_WR_SEND, 0, 3, 1, 20 },
	{ IBV_WR_RDMA_WRITE, 0, 4, 1, 20 },
	{ IBV_WR_SEND, 0, SGES_MAX, 1, 20 },
	{ IBV_WR_SEND, 0, SGES_MAX, 3, 20 },
	{ IBV_WR_SEND, 0, 7, 2, 0 }, /* with empty SGEs, which take no segment */
	{ IBV_WR_SEND, IBV_SEND_INLINE, 1, 1, 8 },
	{ IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, 1, 1, 29 },
	{ IBV_WR_SEND, IBV_SEND_INLINE, 1, 1, 128 },
	{ IBV_WR_SEND, IBV_SEND_INLINE, 1, 4, 100 },
	{ IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 1, 1, 20 },
	{ IBV_WR_RDMA_READ, IBV_SEND_SIGNALED, 1, 4, 20 },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 1, 1, 8 },
	{ IBV_WR_LOCAL_INV, 0, 0, 1, 0 },
	{ IBV_WR_SEND, 0, 2, 4, 20 },
};

static const struct shape short_ones[] = {
	{ IBV_WR_SEND, 0, 1, 1, 20 },      { IBV_WR_RDMA_WRITE, 0, 1, 4, 20 },
	{ IBV_WR_RDMA_READ, 0, 1, 1, 20 }, { IBV_WR_SEND, IBV_SEND_INLINE, 1, 1, 8 },
	{ IBV_WR_RDMA_READ, 0, 1, 4, 20 },
};

static const struct shape datagrams[] = {
	{ IBV_WR_SEND, 0, 1, 1, 20 },
	{ IBV_WR_SEND, 0, 1, 4, 20 },
	{ IBV_WR_SEND, 0, 6, 1, 20 },
	{ IBV_WR_SEND, IBV_SEND_INLINE, 1, 1, 100 },
	{ IBV_WR_SEND, IBV_SEND_INLINE, 1, 3, 30 },
};

static const struct shape frames[] = {
	{ IBV_WR_SEND, 0, 1, 1, 60 }, { IBV_WR_SEND, 0, 4, 1, 60 },
	{ IBV_WR_SEND, 0, 1, 4, 60 }, { IBV_WR_TSO, 0, 1, 1, 200 },
	{ IBV_WR_TSO, 0, 3, 3, 200 }, { IBV_WR_SEND, IBV_SEND_INLINE, 1, 1, 100 },
};

static const struct {
	struct rig_options options;
	const struct shape *shapes;
	unsigned int count;
} kinds[] = {
	{ { .send_sge = SGES_MAX, .send_wr = 8, .max_inline = 128 },
	  connected,
	  ARRAY_SIZE(connected) },
	{ { .send_sge = SGES_MAX, .send_wr = 8, .max_inline = 128, .blueflame = true },
	  connected,
	  ARRAY_SIZE(connected) },
	{ { .send_sge = 1, .send_wr = 8, .max_inline = 8, .blueflame = true },
	  short_ones,
	  ARRAY_SIZE(short_ones) },
	{ { .type = IBV_QPT_UD, .send_sge = 6, .send_wr = 8, .max_inline = 100, .blueflame = true },
	  datagrams,
	  ARRAY_SIZE(datagrams) },
	{ { .type = IBV_QPT_RAW_PACKET,
	    .send_sge = 4,
	    .send_wr = 8,
	    .max_inline = 100,
	    .second_port_is_ethernet = true,
	    .port = 2,
	    .tso_header = 128 },
	  frames,
	  ARRAY_SIZE(frames) },
};

static void fill_list(struct ibv_send_wr *wr, struct ibv_sge *sges, const struct shape *shape,
		      struct ibv_ah *ah)
{
	for (unsigned int i = 0; i < SGES_MAX; i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)bytes, shape->length, 0x11 * (i + 1) };
	for (unsigned int i = 0; i < shape->list; i++) {
		wr[i] = (struct ibv_send_wr){ .opcode = shape->opcode,
					      .sg_list = sges,
					      .num_sge = (int)shape->sges,
					      .send_flags = shape->flags,
					      .next = i + 1 < shape->list ? &wr[i + 1] : NULL };
		if (ah)
			wr[i].wr.ud.ah = ah;
		else if (shape->opcode == IBV_WR_TSO)
			wr[i].tso = (struct ibv_send_wr){
				.tso = { bytes, (uint16_t)(20 + 50 * i), 100 }
			}.tso;
		else
			wr[i].wr.rdma.remote_addr = 0x1122334455667788;
	}
}

/* Posts two rounds, so that the second finds other pieces in its slots, and crosses the end of the
 * ring where WQEs may be long. */
static bool kind_is_in_order(const struct rig_options *options, const struct shape *shapes,
			     unsigned int count, void (*post_call)(void *))
{
	struct ibv_ah_attr attr = { .port_num = 1, .dlid = 1 };
	struct rig *rig = rig_new(options);
	struct ibv_ah *ah = NULL;
	bool steps = true;

	if (options->type == IBV_QPT_UD)
		assert_int_equal(mlx4_ah_create(&rig->pd.pd, &attr, &ah), 0);
	for (unsigned int i = 0; steps && i < ROUNDS * count; i++) {
		struct ibv_send_wr wr[LIST_MAX];
		struct ibv_sge sges[SGES_MAX];

		fill_list(wr, sges, &shapes[i % count], ah);
		steps = post_watched(rig, wr, post_call);
	}
	if (ah)
		assert_int_equal(mlx4_ah_destroy(ah), 0);
	rig_free(rig);
	return steps;
}

static void posted_wqes_are_whole_and_stay(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!kind_is_in_order(&kinds[i].options, kinds[i].shapes, kinds[i].count,
				      by_pointer) ||
		    !kind_is_in_order(&kinds[i].options, kinds[i].shapes, kinds[i].count,
				      by_calls)) {
			printf("SKIP: there are no single steps here\n");
			fflush(stdout);
			_Exit(77);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(posted_wqes_are_whole_and_stay),
	};

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
