/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frame_qpns.c - numbers of mlx4's frame queues. See frame_qpns.h.
 *
 * A number is reused only after all others, so that use of a stale one is noticed. Decision:
 * docs/adr/0031.
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/frame_qpns.h"

struct frame_qpns {
	bool used[M4_FRAME_QUEUES];
	uint32_t next;
};

/* Bits 7:6 of a sending queue's number, which must be 0: a BlueFlame WQE has the number where
 * another WQE has the flags to insert a VLAN tag. Linux 6.1 (mlx4_ib, create_qp_common) does the
 * same. */
enum { INSERTS_VLAN = 3 << 6 };

static bool is_free(const struct frame_qpns *qpns, uint32_t at, uint32_t count, bool sends)
{
	if (sends && (M4_FIRST_FRAME_QUEUE + at) & INSERTS_VLAN)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (qpns->used[at + i])
			return false;
	return true;
}

static void qpns_mark(struct frame_qpns *qpns, uint32_t at, uint32_t count, bool used)
{
	for (uint32_t i = 0; i < count; i++)
		qpns->used[at + i] = used;
}

int frame_qpns_reserve(struct adapter *adapter, uint32_t count, bool sends, uint32_t *first)
{
	struct frame_qpns *qpns = adapter->frame_qpns;
	uint32_t start, at;

	if (!qpns)
		qpns = adapter->frame_qpns = calloc(1, sizeof(*qpns));
	if (!qpns)
		return ENOMEM;
	start = (qpns->next + count - 1) / count * count;
	for (uint32_t i = 0; i < M4_FRAME_QUEUES; i += count) {
		at = (start + i) % M4_FRAME_QUEUES;
		if (!is_free(qpns, at, count, sends))
			continue;
		qpns_mark(qpns, at, count, true);
		qpns->next = at + count;
		*first = M4_FIRST_FRAME_QUEUE + at;
		return 0;
	}
	return ENOSPC;
}

void frame_qpns_release(struct adapter *adapter, uint32_t first, uint32_t count)
{
	qpns_mark(adapter->frame_qpns, first - M4_FIRST_FRAME_QUEUE, count, false);
}

void frame_qpns_free(struct adapter *adapter)
{
	free(adapter->frame_qpns);
}
