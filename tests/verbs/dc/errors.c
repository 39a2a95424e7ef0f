/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * errors.c - requests that no target accepts, and streams in error.
 *
 * Covers: providers/mlx5/data/cq/cqe_error.c, softhca/device/transport/dci.c,
 * softhca/device/transport/dct.c
 */
#include <stdlib.h>

#include "dc.h"

/* Resets an initiator in error; afterwards it works again. */
static void initiator_reset(const struct dc *dc, struct ibv_qp *qp)
{
	say("state %d", (int)dc_state(qp));
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_RESET), "RESET");
	MUST(!dc_initiator_to(dc, qp, IBV_QPS_INIT));
	MUST(!dc_initiator_to(dc, qp, IBV_QPS_RTR));
	MUST(!dc_initiator_to(dc, qp, IBV_QPS_RTS));
}

static void expect_working(const struct dc *dc, struct ibv_qp *qp, const struct dc_to *to)
{
	SAY_RET(dc_post_write(dc, qp, to, 99, 100), "a right one");
	dc_say_completions(dc, 1);
}

/* Other initiators continue while one has a wrong key. */
void dc_wrong_key(struct rig *rig)
{
	struct ibv_qp *initiator, *other, *target;
	struct dc_to to, wrong;
	struct dc dc;

	dc_open(rig, &dc);
	initiator = dc_initiator(&dc, -1);
	other = dc_initiator(&dc, -1);
	target = dc_target(&dc, DC_KEY);
	to = wrong = dc_to(&dc, target);
	wrong.key++;
	expect_working(&dc, initiator, &to);
	expect_working(&dc, other, &to);
	dc_post_receive(&dc, 1000, 2);
	SAY_RET(dc_post_send(&dc, initiator, &wrong, 1, 100), "a wrong key");
	dc_say_completions(&dc, 1);
	expect_working(&dc, other, &to);
	initiator_reset(&dc, initiator);
	SAY_RET(dc_post_send(&dc, initiator, &to, 2, 100), "the receive is still there");
	dc_say_completions(&dc, 2);
	MUST(!ibv_destroy_qp(initiator));
	MUST(!ibv_destroy_qp(other));
	MUST(!ibv_destroy_qp(target));
	dc_close(&dc);
}

void dc_no_target(struct rig *rig)
{
	struct dc_to wrong;
	struct dc_pair pair;

	dc_pair_open(rig, &pair);
	wrong = pair.to;
	wrong.dctn += 77;
	SAY_RET(dc_post_write(&pair.dc, pair.initiator, &wrong, 1, 100),
		"no target of that number");
	SAY_RET(dc_post_write(&pair.dc, pair.initiator, &pair.to, 2, 100), "one behind it");
	dc_say_completions(&pair.dc, 2);
	initiator_reset(&pair.dc, pair.initiator);
	wrong.dctn = pair.initiator->qp_num;
	SAY_RET(dc_post_write(&pair.dc, pair.initiator, &wrong, 3, 100), "a number of no target");
	dc_say_completions(&pair.dc, 1);
	initiator_reset(&pair.dc, pair.initiator);
	expect_working(&pair.dc, pair.initiator, &pair.to);
	dc_pair_close(&pair);
}

void dc_target_gone(struct rig *rig)
{
	struct dc_pair pair;

	dc_pair_open(rig, &pair);
	expect_working(&pair.dc, pair.initiator, &pair.to);
	SAY_RET(ibv_destroy_qp(pair.target), "destroy the target");
	SAY_RET(dc_post_write(&pair.dc, pair.initiator, &pair.to, 1, 100),
		"to a target that is gone");
	dc_say_completions(&pair.dc, 1);
	initiator_reset(&pair.dc, pair.initiator);
	pair.target = dc_target(&pair.dc, DC_KEY);
	pair.to = dc_to(&pair.dc, pair.target);
	expect_working(&pair.dc, pair.initiator, &pair.to);
	dc_pair_close(&pair);
}

/* A request waits until the target has a receive for it, as on RC. */
void dc_not_ready(struct rig *rig)
{
	struct dc_pair pair;

	dc_pair_open(rig, &pair);
	SAY_RET(dc_post_send(&pair.dc, pair.initiator, &pair.to, 1, 100), "before its receive");
	say("waits: %d", rig_drain(pair.dc.cq));
	dc_post_receive(&pair.dc, 1000, 2);
	dc_say_completions(&pair.dc, 2);
	dc_pair_close(&pair);
}

