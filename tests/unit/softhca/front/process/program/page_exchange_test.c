/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_exchange_test.c - pages that Linux has exchanged by itself: which events of the whole
 * machine count, and that one of them excuses any page. The test writes /proc/vmstat.
 *
 * Covers: softhca/front/process/program/page.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "softhca/front/process/program/page.c"

static const char *vmstat; /* NULL: there is no such file */

FILE *__wrap_fopen(const char *path, const char *mode) __attribute__((visibility("default")));
FILE *__wrap_fopen64(const char *path, const char *mode) __attribute__((visibility("default")));
FILE *__real_fopen(const char *path, const char *mode);

FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (strcmp(path, "/proc/vmstat"))
		return __real_fopen(path, mode);
	return vmstat ? fmemopen((void *)(uintptr_t)vmstat, strlen(vmstat), "r") : NULL;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	return __wrap_fopen(path, mode);
}

static unsigned long long counted(const char *text)
{
	vmstat = text;
	return count_exchanged();
}

static void events_that_exchange_pages_are_summed(void **state)
{
	(void)state;
	assert_int_equal(counted("pgmigrate_success 3\n"), 3);
	assert_int_equal(counted("nr_free_pages 1000\npgmigrate_success 3\npgmigrate_fail 70\n"
				 "thp_collapse_alloc 40\nthp_fault_alloc 7\npswpin 500\n"
				 "pswpout 9000\n"),
			 543);
	assert_int_equal(counted("nr_free_pages 1000\n"), 0);
	assert_true(counted("pswpin 18446744073709551615\n") == UINT64_MAX);
	assert_int_equal(counted(NULL), 0);
}

static void a_page_may_move_once_linux_has_exchanged_any(void **state)
{
	(void)state;
	vmstat = "pgmigrate_success 5\n";
	pthread_once(&first, learn_first);
	assert_int_equal(exchanged_at_first, 5);
	assert_int_equal(count_exchanged(), exchanged_at_first);
	vmstat = "pgmigrate_success 6\n";
	assert_int_not_equal(count_exchanged(), exchanged_at_first);
	page_identity(getpid(), (uintptr_t)&vmstat);
	assert_int_equal(exchanged_at_first, 5); /* still 5, as it is learnt once */
	assert_true(page_may_move(getpid(), (uintptr_t)&vmstat));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_that_exchange_pages_are_summed),
		cmocka_unit_test(a_page_may_move_once_linux_has_exchanged_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
