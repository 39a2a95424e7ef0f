/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq_test.c - receive work queues: what one may ask for, what its ring is, and that a reset leaves
 * it empty and in use.
 */
#include "rig.h"

#include <errno.h>
#include <string.h>

#include "prm/mlx4/cqe.h"
#include "prm/mlx4/wqe.h"
#include "providers/mlx4/wq.h"

enum { MAX_WR = (1 << 14) - 33, MAX_SGE = 32, WQN = 0x4711 };

static int refusal; /* of the next command */
static struct mlx4_ib_create_wq created;
static struct ibv_wq_init_attr granted;

int verbs_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
			struct ibv_wq *wq, const struct verbs_udata *udata)
{
	memcpy(&created, udata->req, sizeof(created));
	granted = *attr;
	wq->context = context;
	wq->cq = attr->cq;
	wq->wq_num = WQN;
	return refusal;
}

int verbs_cmd_modify_wq(struct ibv_wq *wq, const struct ibv_wq_attr *attr,
			const struct verbs_udata *udata)
{
	(void)wq;
	(void)attr;
	(void)udata;
	return refusal;
}

int verbs_cmd_destroy_wq(struct ibv_wq *wq)
{
	(void)wq;
	return refusal;
}

static struct ibv_wq_init_attr attr_of(struct rig *rig, uint32_t max_wr, uint32_t max_sge)
{
	return (struct ibv_wq_init_attr){ .wq_type = IBV_WQT_RQ,
					  .max_wr = max_wr,
					  .max_sge = max_sge,
					  .pd = &rig->pd.pd,
					  .cq = &rig->cq->vcq.cq };
}

static struct ibv_wq *make_wq(struct rig *rig, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_wq_init_attr attr = attr_of(rig, max_wr, max_sge);
	struct ibv_wq *wq = mlx4_wq_create(&rig->ctx->vctx.context, &attr);

	assert_non_null(wq);
	return wq;
}

static int post_receive(struct ibv_wq *wq, uint64_t wr_id)
{
	struct ibv_sge sge = { .addr = 0x1000, .length = 8, .lkey = 5 };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return wq->post_recv(wq, &wr, &bad);
}

static void receive_complete(struct rig *rig, uint16_t index)
{
	rig_complete(rig, &(struct rig_cqe){ .opcode = M4_RECV_SEND,
					     .qpn = WQN,
					     .wqe_index = index,
					     .byte_count = 8 });
}

static int wq_is_refused(struct rig *rig, struct ibv_wq_init_attr attr)
{
	errno = 0;
	assert_null(mlx4_wq_create(&rig->ctx->vctx.context, &attr));
	return errno;
}

static void what_the_adapter_lacks_is_refused(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wq_init_attr attr = attr_of(rig, 4, 1);

	(void)state;
	attr.wq_type = IBV_WQT_RQ + 1;
	assert_int_equal(wq_is_refused(rig, attr), EOPNOTSUPP);
	attr = attr_of(rig, 4, 1);
	attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS << 1;
	assert_int_equal(wq_is_refused(rig, attr), EOPNOTSUPP);
	attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	attr.create_flags = IBV_WQ_FLAGS_SCATTER_FCS | IBV_WQ_FLAGS_CVLAN_STRIPPING;
	assert_int_equal(wq_is_refused(rig, attr), EOPNOTSUPP);
	assert_int_equal(wq_is_refused(rig, attr_of(rig, MAX_WR + 1, 1)), EINVAL);
	assert_int_equal(wq_is_refused(rig, attr_of(rig, 1, MAX_SGE + 1)), EINVAL);
	refusal = EPERM;
	assert_int_equal(wq_is_refused(rig, attr_of(rig, 1, 1)), EPERM);
	refusal = 0;
	rig_free(rig);
}

static void flags_count_only_if_the_mask_has_them(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wq_init_attr attr = attr_of(rig, MAX_WR, MAX_SGE);
	struct ibv_wq *wq;

	(void)state;
	attr.create_flags = UINT32_MAX;
	wq = mlx4_wq_create(&rig->ctx->vctx.context, &attr);
	assert_non_null(wq);
	assert_int_equal(attr.max_wr, MAX_WR);
	assert_int_equal(attr.max_sge, MAX_SGE);
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	attr.create_flags = IBV_WQ_FLAGS_SCATTER_FCS;
	wq = mlx4_wq_create(&rig->ctx->vctx.context, &attr);
	assert_non_null(wq);
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	rig_free(rig);
}

/* Only the first WQ of a range asks for it, as the kernel reserves the numbers of all at once. */
static void a_range_of_numbers_is_asked_for_once(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wq *wq;

	(void)state;
	rig->ctx->log_wqs_range = 3;
	refusal = ENOMEM;
	assert_int_equal(wq_is_refused(rig, attr_of(rig, 1, 1)), ENOMEM);
	refusal = 0;
	wq = make_wq(rig, 1, 1);
	assert_int_equal(created.log_range_size, 3);
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	wq = make_wq(rig, 1, 1);
	assert_int_equal(created.log_range_size, 0);
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	rig_free(rig);
}

