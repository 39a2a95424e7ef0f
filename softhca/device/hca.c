/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca.c - an adapter: creation, doorbells, and the loop that gives each queue its turn.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/device/core.h"
#include "softhca/device/transport/answer.h"
#include "softhca/device/transport/out_of_order.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/transport/dct.h"
#include "softhca/device/transport/qp.h"
#include "softhca/device/memory/memic.h"
#include "softhca/device/queue/umr_delay.h"
#include "softhca/device/uar_scan.h"

enum {
	/* most turns of QPs in one hca_progress(), which holds the fabric's lock: commands and
	 * doorbells wait for it */
	TURNS = 8,
	/* bytes that a QP may send in its turn; a call that has sent so many begins no further
	 * turn */
	TURN_BYTES = 256 * 1024,
	TURN_FLUSHES = 64,
	SCAN_TURNS = 1024, /* most rounds of hca_finish_scans() */
	MAX_FLUSH_POLL_MS = 10,
};

static void default_limit(uint32_t *limit, uint32_t value)
{
	if (!*limit)
		*limit = value;
}

static void default_limits(struct hca_limits *limits)
{
	default_limit(&limits->max_qp, 1 << 17);
	default_limit(&limits->max_cq, 1 << 17);
	default_limit(&limits->max_mkey, 1 << 20);
	default_limit(&limits->max_pd, 1 << 17);
	default_limit(&limits->max_wqe_bb, 1 << 15);
	default_limit(&limits->max_cqe, 1 << 22);
	default_limit(&limits->max_rd_atomic, 16);
	default_limit(&limits->max_msg_size, 1 << 30);
}

static int join_fabric(struct hca *hca)
{
	int ret;

	for (unsigned int port = 1; port <= hca->config.num_ports; port++) {
		port_init(hca, port);
		ret = fabric_attach(hca->fabric, hca, port, &hca->port[port - 1].lid);
		if (ret)
			return ret;
	}
	return 0;
}

static bool limits_fit(const struct hca_limits *limits)
{
	enum { MAX_WQE_BB = 1 << 15, MAX_CQE = 1 << 22, MAX_NUMBER = 1 << 23 };

	return limits->max_wqe_bb <= MAX_WQE_BB && limits->max_cqe <= MAX_CQE &&
	       limits->max_qp <= MAX_NUMBER && limits->max_cq <= MAX_NUMBER &&
	       limits->max_mkey <= MAX_NUMBER && limits->max_pd <= MAX_NUMBER &&
	       limits->max_rd_atomic <= 128 && limits->max_msg_size <= 1u << 31 &&
	       limits->max_tx_speed <= UINT16_MAX;
}

static int create_fabric(struct hca *hca)
{
	hca->fabric = hca->config.fabric;
	hca->owns_fabric = !hca->fabric;
	return hca->fabric ? 0 : fabric_create(&hca->fabric);
}

int hca_create(const struct hca_config *config, const struct format *format, struct hca **out)
{
	struct hca *hca;
	int ret;

	if (config->num_ports < 1 || config->num_ports > PORT_MAX || !config->bus_ops ||
	    !limits_fit(&config->limits))
		return EINVAL;
	hca = calloc(1, sizeof(*hca));
	if (!hca)
		return ENOMEM;
	hca->config = *config;
	hca->format = format;
	hca->next_timer = HCA_IDLE;
	hca->mkey_mask = UINT32_MAX;
	TAILQ_INIT(&hca->ready);
	TAILQ_INIT(&hca->timed);
	TAILQ_INIT(&hca->scans);
	LIST_INIT(&hca->waiting_cqs);
	LIST_INIT(&hca->held_cqs);
	hca->end_runs = cq_end_runs;
	LIST_INIT(&hca->gaps);
	LIST_INIT(&hca->mcg_members);
	LIST_INIT(&hca->umrs);
	default_limits(&hca->config.limits);
	objects_init(hca);
	hca->bounce = aligned_alloc(4096, FABRIC_PAYLOAD_MAX);
	ret = hca->bounce ? eth_create(hca) : ENOMEM;
	if (!ret)
		ret = create_fabric(hca);
	if (!ret)
		ret = hca->format->create(hca);
	if (!ret)
		ret = memic_create(hca);
	if (!ret)
		ret = join_fabric(hca);
	if (ret)
		hca_destroy(hca);
	else
		*out = hca;
	return ret;
}

