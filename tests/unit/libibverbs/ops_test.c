/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of operations: the provider's own functions are reached through the public slots, and
 * the missing ones fail with an error.
 *
 * Covers: libibverbs/ops.c, libibverbs/driver.h
 */
#include "unit.h"

#include "fake_device.h"

#include <errno.h>

static int open_fake(void **state)
{
	*state = fake_open();
	return 0;
}

static int close_fake(void **state)
{
	fake_close(*state);
	return 0;
}

static void missing_operations_are_not_supported(void **state)
{
	struct fake_context *fake = *state;
	struct ibv_context *context = &fake->vctx.context;
	struct ibv_pd pd = { .context = context };
	struct ibv_cq cq = { .context = context };
	struct ibv_qp qp = { .context = context };
	struct ibv_srq_init_attr srq = {};

	errno = 0;
	assert_null(ibv_alloc_pd(context));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_create_srq(&pd, &srq));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_alloc_mw(&pd, IBV_MW_TYPE_1));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(ibv_resize_cq(&cq, 1), EOPNOTSUPP);
	assert_int_equal(ibv_req_notify_cq(&cq, 0), EOPNOTSUPP);
	assert_true(ibv_poll_cq(&cq, 1, NULL) < 0);
	assert_int_equal(ibv_query_qp_data_in_order(&qp, IBV_WR_RDMA_WRITE, 0), 0);
}

static int my_poll(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq;
	(void)wc;
	return num_entries;
}

static int my_advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge)
{
	(void)pd;
	(void)advice;
	(void)flags;
	(void)sg_list;
	return (int)num_sge;
}

static void operations_reach_their_public_slots(void **state)
{
	struct fake_context *fake = *state;
	struct ibv_context *context = &fake->vctx.context;
	const struct verbs_ops ops = { .poll_cq = my_poll, .advise_mr = my_advise };
	struct ibv_cq cq = { .context = context };
	struct ibv_pd pd = { .context = context };

	verbs_set_ops(&fake->vctx, &ops);
	assert_ptr_equal(context->ops.poll_cq, my_poll);
	assert_int_equal(ibv_poll_cq(&cq, 5, NULL), 5);
	assert_int_equal(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 3), 3);
	assert_int_equal(ibv_req_notify_cq(&cq, 0), EOPNOTSUPP);
}

static int full_answer(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
		       struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context;
	(void)input;
	assert_int_equal(attr_size, sizeof(*attr));
	memset(attr, 0x5a, sizeof(*attr));
	return 0;
}

static void query_device_ex_fits_the_callers_struct(void **state)
{
	struct fake_context *fake = *state;
	struct ibv_context *context = &fake->vctx.context;
	const struct verbs_ops ops = { .query_device_ex = full_answer };
	struct {
		struct ibv_device_attr_ex attr;
		char beyond[16];
	} room = {};
	struct ibv_query_device_ex_input input = { .comp_mask = 1 };
	const size_t old = offsetof(struct ibv_device_attr_ex, tso_caps);

	verbs_set_ops(&fake->vctx, &ops);
	assert_int_equal(fake->vctx.query_device_ex(context, NULL, &room.attr, old), 0);
	assert_int_equal(room.attr.device_cap_flags_ex, 0x5a5a5a5a5a5a5a5aull);
	assert_int_equal(room.attr.tso_caps.max_tso, 0);
	room.beyond[0] = 1;
	assert_int_equal(fake->vctx.query_device_ex(context, NULL, &room.attr, sizeof(room)), 0);
	assert_int_equal(room.beyond[0], 0);
	assert_int_equal(fake->vctx.query_device_ex(context, &input, &room.attr, sizeof(room.attr)),
			 EINVAL);
}

/* The default operation returns the number that the provider stored, if any. */
static void an_srq_number_is_the_stored_one(void **state)
{
	static const struct verbs_ops none;
	struct fake_context *fake = *state;
	struct verbs_srq vsrq = { .srq = { .context = &fake->vctx.context } };
	uint32_t number = 5;

	verbs_set_ops(&fake->vctx, &none);
	errno = 0;
	assert_int_equal(ibv_get_srq_num(&vsrq.srq, &number), EOPNOTSUPP);
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(number, 5);
	vsrq.srq_num = 0x123456;
	assert_int_equal(ibv_get_srq_num(&vsrq.srq, &number), 0);
	assert_int_equal(number, 0x123456);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(missing_operations_are_not_supported, open_fake,
						close_fake),
		cmocka_unit_test_setup_teardown(operations_reach_their_public_slots, open_fake,
						close_fake),
		cmocka_unit_test_setup_teardown(query_device_ex_fits_the_callers_struct, open_fake,
						close_fake),
		cmocka_unit_test_setup_teardown(an_srq_number_is_the_stored_one, open_fake,
						close_fake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
