/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * datapath.c - the software cost of one post or poll: cycles, or instructions under callgrind.
 *
 * Two QPs of this process are connected to each other (pairs.h). A round posts BURST receives,
 * posts BURST sends, waits until the adapter has done its work, and polls; only the calls
 * themselves are inside the timed regions, GROUP of them in each. An operation's cost is that of
 * its best region, because everything that disturbs one (the adapter reading the same cache lines,
 * interrupts) adds to it. The loop around the calls, a dozen instructions, is in all numbers. With
 * --threads the process has another thread, which sleeps. With --lines, callgrind's cache misses
 * are the lines that a call touches (lines.h).
 */
#include <infiniband/mlx5dv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include <valgrind/callgrind.h>

#include "bench/lines.h"
#include "bench/pairs.h"
#include "tests/lib/say.h"
#include "util/bits.h"

#define GROUP  32
#define GROUPS (BURST / GROUP)
#define LIST   16

struct bench {
	struct pairs pairs;
	struct ibv_sge sge;
	struct ibv_sge parts[MAX_SGES]; /* the same bytes in pieces */
	struct ibv_sge target[MAX_SGES];
	struct ibv_send_wr sends[LIST];
	struct ibv_recv_wr recvs[LIST];
	struct ibv_mr *regions[GROUP];
	uint64_t clock_cost; /* cycles of an empty timed region */
	long nap_ns;         /* see bench_settle() */
	bool counting;       /* set under callgrind: few rounds, and a dump for each operation */
	bool lines;          /* counts lines of each call, not instructions */
};

struct operation;

/* Runs GROUP operations. Returns the number of those that succeeded. */
typedef int run_fn(struct bench *b, const struct operation *op, struct rig_pair *pair);

struct operation {
	const char *name;
	run_fn *run;
	enum {
		SENDS,
		QUIET_SENDS,
		QUIET_PUTS,
		RECVS,
		POLLS_SEND,
		POLLS_RECV,
		POLLS_NOTHING,
		FLUSHES_SENDS,
		FLUSHES_RECVS,
		CONTROL
	} phase;
	enum which_pair pair;
	int n; /* SGEs, bytes of inline data or entries of a poll; 0: one SGE */
};

static run_fn send_inline_list;

static bool is_phase(const struct operation *op, int phase)
{
	return (int)op->phase == phase;
}

static void aim_send(const struct bench *b, const struct operation *op, struct ibv_send_wr *wr)
{
	const struct rig_pair *pair = &b->pairs.pair[op->pair];
	const bool in_pieces = op->pair == WIDE && op->n;

	*wr = (struct ibv_send_wr){
		.sg_list = (struct ibv_sge *)(in_pieces ? b->parts : &b->sge),
		.num_sge = in_pieces ? op->n : 1,
		.opcode = IBV_WR_SEND,
		.send_flags =
			IBV_SEND_SIGNALED | (op->run == send_inline_list ? IBV_SEND_INLINE : 0),
	};
	wr->wr.ud.ah = b->pairs.ah[op->pair];
	wr->wr.ud.remote_qpn = pair->end[1].qp->qp_num;
	wr->wr.ud.remote_qkey = QKEY;
}

/* Fills SGE with N pieces that together cover LEN bytes at ADDR. */
static void payload_cut(struct ibv_sge *sge, uint32_t n, uint64_t addr, uint32_t len, uint32_t lkey)
{
	for (uint32_t i = 0; i < n; i++)
		sge[i] = (struct ibv_sge){ addr + i * (len / n), len / n, lkey };
}

static void bench_aim(struct bench *b, const struct operation *op)
{
	const struct rig_pair *pair = &b->pairs.pair[op->pair];
	const struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	const int pieces = op->pair == WIDE && op->n ? op->n : 1;
	/* A receive has exactly the room that it needs, so that small messages may come inside the
	 * CQE. */
	uint32_t room = b->pairs.ah[op->pair] ? BYTES + GRH : INLINE;

	if (op->pair == WIDE || is_phase(op, POLLS_RECV))
		room = b->pairs.ah[op->pair] ? room : BYTES;
	b->sge = (struct ibv_sge){ (uintptr_t)from->buf, BYTES, from->mr->lkey };
	payload_cut(b->parts, (uint32_t)pieces, b->sge.addr, BYTES, b->sge.lkey);
	payload_cut(b->target, (uint32_t)pieces, (uintptr_t)to->buf, room, to->mr->lkey);
	for (int i = 0; i < LIST; i++) {
		aim_send(b, op, &b->sends[i]);
		b->sends[i].wr_id = (uint64_t)i;
		b->sends[i].next = i + 1 < LIST ? &b->sends[i + 1] : NULL;
		b->recvs[i] = (struct ibv_recv_wr){ .wr_id = (uint64_t)i,
						    .next = i + 1 < LIST ? &b->recvs[i + 1] : NULL,
						    .sg_list = b->target,
						    .num_sge = pieces };
	}
}

