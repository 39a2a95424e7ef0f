/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client.h - processes that use an adapter: their memory and their descriptors.
 *
 * A client is a process that issued an RDMA call, from then on until it ends or executes another
 * program. It has a slot, which is in bits 59:48 of the bus addresses of its memory, and is nobody
 * else's as long as something refers to the client.
 */
#ifndef SOFTHCA_FRONT_PROCESS_CLIENT_H
#define SOFTHCA_FRONT_PROCESS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "softhca/device/hca.h"
#include "softhca/front/process/program/address_space.h"
#include "softhca/front/process/pinned.h"
#include "softhca/front/process/watch.h"

enum { CLIENT_VA_BITS = 48 };
/* A bit of bus addresses: the program's rights to the memory count whenever it is used. */
#define CLIENT_ON_DEMAND (1ull << 60)

/* Copy memory of the process that thread TID belongs to. Returns 0 or EFAULT. */
int client_read(pid_t tid, uint64_t addr, void *buf, size_t len);
int client_write(pid_t tid, uint64_t addr, const void *buf, size_t len);
/* Reads a string of less than SIZE bytes. It returns 0, EFAULT or ENAMETOOLONG. */
int client_read_string(pid_t tid, uint64_t addr, char *buf, size_t size);

/* Whether thread TID has the capability, and not only in a namespace of its own. */
enum {
	CLIENT_CAP_DAC_OVERRIDE = 1,
	CLIENT_CAP_NET_BIND_SERVICE = 10,
	CLIENT_CAP_NET_RAW = 13,
	CLIENT_CAP_IPC_LOCK = 14,
	CLIENT_CAP_SYS_RAWIO = 17,
};
bool client_may(pid_t tid, unsigned int capability);

/* Says what descriptor FD of that process is; returns 0 or EBADF. */
int client_fd_stat(pid_t tid, int fd, struct stat *st);
/* Says where descriptor FD, or the working directory for AT_FDCWD, is: an absolute path. */
int client_dir_path(pid_t tid, int fd, char *buf, size_t size);
/* Returns a copy of descriptor FD, or -1. What it is may not be what it was a moment ago. */
int client_fd_copy(pid_t tid, int fd);
/* The same, if FD still is the file that DEV and INO name. */
int client_fd_copy_of(pid_t tid, int fd, dev_t dev, ino_t ino);

/* What a thread did to its user or group last; credentials.c counts. */
struct credentials_change {
	LIST_ENTRY(credentials_change) entry;
	pid_t tid;
	uint64_t started; /* when the thread was, as another one may have its number later */
	uint64_t number;
};

/* The number that the process was given last for a descriptor, and one below the band that was free
 * then: fd_number.c. */
struct fd_hint {
	int last, below;
};

struct client {
	struct watch watch; /* its pidfd: readable when it has ended */
	pid_t pid;
	uint16_t slot;
	bool dead; /* so is its memory */
	struct address_space space;
	struct fd_hint fd_hint;
	uint64_t pinned_pages; /* in all; see pinned.h */
	struct pinned pinning; /* pinned by the call in progress, not yet owned by an object */
	struct pinned_records records;
	unsigned int users;
	LIST_HEAD(, credentials_change) changes;
};

/* Finds the client that thread TID belongs to, which has one more user then. It returns 0, ESRCH,
 * or ENOSPC when all slots are in use. */
int client_get(pid_t tid, struct client **client);
/* Adds a user to CLIENT, which has one already. */
void client_keep(struct client *client);
void client_put(struct client *client);
/* Asks whether TID is a thread of CLIENT, which is cheap for the main thread. */
bool client_has_thread(const struct client *client, pid_t tid);
/* Returns the client that thread TID belongs to, or NULL. */
struct client *client_find(pid_t tid);
/* Reads the real, effective and saved numbers of thread TID: "Uid" or "Gid". It returns false if
 * they are not known. */
bool client_thread_ids(pid_t tid, const char *kind, unsigned int ids[3]);
/* Returns when thread TID was started, in ticks since the system was, or 0 if that is not known. */
uint64_t client_thread_start(pid_t tid);
bool client_thread_is_there(pid_t tid);
/* Returns the effective user of thread TID. */
#define UID_UNKNOWN (~0U)
unsigned int client_thread_uid(pid_t tid);

static inline uint64_t client_bus_addr(const struct client *client, uint64_t addr)
{
	return (uint64_t)client->slot << CLIENT_VA_BITS | (addr & ((1ull << CLIENT_VA_BITS) - 1));
}

/* Asks whether process CLIENT could be made to pin LEN bytes at ADDR, writable or not, i.e. whether
 * all are mapped with those rights. It returns 0 or EFAULT. */
int client_check_range(const struct client *client, uint64_t addr, uint64_t len, bool writable);

extern const struct hca_bus_ops client_bus_ops;

#endif
