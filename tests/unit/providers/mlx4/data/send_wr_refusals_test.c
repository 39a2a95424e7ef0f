/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_refusals_test.c - refused batches of ibv_wr_*(): the errno of each refusal; the queue
 * stays as it was, and the next batch is posted.
 *
 * Covers: providers/mlx4/data/send_wr.c
 */
#include "rig.h"

#include <errno.h>

#include "util/bits.h"

enum { MAX_WR = 4, MAX_SGE = 2, MAX_INLINE = 32 };

static uint8_t data[64];
static struct ibv_sge sges[MAX_SGE + 1];

/* Filled here: an address is no constant initializer where pointers have 32 bits. */
static int sges_fill(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= MAX_SGE; i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)data, i ? 8 : 40, i + 1 };
	return 0;
}

static void send_once(struct ibv_qp_ex *qpx)
{
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
}

static void more_than_max_send_wr(struct ibv_qp_ex *qpx)
{
	for (uint32_t i = 0; i < to_mqp_ex(qpx)->sq.wq.max_post; i++)
		send_once(qpx);
}

static void more_than_max_send_sge(struct ibv_qp_ex *qpx)
{
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, MAX_SGE + 1, sges);
}

static void more_than_max_inline_data(struct ibv_qp_ex *qpx)
{
	ibv_wr_rdma_write(qpx, 1, 0x1000);
	ibv_wr_set_inline_data(qpx, data, MAX_INLINE + 1);
}

static void more_than_max_inline_data_in_two(struct ibv_qp_ex *qpx)
{
	const struct ibv_data_buf bufs[] = { { data, MAX_INLINE }, { data, 1 } };

	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, ARRAY_SIZE(bufs), bufs);
}

static void two_errors(struct ibv_qp_ex *qpx)
{
	more_than_max_send_sge(qpx);
	qpx->wr_flags = IBV_SEND_IP_CSUM;
	send_once(qpx);
}

static void checksums_without_the_device(struct ibv_qp_ex *qpx)
{
	qpx->wr_flags = IBV_SEND_IP_CSUM;
	send_once(qpx);
}

static const struct {
	enum ibv_qp_type type;
	void (*put)(struct ibv_qp_ex *qpx);
	int err;
} refusals[] = {
	{ IBV_QPT_RC, more_than_max_send_wr, ENOMEM },
	{ IBV_QPT_RC, more_than_max_send_sge, ENOMEM },
	{ IBV_QPT_RC, more_than_max_inline_data, ENOMEM },
	{ IBV_QPT_RC, more_than_max_inline_data_in_two, ENOMEM },
	{ IBV_QPT_RC, two_errors, ENOMEM },
	{ IBV_QPT_RAW_PACKET, checksums_without_the_device, EINVAL },
};

/* After the refusal, a batch of the queue's full size must fit, as the refused one must give back
 * its slots. */
static void queue_fill(struct rig *rig)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	for (uint32_t i = 0; i < rig->qp->sq.wq.max_post; i++)
		send_once(qpx);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(rig->qp->sq.wq.head, rig->qp->sq.wq.max_post);
}

static void a_refused_batch_leaves_the_queue_as_it_was(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct rig_options options = { .type = refusals[i].type,
						     .send_wr = MAX_WR,
						     .send_sge = MAX_SGE,
						     .max_inline = MAX_INLINE };
		struct rig *rig = rig_new(&options);
		struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

		rig->qp->sq.max_sge = MAX_SGE;
		rig->qp->sq.max_inline = MAX_INLINE;
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_start(qpx);
		send_once(qpx);
		refusals[i].put(qpx);
		assert_int_equal(ibv_wr_complete(qpx), refusals[i].err);
		assert_int_equal(rig->qp->sq.wq.head, 0);
		queue_fill(rig);
		rig_free(rig);
	}
}

static void no_operation_is_begun_before_rts(void **state)
{
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
	struct rig *rig = rig_new(&(struct rig_options){ .type = IBV_QPT_RC });
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	assert_int_equal(mlx4_qp_modify(&rig->qp->vqp.qp, &reset, IBV_QP_STATE), 0);
	ibv_wr_start(qpx);
	send_once(qpx);
	assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	ibv_wr_start(qpx);
	ibv_wr_rdma_read(qpx, 1, 0x1000);
	ibv_wr_set_sge_list(qpx, 1, sges);
	assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	assert_int_equal(rig->qp->sq.wq.head, 0);
	rig_free(rig);
}

/* Setters without a builder post nothing, as there is no WQE to complete; later batches work. */
static void a_setter_without_a_builder_writes_nothing(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
						  IBV_QPT_RAW_PACKET };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct rig *rig = rig_new(&(struct rig_options){ .type = types[i] });
		struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
		const struct ibv_data_buf buf = { data, 8 };

		ibv_wr_start(qpx);
		if (types[i] == IBV_QPT_UD)
			ibv_wr_set_ud_addr(qpx, NULL, 1, 2);
		if (types[i] == IBV_QPT_XRC_SEND)
			ibv_wr_set_xrc_srqn(qpx, 1);
		ibv_wr_set_sge(qpx, 1, (uintptr_t)data, 8);
		ibv_wr_set_sge_list(qpx, 1, sges);
		ibv_wr_set_inline_data(qpx, data, 8);
		ibv_wr_set_inline_data_list(qpx, 1, &buf);
		assert_int_equal(ibv_wr_complete(qpx), 0);
		assert_int_equal(rig->qp->sq.wq.head, 0);
		assert_int_equal(fld_get(rig_slot(rig, 0), M4_CTRL_OWNER), 1);
		rig_free(rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_batch_leaves_the_queue_as_it_was),
		cmocka_unit_test(no_operation_is_begun_before_rts),
		cmocka_unit_test(a_setter_without_a_builder_writes_nothing),
	};

	return cmocka_run_group_tests(tests, sges_fill, NULL);
}