static int send_one(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_send_wr wr = b->sends[LIST - 1], *bad;

	(void)op;
	for (int i = 0; i < GROUP; i++)
		if (ibv_post_send(pair->end[0].qp, &wr, &bad))
			return i;
	return GROUP;
}

/* Only the last send of the group has a completion, so that the others cost none. */
static int send_quiet(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_send_wr wr = b->sends[LIST - 1], *bad;

	(void)op;
	wr.send_flags = 0;
	for (int i = 0; i < GROUP; i++) {
		if (i == GROUP - 1)
			wr.send_flags = IBV_SEND_SIGNALED;
		if (ibv_post_send(pair->end[0].qp, &wr, &bad))
			return i;
	}
	return GROUP;
}

static int send_inline(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_send_wr wr = b->sends[LIST - 1], *bad;
	struct ibv_sge sge = b->sge;

	sge.length = (uint32_t)op->n;
	wr.sg_list = &sge;
	wr.send_flags |= IBV_SEND_INLINE;
	for (int i = 0; i < GROUP; i++)
		if (ibv_post_send(pair->end[0].qp, &wr, &bad))
			return i;
	return GROUP;
}

/* Posts inline data in OP's number of pieces. */
static int send_inline_pieces(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_send_wr wr = b->sends[LIST - 1], *bad;

	(void)op;
	wr.send_flags |= IBV_SEND_INLINE;
	for (int i = 0; i < GROUP; i++)
		if (ibv_post_send(pair->end[0].qp, &wr, &bad))
			return i;
	return GROUP;
}

static int send_list(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_send_wr *bad;

	(void)op;
	for (int i = 0; i < GROUP; i += LIST)
		if (ibv_post_send(pair->end[0].qp, b->sends, &bad))
			return i;
	return GROUP;
}

/* aim_send() has set the flag of each request. */
static int send_inline_list(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	return send_list(b, op, pair);
}

/* Posts inline RDMA writes, as UCX sends small data: only the last one of the group has a
 * completion. */
static int put_one(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_sge sge = { b->sge.addr, (uint32_t)op->n, b->sge.lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_INLINE },
			   *bad;

	wr.wr.rdma.remote_addr = (uintptr_t)pair->end[1].buf;
	wr.wr.rdma.rkey = pair->end[1].mr->rkey;
	for (int i = 0; i < GROUP; i++) {
		if (i == GROUP - 1)
			wr.send_flags |= IBV_SEND_SIGNALED;
		if (ibv_post_send(pair->end[0].qp, &wr, &bad))
			return i;
	}
	return GROUP;
}

/* ---- ibv_wr_*() */

static int wr_one(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);

	(void)op;
	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, b->sge.lkey, b->sge.addr, b->sge.length);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_inline(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);

	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)b->sge.addr, (size_t)op->n);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_put(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);
	const uint64_t to = (uintptr_t)pair->end[1].buf;
	const uint32_t rkey = pair->end[1].mr->rkey;

	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = i == GROUP - 1 ? IBV_SEND_SIGNALED : 0;
		ibv_wr_rdma_write(qpx, rkey, to);
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)b->sge.addr, (size_t)op->n);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_batch(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);

	(void)op;
	for (int i = 0; i < GROUP; i++) {
		if (i % LIST == 0)
			ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, b->sge.lkey, b->sge.addr, b->sge.length);
		if (i % LIST == LIST - 1 && ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_datagram(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);
	const struct ibv_send_wr *wr = &b->sends[0];

	(void)op;
	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_ud_addr(qpx, wr->wr.ud.ah, wr->wr.ud.remote_qpn, QKEY);
		ibv_wr_set_sge(qpx, b->sge.lkey, b->sge.addr, b->sge.length);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_pieces(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);
	struct ibv_sge pieces[MAX_SGES];

	payload_cut(pieces, (uint32_t)op->n, b->sge.addr, b->sge.length, b->sge.lkey);
	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_sge_list(qpx, (size_t)op->n, pieces);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_inline_pieces(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);
	const size_t length = b->sge.length / (size_t)op->n;
	struct ibv_data_buf pieces[MAX_SGES];

	for (int i = 0; i < op->n; i++)
		pieces[i] = (struct ibv_data_buf){ pair->end[0].buf + (size_t)i * length, length };
	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_inline_data_list(qpx, (size_t)op->n, pieces);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_cancel(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);

	(void)op;
	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, b->sge.lkey, b->sge.addr, b->sge.length);
		ibv_wr_abort(qpx);
	}
	return GROUP;
}

