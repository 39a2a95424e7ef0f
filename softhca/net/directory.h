/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * directory.h - the files of a network's directory: for each host a socket, N.ib or N.roce, and a
 * description, N.host. N is the host's number. A file is made under another name first, with .new
 * at its end.
 *
 * Any user who may write there can put anything there, so a reader checks what it finds. A host
 * that joins holds the lock of DIRECTORY/lock. DIR is a descriptor of the directory. network.c and
 * hosts.c use the functions here.
 */
#ifndef SOFTHCA_NET_DIRECTORY_H
#define SOFTHCA_NET_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

/* Calls FOUND for each socket, until FOUND returns nonzero. Returns that value; 0 after the last
 * socket; or an errno. */
int directory_sockets(int dir,
		      int (*found)(void *owner, const char *name, unsigned int host, bool ethernet),
		      void *owner);
/* Waits up to WAIT_MS for the lock of the directory; the user needs the right to write to the lock
 * file. Returns 0 and *LOCK, a descriptor that holds the lock until it is closed; or an errno,
 * EWOULDBLOCK after that time. */
int directory_lock(int dir, int wait_ms, int *lock);
/* Listens on FD as the socket NAME. The caller has the lock of the directory, and has called
 * directory_clean() for the host. Returns 0 or an errno: EEXIST if another host has taken the name
 * without the lock. */
int directory_listen(int dir, const char *name, int fd);
/* Connects to the socket NAME. Returns 0 and *FD, or an errno: ECONNREFUSED if its host was killed
 * and left the file, EAGAIN if it accepts no connections and many wait. */
int directory_connect(int dir, const char *name, int *fd);
/* Returns 0 if the process at the other end of the connection FD also listens at the socket NAME,
 * EPERM if another process does, or an errno if that cannot be found out. Compares only the users
 * of the processes if these are of other PID namespaces, or if the socket does not let us
 * connect. */
int directory_prove(int dir, const char *name, int fd);

int directory_describe(int dir, unsigned int host, const char *text, size_t len);
/* Reads a host's description, of at most SIZE - 1 bytes, and ends it with a 0. Returns 0 or an
 * errno. */
int directory_read(int dir, unsigned int host, char *text, size_t size);
void directory_clean(int dir, unsigned int host);
/* Removes the files of a host: its description, unfinished files (.new) of a killed process, then
 * its socket NAME. */
void directory_remove(int dir, const char *name, unsigned int host);

#endif
