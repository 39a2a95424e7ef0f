/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_queues.c - commands on queues of Ethernet frames.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/wq.h"
#include "softhca/device/kind.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/eth_queues.h"
#include "softhca/front/process/driver/queue_memory.h"

enum {
	CREATE_IN_SIZE = 272, /* mailbox of RQ, SQ, TIS and TIR; the page list follows */
	CONTEXT_AT = 0x20,
	PAS_AT = 272,
};

/* RQs and SQs have the ring at the same place of the context, so one function fills both. */
static_assert(RQC_WQ == SQC_WQ && CREATE_RQ_IN_CTX == CREATE_SQ_IN_CTX, "one layout for both");

static int describe_ring(const struct eth_ring *ring, struct queue_memory *memory)
{
	uint64_t bytes = ring->skip + (1ull << (ring->log_size + ring->log_stride));

	return queue_memory_describe(ring->buffer, bytes, QUEUE_MEMORY_RMP_OFFSETS, memory);
}

/* Sets the strides of a WQE. In the number's field, the codes for less than 512 strides come after
 * those for 512 and more. */
static void fill_strides(const struct eth_ring *ring, uint8_t *wq)
{
	bool few = ring->log_strides < PRM_LOG_STRIDES_BASE;

	fld_set(wq, WQ_WQ_TYPE, PRM_WQ_TYPE_CYCLIC_STRIDING);
	fld_set(wq, WQ_LOG_WQE_NUM_OF_STRIDES,
		few ? ring->log_strides - PRM_LOG_STRIDES_MIN + PRM_LOG_STRIDES_LOW
		    : ring->log_strides - PRM_LOG_STRIDES_BASE);
	fld_set(wq, WQ_LOG_WQE_STRIDE_SIZE, ring->log_stride_bytes - PRM_LOG_STRIDE_MIN);
	fld_set(wq, WQ_TWO_BYTE_SHIFT_EN, ring->shifts);
}

static void fill_wq(const struct eth_ring *ring, const struct queue_memory *memory, uint8_t *wq)
{
	fld_set(wq, WQ_WQ_TYPE, PRM_WQ_TYPE_CYCLIC);
	fld_set(wq, WQ_PAGE_OFFSET, memory->page_offset);
	fld_set(wq, WQ_WQ_SIGNATURE, ring->has_signatures);
	fld_set(wq, WQ_PD, ring->pdn);
	fld_set(wq, WQ_UAR_PAGE, ring->uar);
	if (ring->record)
		fld_set(wq, WQ_DBR_ADDR, client_bus_addr(ring->client, ring->record));
	fld_set(wq, WQ_LOG_WQ_STRIDE, ring->log_stride);
	fld_set(wq, WQ_LOG_WQ_PG_SZ, memory->log_page_size);
	fld_set(wq, WQ_LOG_WQ_SZ, ring->log_size);
	if (ring->log_strides)
		fill_strides(ring, wq);
}

/* Allocates the input mailbox of CREATE_RQ or CREATE_SQ, and fills in the ring. Sets *LEN to its
 * length. The caller frees it. Returns NULL without memory. */
static uint8_t *ring_mailbox(const struct eth_ring *ring, const struct queue_memory *memory,
			     uint32_t opcode, size_t *len)
{
	uint8_t *in;

	*len = CREATE_IN_SIZE + queue_memory_bytes(memory);
	in = calloc(1, *len);
	if (!in)
		return NULL;
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, CREATE_WQ_IN_NUMBER, ring->number);
	fld_set(in, CREATE_WQ_IN_SKIP, ring->skip);
	fill_wq(ring, memory, fld_at(fld_at(in, CREATE_RQ_IN_CTX), RQC_WQ));
	queue_memory_put(memory, ring->client, in + PAS_AT);
	return in;
}

/* Creates a TIR. *ADDR is the ICM address by which table entries that programs write name it, or
 * 0. */