/* Writes by DC, to N targets in turn; N 0: by two streams in turn. */
static int wr_put_dc(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);
	struct mlx5dv_qp_ex *dv = mlx5dv_qp_ex_from_ibv_qp_ex(qpx);
	const uint32_t to[] = { pair->end[1].qp->qp_num, b->pairs.dc_other->qp_num };
	const uint64_t addr = (uintptr_t)pair->end[1].buf;
	struct ibv_ah *ah = b->pairs.ah[DC];

	for (int i = 0; i < GROUP; i++) {
		ibv_wr_start(qpx);
		qpx->wr_id = i;
		qpx->wr_flags = i == GROUP - 1 ? IBV_SEND_SIGNALED : 0;
		ibv_wr_rdma_write(qpx, pair->end[1].mr->rkey, addr);
		if (op->n)
			mlx5dv_wr_set_dc_addr(dv, ah, to[i & (op->n - 1)], DC_KEY);
		else
			mlx5dv_wr_set_dc_addr_stream(dv, ah, to[0], DC_KEY, i & 1);
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)b->sge.addr, 8);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

/* ---- memory keys: each request describes the pieces of a key, and its signature or encryption,
 * again */

/* An operation's N contains both a key and its number of pieces, as a row has one number. */
#define KEY(key, pieces) ((int)(key)*16 + (pieces))

struct key_attrs {
	struct ibv_sge sge[PIECES];
	struct mlx5dv_mr_interleaved part[PIECES];
	struct mlx5dv_sig_t10dif dif;
	struct mlx5dv_sig_block_domain wire;
	struct mlx5dv_sig_block_attr sig;
	struct mlx5dv_crypto_attr crypto;
};

static void key_attrs_fill(const struct bench *b, struct key_attrs *attrs)
{
	*attrs = (struct key_attrs){
		.dif = { .bg_type = MLX5DV_SIG_T10DIF_CRC, .app_tag = 1, .ref_tag = 2 },
		.wire = { .sig_type = MLX5DV_SIG_TYPE_T10DIF, .block_size = MLX5DV_BLOCK_SIZE_512 },
		.sig = { .check_mask = 0xff },
		.crypto = { .encrypt_on_tx = true,
			    .data_unit_size = MLX5DV_BLOCK_SIZE_512,
			    .dek = b->pairs.dek },
	};
	attrs->wire.sig.dif = &attrs->dif;
	attrs->sig.wire = &attrs->wire;
	for (unsigned int i = 0; i < PIECES; i++) {
		attrs->sge[i] = b->sge;
		attrs->part[i] = (struct mlx5dv_mr_interleaved){ b->sge.addr, 8, 8, b->sge.lkey };
	}
}

static void key_configure(struct bench *b, struct mlx5dv_qp_ex *dv, enum which_key key,
			  uint16_t pieces, const struct key_attrs *attrs)
{
	bool signs = key == KEY_SIGNS || key == KEY_DOES_BOTH;
	bool encrypts = key == KEY_ENCRYPTS || key == KEY_DOES_BOTH;
	struct mlx5dv_mkey_conf_attr conf = { 0 };

	mlx5dv_wr_mkey_configure(dv, b->pairs.key[key], (uint8_t)(2 + signs + encrypts), &conf);
	mlx5dv_wr_set_mkey_access_flags(dv, IBV_ACCESS_LOCAL_WRITE);
	mlx5dv_wr_set_mkey_layout_list(dv, pieces, attrs->sge);
	if (signs)
		mlx5dv_wr_set_mkey_sig_block(dv, &attrs->sig);
	if (encrypts)
		mlx5dv_wr_set_mkey_crypto(dv, &attrs->crypto);
}

static void key_start(struct ibv_qp_ex *qpx, int i)
{
	ibv_wr_start(qpx);
	qpx->wr_id = i;
	qpx->wr_flags = IBV_SEND_INLINE | (i == GROUP - 1 ? IBV_SEND_SIGNALED : 0);
}

