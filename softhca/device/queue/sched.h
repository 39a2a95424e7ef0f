/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sched.h - schedulers: a tree of arbiters whose leaves are groups of send queues.
 *
 * An element has a share of its arbiter's bandwidth, relative to its siblings that have something
 * to send, and a maximum. Queues of a group wait until every element above them lets them send;
 * queues in no group never wait.
 *
 * Shares follow start-time fair queueing: each element has a tag, its bytes divided by its share,
 * and the lowest tag sends. An element that was idle starts with the tag that was served last, so
 * it saves up no bandwidth. A maximum is a clock as in pacing.h. The clock may lag a little,
 * because the loop that runs the queues is not exact.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_SCHED_H
#define SOFTHCA_DEVICE_QUEUE_SCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/format/format.h"

struct hca;

enum {
	SCHED_LOG_ELEMENTS = 10,
	SCHED_MAX_SHARE = 100,
	SCHED_DEPTH = 8,
};

struct sched_element;

/* A send queue, as schedulers see it. */
struct sched_queue {
	/* NULL: none. The group counts the queue in users, so it is not destroyed before the queue
	 * leaves it */
	struct sched_element *group;
	bool backlogged;
	bool waits; /* the queue waits until the scheduler calls wake() */
	void (*wake)(struct hca *hca, struct sched_queue *queue);
	LIST_ENTRY(sched_queue) in_group;
};

struct sched_element {
	uint32_t n;
	bool is_group;
	/* NULL: this element is a root. The parent counts the element in users, so it is not
	 * destroyed before the element */
	struct sched_element *parent;
	uint32_t share;
	uint64_t max; /* Mbit/s; 0: none */
	/* number of child elements, or of queues in the group; the element is not destroyed before
	 * them */
	unsigned int users;
	uint64_t tag, passed; /* own tag; tag of the child served last */
	uint64_t paced_until;
	LIST_ENTRY(sched_element) in_parent;
	LIST_HEAD(, sched_element) children;
	LIST_HEAD(, sched_queue) queues;
	uint8_t context[CONTEXT_MAX];
};

/* Adds ELEMENT below its parent. Returns 0, ENOSPC or ENOMEM. */
int sched_add(struct hca *hca, struct sched_element *element);
void sched_remove(struct hca *hca, struct sched_element *element);
struct sched_element *sched_find(const struct hca *hca, uint32_t n);
unsigned int sched_depth(const struct sched_element *element);

/* Moves the queue to GROUP; NULL: to none. */
void sched_join(struct hca *hca, struct sched_queue *queue, struct sched_element *group);

/* Notes that the queue has something to send. Returns whether it must wait; if so, its wake() is
 * called when its turn comes. */
bool sched_waits(struct hca *hca, struct sched_queue *queue);
/* Charges BYTES sent to GROUP, which may be NULL. */
void sched_sent(struct hca *hca, struct sched_element *group, uint64_t bytes);
/* Notes that the queue has nothing to send, or cannot send, so that its siblings need not wait for
 * it. */
void sched_rests(struct sched_queue *queue);
/* Wakes the queues whose turn has come. Returns when to be called again, or HCA_IDLE. */
uint64_t sched_run(struct hca *hca);

#endif
