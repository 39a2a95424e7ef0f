/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands on a kernel that lacks a method or an object.
 *
 * Covers: libibverbs/cmd/cmd_legacy.c
 */
#include "fake_kernel.h"

#include <errno.h>

static void an_old_kernel_destroys_by_invoked_write(void **state)
{
	struct ibv_context *context = context_of(state);
	struct ibv_ah ah = { .context = context, .handle = 1 };
	struct ibv_mw mw = { .context = context, .handle = 2 };
	struct verbs_xrcd vxrcd = { .xrcd.context = context, .handle = 3 };
	struct ibv_flow flow = { .context = context, .handle = 4 };
	struct ibv_rwq_ind_table table = { .context = context, .ind_tbl_handle = 5 };

	NEEDS_LITTLE_ENDIAN();
	expect(NULL, NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_destroy_ah(&ah), 0);
	assert_string_equal(kernel.text, "6/0 no; 0/0 000=4:1 002=8:8");
	kernel.text[0] = '\0';
	assert_int_equal(verbs_cmd_dealloc_mw(&mw), 0);
	assert_string_equal(kernel.text, "8/0 no; 0/0 000=4:2 002=8:10");
	kernel.text[0] = '\0';
	assert_int_equal(verbs_cmd_close_xrcd(&vxrcd), 0);
	assert_string_equal(kernel.text, "a/0 no; 0/0 000=4:3 002=8:26");
	kernel.text[0] = '\0';
	assert_int_equal(verbs_cmd_destroy_flow(&flow), 0);
	assert_string_equal(kernel.text, "9/0 no; 0/0 000=8:400000000 002=8:80000033");
	kernel.text[0] = '\0';
	assert_int_equal(verbs_cmd_destroy_rwq_ind_table(&table), 0);
	assert_string_equal(kernel.text, "b/0 no; 0/0 000=8:500000000 002=8:80000038");
}

static void a_kernel_without_an_object_says_so(void **state)
{
	const struct ibv_alloc_dm_attr attr = { .length = 8 };
	struct ibv_dm dm = {};

	expect(NULL, NULL);
	kernel.old = true;
	assert_int_equal(verbs_cmd_alloc_dm(context_of(state), &attr, &dm, NULL, 0),
			 EPROTONOSUPPORT);
}

static void query_context_asks_for_what_exists(void **state)
{
	struct fake_context *fake = *state;

	expect(IDS(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
		   UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT),
	       NULL);
	kernel.fill = 0x01;
	assert_int_equal(verbs_cmd_query_context(&fake->vctx, NULL), 0);
	assert_string_equal(kernel.text, "0/4 000>4 001>8");
	assert_int_equal(fake->vctx.context.num_comp_vectors, 0x01010101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(an_old_kernel_destroys_by_invoked_write),
		COMMAND_TEST(a_kernel_without_an_object_says_so),
		COMMAND_TEST(query_context_asks_for_what_exists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
