/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_rig.c - see eth_rig.h. Frames and their checksums are made by code of its own.
 */
#include "eth_rig.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/q_counter.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/wq.h"

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

uint32_t eth_cmd(int hca, uint32_t opcode, const uint8_t *in, size_t len, enum prm_status expect)
{
	uint8_t *mailbox = calloc(1, len), out[16];

	memcpy(mailbox, in, len);
	fld_set(mailbox, CMD_IN_OPCODE, opcode);
	flat_cmd_expect(flat.hca[hca], mailbox, len, out, sizeof(out), expect);
	free(mailbox);
	return fld_get(out, FLD(0x8, 23, 0));
}

uint32_t eth_td(int hca)
{
	return flat_simple(flat.hca[hca], PRM_OP_ALLOC_TRANSPORT_DOMAIN, 0, PRM_STAT_OK);
}

uint32_t eth_underlay_tis(int hca, uint32_t td, uint32_t qpn, enum prm_status expect)
{
	uint8_t in[32 + PRM_TISC_SIZE] = { 0 };

	fld_set(fld_at(in, CREATE_TIS_IN_CTX), TISC_TRANSPORT_DOMAIN, td);
	fld_set(fld_at(in, CREATE_TIS_IN_CTX), TISC_UNDERLAY_QPN, qpn);
	return eth_cmd(hca, PRM_OP_CREATE_TIS, in, sizeof(in), expect);
}

uint32_t eth_tis(int hca, uint32_t td)
{
	return eth_underlay_tis(hca, td, 0, PRM_STAT_OK);
}

static void put_wq(uint8_t *wqc, int hca, uint64_t ring, uint64_t dbr, uint32_t log_stride)
{
	uint64_t len = (uint64_t)1 << (ETH_LOG + log_stride);
	uint8_t *pas = wqc + PRM_WQ_SIZE;

	fld_set(wqc, WQ_WQ_TYPE, PRM_WQ_TYPE_CYCLIC);
	fld_set(wqc, WQ_PD, flat.pd[hca]);
	fld_set(wqc, WQ_UAR_PAGE, flat.uar[hca]);
	fld_set(wqc, WQ_DBR_ADDR, dbr);
	fld_set(wqc, WQ_LOG_WQ_STRIDE, log_stride);
	fld_set(wqc, WQ_LOG_WQ_SZ, ETH_LOG);
	for (uint64_t page = 0; page < len; page += 4096, pas += 8)
		fld_set64(pas, 0, ring + page);
}

static struct eth_sq_rig *sq_create(int hca, uint32_t td, uint32_t tis, bool has_umr)
{
	struct eth_sq_rig *sq = test_calloc(1, sizeof(*sq));
	uint8_t in[32 + PRM_SQC_SIZE + 64] = { 0 }, *sqc = fld_at(in, CREATE_SQ_IN_CTX);
	uint8_t modify[32 + PRM_SQC_SIZE] = { 0 };

	sq->hca = hca;
	sq->td = td;
	sq->tis = tis;
	sq->cq = flat_cq(flat.hca[hca], ETH_LOG, 64);
	sq->ring = flat_alloc(64 << ETH_LOG, 4096);
	sq->dbr = flat_alloc(8, 64);
	sq->buf = flat_alloc(1 << 20, 4096);
	sq->lkey = flat_mr(flat.hca[hca], flat.pd[hca], sq->buf, 1 << 20, ALL_ACCESS);
	fld_set(sqc, SQC_CQN, sq->cq->n);
	fld_set(sqc, SQC_USER_INDEX, 0xabc); /* the value that flat_expect_done() expects */
	fld_set(sqc, SQC_FLUSH_IN_ERROR_EN, 1);
	fld_set(sqc, SQC_REG_UMR, has_umr);
	fld_set(sqc, SQC_TIS_LST_SZ, 1);
	fld_set(sqc, SQC_TIS_NUM_0, sq->tis);
	put_wq(fld_at(sqc, SQC_WQ), hca, sq->ring, sq->dbr, 6);
	sq->n = eth_cmd(hca, PRM_OP_CREATE_SQ, in, sizeof(in), PRM_STAT_OK);
	fld_set(modify, MODIFY_SQ_IN_SQN, sq->n);
	fld_set(fld_at(modify, MODIFY_SQ_IN_CTX), SQC_STATE, PRM_WQ_STATE_RDY);
	eth_cmd(hca, PRM_OP_MODIFY_SQ, modify, sizeof(modify), PRM_STAT_OK);
	return sq;
}

