/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands that resize and moderate a CQ.
 *
 * Covers: libibverbs/cmd/cmd_cq.c
 */
#include "fake_kernel.h"

#include <errno.h>

static void resize_cq_returns_what_was_granted(void **state)
{
	struct ibv_cq cq = { .context = context_of(state), .handle = 0x31, .cqe = 1 };

	expect(IDS(UVERBS_ATTR_CORE_OUT), NULL);
	kernel.fill = 0x18;
	assert_int_equal(verbs_cmd_resize_cq(&cq, 100, NULL), 0);
	assert_string_equal(kernel.text, "0/0 000<00000000000000003100000064000000 001>8 002=8:13");
	assert_int_equal(cq.cqe, 0x18181818);
}

static void modify_cq_sets_moderation(void **state)
{
	struct ibv_cq cq = { .context = context_of(state), .handle = 0x31 };
	struct ibv_modify_cq_attr attr = { IBV_CQ_ATTR_MODERATE, { 0x102, 0x304 } };

	expect(NULL, NULL);
	assert_int_equal(ibv_modify_cq(&cq, &attr), 0);
	assert_string_equal(kernel.text, "0/0 000<31000000010000000201040300000000 002=8:80000039");
	attr.attr_mask = IBV_CQ_ATTR_RESERVED;
	assert_int_equal(ibv_modify_cq(&cq, &attr), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMAND_TEST(resize_cq_returns_what_was_granted),
		COMMAND_TEST(modify_cq_sets_moderation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
