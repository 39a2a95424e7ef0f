/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server_socket.h - the socket that a server is reached at. Its file gets its name when there is
 * somebody who listens; one that a killed server left over is replaced.
 */
#ifndef SOFTHCA_FRONT_PROCESS_SERVER_SOCKET_H
#define SOFTHCA_FRONT_PROCESS_SERVER_SOCKET_H

#include <stdbool.h>

/* Return 0 or a positive errno, EADDRINUSE where another server listens. */
int server_socket_open(const char *path, int *sock);
int server_socket_show(const char *path);
/* SHOWN says that the socket has its name. */
void server_socket_close(int sock, const char *path, bool shown);

#endif
