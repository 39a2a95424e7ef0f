/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * data.c - messages from initiators to targets: every operation, many targets, batches.
 *
 * Covers: providers/mlx5/data/send_wr_addr.c, softhca/device/transport/dci.c,
 * softhca/device/transport/dct.c
 */
#include <stdlib.h>

#include "dc.h"

#define LENGTH 3000 /* of three packets */

static void buf_fill(uint8_t *buf, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)(i * 7 + seed);
}

static bool buf_is_filled(const uint8_t *buf, size_t len, unsigned int seed)
{
	for (size_t i = 0; i < len; i++)
		if (buf[i] != (uint8_t)(i * 7 + seed))
			return false;
	return true;
}

/* Uses QPs of mlx5dv_create_qp() with generic calls: the initiator has one CQ for both directions
 * and no receive queue, its target no queue at all. */
void dc_example(struct rig *rig)
{
	struct ibv_qp *initiator, *target;
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	struct dc_to to;
	struct dc dc;

	dc_open(rig, &dc);
	initiator = dc_initiator(&dc, -1);
	target = dc_target(&dc, DC_KEY);
	to = dc_to(&dc, target);
	say_check(initiator->send_cq == initiator->recv_cq, "one CQ for both directions");
	say_check(ibv_qp_to_qp_ex(initiator) != NULL, "the initiator is extended");
	say_check(dc_state(initiator) == IBV_QPS_RTS, "the initiator is ready");
	say_check(dc_state(target) == IBV_QPS_RTR, "the target is ready");
	SAY_RET(ibv_post_recv(initiator, &wr, &bad), "a receive of an initiator");
	buf_fill(dc_buf(&dc, 0), LENGTH, 1);
	SAY_RET(dc_post_write(&dc, initiator, &to, 7, LENGTH), "write");
	dc_say_completions(&dc, 1);
	say_check(buf_is_filled(dc_buf(&dc, 1), LENGTH, 1), "the data is there");
	SAY_RET(ibv_destroy_qp(initiator), "destroy the initiator");
	SAY_RET(ibv_destroy_qp(target), "destroy the target");
	dc_close(&dc);
}

static void send_one(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to,
		     uint32_t length)
{
	buf_fill(dc_buf(dc, 0), length, length);
	dc_post_receive(dc, 1000 + length, 2);
	SAY_RET(dc_post_send(dc, qp, to, length, length), "send %u", length);
	dc_say_completions(dc, 2);
	say_check(buf_is_filled(dc_buf(dc, 2), length, length), "the data is there");
}

static void send_with_imm(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	dc_post_receive(dc, 1001, 3);
	ibv_wr_start(qpx);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
	ibv_wr_send_imm(qpx, htobe32(0xfeedbeef));
	ibv_wr_set_sge(qpx, dc->mr->lkey, (uintptr_t)dc_buf(dc, 0), 100);
	dc_set_address(qp, to); /* behind the payload */
	SAY_RET(ibv_wr_complete(qpx), "send with immediate data");
	dc_say_completions(dc, 2);
}

void dc_send(struct rig *rig)
{
	static const uint32_t lengths[] = { 1, 8, 32, 33, 64, 1024, 1025, LENGTH, DC_ROOM };
	struct dc_pair pair;

	dc_pair_open(rig, &pair);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		send_one(&pair.dc, pair.initiator, &pair.to, lengths[i]);
	send_with_imm(&pair.dc, pair.initiator, &pair.to);
	SAY_RET(dc_post_send(&pair.dc, pair.initiator, &pair.to, 5, 0), "send nothing");
	dc_post_receive(&pair.dc, 1005, 2);
	dc_say_completions(&pair.dc, 2);
	dc_pair_close(&pair);
}

static void write_with_imm(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	dc_post_receive(dc, 1000, 3);
	ibv_wr_start(qpx);
	qpx->wr_id = 3;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(qpx, dc->mr->rkey, (uintptr_t)dc_buf(dc, 1), htobe32(7));
	dc_set_address(qp, to);
	ibv_wr_set_sge(qpx, dc->mr->lkey, (uintptr_t)dc_buf(dc, 0), 200);
	SAY_RET(ibv_wr_complete(qpx), "write with immediate data");
	dc_say_completions(dc, 2);
}

static void read_back(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to,
		      uint32_t length)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	buf_fill(dc_buf(dc, 1), length, 9);
	ibv_wr_start(qpx);
	qpx->wr_id = 4;
	qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_rdma_read(qpx, dc->mr->rkey, (uintptr_t)dc_buf(dc, 1));
	dc_set_address(qp, to);
	ibv_wr_set_sge(qpx, dc->mr->lkey, (uintptr_t)dc_buf(dc, 4), length);
	SAY_RET(ibv_wr_complete(qpx), "read %u", length);
	dc_say_completions(dc, 1);
	say_check(buf_is_filled(dc_buf(dc, 4), length, 9), "the data is there");
}

