/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca_turns_test.c - how much the queues of an adapter do in one call of hca_progress(). Between
 * two calls a front looks for doorbells, and commands may have the lock.
 *
 * Covers: softhca/device/hca.c, softhca/device/departure.c
 */
#include "pair.h"
#include "softhca/device/core.h"

enum { QUEUES = 4, SIZE = 256 * 1024 };

static struct flat_qp *ends[QUEUES][2];

static void pairs_make(void)
{
	pair(NULL, SIZE);
	for (unsigned int i = 0; i < QUEUES; i++) {
		ends[i][0] = flat_qp(0, NULL);
		ends[i][1] = flat_qp(1, NULL);
		flat_connect(ends[i][0], ends[i][1], NULL);
	}
}

static void pairs_free(void)
{
	for (unsigned int i = 0; i < QUEUES; i++)
		for (unsigned int end = 0; end < 2; end++) {
			test_free(ends[i][end]->send_cq);
			test_free(ends[i][end]->recv_cq);
			test_free(ends[i][end]);
		}
	unpair();
}

static void write_from(struct flat_qp *qp, uint32_t len)
{
	flat_ctrl(qp, OP_WRITE, SIGNALED, 0);
	flat_raddr(qp, to, rkey);
	flat_data(qp, from, len, lkey);
	flat_post(qp);
	flat_ring(qp);
}

static unsigned int done_in_a_call(void)
{
	unsigned int done = 0;

	hca_progress(flat.hca[0], flat.now);
	for (unsigned int i = 0; i < QUEUES; i++)
		done += flat_poll(ends[i][0]->send_cq) != NULL;
	return done;
}

static void long_requests_get_a_call_each(void **state)
{
	(void)state;
	pairs_make();
	for (unsigned int i = 0; i < QUEUES; i++)
		write_from(ends[i][0], SIZE);
	for (unsigned int i = 0; i < QUEUES; i++)
		assert_int_equal(done_in_a_call(), 1);
	pairs_free();
}

static void short_requests_share_a_call(void **state)
{
	(void)state;
	pairs_make();
	for (unsigned int i = 0; i < QUEUES; i++)
		write_from(ends[i][0], 64);
	assert_int_equal(done_in_a_call(), QUEUES);
	pairs_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(long_requests_get_a_call_each, flat_setup,
						flat_teardown),
		cmocka_unit_test_setup_teardown(short_requests_share_a_call, flat_setup,
						flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
