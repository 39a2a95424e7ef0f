/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * anchor_test.c - steering anchors: the level of a priority, what is refused, and what is undone
 * when the program does not get the answer.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/flow/anchor.c"

enum { TABLE = 0x77, TID = 12, REFUSED = EDOM };

static struct {
	bool may_not;
	int anchor_error;
	unsigned int level, anchors;
} it;

bool client_may(pid_t tid, unsigned int capability)
{
	assert_int_equal(tid, TID);
	assert_int_equal(capability, CLIENT_CAP_NET_RAW);
	return !it.may_not;
}

int steering_anchor(struct adapter *adapter, unsigned int level, uint32_t *table)
{
	assert_ptr_equal(adapter, &rig.adapter);
	it.level = level;
	it.anchors += !it.anchor_error;
	*table = TABLE;
	return it.anchor_error;
}

static int anchor_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.call.tid = TID;
	fld_set(rig.adapter.caps, HCA_CAP_NIC_FLOW_TABLE, 1);
	return 0;
}

static int anchor_try(uint64_t type, uint16_t priority)
{
	rig_in(MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE, &type, sizeof(type));
	rig_in(MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY, &priority, sizeof(priority));
	return anchor_create(&rig.call);
}

static int make_of_received(uint16_t priority)
{
	return anchor_try(MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, priority);
}

static void an_anchor_leads_to_its_priority(void **state)
{
	const uint32_t *table;

	(void)state;
	assert_int_equal(make_of_received(0), 0);
	assert_int_equal(it.level, 1);
	table = rig_out(MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, sizeof(*table));
	assert_int_equal(*table, TABLE);
	assert_true(rig_has_out(MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE));
	assert_int_equal(make_of_received(15), 0);
	assert_int_equal(it.level, 31);
	assert_int_equal(anchor_try(MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, 3), 0);
	assert_int_equal(it.level, STEERING_TRANSMIT + 7);
	assert_int_equal(make_of_received(16), EINVAL);
}

static void other_tables_are_not_there(void **state)
{
	(void)state;
	assert_int_equal(anchor_try(MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB, 0), EOPNOTSUPP);
	assert_int_equal(anchor_try(MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX, 0), EOPNOTSUPP);
	assert_int_equal(anchor_try(MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX, 0), EOPNOTSUPP);
	assert_int_equal(anchor_try(MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX + 1, 0), EINVAL);
	assert_int_equal(anchor_try(1ull << 32, 0), EINVAL);
	assert_int_equal(it.anchors, 0);
	assert_int_equal(rig.made, 0);
}

static void rights_and_tables_are_needed(void **state)
{
	(void)state;
	it.may_not = true;
	assert_int_equal(make_of_received(0), EPERM);
	it.may_not = false;
	fld_set(rig.adapter.caps, HCA_CAP_NIC_FLOW_TABLE, 0);
	assert_int_equal(make_of_received(0), EOPNOTSUPP);
	fld_set(rig.adapter.caps, HCA_CAP_NIC_FLOW_TABLE, 1);
	it.anchor_error = REFUSED;
	assert_int_equal(make_of_received(0), REFUSED);
	rig.in_refused = MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE;
	assert_int_equal(make_of_received(0), EFAULT);
	rig.in_refused = MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY;
	assert_int_equal(make_of_received(0), EFAULT);
	assert_int_equal(it.anchors, 0);
	assert_int_equal(rig.made, 0);
}

static void an_anchor_without_an_answer_goes(void **state)
{
	(void)state;
	rig.out_refused = MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID;
	assert_int_equal(make_of_received(0), EFAULT);
	assert_int_equal(rig.made, 1);
	assert_int_equal(rig.freed, 1);
}

static void an_anchor_is_destroyed(void **state)
{
	(void)state;
	assert_int_equal(make_of_received(0), 0);
	rig_in_object(MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE,
		      rig.objects[*(const uint32_t *)rig_out(
			      MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE, sizeof(uint32_t))]);
	assert_int_equal(anchor_remove(&rig.call), 0);
	assert_int_equal(rig.freed, 1);
}

static void some_adapters_have_anchors(void **state)
{
	(void)state;
	assert_false(anchor_exists(&rig.adapter));
	fld_set(rig.adapter.caps, HCA_CAP_SHARED_OBJECT_TO_USER_OBJECT_ALLOWED, 1);
	assert_true(anchor_exists(&rig.adapter));
	rig.identity.kind = HCA_MLX4;
	assert_false(anchor_exists(&rig.adapter));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, anchor_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(an_anchor_leads_to_its_priority), CASE(other_tables_are_not_there),
		CASE(rights_and_tables_are_needed),    CASE(an_anchor_without_an_answer_goes),
		CASE(an_anchor_is_destroyed),          CASE(some_adapters_have_anchors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