static int wr_configure(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);
	struct mlx5dv_qp_ex *dv = mlx5dv_qp_ex_from_ibv_qp_ex(qpx);
	struct key_attrs attrs;

	key_attrs_fill(b, &attrs);
	for (int i = 0; i < GROUP; i++) {
		key_start(qpx, i);
		key_configure(b, dv, (enum which_key)(op->n / 16), (uint16_t)(op->n % 16), &attrs);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_list(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);
	struct mlx5dv_qp_ex *dv = mlx5dv_qp_ex_from_ibv_qp_ex(qpx);
	struct key_attrs attrs;

	key_attrs_fill(b, &attrs);
	for (int i = 0; i < GROUP; i++) {
		key_start(qpx, i);
		mlx5dv_wr_mr_list(dv, b->pairs.key[KEY_PLAIN], IBV_ACCESS_LOCAL_WRITE,
				  (uint16_t)op->n, attrs.sge);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int wr_pattern(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(pair->end[0].qp);
	struct mlx5dv_qp_ex *dv = mlx5dv_qp_ex_from_ibv_qp_ex(qpx);
	struct key_attrs attrs;

	key_attrs_fill(b, &attrs);
	for (int i = 0; i < GROUP; i++) {
		key_start(qpx, i);
		mlx5dv_wr_mr_interleaved(dv, b->pairs.key[KEY_PLAIN], IBV_ACCESS_LOCAL_WRITE, 2,
					 (uint16_t)op->n, attrs.part);
		if (ibv_wr_complete(qpx))
			return i;
	}
	return GROUP;
}

static int recv_one(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_recv_wr wr = b->recvs[LIST - 1], *bad;

	(void)op;
	for (int i = 0; i < GROUP; i++)
		if (ibv_post_recv(pair->end[1].qp, &wr, &bad))
			return i;
	return GROUP;
}

static int recv_list(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_recv_wr *bad;

	(void)op;
	for (int i = 0; i < GROUP; i += LIST)
		if (ibv_post_recv(pair->end[1].qp, b->recvs, &bad))
			return i;
	return GROUP;
}

static int srq_one(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_recv_wr wr = b->recvs[LIST - 1], *bad;

	(void)op;
	(void)pair;
	for (int i = 0; i < GROUP; i++)
		if (ibv_post_srq_recv(b->pairs.srq, &wr, &bad))
			return i;
	return GROUP;
}

static int srq_list(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_recv_wr *bad;

	(void)op;
	(void)pair;
	for (int i = 0; i < GROUP; i += LIST)
		if (ibv_post_srq_recv(b->pairs.srq, b->recvs, &bad))
			return i;
	return GROUP;
}

static int poll_by(struct ibv_cq *cq, int step)
{
	struct ibv_wc wc[GROUP];
	int total = 0, n;

	for (int i = 0; i < GROUP; i += step) {
		n = ibv_poll_cq(cq, step, wc);
		total += n;
		if (n != step)
			break;
	}
	return total;
}

static int poll_sends(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	(void)b;
	return poll_by(pair->end[0].cq, op->n);
}

static int poll_recvs(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	(void)b;
	return poll_by(pair->end[1].cq, op->n);
}

static int poll_empty(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	struct ibv_wc wc[GROUP];

	(void)b;
	(void)op;
	for (int i = 0; i < GROUP; i++)
		if (ibv_poll_cq(pair->end[0].cq, GROUP, wc))
			return i;
	return GROUP;
}

/* Takes up to N completions in one ibv_start_poll(), with the readers that a message loop needs. */
static int read_some(struct ibv_cq_ex *cq, int n)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };
	uint32_t sum = 0;
	int i = 0;

	if (ibv_start_poll(cq, &attr))
		return 0;
	do {
		sum += ibv_wc_read_opcode(cq) + ibv_wc_read_byte_len(cq) + ibv_wc_read_qp_num(cq);
		i++;
	} while (i < n && !ibv_next_poll(cq));
	ibv_end_poll(cq);
	return sum ? i : 0;
}

static int poll_readers(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	int total = 0, n;

	(void)pair;
	for (int i = 0; i < GROUP; i += op->n) {
		n = read_some(b->pairs.cq_ex, op->n);
		total += n;
		if (n != op->n)
			break;
	}
	return total;
}

enum { REGISTER, DEREGISTER };