struct eth_sq_rig *eth_sq_of(int hca, uint32_t td, uint32_t tis)
{
	return sq_create(hca, td, tis, false);
}

struct eth_sq_rig *eth_umr_sq(int hca, bool has_umr)
{
	uint32_t td = eth_td(hca);

	return sq_create(hca, td, eth_tis(hca, td), has_umr);
}

struct eth_sq_rig *eth_sq(int hca, uint32_t td)
{
	return eth_sq_of(hca, td, eth_tis(hca, td));
}

void eth_free_sq(struct eth_sq_rig *sq)
{
	test_free(sq->cq);
	test_free(sq);
}

struct eth_rq_rig *eth_rq_of(int hca, const struct eth_rq_attr *attr)
{
	struct eth_rq_rig *rq = test_calloc(1, sizeof(*rq));
	uint8_t in[32 + PRM_RQC_SIZE + 64] = { 0 }, *rqc = fld_at(in, CREATE_RQ_IN_CTX);
	uint8_t modify[32 + PRM_RQC_SIZE] = { 0 }, out[16], alloc[16] = { 0 };

	rq->hca = hca;
	fld_set(alloc, CMD_IN_OPCODE, PRM_OP_ALLOC_Q_COUNTER);
	flat_cmd(flat.hca[hca], alloc, sizeof(alloc), out, sizeof(out));
	rq->counter = fld_get(out, ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID);
	rq->cq = flat_cq(flat.hca[hca], ETH_LOG, 64);
	rq->ring = flat_alloc(64 << ETH_LOG, 4096);
	rq->dbr = flat_alloc(8, 64);
	rq->buf = flat_alloc(ETH_BUF << ETH_LOG, 4096);
	rq->lkey = flat_mr(flat.hca[hca], flat.pd[hca], rq->buf, ETH_BUF << ETH_LOG, ALL_ACCESS);
	fld_set(rqc, RQC_CQN, rq->cq->n);
	fld_set(rqc, RQC_VSD, !attr->vlan_strip);
	fld_set(rqc, RQC_USER_INDEX, 0x123);
	fld_set(rqc, RQC_COUNTER_SET_ID, rq->counter);
	fld_set(rqc, RQC_FLUSH_IN_ERROR_EN, 1);
	put_wq(fld_at(rqc, RQC_WQ), hca, rq->ring, rq->dbr, attr->log_wqe ? attr->log_wqe : 5);
	fld_set(rqc, FLD_IN(RQC_WQ, WQ_WQ_TYPE), attr->type);
	fld_set(rqc, FLD_IN(RQC_WQ, WQ_WQ_SIGNATURE), attr->signatures);
	fld_set(rqc, FLD_IN(RQC_WQ, WQ_LOG_WQE_NUM_OF_STRIDES),
		attr->log_strides - PRM_LOG_STRIDES_MIN + PRM_LOG_STRIDES_LOW);
	rq->n = eth_cmd(hca, PRM_OP_CREATE_RQ, in, sizeof(in), attr->status);
	if (attr->status) {
		eth_free_rq(rq);
		return NULL;
	}
	fld_set(modify, MODIFY_RQ_IN_RQN, rq->n);
	fld_set(fld_at(modify, MODIFY_RQ_IN_CTX), RQC_STATE, PRM_WQ_STATE_RDY);
	eth_cmd(hca, PRM_OP_MODIFY_RQ, modify, sizeof(modify), PRM_STAT_OK);
	return rq;
}

