/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * real.c - looks up the calls of the next library behind this one, which is libc.
 */
#include "preload.h"

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
