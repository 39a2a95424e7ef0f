/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * data.c - every opcode through ibv_post_send() and through ibv_wr_*, with each byte of the payload
 * checked.
 *
 * A transfer is a row of a table: opcode, lengths of its scatter entries on both ends, flags. End 0
 * acts, end 1 is the target. Each end's buffer has a source half, filled with a pattern, and a sink
 * half.
 *
 * Covers: providers/mlx5/data/post_send.c, providers/mlx5/data/send_wr.c,
 * providers/mlx4/data/post_send.c, providers/mlx4/data/send_wr.c, softhca/device/transport/req.c,
 * softhca/device/transport/resp.c, providers/mlx5/data/datapath.c,
 * providers/mlx5/data/datapath_table.c, providers/mlx4/data/datapath.c,
 * providers/mlx4/data/datapath_table.c, providers/common/cpu.c
 */
#include <arpa/inet.h>

#include "data.h"

#define HALF (64 << 10)

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 7 + i / 251 + 13);
}

static void buffer_fill(struct rig_end *end)
{
	for (size_t i = 0; i < HALF; i++)
		end->buf[i] = pattern(i);
	memset(end->buf + HALF, 0, HALF);
}

/* Puts the entries one after another into the half, with gaps of 3 bytes, so that a wrong gather
 * shows. */
static int build_sges(const struct rig_end *end, size_t start, const uint32_t *lens, int n,
		      struct ibv_sge *sges)
{
	size_t at = start;

	for (int i = 0; i < n; i++) {
		sges[i] = (struct ibv_sge){ .addr = (uintptr_t)end->buf + at,
					    .length = lens[i],
					    .lkey = end->mr->lkey };
		at += lens[i] + 3;
	}
	return n;
}

static uint32_t total(const struct ibv_sge *sges, int n)
{
	uint32_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += sges[i].length;
	return sum;
}

/* Compare LEN bytes of two scatter lists as one stream. */
static bool same_bytes(const struct ibv_sge *a, const struct ibv_sge *b, uint32_t len)
{
	uint32_t ai = 0, bi = 0;

	for (uint32_t i = 0; i < len; i++) {
		while (ai == a->length)
			a++, ai = 0;
		while (bi == b->length)
			b++, bi = 0;
		if (((uint8_t *)(uintptr_t)a->addr)[ai++] != ((uint8_t *)(uintptr_t)b->addr)[bi++])
			return false;
	}
	return true;
}

static bool takes_recv(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_SEND_WITH_INV || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_rdma(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
	       opcode == IBV_WR_RDMA_READ;
}

static void set_inline(struct ibv_qp_ex *qpx, const struct ibv_sge *sges, int n)
{
	struct ibv_data_buf bufs[8];

	if (n == 1) {
		ibv_wr_set_inline_data(qpx, (void *)(uintptr_t)sges->addr, sges->length);
		return;
	}
	for (int i = 0; i < n; i++)
		bufs[i] = (struct ibv_data_buf){ (void *)(uintptr_t)sges[i].addr, sges[i].length };
	ibv_wr_set_inline_data_list(qpx, n, bufs);
}

void wr_data(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	if (wr->send_flags & IBV_SEND_INLINE)
		set_inline(qpx, wr->sg_list, wr->num_sge);
	else if (wr->num_sge == 1)
		ibv_wr_set_sge(qpx, wr->sg_list->lkey, wr->sg_list->addr, wr->sg_list->length);
	else
		ibv_wr_set_sge_list(qpx, wr->num_sge, wr->sg_list);
}

void wr_operation(struct ibv_qp_ex *qpx, const struct ibv_send_wr *wr)
{
	uint32_t rkey = wr->wr.rdma.rkey;
	uint64_t addr = wr->wr.rdma.remote_addr;

	qpx->wr_id = wr->wr_id;
	qpx->wr_flags = wr->send_flags;
	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qpx);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, wr->imm_data);
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qpx, wr->invalidate_rkey);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, rkey, addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, rkey, addr, wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, rkey, addr);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
				      wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, wr->wr.atomic.rkey, wr->wr.atomic.remote_addr,
					wr->wr.atomic.compare_add);
		break;
	default:
		MUST(!"an opcode that ibv_wr_* has");
	}
}

int entry_post(struct ibv_qp *qp, struct ibv_send_wr *wr, enum entry entry)
{
	struct ibv_send_wr *bad;
	struct ibv_qp_ex *qpx;

	if (entry == ENTRY_POST)
		return ibv_post_send(qp, wr, &bad);
	qpx = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(qpx);
	wr_operation(qpx, wr);
	wr_data(qpx, wr);
	return ibv_wr_complete(qpx);
}

struct rig_conf entry_conf(enum entry entry)
{
	struct rig_conf conf = rig_conf_default();

