/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * other_pages.c - preloaded library that makes sysconf() report pages of OTHER_PAGES bytes.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("default"))) long sysconf(int name)
{
	long (*const real)(int) = (long (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "sysconf");
	const char *bytes = name == _SC_PAGESIZE ? getenv("OTHER_PAGES") : NULL;

	return bytes ? atol(bytes) : real(name);
}
