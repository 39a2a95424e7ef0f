/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters_test.c - sets of flow counters: the points that the first flow describes, the device's
 * counter, and reads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static int counter_command(struct adapter *adapter, void *in, size_t in_len, void *out,
			   size_t out_len);

#define adapter_command counter_command
#include "softhca/front/process/uverbs/counters.c"
#undef adapter_command

enum { NUMBER = 0x321, POINTS = 257, REFUSED = EDOM, UNREADABLE = 0x666 };

static struct mlx5_ib_flow_counters_desc points[POINTS];

static struct {
	int allocate_error;
	unsigned int allocated;
	uint32_t handle;
} it;

/* Answers with 1000 packets and 64000 bytes. */
static int counter_command(struct adapter *adapter, void *in, size_t in_len, void *out,
			   size_t out_len)
{
	const int ret = (adapter_command)(adapter, in, in_len, out, out_len);
	uint8_t *counter = fld_at(out, QUERY_FLOW_COUNTER_OUT_FLOW_STATISTICS);

	assert_int_equal(in_len, 32);
	assert_int_equal(out_len, 32);
	fld_set(counter, TRAFFIC_COUNTER_PACKETS, 1000);
	fld_set(counter, TRAFFIC_COUNTER_OCTETS, 64000);
	return ret;
}

int adapter_allocate(struct adapter *adapter, enum prm_opcode opcode, uint32_t *number)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(opcode, PRM_OP_ALLOC_FLOW_COUNTER);
	*number = NUMBER;
	it.allocated += !it.allocate_error;
	return it.allocate_error;
}

int caller_read(const struct call *call, uint64_t addr, void *buf, size_t len)
{
	assert_ptr_equal(call, rig.call.call);
	if (addr == UNREADABLE)
		return EFAULT;
	assert_int_equal(addr, (uintptr_t)points);
	memcpy(buf, points, len);
	return 0;
}

static struct uverbs_counters *counters(void)
{
	return (struct uverbs_counters *)rig.objects[it.handle];
}

static int counters_begin(void **state)
{
	const uint64_t flags = 0;

	rig_begin(state);
	memset(&it, 0, sizeof(it));
	memset(points, 0, sizeof(points));
	assert_int_equal(counters_create(&rig.call), 0);
	it.handle = *(const uint32_t *)rig_out(UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 4);
	rig_in_object(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, &counters()->base);
	rig_in_object(UVERBS_ATTR_READ_COUNTERS_HANDLE, &counters()->base);
	rig_in(UVERBS_ATTR_READ_COUNTERS_FLAGS, &flags, sizeof(flags));
	return 0;
}

static void point_set(unsigned int i, uint32_t description, uint32_t index)
{
	points[i].description = description;
	points[i].index = index;
}

static int flow_with(uint32_t sets, uint64_t addr, uint32_t count)
{
	const struct mlx5_ib_flow_counters_data data = { .counters_data = (void *)(uintptr_t)addr,
							 .ncounters = count };
	const uint32_t head[2] = { sets };
	uint8_t bytes[sizeof(head) + sizeof(data)];
	struct object *object = NULL;
	uint32_t number = 0;
	int ret;

	memcpy(bytes, head, sizeof(head));
	memcpy(bytes + sizeof(head), &data, sizeof(data));
	rig_in(UVERBS_ATTR_UHW_IN, bytes, sizeof(bytes));
	ret = counters_for_flow(&rig.call, it.handle, &object, &number);
	if (ret) {
		assert_null(object);
		return ret;
	}
	assert_ptr_equal(object, &counters()->base);
	assert_int_equal(number, NUMBER);
	return 0;
}

static int flow_describing(uint32_t count)
{
	return flow_with(1, (uintptr_t)points, count);
}

static int read_into(size_t len)
{
	const uint8_t room[RIG_ATTR_SIZE] = { 0 };

	rig_in(UVERBS_ATTR_READ_COUNTERS_BUFF, room, len);
	return counters_read(&rig.call);
}

static void the_first_flow_describes_the_set(void **state)
{
	(void)state;
	assert_int_equal(flow_with(0, 0, 0), EINVAL);
	assert_int_equal(it.allocated, 0);
	point_set(0, PACKETS, 0);
	assert_int_equal(flow_describing(1), 0);
	assert_int_equal(it.allocated, 1);
	assert_int_equal(flow_with(0, 0, 0), 0);
	assert_int_equal(flow_describing(1), EINVAL);
	assert_int_equal(counters()->values, 1);
	assert_int_equal(it.allocated, 1);
	assert_int_equal(flow_with(2, (uintptr_t)points, 1), EINVAL);
}

/* A set without points is described by a later flow, and keeps no memory until then. */
static void no_points_describe_nothing(void **state)
{
	(void)state;
	assert_int_equal(flow_describing(0), 0);
	assert_null(counters()->points);
	assert_int_equal(flow_describing(1), 0);
	assert_int_equal(counters()->npoints, 1);
}

