/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * real.c - looks up the intercepted functions in the next library, libc, because this library's own
 * names hide them.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <dlfcn.h>
#include <pthread.h>

static struct real_calls calls;

static void look_up_calls(void)
{
#define LOOK_UP(type, name, ...) *(void **)&calls.name = dlsym(RTLD_NEXT, #name);
	REAL_CALLS(LOOK_UP)
#undef LOOK_UP
}

const struct real_calls *real(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, look_up_calls);
	return &calls;
}

/* Looks up a function that may be missing. Holds no lock, and looks again in each call: a failed
 * lookup allocates memory for dlerror()'s text, and the allocator may call intercepted functions.
 * Clears the text, because programs use dlerror() for their own lookups. */
static void *look_up_optional(const char *name, void **cache)
{
	void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);

	if (found)
		return found;
	found = dlsym(RTLD_NEXT, name);
	if (found)
		__atomic_store_n(cache, found, __ATOMIC_RELAXED);
	else
		dlerror();
	return found;
}

real_close_range_call *real_close_range(void)
{
	static void *cache;

	return (real_close_range_call *)look_up_optional("close_range", &cache);
}

real_epoll_pwait2_call *real_epoll_pwait2(void)
{
	static void *cache;

	return (real_epoll_pwait2_call *)look_up_optional("epoll_pwait2", &cache);
}
