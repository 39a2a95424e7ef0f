/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host.h - whether the host lets softhca play the kernel. Each function returns 0 or a positive
 * errno, and logs one line that names what is refused, and the cure.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOST_H
#define SOFTHCA_FRONT_PROCESS_HOST_H

#include <sys/types.h>

/* Checks what is needed before there is a program: pages, /proc, and calls. */
int host_check(void);
/* Checks that the memory of PID can be reached: a process that was forked from this one. */
int host_check_memory(pid_t pid);
/* Explains why the filter of system calls was refused; ERROR is the errno of seccomp(). */
void host_explain_filter(int error);

#endif
