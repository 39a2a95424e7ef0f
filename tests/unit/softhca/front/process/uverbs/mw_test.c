/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mw_test.c - memory windows: the device's command for each type, what is refused, and what is
 * undone when a later step fails.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/mw.c"

enum { PDN = 0x33, REFUSED = EDOM };

static struct uverbs_pd pd;
static uint32_t pd_handle;

static int mw_begin(void **state)
{
	rig_begin(state);
	memset(&pd, 0, sizeof(pd));
	pd.pdn = PDN;
	pd_handle = rig_publish(&pd.base, UVERBS_OBJECT_PD);
	return 0;
}

static int mw_end(void **state)
{
	rig_end(state);
	assert_int_equal(pd.base.users, 0);
	return 0;
}

static int alloc_with(uint8_t type, const struct mlx5_ib_alloc_mw *driver)
{
	const struct ib_uverbs_alloc_mw cmd = { .pd_handle = pd_handle, .mw_type = type };

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	rig_in(UVERBS_ATTR_UHW_IN, driver, sizeof(*driver));
	return mw_alloc(&rig.call);
}

static int mw_make(uint8_t type, uint16_t klms)
{
	return alloc_with(type, &(struct mlx5_ib_alloc_mw){ .num_klms = klms });
}

static void check_nothing_made(void)
{
	assert_int_equal(rig.made, rig.freed);
	assert_int_equal(pd.base.users, 0);
}

static void a_window_is_a_free_key(void **state)
{
	const struct ib_uverbs_alloc_mw_resp *resp;
	const uint8_t *mkc = fld_at(rig.command, CREATE_MKEY_IN_MKC);

	(void)state;
	for (uint8_t type = 1; type <= 2; type++) {
		assert_int_equal(mw_make(type, 0), 0);
		assert_int_equal(rig.command_len, PRM_CREATE_MKEY_IN_SIZE);
		assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_MKEY);
		assert_int_equal(fld_get(rig.command, CREATE_MKEY_IN_IS_WINDOW), 1);
		assert_int_equal(fld_get(mkc, MKC_FREE), 1);
		assert_int_equal(fld_get(mkc, MKC_UMR_EN), 1);
		assert_int_equal(fld_get(mkc, MKC_LR), 1);
		assert_int_equal(fld_get(mkc, MKC_ACCESS_MODE_1_0), PRM_MKEY_MODE_KLMS);
		assert_int_equal(fld_get(mkc, MKC_EN_RINVAL), type == 2);
		assert_int_equal(fld_get(mkc, MKC_QPN), 0xffffff);
		assert_int_equal(fld_get(mkc, MKC_PD), PDN);
		resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
		assert_int_equal(resp->rkey, rig.number << 8);
		assert_ptr_equal(rig.objects[resp->mw_handle]->file, &rig.file);
		assert_int_equal(pd.base.users, type);
	}
}

static void room_is_for_four_entries_at_a_time(void **state)
{
	static const uint16_t rows[][2] = { { 0, 4 }, { 1, 4 }, { 4, 4 }, { 5, 8 }, { 8, 8 } };
	const uint8_t *mkc = fld_at(rig.command, CREATE_MKEY_IN_MKC);

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(mw_make(1, rows[i][0]), 0);
		assert_int_equal(fld_get(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE), rows[i][1]);
	}
}

static void what_is_unknown_is_refused(void **state)
{
	(void)state;
	assert_int_equal(mw_make(0, 0), EINVAL);
	assert_int_equal(mw_make(3, 0), EINVAL);
	assert_int_equal(alloc_with(1, &(struct mlx5_ib_alloc_mw){ .comp_mask = 1 }), EOPNOTSUPP);
	assert_int_equal(alloc_with(1, &(struct mlx5_ib_alloc_mw){ .reserved1 = 1 }), EOPNOTSUPP);
	assert_int_equal(alloc_with(1, &(struct mlx5_ib_alloc_mw){ .reserved2 = 1 }), EOPNOTSUPP);
	rig.in_refused = UVERBS_ATTR_CORE_IN;
	assert_int_equal(mw_make(1, 0), EFAULT);
	rig.in_refused = UVERBS_ATTR_UHW_IN;
	assert_int_equal(mw_make(1, 0), EFAULT);
	rig.in_refused = UINT16_MAX;
	pd_handle++;
	assert_int_equal(mw_make(1, 0), ENOENT);
	assert_int_equal(rig.commands, 0);
	check_nothing_made();
}

static void a_failed_step_is_undone(void **state)
{
	(void)state;
	rig.command_error = REFUSED;
	assert_int_equal(mw_make(1, 0), REFUSED);
	assert_int_equal(rig.released, 0);
	check_nothing_made();
	rig.command_error = 0;
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(mw_make(1, 0), EFAULT);
	assert_int_equal(rig.released, 1);
	assert_int_equal(rig.last_released, rig.number);
	check_nothing_made();
}

static void a_window_is_destroyed_either_way(void **state)
{
	const struct ib_uverbs_alloc_mw_resp *resp;
	uint32_t handle;

	(void)state;
	assert_int_equal(mw_make(1, 0), 0);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	handle = resp->mw_handle;
	rig.command_error = REFUSED;
	rig_in(UVERBS_ATTR_CORE_IN, &handle, sizeof(handle));
	assert_int_equal(mw_dealloc_write(&rig.call), REFUSED);
	assert_int_equal(pd.base.users, 1);
	rig.command_error = 0;
	assert_int_equal(mw_dealloc_write(&rig.call), 0);
	assert_int_equal(rig.last_released, rig.number);
	check_nothing_made();
	assert_int_equal(mw_dealloc_write(&rig.call), ENOENT);
	assert_int_equal(mw_make(1, 0), 0);
	rig_in_object(UVERBS_ATTR_DESTROY_MW_HANDLE, rig.objects[handle]);
	assert_int_equal(mw_dealloc(&rig.call), 0);
	check_nothing_made();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, mw_begin, mw_end)
	const struct CMUnitTest tests[] = {
		CASE(a_window_is_a_free_key),           CASE(room_is_for_four_entries_at_a_time),
		CASE(what_is_unknown_is_refused),       CASE(a_failed_step_is_undone),
		CASE(a_window_is_destroyed_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