static void add_and_swap(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to)
{
	uint64_t *there = (uint64_t *)dc_buf(dc, 1), *old = (uint64_t *)dc_buf(dc, 4);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	*there = 40;
	ibv_wr_start(qpx);
	qpx->wr_id = 5;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_fetch_add(qpx, dc->mr->rkey, (uintptr_t)there, 2);
	dc_set_address(qp, to);
	ibv_wr_set_sge(qpx, dc->mr->lkey, (uintptr_t)old, 8);
	qpx->wr_id = 6;
	ibv_wr_atomic_cmp_swp(qpx, dc->mr->rkey, (uintptr_t)there, 42, 77);
	dc_set_address(qp, to);
	ibv_wr_set_sge(qpx, dc->mr->lkey, (uintptr_t)(old + 1), 8);
	SAY_RET(ibv_wr_complete(qpx), "atomics");
	dc_say_completions(dc, 2);
	say("there %llu, were %llu %llu", (unsigned long long)*there, (unsigned long long)old[0],
	    (unsigned long long)old[1]);
}

void dc_rdma(struct rig *rig)
{
	struct dc_pair pair;

	dc_pair_open(rig, &pair);
	buf_fill(dc_buf(&pair.dc, 0), LENGTH, 3);
	SAY_RET(dc_post_write(&pair.dc, pair.initiator, &pair.to, 1, LENGTH), "write");
	dc_say_completions(&pair.dc, 1);
	say_check(buf_is_filled(dc_buf(&pair.dc, 1), LENGTH, 3), "the data is there");
	write_with_imm(&pair.dc, pair.initiator, &pair.to);
	read_back(&pair.dc, pair.initiator, &pair.to, 16);
	read_back(&pair.dc, pair.initiator, &pair.to, LENGTH);
	add_and_swap(&pair.dc, pair.initiator, &pair.to);
	dc_pair_close(&pair);
}

static void post_inline(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to,
			uint32_t length)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	dc_post_receive(dc, 1000 + length, 2);
	buf_fill(dc_buf(dc, 0), length, length);
	ibv_wr_start(qpx);
	qpx->wr_id = length;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	dc_set_address(qp, to);
	ibv_wr_set_inline_data(qpx, dc_buf(dc, 0), length);
	SAY_RET(ibv_wr_complete(qpx), "inline %u", length);
	dc_say_completions(dc, 2);
	say_check(buf_is_filled(dc_buf(dc, 2), length, length), "the data is there");
}

static void post_parts(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to)
{
	struct ibv_sge sges[] = { dc_sge(dc, 0, 100), dc_sge(dc, 5, 200) };
	struct ibv_data_buf parts[] = { { dc_buf(dc, 0), 10 }, { dc_buf(dc, 5), 20 } };
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	dc_post_receive(dc, 1001, 2);
	dc_post_receive(dc, 1002, 3);
	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	dc_set_address(qp, to);
	ibv_wr_set_sge_list(qpx, 2, sges);
	qpx->wr_id = 2;
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, 2, parts);
	dc_set_address(qp, to);
	SAY_RET(ibv_wr_complete(qpx), "two SGEs, two buffers");
	dc_say_completions(dc, 4);
}

/* In a ring of 32 requests, so that the end of the ring falls into every part of a WQE. */
void dc_inline(struct rig *rig)
{
	struct dc_pair pair;

	dc_pair_open(rig, &pair);
	for (uint32_t length = 1; length <= 64; length++)
		post_inline(&pair.dc, pair.initiator, &pair.to, length);
	for (unsigned int i = 0; i < 40; i++)
		post_parts(&pair.dc, pair.initiator, &pair.to);
	dc_pair_close(&pair);
}

#define TARGETS 1000

static struct dc_to target_of(const struct dc *dc, struct ibv_qp **targets, unsigned int i)
{
	struct dc_to to = dc_to(dc, targets[i]);

	to.key = DC_KEY + i;
	return to;
}

/* A request of another initiator names the target with a neighbour's key, so it must fail, and
 * consume no receive. */
static unsigned int refuse_stranger(const struct dc *dc, struct ibv_qp *stranger, struct dc_to to)
{
	struct ibv_wc wc;

	to.key++;
	MUST(!dc_post_send(dc, stranger, &to, 7, 100));
	MUST(rig_poll(dc->cq, 1, &wc) == 1);
	dc_initiator_ready(dc, stranger);
	return wc.wr_id == 7 && wc.status == IBV_WC_REM_ACCESS_ERR;
}

struct many {
	struct ibv_qp *initiator, *stranger, *targets[TARGETS];
	unsigned int right, refused;
};

