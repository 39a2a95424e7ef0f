/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fd_number.h - numbers of the descriptors that programs get for softhca's files.
 *
 * They are in the filter's band (seccomp.h), so that calls on them are trapped. The kernel can
 * place a descriptor in a process at a given number, replacing any that is there, or at the lowest
 * free one. Other threads open files at the same time and get the lowest free numbers; so ours are
 * high, with free numbers below. If there are no such numbers, and none below the band is free, the
 * kernel chooses.
 */
#ifndef SOFTHCA_FRONT_PROCESS_FD_NUMBER_H
#define SOFTHCA_FRONT_PROCESS_FD_NUMBER_H

#include <stdbool.h>
#include <sys/types.h>

struct call;

/* value of NUMBER: the kernel chooses the number */
enum { FD_NUMBER_LOWEST = -1 };

/* Raises the process's soft limit of descriptors to FD_SELECT_END, if its hard limit allows that.
 * Returns 0 or a positive errno. */
int fd_number_raise_limit(pid_t tid);
/* Chooses a free number for a descriptor in thread TID's process, or FD_NUMBER_LOWEST. Raises the
 * limit of descriptors if necessary and possible. Returns 0 or EMFILE. */
int fd_number_pick(pid_t tid, int *number);
/* Gives the caller a copy of FD at *NUMBER, which fd_number_pick() has chosen; does not answer the
 * call. Sets *NUMBER to the descriptor's actual number. Returns 0 or a positive errno. */
int fd_number_place(struct call *call, int fd, bool cloexec, int *number);
/* Gives the caller a copy of FD as fd_number_place() does, and answers the call with its number or
 * with the error. */
void fd_number_return(struct call *call, int fd, bool cloexec, int number);

#endif
