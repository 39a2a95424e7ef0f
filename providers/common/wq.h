/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.h - bookkeeping of the requests in a work queue, whatever their format: their number, and the
 * wr_id of each.
 *
 * head counts posted requests, tail completed ones; both are free-running. The poster owns head,
 * the poller of the CQ owns tail; they may be different threads with different locks. So the poster
 * uses a private limit, and reads tail only when it has reached it. The acquire/release pair on
 * tail makes the slots of completed requests reusable.
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

enum { CACHE_LINE = 64 };

struct wq_slot {
	uint64_t wr_id;
	uint32_t tail_after; /* value of tail after this request's completion */
	uint32_t done_as;    /* sends: how to report the completion */
};

/* done_as has an enum ibv_wc_opcode in the low bits, and enum ibv_wc_flags from this bit on. */
#define WQ_DONE_OPCODE_MASK 0xffu
#define WQ_DONE_FLAGS_SHIFT 8

static_assert(offsetof(struct wq_slot, done_as) == offsetof(struct wq_slot, tail_after) + 4,
	      "both are written at once");

struct wq {
	uint32_t head;
	/* head may advance to here without reading tail, whose cache line the poller writes */
	uint32_t limit;
	uint32_t max_post;
	uint32_t mask;
	union {
		struct wq_slot *slots; /* send queues: by the unit at which a request starts */
		uint64_t *wr_ids;      /* receive queues: by unit */
	};
	/* written by the pollers, so posting reads it only when the cached limit is reached */
	uint32_t tail;
};

static inline void wq_reset(struct wq *wq)
{
	wq->head = 0;
	wq->limit = wq->max_post;
	__atomic_store_n(&wq->tail, 0, __ATOMIC_RELEASE);
}

/* Reads tail again, and returns whether there is room for another request at HEAD. Posting compares
 * with the cached limit, as tail is written by the polling thread, and its cache line may be
 * elsewhere. */
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

/* Records the request with number HEAD in its slot. The request's builder sets done_as. */
static inline void wq_slot_note(struct wq_slot *slot, uint32_t head, uint64_t wr_id)
{
	slot->wr_id = wr_id;
	slot->tail_after = head + 1;
}

/* Records the request as wq_slot_note() does; one store sets DONE_AS and tail_after. */
static inline void wq_slot_set(struct wq_slot *slot, uint32_t head, uint64_t wr_id,
			       uint32_t done_as)
{
	const uint64_t both = side_by_side(head + 1, done_as);

	slot->wr_id = wr_id;
	memcpy(&slot->tail_after, &both, sizeof(both));
}

/* Records the request as wq_slot_set() does. DONE is side_by_side(0, DONE_AS), which the compiler
 * computes for a constant opcode. */
static inline void wq_slot_set_done(struct wq_slot *slot, uint32_t head, uint64_t wr_id,
				    uint64_t done)
{
	const uint64_t both = side_by_side(head + 1, 0) | done;

	slot->wr_id = wr_id;
	memcpy(&slot->tail_after, &both, sizeof(both));
}

/* Completes the request of SLOT and all requests before it, because a completion also stands for
 * unsignaled requests before it. Returns the wr_id of SLOT, and its done_as in *DONE_AS. */
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

static inline uint64_t wq_complete_at(struct wq *wq, uint32_t unit, uint32_t *done_as)
{
	return wq_complete_slot(wq, wq_slot_at(wq, unit), done_as);
}

static inline void wq_complete_oldest(struct wq *wq, uint32_t tail)
{
	__atomic_store_n(&wq->tail, tail + 1, __ATOMIC_RELEASE);
}

/* Completes the request at UNIT of a receive queue, in any order. Returns its wr_id. */
static inline uint64_t wq_complete_one(struct wq *wq, uint32_t unit)
{
	uint64_t wr_id;

	order_observe(wq);
	wr_id = wq->wr_ids[unit];
	wq_complete_oldest(wq, wq->tail);
	return wr_id;
}

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
