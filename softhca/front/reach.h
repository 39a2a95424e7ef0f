/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reach.h - connects to a server, which may be on its way.
 */
#ifndef SOFTHCA_FRONT_REACH_H
#define SOFTHCA_FRONT_REACH_H

#include <sys/un.h>

/* Connects the socket FD to ADDR, waiting up to 5 s for a server that was just started. Returns 0
 * or a positive errno, and logs what to start: the server whose socket is PATH. */
int reach_server(int fd, const struct sockaddr_un *addr, const char *path);

#endif
