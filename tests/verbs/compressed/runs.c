/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * runs.c - messages whose completions are compressed in runs, at both ends of a connection: each
 * completion is restored, in order, for any format, entry size, and position in the ring.
 *
 * Covers: providers/mlx5/data/cq/cqe_run.c, softhca/device/queue/cq_run.c,
 * softhca/device/format/mlx5/mini_cqe.c
 */
#include <string.h>

#include "tests/verbs/compressed/compressed.h"
#include "tests/verbs/compressed/reader.h"
#include "util/bits.h"

enum {
	DEPTH = 128,
	RING = 256,
	SLICE = 256,
	LEAST = 65 /* bytes; the least is too long for a CQE, so no CQE has payload */
};

/* One end posts, the other receives; each has a CQ of its own. */
struct ends {
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct reader sent, received;
	struct ibv_qp *from, *to;
	uint8_t out[DEPTH * SLICE], in[DEPTH * SLICE];
	struct ibv_mr *out_mr, *in_mr;
	struct mlx5dv_qp from_ring, to_ring;
	uint32_t bf_offset; /* offset of the BlueFlame register to use next */
};

static void qp_lay_open(struct ibv_qp *qp, struct mlx5dv_qp *ring)
{
	struct mlx5dv_obj obj = { .qp = { qp, ring } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
}

static void ends_open(struct rig *rig, struct ends *ends, uint8_t format, uint16_t size,
		      bool padded, uint32_t ring)
{
	memset(ends, 0, sizeof(*ends));
	ends->conf = rig_conf_default();
	ends->conf.cap = (struct ibv_qp_cap){ DEPTH, DEPTH, 1, 1, 0 };
	MUST(ends->pd = ibv_alloc_pd(rig->ctx));
	MUST(ends->out_mr = ibv_reg_mr(ends->pd, ends->out, sizeof(ends->out), 0));
	MUST(ends->in_mr = ibv_reg_mr(ends->pd, ends->in, sizeof(ends->in),
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
	reader_open(&ends->sent, rig->ctx, ring, format, size, padded);
	reader_open(&ends->received, rig->ctx, ring, format, size, padded);
	MUST(ends->from = rig_qp_create(ends->pd, &ends->conf, ends->sent.cq));
	MUST(ends->to = rig_qp_create(ends->pd, &ends->conf, ends->received.cq));
	rig_qp_to(rig, &ends->conf, ends->from, ends->to->qp_num, IBV_QPS_RTS);
	rig_qp_to(rig, &ends->conf, ends->to, ends->from->qp_num, IBV_QPS_RTS);
	qp_lay_open(ends->from, &ends->from_ring);
	qp_lay_open(ends->to, &ends->to_ring);
}

static void ends_close(struct ends *ends)
{
	MUST(!ibv_destroy_qp(ends->from) && !ibv_destroy_qp(ends->to));
	reader_close(&ends->sent);
	reader_close(&ends->received);
	MUST(!ibv_dereg_mr(ends->out_mr) && !ibv_dereg_mr(ends->in_mr));
	MUST(!ibv_dealloc_pd(ends->pd));
}

static uint32_t length(uint32_t n)
{
	return LEAST + n * 7 % (SLICE - LEAST);
}

/* Posts directly into the ring: the library sees no completions, so to its own calls the queue
 * would soon be full. */
static void receives(struct ends *ends, uint32_t from, uint32_t count)
{
	const struct mlx5dv_qp *to = &ends->to_ring;

	for (uint32_t i = from; i < from + count; i++)
		mlx5dv_set_data_seg(
			(struct mlx5_wqe_data_seg *)((uint8_t *)to->rq.buf +
						     (i & (to->rq.wqe_cnt - 1)) * to->rq.stride),
			SLICE, ends->in_mr->lkey, (uintptr_t)ends->in + i % DEPTH * SLICE);
	__atomic_store_n(to->dbrec + MLX5_RCV_DBR, htobe32((from + count) & 0xffff),
			 __ATOMIC_RELEASE);
}

/* Puts a request of one WQEBB, so that the WQE counter counts requests. */
static struct mlx5_wqe_ctrl_seg *put_send(struct ends *ends, uint32_t n, uint8_t opcode,
					  uint32_t imm)
{
	const struct mlx5dv_qp *from = &ends->from_ring;
	struct mlx5_wqe_ctrl_seg *ctrl =
		(void *)((uint8_t *)from->sq.buf + (n & (from->sq.wqe_cnt - 1)) * from->sq.stride);
	bool remote = opcode == MLX5_OPCODE_RDMA_WRITE_IMM;
	struct mlx5_wqe_raddr_seg *raddr = (void *)(ctrl + 1);
	struct mlx5_wqe_data_seg *data = (void *)(ctrl + (remote ? 2 : 1));
	uint8_t *bytes = ends->out + n % DEPTH * SLICE;

	memset(bytes, (int)(n * 3 + 1), SLICE);
	mlx5dv_set_ctrl_seg(ctrl, (uint16_t)n, opcode, 0, ends->from->qp_num,
			    MLX5_WQE_CTRL_CQ_UPDATE, remote ? 3 : 2, 0, htobe32(imm));
	if (remote) {
		memset(raddr, 0, sizeof(*raddr));
		raddr->raddr = htobe64((uintptr_t)ends->in + n % DEPTH * SLICE);
		raddr->rkey = htobe32(ends->in_mr->rkey);
	}
	mlx5dv_set_data_seg(data, length(n), ends->out_mr->lkey, (uintptr_t)bytes);
	return ctrl;
}

static void sends(struct ends *ends, uint32_t from, uint32_t count, uint8_t opcode,
		  uint32_t imm_every)
{
	struct mlx5dv_qp *ring = &ends->from_ring;
	struct mlx5_wqe_ctrl_seg *ctrl = NULL;

	for (uint32_t n = from; n < from + count; n++)
		ctrl = put_send(ends, n, opcode, imm_every ? n / imm_every : 0);
	__atomic_store_n(ring->dbrec + MLX5_SND_DBR, htobe32((from + count) & 0xffff),
			 __ATOMIC_RELEASE);
	__sync_synchronize();
	*(volatile uint64_t *)((uint8_t *)ring->bf.reg + ends->bf_offset) = *(uint64_t *)ctrl;
	ends->bf_offset ^= ring->bf.size;
}

static bool is_message(const struct ends *ends, const struct mlx5_cqe64 *cqe, uint32_t n)
{
	const uint8_t *in = ends->in + n % DEPTH * SLICE;

	if (be32toh(cqe->byte_cnt) != length(n) || be16toh(cqe->wqe_counter) != (uint16_t)n)
		return false;
	if ((be32toh(cqe->sop_drop_qpn) & 0xffffff) != ends->to->qp_num)
		return false;
	for (uint32_t i = 0; i < length(n); i++)
		if (in[i] != (uint8_t)(n * 3 + 1))
			return false;
	return true;
}

static uint32_t read_messages(struct ends *ends, uint32_t from, uint32_t count, uint8_t opcode,
			      uint32_t imm_every)
{
	uint32_t right = 0;

	for (uint32_t n = from; n < from + count; n++) {
		struct mlx5_cqe64 cqe;

		if (!reader_wait(&ends->received, &cqe))
			break;
		right += is_message(ends, &cqe, n) && mlx5dv_get_cqe_opcode(&cqe) == opcode &&
			 (!imm_every || be32toh(cqe.imm_inval_pkey) == n / imm_every);
	}
	return right;
}

static uint32_t read_sends(struct ends *ends, uint32_t from, uint32_t count, uint8_t opcode)
{
	uint32_t right = 0;

	for (uint32_t n = from; n < from + count; n++) {
		struct mlx5_cqe64 cqe;

		if (!reader_wait(&ends->sent, &cqe))
			break;
		right += mlx5dv_get_cqe_opcode(&cqe) == MLX5_CQE_REQ &&
			 be16toh(cqe.wqe_counter) == (uint16_t)n &&
			 be32toh(cqe.sop_drop_qpn) >> 24 == opcode &&
			 (be32toh(cqe.sop_drop_qpn) & 0xffffff) == ends->from->qp_num;
	}
	return right;
}

static void ends_exchange(struct ends *ends, uint32_t from, uint32_t count)
{
	receives(ends, from, count);
	sends(ends, from, count, MLX5_OPCODE_SEND, 0);
	MUST(read_messages(ends, from, count, MLX5_CQE_RESP_SEND, 0) == count);
	MUST(read_sends(ends, from, count, MLX5_OPCODE_SEND) == count);
}

static const struct {
	const char *name;
	uint8_t format;
	uint16_t size;
	bool padded;
} kinds[] = {
	{ "plain", 0, 64, false },
	{ "hash", MLX5DV_CQE_RES_FORMAT_HASH, 64, false },
	{ "checksum", MLX5DV_CQE_RES_FORMAT_CSUM, 64, false },
	{ "stride", MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX, 64, false },
	{ "hash of 128", MLX5DV_CQE_RES_FORMAT_HASH, 128, false },
	{ "checksum padded", MLX5DV_CQE_RES_FORMAT_CSUM, 128, true },
};

/* Prints only whether there were runs, as the end of the adapter's turn, and so the length of a
 * run, varies. */
static void say_runs(const char *what, const struct ends *ends)
{
	say("%s: runs of sends %s, of messages %s", what, ends->sent.runs ? "yes" : "no",
	    ends->received.runs ? "yes" : "no");
}

void compressed_runs(struct rig *rig)
{
	static struct ends ends;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint32_t n = 0;

		ends_open(rig, &ends, kinds[i].format, kinds[i].size, kinds[i].padded, RING);
		for (uint32_t count = 1; count <= DEPTH; n += count, count++)
			ends_exchange(&ends, n, count);
		say_check(reader_is_empty(&ends.sent) && reader_is_empty(&ends.received),
			  "%s: %u messages and their sends, in order", kinds[i].name, n);
		say_runs(kinds[i].name, &ends);
		say_check(!kinds[i].format == !ends.received.runs,
			  "runs where they were asked for");
		ends_close(&ends);
	}
}

/* Uses the smallest ring for the completions in progress, from every position in it, so that runs
 * cross its end at each place. */
void compressed_laps(struct rig *rig)
{
	enum { SMALL = 16 };
	static struct ends ends;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint32_t n = 0;

		ends_open(rig, &ends, kinds[i].format, kinds[i].size, kinds[i].padded, SMALL);
		for (uint32_t round = 0; round < 40; round++)
			for (uint32_t count = SMALL; count > 1; n += count, count -= 3)
				ends_exchange(&ends, n, count);
		say("%s: %u messages in a ring of %u", kinds[i].name, n, ends.sent.ring.cqe_cnt);
		say_runs(kinds[i].name, &ends);
		ends_close(&ends);
	}
}

/* Completions with different immediate data or opcodes cannot share a run, as the title has these.
 * Opcodes of requests are in the mini CQEs themselves. */
void compressed_unlike(struct rig *rig)
{
	enum { COUNT = 32 };
	static const struct {
		uint8_t sent, received;
		uint32_t every;
	} parts[] = {
		{ MLX5_OPCODE_SEND_IMM, MLX5_CQE_RESP_SEND_IMM, 5 },
		{ MLX5_OPCODE_RDMA_WRITE_IMM, MLX5_CQE_RESP_WR_IMM, 3 },
		{ MLX5_OPCODE_SEND, MLX5_CQE_RESP_SEND, 0 },
	};
	static struct ends ends;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		ends_open(rig, &ends, kinds[i].format, kinds[i].size, kinds[i].padded, RING);
		receives(&ends, 0, ARRAY_SIZE(parts) * COUNT);
		for (size_t j = 0; j < ARRAY_SIZE(parts); j++)
			sends(&ends, j * COUNT, COUNT, parts[j].sent, parts[j].every);
		for (size_t j = 0; j < ARRAY_SIZE(parts); j++)
			say("%s: %u messages and %u sends right", kinds[i].name,
			    read_messages(&ends, j * COUNT, COUNT, parts[j].received,
					  parts[j].every),
			    read_sends(&ends, j * COUNT, COUNT, parts[j].sent));
		ends_close(&ends);
	}
}