static int run_create_tir(struct adapter *adapter, void *in, size_t len, uint32_t *tirn,
			  uint64_t *addr)
{
	uint8_t out[PRM_CMD_OUT_SIZE];
	int ret = adapter_command(adapter, in, len, out, sizeof(out));

	if (ret)
		return ret;
	*tirn = fld_get(out, CREATE_TIR_OUT_TIRN);
	*addr = fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_63_40) << 40 |
		fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_39_32) << 32 |
		fld_get(out, CREATE_TIR_OUT_ICM_ADDRESS_31_0);
	return 0;
}

static int run_create(struct adapter *adapter, void *in, size_t len, uint32_t *number)
{
	uint8_t out[PRM_CMD_OUT_SIZE];
	int ret = adapter_command(adapter, in, len, out, sizeof(out));

	if (!ret && number)
		/* at the same place in all answers, so one field serves */
		*number = fld_get(out, CREATE_RQ_OUT_RQN);
	return ret;
}

int eth_rq_make(struct adapter *adapter, const struct eth_ring *ring, uint32_t *rqn)
{
	struct queue_memory memory;
	int ret = describe_ring(ring, &memory);
	uint8_t *in, *rqc;
	size_t len;

	if (ret)
		return ret;
	in = ring_mailbox(ring, &memory, PRM_OP_CREATE_RQ, &len);
	if (!in)
		return ENOMEM;
	rqc = fld_at(in, CREATE_RQ_IN_CTX);
	fld_set(rqc, RQC_VSD, !ring->strip_vlan);
	fld_set(rqc, RQC_SCATTER_FCS, ring->scatter_fcs);
	fld_set(rqc, RQC_MEM_RQ_TYPE, PRM_RQ_MEMORY_INLINE);
	fld_set(rqc, RQC_FLUSH_IN_ERROR_EN, 1);
	fld_set(rqc, RQC_TS_FORMAT, ring->real_time ? PRM_TS_REAL_TIME : 0);
	fld_set(rqc, RQC_USER_INDEX, ring->user_index);
	fld_set(rqc, RQC_CQN, ring->cqn);
	fld_set(rqc, RQC_COUNTER_SET_ID, ring->counter_set);
	ret = run_create(adapter, in, len, rqn);
	free(in);
	return ret;
}

int eth_sq_make(struct adapter *adapter, const struct eth_ring *ring, uint32_t tisn, uint32_t *sqn)
{
	struct queue_memory memory;
	int ret = describe_ring(ring, &memory);
	uint8_t *in, *sqc;
	size_t len;

	if (ret)
		return ret;
	in = ring_mailbox(ring, &memory, PRM_OP_CREATE_SQ, &len);
	if (!in)
		return ENOMEM;
	sqc = fld_at(in, CREATE_SQ_IN_CTX);
	fld_set(sqc, SQC_FLUSH_IN_ERROR_EN, 1);
	fld_set(sqc, SQC_TS_FORMAT, ring->real_time ? PRM_TS_REAL_TIME : 0);
	fld_set(sqc, SQC_USER_INDEX, ring->user_index);
	fld_set(sqc, SQC_CQN, ring->cqn);
	fld_set(sqc, SQC_TIS_LST_SZ, 1);
	fld_set(sqc, SQC_TIS_NUM_0, tisn);
	ret = run_create(adapter, in, len, sqn);
	free(in);
	return ret;
}

static_assert(MODIFY_RQ_IN_RQN == MODIFY_SQ_IN_SQN && RQC_STATE == SQC_STATE &&
		      MODIFY_RQ_IN_RQ_STATE == MODIFY_SQ_IN_SQ_STATE,
	      "one layout for both");

static int change_state(struct adapter *adapter, uint32_t opcode, uint32_t number,
			enum prm_wq_state from, enum prm_wq_state to)
{
	uint8_t in[CREATE_IN_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, MODIFY_RQ_IN_RQ_STATE, from);
	fld_set(in, MODIFY_RQ_IN_RQN, number);
	fld_set(fld_at(in, MODIFY_RQ_IN_CTX), RQC_STATE, to);
	return run_create(adapter, in, sizeof(in), NULL);
}

