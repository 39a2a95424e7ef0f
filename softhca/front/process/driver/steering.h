/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steering.h - flow rules of programs in the adapter's flow tables.
 *
 * The tables of a direction are a chain: a frame that no rule of one matches goes on to the next.
 * Rules with the same match share an entry, and each of them gets the frame. All this is for the
 * notification thread only.
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
	STEERING_TRANSMIT, /* the chain that frames pass before they are sent, likewise */
	STEERING_LEVELS = STEERING_TRANSMIT + STEERING_MULTICAST + 1,
	STEERING_MATCH_SIZE = PRM_MATCH_SETS * PRM_MATCH_SET_SIZE,
};

struct adapter;
struct steering_rule;

struct steering_match {
	uint8_t mask[STEERING_MATCH_SIZE], value[STEERING_MATCH_SIZE];
	uint8_t criteria; /* PRM_MATCH_*: the sets of fields that the mask counts of */
};

enum steering_kind { STEERING_NOWHERE, STEERING_TO_TIR, STEERING_TO_TABLE };

struct steering_target {
	unsigned int action; /* PRM_FLOW_* */
	enum steering_kind to;
	uint32_t number;  /* of the TIR or table */
	uint32_t counter; /* the device's number, if the action counts */
	bool goes_on;     /* later tables see the frame too */
	bool misses;      /* it goes where frames go that nobody has a rule for */
};

struct steering_request {
	unsigned int level;
	struct steering_match match;
	struct steering_target target;
	bool has_tag;
	uint32_t tag;
	bool sees_sent; /* frames that the adapter sends are for the rule, too */
};

/* Says which sets of fields the mask has bits in. */
void steering_enable(struct steering_match *match);
/* Returns 0 and sets *RULE, or returns a positive errno: EEXIST for a match that has another tag,
 * or what drops, already; EINVAL for what the device does not do. */
int steering_add(struct adapter *adapter, const struct steering_request *request,
		 struct steering_rule **rule);
void steering_remove(struct adapter *adapter, struct steering_rule *rule);
/* Frees the memory; the device is gone. */
void steering_free(struct adapter *adapter);

#endif
