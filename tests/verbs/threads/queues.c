/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - queues shared among threads, as in programs with many connections. Each sending thread
 * has a QP into one SRQ and one pair of CQs, which other threads poll; more QPs are created and
 * destroyed meanwhile. In the opposite topic a thread domain keeps all objects to one thread, on
 * two contexts at once.
 *
 * Covers: providers/common/lock.c, providers/mlx5/pd.c, providers/mlx5/data/srq_ring.c
 */
#include <string.h>

#include "threads.h"

enum {
	NUM_LANES = 3,
	NUM_POLLERS = 2, /* of each CQ */
	WINDOW = 4,      /* requests that a lane has under way */
	MESSAGES_EACH = 400,
	NUM_MESSAGES = NUM_LANES * MESSAGES_EACH,
	NUM_RECVS = 24,
	SLOT_BYTES = 64,
	BATCH = 4,
	NUM_OWNERS = 4,
	OWN_MESSAGES = 150,
	CHURNS_EACH = 25,
	CHURN_MESSAGES = 4,
};

static int poll_extended(struct ibv_cq *cq, struct ibv_wc *wc)
{
	struct ibv_cq_ex *cqx = (struct ibv_cq_ex *)cq;
	struct ibv_poll_cq_attr attr = { 0 };
	int n = 0;

	if (ibv_start_poll(cqx, &attr))
		return 0;
	do {
		wc[n].wr_id = cqx->wr_id;
		wc[n].status = cqx->status;
		wc[n].opcode = ibv_wc_read_opcode(cqx);
		wc[n].byte_len = ibv_wc_read_byte_len(cqx);
		n++;
	} while (n < BATCH && !ibv_next_poll(cqx));
	ibv_end_poll(cqx);
	return n;
}

static int poll_batch(struct ibv_cq *cq, bool extended, struct ibv_wc *wc)
{
	int n = extended ? poll_extended(cq, wc) : ibv_poll_cq(cq, BATCH, wc);

	MUST(n >= 0);
	if (!n)
		crew_nap();
	return n;
}

static struct ibv_cq *make_cq(struct rig *rig, bool extended, struct ibv_pd *domain)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 128,
					    .wc_flags = IBV_WC_STANDARD_FLAGS,
					    .comp_mask = domain ? IBV_CQ_INIT_ATTR_MASK_PD : 0,
					    .parent_domain = domain };
	struct ibv_cq_ex *cqx;

	if (!extended)
		return ibv_create_cq(rig->ctx, (int)attr.cqe, NULL, NULL, 0);
	cqx = ibv_create_cq_ex(rig->ctx, &attr);
	return cqx ? ibv_cq_ex_to_cq(cqx) : NULL;
}

static void post_send(struct ibv_qp *qp, struct ibv_mr *mr, void *from, uint32_t bytes,
		      uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)from, bytes, mr->lkey };
	struct ibv_send_wr wr = { .wr_id = wr_id,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;

	MUST(!ibv_post_send(qp, &wr, &bad));
}

struct lanes {
	struct rig *rig;
	bool extended;
	long end_ms;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp *from[NUM_LANES], *to[NUM_LANES];
	uint8_t recv_slots[NUM_RECVS][SLOT_BYTES];
	uint32_t send_slots[NUM_LANES][WINDOW];
	atomic_int done[NUM_LANES], num_sent, num_received;
	atomic_bool sent[NUM_MESSAGES], received[NUM_MESSAGES];
};

static void post_srq_recv(struct lanes *l, uint64_t slot)
{
	struct ibv_sge sge = { (uintptr_t)l->recv_slots[slot], SLOT_BYTES, l->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_srq_recv(l->srq, &wr, &bad));
}

static bool is_over(const struct lanes *l)
{
	return crew_now_ms() > l->end_ms;
}

static void run_sender(struct lanes *l, int lane)
{
	for (int i = 0; i < MESSAGES_EACH; i++) {
		uint32_t *slot = &l->send_slots[lane][i % WINDOW];

		while (atomic_load(&l->done[lane]) + WINDOW <= i) {
			if (is_over(l))
				return;
			crew_nap();
		}
		*slot = (uint32_t)(lane * MESSAGES_EACH + i);
		post_send(l->from[lane], l->mr, slot, sizeof(*slot), *slot);
	}
}