	if (entry == ENTRY_WR)
		conf.send_ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE |
				IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
				IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	return conf;
}

const char *entry_name(enum entry entry)
{
	return entry == ENTRY_POST ? "post_send" : "wr";
}

/* Polls both ends for the completions of TRANSFER, prints them, and checks where the bytes went. */
static void transfer_conclude(struct rig_pair *pair, const struct transfer *t,
			      const struct ibv_sge *local, const struct ibv_sge *remote,
			      uint32_t len)
{
	struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	struct ibv_wc wc;

	if (rig_poll(from->cq, 1, &wc) == 1)
		say_wc("A", &wc, to->qp->qp_num);
	else
		say("A nothing");
	if (takes_recv(t->opcode)) {
		if (rig_poll(to->cq, 1, &wc) == 1)
			say_wc("B", &wc, from->qp->qp_num);
		else
			say("B nothing");
	}
	say_check(same_bytes(local, remote, len), "%u bytes", len);
}

static void transfer_post_recv(struct rig_pair *pair, const struct transfer *t,
			       struct ibv_sge *sges)
{
	struct ibv_recv_wr wr = { .wr_id = 7000 + t->opcode,
				  .sg_list = sges,
				  .num_sge = t->recv_n },
			   *bad;

	build_sges(&pair->end[1], HALF, t->recv_lens, t->recv_n, sges);
	MUST(!ibv_post_recv(pair->end[1].qp, &wr, &bad));
}

void transfer_run(struct rig_pair *pair, const struct transfer *t, enum entry entry)
{
	struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	bool read = t->opcode == IBV_WR_RDMA_READ;
	struct ibv_sge local[8], scatter[8];
	struct ibv_send_wr wr = {
		.wr_id = 0x123456789abcdef0 + t->opcode,
		.sg_list = local,
		.num_sge = build_sges(from, read ? HALF : 0, t->lens, t->n, local),
		.opcode = t->opcode,
		.send_flags = IBV_SEND_SIGNALED | t->flags,
		.imm_data = htonl(0xabad1dea),
	};
	uint32_t len = total(local, t->n);
	struct ibv_sge whole = { .addr = (uintptr_t)to->buf + (read ? 0 : HALF), .length = len };

	buffer_fill(from);
	buffer_fill(to);
	wr.wr.rdma.remote_addr = whole.addr;
	wr.wr.rdma.rkey = to->mr->rkey;
	if (takes_recv(t->opcode))
		transfer_post_recv(pair, t, scatter);
	if (SAY_RET(entry_post(from->qp, &wr, entry),
		    "%s %s, %u bytes in %d entries to %d, flags 0x%x", entry_name(entry), t->name,
		    len, t->n, t->recv_n, wr.send_flags))
		return;
	transfer_conclude(pair, t, local, is_rdma(t->opcode) ? &whole : scatter, len);
}