void hca_destroy(struct hca *hca)
{
	if (hca->fabric)
		fabric_detach(hca->fabric, hca);
	eth_destroy(hca);
	objects_free(hca);
	memic_destroy(hca);
	if (hca->owns_fabric && hca->fabric)
		fabric_destroy(hca->fabric);
	hca->format->destroy(hca);
	free(hca->bounce);
	free(hca);
}

void hca_take_keks(struct hca *hca)
{
	fabric_lock(hca->fabric);
	hca->keks_gone = true;
	fabric_unlock(hca->fabric);
}

void hca_uar_write(struct hca *hca, uint32_t uar, uint32_t offset, const void *bytes, size_t len)
{
	uint64_t value_be = 0;

	memcpy(&value_be, bytes, len < sizeof(value_be) ? len : sizeof(value_be));
	fabric_lock(hca->fabric);
	if (!hca->config.strict || hca->format->judge_write(hca, uar, offset, bytes, len))
		hca->format->ring(hca, uar, offset, value_be);
	fabric_unlock(hca->fabric);
}

void hca_uar_found(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be)
{
	fabric_lock(hca->fabric);
	if (hca->config.strict)
		hca->format->judge_found(hca, uar, offset, value_be);
	fabric_unlock(hca->fabric);
}

void hca_uar_place(struct hca *hca, uint32_t n, const volatile uint64_t *page)
{
	struct uar *uar;

	fabric_lock(hca->fabric);
	uar = res_get(&hca->uars, n);
	if (uar)
		uar->page = page;
	fabric_unlock(hca->fabric);
}

unsigned int hca_uar_list(struct hca *hca, uint32_t *numbers, unsigned int room)
{
	unsigned int count = 0;
	const struct uar *uar;

	fabric_lock(hca->fabric);
	for (uint32_t i = 0; (uar = res_next(&hca->uars, &i)) != NULL; count++)
		if (count < room)
			numbers[count] = uar->n;
	fabric_unlock(hca->fabric);
	return count;
}

void hca_uar_scan_sq(struct hca *hca, uint32_t n, const uint64_t *values_be, unsigned int count)
{
	uint32_t rung[HCA_SCAN_VALUES];
	struct uar *uar;

	for (unsigned int i = 0; i < count; i++)
		rung[i] = hca->format->rung_sq(values_be[i]);
	fabric_lock(hca->fabric);
	uar = res_get(&hca->uars, n);
	if (uar)
		uar_scan_sqs(hca, uar, rung, count);
	fabric_unlock(hca->fabric);
}

void hca_uar_scan_cq(struct hca *hca, uint32_t n, uint64_t value_be)
{
	struct uar *uar;

	fabric_lock(hca->fabric);
	uar = res_get(&hca->uars, n);
	if (uar)
		uar_scan_cqs(hca, uar, hca->format->rung_cq(value_be));
	fabric_unlock(hca->fabric);
}

/* Releases the lock after each round, so that other threads get it. The number of rounds is
 * limited, as a program that rings without end begins its scan anew each time. */
void hca_finish_scans(struct hca *hca, uint64_t now_ns)
{
	bool more = true;

	for (unsigned int turn = 0; more && turn < SCAN_TURNS; turn++) {
		fabric_lock(hca->fabric);
		hca->now = now_ns;
		uar_scans_run(hca);
		more = !TAILQ_EMPTY(&hca->scans);
		fabric_unlock(hca->fabric);
	}
}

/* Flushes a QP in error. Receives ring no doorbell, so the QP is polled for new ones, at growing
 * intervals. */
static bool qp_flush(struct hca *hca, struct qp *qp)
{
	bool send_left = sq_flush(hca, qp, TURN_FLUSHES);
	bool recv_left = rq_flush(hca, qp, TURN_FLUSHES);

	qp_report_last_wqe(hca, qp);
	return send_left || recv_left;
}

