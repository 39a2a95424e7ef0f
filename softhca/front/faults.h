/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faults.h - faults in both fronts: adds the command line's, and triggers timed ones.
 */
#ifndef SOFTHCA_FRONT_FAULTS_H
#define SOFTHCA_FRONT_FAULTS_H

#include "softhca/fault.h"
#include "softhca/options.h"

/* Creates the faults of the command line. Returns 0, or logs the wrong text and returns EINVAL. The
 * caller destroys *FAULT in both cases. */
int faults_create(const struct options *options, uint64_t now_ns, struct fault **fault);

/* Returns the answer to a client that added a fault, from the result of fault_add(). */
const char *faults_answer(int ret);

/* The objects that timed faults affect */
struct faults_target {
	struct hca *const *hcas; /* some may be NULL */
	unsigned int count;
	/* Hides or shows device files; NULL if the front has none. */
	void (*device_files)(bool present);
	/* Lets FAULT_DIE or FAULT_UNPLUG happen to the adapter that programs drive themselves; NULL
	 * if the front has none. */
	void (*driven)(enum fault_event event);
};

/* Applies the faults that are due to TARGET. Returns the time of the next one, or FAULT_NEVER. */
uint64_t faults_run(struct fault *fault, const struct faults_target *target, uint64_t now_ns);

#endif