struct eth_rq_rig *eth_rq(int hca, bool vlan_strip)
{
	const struct eth_rq_attr attr = { .vlan_strip = vlan_strip,
					  .type = PRM_WQ_TYPE_CYCLIC,
					  .log_strides = PRM_LOG_STRIDES_MIN };

	return eth_rq_of(hca, &attr);
}

struct eth_rq_rig *eth_linked_rq(int hca, uint32_t log_strides)
{
	const struct eth_rq_attr attr = { .type = PRM_WQ_TYPE_LINKED_STRIDING,
					  .log_strides = log_strides };

	return eth_rq_of(hca, &attr);
}

void eth_free_rq(struct eth_rq_rig *rq)
{
	test_free(rq->cq);
	test_free(rq);
}

uint32_t eth_direct_tir(int hca, uint32_t td, uint32_t rqn, uint32_t self_lb_block)
{
	uint8_t in[32 + PRM_TIRC_SIZE] = { 0 }, *tirc = fld_at(in, CREATE_TIR_IN_CTX);

	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, td);
	fld_set(tirc, TIRC_INLINE_RQN, rqn);
	fld_set(tirc, TIRC_SELF_LB_BLOCK, self_lb_block);
	return eth_cmd(hca, PRM_OP_CREATE_TIR, in, sizeof(in), PRM_STAT_OK);
}

uint32_t eth_rqt(int hca, const uint32_t *rqn, uint32_t count, enum prm_status expect)
{
	uint8_t in[32 + PRM_RQTC_SIZE + 4 * 64] = { 0 };
	uint8_t *rqtc = fld_at(in, CREATE_RQT_IN_RQT_CONTEXT), *list = fld_at(rqtc, RQTC_RQ_NUM);

	fld_set(rqtc, RQTC_RQT_MAX_SIZE, count);
	fld_set(rqtc, RQTC_RQT_ACTUAL_SIZE, count);
	for (uint32_t i = 0; i < count && i < 64; i++)
		put32(list + (size_t)4 * i, rqn[i]);
	return eth_cmd(hca, PRM_OP_CREATE_RQT, in, sizeof(in), expect);
}

uint32_t eth_hash_tir(int hca, uint32_t td, uint32_t rqt, uint32_t l3, uint32_t l4, uint32_t fields)
{
	/* The key of the well-known RSS verification suite. */
	static const uint8_t key[PRM_RX_HASH_KEY_SIZE] = {
		0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
		0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
		0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
	};
	uint8_t in[32 + PRM_TIRC_SIZE] = { 0 }, *tirc = fld_at(in, CREATE_TIR_IN_CTX), *select;

	fld_set(tirc, TIRC_DISP_TYPE, PRM_TIR_INDIRECT);
	fld_set(tirc, TIRC_TRANSPORT_DOMAIN, td);
	fld_set(tirc, TIRC_INDIRECT_TABLE, rqt);
	fld_set(tirc, TIRC_RX_HASH_FN, PRM_RX_HASH_TOEPLITZ);
	memcpy(fld_at(tirc, TIRC_RX_HASH_TOEPLITZ_KEY), key, sizeof(key));
	select = fld_at(tirc, TIRC_RX_HASH_FIELD_SELECTOR_OUTER);
	fld_set(select, RX_HASH_L3_PROT_TYPE, l3);
	fld_set(select, RX_HASH_L4_PROT_TYPE, l4);
	fld_set(select, RX_HASH_SELECTED_FIELDS, fields);
	return eth_cmd(hca, PRM_OP_CREATE_TIR, in, sizeof(in), PRM_STAT_OK);
}

