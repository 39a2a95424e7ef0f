/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc_status.h - /proc/PID/status of programs that have memory pinned.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_PROC_STATUS_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_PROC_STATUS_H

#include <stdint.h>

struct call;

/* Answers the opening of PATH if that is such a file; else the kernel does. */
void proc_status_open(struct call *call, const char *path, uint64_t flags);

#endif
