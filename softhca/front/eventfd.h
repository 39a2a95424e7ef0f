/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eventfd.h - eventfds that clients give, which belong to them as well: other processes may fill
 * them, and choose whether a write() waits.
 */
#ifndef SOFTHCA_FRONT_EVENTFD_H
#define SOFTHCA_FRONT_EVENTFD_H

#include <stdbool.h>

bool eventfd_is(int fd);
/* Prepares eventfd_signal(); call it in the process that signals. Returns false if eventfds in
 * blocking mode will be skipped. */
bool eventfd_start(void);
/* Adds one signal, and never waits. Any thread may call it. */
void eventfd_signal(int fd);

#endif
