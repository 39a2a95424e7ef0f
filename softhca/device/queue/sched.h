/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sched.h - schedulers: a tree of arbiters whose leaves are groups of send queues.
 *
 * An element has a share of what its arbiter sends, beside the others there that have something to
 * send, and a maximum. Queues of a group wait until every element above them lets them go; queues
 * that are in no group never wait.
 *
 * Shares are start-time fair queueing: each element has a tag, the bytes that it has sent over its
 * share, and the one with the lowest goes. Who comes back after a pause starts with the tag of who
 * went last, so nothing is saved up. A maximum is a clock, as that of pacing.h, which may be behind
 * ours by a little, as the loop that runs queues is not exact.
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

/* A queue as schedulers know it. */
struct sched_queue {
	struct sched_element *group; /* NULL: none */
	bool backlogged;             /* it has something to send */
	bool waits;                  /* until it is woken */
	void (*wake)(struct hca *hca, struct sched_queue *queue);
	LIST_ENTRY(sched_queue) in_group;
};

struct sched_element {
	uint32_t n;
	bool is_group;
	struct sched_element *parent; /* NULL: a root */
	uint32_t share;
	uint64_t max;         /* Mbit/s; 0: none */
	unsigned int users;   /* elements below it, or queues that name it */
	uint64_t tag, passed; /* its own, and that of who went last below it */
	uint64_t paced_until;
	LIST_ENTRY(sched_element) in_parent;
	LIST_HEAD(, sched_element) children;
	LIST_HEAD(, sched_queue) queues;
	uint8_t context[CONTEXT_MAX];
};

/* Adds ELEMENT below its parent; 0, ENOSPC or ENOMEM. */
int sched_add(struct hca *hca, struct sched_element *element);
/* Removes and frees ELEMENT, which has no users. */
void sched_remove(struct hca *hca, struct sched_element *element);
void sched_free_all(struct hca *hca);
struct sched_element *sched_find(const struct hca *hca, uint32_t n);
unsigned int sched_depth(const struct sched_element *element);

/* The queue is of GROUP from now on; NULL: of none. */
void sched_join(struct hca *hca, struct sched_queue *queue, struct sched_element *group);

/* The queue has something to send. Returns whether it has to wait; then it is woken when its turn
 * has come. */
bool sched_waits(struct hca *hca, struct sched_queue *queue);
/* Charges BYTES sent to GROUP, which may be NULL. */
void sched_sent(struct hca *hca, struct sched_element *group, uint64_t bytes);
/* The queue has nothing to send, or cannot: others need not wait for it. */
void sched_rests(struct sched_queue *queue);
/* Wakes the queues whose turn has come, and returns when to be called again, or HCA_IDLE. */
uint64_t sched_run(struct hca *hca);

#endif
