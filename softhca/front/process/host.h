/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host.h - checks whether the host allows the system calls that softhca needs. Each function
 * returns 0 or a positive errno, and logs what is refused and how to allow it.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOST_H
#define SOFTHCA_FRONT_PROCESS_HOST_H

#include <sys/types.h>

/* Checks everything that needs no program yet: page size, /proc, and system calls; so a container
 * that lacks them fails with one line, before the program starts. */
int host_check(void);
int host_check_memory(pid_t pid);
/* Explains why the kernel refused the seccomp filter; ERROR is seccomp()'s errno. */
void host_explain_filter(int error);

#endif