uint32_t eth_table(int hca, uint32_t type, uint32_t level, uint32_t miss, enum prm_status expect)
{
	uint8_t in[64] = { 0 }, *ctx = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	fld_set(in, CREATE_FLOW_TABLE_IN_TABLE_TYPE, type);
	fld_set(ctx, FLOW_TABLE_CONTEXT_LEVEL, level);
	fld_set(ctx, FLOW_TABLE_CONTEXT_LOG_SIZE, 4);
	if (miss) {
		fld_set(ctx, FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION, PRM_MISS_FORWARD);
		fld_set(ctx, FLOW_TABLE_CONTEXT_TABLE_MISS_ID, miss);
	}
	return eth_cmd(hca, PRM_OP_CREATE_FLOW_TABLE, in, sizeof(in), expect);
}

uint32_t eth_tunnel_table(int hca, uint32_t type, uint32_t level)
{
	uint8_t in[64] = { 0 }, *ctx = fld_at(in, CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT);

	fld_set(in, CREATE_FLOW_TABLE_IN_TABLE_TYPE, type);
	fld_set(ctx, FLOW_TABLE_CONTEXT_LEVEL, level);
	fld_set(ctx, FLOW_TABLE_CONTEXT_LOG_SIZE, 4);
	fld_set(ctx, FLOW_TABLE_CONTEXT_REFORMAT_EN, 1);
	fld_set(ctx, FLOW_TABLE_CONTEXT_DECAP_EN, type == PRM_FLOW_NIC_RX);
	return eth_cmd(hca, PRM_OP_CREATE_FLOW_TABLE, in, sizeof(in), PRM_STAT_OK);
}

void eth_root(int hca, uint32_t type, uint32_t table)
{
	uint8_t in[64] = { 0 };

	fld_set(in, FLOW_IN_TABLE_TYPE, type);
	fld_set(in, FLOW_IN_TABLE_ID, table);
	eth_cmd(hca, PRM_OP_SET_FLOW_TABLE_ROOT, in, sizeof(in), PRM_STAT_OK);
}

uint32_t eth_group(int hca, uint32_t type, uint32_t table, uint32_t first, uint32_t last,
		   const uint8_t *mask, enum prm_status expect)
{
	uint8_t in[1024] = { 0 };

	fld_set(in, FLOW_IN_TABLE_TYPE, type);
	fld_set(in, FLOW_IN_TABLE_ID, table);
	fld_set(in, CREATE_FLOW_GROUP_IN_START_FLOW_INDEX, first);
	fld_set(in, CREATE_FLOW_GROUP_IN_END_FLOW_INDEX, last);
	if (mask) {
		fld_set(in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE, PRM_MATCH_OUTER);
		memcpy(fld_at(in, CREATE_FLOW_GROUP_IN_MATCH_CRITERIA), mask, PRM_MATCH_SET_SIZE);
	}
	return eth_cmd(hca, PRM_OP_CREATE_FLOW_GROUP, in, sizeof(in), expect);
}

static uint8_t *put_destination(uint8_t *at, uint32_t type, uint32_t id)
{
	if (!id)
		return at;
	fld_set(at, DEST_FORMAT_DESTINATION_TYPE, type);
	fld_set(at, DEST_FORMAT_DESTINATION_ID, id);
	return at + PRM_DEST_FORMAT_SIZE;
}

