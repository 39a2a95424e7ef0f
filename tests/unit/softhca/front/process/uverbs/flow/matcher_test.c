/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * matcher_test.c - matchers: what a program describes, the table that type or flags name, and what
 * is refused.
 */
#include <errno.h>
#include <string.h>

#include "attrs.h"
#include "softhca/front/process/uverbs/flow/matcher.c"

enum { PRIORITY = 0x1234, CRITERIA = 0x15, REFUSED = EDOM };

static struct {
	uint64_t flags;
	int flags_error;
} it;

int uc_flags(struct uverbs_call *uc, uint16_t id, uint64_t allowed, uint64_t *flags)
{
	assert_ptr_equal(uc, &rig.call);
	assert_int_equal(id, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS);
	assert_int_equal(allowed, 1 << 2);
	*flags = it.flags;
	return it.flags_error;
}

static int matcher_begin(void **state)
{
	const uint16_t priority = PRIORITY;
	const uint8_t criteria = CRITERIA;
	uint8_t mask[STEERING_MATCH_SIZE];

	rig_begin(state);
	memset(&it, 0, sizeof(it));
	memset(mask, 0x5a, sizeof(mask));
	rig_in(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, mask, sizeof(mask));
	rig_in(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, &priority, sizeof(priority));
	rig_in(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &criteria, sizeof(criteria));
	uc_attr(&rig.call, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE)->attr_data.enum_data.elem_id =
		MLX5_IB_FLOW_TYPE_MC_DEFAULT;
	return 0;
}

static struct uverbs_matcher *matcher_made(void)
{
	const uint16_t handle = MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE;

	assert_int_equal(matcher_create(&rig.call), 0);
	return (struct uverbs_matcher *)
		rig.objects[*(const uint32_t *)rig_out(handle, sizeof(uint32_t))];
}

static void a_matcher_keeps_what_it_is_told(void **state)
{
	struct uverbs_matcher *matcher = matcher_made();

	(void)state;
	assert_int_equal(matcher->type, MLX5_IB_FLOW_TYPE_MC_DEFAULT);
	assert_int_equal(matcher->priority, PRIORITY);
	assert_int_equal(matcher->match.criteria, CRITERIA);
	for (unsigned int i = 0; i < STEERING_MATCH_SIZE; i++) {
		assert_int_equal(matcher->match.mask[i], 0x5a);
		assert_int_equal(matcher->match.value[i], 0);
	}
	rig_in_object(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, &matcher->base);
	assert_int_equal(matcher_remove(&rig.call), 0);
	assert_int_equal(rig.freed, 1);
}

static void flags_choose_the_table_of_sends(void **state)
{
	(void)state;
	assert_int_equal(matcher_made()->table_type, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX);
	it.flags = 1 << 2;
	assert_int_equal(matcher_made()->table_type, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX);
	it.flags_error = REFUSED;
	assert_int_equal(matcher_create(&rig.call), REFUSED);
	assert_int_equal(rig.made, 3);
	assert_int_equal(rig.freed, 1);
}

static int make_in(uint64_t type)
{
	rig_in(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, &type, sizeof(type));
	return matcher_create(&rig.call);
}

static void a_type_chooses_the_table(void **state)
{
	static const uint32_t types[] = { MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX,
					  MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX,
					  MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX,
					  MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX };
	uint64_t type;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		type = types[i];
		rig_in(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, &type, sizeof(type));
		assert_int_equal(matcher_made()->table_type, types[i]);
	}
	assert_int_equal(make_in(MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB), EINVAL);
	assert_int_equal(make_in(MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX + 1), EINVAL);
	assert_int_equal(make_in(1ull << 32), EINVAL);
	rig.in_refused = MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE;
	assert_int_equal(make_in(MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX), EFAULT);
	rig.in_refused = UINT16_MAX;
	rig_in(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, &type, sizeof(type));
	assert_int_equal(make_in(MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX), EINVAL);
	assert_int_equal(rig.made - rig.freed, 4);
}

static void attributes_are_read(void **state)
{
	static const uint16_t ids[] = { MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK,
					MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE,
					MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		rig.in_refused = ids[i];
		assert_int_equal(matcher_create(&rig.call), EFAULT);
	}
	assert_int_equal(rig.made, rig.freed);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, matcher_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(a_matcher_keeps_what_it_is_told),
		CASE(flags_choose_the_table_of_sends),
		CASE(a_type_chooses_the_table),
		CASE(attributes_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
