/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rate_limits_test.c - entries of the rate table: the device's command for each, which requests
 * share one, and when it becomes free.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "softhca/front/process/driver/rate_limits.c"

enum { ENTRIES = 4, REFUSED = EDOM };

static struct adapter adapter;
static struct {
	uint8_t in[PRM_SET_PP_RATE_LIMIT_IN_SIZE];
	unsigned int commands;
	int error;
} device;

int adapter_command(struct adapter *of, void *in, size_t in_len, void *out, size_t out_len)
{
	assert_ptr_equal(of, &adapter);
	assert_int_equal(in_len, sizeof(device.in));
	memcpy(device.in, in, in_len);
	memset(out, 0, out_len);
	device.commands++;
	return device.error;
}

static int table_begin(void **state)
{
	(void)state;
	memset(&adapter, 0, sizeof(adapter));
	memset(&device, 0, sizeof(device));
	fld_set(adapter.qos_caps, QOS_CAP_PACKET_PACING, 1);
	fld_set(adapter.qos_caps, QOS_CAP_PACKET_PACING_UID, 1);
	fld_set(adapter.qos_caps, QOS_CAP_PACKET_PACING_MIN_RATE, 10);
	fld_set(adapter.qos_caps, QOS_CAP_PACKET_PACING_MAX_RATE, 1000);
	fld_set(adapter.qos_caps, QOS_CAP_PACKET_PACING_RATE_TABLE_SIZE, ENTRIES);
	return 0;
}

static int table_end(void **state)
{
	(void)state;
	rate_limits_free(&adapter);
	return 0;
}

/* Returns the index, or minus the errno. */
static int limit_get(uint32_t rate, uint32_t burst, uint16_t packet)
{
	const struct rate_limit limit = { .rate = rate, .burst = burst, .packet = packet };
	uint32_t index = 99;
	int ret = rate_limit_get(&adapter, &limit, &index);

	return ret ? -ret : (int)index;
}

static void check_command(uint32_t index, uint16_t uid, uint32_t rate, uint32_t burst,
			  uint32_t packet)
{
	const uint8_t *context = fld_at(device.in, SET_PP_RATE_LIMIT_IN_CTX);

	assert_int_equal(fld_get(device.in, CMD_IN_OPCODE), PRM_OP_SET_PP_RATE_LIMIT);
	assert_int_equal(fld_get(device.in, CMD_IN_UID), uid);
	assert_int_equal(fld_get(device.in, SET_PP_RATE_LIMIT_IN_RATE_LIMIT_INDEX), index);
	assert_int_equal(fld_get(context, PP_CONTEXT_RATE_LIMIT), rate);
	assert_int_equal(fld_get(context, PP_CONTEXT_BURST_UPPER_BOUND), burst);
	assert_int_equal(fld_get(context, PP_CONTEXT_TYPICAL_PACKET_SIZE), packet);
}

static void the_device_gets_the_limit(void **state)
{
	(void)state;
	assert_int_equal(limit_get(100, 200, 300), 1);
	check_command(1, PRM_SHARED_UID, 100, 200, 300);
	fld_set(adapter.qos_caps, QOS_CAP_PACKET_PACING_UID, 0);
	assert_int_equal(limit_get(100, 200, 300), 2);
	check_command(2, 0, 100, 200, 300);
}

static void no_limit_is_index_0(void **state)
{
	(void)state;
	fld_set(adapter.qos_caps, QOS_CAP_PACKET_PACING, 0);
	assert_int_equal(limit_get(0, 1, 1), 0);
	rate_limit_put(&adapter, 0);
	assert_int_equal(device.commands, 0);
	assert_int_equal(limit_get(100, 0, 0), -EOPNOTSUPP);
}

static void a_rate_is_in_the_devices_range(void **state)
{
	(void)state;
	assert_int_equal(limit_get(9, 0, 0), -EINVAL);
	assert_int_equal(limit_get(10, 0, 0), 1);
	assert_int_equal(limit_get(1000, 0, 0), 2);
	assert_int_equal(limit_get(1001, 0, 0), -EINVAL);
	assert_int_equal(device.commands, 2);
	fld_set(adapter.qos_caps, QOS_CAP_PACKET_PACING_MIN_RATE, 0);
	{
		const struct rate_entry none = { .uid = 1 };
		uint32_t index;

		assert_int_equal(rate_entry_get(&adapter, &none, &index), EINVAL);
	}
}