static void take_sent(struct lanes *l, const struct ibv_wc *wc)
{
	if (wc->status || wc->opcode != IBV_WC_SEND || wc->wr_id >= NUM_MESSAGES) {
		crew_complain("a send completes with %s", ibv_wc_status_str(wc->status));
		return;
	}
	CHECK(!atomic_exchange(&l->sent[wc->wr_id], true), "message %d completes once",
	      (int)wc->wr_id);
	atomic_fetch_add(&l->done[wc->wr_id / MESSAGES_EACH], 1);
	atomic_fetch_add(&l->num_sent, 1);
}

static void take_received(struct lanes *l, const struct ibv_wc *wc)
{
	uint32_t number;

	if (wc->status || wc->wr_id >= NUM_RECVS || wc->byte_len != sizeof(number)) {
		crew_complain("a receive completes with %s", ibv_wc_status_str(wc->status));
		return;
	}
	memcpy(&number, l->recv_slots[wc->wr_id], sizeof(number));
	CHECK(number < NUM_MESSAGES && !atomic_exchange(&l->received[number], true),
	      "message %u comes once", number);
	post_srq_recv(l, wc->wr_id);
	atomic_fetch_add(&l->num_received, 1);
}

static void run_poller(struct lanes *l, struct ibv_cq *cq, atomic_int *count,
		       void (*take)(struct lanes *l, const struct ibv_wc *wc))
{
	struct ibv_wc wc[BATCH];

	while (atomic_load(count) < NUM_MESSAGES && !is_over(l)) {
		int n = poll_batch(cq, l->extended, wc);

		for (int i = 0; i < n; i++)
			take(l, &wc[i]);
	}
}

static void lanes_one(void *arg, int id)
{
	struct lanes *l = arg;

	if (id < NUM_LANES)
		run_sender(l, id);
	else if (id < NUM_LANES + NUM_POLLERS)
		run_poller(l, l->send_cq, &l->num_sent, take_sent);
	else
		run_poller(l, l->recv_cq, &l->num_received, take_received);
}

static struct ibv_qp *lane_qp(struct lanes *l)
{
	struct ibv_qp_init_attr attr = { .send_cq = l->send_cq,
					 .recv_cq = l->recv_cq,
					 .srq = l->srq,
					 .cap = { .max_send_wr = WINDOW, .max_send_sge = 1 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_qp *qp = ibv_create_qp(l->pd, &attr);

	MUST(qp);
	return qp;
}

static void lanes_open(struct lanes *l)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = NUM_RECVS, .max_sge = 1 } };
	struct rig_conf conf = rig_conf_default();

	MUST(l->pd = ibv_alloc_pd(l->rig->ctx));
	MUST(l->mr = ibv_reg_mr(l->pd, l, sizeof(*l), IBV_ACCESS_LOCAL_WRITE));
	MUST(l->send_cq = make_cq(l->rig, l->extended, NULL));
	MUST(l->recv_cq = make_cq(l->rig, l->extended, NULL));
	MUST(l->srq = ibv_create_srq(l->pd, &attr));
	for (int i = 0; i < NUM_RECVS; i++)
		post_srq_recv(l, i);
	for (int i = 0; i < NUM_LANES; i++) {
		l->from[i] = lane_qp(l);
		l->to[i] = lane_qp(l);
		rig_qp_to(l->rig, &conf, l->from[i], l->to[i]->qp_num, IBV_QPS_RTS);
		rig_qp_to(l->rig, &conf, l->to[i], l->from[i]->qp_num, IBV_QPS_RTS);
	}
}

static void lanes_close(struct lanes *l)
{
	for (int i = 0; i < NUM_LANES; i++)
		MUST(!ibv_destroy_qp(l->from[i]) && !ibv_destroy_qp(l->to[i]));
	MUST(!ibv_destroy_srq(l->srq) && !ibv_destroy_cq(l->send_cq));
	MUST(!ibv_destroy_cq(l->recv_cq) && !ibv_dereg_mr(l->mr) && !ibv_dealloc_pd(l->pd));
}

