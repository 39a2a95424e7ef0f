/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send_wr_refusals_test.c - refused batches of ibv_wr_*(): the errno of each refusal; the queue
 * stays as it was, and the next batch is posted.
 *
 * Covers: providers/mlx5/data/send_wr.c, providers/mlx5/data/send_wr_raw.c,
 * providers/mlx5/data/send_wr_dv.c, providers/mlx5/data/batch.h
 */
#include "rig.h"

#include <errno.h>

#include "providers/mlx5/data/umr.h"
#include "util/bits.h"

enum { MAX_WR = 4, MAX_SGE = 2, MAX_INLINE = 32, HEADER = 18 };

static uint8_t data[256];
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
	for (unsigned int i = 0; i <= MAX_WR; i++)
		send_once(qpx);
}

static void more_than_max_send_sge(struct ibv_qp_ex *qpx)
{
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, MAX_SGE + 1, sges);
}

/* The inline header of a frame counts as well. */
static void more_than_max_inline_data(struct ibv_qp_ex *qpx)
{
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, data, sizeof(data));
}

static void more_than_max_inline_data_in_two(struct ibv_qp_ex *qpx)
{
	const struct ibv_data_buf bufs[] = { { data, MAX_INLINE }, { data, sizeof(data) } };

	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, ARRAY_SIZE(bufs), bufs);
}

/* The sum wraps to 16 where 32 bits hold it, so a check that adds in 32 bits would let it pass. */
static void more_than_four_gigabytes_in_two(struct ibv_qp_ex *qpx)
{
	const struct ibv_data_buf bufs[] = { { data, 0xfffffff0 }, { data, 0x20 } };

	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, ARRAY_SIZE(bufs), bufs);
}

static void two_errors(struct ibv_qp_ex *qpx)
{
	more_than_max_send_sge(qpx);
	ibv_wr_bind_mw(qpx, NULL, 0, NULL);
	send_once(qpx);
}

static void checksums_without_the_device(struct ibv_qp_ex *qpx)
{
	qpx->wr_flags = IBV_SEND_IP_CSUM;
	send_once(qpx);
}

static void an_operation_that_was_not_asked_for(struct ibv_qp_ex *qpx)
{
	ibv_wr_rdma_read(qpx, 1, 0x1000);
	ibv_wr_set_sge_list(qpx, 1, sges);
}

static const struct refusal {
	enum ibv_qp_type type;
	void (*put)(struct ibv_qp_ex *qpx);
	int err;
} refusals[] = {
	{ IBV_QPT_RC, more_than_max_send_wr, ENOMEM },
	{ IBV_QPT_RC, more_than_max_send_sge, ENOMEM },
	{ IBV_QPT_RC, more_than_max_inline_data, ENOMEM },
	{ IBV_QPT_RC, more_than_max_inline_data_in_two, ENOMEM },
	{ IBV_QPT_RC, more_than_four_gigabytes_in_two, ENOMEM },
	{ IBV_QPT_RC, an_operation_that_was_not_asked_for, EINVAL },
	{ IBV_QPT_UC, more_than_max_send_wr, ENOMEM },
	{ IBV_QPT_UC, more_than_max_send_sge, ENOMEM },
	{ IBV_QPT_RAW_PACKET, more_than_max_send_wr, ENOMEM },
	{ IBV_QPT_RAW_PACKET, more_than_max_send_sge, ENOMEM },
	{ IBV_QPT_RAW_PACKET, more_than_max_inline_data, ENOMEM },
	{ IBV_QPT_RAW_PACKET, more_than_max_inline_data_in_two, ENOMEM },
	{ IBV_QPT_RAW_PACKET, checksums_without_the_device, EINVAL },
	{ IBV_QPT_RC, two_errors, ENOMEM },
};

static struct rig *narrow_rig(enum ibv_qp_type type)
{
	struct rig *rig = rig_new(&(struct rig_options){ .type = type,
							 .sq_wqebbs = 16,
							 .max_send = MAX_WR,
							 .send_sge = MAX_SGE,
							 .max_inline = MAX_INLINE });

	rig->qp->min_header = type == IBV_QPT_RAW_PACKET ? HEADER : 0;
	rig->qp->opcodes &= (uint16_t) ~(1u << IBV_WR_RDMA_READ);
	rig->qp->sq.opcodes &= (uint16_t) ~(1u << IBV_WR_RDMA_READ);
	return rig;
}

/* After the refusal, a batch of the queue's full size must fit, as the refused one must give back
 * its slots. */
static void queue_fill(struct rig *rig)
{
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(qpx);
	for (uint32_t i = 0; i < MAX_WR; i++)
		send_once(qpx);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(rig->qp->sq.wq.head, MAX_WR);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), rig->qp->sq.pi);
}

static void a_refused_batch_leaves_the_queue_as_it_was(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct rig *rig = narrow_rig(refusals[i].type);
		struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_start(qpx);
		send_once(qpx);
		refusals[i].put(qpx);
		assert_int_equal(ibv_wr_complete(qpx), refusals[i].err);
		assert_int_equal(rig->qp->sq.wq.head, 0);
		assert_int_equal(rig->qp->sq.pi, 0);
		assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
		queue_fill(rig);
		rig_free(rig);
	}
}

static void no_operation_is_begun_before_rts(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_RAW_PACKET };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct rig *rig = narrow_rig(types[i]);
		struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

		sq_permit(&rig->qp->sq, false);
		rig->qp->sq.opcodes = 0;
		ibv_wr_start(qpx);
		send_once(qpx);
		assert_int_equal(ibv_wr_complete(qpx), EINVAL);
		assert_int_equal(rig->qp->sq.wq.head, 0);
		assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
		rig_free(rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_batch_leaves_the_queue_as_it_was),
		cmocka_unit_test(no_operation_is_begun_before_rts),
	};

	return cmocka_run_group_tests(tests, sges_fill, NULL);
}