static void points_have_limits(void **state)
{
	(void)state;
	assert_int_equal(flow_describing(257), EINVAL);
	point_set(1, BYTES + 1, 0);
	assert_int_equal(flow_describing(2), EINVAL);
	point_set(1, BYTES, UINT16_MAX);
	assert_int_equal(flow_describing(2), EINVAL);
	assert_int_equal(flow_with(1, UNREADABLE, 1), EFAULT);
	assert_null(counters()->points);
	point_set(1, BYTES, UINT16_MAX - 1);
	assert_int_equal(flow_describing(256), 0);
	assert_int_equal(counters()->values, UINT16_MAX);
	assert_int_equal(counters()->npoints, 256);
}

static void steps_that_fail_leave_no_counter(void **state)
{
	struct object *object;
	uint32_t number;

	(void)state;
	it.allocate_error = REFUSED;
	assert_int_equal(flow_describing(1), REFUSED);
	assert_false(counters()->in_device);
	it.allocate_error = 0;
	assert_int_equal(counters_for_flow(&rig.call, it.handle + 1, &object, &number), EINVAL);
	rig.in_refused = UVERBS_ATTR_UHW_IN;
	assert_int_equal(flow_with(0, 0, 0), EFAULT);
	assert_int_equal(it.allocated, 0);
}

static void a_read_adds_points_of_an_index(void **state)
{
	const uint64_t *values;

	(void)state;
	point_set(0, PACKETS, 2);
	point_set(1, BYTES, 0);
	point_set(2, BYTES, 2);
	assert_int_equal(flow_describing(3), 0);
	counters()->base.users = 1;
	assert_int_equal(read_into(4 * 8), 0);
	values = rig_out(UVERBS_ATTR_READ_COUNTERS_BUFF, 4 * 8);
	assert_int_equal(values[0], 64000);
	assert_int_equal(values[1], 0);
	assert_int_equal(values[2], 65000);
	assert_int_equal(values[3], 0);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_QUERY_FLOW_COUNTER);
	assert_int_equal(fld_get(rig.command, QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID), NUMBER);
	counters()->base.users = 0;
}

static void a_read_has_room_and_a_flow(void **state)
{
	uint64_t flags = READ_FROM_CACHE;

	(void)state;
	point_set(0, PACKETS, 2);
	assert_int_equal(flow_describing(1), 0);
	assert_int_equal(read_into(3 * 8), EINVAL);
	counters()->base.users = 1;
	assert_int_equal(read_into(3 * 8 - 1), EINVAL);
	assert_int_equal(rig.commands, 0);
	rig_in(UVERBS_ATTR_READ_COUNTERS_FLAGS, &flags, sizeof(flags));
	assert_int_equal(read_into(3 * 8), 0);
	flags = 2;
	rig_in(UVERBS_ATTR_READ_COUNTERS_FLAGS, &flags, sizeof(flags));
	assert_int_equal(read_into(3 * 8), EINVAL);
	flags = 1ull << 32;
	rig_in(UVERBS_ATTR_READ_COUNTERS_FLAGS, &flags, sizeof(flags));
	assert_int_equal(read_into(3 * 8), EINVAL);
	counters()->base.users = 0;
}

static void failures_of_a_read_are_told(void **state)
{
	(void)state;
	assert_int_equal(flow_describing(1), 0);
	counters()->base.users = 1;
	rig.command_error = REFUSED;
	assert_int_equal(read_into(8), REFUSED);
	rig.command_error = 0;
	rig.out_refused = UVERBS_ATTR_READ_COUNTERS_BUFF;
	assert_int_equal(read_into(8), EFAULT);
	rig.in_refused = UVERBS_ATTR_READ_COUNTERS_FLAGS;
	assert_int_equal(read_into(8), EFAULT);
	counters()->base.users = 0;
}

static void a_set_goes_with_its_counter(void **state)
{
	(void)state;
	assert_int_equal(flow_describing(1), 0);
	counters()->base.users = 1;
	assert_int_equal(counters_remove(&rig.call), EBUSY);
	counters()->base.users = 0;
	assert_int_equal(counters_remove(&rig.call), 0);
	assert_int_equal(rig.released, 1);
	assert_int_equal(rig.last_released, NUMBER);
	assert_int_equal(rig.freed, 1);
}

static void a_set_without_a_counter_needs_no_command(void **state)
{
	(void)state;
	assert_int_equal(counters_remove(&rig.call), 0);
	assert_int_equal(rig.released, 0);
}

static void a_dead_adapter_gets_no_command(void **state)
{
	(void)state;
	assert_int_equal(flow_describing(1), 0);
	rig.adapter.dead = true;
	assert_int_equal(counters_remove(&rig.call), 0);
	assert_int_equal(rig.released, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, counters_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(the_first_flow_describes_the_set),
		CASE(no_points_describe_nothing),
		CASE(points_have_limits),
		CASE(steps_that_fail_leave_no_counter),
		CASE(a_read_adds_points_of_an_index),
		CASE(a_read_has_room_and_a_flow),
		CASE(failures_of_a_read_are_told),
		CASE(a_set_goes_with_its_counter),
		CASE(a_set_without_a_counter_needs_no_command),
		CASE(a_dead_adapter_gets_no_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
