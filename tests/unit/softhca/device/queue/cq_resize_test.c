/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_resize_test.c - CQ resize: no CQE is lost or seen twice, wherever the old ring wraps and
 * however many CQEs it holds.
 *
 * Covers: softhca/device/queue/cq.c, softhca/device/format/mlx5/cmd/cq.c
 */
#include "pair.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"

static const struct flat_qp_attr small = { .cq_log = 3 };

static void send_some(int count)
{
	for (; count; count--) {
		flat_recv(b, to, 4096, rkey);
		flat_send(a, OP_SEND, from, 8, lkey);
	}
	flat_run(LONG / 1000);
}

/* Resizes a CQ to smaller and larger rings, from each position and with 0 to 6 CQEs in it, as wraps
 * and owner bits differ at each. */
static void completions_survive(uint32_t cqe_size)
{
	struct flat_qp_attr attr = small;
	uint32_t done;

	attr.cqe_size = cqe_size;
	for (uint32_t start = 0; start < 16; start += 3)
		for (uint32_t held = 0; held < 7; held += 2)
			for (uint32_t size = 3; size < 6; size++) {
				pair(&attr, 4096);
				for (done = 0; done < start; done++) {
					send_some(1);
					flat_expect_done(a->send_cq, REQ, done);
					flat_expect_done(b->recv_cq, RESP_SEND, done);
				}
				send_some(held);
				assert_int_equal(flat_resize(a->send_cq, size), PRM_STAT_OK);
				assert_int_equal(flat_resize(b->recv_cq, size), PRM_STAT_OK);
				for (held += done; done < held; done++) {
					flat_expect_done(a->send_cq, REQ, done);
					flat_expect_done(b->recv_cq, RESP_SEND, done);
				}
				held -= start;
				flat_expect_empty(a->send_cq);
				for (; done < 40; done++) {
					send_some(1);
					flat_expect_done(a->send_cq, REQ, done);
					flat_expect_done(b->recv_cq, RESP_SEND, done);
				}
				unpair();
			}
}

static void completions_survive_a_new_ring(void **state)
{
	(void)state;
	completions_survive(64);
}

static void wide_completions_survive_a_new_ring(void **state)
{
	(void)state;
	completions_survive(128);
}

static void what_it_holds_must_fit(void **state)
{
	(void)state;
	pair(&small, 4096);
	send_some(4);
	assert_int_equal(flat_resize(a->send_cq, 2), PRM_STAT_BAD_PARAM_ERR);
	send_some(4); /* full */
	assert_int_equal(flat_resize(a->send_cq, 4), PRM_STAT_BAD_PARAM_ERR);
	flat_expect_done(a->send_cq, REQ, 0);
	assert_int_equal(flat_resize(a->send_cq, 4), PRM_STAT_OK);
	flat_expect_done(a->send_cq, REQ, 1);
	unpair();
}

/* The mailbox lacks the page list, as in a change without resize. */
static void a_new_size_comes_with_a_page_list(void **state)
{
	const size_t len = PRM_MODIFY_CQ_IN_SIZE;
	uint8_t *in = calloc(1, len), out[16]; /* exact size, so that a sanitizer sees overreads */

	(void)state;
	pair(&small, 4096);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_CQ);
	fld_set(in, CMD_IN_OP_MOD, PRM_MODIFY_CQ_OP_RESIZE);
	fld_set(in, MODIFY_CQ_IN_CQN, a->send_cq->n);
	fld_set(in, MODIFY_CQ_IN_FIELD_SELECT, 7);
	fld_set(fld_at(in, MODIFY_CQ_IN_CQC), CQC_LOG_CQ_SIZE, 4);
	flat_cmd_expect(a->hca, in, len, out, sizeof(out), PRM_STAT_BAD_PARAM_ERR);
	free(in);
	unpair();
}

int main(void)
{
#define IB(f) cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(completions_survive_a_new_ring),
		IB(wide_completions_survive_a_new_ring),
		IB(what_it_holds_must_fit),
		IB(a_new_size_comes_with_a_page_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
