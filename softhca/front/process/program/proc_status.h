/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc_status.h - /proc/PID/status of programs with pinned memory.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_PROC_STATUS_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_PROC_STATUS_H

#include <stdint.h>

struct call;

/* Answers open() of PATH with a copy if PATH is the status file of the caller's process, which has
 * pinned memory; otherwise leaves the call to the kernel. */
void proc_status_open(struct call *call, const char *path, uint64_t flags);

#endif
