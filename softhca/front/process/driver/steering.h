/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steering.h - flow rules of programs in the adapter's flow tables.
 *
 * The tables are a chain: a frame that no rule of one matches goes on to the next. Rules with the
 * same match share an entry, and each of them gets the frame. All this is for the notification
 * thread only.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_STEERING_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_STEERING_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/flow.h"

enum {
	STEERING_PRIORITIES = 16,                     /* that programs can give */
	STEERING_MULTICAST = 2 * STEERING_PRIORITIES, /* level of rules for groups only */
	STEERING_LEFTOVERS,                           /* of what nothing else took */
	STEERING_SENT,                                /* no table of that chain: of what is sent */
	STEERING_LEVELS,
	STEERING_MATCH_SIZE =
		2 * PRM_MATCH_SET_SIZE, /* outer headers, then what is miscellaneous */
};

struct adapter;
struct steering_rule;

struct steering_match {
	uint8_t mask[STEERING_MATCH_SIZE], value[STEERING_MATCH_SIZE];
};

struct steering_request {
	unsigned int level;
	struct steering_match match;
	uint32_t tirn; /* where it goes, unless DROP */
	uint32_t tag;
	bool drop;
	bool counts;
	uint32_t counter; /* the device's number, if COUNTS */
	bool goes_on;     /* later tables see the frame too */
	bool sees_sent;   /* frames that the adapter sends are for the rule, too */
};

/* The function returns 0 and sets *RULE, or returns a positive errno: EEXIST for a match that has
 * another tag or counter, or what drops, already. */
int steering_add(struct adapter *adapter, const struct steering_request *request,
		 struct steering_rule **rule);
void steering_remove(struct adapter *adapter, struct steering_rule *rule);
/* The function frees the memory; the device is gone. */
void steering_free(struct adapter *adapter);

#endif
