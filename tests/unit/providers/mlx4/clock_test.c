/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock_test.c - the adapter's clock, in the page of the device file that the kernel names (the
 * fourth).
 *
 * Covers: providers/mlx4/clock.c, providers/common/clock.c
 */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/mlx4/clock.h"
#include "util/mmio.h"

enum { CLOCK_PAGE = 3, OFFSET = 0x80 };

static struct ibv_values_ex raw_clock(struct rig *rig, int ret)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	assert_int_equal(mlx4_clock_query_rt_values(&rig->ctx->vctx.context, &values), ret);
	return values;
}

static void the_clock_is_two_words_of_a_page(void **state)
{
	const __be32 words[] = { htobe32(0x1234), htobe32(0x89abcdef) };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("device", 0);
	struct rig *rig = rig_new(NULL);
	struct ibv_values_ex values;

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)(CLOCK_PAGE + 1) * (off_t)size), 0);
	assert_int_equal(pwrite(fd, words, sizeof(words), (off_t)(CLOCK_PAGE * size + OFFSET)),
			 sizeof(words));
	rig->ctx->vctx.context.cmd_fd = fd;
	raw_clock(rig, EOPNOTSUPP);
	rig->ctx->device_resp.comp_mask = MLX4_IB_QUERY_DEV_RESP_MASK_CORE_CLOCK_OFFSET;
	rig->ctx->device_resp.hca_core_clock_offset = OFFSET;
	/* On such CPUs, a load from a register would kill the program. */
	values = raw_clock(rig, MMIO_IS_APART ? EOPNOTSUPP : 0);
	assert_int_equal(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	if (!MMIO_IS_APART)
		assert_int_equal(values.raw_clock.tv_nsec, (long)0x123489abcdef);
	values.comp_mask = 0;
	assert_int_equal(mlx4_clock_query_rt_values(&rig->ctx->vctx.context, &values), 0);
	assert_int_equal(values.comp_mask, 0);
	rig_free(rig);
	close(fd);
}

static void a_page_that_is_not_there_is_said(void **state)
{
	struct rig *rig = rig_new(NULL);

	(void)state;
	rig->ctx->vctx.context.cmd_fd = -1;
	rig->ctx->device_resp.comp_mask = MLX4_IB_QUERY_DEV_RESP_MASK_CORE_CLOCK_OFFSET;
	raw_clock(rig, EOPNOTSUPP);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_is_two_words_of_a_page),
		cmocka_unit_test(a_page_that_is_not_there_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
