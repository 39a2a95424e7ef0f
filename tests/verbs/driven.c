/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driven.c - verbs-driven [TOPIC...]: a CQ and an SRQ that many QPs share, exposed to the program
 * by mlx5dv_init_obj(), and their contents after one of those QPs is destroyed or reset.
 *
 * In the topics driven-* the program reads the CQ and links the SRQ by itself, as UCX does: the
 * library may change neither. In the topics looked-* it has called mlx5dv_init_obj(), but uses the
 * library's calls: no completions of a destroyed QP may be polled, and no receive may be lost. In
 * the topics posted-* it posts to the SRQ by itself, along the links that it finds, and polls the
 * CQs through the library: the library must link completed WQEs behind the tail that it exposed.
 * Exit code as of verbs-diff.
 *
 * Covers: providers/mlx5/dv/obj.c, providers/mlx5/cq.c, providers/mlx5/data/cq/cq_ring.c,
 * providers/mlx5/data/srq_ring.c
 */
#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

#define QPS      4
#define SLOTS    15  /* of the SRQ */
#define PIECE    128 /* bytes of a message: more than fits inside a CQE */
#define PATIENCE 1000
#define SET_CI   0 /* where the consumer index is in a record of a CQ */

struct driven {
	struct rig *rig;
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *cq;
	struct ibv_cq *odd_cq; /* for the receivers with odd numbers: cq, or a second one */
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_qp *sender[QPS], *receiver[QPS];
	uint32_t receiver_n[QPS]; /* their numbers, kept after they are destroyed */
	struct mlx5dv_cq dv_cq;
	struct mlx5dv_srq dv_srq;
	uint32_t ci; /* of the CQ, if the program reads it */
	uint32_t free, last,
		/* of the SRQ, if the program links it: next to post, end of the list, posted */
		count;
	uint8_t *buf;
};

