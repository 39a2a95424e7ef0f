/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * credentials.h - tells which threads share Linux' credentials.
 *
 * A thread shares those of the thread that started it. A change of user or group gives the calling
 * thread credentials of its own, even if the ids stay the same (the C library makes all threads of
 * a process call it).
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_CREDENTIALS_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/notify.h"

/* The credentials of a file's opener. */
struct credentials {
	unsigned int uid;
	uint64_t change; /* number of the thread's last change; 0: none seen */
	uint64_t since;  /* number of the last change of any thread when the file was opened */
};

/* Records a change of user or group by the caller. The kernel executes the call. */
void credentials_change(struct call *call);
struct credentials credentials_of(const struct client *client, pid_t tid);
/* Returns whether thread TID has the credentials of a file's opener. A thread that started after a
 * change has those of its starter, which is unknown: such a thread is assumed to match. */
bool credentials_are_of(const struct credentials *credentials, const struct client *client,
			pid_t tid);

#endif
