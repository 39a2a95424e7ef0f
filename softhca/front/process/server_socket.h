/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server_socket.h - the socket file of a server. It appears only when the server listens, and
 * replaces one that a killed server left.
 */
#ifndef SOFTHCA_FRONT_PROCESS_SERVER_SOCKET_H
#define SOFTHCA_FRONT_PROCESS_SERVER_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

/* Create the server's socket, and give it the name PATH. Return 0 or a positive errno; EADDRINUSE
 * if another server listens at PATH. MODE is the mode of the file: users who may write to it can
 * connect. */
int server_socket_open(const char *path, mode_t mode, int *sock);
int server_socket_show(const char *path);
/* Closes the socket and removes its file. SHOWN: server_socket_show() has given it the name
 * PATH. */
void server_socket_close(int sock, const char *path, bool shown);

#endif
