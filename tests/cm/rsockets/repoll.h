/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * repoll.h - sets of rsockets. The distribution's library, which the programs are built with, has
 * none, so they are looked for in the one that a program runs on.
 */
#ifndef TESTS_CM_REPOLL_H
#define TESTS_CM_REPOLL_H

#include <sys/epoll.h>

extern int (*repoll_create_fn)(int size);
extern int (*repoll_ctl_fn)(int set, int op, int fd, struct epoll_event *event);
extern int (*repoll_wait_fn)(int set, struct epoll_event *events, int room, int timeout);

/* The program comes here before it calls one of them. */
void repoll_find(void);

#endif