/* Each error has its own CQE, after the successful completions. */
void compressed_errors(struct rig *rig)
{
	enum { COUNT = 16, BAD = 11 };
	static struct ends ends;
	uint32_t right, errors = 0;
	struct mlx5_cqe64 cqe;

	ends_open(rig, &ends, MLX5DV_CQE_RES_FORMAT_CSUM, 64, false, RING);
	receives(&ends, 0, BAD);
	sends(&ends, 0, BAD, MLX5_OPCODE_SEND, 0);
	ends.out_mr->lkey ^= 0xff;
	receives(&ends, BAD, COUNT - BAD);
	sends(&ends, BAD, COUNT - BAD, MLX5_OPCODE_SEND, 0);
	ends.out_mr->lkey ^= 0xff;
	right = read_sends(&ends, 0, BAD, MLX5_OPCODE_SEND);
	while (errors < COUNT - BAD && reader_wait(&ends.sent, &cqe) &&
	       mlx5dv_get_cqe_opcode(&cqe) == MLX5_CQE_REQ_ERR &&
	       mlx5dv_get_cqe_format(&cqe) != CQE_COMPRESSED)
		errors++;
	say("%u sends right, %u errors", right, errors);
	say("%u messages right", read_messages(&ends, 0, BAD, MLX5_CQE_RESP_SEND, 0));
	ends_close(&ends);
}

