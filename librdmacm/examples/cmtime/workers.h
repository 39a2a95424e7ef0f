/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * workers.h - threads that do what is handed to them, in the order in which it is handed
 * over.
 */
#ifndef RDMACM_EXAMPLES_CMTIME_WORKERS_H
#define RDMACM_EXAMPLES_CMTIME_WORKERS_H

struct work {
	struct work *next;
	void (*run)(struct work *work);
};

struct workers;

/* Returns NULL and sets errno on failure. */
struct workers *workers_start(int threads);
/* Ends the threads after they have done all that was handed over. */
void workers_stop(struct workers *workers);
/* WORK belongs to the workers until it runs, and may then be handed over again. */
void workers_give(struct workers *workers, struct work *work);
/* Returns a descriptor that is readable when some work was done since the last
 * workers_forget_done(). */
int workers_fd(const struct workers *workers);
void workers_forget_done(struct workers *workers);

#endif
