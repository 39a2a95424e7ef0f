/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steering.h - flow rules of programs in the adapter's flow tables.
 *
 * The tables of each direction form a chain: a frame that matches no rule of one goes on to the
 * next. Rules with the same match share an entry, and each gets the frame. Only for the
 * notification thread.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_STEERING_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_STEERING_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/flow.h"

enum {
	STEERING_PRIORITIES = 16,
	STEERING_MULTICAST = 2 * STEERING_PRIORITIES, /* level of rules for multicast only */
	STEERING_LEFTOVERS, /* level for frames that no other rule takes */
	STEERING_SENT,      /* a separate chain: frames that were sent */
	STEERING_TRANSMIT,  /* first level of a third chain: frames before they are sent */
	STEERING_LEVELS = STEERING_TRANSMIT + STEERING_MULTICAST + 1,
	STEERING_MATCH_SIZE = PRM_MATCH_SETS * PRM_MATCH_SET_SIZE,
};

struct adapter;
struct steering_rule;

struct steering_match {
	uint8_t mask[STEERING_MATCH_SIZE], value[STEERING_MATCH_SIZE];
	uint8_t criteria; /* PRM_MATCH_*: sets of fields that the mask uses */
};

enum steering_kind { STEERING_NOWHERE, STEERING_TO_TIR, STEERING_TO_TABLE };

struct steering_target {
	unsigned int action; /* PRM_FLOW_* */
	enum steering_kind to;
	uint32_t number;  /* number of the TIR or table */
	uint32_t counter; /* number of the device's counter, if the action counts */
	/* number of the device's list of header changes, if the action has one */
	uint32_t change;
	/* number of the device's object with headers to add or remove, if the action has one */
	uint32_t reformat;
	bool goes_on; /* frames also go on to the next table */
	bool misses;  /* frames go where frames without a matching rule go */
};

struct steering_request {
	unsigned int level;
	struct steering_match match;
	struct steering_target target;
	bool has_tag;
	uint32_t tag;
	bool sees_sent; /* the rule also sees frames that the adapter sends */
};

/* Sets match->criteria to the sets of fields in which match->mask has bits. */
void steering_enable(struct steering_match *match);
/* Adds a rule. Returns 0 and *RULE, or a positive errno. EEXIST: a rule with the same match has
 * another tag, or only one of both drops, or they change headers differently. EINVAL: the device
 * does not support the actions. */
int steering_add(struct adapter *adapter, const struct steering_request *request,
		 struct steering_rule **rule);
/* Returns 0 and the number of a table that leads to the flows of LEVEL, or a positive errno. All
 * callers get the same table, so its user id is the shared one, and any program's commands may name
 * it. */
int steering_anchor(struct adapter *adapter, unsigned int level, uint32_t *table);
void steering_remove(struct adapter *adapter, struct steering_rule *rule);
void steering_free(struct adapter *adapter);

#endif