static struct ibv_qp *qp_make(struct driven *d, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = { .send_cq = cq,
					 .recv_cq = cq,
					 .srq = srq,
					 .cap = { 16, 0, 1, 0, 0 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_qp *qp = ibv_create_qp(d->pd, &attr);

	MUST(qp);
	return qp;
}

static void qps_connect(struct driven *d, int i)
{
	rig_qp_to(d->rig, &d->conf, d->receiver[i], d->sender[i]->qp_num, IBV_QPS_RTS);
	rig_qp_to(d->rig, &d->conf, d->sender[i], d->receiver[i]->qp_num, IBV_QPS_RTS);
}

static struct ibv_cq *cq_of(const struct driven *d, int i)
{
	return i % 2 ? d->odd_cq : d->cq;
}

static void driven_open_cqs(struct rig *rig, struct driven *d, bool two)
{
	struct ibv_srq_init_attr attr = { .attr = { SLOTS, 1, 0 } };

	*d = (struct driven){ .rig = rig, .conf = rig_conf_default() };
	d->buf = calloc(2 * SLOTS + 2, PIECE);
	MUST(d->buf);
	MUST(d->pd = ibv_alloc_pd(rig->ctx));
	MUST(d->send_cq = ibv_create_cq(rig->ctx, 64, NULL, NULL, 0));
	MUST(d->cq = ibv_create_cq(rig->ctx, 31, NULL, NULL, 0));
	d->odd_cq = two ? ibv_create_cq(rig->ctx, 31, NULL, NULL, 0) : d->cq;
	MUST(d->odd_cq);
	MUST(d->mr = ibv_reg_mr(d->pd, d->buf, (2 * SLOTS + 2) * PIECE, IBV_ACCESS_LOCAL_WRITE));
	MUST(d->srq = ibv_create_srq(d->pd, &attr));
	for (int i = 0; i < QPS; i++) {
		d->sender[i] = qp_make(d, d->send_cq, NULL);
		d->receiver[i] = qp_make(d, cq_of(d, i), d->srq);
		d->receiver_n[i] = d->receiver[i]->qp_num;
		qps_connect(d, i);
	}
}

static void driven_open(struct rig *rig, struct driven *d)
{
	driven_open_cqs(rig, d, false);
}

static void driven_close(struct driven *d)
{
	for (int i = 0; i < QPS; i++) {
		MUST(!ibv_destroy_qp(d->sender[i]));
		MUST(!d->receiver[i] || !ibv_destroy_qp(d->receiver[i]));
	}
	MUST(!ibv_destroy_srq(d->srq));
	MUST(!ibv_dereg_mr(d->mr));
	MUST(d->odd_cq == d->cq || !ibv_destroy_cq(d->odd_cq));
	MUST(!ibv_destroy_cq(d->cq));
	MUST(!ibv_destroy_cq(d->send_cq));
	MUST(!ibv_dealloc_pd(d->pd));
	free(d->buf);
}

static void ask_where(struct driven *d)
{
	struct mlx5dv_obj obj = { .cq = { d->cq, &d->dv_cq }, .srq = { d->srq, &d->dv_srq } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ | MLX5DV_OBJ_SRQ));
}

/* The message has arrived when this returns, as its acknowledge has. */
static void send_by(struct driven *d, int i)
{
	struct ibv_sge sge = { (uintptr_t)d->buf, PIECE, d->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;

	MUST(!ibv_post_send(d->sender[i], &wr, &bad));
	MUST(rig_poll(d->send_cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
}

static void send_by_all(struct driven *d)
{
	for (int i = 0; i < QPS; i++)
		if (d->receiver[i])
			send_by(d, i);
}

static const struct mlx5_cqe64 *cqe_of(const struct driven *d, uint32_t index)
{
	const uint8_t *entry = (const uint8_t *)d->dv_cq.buf +
			       (size_t)(index & (d->dv_cq.cqe_cnt - 1)) * d->dv_cq.cqe_size;

	return (const struct mlx5_cqe64 *)(entry + d->dv_cq.cqe_size - sizeof(struct mlx5_cqe64));
}

static bool cqe_is_there(const struct driven *d, uint32_t index)
{
	uint8_t op_own = __atomic_load_n(&cqe_of(d, index)->op_own, __ATOMIC_ACQUIRE);

	return op_own >> 4 != MLX5_CQE_INVALID &&
	       (op_own & MLX5_CQE_OWNER_MASK) == !!(index & d->dv_cq.cqe_cnt);
}

/* Waits until there are COUNT entries behind the consumer index. */
static void await_cqes(const struct driven *d, uint32_t count)
{
	for (int i = 0; i < PATIENCE && !cqe_is_there(d, d->ci + count - 1); i++)
		rig_settle();
	MUST(cqe_is_there(d, d->ci + count - 1) && !cqe_is_there(d, d->ci + count));
}

static void publish_ci(struct driven *d)
{
	d->dv_cq.dbrec[SET_CI] = htobe32(d->ci & 0xffffff);
}

static uint32_t cqe_qpn(const struct mlx5_cqe64 *cqe)
{
	return be32toh(cqe->sop_drop_qpn) & 0xffffff;
}

static struct mlx5_wqe_srq_next_seg *srq_wqe(const struct driven *d, uint32_t index)
{
	return (void *)((uint8_t *)d->dv_srq.buf + (size_t)index * d->dv_srq.stride);
}

static void srq_link(struct driven *d)
{
	for (uint32_t i = 0; i <= d->dv_srq.tail; i++)
		srq_wqe(d, i)->next_wqe_index = htobe16((i + 1) & d->dv_srq.tail);
	d->free = 0;
	d->last = d->dv_srq.tail;
}

static uint8_t *buffer_of(const struct driven *d, uint32_t wqe)
{
	return d->buf + (wqe + 1) * PIECE;
}

static void srq_fill_next(struct driven *d)
{
	struct mlx5_wqe_srq_next_seg *wqe = srq_wqe(d, d->free);
	struct mlx5_wqe_data_seg *seg = (void *)(wqe + 1);

	mlx5dv_set_data_seg(seg, PIECE, d->mr->lkey, (uintptr_t)buffer_of(d, d->free));
	d->free = be16toh(wqe->next_wqe_index);
	d->count++;
}

static void srq_publish(struct driven *d)
{
	__atomic_store_n(d->dv_srq.dbrec, htobe32(d->count & 0xffff), __ATOMIC_RELEASE);
}

static void srq_post_all(struct driven *d)
{
	while (d->free != d->last)
		srq_fill_next(d);
	srq_publish(d);
}

static void take_cqe(struct driven *d, int from)
{
	const struct mlx5_cqe64 *cqe = cqe_of(d, d->ci);
	uint16_t wqe = be16toh(cqe->wqe_counter);

	say_check(cqe_is_there(d, d->ci) && cqe->op_own >> 4 == MLX5_CQE_RESP_SEND &&
			  cqe_qpn(cqe) == d->receiver_n[from],
		  "the next completion is of QP %d", from);
	d->ci++;
	srq_wqe(d, d->last)->next_wqe_index = htobe16(wqe);
	d->last = wqe;
}

static void take_cqes_of_all(struct driven *d)
{
	for (int i = 0; i < QPS; i++)
		take_cqe(d, i);
}

struct picture {
	uint8_t *cq;
	__be32 cq_record, srq_record;
	__be16 links[4 * SLOTS + 4];
};

static void picture_take(const struct driven *d, struct picture *p)
{
	size_t size = (size_t)d->dv_cq.cqe_cnt * d->dv_cq.cqe_size;

	p->cq = malloc(size);
	MUST(p->cq && d->dv_srq.tail < ARRAY_SIZE(p->links));
	memcpy(p->cq, d->dv_cq.buf, size);
	p->cq_record = d->dv_cq.dbrec[SET_CI];
	p->srq_record = *d->dv_srq.dbrec;
	for (uint32_t i = 0; i <= d->dv_srq.tail; i++)
		p->links[i] = srq_wqe(d, i)->next_wqe_index;
}

static void picture_compare_srq(const struct driven *d, struct picture *p)
{
	bool links = true;

	for (uint32_t i = 0; i <= d->dv_srq.tail; i++)
		links &= p->links[i] == srq_wqe(d, i)->next_wqe_index;
	say_check(links, "the SRQ's links are");
	say_check(p->srq_record == *d->dv_srq.dbrec, "its record is");
	free(p->cq);
}

static void picture_compare(const struct driven *d, struct picture *p)
{
	say_check(!memcmp(p->cq, d->dv_cq.buf, (size_t)d->dv_cq.cqe_cnt * d->dv_cq.cqe_size),
		  "the CQ is as it was");
	say_check(p->cq_record == d->dv_cq.dbrec[SET_CI], "its record is");
	picture_compare_srq(d, p);
}

static void qp_destroy(struct driven *d, int i)
{
	MUST(!ibv_destroy_qp(d->receiver[i]));
	d->receiver[i] = NULL;
}

static void qp_reset(struct driven *d, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	MUST(!ibv_modify_qp(d->receiver[i], &attr, IBV_QP_STATE));
}

/* Messages of all QPs wait. The program has read the first ROUNDS * QPS of them when QP 2 is
 * destroyed. */
static void rig_drive(struct rig *rig, int rounds, void (*end)(struct driven *d, int i))
{
	struct picture before;
	struct driven d;

	driven_open(rig, &d);
	ask_where(&d);
	srq_link(&d);
	srq_post_all(&d);
	for (int i = 0; i < rounds; i++) {
		send_by_all(&d);
		await_cqes(&d, QPS);
		take_cqes_of_all(&d);
		publish_ci(&d);
		srq_post_all(&d);
	}
	send_by_all(&d);
	send_by_all(&d);
	await_cqes(&d, 2 * QPS);
	/* taken, but its index is not published yet, so the adapter counts it as unread */
	take_cqe(&d, 0);
	picture_take(&d, &before);
	end(&d, 2);
	picture_compare(&d, &before);
	for (int i = 1; i < 2 * QPS; i++)
		take_cqe(&d, i % QPS);
	publish_ci(&d);
	srq_post_all(&d);
	send_by(&d, 3);
	await_cqes(&d, 1);
	take_cqe(&d, 3);
	driven_close(&d);
}

static void driven_destroy(struct rig *rig)
{
	rig_drive(rig, 20, qp_destroy);
}

static void driven_reset(struct rig *rig)
{
	rig_drive(rig, 20, qp_reset);
}

/* The CQ's doorbell record has not moved yet, so the library cannot know whether the program or the
 * library polls it. */
static void driven_early(struct rig *rig)
{
	struct picture before;
	struct driven d;

	driven_open(rig, &d);
	ask_where(&d);
	srq_link(&d);
	srq_post_all(&d);
	send_by_all(&d);
	send_by_all(&d);
	await_cqes(&d, 2 * QPS);
	picture_take(&d, &before);
	qp_destroy(&d, 2);
	picture_compare_srq(&d, &before);
	say_check(!d.dv_cq.dbrec[SET_CI], "the record is as it was");
	for (int i = 0; i < 2 * QPS; i++)
		take_cqe(&d, i % QPS);
	publish_ci(&d);
	driven_close(&d);
}

/* A ring that the program reads cannot be replaced by another, as the program would go on with the
 * old one. */
static void driven_resize(struct rig *rig)
{
	struct driven d;

	driven_open(rig, &d);
	ask_where(&d);
	srq_link(&d);
	srq_post_all(&d);
	send_by_all(&d);
	await_cqes(&d, QPS);
	take_cqes_of_all(&d);
	publish_ci(&d);
	SAY_RET(ibv_resize_cq(d.cq, 100), "resize");
	driven_close(&d);
}

static void fill_srq(struct driven *d)
{
	struct ibv_sge sge = { (uintptr_t)d->buf + PIECE, PIECE, d->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	for (wr.wr_id = 0; !ibv_post_srq_recv(d->srq, &wr, &bad); wr.wr_id++)
		d->count++;
}

static void poll_of(struct driven *d, int from)
{
	struct ibv_wc wc = { 0 };

	say_check(rig_poll(d->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS &&
			  wc.qp_num == d->receiver_n[from],
		  "the next completion is of QP %d", from);
	d->count--;
}

/* Unpolled completions of QP 2 must disappear, as something else may use its number in CQEs later:
 * the QP itself, connected again, or its successor. */
static void rig_look(struct rig *rig, int rounds, bool again)
{
	struct driven d;
	uint32_t full;

	driven_open(rig, &d);
	ask_where(&d);
	fill_srq(&d);
	full = d.count;
	for (int i = 0; i < rounds; i++) {
		send_by_all(&d);
		for (int j = 0; j < QPS; j++)
			poll_of(&d, j);
		fill_srq(&d);
	}
	send_by_all(&d);
	send_by_all(&d);
	if (again) {
		qp_reset(&d, 2);
	} else {
		qp_destroy(&d, 2);
		d.receiver[2] = qp_make(&d, d.cq, d.srq);
		d.receiver_n[2] = d.receiver[2]->qp_num;
	}
	d.count -= 2; /* received by QP 2 */
	for (int i = 0; i < 2 * QPS; i++)
		if (i % QPS != 2)
			poll_of(&d, i % QPS);
	fill_srq(&d);
	say_check(d.count == full, "no receive of the SRQ is lost");
	qps_connect(&d, 2);
	send_by(&d, 2);
	poll_of(&d, 2);
	say_check(!rig_drain(d.cq), "nothing else comes");
	driven_close(&d);
}

static void looked_destroy(struct rig *rig)
{
	rig_look(rig, 20, false);
}

static void looked_reset(struct rig *rig)
{
	rig_look(rig, 20, true);
}

static void looked_destroy_early(struct rig *rig)
{
	rig_look(rig, 0, false);
}

static void looked_reset_early(struct rig *rig)
{
	rig_look(rig, 0, true);
}

/* The program's own record of the list: slots in use, and the number of posted receives. From these
 * it follows the links. */
struct follower {
	struct driven d;
	bool in_use[4 * SLOTS + 4];
	unsigned int posted;
	uint8_t mark; /* in the last message */
};

static void follower_post(struct follower *f)
{
	for (; f->posted < SLOTS; f->posted++) {
		uint32_t wqe = f->d.free;

		MUST(wqe <= 2 * SLOTS);
		say_check(!f->in_use[wqe], "a WQE is posted that is not in use");
		f->in_use[wqe] = true;
		buffer_of(&f->d, wqe)[0] = 0;
		srq_fill_next(&f->d);
	}
	srq_publish(&f->d);
}

/* Finds, by the buffer, which WQE a message used. */
static void follower_find(struct follower *f, uint8_t mark)
{
	for (uint32_t i = 0; i <= 2 * SLOTS; i++) {
		if (!f->in_use[i] || buffer_of(&f->d, i)[0] != mark)
			continue;
		f->in_use[i] = false;
		f->posted--;
		return;
	}
	say_check(false, "a message is where its WQE says");
}

static uint8_t follower_send(struct follower *f, int i)
{
	f->mark = (uint8_t)(f->mark % 200 + 1);
	f->d.buf[0] = f->mark;
	send_by(&f->d, i);
	return f->mark;
}

/* The program reads a message of QP I. */
static void follower_read(struct follower *f, int i, uint8_t mark)
{
	struct ibv_wc wc;

	MUST(rig_poll(cq_of(&f->d, i), 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	follower_find(f, mark);
}

/* Receives of the odd QPs are read so late that the ring has wrapped meanwhile. */
static void follower_run(struct follower *f, int laps)
{
	enum { ROUNDS = 5 };
	uint8_t marks[ROUNDS][QPS] = { 0 };

	for (int lap = 0; lap < laps; lap++) {
		for (int i = 0; i < ROUNDS * QPS; i++) {
			if (!f->d.receiver[i % QPS])
				continue;
			marks[i / QPS][i % QPS] = follower_send(f, i % QPS);
			if (i % 2 == 0)
				follower_read(f, i % QPS, marks[i / QPS][i % QPS]);
			follower_post(f);
		}
		for (int i = 0; i < ROUNDS * QPS; i++)
			if (i % 2)
				follower_read(f, i % QPS, marks[i / QPS][i % QPS]);
		follower_post(f);
	}
}

static void follower_open(struct rig *rig, struct follower *f)
{
	struct mlx5dv_obj obj = { .srq = { NULL, &f->d.dv_srq } };

	*f = (struct follower){ 0 };
	driven_open_cqs(rig, &f->d, true);
	obj.srq.in = f->d.srq;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ));
	f->d.free = f->d.dv_srq.head;
	follower_post(f);
}

static void follower_close(struct follower *f)
{
	driven_close(&f->d);
}

static void posted_list(struct rig *rig)
{
	struct follower f;

	follower_open(rig, &f);
	follower_run(&f, 10);
	follower_close(&f);
}

/* Messages that a destroyed QP received give their WQEs back to the list, as no completion will. */
static void posted_destroy(struct rig *rig)
{
	struct follower f;

	follower_open(rig, &f);
	follower_run(&f, 3);
	for (int i = 0; i < 4; i++) {
		uint8_t mark = follower_send(&f, 2);

		follower_find(&f, mark);
	}
	qp_destroy(&f.d, 2);
	follower_post(&f);
	follower_run(&f, 5);
	follower_close(&f);
}

/* A program posts by the library's calls, then calls mlx5dv_init_obj(), and continues by itself. */
static void posted_later(struct rig *rig)
{
	struct mlx5dv_obj obj = { 0 };
	struct follower f = { 0 };
	struct ibv_wc wc;

	driven_open_cqs(rig, &f.d, true);
	fill_srq(&f.d);
	for (int i = QPS - 1; i >= 0; i--) {
		send_by(&f.d, i);
		MUST(rig_poll(cq_of(&f.d, i), 1, &wc) == 1);
	}
	obj.srq.in = f.d.srq;
	obj.srq.out = &f.d.dv_srq;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ));
	f.d.free = f.d.dv_srq.head;
	f.posted = SLOTS - QPS;
	follower_post(&f);
	for (int i = 0; i < SLOTS - QPS; i++) { /* posted by the library: all into one buffer */
		send_by(&f.d, i % QPS);
		MUST(rig_poll(cq_of(&f.d, i), 1, &wc) == 1);
	}
	f.posted = QPS;
	follower_post(&f);
	follower_run(&f, 10);
	follower_close(&f);
}

static const struct rig_topic topics[] = {
	{ "driven-destroy", driven_destroy },
	{ "driven-reset", driven_reset },
	{ "driven-early", driven_early },
	{ "driven-resize", driven_resize },
	{ "looked-destroy", looked_destroy },
	{ "looked-reset", looked_reset },
	{ "looked-destroy-early", looked_destroy_early },
	{ "looked-reset-early", looked_reset_early },
	{ "posted-list", posted_list },
	{ "posted-destroy", posted_destroy },
	{ "posted-later", posted_later },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