void eth_set(int hca, const struct eth_entry *entry, enum prm_status expect)
{
	uint8_t in[64 + PRM_FLOW_CONTEXT_SIZE + 4 * PRM_DEST_FORMAT_SIZE] = { 0 };
	uint8_t *ctx = fld_at(in, SET_FTE_IN_FLOW_CONTEXT);
	uint8_t *list = fld_at(ctx, FLOW_CONTEXT_DESTINATION), *at;

	fld_set(in, FLOW_IN_TABLE_TYPE, entry->type);
	fld_set(in, FLOW_IN_TABLE_ID, entry->table);
	fld_set(in, SET_FTE_IN_FLOW_INDEX, entry->index);
	fld_set(ctx, FLOW_CONTEXT_GROUP_ID, entry->group);
	fld_set(ctx, FLOW_CONTEXT_FLOW_TAG, entry->tag);
	fld_set(ctx, FLOW_CONTEXT_ACTION, entry->action);
	fld_set(ctx, FLOW_CONTEXT_MODIFY_HEADER_ID, entry->change);
	fld_set(ctx, FLOW_CONTEXT_PACKET_REFORMAT_ID, entry->reformat);
	if (entry->value)
		memcpy(fld_at(ctx, FLOW_CONTEXT_MATCH_VALUE), entry->value, PRM_MATCH_SET_SIZE);
	at = put_destination(list, PRM_DEST_TIR, entry->to_tir);
	at = put_destination(at, PRM_DEST_TABLE, entry->to_table);
	at = put_destination(at, PRM_DEST_TIR, entry->also_tir);
	fld_set(ctx, FLOW_CONTEXT_DESTINATION_LIST_SIZE, (at - list) / PRM_DEST_FORMAT_SIZE);
	fld_set(ctx, FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE, entry->counter != 0);
	put32(at, entry->counter);
	eth_cmd(hca, PRM_OP_SET_FLOW_TABLE_ENTRY, in, sizeof(in), expect);
}

void eth_delete(int hca, uint32_t type, uint32_t table, uint32_t index, enum prm_status expect)
{
	uint8_t in[64] = { 0 };

	fld_set(in, FLOW_IN_TABLE_TYPE, type);
	fld_set(in, FLOW_IN_TABLE_ID, table);
	fld_set(in, DELETE_FTE_IN_FLOW_INDEX, index);
	eth_cmd(hca, PRM_OP_DELETE_FLOW_TABLE_ENTRY, in, sizeof(in), expect);
}

void eth_catch_all(int hca, uint32_t tir)
{
	struct eth_entry entry = { .action = PRM_FLOW_FWD, .to_tir = tir };

	entry.table = eth_table(hca, PRM_FLOW_NIC_RX, 0, 0, PRM_STAT_OK);
	entry.group = eth_group(hca, PRM_FLOW_NIC_RX, entry.table, 0, 0, NULL, PRM_STAT_OK);
	eth_set(hca, &entry, PRM_STAT_OK);
	eth_root(hca, PRM_FLOW_NIC_RX, entry.table);
}

void eth_counter(int hca, uint32_t counter, uint64_t *packets, uint64_t *bytes)
{
	uint8_t in[32] = { 0 }, out[32];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_FLOW_COUNTER);
	fld_set(in, QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID, counter);
	flat_cmd(flat.hca[hca], in, sizeof(in), out, sizeof(out));
	*packets = fld_get64(out, 16);
	*bytes = fld_get64(out, 24);
}

void eth_recv(struct eth_rq_rig *rq, uint32_t len, unsigned int count)
{
	for (; count; count--, rq->pi++) {
		uint32_t slot = rq->pi % (1 << ETH_LOG);
		uint8_t *wqe = flat.mem + rq->ring + 32 * slot;
		uint64_t buf = rq->buf + (uint64_t)ETH_BUF * slot;
		uint32_t part = rq->first_piece ? rq->first_piece : len;

		/* the highest bit, which drivers set for padding */
		put32(wqe, part | 0x80000000u);
		put32(wqe + 4, rq->lkey);
		fld_set64(wqe, 8, buf);
		put32(wqe + 16, len - part);
		put32(wqe + 20, part < len ? rq->lkey : 0x100);
		fld_set64(wqe, 24, buf + ETH_BUF / 2);
	}
	put32(flat.mem + rq->dbr, rq->pi);
}

static uint8_t *sq_at(struct eth_sq_rig *sq, uint32_t offset)
{
	uint64_t at = ((uint64_t)sq->pi * 64 + offset) % (64u << ETH_LOG);

	return flat.mem + sq->ring + at;
}