static int register_group(struct bench *b, const struct rig_pair *pair)
{
	for (int i = 0; i < GROUP; i++) {
		b->regions[i] =
			ibv_reg_mr(pair->pd, pair->end[0].buf, BYTES, IBV_ACCESS_LOCAL_WRITE);
		if (!b->regions[i])
			return i;
	}
	return GROUP;
}

static int deregister_group(struct bench *b)
{
	for (int i = 0; i < GROUP; i++)
		if (ibv_dereg_mr(b->regions[i]))
			return i;
	return GROUP;
}

static int run_regions(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	return op->n == REGISTER ? register_group(b, pair) : deregister_group(b);
}

static const struct operation operations[] = {
	{ "post_send", send_one, SENDS, PLAIN, 0 },
	{ "post_send, unsignaled", send_quiet, QUIET_SENDS, PLAIN, 0 },
	{ "post_send, 4 SGEs", send_one, SENDS, WIDE, 4 },
	{ "post_send, 16 SGEs", send_one, SENDS, WIDE, 16 },
	{ "post_send, inline 32", send_inline, SENDS, PLAIN, 32 },
	{ "post_send, inline 128", send_inline, SENDS, PLAIN, 128 },
	{ "post_send, inline 2 of 16", send_inline_pieces, SENDS, WIDE, 2 },
	{ "post_send, inline 4 of 8", send_inline_pieces, SENDS, WIDE, 4 },
	{ "post_send, list of 16", send_list, SENDS, PLAIN, 0 },
	{ "post_send, inline 32, list of 16", send_inline_list, SENDS, PLAIN, 0 },
	{ "post_send, UD", send_one, SENDS, UD, 0 },
	{ "post_send, UD, list of 16", send_list, SENDS, UD, 0 },
	{ "post_send, thread domain", send_one, SENDS, DOMAIN, 0 },
	{ "post_send, shared register", send_one, SENDS, LATE, 0 },
	{ "post_send, put of 8", put_one, QUIET_PUTS, PLAIN, 8 },
	{ "wr_send", wr_one, SENDS, EX, 0 },
	{ "wr_send, inline 32", wr_inline, SENDS, EX, 32 },
	{ "wr_send, inline 128", wr_inline, SENDS, EX, 128 },
	{ "wr_send, 4 SGEs", wr_pieces, SENDS, EX, 4 },
	{ "wr_send, inline 4 of 8", wr_inline_pieces, SENDS, EX, 4 },
	{ "wr_send, aborted", wr_cancel, POLLS_NOTHING, EX, 0 },
	{ "wr_send, batch of 16", wr_batch, SENDS, EX, 0 },
	{ "wr_send, UD", wr_datagram, SENDS, EX_UD, 0 },
	{ "wr_rdma_write, put of 8", wr_put, QUIET_PUTS, EX, 8 },
	{ "wr_rdma_write, DC, one target", wr_put_dc, QUIET_PUTS, DC, 1 },
	{ "wr_rdma_write, DC, two targets", wr_put_dc, QUIET_PUTS, DC, 2 },
	{ "wr_rdma_write, DC, two streams", wr_put_dc, QUIET_PUTS, DC, 0 },
	{ "wr_mr_list, 1 piece", wr_list, QUIET_PUTS, KEYS, 1 },
	{ "wr_mr_list, 4 pieces", wr_list, QUIET_PUTS, KEYS, 4 },
	{ "wr_mr_interleaved, 1 part", wr_pattern, QUIET_PUTS, KEYS, 1 },
	{ "wr_mr_interleaved, 4 parts", wr_pattern, QUIET_PUTS, KEYS, 4 },
	{ "wr_mkey_configure, 1 piece", wr_configure, QUIET_PUTS, KEYS, KEY(KEY_PLAIN, 1) },
	{ "wr_mkey_configure, 4 pieces", wr_configure, QUIET_PUTS, KEYS, KEY(KEY_PLAIN, 4) },
	{ "wr_mkey_configure, T10-DIF", wr_configure, QUIET_PUTS, KEYS, KEY(KEY_SIGNS, 1) },
	{ "wr_mkey_configure, AES-XTS", wr_configure, QUIET_PUTS, KEYS, KEY(KEY_ENCRYPTS, 1) },
	{ "wr_mkey_configure, both", wr_configure, QUIET_PUTS, KEYS, KEY(KEY_DOES_BOTH, 1) },
	{ "post_recv", recv_one, RECVS, PLAIN, 0 },
	{ "post_recv, list of 16", recv_list, RECVS, PLAIN, 0 },
	{ "post_recv, 4 SGEs", recv_one, RECVS, WIDE, 4 },
	{ "post_recv, 16 SGEs", recv_one, RECVS, WIDE, 16 },
	{ "post_srq_recv", srq_one, RECVS, SHARED, 0 },
	{ "post_srq_recv, list of 16", srq_list, RECVS, SHARED, 0 },
	{ "poll_cq, empty", poll_empty, POLLS_NOTHING, PLAIN, 0 },
	{ "poll_cq, 1 send", poll_sends, POLLS_SEND, PLAIN, 1 },
	{ "poll_cq, 8 sends", poll_sends, POLLS_SEND, PLAIN, 8 },
	{ "poll_cq, 32 sends", poll_sends, POLLS_SEND, PLAIN, 32 },
	{ "poll_cq, 1 receive", poll_recvs, POLLS_RECV, PLAIN, 1 },
	{ "poll_cq, 8 receives", poll_recvs, POLLS_RECV, PLAIN, 8 },
	{ "poll_cq, 32 receives", poll_recvs, POLLS_RECV, PLAIN, 32 },
	{ "poll_cq, 1 of an SRQ", poll_recvs, POLLS_RECV, SHARED, 1 },
	{ "poll_cq, 32 of an SRQ", poll_recvs, POLLS_RECV, SHARED, 32 },
	{ "poll_cq, 1 datagram", poll_recvs, POLLS_RECV, UD, 1 },
	{ "poll_cq, 32 datagrams", poll_recvs, POLLS_RECV, UD, 32 },
	{ "poll_cq, 1 flushed send", poll_sends, FLUSHES_SENDS, PLAIN, 1 },
	{ "poll_cq, 32 flushed sends", poll_sends, FLUSHES_SENDS, PLAIN, 32 },
	{ "poll_cq, 1 flushed receive", poll_recvs, FLUSHES_RECVS, PLAIN, 1 },
	{ "poll_cq, 32 flushed receives", poll_recvs, FLUSHES_RECVS, PLAIN, 32 },
	{ "start_poll, 1 receive", poll_readers, POLLS_RECV, EX, 1 },
	{ "start_poll, 8 receives", poll_readers, POLLS_RECV, EX, 8 },
	{ "start_poll, 32 receives", poll_readers, POLLS_RECV, EX, 32 },
	{ "reg_mr", run_regions, CONTROL, PLAIN, REGISTER },
	{ "dereg_mr", run_regions, CONTROL, PLAIN, DEREGISTER },
};

