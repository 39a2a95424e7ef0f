/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reach.h - connects to a server that may still be starting.
 */
#ifndef SOFTHCA_FRONT_REACH_H
#define SOFTHCA_FRONT_REACH_H

#include <sys/un.h>

/* Connects the socket FD to ADDR, waiting up to 5 s for a server that has just been started.
 * Returns 0 or a positive errno; on failure logs how to start a server with the socket PATH. */
int reach_server(int fd, const struct sockaddr_un *addr, const char *path);

#endif
