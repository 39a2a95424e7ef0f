/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program waits by what its libraries import: by epoll_pwait() itself, and by libsystemd's event
 * loop if somebody runs it; servers that only report to libsystemd do not. The libraries are small
 * ones of the test's own, loaded one after the other.
 *
 * Covers: librdmacm/rsocket/preload/imports.c
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/rsocket/preload/preload.h"

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);

	if (!library)
		print_error("%s\n", dlerror());
	assert_non_null(library);
	return library;
}

static void libsystemd_alone_waits_for_nobody(void **state)
{
	void *libsystemd = load(FAKE_LIBSYSTEMD);

	(void)state;
	assert_false(preload_waits_elsewhere());
	dlclose(libsystemd);
}

static void event_loop_of_libsystemd_waits(void **state)
{
	void *libsystemd = load(FAKE_LIBSYSTEMD), *loop = load(RUNS_EVENT_LOOP);

	(void)state;
	assert_true(preload_waits_elsewhere());
	dlclose(loop);
	assert_false(preload_waits_elsewhere());
	dlclose(libsystemd);
}

static void importer_of_epoll_pwait_waits(void **state)
{
	void *stranger = load(WAITS_BY_PWAIT);

	(void)state;
	assert_true(preload_waits_elsewhere());
	dlclose(stranger);
	assert_false(preload_waits_elsewhere());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libsystemd_alone_waits_for_nobody),
		cmocka_unit_test(event_loop_of_libsystemd_waits),
		cmocka_unit_test(importer_of_epoll_pwait_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