/* ---- measuring */

static void run_counted(struct bench *b, const struct operation *op, struct rig_pair *pair,
			run_fn *run, int *done)
{
	if (b->lines)
		lines_count(true);
	else
		CALLGRIND_TOGGLE_COLLECT;
	*done += run(b, op, pair);
	if (b->lines)
		lines_count(false);
	else
		CALLGRIND_TOGGLE_COLLECT;
}

/* Runs RUN between two readings of the clock, with fences, so that no earlier or later instruction
 * is in the interval. */
static uint64_t timed_group(struct bench *b, const struct operation *op, struct rig_pair *pair,
			    run_fn *run, int *done)
{
	uint64_t start, end;
	unsigned int cpu;

	_mm_lfence();
	start = __rdtsc();
	_mm_lfence();
	run_counted(b, op, pair, run, done);
	end = __rdtscp(&cpu);
	_mm_lfence();
	return end - start;
}

static int run_nothing(struct bench *b, const struct operation *op, struct rig_pair *pair)
{
	(void)b;
	(void)op;
	(void)pair;
	return GROUP;
}

/* Runs a burst group by group. Returns the cycles of the best group, as interrupts make others
 * longer. */
static uint64_t timed(struct bench *b, const struct operation *op, struct rig_pair *pair,
		      run_fn *run, int *done)
{
	uint64_t best = UINT64_MAX;

	*done = 0;
	for (int i = 0; i < GROUPS; i++) {
		uint64_t cycles = timed_group(b, op, pair, run, done);

		if (cycles < best)
			best = cycles;
	}
	return best;
}

#define NAP_MIN 1000000L
#define NAP_MAX 400000000L

/* Sleeps for the time that the adapter usually needs for a burst. A burst that takes longer is not
 * counted, and the next sleep is longer. Under callgrind every round counts, so the sleep is
 * long at once. */