static void sq_copy(struct eth_sq_rig *sq, uint32_t offset, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		*sq_at(sq, offset + i) = bytes[i];
}

void eth_post(struct eth_sq_rig *sq, const struct eth_wqe *wqe, const uint8_t *bytes, uint32_t len)
{
	uint32_t eth = wqe->inline_len ? (14 + wqe->inline_len + 15) / 16 * 16 : 16;
	uint32_t data = len - wqe->inline_len, used = 16 + eth + (data ? 16 : 0);
	uint32_t room = (4 + data + 15) / 16 * 16;
	uint8_t seg[16] = { 0 };

	used += wqe->inline_data ? room - 16 : 0;
	sq_copy(sq, 0, (uint8_t[1024]){ 0 }, (used + 63) / 64 * 64);
	put32(seg, (uint32_t)(sq->pi + wqe->index_error) << 8 | wqe->opcode);
	put32(seg + 4, sq->n << 8 | used / 16);
	seg[11] = SIGNALED;
	sq_copy(sq, 0, seg, 16);
	memset(seg, 0, sizeof(seg));
	seg[4] = wqe->cs_flags;
	put16(seg + 6, wqe->mss);
	put16(seg + 12, wqe->insert_vlan ? 0x8000 : wqe->inline_len);
	put16(seg + 14, wqe->tci);
	sq_copy(sq, 16, seg, 16);
	if (!wqe->insert_vlan)
		sq_copy(sq, 16 + 14, bytes, wqe->inline_len);
	memcpy(flat.mem + sq->buf, bytes + wqe->inline_len, data);
	put32(seg, wqe->inline_data ? 0x80000000u | data : data);
	put32(seg + 4, sq->lkey);
	fld_set64(seg, 8, sq->buf);
	if (data)
		sq_copy(sq, 16 + eth, seg, 16);
	if (wqe->inline_data)
		sq_copy(sq, 16 + eth + 4, bytes + wqe->inline_len, data);
	sq->pi += (used + 63) / 64;
}

void eth_ring_doorbell(struct eth_sq_rig *sq)
{
	put32(flat.mem + sq->dbr + 4, sq->pi);
	flat_write_uar(sq->hca, 0x800, htobe64((uint64_t)sq->n << 8));
	flat_run(1000000);
}

void eth_send(struct eth_sq_rig *sq, const uint8_t *bytes, uint32_t len)
{
	struct eth_wqe wqe = { .opcode = OP_SEND };

	eth_post(sq, &wqe, bytes, len);
	eth_ring_doorbell(sq);
}

const uint8_t *eth_receive(struct eth_rq_rig *rq, const uint8_t **cqe)
{
	const uint8_t *done = flat_poll(rq->cq);
	uint32_t slot;

	if (!done)
		return NULL;
	if (cqe)
		*cqe = done;
	slot = (done[60] << 8 | done[61]) % (1 << ETH_LOG);
	return flat.mem + rq->buf + (uint64_t)ETH_BUF * slot;
}

static uint32_t words_sum(const uint8_t *bytes, uint32_t len, uint32_t start)
{
	for (uint32_t i = 0; i < len; i++)
		start += i & 1 ? bytes[i] : bytes[i] << 8;
	while (start >> 16)
		start = (start & 0xffff) + (start >> 16);
	return start;
}

static uint32_t put_l4(const struct eth_flow *flow, uint8_t *l4)
{
	uint32_t header = flow->protocol == 6 ? 20 + (flow->time ? 12 : 0) : 8;

	put16(l4, flow->sport);
	put16(l4 + 2, flow->dport);
	if (flow->protocol == 6) {
		put32(l4 + 4, 1000 + flow->sent);
		put32(l4 + 8, flow->ack);
		l4[12] = (uint8_t)(header / 4 << 4);
		l4[13] = flow->tcp_flags;
		put16(l4 + 14, flow->window);
		if (flow->time) {
			put32(l4 + 20, 0x0101080a);
			put32(l4 + 24, flow->time);
		}
	} else {
		put16(l4 + 4, 8 + flow->payload);
	}
	for (uint32_t i = 0; i < flow->payload; i++)
		l4[header + i] = (uint8_t)((flow->sent + i) * 3 + (flow->sent + i) / 256);
	return header + flow->payload;
}

