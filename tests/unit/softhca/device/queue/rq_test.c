/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rq_test.c - the receive queue's ring: a WQE is there once the doorbell record says so, and an
 * empty queue says that it is empty.
 */
#include <errno.h>

#include "pair.h"
#include "softhca/device/core.h"
#include "softhca/device/queue/qp.h"

static const struct flat_qp_attr usual = { .retry = 7, .rnr_retry = 7, .timeout = 14, .mtu = 1 };

static void a_wqe_is_there_once_it_is_posted(void **state)
{
	uint32_t stride;
	struct qp *qp;

	(void)state;
	pair(&usual, 4096);
	qp = res_get(&b->hca->qps, b->n);
	assert_int_equal(rq_fetch(b->hca, qp), ENOENT);
	flat_recv(b, to, 100, rkey);
	assert_int_equal(rq_fetch(b->hca, qp), 0);
	assert_int_equal(qp->resp.held.index, 0);
	/* it stays until it completes, so a repeat finds it again */
	assert_int_equal(rq_fetch(b->hca, qp), 0);
	qp->rq.ci++;
	assert_int_equal(rq_fetch(b->hca, qp), ENOENT);
	flat_recv(b, to, 100, rkey);
	assert_int_equal(rq_fetch(b->hca, qp), 0);
	assert_int_equal(qp->resp.held.index, 1);
	qp->rq.ci--;
	stride = qp->rq.stride;
	qp->rq.stride = 0; /* a QP without the queue */
	assert_int_equal(rq_fetch(b->hca, qp), ENOENT);
	qp->rq.stride = stride;
	unpair();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_wqe_is_there_once_it_is_posted, flat_setup,
						flat_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
