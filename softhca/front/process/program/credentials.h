/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * credentials.h - which threads have Linux' credentials in common.
 *
 * Threads share those of who started them. A change of user or group is each thread's own (the C
 * library has all threads of a process make the same call), and gives it credentials that no other
 * thread has, also when the numbers in them are the same as before.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_CREDENTIALS_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/notify.h"

/* The credentials of one who opens a file. */
struct credentials {
	unsigned int uid;
	uint64_t change; /* the thread's last change; 0: none was seen */
	uint64_t since;  /* all changes up to here were before it */
};

/* A thread is about to change its user or group. The call goes on in the kernel. */
void credentials_change(struct call *call);
struct credentials credentials_of(const struct client *client, pid_t tid);
/* Whether thread TID has the same credentials. A thread that was started after a change shares
 * those of who has started it, and nobody has seen who that was: it gets the benefit of the
 * doubt. */
bool credentials_are_of(const struct credentials *credentials, const struct client *client,
			pid_t tid);

#endif
