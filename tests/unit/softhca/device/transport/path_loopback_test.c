/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * path_loopback_test.c - a QP that works for its own program alone: it has no receive queue and no
 * receive CQ, and its path has the loopback bit but no destination. PRM: Address Path, fl
 *
 * Covers: softhca/device/transport/path.c, softhca/device/format/mlx5/path.c
 */
#include "pair.h"
#include "prm/mlx5/qpc.h"

static const struct flat_qp_attr alone = {
	.rq_type = PRM_RQ_TYPE_ZERO_SIZE,
	.no_recv_cq = true,
	.to_nowhere = true,
	.comes_back = true,
};

static void qp_free(struct flat_qp *qp)
{
	test_free(qp->send_cq);
	test_free(qp->recv_cq);
	test_free(qp);
}

static void what_is_sent_comes_back(void **state)
{
	enum { BYTES = 10000 };
	struct flat_qp *qp = flat_qp(1, &alone);
	uint32_t key;

	(void)state;
	flat_to(qp, qp, &alone, PRM_QP_STATE_RTS);
	from = flat_alloc(2 * BYTES, 4096);
	to = from + BYTES;
	key = flat_mr(flat.hca[1], flat.pd[1], from, 2 * BYTES, ALL_ACCESS);
	for (uint32_t i = 0; i < BYTES; i++)
		flat.mem[from + i] = i * 7 + i / 256;
	flat_ctrl(qp, OP_WRITE, SIGNALED, 0);
	flat_raddr(qp, to, key);
	flat_data(qp, from, BYTES, key);
	flat_post(qp);
	flat_ring(qp);
	flat_run(LONG / 1000);
	flat_expect_done(qp->send_cq, REQ, 0);
	assert_memory_equal(flat.mem + to, flat.mem + from, BYTES);
	qp_free(qp);
}

static void who_receives_names_a_cq(void **state)
{
	static const struct flat_qp_attr receives = {
		.no_recv_cq = true,
		.create_status = PRM_STAT_BAD_RES_ERR,
	};

	(void)state;
	qp_free(flat_qp(0, &receives));
}

/* Without the loopback bit, a path needs a destination, as LID 0 is invalid. */
static void a_path_to_nowhere_is_forced_to_come_back(void **state)
{
	struct flat_qp_attr lost = alone;
	struct flat_qp *qp = flat_qp(0, &lost);

	(void)state;
	lost.comes_back = false;
	lost.rtr_status = PRM_STAT_BAD_PARAM_ERR;
	flat_to(qp, qp, &lost, PRM_QP_STATE_RTR);
	assert_int_equal(flat_state(qp), PRM_QP_STATE_INIT);
	qp_free(qp);
}

int main(void)
{
#define ON(link, f) cmocka_unit_test_setup_teardown(f, link, flat_teardown)
	const struct CMUnitTest tests[] = {
		ON(flat_setup, what_is_sent_comes_back),
		ON(flat_setup_roce, what_is_sent_comes_back),
		ON(flat_setup, who_receives_names_a_cq),
		ON(flat_setup, a_path_to_nowhere_is_forced_to_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