void threads_srq(struct rig *rig)
{
	static struct lanes lanes;

	for (int extended = 0; extended < 2; extended++) {
		memset(&lanes, 0, sizeof(lanes));
		lanes.rig = rig;
		lanes.extended = extended;
		lanes.end_ms = crew_now_ms() + CREW_PATIENCE_MS;
		lanes_open(&lanes);
		crew_run(NUM_LANES + 2 * NUM_POLLERS, lanes_one, &lanes);
		say_check(lanes.num_sent == NUM_MESSAGES && lanes.num_received == NUM_MESSAGES,
			  "%s: all messages came through one SRQ",
			  extended ? "start_poll" : "poll_cq");
		lanes_close(&lanes);
	}
}

struct owner {
	struct rig *rig;
	bool extended;
	struct ibv_td *td;
	struct ibv_pd *pd, *domain;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp[2];
	uint32_t from, to;
};

static void owner_open(struct owner *o)
{
	struct ibv_td_init_attr td_attr = { 0 };
	struct ibv_parent_domain_init_attr attr = { 0 };
	struct rig_conf conf = rig_conf_default();

	MUST(attr.pd = o->pd = ibv_alloc_pd(o->rig->ctx));
	MUST(attr.td = o->td = ibv_alloc_td(o->rig->ctx, &td_attr));
	MUST(o->domain = ibv_alloc_parent_domain(o->rig->ctx, &attr));
	MUST(o->mr = ibv_reg_mr(o->domain, o, sizeof(*o), IBV_ACCESS_LOCAL_WRITE));
	MUST(o->cq = make_cq(o->rig, o->extended, o->extended ? o->domain : NULL));
	for (int i = 0; i < 2; i++)
		MUST(o->qp[i] = rig_qp_create(o->domain, &conf, o->cq));
	for (int i = 0; i < 2; i++)
		rig_qp_to(o->rig, &conf, o->qp[i], o->qp[!i]->qp_num, IBV_QPS_RTS);
}

static void owner_close(struct owner *o)
{
	MUST(!ibv_destroy_qp(o->qp[0]) && !ibv_destroy_qp(o->qp[1]) && !ibv_destroy_cq(o->cq));
	MUST(!ibv_dereg_mr(o->mr) && !ibv_dealloc_pd(o->domain) && !ibv_dealloc_td(o->td));
	MUST(!ibv_dealloc_pd(o->pd));
}