static struct ibv_qp *target_without_access(const struct dc *dc)
{
	struct mlx5dv_qp_init_attr mlx5 = dc_target_attr(DC_KEY);
	struct ibv_qp_init_attr_ex attr = dc_attr(dc);
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };
	struct ibv_qp *qp;

	attr.srq = dc->srq;
	MUST(qp = mlx5dv_create_qp(dc->rig->ctx, &attr, &mlx5));
	MUST(!ibv_modify_qp(qp, &init,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	MUST(!dc_target_to(dc, qp, IBV_QPS_RTR));
	return qp;
}

/* A refused request affects neither other initiators nor the target, as DC has no connection that
 * could fail. */
void dc_access(struct rig *rig)
{
	struct ibv_qp *initiator, *other, *target, *closed;
	struct dc_to to, nowhere;
	struct ibv_qp_ex *qpx;
	struct dc dc;

	dc_open(rig, &dc);
	initiator = dc_initiator(&dc, -1);
	other = dc_initiator(&dc, -1);
	target = dc_target(&dc, DC_KEY);
	closed = target_without_access(&dc);
	to = dc_to(&dc, target);
	nowhere = dc_to(&dc, closed);
	expect_working(&dc, other, &to);
	SAY_RET(dc_post_write(&dc, initiator, &nowhere, 1, 100), "a target without access");
	dc_say_completions(&dc, 1);
	initiator_reset(&dc, initiator);
	qpx = ibv_qp_to_qp_ex(initiator);
	ibv_wr_start(qpx);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, dc.mr->rkey, (uintptr_t)dc.buf + DC_BUFS * DC_ROOM);
	dc_set_address(initiator, &to);
	ibv_wr_set_sge(qpx, dc.mr->lkey, (uintptr_t)dc.buf, 8);
	SAY_RET(ibv_wr_complete(qpx), "an address beyond the region");
	dc_say_completions(&dc, 1);
	expect_working(&dc, other, &to);
	initiator_reset(&dc, initiator);
	expect_working(&dc, initiator, &to);
	MUST(!ibv_destroy_qp(initiator));
	MUST(!ibv_destroy_qp(other));
	MUST(!ibv_destroy_qp(target));
	MUST(!ibv_destroy_qp(closed));
	dc_close(&dc);
}

struct streams {
	struct dc dc;
	struct ibv_qp *initiator, *target;
	struct dc_to to;
};

static void streams_open(struct rig *rig, int log_errored, struct streams *s)
{
	dc_open(rig, &s->dc);
	s->initiator = dc_initiator(&s->dc, log_errored);
	s->target = dc_target(&s->dc, DC_KEY);
	s->to = dc_to(&s->dc, s->target);
}

static void streams_close(struct streams *s)
{
	MUST(!ibv_destroy_qp(s->initiator));
	MUST(!ibv_destroy_qp(s->target));
	dc_close(&s->dc);
}

static void write_on(struct streams *s, int stream, uint64_t wr_id)
{
	s->to.stream = stream;
	MUST(!dc_post_write(&s->dc, s->initiator, &s->to, wr_id, 100));
}

/* Fails a request on stream ST, by memory that is not registered. */
static void fail_on(struct streams *s, int stream, uint64_t wr_id)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(s->initiator);

	s->to.stream = stream;
	ibv_wr_start(qpx);
	qpx->wr_id = wr_id;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, s->dc.mr->rkey, (uintptr_t)s->dc.buf);
	dc_set_address(s->initiator, &s->to);
	ibv_wr_set_sge(qpx, s->dc.mr->lkey, (uintptr_t)s->dc.buf + DC_BUFS * DC_ROOM, 8);
	MUST(!ibv_wr_complete(qpx));
}

/* Streams take turns. A request that names no stream uses stream 0. */
void dc_streams(struct rig *rig)
{
	struct streams s;

	streams_open(rig, 2, &s);
	for (int i = 0; i < 24; i++)
		write_on(&s, i % 12 - 1, (uint64_t)i);
	dc_say_completions(&s.dc, 24);
	streams_close(&s);
}

