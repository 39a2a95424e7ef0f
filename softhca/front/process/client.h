/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * client.h - processes that use an adapter: their memory and their descriptors.
 *
 * A process becomes a client with its first RDMA call, until it ends or executes another program.
 * Its slot is bits 59:48 of the bus addresses of its memory, and is not reused while anything
 * refers to the client.
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
#include "softhca/front/process/account.h"
#include "softhca/front/process/object_counts.h"
#include "softhca/front/process/pinned.h"
#include "softhca/front/process/program/address_space.h"
#include "softhca/front/process/watch.h"
#include "softhca/options.h"

enum { CLIENT_VA_BITS = 48 };
/* Bit of a bus address of on-demand memory: each access checks the program's rights, as the program
 * may unmap or protect the memory after its registration. */
#define CLIENT_ON_DEMAND (1ull << 60)

/* Copy from and to memory of thread TID's process. Return 0 or EFAULT. */
int client_read(pid_t tid, uint64_t addr, void *buf, size_t len);
int client_write(pid_t tid, uint64_t addr, const void *buf, size_t len);
int client_read_string(pid_t tid, uint64_t addr, char *buf, size_t size);

/* Capabilities. client_may() returns whether thread TID has one in its effective set, and is in
 * softhca's own user namespace, as it may have any capability in another. */
enum {
	CLIENT_CAP_DAC_OVERRIDE = 1,
	CLIENT_CAP_NET_BIND_SERVICE = 10,
	CLIENT_CAP_NET_RAW = 13,
	CLIENT_CAP_IPC_LOCK = 14,
	CLIENT_CAP_SYS_RAWIO = 17,
};
bool client_may(pid_t tid, unsigned int capability);

/* Gets the status of descriptor FD of thread TID's process. Returns 0, EBADF if FD is not open, or
 * another errno. */
int client_fd_stat(pid_t tid, int fd, struct stat *st);
/* Gets the absolute path of directory descriptor FD, or of the working directory for AT_FDCWD. */
int client_dir_path(pid_t tid, int fd, char *buf, size_t size);
/* Returns a copy of descriptor FD, or -1. TID may belong to another process by then:
 * caller_fd_copy() checks that. */
int client_fd_copy(pid_t tid, int fd);
/* Returns a copy of descriptor FD, or -1 if it is not the file DEV, INO, as the program may have
 * replaced the descriptor. */
int client_fd_copy_of(pid_t tid, int fd, dev_t dev, ino_t ino);

/* The last change of a thread's user or group. credentials.c numbers all changes. */
struct credentials_change {
	LIST_ENTRY(credentials_change) entry;
	pid_t tid;
	uint64_t started; /* start time of the thread, as its number may be reused */
	uint64_t number;
};

/* The last number given for a descriptor, and a free one below the band: hints for fd_number.c. */
struct fd_hint {
	int last, below;
};

struct client {
	struct watch watch;
	pid_t pid;
	uint16_t slot;
	bool dead; /* its memory is gone */
	struct address_space space;
	struct fd_hint fd_hint;
	/* all pages that the process has pinned, checked against its RLIMIT_MEMLOCK: see
	 * pinned.h */
	uint64_t pinned_pages;
	struct pinned pinning; /* pinned by the current call, not yet owned by an object */
	struct pinned_records records;
	unsigned int users;
	struct account *account; /* of the user that the process had when it became a client */
	struct object_counts objects[MAX_DEVICES]; /* on each adapter; see uverbs/quota.h */
	uint32_t refused_kinds; /* bits of enum object_kind; see uverbs/quota.c */
	LIST_HEAD(, credentials_change) changes;
};

/* Finds or creates the client of thread TID, and adds a user. Returns 0, ESRCH, or ENOSPC if all
 * slots are in use. */
int client_get(pid_t tid, struct client **client);
/* Undoes a client_get() that created CLIENT, when TID turns out to belong to another process. Ends
 * the client. */
void client_forget(struct client *client);
/* Adds a user to CLIENT, which has one already. */
void client_keep(struct client *client);
void client_put(struct client *client);
/* Returns whether TID is a thread of CLIENT. Reads /proc unless TID is the main thread, whose TID
 * is the PID. */
bool client_has_thread(const struct client *client, pid_t tid);
struct client *client_find(pid_t tid);
/* Reads the real, effective and saved ids of thread TID; KIND is "Uid" or "Gid". Returns false if
 * they are not known. */
bool client_thread_ids(pid_t tid, const char *kind, unsigned int ids[3]);
/* Returns the start time of thread TID in ticks since boot, or 0 if unknown. */
uint64_t client_thread_start(pid_t tid);
bool client_thread_is_there(pid_t tid);
/* Returns the effective user id of thread TID, or UID_UNKNOWN. */
#define UID_UNKNOWN (~0U)
unsigned int client_thread_uid(pid_t tid);

static inline uint64_t client_bus_addr(const struct client *client, uint64_t addr)
{
	return (uint64_t)client->slot << CLIENT_VA_BITS | (addr & ((1ull << CLIENT_VA_BITS) - 1));
}

/* Returns 0 if LEN bytes at ADDR of CLIENT are mapped, and writable if WRITABLE, so that they could
 * be pinned; else EFAULT. */
int client_check_range(const struct client *client, uint64_t addr, uint64_t len, bool writable);

extern const struct hca_bus_ops client_bus_ops;

#endif