static bool owner_message(struct owner *o, uint32_t number)
{
	struct ibv_sge sge = { (uintptr_t)&o->to, sizeof(o->to), o->mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad;
	long end = crew_now_ms() + CREW_PATIENCE_MS;
	struct ibv_wc wc[BATCH];
	int have = 0;

	o->from = number;
	MUST(!ibv_post_recv(o->qp[1], &recv, &bad));
	post_send(o->qp[0], o->mr, &o->from, sizeof(o->from), number);
	while (have < 2 && crew_now_ms() < end) {
		int n = poll_batch(o->cq, o->extended, wc);

		for (int i = 0; i < n; i++)
			CHECK(!wc[i].status, "a completion of one's own is right");
		have += n;
	}
	return have == 2 && o->to == number;
}

struct owners {
	struct rig *rigs[2];
	atomic_int good;
};

static void own_one(void *arg, int id)
{
	struct owners *owners = arg;
	struct owner o = { .rig = owners->rigs[id & 1], .extended = id & 2 };

	owner_open(&o);
	for (uint32_t i = 1; i <= OWN_MESSAGES; i++)
		atomic_fetch_add(&owners->good, owner_message(&o, i));
	owner_close(&o);
}

void threads_domains(struct rig *rig)
{
	struct owners owners = { 0 };
	struct rig other;

	rig_open(&other);
	owners.rigs[0] = rig;
	owners.rigs[1] = &other;
	crew_run(NUM_OWNERS, own_one, &owners);
	say_check(owners.good == NUM_OWNERS * OWN_MESSAGES,
		  "each thread's domain carries its messages, on two contexts");
	rig_close(&other);
}

struct churn {
	struct rig *rig;
	bool extended;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	uint8_t buf[SLOT_BYTES];
	atomic_int completions[NUM_LANES]; /* of the churner's present pair */
	atomic_int polls[NUM_POLLERS];     /* whose completions are counted */
	atomic_int churning, good, opened;
};

static void churn_poll(struct churn *c, int poller)
{
	struct ibv_wc wc[BATCH];

	while (atomic_load(&c->churning)) {
		int n = poll_batch(c->cq, c->extended, wc);

		for (int i = 0; i < n; i++) {
			CHECK(!wc[i].status && wc[i].wr_id < NUM_LANES, "a completion is right");
			atomic_fetch_add(&c->completions[wc[i].wr_id % NUM_LANES], 1);
		}
		atomic_fetch_add(&c->polls[poller], 1);
	}
}

/* Waits, as a poller may not have counted yet what it took before the QPs went. */
static void churn_await_pollers(struct churn *c)
{
	for (int i = 0; i < NUM_POLLERS; i++)
		CHECK(crew_await(&c->polls[i], atomic_load(&c->polls[i]) + 1), "poller %d goes on",
		      i);
}

static void churn_messages(struct churn *c, int id, struct ibv_qp *const qp[2])
{
	struct ibv_recv_wr recv = { .wr_id = (uint64_t)id }, *bad;

	for (int i = 0; i < CHURN_MESSAGES; i++)
		MUST(!ibv_post_recv(qp[1], &recv, &bad));
	for (int i = 0; i < CHURN_MESSAGES; i++)
		post_send(qp[0], c->mr, c->buf, 0, (uint64_t)id);
}

/* Every other pair goes with its completions unread. */
static void churn_pairs(struct churn *c, int id)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp[2];

	for (int round = 0; round < CHURNS_EACH; round++) {
		atomic_store(&c->completions[id], 0);
		for (int i = 0; i < 2; i++)
			MUST(qp[i] = rig_qp_create(c->pd, &conf, c->cq));
		for (int i = 0; i < 2; i++)
			rig_qp_to(c->rig, &conf, qp[i], qp[!i]->qp_num, IBV_QPS_RTS);
		churn_messages(c, id, qp);
		if (round & 1)
			CHECK(crew_await(&c->completions[id], 2 * CHURN_MESSAGES),
			      "all completions of round %d come", round);
		/* The receiver last: its peer's requests would be retried into nothing. */
		MUST(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]));
		churn_await_pollers(c);
		CHECK(atomic_load(&c->completions[id]) <= 2 * CHURN_MESSAGES,
		      "no more completions than requests");
		atomic_fetch_add(&c->good, 1);
	}
	atomic_fetch_sub(&c->churning, 1);
}

/* Contexts are closed beside it all. */
static void churn_contexts(struct churn *c)
{
	while (atomic_load(&c->churning)) {
		struct rig rig;

		rig_open(&rig);
		rig_close(&rig);
		atomic_fetch_add(&c->opened, 1);
	}
}

static void churn_one(void *arg, int id)
{
	struct churn *c = arg;

	if (id < NUM_LANES)
		churn_pairs(c, id);
	else if (id < NUM_LANES + NUM_POLLERS)
		churn_poll(c, id - NUM_LANES);
	else
		churn_contexts(c);
}

void threads_churn(struct rig *rig)
{
	for (int extended = 0; extended < 2; extended++) {
		struct churn c = { .rig = rig, .extended = extended, .churning = NUM_LANES };

		MUST(c.pd = ibv_alloc_pd(rig->ctx));
		MUST(c.mr = ibv_reg_mr(c.pd, c.buf, sizeof(c.buf), IBV_ACCESS_LOCAL_WRITE));
		MUST(c.cq = make_cq(rig, extended, NULL));
		crew_run(NUM_LANES + NUM_POLLERS + 1, churn_one, &c);
		say_check(c.good == NUM_LANES * CHURNS_EACH && c.opened,
			  "%s: pairs and contexts come and go beside the pollers",
			  extended ? "start_poll" : "poll_cq");
		MUST(!ibv_destroy_cq(c.cq) && !ibv_dereg_mr(c.mr) && !ibv_dealloc_pd(c.pd));
	}
}