static void bench_nap(const struct bench *b)
{
	const struct timespec nap = { .tv_nsec = b->counting ? NAP_MAX : b->nap_ns };

	nanosleep(&nap, NULL);
}

/* Waits for the round's completions. Under callgrind for all of them, as every round counts
 * there. */
static void bench_settle(const struct bench *b, const struct operation *op, int *sends)
{
	struct ibv_wc wc[BURST];

	if (!b->counting || !is_phase(op, POLLS_RECV)) {
		bench_nap(b);
		return;
	}
	MUST(rig_poll(b->pairs.pair[op->pair].end[0].cq, *sends, wc) == *sends);
	*sends = 0;
}

static int ex_drain(struct bench *b)
{
	int total = 0;

	for (int tries = 0; total < BURST && tries < 5000; tries++) {
		int done = read_some(b->pairs.cq_ex, BURST);

		total += done;
		if (!done)
			bench_nap(b);
	}
	return total;
}

/* Polls the completions that the measured call has left. */
static void bench_drain(struct bench *b, const struct operation *op, int sends, int recvs)
{
	struct rig_pair *pair = &b->pairs.pair[op->pair];
	struct ibv_wc wc[BURST];

	MUST(rig_poll(pair->end[0].cq, sends, wc) == sends);
	if (recvs && op->pair == EX)
		MUST(ex_drain(b) == recvs);
	else
		MUST(rig_poll(pair->end[1].cq, recvs, wc) == recvs);
}

static void post_burst(struct bench *b, const struct operation *op, run_fn *run)
{
	for (int i = 0; i < GROUPS; i++)
		MUST(run(b, op, &b->pairs.pair[op->pair]) == GROUP);
}

/* Measures a round of memory regions. Only registration or deregistration is timed, so the other
 * one runs between the timed groups. */
static uint64_t measure_regions(struct bench *b, const struct operation *op)
{
	struct rig_pair *pair = &b->pairs.pair[op->pair];
	uint64_t best = UINT64_MAX, cycles;
	int done = 0;

	for (int i = 0; i < GROUPS; i++) {
		if (op->n == DEREGISTER)
			MUST(register_group(b, pair) == GROUP);
		cycles = timed_group(b, op, pair, op->run, &done);
		if (op->n == REGISTER)
			MUST(deregister_group(b) == GROUP);
		best = min_of(best, cycles);
	}
	MUST(done == BURST);
	return best;
}

static void set_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}

/* Measures a round in which an end's requests are flushed: sends that are posted in the state
 * ERROR, or receives that were posted before it. */
static uint64_t measure_flush(struct bench *b, const struct operation *op)
{
	struct rig_pair *pair = &b->pairs.pair[op->pair];
	const bool is_send = is_phase(op, FLUSHES_SENDS);
	struct rig_end *end = &pair->end[!is_send];
	struct ibv_wc wc[BURST];
	uint64_t cycles;
	int done;

	if (!is_send)
		post_burst(b, op, recv_list);
	set_state(end->qp, IBV_QPS_ERR);
	if (is_send)
		post_burst(b, op, send_list);
	bench_nap(b);
	cycles = timed(b, op, pair, op->run, &done);
	MUST(rig_poll(end->cq, BURST - done, wc) == BURST - done);
	set_state(pair->end[0].qp, IBV_QPS_RESET);
	set_state(pair->end[1].qp, IBV_QPS_RESET);
	rig_pair_reconnect(pair);
	return done == BURST ? cycles : UINT64_MAX;
}

/* Runs a round. Returns the cycles of the best group, or UINT64_MAX if the adapter did not finish
 * in time. */
static uint64_t measure_round(struct bench *b, const struct operation *op)
{
	struct rig_pair *pair = &b->pairs.pair[op->pair];
	uint64_t cycles = UINT64_MAX;
	const bool puts = is_phase(op, QUIET_PUTS), quiet = puts || is_phase(op, QUIET_SENDS);
	int done = BURST, sends = quiet ? GROUPS : BURST, recvs = puts ? 0 : BURST;

	if (is_phase(op, CONTROL))
		return measure_regions(b, op);
	if (is_phase(op, FLUSHES_SENDS) || is_phase(op, FLUSHES_RECVS))
		return measure_flush(b, op);
	if (is_phase(op, RECVS))
		cycles = timed(b, op, pair, op->run, &done);
	else if (recvs)
		post_burst(b, op, op->pair == SHARED ? srq_list : recv_list);
	MUST(done == BURST);
	if (is_phase(op, SENDS) || quiet)
		cycles = timed(b, op, pair, op->run, &done);
	else
		post_burst(b, op, send_list);
	MUST(done == BURST);
	if (is_phase(op, POLLS_SEND) || is_phase(op, POLLS_RECV)) {
		bench_settle(b, op, &sends);
		cycles = timed(b, op, pair, op->run, &done);
		sends -= is_phase(op, POLLS_SEND) ? done : 0;
		recvs -= is_phase(op, POLLS_RECV) ? done : 0;
	}
	bench_drain(b, op, sends, recvs);
	if (is_phase(op, POLLS_NOTHING))
		cycles = timed(b, op, pair, op->run, &done);
	return done == BURST ? cycles : UINT64_MAX;
}

