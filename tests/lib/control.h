/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control.h - lets a program under run-mortal add faults to its adapter.
 */
#ifndef TESTS_LIB_CONTROL_H
#define TESTS_LIB_CONTROL_H

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/lib/say.h"

/* Sends TEXT to the adapter, and stores its answer. */
static inline void adapter_ask(const char *text, char *answer, size_t size)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("SOFTHCA_CONTROL");
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t len;

	MUST(path && strlen(path) < sizeof(addr.sun_path) && fd >= 0);
	strcpy(addr.sun_path, path);
	/* Binds to an address that the kernel chooses, so that the answer finds this process. */
	MUST(!bind(fd, (struct sockaddr *)&(struct sockaddr_un){ .sun_family = AF_UNIX },
		   sizeof(sa_family_t)));
	MUST(sendto(fd, text, strlen(text), 0, (struct sockaddr *)&addr, sizeof(addr)) > 0);
	len = recv(fd, answer, size - 1, 0);
	MUST(len > 0);
	answer[len] = '\0';
	close(fd);
}

/* Adds FAULT, in the notation of softhca's --fault. What it does at once has happened
 * on return. */
static inline void adapter_tell(const char *fault)
{
	char answer[64];

	adapter_ask(fault, answer, sizeof(answer));
	MUST(!strcmp(answer, "ok"));
}

#endif
