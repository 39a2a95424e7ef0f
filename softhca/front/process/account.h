/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * account.h - what the programs of one user have together.
 *
 * An account lives as long as a client of its user. All calls are made in the thread that answers
 * calls.
 */
#ifndef SOFTHCA_FRONT_PROCESS_ACCOUNT_H
#define SOFTHCA_FRONT_PROCESS_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/front/process/object_counts.h"
#include "softhca/options.h"

struct account {
	LIST_ENTRY(account) in_all;
	unsigned int uid;
	bool is_ours; /* of the user that runs this server, whom no share limits */
	unsigned int clients;
	struct object_counts objects[MAX_DEVICES]; /* on each adapter; see uverbs/quota.h */
	uint32_t refused_kinds; /* bits of enum object_kind; see uverbs/quota.c */
};

/* Finds or creates the account of user UID, and adds a client. Returns NULL without memory. */
struct account *account_get(unsigned int uid);
void account_put(struct account *account);

#endif
