/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * clock_test.c - the adapter's clock, in the page of the device file that the kernel names;
 * refused on CPUs that cannot load from an adapter's page.
 *
 * Covers: providers/mlx5/clock.c, providers/common/clock.c
 */
#include "providers/mlx5/clock.h"

#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/mlx5/context.h"
#include "util/mmio.h"

enum { OFFSET = 0x80 };

static void the_clock_is_two_words_of_a_page(void **state)
{
	const __be32 words[] = { htobe32(0x1234), htobe32(0x89abcdef) };
	const off_t page = (off_t)(MLX5_IB_MMAP_CORE_CLOCK << 8) * sysconf(_SC_PAGESIZE);
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx));
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int fd = memfd_create("device", 0);

	(void)state;
	assert_non_null(ctx);
	assert_int_equal(ftruncate(fd, page + sysconf(_SC_PAGESIZE)), 0);
	assert_int_equal(pwrite(fd, words, sizeof(words), page + OFFSET), sizeof(words));
	ctx->vctx.context.cmd_fd = fd;
	provider_clock_page_init(&ctx->common.clock);
	ctx->caps.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
	ctx->caps.hca_core_clock_offset = OFFSET;
	assert_int_equal(mlx5_clock_query_rt_values(&ctx->vctx.context, &values),
			 MMIO_IS_APART ? EOPNOTSUPP : 0);
	if (!MMIO_IS_APART)
		assert_int_equal(values.raw_clock.tv_nsec, (long)0x123489abcdef);
	provider_clock_page_destroy(&ctx->common.clock);
	free(ctx);
	close(fd);
}

/* The kernel may stop in the middle of an update, as in a paused virtual machine, so readers give
 * up instead of spinning. */
static void a_page_that_stays_being_updated_is_busy(void **state)
{
	struct mlx5_ib_clock_info page = { .sign = 2, .cycles = 5, .nsec = 7 }, copy;

	(void)state;
	assert_int_equal(clock_snapshot(&page, &copy), 0);
	assert_int_equal(copy.cycles, 5);
	assert_int_equal(copy.nsec, 7);
	page.sign |= MLX5_IB_CLOCK_INFO_KERNEL_UPDATING;
	assert_int_equal(clock_snapshot(&page, &copy), EBUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_is_two_words_of_a_page),
		cmocka_unit_test(a_page_that_stays_being_updated_is_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