static const struct transfer transfers[] = {
	{ "SEND", IBV_WR_SEND, { 100 }, 1, { 100 }, 1, 0 },
	{ "SEND", IBV_WR_SEND, { 100 }, 1, { 4096 }, 1, 0 },
	{ "SEND", IBV_WR_SEND, { 10, 20, 30, 40 }, 4, { 40, 30, 20, 10 }, 4, 0 },
	{ "SEND", IBV_WR_SEND, { 1, 0, 1 }, 3, { 0, 2 }, 2, 0 },
	{ "SEND", IBV_WR_SEND, { 0 }, 0, { 64 }, 1, 0 },
	{ "SEND", IBV_WR_SEND, { 0 }, 0, { 64 }, 0, 0 },
	{ "SEND", IBV_WR_SEND, { 1024 }, 1, { 1024 }, 1, 0 },
	{ "SEND", IBV_WR_SEND, { 1025 }, 1, { 2000 }, 1, 0 },
	{ "SEND", IBV_WR_SEND, { 60000 }, 1, { 60000 }, 1, IBV_SEND_SOLICITED },
	{ "SEND", IBV_WR_SEND, { 15000, 15001, 15002, 15003 }, 4, { 60006 }, 1, IBV_SEND_FENCE },
	{ "SEND", IBV_WR_SEND, { 32 }, 1, { 32 }, 1, IBV_SEND_INLINE },
	{ "SEND", IBV_WR_SEND, { 1, 2, 3, 4 }, 4, { 64 }, 1, IBV_SEND_INLINE },
	{ "SEND", IBV_WR_SEND, { 64 }, 1, { 64 }, 1, IBV_SEND_INLINE },
	{ "SEND", IBV_WR_SEND, { 0 }, 1, { 64 }, 1, IBV_SEND_INLINE },
	{ "SEND_IMM", IBV_WR_SEND_WITH_IMM, { 50 }, 1, { 50 }, 1, 0 },
	{ "SEND_IMM", IBV_WR_SEND_WITH_IMM, { 0 }, 0, { 50 }, 1, 0 },
	{ "SEND_IMM", IBV_WR_SEND_WITH_IMM, { 20, 30 }, 2, { 50 }, 1, IBV_SEND_INLINE },
	{ "WRITE", IBV_WR_RDMA_WRITE, { 1 }, 1, { 0 }, 0, 0 },
	{ "WRITE", IBV_WR_RDMA_WRITE, { 0 }, 0, { 0 }, 0, 0 },
	{ "WRITE", IBV_WR_RDMA_WRITE, { 60000 }, 1, { 0 }, 0, 0 },
	{ "WRITE", IBV_WR_RDMA_WRITE, { 5, 6, 7, 8 }, 4, { 0 }, 0, 0 },
	{ "WRITE", IBV_WR_RDMA_WRITE, { 48 }, 1, { 0 }, 0, IBV_SEND_INLINE },
	{ "WRITE", IBV_WR_RDMA_WRITE, { 13, 17 }, 2, { 0 }, 0, IBV_SEND_INLINE },
	{ "WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, { 77 }, 1, { 0 }, 0, 0 },
	{ "WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, { 0 }, 0, { 0 }, 0, 0 },
	{ "WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, { 60 }, 1, { 16 }, 1, IBV_SEND_INLINE },
	{ "READ", IBV_WR_RDMA_READ, { 1 }, 1, { 0 }, 0, 0 },
	{ "READ", IBV_WR_RDMA_READ, { 0 }, 0, { 0 }, 0, 0 },
	{ "READ", IBV_WR_RDMA_READ, { 4096 }, 1, { 0 }, 0, 0 },
	{ "READ", IBV_WR_RDMA_READ, { 60000 }, 1, { 0 }, 0, IBV_SEND_FENCE },
	{ "READ", IBV_WR_RDMA_READ, { 100, 200, 300, 400 }, 4, { 0 }, 0, 0 },
};

static void run_all(struct rig *rig, const struct rig_conf *conf, enum entry entry)
{
	struct rig_pair pair;

	rig_pair_open(rig, conf, &pair);
	for (size_t i = 0; i < ARRAY_SIZE(transfers); i++)
		if (!conf->unreliable || transfers[i].opcode != IBV_WR_RDMA_READ)
			transfer_run(&pair, &transfers[i], entry);
	rig_pair_close(&pair);
}

static void all_transfers(struct rig *rig, enum entry entry, int sig_all)
{
	struct rig_conf conf = entry_conf(entry);

	conf.sig_all = sig_all;
	run_all(rig, &conf, entry);
}

void diff_data(struct rig *rig)
{
	all_transfers(rig, ENTRY_POST, 0);
	all_transfers(rig, ENTRY_POST, 1);
	all_transfers(rig, ENTRY_WR, 0);
	all_transfers(rig, ENTRY_WR, 1);
}

/* UC by ibv_post_send() and by ibv_wr_*, with and without a completion of every request. */
void diff_uc(struct rig *rig)
{
	for (int i = 0; i < 4; i++) {
		enum entry entry = i % 2 ? ENTRY_WR : ENTRY_POST;
		struct rig_conf conf = entry_conf(entry);

		conf.unreliable = true;
		conf.sig_all = i / 2;
		conf.send_ops &=
			~(uint64_t)(IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
				    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
		run_all(rig, &conf, entry);
	}
}

/* The sizes at which a receive or a READ may be delivered inside its CQE, in one entry and in
 * three. */
static void small_sizes(struct rig_pair *pair, const char *name, enum ibv_wr_opcode opcode)
{
	for (uint32_t len = 0; len <= 70; len++) {
		struct transfer t = { name, opcode, { len }, 1, { len }, 1, 0 };

		transfer_run(pair, &t, ENTRY_POST);
		t = (struct transfer){ name,
				       opcode,
				       { len / 3, len / 2, len - len / 3 - len / 2 },
				       3,
				       { len / 5, len - len / 5, 9 },
				       3,
				       0 };
		transfer_run(pair, &t, ENTRY_POST);
	}
}

static void inline_sizes(struct rig_pair *pair)
{
	for (uint32_t len = 0; len <= 64; len++) {
		struct transfer t = {
			"SEND", IBV_WR_SEND, { len }, 1, { 100 }, 1, IBV_SEND_INLINE
		};

		transfer_run(pair, &t, ENTRY_POST);
		t = (struct transfer){
			"WRITE", IBV_WR_RDMA_WRITE, { len / 2, len - len / 2 }, 2, { 0 },
			0,       IBV_SEND_INLINE
		};
		transfer_run(pair, &t, ENTRY_POST);
	}
}

void diff_data_sizes(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	rig_pair_open(rig, &conf, &pair);
	small_sizes(&pair, "SEND", IBV_WR_SEND);
	small_sizes(&pair, "READ", IBV_WR_RDMA_READ);
	inline_sizes(&pair);
	rig_pair_close(&pair);
}

static void atomic_one(struct rig_pair *pair, enum entry entry, enum ibv_wr_opcode opcode,
		       uint64_t compare_add, uint64_t swap)
{
	struct rig_end *from = &pair->end[0], *to = &pair->end[1];
	uint64_t *result = (uint64_t *)(from->buf + HALF), *target = (uint64_t *)(to->buf + HALF);
	struct ibv_sge sge = { .addr = (uintptr_t)result, .length = 8, .lkey = from->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 9,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc;

	wr.wr.atomic.remote_addr = (uintptr_t)target;
	wr.wr.atomic.rkey = to->mr->rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	*result = 0x5555;
	if (SAY_RET(entry_post(from->qp, &wr, entry), "%s %s compare_add 0x%llx swap 0x%llx",
		    entry_name(entry),
		    opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? "CMP_SWAP" : "FETCH_ADD",
		    (unsigned long long)compare_add, (unsigned long long)swap))
		return;
	if (rig_poll(from->cq, 1, &wc) == 1)
		say_wc("A", &wc, to->qp->qp_num);
	say("returned 0x%llx, now 0x%llx", (unsigned long long)*result,
	    (unsigned long long)*target);
}

/* An atomic returns 8 bytes, so the size of the buffer must not matter. */
static void atomic_into(struct rig *rig, enum entry entry, uint32_t length)
{
	struct rig_conf conf = entry_conf(entry);
	struct rig_pair pair;
	struct rig_end *from = &pair.end[0];
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .wr_id = 9,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				  .send_flags = IBV_SEND_SIGNALED };
	uint64_t *results, *target;
	struct ibv_wc wc;

	rig_pair_open(rig, &conf, &pair);
	results = (uint64_t *)(from->buf + HALF);
	target = (uint64_t *)(pair.end[1].buf + HALF);
	*target = 0x0123456789abcdef;
	results[0] = results[1] = 0x5555;
	sge = (struct ibv_sge){ (uintptr_t)results, length, from->mr->lkey };
	wr.wr.atomic.remote_addr = (uintptr_t)target;
	wr.wr.atomic.rkey = pair.end[1].mr->rkey;
	wr.wr.atomic.compare_add = 1;
	if (!SAY_RET(entry_post(from->qp, &wr, entry), "%s FETCH_ADD into %u bytes",
		     entry_name(entry), length) &&
	    rig_poll(from->cq, 1, &wc) == 1)
		say_wc("A", &wc, pair.end[1].qp->qp_num);
	say("returned 0x%llx 0x%llx, now 0x%llx", (unsigned long long)results[0],
	    (unsigned long long)results[1], (unsigned long long)*target);
	rig_pair_close(&pair);
}

static void atomic_sizes(struct rig *rig, enum entry entry)
{
	static const uint32_t lengths[] = { 8, 4, 1, 7, 12, 16 };

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
		atomic_into(rig, entry, lengths[i]);
}

static void atomics(struct rig *rig, enum entry entry, int sig_all)
{
	struct rig_conf conf = entry_conf(entry);
	struct rig_pair pair;
	uint64_t *target;

	conf.sig_all = sig_all;
	rig_pair_open(rig, &conf, &pair);
	target = (uint64_t *)(pair.end[1].buf + HALF);
	*target = 10;
	atomic_one(&pair, entry, IBV_WR_ATOMIC_FETCH_AND_ADD, 5, 0);
	say_check(*target == 15, "fetch and add of 5 to 10");
	atomic_one(&pair, entry, IBV_WR_ATOMIC_FETCH_AND_ADD, ~0ULL, 0);
	say_check(*target == 14, "fetch and add of -1 to 15");
	atomic_one(&pair, entry, IBV_WR_ATOMIC_FETCH_AND_ADD, 0xfedcba9800000000ULL, 0);
	atomic_one(&pair, entry, IBV_WR_ATOMIC_CMP_AND_SWP, 1, 2);
	atomic_one(&pair, entry, IBV_WR_ATOMIC_CMP_AND_SWP, *target, 0x0123456789abcdefULL);
	say_check(*target == 0x0123456789abcdefULL, "compare and swap of equals");
	rig_pair_close(&pair);
}

void diff_data_atomic(struct rig *rig)
{
	for (int sig_all = 0; sig_all < 2; sig_all++) {
		atomics(rig, ENTRY_POST, sig_all);
		atomics(rig, ENTRY_WR, sig_all);
	}
}

/* A topic of its own, because mlx4 does not change the buffer's size, in either library. */
void diff_data_atomic_sizes(struct rig *rig)
{
	atomic_sizes(rig, ENTRY_POST);
	atomic_sizes(rig, ENTRY_WR);
}
