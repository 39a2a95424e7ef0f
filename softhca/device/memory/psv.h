/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * psv.h - signature state: from what a signature starts, which work requests set, and whether one
 * was wrong since.
 */
#ifndef SOFTHCA_DEVICE_MEMORY_PSV_H
#define SOFTHCA_DEVICE_MEMORY_PSV_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct pd;
struct qp;

enum { PSV_LOG_MAX = 16 };

struct psv {
	uint32_t n;
	struct pd *pd;
	uint64_t start; /* as set: guard or checksum, and tags, the first byte in front */
	bool set;       /* before that, no key computes from it */
	bool failed;    /* a signature was wrong: checks nothing until set again */
};

/* Adds a PSV; the result is 0, ENOSPC or ENOMEM. */
int psv_add(struct hca *hca, struct pd *pd, struct psv **psv);
void psv_remove(struct hca *hca, struct psv *psv);
void psv_free_all(struct hca *hca);

/* Sets a PSV, for a request of QP, and returns 0 or the reason why not. */
int psv_set(struct hca *hca, const struct qp *qp, uint32_t n, uint64_t start);

#endif