static bool send_queue_take_turn(struct hca *hca, struct qp *qp)
{
	if (qp_requests(qp) && (fabric_is_congested(hca->fabric) || req_run(hca, qp, TURN_BYTES)))
		return true;
	if (qp->state == PRM_QP_STATE_SQER)
		return sq_flush(hca, qp, TURN_FLUSHES);
	return qp->state == PRM_QP_STATE_ERR && qp_flush(hca, qp);
}

static bool take_turn(struct hca *hca, struct qp *qp)
{
	bool answers_left;

	if (qp->dct)
		return dct_run(hca, qp, TURN_BYTES);
	answers_left = answers_run(hca, qp, TURN_BYTES);
	return send_queue_take_turn(hca, qp) || answers_left;
}

static void run_ready(struct hca *hca)
{
	hca->turn_bytes = 0;
	for (unsigned int turn = 0; turn < TURNS && hca->turn_bytes < TURN_BYTES; turn++) {
		struct qp *qp = TAILQ_FIRST(&hca->ready);

		if (!qp)
			return;
		TAILQ_REMOVE(&hca->ready, qp, in_ready);
		qp->ready = false;
		if (take_turn(hca, qp))
			qp_wake(hca, qp);
	}
}

static void timer_fire(struct hca *hca, struct qp *qp)
{
	qp_set_timer(hca, qp, HCA_IDLE);
	if (qp->state != PRM_QP_STATE_ERR) {
		req_timeout(hca, qp);
		return;
	}
	qp_wake(hca, qp);
	if (qp->flush_poll < MAX_FLUSH_POLL_MS * NS_PER_MS)
		qp->flush_poll *= 2;
	qp_set_timer(hca, qp, hca->now + qp->flush_poll);
}

static void run_timers(struct hca *hca)
{
	struct qp *qp, *next;

	if (hca->now < hca->next_timer)
		return;
	for (qp = TAILQ_FIRST(&hca->timed); qp; qp = next) {
		next = TAILQ_NEXT(qp, in_timed);
		if (qp->req.deadline <= hca->now)
			timer_fire(hca, qp);
	}
	hca->next_timer = HCA_IDLE;
	TAILQ_FOREACH(qp, &hca->timed, in_timed)
		if (qp->req.deadline < hca->next_timer)
			hca->next_timer = qp->req.deadline;
}

/* Returns when to be called again. While the fabric is congested, ready queues wait, but at most a
 * millisecond. */
static uint64_t next_call(struct hca *hca)
{
	uint64_t soon = hca->now + NS_PER_MS;

	if (!TAILQ_EMPTY(&hca->scans))
		return 0;
	if (TAILQ_EMPTY(&hca->ready) && TAILQ_EMPTY(&hca->eth->ready))
		return hca->next_timer;
	if (!fabric_is_congested(hca->fabric))
		return 0;
	return soon < hca->next_timer ? soon : hca->next_timer;
}

uint64_t hca_progress(struct hca *hca, uint64_t now_ns)
{
	uint64_t next, events, paced, scheduled;

	fabric_lock(hca->fabric);
	hca->now = now_ns;
	uar_scans_run(hca);
	run_timers(hca);
	run_ready(hca);
	if (!fabric_is_congested(hca->fabric))
		eth_run(hca);
	paced = pacing_run(hca);
	scheduled = sched_run(hca);
	paced = scheduled < paced ? scheduled : paced;
	fabric_flush(hca->fabric);
	next = next_call(hca);
	next = paced < next ? paced : next;
	events = cq_run_timers(hca);
	next = events < next ? events : next;
	events = out_of_order_run(hca);
	next = events < next ? events : next;
	if (hca->config.strict) {
		events = umr_run(hca);
		next = events < next ? events : next;
		cq_end_runs(hca); /* runs that the UMRs have extended */
		if (rules_look(hca)) {
			srqs_note(hca);
			eth_rqs_note(hca);
		}
	}
	fabric_unlock(hca->fabric);
	return next;
}