/* Payload in a CQE overlays fields that a mini CQE needs, so such CQEs are not compressed. */
void compressed_small(struct rig *rig)
{
	enum { COUNT = 8, BYTES = 16 };
	static struct ends ends;
	uint32_t whole = 0;

	ends_open(rig, &ends, MLX5DV_CQE_RES_FORMAT_HASH, 64, false, RING);
	receives(&ends, 0, COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct ibv_sge sge = { (uintptr_t)ends.out, BYTES, ends.out_mr->lkey };
		struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND };
		struct ibv_send_wr *bad;

		MUST(!ibv_post_send(ends.from, &wr, &bad));
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		struct mlx5_cqe64 cqe;

		MUST(reader_wait(&ends.received, &cqe));
		whole += mlx5dv_get_cqe_format(&cqe) != CQE_COMPRESSED &&
			 be32toh(cqe.byte_cnt) == BYTES && be16toh(cqe.wqe_counter) == i;
	}
	say("%u of %u, %u runs", whole, COUNT, ends.received.runs);
	ends_close(&ends);
}

static void library_posts(struct ends *ends, uint32_t from, uint32_t count)
{
	struct ibv_sge in[DEPTH], out[DEPTH];
	struct ibv_recv_wr receive[DEPTH], *bad_receive;
	struct ibv_send_wr send[DEPTH], *bad_send;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = from + i;

		memset(ends->out + n % DEPTH * SLICE, (int)(n * 3 + 1), SLICE);
		in[i] = (struct ibv_sge){ (uintptr_t)ends->in + n % DEPTH * SLICE, SLICE,
					  ends->in_mr->lkey };
		out[i] = (struct ibv_sge){ (uintptr_t)ends->out + n % DEPTH * SLICE, length(n),
					   ends->out_mr->lkey };
		receive[i] = (struct ibv_recv_wr){
			.wr_id = n,
			.next = i + 1 < count ? &receive[i + 1] : NULL,
			.sg_list = &in[i],
			.num_sge = 1,
		};
		send[i] = (struct ibv_send_wr){
			.wr_id = n,
			.next = i + 1 < count ? &send[i + 1] : NULL,
			.sg_list = &out[i],
			.num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED,
		};
	}
	MUST(!ibv_post_recv(ends->to, receive, &bad_receive));
	MUST(!ibv_post_send(ends->from, send, &bad_send));
}

