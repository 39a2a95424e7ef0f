/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pinned.h - memory of programs that adapters use in place, counted against RLIMIT_MEMLOCK.
 *
 * Nothing is pinned here, yet it counts as Linux counts: whole pages of regions, rings and umems,
 * once for each; the page of a doorbell record once for all records in it. Memory on demand and
 * files do not count. A call pins what it needs, and the object that it makes takes that over; what
 * no object has taken at the end of the call is given back. Sources: ib_umem_get(),
 * mlx5_ib_db_map_user() in Linux 6.1
 */
#ifndef SOFTHCA_FRONT_PROCESS_PINNED_H
#define SOFTHCA_FRONT_PROCESS_PINNED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct client;

/* A page with doorbell records */
struct pinned_record {
	LIST_ENTRY(pinned_record) entry;
	struct client *client;
	uint64_t page;
	unsigned int users;
};
LIST_HEAD(pinned_records, pinned_record);

/* What an object has pinned, or a call before there is an object. The client is that of the pages;
 * it has more users as long as there are any. */
struct pinned {
	struct client *client;
	uint64_t pages;
	struct pinned_record *record; /* NULL: none */
};

/* Programs may pin all they wish. */
void pinned_lift_limit(void);

/* Pin LEN bytes at ADDR of CLIENT for the call of its thread TID. Return 0, EPERM where nothing may
 * be pinned at all, or ENOMEM beyond the limit. */
int pinned_add(struct client *client, pid_t tid, uint64_t addr, uint64_t len);
int pinned_add_record(struct client *client, pid_t tid, uint64_t addr);
/* What CLIENT's call has pinned becomes PINNED, in place of the pages that it was. Its record stays
 * if the call has none. */
void pinned_take(struct client *client, struct pinned *pinned);
void pinned_drop(struct pinned *pinned);

#endif