/* Sends each message of one initiator to another target. A message contains the index of its
 * target, and its completion the number of the QP that received it: both must name one target.
 * Before every tenth message, the target refuses another initiator's request. */
static void send_to_each(const struct dc *dc, struct many *many)
{
	struct ibv_wc wc[2];

	many->right = many->refused = 0;
	for (unsigned int i = 0; i < TARGETS; i++) {
		struct dc_to to = target_of(dc, many->targets, i);
		const struct ibv_wc *received;

		dc_post_receive(dc, 1000 + i, 2);
		if (i % 10 == 9)
			many->refused += refuse_stranger(dc, many->stranger, to);
		memcpy(dc_buf(dc, 0), &i, sizeof(i));
		MUST(!dc_post_send(dc, many->initiator, &to, i % 1000, 100));
		MUST(rig_poll(dc->cq, 2, wc) == 2);
		received = wc[0].wr_id >= 1000 ? &wc[0] : &wc[1];
		many->right += received->qp_num == many->targets[i]->qp_num &&
			       !memcmp(dc_buf(dc, 2), &i, sizeof(i));
	}
}

void dc_many_targets(struct rig *rig)
{
	static struct many many;
	struct dc dc;

	dc_open(rig, &dc);
	many.initiator = dc_initiator(&dc, -1);
	many.stranger = dc_initiator(&dc, -1);
	for (unsigned int i = 0; i < TARGETS; i++)
		many.targets[i] = dc_target(&dc, DC_KEY + i);
	for (unsigned int round = 0; round < 2; round++) {
		send_to_each(&dc, &many);
		say_check(many.right == TARGETS, "%d messages to as many targets", TARGETS);
		say_check(many.refused == TARGETS / 10, "%d with the key of another", TARGETS / 10);
	}
	MUST(!ibv_destroy_qp(many.initiator) && !ibv_destroy_qp(many.stranger));
	for (unsigned int i = 0; i < TARGETS; i++)
		MUST(!ibv_destroy_qp(many.targets[i]));
	dc_close(&dc);
}

/* Requests of a batch go to targets in turn, and complete in order, as a queue completes in order
 * whatever its targets do. */
void dc_batch(struct rig *rig)
{
	struct ibv_qp *initiator, *targets[3];
	struct ibv_qp_ex *qpx;
	struct dc dc;

	dc_open(rig, &dc);
	initiator = dc_initiator(&dc, -1);
	qpx = ibv_qp_to_qp_ex(initiator);
	for (unsigned int i = 0; i < ARRAY_SIZE(targets); i++)
		targets[i] = dc_target(&dc, DC_KEY);
	ibv_wr_start(qpx);
	for (unsigned int i = 0; i < 24; i++) {
		struct dc_to to = dc_to(&dc, targets[i / 2 % 3]);

		dc_post_receive(&dc, 1000 + i, 2);
		qpx->wr_id = i;
		qpx->wr_flags = i % 4 == 3 ? IBV_SEND_SIGNALED : 0;
		ibv_wr_send(qpx);
		dc_set_address(initiator, &to);
		ibv_wr_set_sge(qpx, dc.mr->lkey, (uintptr_t)dc.buf, 64 * i + 1);
	}
	SAY_RET(ibv_wr_complete(qpx), "24 requests");
	dc_say_completions(&dc, 30);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_abort(qpx);
	say("nothing more: %d", rig_drain(dc.cq));
	MUST(!ibv_destroy_qp(initiator));
	for (unsigned int i = 0; i < ARRAY_SIZE(targets); i++)
		MUST(!ibv_destroy_qp(targets[i]));
	dc_close(&dc);
}

/* Posts more READs than may be in flight. */
void dc_reads(struct rig *rig)
{
	struct ibv_qp_ex *qpx;
	struct dc_pair pair;

	dc_pair_open(rig, &pair);
	qpx = ibv_qp_to_qp_ex(pair.initiator);
	ibv_wr_start(qpx);
	for (unsigned int i = 0; i < 16; i++) {
		buf_fill(dc_buf(&pair.dc, 1) + i * 128, 128, i);
		qpx->wr_id = i;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_read(qpx, pair.dc.mr->rkey, (uintptr_t)dc_buf(&pair.dc, 1) + i * 128);
		dc_set_address(pair.initiator, &pair.to);
		ibv_wr_set_sge(qpx, pair.dc.mr->lkey, (uintptr_t)dc_buf(&pair.dc, 4) + i * 128,
			       128);
	}
	SAY_RET(ibv_wr_complete(qpx), "16 reads");
	dc_say_completions(&pair.dc, 16);
	for (unsigned int i = 0; i < 16; i++)
		say_check(buf_is_filled(dc_buf(&pair.dc, 4) + i * 128, 128, i), "read %u", i);
	dc_pair_close(&pair);
}
