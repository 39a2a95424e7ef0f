/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exchange.h - one request of each kind from a to b of a pair (pair.h): an atomic, a SEND, a
 * WRITE, and a READ of the written bytes; and checks of their results after losses and delays. The
 * pair has buffers of EXCHANGE_MEMORY bytes.
 */
#ifndef TEST_EXCHANGE_H
#define TEST_EXCHANGE_H

#include "pair.h"

enum {
	EXCHANGE_MEMORY = 2 << 20,
	EXCHANGE_SEND = 100, /* source and destination */
	EXCHANGE_ROOM = 20000,
	EXCHANGE_BULK = 32768,
	EXCHANGE_READ = 700000,
};

/* Posts the requests: SENT bytes in the SEND, at most EXCHANGE_ROOM; BULK in the WRITE and in the
 * READ, at most 600000. */
static inline void exchange_post(uint32_t sent, uint32_t bulk)
{
	flat_recv(b, to + EXCHANGE_SEND, EXCHANGE_ROOM, rkey);
	flat_ctrl(a, OP_FA, SIGNALED, 0);
	flat_raddr(a, to, rkey);
	flat_atomic(a, 1, 0);
	flat_data(a, from, 8, lkey);
	flat_post(a);
	flat_ctrl(a, OP_SEND, SIGNALED, 0);
	flat_data(a, from + EXCHANGE_SEND, sent, lkey);
	flat_post(a);
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, to + EXCHANGE_BULK, rkey);
	flat_data(a, from + EXCHANGE_BULK, bulk, lkey);
	flat_post(a);
	flat_ctrl(a, OP_READ, SIGNALED, 0);
	flat_raddr(a, to + EXCHANGE_BULK, rkey);
	flat_data(a, from + EXCHANGE_READ, bulk, lkey);
	flat_post(a);
	flat_ring(a);
}

static inline void exchange_check(uint32_t sent, uint32_t bulk)
{
	const uint8_t *mem = flat.mem;
	uint64_t value;

	for (int i = 0; i < 4; i++)
		flat_expect_done(a->send_cq, REQ, i);
	flat_expect_empty(a->send_cq);
	flat_expect_done(b->recv_cq, RESP_SEND, 0);
	flat_expect_empty(b->recv_cq);
	memcpy(&value, mem + to, 8);
	assert_int_equal(value, 1); /* an atomic runs once, even if it is sent twice */
	assert_memory_equal(mem + to + EXCHANGE_SEND, mem + from + EXCHANGE_SEND, sent);
	assert_memory_equal(mem + to + EXCHANGE_BULK, mem + from + EXCHANGE_BULK, bulk);
	assert_memory_equal(mem + from + EXCHANGE_READ, mem + from + EXCHANGE_BULK, bulk);
}

#endif
