/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watchdog.h - interrupts a system call that a client keeps from returning.
 *
 * SECCOMP_IOCTL_NOTIF_RECV waits for a trapped call, and has no form that does not wait. A client
 * that keeps a copy of its listener can receive the call that the daemon has seen waiting.
 */
#ifndef SOFTHCA_FRONT_PROCESS_WATCHDOG_H
#define SOFTHCA_FRONT_PROCESS_WATCHDOG_H

#include <stdbool.h>

/* Blocks the watchdog's signal for the calling thread and those that it creates. Called before
 * other threads start, as their calls must not be interrupted. Returns 0 or an errno. */
int watchdog_block_signal(void);
/* Watches the calling thread, which is the only one to call the other functions. Returns 0 or an
 * errno. */
int watchdog_start(void);
void watchdog_stop(void);

/* Surround the call. It fails with EINTR between WATCHDOG_MS and twice that after its start;
 * watchdog_leave() then returns true. */
void watchdog_enter(void);
bool watchdog_leave(void);

enum { WATCHDOG_MS = 10 };

#endif
