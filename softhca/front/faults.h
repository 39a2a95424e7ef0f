/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faults.h - what both fronts do about faults: add those of the command line, let timed ones
 * happen.
 */
#ifndef SOFTHCA_FRONT_FAULTS_H
#define SOFTHCA_FRONT_FAULTS_H

#include "softhca/fault.h"
#include "softhca/options.h"

/* Returns 0, or EINVAL after saying which text is not a fault; *FAULT is to be destroyed in both
 * cases. */
int faults_create(const struct options *options, uint64_t now_ns, struct fault **fault);

/* What faults happen to. */
struct faults_target {
	struct hca *const *hcas; /* some may be NULL */
	unsigned int count;
	/* What concerns device files is told to the front; NULL: it has none. */
	void (*device_files)(bool present);
};

/* Faults that are due happen to TARGET. Returns when the next fault is due, or FAULT_NEVER. */
uint64_t faults_run(struct fault *fault, const struct faults_target *target, uint64_t now_ns);

#endif