static void equal_limits_share_an_entry(void **state)
{
	(void)state;
	assert_int_equal(limit_get(100, 200, 300), 1);
	assert_int_equal(limit_get(100, 200, 300), 1);
	assert_int_equal(device.commands, 1);
	assert_int_equal(limit_get(101, 200, 300), 2);
	assert_int_equal(limit_get(100, 200, 301), 3);
	assert_int_equal(limit_get(100, 201, 300), -ENOSPC);
	assert_int_equal(limit_get(100, 200, 301), 3);
	assert_int_equal(device.commands, 3);
}

static void the_last_user_frees_the_entry(void **state)
{
	(void)state;
	limit_get(100, 200, 300);
	limit_get(100, 200, 300);
	rate_limit_put(&adapter, 1);
	assert_int_equal(device.commands, 1);
	rate_limit_put(&adapter, 1);
	assert_int_equal(device.commands, 2);
	check_command(1, PRM_SHARED_UID, 0, 0, 0);
	assert_int_equal(limit_get(400, 0, 0), 1);
	check_command(1, PRM_SHARED_UID, 400, 0, 0);
	/* A free entry with the same values is set anew. */
	rate_limit_put(&adapter, 1);
	assert_int_equal(limit_get(400, 0, 0), 1);
	assert_int_equal(device.commands, 5);
}

static void a_free_entry_does_not_hide_an_equal_one(void **state)
{
	(void)state;
	limit_get(100, 0, 0);
	assert_int_equal(limit_get(200, 0, 0), 2);
	rate_limit_put(&adapter, 1);
	assert_int_equal(limit_get(200, 0, 0), 2);
	assert_int_equal(limit_get(300, 0, 0), 1);
}

static void a_dedicated_entry_is_its_owners(void **state)
{
	struct rate_entry entry = { .uid = 5, .dedicated = true, .users = 7 };
	uint32_t index;

	(void)state;
	fld_set(entry.context, PP_CONTEXT_RATE_LIMIT, 100);
	assert_int_equal(rate_entry_get(&adapter, &entry, &index), 0);
	assert_int_equal(index, 1);
	check_command(1, 5, 100, 0, 0);
	entry.dedicated = false;
	assert_int_equal(rate_entry_get(&adapter, &entry, &index), 0);
	assert_int_equal(index, 2);
	entry.dedicated = true;
	assert_int_equal(rate_entry_get(&adapter, &entry, &index), 0);
	assert_int_equal(index, 3);
	entry.dedicated = false;
	assert_int_equal(rate_entry_get(&adapter, &entry, &index), 0);
	assert_int_equal(index, 2);
	entry.uid = 6;
	assert_int_equal(rate_entry_get(&adapter, &entry, &index), ENOSPC);
	rate_limit_put(&adapter, 3);
	check_command(3, 5, 0, 0, 0);
	assert_int_equal(rate_entry_get(&adapter, &entry, &index), 0);
	assert_int_equal(index, 3);
}

static void a_refused_entry_stays_free(void **state)
{
	(void)state;
	device.error = REFUSED;
	assert_int_equal(limit_get(100, 0, 0), -REFUSED);
	device.error = 0;
	assert_int_equal(limit_get(200, 0, 0), 1);
	assert_int_equal(limit_get(100, 0, 0), 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, table_begin, table_end)
	const struct CMUnitTest tests[] = {
		CASE(the_device_gets_the_limit),
		CASE(no_limit_is_index_0),
		CASE(a_rate_is_in_the_devices_range),
		CASE(equal_limits_share_an_entry),
		CASE(the_last_user_frees_the_entry),
		CASE(a_free_entry_does_not_hide_an_equal_one),
		CASE(a_dedicated_entry_is_its_owners),
		CASE(a_refused_entry_stays_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
