/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * real_test.c - look-ups of libc's calls. A failing dlsym() allocates memory, and the program's
 * allocator may then make calls that the preload library replaces: these must not wait for the
 * look-up. Its error text must not appear in the program's dlerror().
 *
 * Covers: librdmacm/rsocket/preload/real.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <unistd.h>

static void *find_by_old_libc(void *handle, const char *name);

#define dlsym find_by_old_libc
#include "librdmacm/rsocket/preload/real.c"
#undef dlsym

static bool is_old; /* libc has only the symbols of its oldest version */
static int failures;

static void *find_by_old_libc(void *handle, const char *name)
{
	if (!is_old || (strcmp(name, "close_range") != 0 && strcmp(name, "epoll_pwait2") != 0))
		return dlsym(handle, name);
	failures++;
	if (failures < 10)
		assert_non_null(real()->close); /* call of the allocator */
	return dlsym(handle, "no_such_call");
}

static void calls_that_an_old_libc_has_not_are_null(void **state)
{
	(void)state;
	is_old = true;
	alarm(60); /* a limit, as a nested call may deadlock */
	assert_non_null(real()->socket);
	assert_null(real_close_range());
	assert_null(real_epoll_pwait2());
	alarm(0);
	assert_int_equal(failures, 2);
	assert_null(dlerror());
}

static void calls_that_libc_has_are_found(void **state)
{
	(void)state;
	is_old = false;
	assert_ptr_equal(real_close_range(), dlsym(RTLD_DEFAULT, "close_range"));
	assert_ptr_equal(real_close_range(), dlsym(RTLD_DEFAULT, "close_range"));
	assert_ptr_equal(real_epoll_pwait2(), dlsym(RTLD_DEFAULT, "epoll_pwait2"));
	assert_null(dlerror());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_an_old_libc_has_not_are_null),
		cmocka_unit_test(calls_that_libc_has_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
