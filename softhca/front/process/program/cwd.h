/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cwd.h - lets programs change their directory into the tree of sysfs.h.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_CWD_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_CWD_H

#include <stdint.h>
#include <sys/types.h>

struct call;

/* Makes the caller's chdir() enter directory FD of the tree; ADDR is the path in its memory. */
void cwd_enter(struct call *call, uint64_t addr, int fd);
/* Restores the paths that cwd_enter() replaced for thread TID. Called when TID makes another call:
 * the kernel has read the paths then, and the program may read them from now on. */
void cwd_finish_moves(pid_t tid);
void cwd_get(struct call *call);

#endif
