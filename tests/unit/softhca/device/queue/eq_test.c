/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq_test.c - asynchronous events follow the completions that an adapter made before them: software
 * that gets the last event of a queue polls the CQ until it is empty, and frees the buffers. IBTA
 * vol 1, 10.3.1 (error state), 11.6.3 (asynchronous events)
 *
 * Covers: softhca/device/queue/eq.c, softhca/device/queue/cq_run.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/mini_cqe.h"
#include "prm/mlx5/qpc.h"

enum { SENDS = 3 };

static const uint32_t layouts[] = {
	64,
	64 | FLAT_COMPRESSED | PRM_MINI_CQE_CHECKSUM << FLAT_FORMAT_SHIFT,
	64 | FLAT_COMPRESSED | FLAT_BLOCKS | PRM_MINI_CQE_CHECKSUM << FLAT_FORMAT_SHIFT,
};

static struct flat_srq *srq;

static void pair_on_srq(uint32_t cqe_size)
{
	const struct flat_qp_attr sender = { .cqe_size = cqe_size };
	struct flat_qp_attr receiver = { .cqe_size = cqe_size, .rq_type = PRM_RQ_TYPE_SRQ };

	pair(&sender, 4096);
	unpair();
	a = flat_qp(0, &sender);
	srq = flat_srq(1, 3, 0, NULL);
	receiver.srqn = srq->n;
	b = flat_qp(1, &receiver);
	flat_connect(a, b, &sender);
	flat.events = 0;
}

static void post_sends(void)
{
	for (unsigned int i = 0; i < SENDS; i++) {
		flat_srq_recv(srq, to + 256 * i, 256, rkey);
		flat_ctrl(a, OP_SEND, SIGNALED, 0);
		flat_data(a, from, 200, lkey);
		flat_post(a);
	}
}

/* Expects one event of TYPE, after all that was written to the first entries of the CQ. */
static void expect_event_behind(uint8_t type, const struct flat_cq *cq)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < flat.events; i++) {
		if (flat.event[i][1] != type)
			continue;
		found++;
		for (uint32_t slot = 0; slot < SENDS; slot++)
			assert_in_range(flat_when_written(cq->ring + 64ull * (slot + 1) - 1), 0,
					flat.event_after[i]);
	}
	assert_int_equal(found, 1);
	assert_in_range(flat_when_written(cq->ring + 63), 1, flat.pieces);
}

/* The peer's fault comes with the SENDs before it in one turn, so the adapter may still hold their
 * completions back. */
static void events_of_a_fault_follow_the_receives(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		pair_on_srq(layouts[i]);
		post_sends();
		flat_ctrl(a, OP_WRITE, SIGNALED, 0);
		flat_raddr(a, to, rkey ^ 0x100);
		flat_data(a, from, 8, lkey);
		flat_post(a);
		flat_ring(a);
		flat_run(LONG);
		assert_int_equal(flat_state(b), PRM_QP_STATE_ERR);
		expect_event_behind(PRM_EVENT_WQ_ACCESS_ERROR, b->recv_cq);
		expect_event_behind(PRM_EVENT_SRQ_LAST_WQE, b->recv_cq);
		test_free(srq);
		unpair();
	}
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(events_of_a_fault_follow_the_receives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