int eth_rq_change(struct adapter *adapter, uint32_t rqn, enum prm_wq_state from,
		  enum prm_wq_state to)
{
	return change_state(adapter, PRM_OP_MODIFY_RQ, rqn, from, to);
}

int eth_sq_change(struct adapter *adapter, uint32_t sqn, enum prm_wq_state from,
		  enum prm_wq_state to)
{
	return change_state(adapter, PRM_OP_MODIFY_SQ, sqn, from, to);
}

/* Fills a MODIFY_SQ command that changes the fields MASK and keeps the queue's state. */
static int name_sq(struct adapter *adapter, uint32_t sqn, uint64_t mask, uint8_t in[CREATE_IN_SIZE])
{
	enum prm_wq_state now;
	int ret = eth_sq_state(adapter, sqn, &now);

	if (ret)
		return ret;
	memset(in, 0, CREATE_IN_SIZE);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_SQ);
	fld_set(in, MODIFY_SQ_IN_SQ_STATE, now);
	fld_set(in, MODIFY_SQ_IN_SQN, sqn);
	fld_set64(in, FLD_BYTE(MODIFY_SQ_IN_MODIFY_BITMASK), mask);
	fld_set(fld_at(in, MODIFY_SQ_IN_CTX), SQC_STATE, now);
	return 0;
}

int eth_sq_pace(struct adapter *adapter, uint32_t sqn, uint32_t rate)
{
	uint8_t in[CREATE_IN_SIZE];
	int ret = name_sq(adapter, sqn, PRM_MODIFY_SQ_PACING, in);

	if (ret)
		return ret;
	fld_set(fld_at(in, MODIFY_SQ_IN_CTX), SQC_PACKET_PACING_RATE_LIMIT_INDEX, rate);
	return run_create(adapter, in, sizeof(in), NULL);
}

int eth_sq_rest(struct adapter *adapter, uint32_t sqn, bool rests)
{
	uint8_t in[CREATE_IN_SIZE];
	int ret = name_sq(adapter, sqn, M4_AS_MODIFY_SQ_REST, in);

	if (ret)
		return ret;
	fld_set(in, M4_AS_SQ_RESTS, rests);
	return run_create(adapter, in, sizeof(in), NULL);
}

static_assert(QUERY_RQ_IN_RQN == QUERY_SQ_IN_SQN &&
		      QUERY_RQ_OUT_RQ_CONTEXT == QUERY_SQ_OUT_SQ_CONTEXT,
	      "one layout for both");

static int query_state(struct adapter *adapter, uint32_t opcode, uint32_t number,
		       enum prm_wq_state *state)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[CREATE_IN_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, QUERY_RQ_IN_RQN, number);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		*state = fld_get(fld_at(out, QUERY_RQ_OUT_RQ_CONTEXT), RQC_STATE);
	return ret;
}

int eth_rq_state(struct adapter *adapter, uint32_t rqn, enum prm_wq_state *state)
{
	return query_state(adapter, PRM_OP_QUERY_RQ, rqn, state);
}

int eth_sq_state(struct adapter *adapter, uint32_t sqn, enum prm_wq_state *state)
{
	return query_state(adapter, PRM_OP_QUERY_SQ, sqn, state);
}

int eth_tis_make(struct adapter *adapter, uint32_t domain, uint32_t underlay_qpn, uint32_t *tisn)
{
	uint8_t in[CONTEXT_AT + PRM_TISC_SIZE] = { 0 };

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_TIS);
	fld_set(fld_at(in, CREATE_TIS_IN_CTX), TISC_TRANSPORT_DOMAIN, domain);
	fld_set(fld_at(in, CREATE_TIS_IN_CTX), TISC_UNDERLAY_QPN, underlay_qpn);
	return run_create(adapter, in, sizeof(in), tisn);
}

