/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repoll.h - the calls of repoll sets. Programs are linked with the distribution's library, which
 * lacks them, so they are looked up at run time in the library that the program runs on.
 */
#ifndef TESTS_CM_REPOLL_H
#define TESTS_CM_REPOLL_H

#include <sys/epoll.h>

extern int (*repoll_create_fn)(int size);
extern int (*repoll_ctl_fn)(int set, int op, int fd, struct epoll_event *event);
extern int (*repoll_wait_fn)(int set, struct epoll_event *events, int room, int timeout);

/* Looks the calls up. A program calls this before any of them. */
void repoll_find(void);

#endif
