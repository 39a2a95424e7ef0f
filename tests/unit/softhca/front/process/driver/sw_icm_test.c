/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sw_icm_test.c - memory for table entries: the place that the driver chooses, and whom the device
 * takes for its owner. The device is a function that records the command.
 *
 * Covers: softhca/front/process/driver/sw_icm.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/sw_icm.h"

#define START UINT64_C(0x4000000000)

enum { LOG_UNIT = 12, LOG_ROOM = 14, UNIT = 1 << LOG_UNIT, NUMBER = 77, USER = 5 };

static struct adapter *adapter;

static struct {
	int answer; /* status of all commands */
	uint32_t opcode, user, destroyed;
	uint64_t addr, log_size;
} device;

int adapter_command(struct adapter *asked, void *in, size_t in_len, void *out, size_t out_len)
{
	const uint8_t *object = fld_at(in, GENERAL_OBJ_OBJECT);

	assert_ptr_equal(asked, adapter);
	memset(out, 0, out_len);
	device.opcode = (uint32_t)fld_get(in, CMD_IN_OPCODE);
	device.user = (uint32_t)fld_get(in, CMD_IN_UID);
	assert_int_equal(fld_get(in, GENERAL_OBJ_IN_OBJ_TYPE), PRM_OBJ_TYPE_SW_ICM);
	if (device.opcode == PRM_OP_CREATE_GENERAL_OBJECT) {
		assert_int_equal(in_len, PRM_GENERAL_OBJ_HDR_SIZE + PRM_SW_ICM_SIZE);
		device.addr = fld_get(object, SW_ICM_SW_ICM_START_ADDR);
		device.log_size = fld_get(object, SW_ICM_LOG_SW_ICM_SIZE);
		fld_set(out, GENERAL_OBJ_OUT_OBJ_ID, NUMBER);
	} else {
		assert_int_equal(device.opcode, PRM_OP_DESTROY_GENERAL_OBJECT);
		device.destroyed = (uint32_t)fld_get(in, GENERAL_OBJ_IN_OBJ_ID);
	}
	return device.answer;
}

static int adapter_begin(void **state)
{
	(void)state;
	adapter = calloc(1, sizeof(*adapter));
	if (!adapter)
		return -1;
	memset(&device, 0, sizeof(device));
	fld_set(fld_at(adapter->flow_caps, FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE),
		FT_PROP_SW_OWNER_V2, 1);
	fld_set(adapter->memory_caps, MEM_CAP_STEERING_ICM_START, START);
	fld_set(adapter->memory_caps, MEM_CAP_LOG_STEERING_ICM_SIZE, LOG_ROOM);
	fld_set(adapter->memory_caps, MEM_CAP_LOG_SW_ICM_ALLOC_GRANULARITY, LOG_UNIT);
	return 0;
}

static int adapter_end(void **state)
{
	(void)state;
	sw_icm_free(adapter);
	free(adapter);
	return 0;
}

static void a_block_is_its_programs(void **state)
{
	struct sw_icm *block = NULL;

	(void)state;
	adapter->user = USER;
	assert_int_equal(sw_icm_alloc(adapter, SW_ICM_ENTRIES, UNIT + 1, 0, &block), 0);
	assert_int_equal(device.user, USER);
	assert_true(device.addr == START);
	assert_int_equal(device.log_size, LOG_UNIT + 1);
	sw_icm_release(adapter, block);
	assert_int_equal(device.destroyed, NUMBER);
}

/* A block that a key of another uses stays in the device, so no other may come to its place. */
static void a_block_in_use_keeps_its_place(void **state)
{
	struct sw_icm *block = NULL;

	(void)state;
	assert_int_equal(sw_icm_alloc(adapter, SW_ICM_ENTRIES, UNIT, 0, &block), 0);
	device.answer = EBUSY;
	sw_icm_release(adapter, block);
	device.answer = 0;
	assert_int_equal(sw_icm_alloc(adapter, SW_ICM_ENTRIES, UNIT, 0, &block), 0);
	assert_true(block->addr == START + UNIT);
	sw_icm_release(adapter, block);
	assert_int_equal(sw_icm_alloc(adapter, SW_ICM_ENTRIES, UNIT, 0, &block), 0);
	assert_true(block->addr == START + UNIT);
}

static void a_refused_block_takes_no_place(void **state)
{
	struct sw_icm *block = NULL;

	(void)state;
	device.answer = ENOMEM;
	assert_int_equal(sw_icm_alloc(adapter, SW_ICM_ENTRIES, UNIT, 0, &block), ENOMEM);
	assert_null(block);
	device.answer = 0;
	assert_int_equal(sw_icm_alloc(adapter, SW_ICM_ENTRIES, UNIT, LOG_UNIT + 1, &block), 0);
	assert_true(block->addr == START);
	assert_int_equal(sw_icm_alloc(adapter, SW_ICM_ENTRIES, UNIT, LOG_UNIT + 1, &block), 0);
	assert_true(block->addr == START + 2 * UNIT);
	assert_int_equal(sw_icm_alloc(adapter, SW_ICM_ENTRIES, 2 * UNIT, 0, &block), ENOMEM);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, adapter_begin, adapter_end)
	const struct CMUnitTest tests[] = {
		CASE(a_block_is_its_programs),
		CASE(a_block_in_use_keeps_its_place),
		CASE(a_refused_block_takes_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
