/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_dv_memcpy_test.c - mlx5dv_wr_memcpy(): bytes of its WQE, and valid lengths.
 *
 * Covers: providers/mlx5/data/send_wr_dv.c
 */
#include "rig.h"

#include <endian.h>
#include <errno.h>

#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/umr.h"

#define GIB2 (1ul << 31)

/* Address and lkey for the device's report, which is not used */
#define OUTCOMES " 00000000 0000beef 00000000 59318000"
#define FROM     " 00001234 00556677 00007f01 02030405"
#define TO       " 00001234 00112233 00007f0a 0b0c0d0e"

static struct verbs_mr outcomes = { .mr.lkey = 0xbeef };

static struct rig *copies_rig(const struct rig_options *options)
{
	struct rig *rig = rig_new(options);

	rig->qp->copy.mr = &outcomes;
	rig->qp->copy.buf.addr = (void *)0x59318000;
	rig->qp->copy.max = GIB2;
	mlx5_send_wr_fill_copy(rig->qp);
	return rig;
}

static int post_copy(struct rig *rig, unsigned int flags, size_t length)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	ibv_wr_start(qpx);
	qpx->wr_id = 77;
	qpx->wr_flags = flags;
	mlx5dv_wr_memcpy(&rig->qp->dv_qp, 0x112233, 0x7f0a0b0c0d0e, 0x556677, 0x7f0102030405,
			 length);
	return ibv_wr_complete(qpx);
}

static void a_copy_is_ctrl_outcome_source_destination(void **state)
{
	struct rig *rig = copies_rig(&(struct rig_options){ .sq_pi = 0x1ffff });

	(void)state;
	assert_int_equal(post_copy(rig, IBV_SEND_SIGNALED, 0x1234), 0);
	check_bytes(rig_sq(rig, 0x1ffff), "01ffff2f 12345604 00000008 00000000" OUTCOMES FROM TO);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	rig_free(rig);
}

static void an_initiator_writes_the_same_bytes(void **state)
{
	struct rig *rig = copies_rig(&(struct rig_options){ .type = IBV_QPT_DRIVER });

	(void)state;
	assert_int_equal(post_copy(rig, 0, 0x1234), 0);
	check_bytes(rig_sq(rig, 0), "0100002f 12345604 00000000 00000000" OUTCOMES FROM TO);
	rig_free(rig);
}

static void two_gibibytes_are_a_length_of_0(void **state)
{
	struct rig *rig = copies_rig(&(struct rig_options){ 0 });

	(void)state;
	assert_int_equal(post_copy(rig, 0, GIB2), 0);
	check_bytes(rig_sq(rig, 0) + 32, "00000000");
	check_bytes(rig_sq(rig, 0) + 48, "00000000");
	rig_free(rig);
}

static void other_lengths_are_refused(void **state)
{
	struct rig *rig = copies_rig(&(struct rig_options){ 0 });

	(void)state;
	assert_int_equal(post_copy(rig, 0, 0), EINVAL);
	assert_int_equal(post_copy(rig, 0, GIB2 + 1), EINVAL);
	rig->qp->copy.max = 100;
	assert_int_equal(post_copy(rig, 0, 101), EINVAL);
	assert_int_equal(rig->qp->sq.pi, 0);
	rig_free(rig);
}

static void it_waits_for_a_umr_before_it(void **state)
{
	struct rig *rig = copies_rig(&(struct rig_options){ 0 });

	(void)state;
	gate_shut(rig->qp);
	assert_int_equal(post_copy(rig, 0, 1), 0);
	check_bytes(rig_sq(rig, 0) + 8, "00000020");
	assert_int_equal(post_copy(rig, 0, 1), 0);
	check_bytes(rig_sq(rig, 1) + 8, "00000000");
	rig_free(rig);
}

static void its_completion_says_that_it_was_a_copy(void **state)
{
	struct rig_cqe cqe = { .opcode = MLX5_CQE_REQ, .send_opcode = MLX5_OPCODE_MMO };
	struct rig *rig = copies_rig(&(struct rig_options){ 0 });
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(post_copy(rig, IBV_SEND_SIGNALED, 1), 0);
	rig_complete(rig, &cqe);
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.opcode, IBV_WC_DRIVER3);
	assert_int_equal(wc.wr_id, 77);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_is_ctrl_outcome_source_destination),
		cmocka_unit_test(an_initiator_writes_the_same_bytes),
		cmocka_unit_test(two_gibibytes_are_a_length_of_0),
		cmocka_unit_test(other_lengths_are_refused),
		cmocka_unit_test(it_waits_for_a_umr_before_it),
		cmocka_unit_test(its_completion_says_that_it_was_a_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
