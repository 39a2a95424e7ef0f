/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * any_wr.h - requests of any kind, right ones and wrong ones, from a seed: for tests that post the
 * same by two ways.
 */
#ifndef TESTS_UNIT_ANY_WR_H
#define TESTS_UNIT_ANY_WR_H

#include <stdint.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "libibverbs/driver.h"
#include "util/bits.h"

enum { ANY_SGES = 9, ANY_LIST = 4 };

struct any_wr {
	struct ibv_send_wr wr;
	struct ibv_sge sges[ANY_SGES];
	struct ibv_mw mw;
};

/* Where the requests of a QP come from. */
struct any_source {
	uint32_t seed;
	enum ibv_qp_type type;
	int max_sge; /* of the QP: it is exceeded at times */
	struct ibv_ah *ah;
};

static uint8_t any_bytes[512];
/* any_pd is the QP's; regions of the other one must be refused, as the PDs differ */
static struct ibv_pd any_pd, any_other_pd;
static struct verbs_mr any_region = { .mr = { .pd = &any_pd, .lkey = 0x10000 } };
static struct verbs_mr any_zero_based = { .mr = { .pd = &any_pd, .lkey = 0x20000 },
					  .access = IBV_ACCESS_ZERO_BASED };
static struct verbs_mr any_other_region = { .mr = { .pd = &any_other_pd, .lkey = 0x30000 } };

static inline void any_fill_bytes(void)
{
	for (size_t i = 0; i < sizeof(any_bytes); i++)
		any_bytes[i] = (uint8_t)(i * 7);
}

static inline uint32_t any_number(struct any_source *source, uint32_t limit)
{
	source->seed = source->seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(source->seed >> 4) * limit >> 28);
}

#define ANY_OF(source, table) table[any_number(source, (uint32_t)ARRAY_SIZE(table))]

static inline enum ibv_wr_opcode any_opcode(struct any_source *source)
{
	static const uint8_t connected[] = {
		IBV_WR_SEND,      IBV_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_INV,
		IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE,    IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_BIND_MW,   IBV_WR_BIND_MW,       IBV_WR_BIND_MW,
		IBV_WR_LOCAL_INV, IBV_WR_LOCAL_INV,     IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_SEND,      IBV_WR_RDMA_WRITE,    IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	static const uint8_t datagrams[] = { IBV_WR_SEND, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM };
	static const uint8_t frames[] = { IBV_WR_SEND, IBV_WR_SEND, IBV_WR_TSO };

	if (!any_number(source, 40))
		return (enum ibv_wr_opcode)any_number(source, 40);
	if (source->type == IBV_QPT_UD)
		return (enum ibv_wr_opcode)ANY_OF(source, datagrams);
	if (source->type == IBV_QPT_RAW_PACKET)
		return (enum ibv_wr_opcode)ANY_OF(source, frames);
	return (enum ibv_wr_opcode)ANY_OF(source, connected);
}

static inline void any_sges(struct any_source *source, struct any_wr *any)
{
	static const uint32_t lengths[] = { 0,  1,  2,  5,  6,  7,   17,  18,  19, 40,
					    48, 60, 64, 65, 80, 124, 200, 300, 60, 64 };

	any->wr.sg_list = any->sges;
	any->wr.num_sge = any_number(source, 2) ? 1 : (int)any_number(source, ANY_SGES + 1);
	if (any->wr.num_sge > source->max_sge && any_number(source, 8))
		any->wr.num_sge = source->max_sge;
	for (int i = 0; i < ANY_SGES; i++)
		any->sges[i] =
			(struct ibv_sge){ .addr = (uintptr_t)any_bytes + any_number(source, 200),
					  .length = ANY_OF(source, lengths),
					  .lkey = any_number(source, UINT32_MAX) };
	if (!any_number(source, 60))
		any->wr.num_sge = -1;
}

static inline void any_window(struct any_source *source, struct any_wr *any)
{
	static const uint64_t lengths[] = {
		0, 1, 4096, 0x7fffffff, 0x80000000, 0x80000001, UINT64_C(1) << 40
	};
	struct verbs_mr *regions[] = { &any_region, &any_region,     &any_region,
				       &any_region, &any_zero_based, &any_other_region };
	struct ibv_mw_bind_info *bind = &any->wr.bind_mw.bind_info;
	struct verbs_mr *region = ANY_OF(source, regions);

	any->mw = (struct ibv_mw){ .pd = any_number(source, 10) ? &any_pd : &any_other_pd,
				   .type = any_number(source, 2) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2,
				   .rkey = any_number(source, UINT32_MAX) };
	any->wr.bind_mw.mw = &any->mw;
	any->wr.bind_mw.rkey = any_number(source, UINT32_MAX);
	bind->mr = any_number(source, 6) ? &region->mr : NULL;
	bind->addr = any_number(source, 2) * UINT64_C(0x1122334455667788);
	bind->length = any_number(source, 3) ? 4096 : ANY_OF(source, lengths);
	bind->mw_access_flags = any_number(source, 256);
}

static inline void any_large(struct any_source *source, struct any_wr *any)
{
	static const uint8_t sizes[] = { 0,  1,  2,  3,  12, 13, 14, 44,  54,  58,
					 60, 61, 62, 63, 64, 65, 66, 127, 128, 129 };

	any->wr.tso.hdr = any_bytes + any_number(source, 100);
	any->wr.tso.hdr_sz = ANY_OF(source, sizes);
	any->wr.tso.mss = (uint16_t)any_number(source, 1 << 16);
}

/* Any flag may be set; data is inline in few requests. */
static inline void any_make(struct any_source *source, struct any_wr *any)
{
	struct ibv_send_wr *wr = &any->wr;

	memset(any, 0, sizeof(*any));
	wr->wr_id = any_number(source, UINT32_MAX);
	wr->opcode = any_opcode(source);
	wr->send_flags = any_number(source, 32);
	if (any_number(source, 3))
		wr->send_flags &= ~(unsigned int)IBV_SEND_INLINE;
	if (any_number(source, 4))
		wr->send_flags &= ~(unsigned int)IBV_SEND_IP_CSUM;
	wr->imm_data = any_number(source, UINT32_MAX);
	any_sges(source, any);
	if (wr->opcode == IBV_WR_BIND_MW)
		any_window(source, any);
	else if (wr->opcode == IBV_WR_TSO)
		any_large(source, any);
	else if (source->type == IBV_QPT_UD)
		wr->wr.ud.ah = source->ah;
	else
		wr->wr.atomic.compare_add = any_number(source, UINT32_MAX);
	if (source->type == IBV_QPT_UD) {
		wr->wr.ud.remote_qpn = any_number(source, 1 << 24);
		wr->wr.ud.remote_qkey = any_number(source, UINT32_MAX);
	} else if (wr->opcode != IBV_WR_BIND_MW && wr->opcode != IBV_WR_TSO) {
		wr->wr.atomic.remote_addr = any_number(source, UINT32_MAX);
		wr->wr.atomic.swap = any_number(source, UINT32_MAX);
		wr->wr.atomic.rkey = any_number(source, UINT32_MAX);
	}
	wr->qp_type.xrc.remote_srqn = any_number(source, 1 << 24);
}

#endif
