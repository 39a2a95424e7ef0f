/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The small libraries of imports_test.c, which ask for these calls; nobody runs them. Each is built
 * from this file with the name of one.
 */
#include <stddef.h>
#include <sys/epoll.h>

int sd_event_loop(void *loop);
__attribute__((visibility("default"))) int imports_wait(void);

int imports_wait(void)
{
#if defined(BY_EVENT_LOOP)
	return sd_event_loop(NULL);
#elif defined(BY_EPOLL_PWAIT2)
	return epoll_pwait2(-1, NULL, 0, NULL, NULL);
#else
	return epoll_pwait(-1, NULL, 0, -1, NULL);
#endif
}
