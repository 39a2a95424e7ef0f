/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own.h - topics of cm-own beside those of calls.c.
 */
#ifndef TESTS_CM_OWN_H
#define TESTS_CM_OWN_H

void own_binds(void);
void own_commands(void);
void own_ece(void);
void own_loopback(void);
void own_races(void);
void own_requests(void);
void own_retries(void);

#endif
