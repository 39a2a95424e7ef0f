/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fd_number.h - numbers for the descriptors that programs get of softhca's files.
 *
 * They are of the filter's band (seccomp.h), so that calls on them are seen. The kernel knows how
 * to give a process a descriptor at a number, whatever stands there, or at its lowest free number.
 * Other threads of the program open files meanwhile, and get the lowest free numbers, so ours are
 * high ones with free numbers below. Where there are no such numbers and none are free below the
 * band, the kernel chooses.
 */
#ifndef SOFTHCA_FRONT_PROCESS_FD_NUMBER_H
#define SOFTHCA_FRONT_PROCESS_FD_NUMBER_H

#include <stdbool.h>
#include <sys/types.h>

struct call;

/* The number that the kernel chooses */
enum { FD_NUMBER_LOWEST = -1 };

/* Raises the limit of that process, as far as its hard limit goes, to the end of the numbers that
 * select() knows. Returns 0 or a positive errno. */
int fd_number_raise_limit(pid_t tid);
/* Finds a number for a descriptor in the process of thread TID, whose limit is raised where needed
 * and possible: a free one, or FD_NUMBER_LOWEST. Returns 0 or EMFILE. */
int fd_number_pick(pid_t tid, int *number);
/* Gives the caller a copy of FD at NUMBER, as fd_number_pick() has chosen it, without answering
 * yet; *NUMBER becomes the number that the caller has it at. Returns 0 or a positive errno. */
int fd_number_place(struct call *call, int fd, bool cloexec, int *number);
/* Answers the call by such a descriptor, or by the error. */
void fd_number_return(struct call *call, int fd, bool cloexec, int number);

#endif