/* An error on one stream does not affect the others, until the agreed number of streams is in
 * error. */
void dc_stream_budget(struct rig *rig)
{
	struct streams s;

	streams_open(rig, 1, &s);
	fail_on(&s, 3, 1);
	write_on(&s, 3, 2);
	write_on(&s, 4, 3);
	write_on(&s, 3, 4);
	write_on(&s, 0, 5);
	dc_say_completions(&s.dc, 5);
	say("state %d", (int)dc_state(s.initiator));
	s.to.key++;
	write_on(&s, 5, 6);
	s.to.key--;
	write_on(&s, 4, 7);
	dc_say_completions(&s.dc, 2);
	initiator_reset(&s.dc, s.initiator);
	write_on(&s, 3, 8);
	dc_say_completions(&s.dc, 1);
	streams_close(&s);
}

void dc_stream_states(struct rig *rig)
{
	struct streams s;

	streams_open(rig, 2, &s);
	SAY_RET(mlx5dv_dci_stream_id_reset(s.target, 0), "of a target");
	for (enum ibv_qp_state state = IBV_QPS_RESET; state <= IBV_QPS_RTS; state++) {
		MUST(!dc_initiator_to(&s.dc, s.initiator, state));
		SAY_RET(mlx5dv_dci_stream_id_reset(s.initiator, 3), "in state %d", (int)state);
	}
	MUST(!dc_initiator_to(&s.dc, s.initiator, IBV_QPS_ERR));
	SAY_RET(mlx5dv_dci_stream_id_reset(s.initiator, 3), "in state ERR");
	SAY_RET(mlx5dv_dci_stream_id_reset(s.initiator, UINT16_MAX), "of a stream beyond all");
	streams_close(&s);
}

void dc_stream_reset(struct rig *rig)
{
	struct streams s;

	streams_open(rig, 2, &s);
	fail_on(&s, 3, 1);
	fail_on(&s, 5, 2);
	write_on(&s, 3, 3);
	dc_say_completions(&s.dc, 3);
	SAY_RET(mlx5dv_dci_stream_id_reset(s.initiator, 3), "reset stream 3");
	SAY_RET(mlx5dv_dci_stream_id_reset(s.initiator, 3), "reset it again");
	SAY_RET(mlx5dv_dci_stream_id_reset(s.initiator, 4), "reset a stream without errors");
	write_on(&s, 3, 4);
	write_on(&s, 5, 5);
	dc_say_completions(&s.dc, 2);
	SAY_RET(mlx5dv_dci_stream_id_reset(s.initiator, 5), "reset stream 5");
	for (int i = 0; i < 3; i++)
		fail_on(&s, 6 + i, (uint64_t)(10 + i));
	write_on(&s, 5, 6);
	dc_say_completions(&s.dc, 4);
	say("state %d", (int)dc_state(s.initiator));
	fail_on(&s, 9, 20);
	dc_say_completions(&s.dc, 1);
	say("state %d", (int)dc_state(s.initiator));
	SAY_RET(mlx5dv_dci_stream_id_reset(s.initiator, 9), "reset in state ERR");
	streams_close(&s);
}

void dc_posting(struct rig *rig)
{
	struct ibv_qp_ex *qpx;
	struct dc_pair pair;
	int ret = 0;

	dc_pair_open(rig, &pair);
	qpx = ibv_qp_to_qp_ex(pair.initiator);
	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	ibv_wr_send(qpx);
	dc_set_address(pair.initiator, &pair.to);
	ibv_wr_set_inline_data(qpx, pair.dc.buf, 4096);
	SAY_RET(ibv_wr_complete(qpx), "too much inline data");
	ibv_wr_start(qpx);
	for (int i = 0; i < 1000; i++) {
		ibv_wr_rdma_write(qpx, pair.dc.mr->rkey, (uintptr_t)pair.dc.buf);
		dc_set_address(pair.initiator, &pair.to);
		ibv_wr_set_sge(qpx, pair.dc.mr->lkey, (uintptr_t)pair.dc.buf, 1);
	}
	ret = ibv_wr_complete(qpx);
	SAY_RET(ret, "too many requests");
	expect_working(&pair.dc, pair.initiator, &pair.to);
	dc_pair_close(&pair);
}
