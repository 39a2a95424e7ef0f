/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repoll.c - see repoll.h.
 */
#include "repoll.h"
#include "tests/lib/say.h"

#include <dlfcn.h>
#include <stdint.h>

int (*repoll_create_fn)(int size);
int (*repoll_ctl_fn)(int set, int op, int fd, struct epoll_event *event);
int (*repoll_wait_fn)(int set, struct epoll_event *events, int room, int timeout);

static uintptr_t function_find(const char *name)
{
	uintptr_t function = (uintptr_t)dlsym(RTLD_DEFAULT, name);

	MUST(function);
	return function;
}

void repoll_find(void)
{
	repoll_create_fn = (int (*)(int))function_find("repoll_create");
	repoll_ctl_fn = (int (*)(int, int, int, struct epoll_event *))function_find("repoll_ctl");
	repoll_wait_fn = (int (*)(int, struct epoll_event *, int, int))function_find("repoll_wait");
}
