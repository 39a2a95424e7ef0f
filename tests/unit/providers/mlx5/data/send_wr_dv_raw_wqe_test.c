/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_dv_raw_wqe_test.c - mlx5dv_wr_raw_wqe(): bytes of a program's WQE that reach the ring,
 * and refusals.
 *
 * Covers: providers/mlx5/data/send_wr_dv.c
 */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/data/umr.h"

#define DATA " 00000064 11223344 000055ca 19318010"

/* A SEND of DS units, the last of which are the same data segment. Index and signature hold values
 * that the library must replace. */
static uint32_t wqe[64];

static void make_wqe(unsigned int ds)
{
	static const uint32_t data[4] = { 0x64, 0x11223344, 0x55ca, 0x19318010 };

	wqe[0] = htobe32(0x01dead0a);
	wqe[1] = htobe32(RIG_QPN << 8 | ds);
	wqe[2] = htobe32(0xee00000c);
	wqe[3] = htobe32(0x55667788);
	for (unsigned int i = 4; i < 4 * ds; i++)
		wqe[i] = htobe32(data[i % 4]);
}

static struct rig *raw_rig(uint32_t sq_pi)
{
	struct rig *rig = rig_new(&(struct rig_options){
		.sq_pi = sq_pi, .sq_wqebbs = 4, .max_send = 2, .send_sge = 6 });

	mlx5_send_wr_fill_raw_wqe(rig->qp);
	return rig;
}

static int post_raw(struct rig *rig, unsigned int count)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	ibv_wr_start(qpx);
	qpx->wr_id = 77;
	qpx->wr_flags = 0;
	for (unsigned int i = 0; i < count; i++)
		mlx5dv_wr_raw_wqe(&rig->qp->dv_qp, wqe);
	return ibv_wr_complete(qpx);
}

static void all_but_index_and_signature_is_the_programs(void **state)
{
	struct rig *rig = raw_rig(0x1fffe);

	(void)state;
	make_wqe(3);
	assert_int_equal(post_raw(rig, 2), 0);
	check_bytes(rig_sq(rig, 0x1fffe), "01fffe0a 12345603 0000000c 55667788" DATA DATA);
	check_bytes(rig_sq(rig, 0x1ffff), "01ffff0a 12345603 0000000c 55667788" DATA DATA);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	rig_free(rig);
}

static void it_goes_on_at_the_start_of_the_ring(void **state)
{
	struct rig *rig = raw_rig(3);

	(void)state;
	make_wqe(6);
	assert_int_equal(post_raw(rig, 1), 0);
	check_bytes(rig_sq(rig, 3), "0100030a 12345606 0000000c 55667788" DATA DATA DATA);
	check_bytes(rig_sq(rig, 4), DATA DATA);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 5);
	rig_free(rig);
}

static void one_that_has_no_room_ends_the_batch(void **state)
{
	struct rig *rig = raw_rig(0);

	(void)state;
	make_wqe(3);
	assert_int_equal(post_raw(rig, 3), ENOMEM);
	make_wqe(1);
	wqe[1] = htobe32(RIG_QPN << 8);
	assert_int_equal(post_raw(rig, 1), ENOMEM);
	wqe[1] = htobe32(RIG_QPN << 8 | 0x3f);
	assert_int_equal(post_raw(rig, 1), ENOMEM);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	assert_int_equal(rig->qp->sq.pi, 0);
	rig_free(rig);
}

static void none_is_posted_before_rts(void **state)
{
	struct rig *rig = raw_rig(0);

	(void)state;
	make_wqe(2);
	rig->qp->sq.sge_limit = 0;
	rig->qp->sq.opcodes = 0;
	assert_int_equal(post_raw(rig, 1), EINVAL);
	rig_free(rig);
}

static void it_waits_for_a_umr_before_it(void **state)
{
	struct rig *rig = raw_rig(0);

	(void)state;
	make_wqe(2);
	gate_shut(rig->qp);
	assert_int_equal(post_raw(rig, 2), 0);
	check_bytes(rig_sq(rig, 0) + 8, "0000002c");
	check_bytes(rig_sq(rig, 1) + 8, "0000000c");
	rig_free(rig);
}

static void its_completion_says_that_it_was_raw(void **state)
{
	struct rig_cqe cqe = { .opcode = MLX5_CQE_REQ, .send_opcode = MLX5_OPCODE_SEND };
	struct rig *rig = raw_rig(0);
	struct ibv_wc wc;

	(void)state;
	make_wqe(2);
	assert_int_equal(post_raw(rig, 1), 0);
	rig_complete(rig, &cqe);
	assert_int_equal(mlx5_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.opcode, IBV_WC_DRIVER2);
	assert_int_equal(wc.wr_id, 77);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_but_index_and_signature_is_the_programs),
		cmocka_unit_test(it_goes_on_at_the_start_of_the_ring),
		cmocka_unit_test(one_that_has_no_room_ends_the_batch),
		cmocka_unit_test(none_is_posted_before_rts),
		cmocka_unit_test(it_waits_for_a_umr_before_it),
		cmocka_unit_test(its_completion_says_that_it_was_raw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
