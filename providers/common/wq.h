/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.h - what a work queue remembers about the requests in it, whatever their format: how many
 * there are, and the wr_id of each.
 *
 * head counts requests posted, tail requests completed; both run freely. The poster owns head,
 * whoever polls the CQ owns tail, and they may be different threads under different locks. So the
 * poster works against a private limit and reads tail only when it has used that up; the
 * acquire/release pair on tail makes the slots of completed requests reusable.
 */
#ifndef PROVIDERS_COMMON_WQ_H
#define PROVIDERS_COMMON_WQ_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/bits.h"
#include "util/order.h"

struct wq_slot {
	uint64_t wr_id;
	uint32_t tail_after; /* tail once this request has completed */
	uint32_t done_as;    /* what the poster says the completion will be; of sends */
};

/* done_as holds an enum ibv_wc_opcode below, and enum ibv_wc_flags from this bit on. */
#define WQ_DONE_OPCODE_MASK 0xffu
#define WQ_DONE_FLAGS_SHIFT 8

static_assert(offsetof(struct wq_slot, done_as) == offsetof(struct wq_slot, tail_after) + 4,
	      "both are written at once");

struct wq {
	uint32_t head;
	uint32_t limit;    /* head may advance up to here without looking at tail */
	uint32_t max_post; /* requests that fit at once */
	uint32_t mask;     /* ring units (WQEBBs or receive WQEs) - 1 */
	union {
		struct wq_slot *slots; /* send queues: of the unit where a request starts */
		uint64_t *wr_ids;      /* receive queues: of each unit */
	};
	uint32_t tail; /* written by pollers */
};

static inline void wq_reset(struct wq *wq)
{
	wq->head = 0;
	wq->limit = wq->max_post;
	__atomic_store_n(&wq->tail, 0, __ATOMIC_RELEASE);
}

/* Looks at tail again, and says whether there is room for one more request after HEAD.
 */
static inline bool wq_refresh(struct wq *wq, uint32_t head)
{
	wq->limit = __atomic_load_n(&wq->tail, __ATOMIC_ACQUIRE) + wq->max_post;
	return head != wq->limit;
}

static inline bool wq_has_room(struct wq *wq, uint32_t head)
{
	return __builtin_expect(head != wq->limit, 1) || wq_refresh(wq, head);
}

static inline struct wq_slot *wq_slot_at(const struct wq *wq, uint32_t unit)
{
	return &wq->slots[unit & wq->mask];
}

/* Notes in its slot the request that takes the place HEAD; done_as is for who builds it. */
static inline void wq_slot_note(struct wq_slot *slot, uint32_t head, uint64_t wr_id)
{
	slot->wr_id = wr_id;
	slot->tail_after = head + 1;
}

/* Does what wq_slot_note() does, for who knows DONE_AS already. */
static inline void wq_slot_set(struct wq_slot *slot, uint32_t head, uint64_t wr_id,
			       uint32_t done_as)
{
	const uint64_t both = side_by_side(head + 1, done_as);

	slot->wr_id = wr_id;
	memcpy(&slot->tail_after, &both, sizeof(both));
}

/* Does likewise for who has what side_by_side(0, DONE_AS) says. */
static inline void wq_slot_set_done(struct wq_slot *slot, uint32_t head, uint64_t wr_id,
				    uint64_t done)
{
	const uint64_t both = side_by_side(head + 1, 0) | done;

	slot->wr_id = wr_id;
	memcpy(&slot->tail_after, &both, sizeof(both));
}

/* Notes that the request of SLOT is done, and so are those before it. It returns the request's
 * wr_id. */
static inline uint64_t wq_complete_slot(struct wq *wq, const struct wq_slot *slot,
					uint32_t *done_as)
{
	uint64_t wr_id;

	order_observe(wq);
	wr_id = slot->wr_id;
	*done_as = slot->done_as;
	__atomic_store_n(&wq->tail, slot->tail_after, __ATOMIC_RELEASE);
	return wr_id;
}

/* Does what wq_complete_slot() does, for the request that started at UNIT. */
static inline uint64_t wq_complete_at(struct wq *wq, uint32_t unit, uint32_t *done_as)
{
	return wq_complete_slot(wq, wq_slot_at(wq, unit), done_as);
}

/* Notes that the oldest request of a receive queue, at TAIL, is done: its wr_id has been read. */
static inline void wq_complete_oldest(struct wq *wq, uint32_t tail)
{
	__atomic_store_n(&wq->tail, tail + 1, __ATOMIC_RELEASE);
}

/* Completes the request of a receive queue at UNIT, whichever came before, and returns its
 * wr_id. */
static inline uint64_t wq_complete_one(struct wq *wq, uint32_t unit)
{
	uint64_t wr_id;

	order_observe(wq);
	wr_id = wq->wr_ids[unit];
	wq_complete_oldest(wq, wq->tail);
	return wr_id;
}

/* Completes the oldest request of a receive queue, and returns its wr_id. */
static inline uint64_t wq_complete_next(struct wq *wq)
{
	uint32_t tail;
	uint64_t wr_id;

	order_observe(wq);
	tail = wq->tail;
	wr_id = wq->wr_ids[tail & wq->mask];
	wq_complete_oldest(wq, tail);
	return wr_id;
}

#endif
