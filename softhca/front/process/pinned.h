/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pinned.h - memory of programs that adapters use, counted against RLIMIT_MEMLOCK.
 *
 * Nothing is pinned here, but it counts as in Linux: whole pages of regions, rings and UMEMs, once
 * for each; the page of a doorbell record once for all records in it. On-demand memory and files do
 * not count. A call pins the memory that it needs, and the object that it creates takes that over;
 * at the end of the call, the rest is unpinned. Sources: ib_umem_get(), mlx5_ib_db_map_user() in
 * Linux 6.1
 */
#ifndef SOFTHCA_FRONT_PROCESS_PINNED_H
#define SOFTHCA_FRONT_PROCESS_PINNED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct client;

struct pinned_record {
	LIST_ENTRY(pinned_record) entry;
	struct client *client;
	uint64_t page;
	unsigned int users;
};
LIST_HEAD(pinned_records, pinned_record);

/* Pages that an object, or a call before it has an object, has pinned. CLIENT is their process, and
 * is referenced while there are any. */
struct pinned {
	struct client *client;
	uint64_t pages;
	struct pinned_record *record; /* NULL: none */
};

void pinned_lift_limit(void);

/* Pin LEN bytes at ADDR of CLIENT, or a doorbell record, for the call of its thread TID. Return 0,
 * EPERM if the limit is 0, or ENOMEM beyond it. */
int pinned_add(struct client *client, pid_t tid, uint64_t addr, uint64_t len);
int pinned_add_record(struct client *client, pid_t tid, uint64_t addr);
/* Moves the pages that CLIENT's call has pinned to PINNED, replacing its earlier ones. Its record
 * stays if the call has pinned none. */
void pinned_take(struct client *client, struct pinned *pinned);
void pinned_drop(struct pinned *pinned);

#endif
