/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_test.c - what an SRQ may ask for, the ring that it gets, and the receives that it refuses.
 */
#include "rig.h"

#include <errno.h>

#include "tests/unit/log_text.h"

#include "providers/mlx4/srq.h"

enum { MAX_WR = 1024, MAX_SGE = 31 }; /* the limits of the rig's device */

static bool has_no_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) __attribute__((visibility("default")));

void *__wrap_calloc(size_t count, size_t size)
{
	return has_no_memory ? NULL : __real_calloc(count, size);
}

static int create_srq(struct rig *rig, uint32_t max_wr, uint32_t max_sge, struct verbs_srq **srq)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = max_wr, .max_sge = max_sge },
					     .comp_mask = IBV_SRQ_INIT_ATTR_PD,
					     .pd = &rig->pd.pd };
	int ret = mlx4_srq_create(&rig->ctx->vctx.context, &attr, srq);

	if (!ret)
		assert_int_equal(attr.attr.max_wr, to_msrq(&(*srq)->srq)->wqes - 1);
	return ret;
}

static void each_limit_is_one_of_its_own(void **state)
{
	static const struct {
		uint32_t max_wr, max_sge;
		int err;
	} rows[] = {
		{ MAX_WR, MAX_SGE, 0 },
		{ MAX_WR + 1, MAX_SGE, EINVAL },
		{ MAX_WR, MAX_SGE + 1, EINVAL },
		{ MAX_WR + 1, 1, EINVAL },
		{ 1, MAX_SGE + 1, EINVAL },
		{ UINT32_MAX, UINT32_MAX, EINVAL },
		{ 0, 0, 0 },
	};
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *srq;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(create_srq(rig, rows[i].max_wr, rows[i].max_sge, &srq),
				 rows[i].err);
		if (!rows[i].err)
			assert_int_equal(mlx4_srq_destroy(&srq->srq), 0);
	}
	rig_free(rig);
}

static void an_srq_without_memory_is_none(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *srq;

	(void)state;
	has_no_memory = true;
	log_text();
	assert_int_equal(create_srq(rig, 1, 1, &srq), ENOMEM);
	check_logged("create_srq: no memory");
	has_no_memory = false;
	rig_free(rig);
}

static void a_type_that_the_adapter_lacks_is_refused(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = IBV_SRQT_TM,
		.pd = &rig->pd.pd,
	};
	struct verbs_srq *srq;

	(void)state;
	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &srq), EOPNOTSUPP);
	/* without the flag of a type, so the type counts for nothing */
	attr.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &srq), 0);
	assert_int_equal(mlx4_srq_destroy(&srq->srq), 0);
	attr.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE;
	attr.srq_type = IBV_SRQT_BASIC;
	assert_int_equal(mlx4_srq_create(&rig->ctx->vctx.context, &attr, &srq), 0);
	assert_int_equal(mlx4_srq_destroy(&srq->srq), 0);
	rig_free(rig);
}

/* One WQE is never posted, as it ends the list, and a WQE is a power of two of segments, the first
 * of which links it. */
static void a_ring_has_room_for_what_was_asked(void **state)
{
	static const struct {
		uint32_t max_wr, max_sge, wqes, stride_log, has_sge;
	} rows[] = {
		{ 0, 0, 1, 5, 1 },   { 1, 1, 2, 5, 1 },       { 3, 2, 4, 6, 3 },
		{ 4, 3, 8, 6, 3 },   { 1023, 4, 1024, 7, 7 }, { 7, 7, 8, 7, 7 },
		{ 8, 8, 16, 8, 15 }, { 1, 31, 2, 9, 31 },
	};
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *vsrq;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct mlx4_srq *srq;

		assert_int_equal(create_srq(rig, rows[i].max_wr, rows[i].max_sge, &vsrq), 0);
		srq = to_msrq(&vsrq->srq);
		assert_int_equal((uintptr_t)srq % CACHE_LINE, 0);
		assert_int_equal(srq->wqes, rows[i].wqes);
		assert_int_equal(srq->stride_log, rows[i].stride_log);
		assert_int_equal(srq->max_sge, rows[i].has_sge);
		assert_int_equal(vsrq->ring_wr, rows[i].wqes - 1);
		assert_int_equal(vsrq->ring_sge, rows[i].has_sge);
		assert_int_equal(mlx4_srq_destroy(&vsrq->srq), 0);
	}
	rig_free(rig);
}

static int post_receive(struct verbs_srq *srq, int num_sge)
{
	struct ibv_sge sges[4] = { { .addr = 0x1000, .length = 8, .lkey = 5 } };
	struct ibv_recv_wr wr = { .wr_id = 0x77, .sg_list = sges, .num_sge = num_sge }, *bad = NULL;
	int ret = mlx4_post_srq_recv(&srq->srq, &wr, &bad);

	assert_ptr_equal(bad, ret ? &wr : NULL);
	return ret;
}

static void a_refused_receive_is_named_with_srq_and_limit(void **state)
{
	struct rig *rig = rig_new(NULL);
	struct verbs_srq *srq;
	char text[128];
	uint32_t srqn;

	(void)state;
	assert_int_equal(create_srq(rig, 3, 3, &srq), 0);
	srqn = to_msrq(&srq->srq)->srqn;
	assert_true(srqn >= RIG_SRQN);
	log_text();
	assert_int_equal(post_receive(srq, 4), EINVAL);
	snprintf(text, sizeof(text), "srq 0x%x, wr_id 0x77: num_sge is 4, limit 3", srqn);
	check_logged(text);
	for (int i = 0; i < 3; i++)
		assert_int_equal(post_receive(srq, i + 1), 0);
	assert_int_equal(post_receive(srq, 1), ENOMEM);
	snprintf(text, sizeof(text), "srq 0x%x, wr_id 0x77: the queue is full, limit 3", srqn);
	check_logged(text);
	assert_int_equal(mlx4_srq_destroy(&srq->srq), 0);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_limit_is_one_of_its_own),
		cmocka_unit_test(an_srq_without_memory_is_none),
		cmocka_unit_test(a_type_that_the_adapter_lacks_is_refused),
		cmocka_unit_test(a_ring_has_room_for_what_was_asked),
		cmocka_unit_test(a_refused_receive_is_named_with_srq_and_limit),
	};

	log_to_memory();
	return RIG_RUN(tests);
}
