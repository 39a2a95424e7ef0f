/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refused_users.h - users whose programs may not join for a while, because one of them has made the
 * server wait. NOW is timer_now(). All calls are made in the thread of the daemon's poll loop.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_REFUSED_USERS_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_REFUSED_USERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "softhca/front/process/timer.h"

enum { REFUSED_USER_MS = 10000 };

/* Refuses USER for a time. If the table is full, USER replaces the user whose time ends first. */
void refused_users_add(uid_t user, uint64_t now);
bool refused_users_has(uid_t user, uint64_t now);

#endif
