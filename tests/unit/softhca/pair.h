/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pair.h - common start of most tests: QP a of the first adapter connected to QP b of the second,
 * a filled buffer beside a, an empty one beside b.
 */
#ifndef TEST_PAIR_H
#define TEST_PAIR_H

#include "flat.h"

enum {
	OP_NOP = 0,
	OP_SEND_INVAL = 1,
	OP_WRITE = 8,
	OP_WRITE_IMM = 9,
	OP_SEND = 10,
	OP_SEND_IMM = 11,
	OP_READ = 16,
	OP_CS = 17,
	OP_FA = 18,
	OP_MASKED_CS = 20,
	OP_MASKED_FA = 21,
};

enum {
	REQ,
	RESP_WRITE_IMM,
	RESP_SEND,
	RESP_SEND_IMM,
	RESP_SEND_INVAL,
	REQ_ERR = 13,
	RESP_ERR = 14
};

enum {
	LOCAL_LENGTH = 0x01,
	LOCAL_QP_OP = 0x02,
	LOCAL_PROT = 0x04,
	FLUSHED = 0x05,
	REMOTE_INVAL_REQ = 0x12,
	REMOTE_ACCESS = 0x13,
	REMOTE_OP = 0x14,
	RETRY_EXCEEDED = 0x15,
	RNR_EXCEEDED = 0x16,
};

enum { LONG = 1000 * 1000 * 1000 }; /* in ns; longer than any timer of the tests */

static struct flat_qp *a, *b;
static uint64_t from, to;
static uint32_t lkey, rkey;

/* Makes two connected QPs and SIZE bytes on each side, the source filled. */
static inline void pair(const struct flat_qp_attr *attr, uint64_t size)
{
	a = flat_qp(0, attr);
	b = flat_qp(1, attr);
	flat_connect(a, b, attr);
	from = flat_alloc(size, 4096);
	to = flat_alloc(size, 4096);
	for (uint64_t i = 0; i < size; i++)
		flat.mem[from + i] = i * 7 + i / 256;
	lkey = flat_mr(flat.hca[0], flat.pd[0], from, size, ALL_ACCESS);
	rkey = flat_mr(flat.hca[1], flat.pd[1], to, size, ALL_ACCESS);
}

static inline void unpair(void)
{
	test_free(a->send_cq);
	test_free(a->recv_cq);
	test_free(b->send_cq);
	test_free(b->recv_cq);
	test_free(a);
	test_free(b);
}

static inline void write_to(uint64_t remote, uint32_t remote_key, uint64_t local, uint32_t len)
{
	flat_ctrl(a, OP_WRITE, SIGNALED, 0);
	flat_raddr(a, remote, remote_key);
	flat_data(a, local, len, lkey);
	flat_post(a);
	flat_ring(a);
}

#endif