int eth_tir_make(struct adapter *adapter, uint32_t domain, uint32_t rqn, unsigned int self_lb_block,
		 uint32_t *tirn, uint64_t *addr)
{
	uint8_t in[CREATE_IN_SIZE] = { 0 }, *tirc = fld_at(in, CREATE_TIR_IN_CTX);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_TIR);
	fld_set(tirc, TIRC_DISP_TYPE, PRM_TIR_DIRECT);
	fld_set(tirc, TIRC_INLINE_RQN, rqn);
	fld_set(tirc, TIRC_SELF_LB_BLOCK, self_lb_block);
	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, domain);
	return run_create_tir(adapter, in, sizeof(in), tirn, addr);
}

/* Returns flags for IPv4 and TCP. The context names one type per layer, IPv6 or UDP if both types
 * are hashed, so IPv4 or TCP then needs a flag. */
static uint32_t more_types(const struct eth_hash *hash)
{
	return (hash->ipv4 ? CREATE_TIR_OF_IPV4 : 0) | (hash->tcp ? CREATE_TIR_OF_TCP : 0);
}

int eth_rss_tir_make(struct adapter *adapter, uint32_t domain, uint32_t rqtn,
		     const struct eth_hash *hash, unsigned int self_lb_block, uint32_t *tirn,
		     uint64_t *addr)
{
	uint8_t in[CREATE_IN_SIZE] = { 0 }, *tirc = fld_at(in, CREATE_TIR_IN_CTX);
	uint8_t *outer = fld_at(tirc, TIRC_RX_HASH_FIELD_SELECTOR_OUTER);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_TIR);
	if (adapter_is_mlx4(adapter))
		fld_set(in, CREATE_TIR_IN_MORE_TYPES, more_types(hash));
	fld_set(tirc, TIRC_DISP_TYPE, PRM_TIR_INDIRECT);
	fld_set(tirc, TIRC_INDIRECT_TABLE, rqtn);
	fld_set(tirc, TIRC_SELF_LB_BLOCK, self_lb_block);
	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, domain);
	fld_set(tirc, TIRC_RX_HASH_FN, PRM_RX_HASH_TOEPLITZ);
	memcpy(fld_at(tirc, TIRC_RX_HASH_TOEPLITZ_KEY), hash->key, sizeof(hash->key));
	fld_set(outer, RX_HASH_L3_PROT_TYPE, hash->ipv6 ? PRM_L3_IPV6 : PRM_L3_IPV4);
	fld_set(outer, RX_HASH_L4_PROT_TYPE, hash->udp ? PRM_L4_UDP : PRM_L4_TCP);
	fld_set(outer, RX_HASH_SELECTED_FIELDS, hash->fields);
	return run_create_tir(adapter, in, sizeof(in), tirn, addr);
}

int eth_rqt_make(struct adapter *adapter, const uint32_t *rqn, unsigned int count, uint32_t *rqtn)
{
	size_t len = CONTEXT_AT + PRM_RQTC_SIZE + count * sizeof(uint32_t);
	uint8_t *in = calloc(1, len), *rqtc;
	int ret;

	if (!in)
		return ENOMEM;
	rqtc = fld_at(in, CREATE_RQT_IN_RQT_CONTEXT);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_RQT);
	fld_set(rqtc, RQTC_RQT_MAX_SIZE, count);
	fld_set(rqtc, RQTC_RQT_ACTUAL_SIZE, count);
	for (unsigned int i = 0; i < count; i++)
		fld_set((uint8_t *)fld_at(rqtc, RQTC_RQ_NUM) + i * sizeof(uint32_t), RQ_NUM_RQ_NUM,
			rqn[i]);
	ret = run_create(adapter, in, len, rqtn);
	free(in);
	return ret;
}
