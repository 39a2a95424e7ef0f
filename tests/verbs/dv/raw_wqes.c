/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_wqes.c - WQEs that the program builds: of each size, of several opcodes, among other
 * requests, and malformed ones. Their effects are checked at the other end and in memory.
 *
 * Covers: providers/mlx5/data/send_wr_dv.c
 */
#include <string.h>

#include "tests/lib/raw_wqe.h"
#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"
#include "util/bits.h"

enum {
	UNITS = 5, /* of the longest request that the QP was created for: 4 SGEs */
	PIECE = 24,
	ROUNDS = 100, /* which takes the ring round twice and more */
};

struct raw {
	struct keys keys;
	struct raw_wqe wqe;
};

static void raw_open(struct rig *rig, bool unreliable, struct raw *raw)
{
	struct rig_conf conf = rig_conf_default();

	conf.unreliable = unreliable;
	keys_open(rig, &conf, 4, MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, &raw->keys);
	keys_connect(&raw->keys, MLX5DV_QP_EX_WITH_RAW_WQE);
}

static void raw_begin(struct raw *raw, uint8_t opcode)
{
	raw_wqe_begin(&raw->wqe, opcode, raw->keys.qpx->qp_base.qp_num);
}

static void raw_data(struct raw *raw, uint32_t from, uint32_t len)
{
	raw_wqe_data(&raw->wqe, keys_memory[0] + from, len, raw->keys.mr[0]->lkey);
}

static void raw_remote(struct raw *raw, uint32_t to)
{
	const struct rig_end *end = &raw->keys.pair.end[1];

	raw_wqe_remote(&raw->wqe, end->buf + to, end->mr->rkey);
}

static int raw_post_times(struct raw *raw, int times)
{
	return raw_wqe_post(&raw->wqe, raw->keys.qpx, 7, times);
}

static int raw_post(struct raw *raw)
{
	return raw_post_times(raw, 1);
}

static void receive_into(struct raw *raw, uint32_t at)
{
	struct ibv_sge sge = { (uintptr_t)keys_memory[1] + at, 1024, raw->keys.mr[1]->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(raw->keys.pair.end[1].qp, &wr, &bad));
}

static void say_sent(struct raw *raw, const char *what)
{
	struct ibv_wc wc;

	MUST(rig_poll(raw->keys.pair.end[0].cq, 1, &wc) == 1);
	say("%s: %s, wr_id %llu, opcode %d", what, ibv_wc_status_str(wc.status),
	    (unsigned long long)wc.wr_id, wc.status ? 0 : (int)wc.opcode);
	say_result(wc.status);
}

static uint32_t bytes_received(struct raw *raw)
{
	struct ibv_wc wc;

	MUST(rig_poll(raw->keys.pair.end[1].cq, 1, &wc) == 1 && !wc.status);
	return wc.byte_len;
}

static bool size_is_right(struct raw *raw, unsigned int pieces)
{
	struct ibv_wc wc;

	raw_begin(raw, MLX5_OPCODE_SEND);
	for (unsigned int i = 0; i < pieces; i++)
		raw_data(raw, 100 * i, PIECE);
	memset(keys_memory[1], '.', 1024);
	receive_into(raw, 0);
	MUST(!raw_post(raw));
	MUST(rig_poll(raw->keys.pair.end[0].cq, 1, &wc) == 1);
	if (wc.status || wc.wr_id != 7 || (int)wc.opcode != MLX5DV_WC_RAW_WQE ||
	    bytes_received(raw) != pieces * PIECE)
		return false;
	for (unsigned int i = 0; i < pieces; i++)
		if (memcmp(keys_memory[1] + i * PIECE, keys_memory[0] + 100 * i, PIECE) != 0)
			return false;
	return keys_memory[1][pieces * PIECE] == '.';
}

/* Lengths come in an order that puts each one across the end of the ring, so that each is copied in
 * two parts. */
static void sizes(struct raw *raw)
{
	int right = 0;

	while (right < ROUNDS && size_is_right(raw, 1 + (unsigned int)(right * 3) % (UNITS - 1)))
		right++;
	say_check(right == ROUNDS, "WQE %d of %d", right, ROUNDS);
}

static void inlines(struct raw *raw)
{
	static const char *const texts[] = { "short", "twelve bytes",
					     "and one of 33 bytes, as it stands" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		raw_begin(raw, MLX5_OPCODE_SEND);
		raw_wqe_inline(&raw->wqe, texts[i], (uint32_t)strlen(texts[i]));
		receive_into(raw, 0);
		SAY_RET(raw_post(raw), "inline, %zu bytes", strlen(texts[i]));
		say_sent(raw, "inline");
		say_check(bytes_received(raw) == strlen(texts[i]) &&
				  !memcmp(keys_memory[1], texts[i], strlen(texts[i])),
			  "inline, %zu bytes came", strlen(texts[i]));
	}
}