static void bench_hook(const struct bench *b, const struct operation *op)
{
	const enum which_pair pair = op->pair;
	const bool is_ex = pair == EX || pair == EX_UD || pair == DC || pair == KEYS;

	if (!b->lines)
		return;
	lines_hook_qp(is_ex ? ibv_qp_to_qp_ex(b->pairs.pair[pair].end[0].qp) : NULL);
	lines_hook_cq(pair == EX ? b->pairs.cq_ex : NULL);
}

/* The first round, not counted, fills caches and binds functions. */
static void bench_forget(void)
{
	CALLGRIND_ZERO_STATS;
	(void)lines_calls();
}

static void bench_measure(struct bench *b, const struct operation *op, int rounds)
{
	uint64_t best = UINT64_MAX;
	int valid = 0;

	bench_aim(b, op);
	bench_hook(b, op);
	for (int i = 0; i < rounds; i++) {
		uint64_t cycles = measure_round(b, op);

		b->nap_ns = cycles == UINT64_MAX ? min_of(2 * b->nap_ns, NAP_MAX) : NAP_MIN;
		if (b->counting && i == 0)
			bench_forget();
		else if (cycles != UINT64_MAX)
			valid++;
		if (cycles < best)
			best = cycles;
	}
	lines_unhook();
	if (b->counting) {
		MUST(valid == rounds - 1);
		CALLGRIND_DUMP_STATS_AT(op->name);
		printf("%s\t%d\n", op->name, b->lines ? lines_calls() : valid * BURST);
	} else {
		MUST(valid > 0);
		printf("%s\t%.1f\n", op->name, (double)(best - b->clock_cost) / GROUP);
	}
}

static void measure_clock(struct bench *b, int rounds)
{
	b->clock_cost = UINT64_MAX;
	for (int i = 0; i < rounds; i++) {
		int done;
		uint64_t cycles =
			timed(b, &operations[0], &b->pairs.pair[PLAIN], run_nothing, &done);

		b->clock_cost = cycles < b->clock_cost ? cycles : b->clock_cost;
	}
}

static bool is_there(const struct bench *b, const struct operation *op)
{
	if (b->lines && is_phase(op, CONTROL))
		return false;
	if (op->run == wr_configure && b->pairs.has_all && !b->pairs.key[op->n / 16])
		return false;
	return pairs_have(&b->pairs, op->pair) &&
	       (b->pairs.has_all || op->pair != EX || is_phase(op, POLLS_RECV));
}

/* A thread that does nothing, as libraries may be slower in a process with two threads. */
static void *sleep_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	const bool threads = argc > 1 && !strcmp(argv[1], "--threads");
	const bool lines = argc > 1 && !strcmp(argv[1], "--lines");
	char **rest = argv + (threads || lines);
	const int count = argc - (threads || lines);
	int rounds = count > 1 ? atoi(rest[1]) : 200;
	const char *part = count > 2 ? rest[2] : "";
	struct bench b = { .counting = RUNNING_ON_VALGRIND, .nap_ns = NAP_MIN, .lines = lines };
	pthread_t sleeper;

	if (rounds < 2 || count > 3) {
		fprintf(stderr, "usage: datapath [--threads|--lines] [ROUNDS [PART OF A NAME]], at "
				"least 2 rounds\n");
		return 2;
	}
	if (threads)
		MUST(!pthread_create(&sleeper, NULL, sleep_for_ever, NULL));
	pairs_open(&b.pairs);
	if (lines)
		lines_hook_context(b.pairs.rig.ctx);
	measure_clock(&b, rounds);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (strstr(operations[i].name, part) && is_there(&b, &operations[i]))
			bench_measure(&b, &operations[i], rounds);
	pairs_close(&b.pairs);
	return 0;
}
