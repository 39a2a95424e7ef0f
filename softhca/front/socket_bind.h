/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * socket_bind.h - gives a socket a file with permissions of our choice, whatever the umask is.
 */
#ifndef SOFTHCA_FRONT_SOCKET_BIND_H
#define SOFTHCA_FRONT_SOCKET_BIND_H

#include <sys/socket.h>
#include <sys/types.h>

/* Binds FD to ADDR; the file has MODE from its first moment. Changes the umask of the process
 * meanwhile, so that no other thread may create files. Returns 0 or a positive errno. */
int socket_bind(int fd, const struct sockaddr *addr, socklen_t len, mode_t mode);

#endif