static void a_ring_lies_beside_a_send_slot_that_is_not_posted(void **state)
{
	static const struct {
		uint32_t max_wr, max_sge, wqes, has_sge;
		size_t ring_at, slot_at;
	} rows[] = {
		{ 0, 0, 1, 1, 64, 0 },
		{ 3, 2, 4, 2, 64, 0 },
		{ 4, 4, 4, 4, 64, 0 },
		{ 5, 5, 8, 8, 0, 8 * 8 * 16 },
		{ 2, 32, 2, 32, 0, 2 * 32 * 16 },
	};
	struct rig *rig = rig_new(NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibv_wq *wq = make_wq(rig, rows[i].max_wr, rows[i].max_sge);
		const struct mlx4_qp *qp = mlx4_wq_queue(wq);
		const uint8_t *buf = qp->buf.addr;

		assert_int_equal(qp->rq.wq.mask, rows[i].wqes - 1);
		assert_int_equal(qp->rq.max_sge, rows[i].has_sge);
		assert_int_equal(qp->rq.buf - buf, rows[i].ring_at);
		assert_int_equal(buf[rows[i].slot_at], 0x80);
		assert_int_equal(created.buf_addr, (uintptr_t)buf);
		assert_int_equal(created.db_addr, (uintptr_t)qp->rq.dbrec);
		assert_int_equal(granted.max_wr, rows[i].max_wr ? rows[i].max_wr : 1);
		assert_int_equal(granted.max_sge, rows[i].max_sge ? rows[i].max_sge : 1);
		for (uint32_t n = 0; n < rows[i].wqes; n++)
			assert_int_equal(post_receive(wq, n), 0);
		assert_int_equal(post_receive(wq, 0), ENOMEM);
		assert_int_equal(mlx4_wq_destroy(wq), 0);
	}
	rig_free(rig);
}

static void frames_complete_in_the_wq(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wq *wq = make_wq(rig, 2, 1);
	struct ibv_wc wc;

	(void)state;
	for (uint16_t i = 0; i < 5; i++) {
		assert_int_equal(post_receive(wq, 100 + i), 0);
		receive_complete(rig, i);
		assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
		assert_int_equal(wc.wr_id, 100 + i);
		assert_int_equal(wc.qp_num, WQN);
	}
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	rig_free(rig);
}

static void set_state(struct ibv_wq *wq, uint32_t mask, enum ibv_wq_state state, int err)
{
	struct ibv_wq_attr attr = { .attr_mask = mask, .wq_state = state };

	refusal = err;
	assert_int_equal(mlx4_wq_modify(wq, &attr), err);
	refusal = 0;
}

static void a_reset_wq_is_empty_and_takes_receives(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wq *wq = make_wq(rig, 2, 1);
	const struct mlx4_qp *qp = mlx4_wq_queue(wq);
	struct ibv_wc wc;

	(void)state;
	for (int lap = 0; lap < 2; lap++) {
		assert_int_equal(post_receive(wq, 1), 0);
		assert_int_equal(post_receive(wq, 2), 0);
		assert_int_equal(post_receive(wq, 3), ENOMEM);
		assert_int_equal(be32toh(*qp->rq.dbrec), 2);
		receive_complete(rig, 0);
		set_state(wq, IBV_WQ_ATTR_STATE, IBV_WQS_RESET, 0);
		assert_int_equal(*qp->rq.dbrec, 0);
		assert_int_equal(qp->rq.wq.head | qp->rq.wq.tail, 0);
		assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 0);
	}
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	rig_free(rig);
}

static void other_changes_leave_the_receives(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wq *wq = make_wq(rig, 2, 1);
	const struct mlx4_qp *qp = mlx4_wq_queue(wq);

	(void)state;
	assert_int_equal(post_receive(wq, 1), 0);
	set_state(wq, IBV_WQ_ATTR_STATE, IBV_WQS_RDY, 0);
	set_state(wq, IBV_WQ_ATTR_CURR_STATE, IBV_WQS_RESET, 0);
	set_state(wq, IBV_WQ_ATTR_STATE, IBV_WQS_RESET, EINVAL);
	assert_int_equal(be32toh(*qp->rq.dbrec), 1);
	assert_int_equal(qp->rq.wq.head, 1);
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	rig_free(rig);
}

static void a_destroyed_wq_takes_its_completions_along(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wq *wq = make_wq(rig, 2, 1);
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(post_receive(wq, 7), 0);
	receive_complete(rig, 0);
	refusal = EBUSY;
	assert_int_equal(mlx4_wq_destroy(wq), EBUSY);
	refusal = 0;
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(post_receive(wq, 8), 0);
	receive_complete(rig, 1);
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	assert_int_equal(mlx4_poll_cq(&rig->cq->vcq.cq, 1, &wc), 0);
	rig_free(rig);
}

/* The next WQ gets the memory of one that is gone, or that the kernel refused, so none leaks. */
static void a_wq_gives_its_memory_back(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_wq *wq = make_wq(rig, 2, 1);
	const void *buf = mlx4_wq_queue(wq)->buf.addr, *dbrec = mlx4_wq_queue(wq)->rq.dbrec;

	(void)state;
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	refusal = EPERM;
	assert_int_equal(wq_is_refused(rig, attr_of(rig, 2, 1)), EPERM);
	refusal = 0;
	wq = make_wq(rig, 2, 1);
	assert_ptr_equal(mlx4_wq_queue(wq)->buf.addr, buf);
	assert_ptr_equal(mlx4_wq_queue(wq)->rq.dbrec, dbrec);
	assert_int_equal(mlx4_wq_destroy(wq), 0);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_adapter_lacks_is_refused),
		cmocka_unit_test(flags_count_only_if_the_mask_has_them),
		cmocka_unit_test(a_range_of_numbers_is_asked_for_once),
		cmocka_unit_test(a_ring_lies_beside_a_send_slot_that_is_not_posted),
		cmocka_unit_test(frames_complete_in_the_wq),
		cmocka_unit_test(a_reset_wq_is_empty_and_takes_receives),
		cmocka_unit_test(other_changes_leave_the_receives),
		cmocka_unit_test(a_destroyed_wq_takes_its_completions_along),
		cmocka_unit_test(a_wq_gives_its_memory_back),
	};

	return RIG_RUN(tests);
}