static uint32_t put_v4(const struct eth_flow *flow, uint8_t *ip)
{
	uint32_t len = 20 + put_l4(flow, ip + 20);

	ip[0] = 0x45;
	ip[1] = flow->tos;
	put16(ip + 2, len);
	ip[8] = flow->ttl ? flow->ttl : 64;
	ip[9] = flow->protocol;
	put32(ip + 12, 0x0a000000 + flow->src);
	put32(ip + 16, 0x0a000000 + flow->dst);
	return len;
}

static uint32_t put_v6(const struct eth_flow *flow, uint8_t *ip)
{
	uint32_t len = put_l4(flow, ip + 40);

	ip[0] = 0x60;
	ip[1] = (uint8_t)(flow->tos << 4);
	put16(ip + 4, len);
	ip[6] = flow->protocol;
	ip[7] = flow->ttl ? flow->ttl : 64;
	ip[8] = ip[24] = 0xfe;
	ip[9] = ip[25] = 0x80;
	put32(ip + 20, flow->src);
	put32(ip + 36, flow->dst);
	return 40 + len;
}

uint32_t eth_build_unsummed(const struct eth_flow *flow, uint8_t *bytes)
{
	uint32_t at = 12;

	memset(bytes, 0, 14 + 4 + 72 + flow->payload);
	bytes[0] = flow->group ? 0x01 : 0x02;
	bytes[5] = flow->dmac_last;
	bytes[6] = 0x02;
	bytes[11] = 0x77;
	if (flow->vlan) {
		put16(bytes + at, 0x8100);
		put16(bytes + at + 2, flow->vlan);
		at += 4;
	}
	put16(bytes + at, !flow->protocol ? 0x88b5 : flow->v6 ? 0x86dd : 0x0800);
	at += 2;
	if (!flow->protocol)
		return at + flow->payload < 60 ? 60 : at + flow->payload;
	at += flow->v6 ? put_v6(flow, bytes + at) : put_v4(flow, bytes + at);
	return at;
}

uint32_t eth_build(const struct eth_flow *flow, uint8_t *bytes)
{
	uint32_t len = eth_build_unsummed(flow, bytes), at = flow->vlan ? 18 : 14, l4, field, s;
	uint8_t *ip = bytes + at;

	if (!flow->protocol)
		return len;
	if (!flow->v6)
		put16(ip + 10, ~words_sum(ip, 20, 0));
	l4 = at + (flow->v6 ? 40 : 20);
	field = l4 + (flow->protocol == 6 ? 16 : 6);
	s = words_sum(ip + (flow->v6 ? 8 : 12), flow->v6 ? 32 : 8, flow->protocol + len - l4);
	put16(bytes + field, ~words_sum(bytes + l4, len - l4, s));
	return len;
}

void eth_open_pair(void **state, struct eth_sq_rig **sq, struct eth_rq_rig *rq[2])
{
	uint32_t td;

	flat_setup_roce(state);
	*sq = eth_sq(0, eth_td(0));
	td = eth_td(1);
	for (unsigned int i = 0; i < 2; i++) {
		rq[i] = eth_rq(1, false);
		rq[i]->tir = eth_direct_tir(1, td, rq[i]->n, 0);
		eth_recv(rq[i], ETH_BUF, 8);
	}
}

int eth_close_pair(void **state, struct eth_sq_rig *sq, struct eth_rq_rig *rq[2])
{
	for (unsigned int i = 0; i < 2; i++)
		eth_free_rq(rq[i]);
	eth_free_sq(sq);
	return flat_teardown(state);
}
