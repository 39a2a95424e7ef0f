/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * workers.h - worker threads, which run work in the order in which it was added.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_WORKERS_H
#define RDMACM_EXAMPLES_CMTIME_WORKERS_H

struct work {
	struct work *next;
	void (*run)(struct work *work);
};

struct workers;

struct workers *workers_start(int threads);
/* Ends the threads after they have run all work. */
void workers_stop(struct workers *workers);
/* Adds WORK, which belongs to the workers until they run it. Then the caller may add it again. */
void workers_give(struct workers *workers, struct work *work);
/* Returns a descriptor that is readable if work was done since the last workers_forget_done(). */
int workers_fd(const struct workers *workers);
void workers_forget_done(struct workers *workers);

#endif