static void among_others(struct raw *raw)
{
	struct ibv_qp_ex *qpx = raw->keys.qpx;

	for (unsigned int i = 0; i < 4; i++)
		receive_into(raw, 1024 * i);
	raw_begin(raw, MLX5_OPCODE_SEND);
	raw_data(raw, 64, 32);
	ibv_wr_start(qpx);
	for (unsigned int i = 0; i < 4; i++) {
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		if (i % 2) {
			raw_wqe_put(&raw->wqe, qpx);
			continue;
		}
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, raw->keys.mr[0]->lkey, (uintptr_t)keys_memory[0], 16 + i);
	}
	SAY_RET(ibv_wr_complete(qpx), "two raw ones among two others");
	for (unsigned int i = 0; i < 4; i++) {
		say_sent(raw, "one of four");
		say("%u bytes came", bytes_received(raw));
	}
	say_check(!memcmp(keys_memory[1] + 3072, keys_memory[0] + 64, 32), "the last one");
}

/* The value of the other end before is brought, in the order of this machine. */
static void atomics(struct raw *raw)
{
	static const struct {
		uint8_t opcode;
		uint64_t swap_add, compare, before, behind;
	} ops[] = {
		{ MLX5_OPCODE_ATOMIC_FA, 5, 0, 100, 105 },
		{ MLX5_OPCODE_ATOMIC_CS, 7, 105, 105, 7 },
		{ MLX5_OPCODE_ATOMIC_CS, 9, 105, 7, 7 },
	};
	uint64_t *there = (uint64_t *)raw->keys.pair.end[1].buf;
	uint64_t *here = (uint64_t *)keys_memory[0];

	*there = ops[0].before;
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		raw_begin(raw, ops[i].opcode);
		raw_remote(raw, 0);
		raw_wqe_atomic(&raw->wqe, ops[i].swap_add, ops[i].compare);
		raw_data(raw, 0, 8);
		SAY_RET(raw_post(raw), "atomic %zu", i);
		say_sent(raw, "atomic");
		say_check(*here == ops[i].before && *there == ops[i].behind, "atomic %zu", i);
	}
}

static void opcodes(struct raw *raw, bool unreliable)
{
	raw_begin(raw, MLX5_OPCODE_NOP);
	SAY_RET(raw_post(raw), "NOP");
	say_sent(raw, "NOP");

	raw_begin(raw, MLX5_OPCODE_SEND_IMM);
	raw_data(raw, 0, 8);
	receive_into(raw, 0);
	SAY_RET(raw_post(raw), "SEND_IMM");
	say_sent(raw, "SEND_IMM");
	say("%u bytes came", bytes_received(raw));

	raw_begin(raw, MLX5_OPCODE_RDMA_WRITE);
	raw_remote(raw, 2048);
	raw_data(raw, 5, 40);
	SAY_RET(raw_post(raw), "RDMA_WRITE");
	say_sent(raw, "RDMA_WRITE");
	if (unreliable)
		return;
	raw_begin(raw, MLX5_OPCODE_RDMA_READ);
	raw_remote(raw, 2048);
	raw_data(raw, 4096, 40);
	SAY_RET(raw_post(raw), "RDMA_READ");
	say_sent(raw, "RDMA_READ");
	say_check(!memcmp(keys_memory[0] + 4096, keys_memory[0] + 5, 40), "written and read back");
	atomics(raw);
}

/* The batch keeps nothing of one that is refused. */
static void say_state(struct raw *raw, const char *what)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(&raw->keys.qpx->qp_base, &attr, IBV_QP_STATE, &init));
	say("%s: the QP is in state %d", what, (int)attr.qp_state);
}

static void wrong_one(struct raw *raw, const char *what, uint8_t opcode, uint32_t qpn)
{
	rig_pair_reconnect(&raw->keys.pair);
	raw_wqe_begin(&raw->wqe, opcode, qpn);
	raw_data(raw, 0, 8);
	receive_into(raw, 0);
	if (SAY_RET(raw_post(raw), "%s", what))
		return;
	say_sent(raw, what);
	say_state(raw, what);
}

static void raw_wqes_on(struct rig *rig, bool unreliable)
{
	struct raw raw;

	raw_open(rig, unreliable, &raw);
	sizes(&raw);
	inlines(&raw);
	among_others(&raw);
	opcodes(&raw, unreliable);
	wrong_one(&raw, "an opcode that is none", 0x3f, raw.keys.qpx->qp_base.qp_num);
	wrong_one(&raw, "another QP's number", MLX5_OPCODE_SEND, 0xabcdef);
	keys_close(&raw.keys);
}

void dv_raw_wqes(struct rig *rig)
{
	raw_wqes_on(rig, false);
	raw_wqes_on(rig, true);
}

/* Not compared, as the distribution's library copies a too long WQE over the requests behind it. */
void dv_raw_too_long(struct rig *rig)
{
	struct raw raw;

	raw_open(rig, false, &raw);
	for (unsigned int units = 0; units <= RAW_WQE_UNITS; units++) {
		int ret;

		raw_begin(&raw, MLX5_OPCODE_SEND);
		raw.wqe.units = units;
		if (units && units * 16 <= 4 * 64)
			continue; /* the library may round up the room that the QP has */
		ret = raw_post_times(&raw, 2); /* which is refused once */
		say_result(ret);
		say_check(ret == ENOMEM, "%u units: %d", units, ret);
	}
	rig_pair_reconnect(&raw.keys.pair);
	sizes(&raw);
	keys_close(&raw.keys);
}
