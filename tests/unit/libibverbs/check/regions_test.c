/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the checker says of the buffers of a request: their regions' life, range, PD and rights.
 *
 * Covers: libibverbs/check/regions.c
 */
#include "watched.h"

static char memory[4096];
static const struct check_post post = { "call", "QP", 0x40, 1, 0x77, NULL };

static void buffer_check(struct ibv_sge sge, const char *why)
{
	struct check_post of = post;

	of.context = watched;
	verbs_check_sges(&of, &sge, 1, why);
}

static void a_buffer_in_its_region_is_right(void **state)
{
	struct verbs_mr *vmr = watched_region(memory, 4096, IBV_ACCESS_LOCAL_WRITE);

	(void)state;
	buffer_check(watched_sge(memory, 4096, vmr), NULL);
	buffer_check(watched_sge(memory + 4095, 1, vmr), "the receive");
	buffer_check(watched_sge(memory + 4096, 0, vmr), NULL);
	says_nothing();
	verbs_check_dereg_mr(vmr);
}

static void a_buffer_outside_is_said(void **state)
{
	struct verbs_mr *vmr = watched_region(memory + 64, 64, IBV_ACCESS_LOCAL_WRITE);

	(void)state;
	buffer_check(watched_sge(memory + 64, 65, vmr), NULL);
	check_logged("call: QP 0x40: wr_id 0x77: sg_list[0]: 65 bytes at");
	buffer_check(watched_sge(memory + 63, 2, vmr), NULL);
	check_logged("are not all in the MR of lkey 0x100, which has 64 bytes");
	buffer_check((struct ibv_sge){ UINT64_MAX - 1, 64, vmr->mr.lkey }, NULL);
	check_logged("are not all in the MR");
	buffer_check((struct ibv_sge){ (uintptr_t)memory + 100, UINT32_MAX, vmr->mr.lkey }, NULL);
	check_logged("are not all in the MR");
	verbs_check_dereg_mr(vmr);
}

static void an_unknown_lkey_is_not_judged(void **state)
{
	(void)state;
	buffer_check((struct ibv_sge){ 0, 64, 0xabcd }, "the receive");
	says_nothing();
}

static void a_region_of_another_pd_is_said(void **state)
{
	struct verbs_mr *vmr;

	(void)state;
	assert_int_equal(verbs_check_reg_mr(&other_pd, memory, 64, (uintptr_t)memory, 0, &vmr), 0);
	buffer_check(watched_sge(memory, 64, vmr), NULL);
	check_logged("lkey 0x100 is of an MR on PD 2, but the QP is on PD 1");
	verbs_check_dereg_mr(vmr);
}

static void a_write_to_a_readonly_region_is_said(void **state)
{
	struct verbs_mr *vmr = watched_region(memory, 64, IBV_ACCESS_REMOTE_READ);

	(void)state;
	buffer_check(watched_sge(memory, 64, vmr), NULL);
	says_nothing();
	buffer_check(watched_sge(memory, 64, vmr), "the receive");
	check_logged("the receive writes to the buffer, but the MR of lkey 0x100 lacks");
	verbs_check_dereg_mr(vmr);
}

static void a_dead_region_is_said(void **state)
{
	struct verbs_mr *vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);
	const struct ibv_sge sge = watched_sge(memory, 64, vmr);

	(void)state;
	provider.err = EBUSY;
	assert_int_equal(verbs_check_dereg_mr(vmr), EBUSY);
	buffer_check(sge, NULL);
	says_nothing();
	provider.err = 0;
	assert_int_equal(verbs_check_dereg_mr(vmr), 0);
	buffer_check(sge, NULL);
	check_logged("lkey 0x100 is of an MR that was deregistered (0x");
}

static void a_new_region_with_the_lkey_of_a_dead_one_is_right(void **state)
{
	struct verbs_mr *vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);

	(void)state;
	verbs_check_dereg_mr(vmr);
	provider.lkey--;
	vmr = watched_region(memory, 128, 0);
	buffer_check(watched_sge(memory, 128, vmr), NULL);
	says_nothing();
	verbs_check_dereg_mr(vmr);
}

static void a_reregistered_region_has_a_new_lkey(void **state)
{
	struct verbs_mr *vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);
	const struct ibv_sge before = watched_sge(memory, 64, vmr);

	(void)state;
	assert_int_equal(
		verbs_check_rereg_mr(vmr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory, 32, 0), 0);
	buffer_check(before, NULL);
	check_logged("ibv_rereg_mr() gave another lkey");
	buffer_check(watched_sge(memory, 32, vmr), "the receive");
	says_nothing();
	buffer_check(watched_sge(memory, 33, vmr), NULL);
	check_logged("which has 32 bytes");
	verbs_check_dereg_mr(vmr);
}

static void a_refused_reregistration_changes_nothing(void **state)
{
	struct verbs_mr *vmr = watched_region(memory, 64, IBV_ACCESS_LOCAL_WRITE);

	(void)state;
	provider.err = EINVAL;
	assert_int_equal(verbs_check_rereg_mr(vmr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
			 EINVAL);
	provider.err = 0;
	buffer_check(watched_sge(memory, 64, vmr), "the receive");
	says_nothing();
	verbs_check_dereg_mr(vmr);
}

/* Addresses of a zero-based region are offsets, so the checker does not judge them. */
static void a_zero_based_region_has_no_range(void **state)
{
	struct verbs_mr *vmr = watched_region(memory, 64, IBV_ACCESS_ZERO_BASED);

	(void)state;
	buffer_check((struct ibv_sge){ 0, 640, vmr->mr.lkey }, NULL);
	says_nothing();
	verbs_check_dereg_mr(vmr);
}

static void an_atomic_writes_8_bytes_to_one_buffer(void **state)
{
	struct verbs_mr *vmr = watched_region(memory, 8, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sges[2] = { watched_sge(memory, 64, vmr), watched_sge(memory, 4, vmr) };
	struct check_post of = post;

	(void)state;
	of.context = watched;
	verbs_check_atomic(&of, sges, 1);
	verbs_check_atomic(&of, &sges[1], 1);
	says_nothing();
	verbs_check_atomic(&of, sges, 2);
	check_logged("sg_list[0]: 64 bytes");
	sges[0].addr++;
	verbs_check_atomic(&of, sges, 1);
	check_logged("sg_list[0]: 8 bytes");
	verbs_check_dereg_mr(vmr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCHED_TEST(a_buffer_in_its_region_is_right),
		WATCHED_TEST(a_buffer_outside_is_said),
		WATCHED_TEST(an_unknown_lkey_is_not_judged),
		WATCHED_TEST(a_region_of_another_pd_is_said),
		WATCHED_TEST(a_write_to_a_readonly_region_is_said),
		WATCHED_TEST(a_dead_region_is_said),
		WATCHED_TEST(a_new_region_with_the_lkey_of_a_dead_one_is_right),
		WATCHED_TEST(a_reregistered_region_has_a_new_lkey),
		WATCHED_TEST(a_refused_reregistration_changes_nothing),
		WATCHED_TEST(a_zero_based_region_has_no_range),
		WATCHED_TEST(an_atomic_writes_8_bytes_to_one_buffer),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