static bool wc_is_right(const struct ends *ends, const struct ibv_wc *wc, uint32_t n)
{
	const uint8_t *in = ends->in + n % DEPTH * SLICE;

	if (wc->status != IBV_WC_SUCCESS || wc->wr_id != n)
		return false;
	if (wc->opcode == IBV_WC_SEND)
		return wc->qp_num == ends->from->qp_num;
	return wc->opcode == IBV_WC_RECV && wc->qp_num == ends->to->qp_num &&
	       wc->byte_len == length(n) && in[0] == (uint8_t)(n * 3 + 1) &&
	       in[length(n) - 1] == in[0];
}

static uint32_t library_polls(const struct ends *ends, const struct reader *reader, uint32_t from,
			      uint32_t count)
{
	uint32_t right = 0;

	for (uint32_t n = from; n < from + count; n++) {
		struct ibv_wc wc;

		if (rig_poll(reader->cq, 1, &wc) != 1)
			break;
		right += wc_is_right(ends, &wc, n);
	}
	return right;
}

/* Returns whether the newest completions came as a run. */
static bool reader_has_run(const struct reader *reader, uint32_t index)
{
	uint32_t slot = index & (reader->ring.cqe_cnt - 1);
	const uint8_t *end =
		(const uint8_t *)reader->ring.buf + (size_t)(slot + 1) * reader->ring.cqe_size;
	struct mlx5_cqe64 *cqe = (struct mlx5_cqe64 *)(uintptr_t)end - 1;

	return mlx5dv_get_cqe_format(cqe) == CQE_COMPRESSED;
}

void compressed_polled(struct rig *rig)
{
	static struct ends ends;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint32_t n = 0, right = 0, runs = 0;

		ends_open(rig, &ends, kinds[i].format, kinds[i].size, kinds[i].padded, RING);
		for (uint32_t count = 1; count <= DEPTH; n += count, count += 7) {
			library_posts(&ends, n, count);
			right += library_polls(&ends, &ends.sent, n, count - 1);
			right += library_polls(&ends, &ends.sent, n + count - 1, 1);
			runs += reader_has_run(&ends.received, n);
			right += library_polls(&ends, &ends.received, n, count);
		}
		say_check(right == 2 * n, "%s: %u messages and their sends by ibv_poll_cq()",
			  kinds[i].name, n);
		say_check(!kinds[i].format == !runs, "runs where they were asked for");
		ends_close(&ends);
	}
}
