/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * psv.h - signature state (PSV): the value that a signature starts from, which work requests set,
 * and whether an error has been found since.
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
	uint64_t start; /* guard or checksum, and tags, highest byte first */
	bool set;       /* software has set START; before that, transfers with the PSV fail */
	bool failed;    /* an error was found: check nothing until software sets the PSV again */
};

/* Adds a PSV. Returns 0, ENOSPC or ENOMEM. */
int psv_add(struct hca *hca, struct pd *pd, struct psv **psv);
void psv_remove(struct hca *hca, struct psv *psv);

/* Sets the start value of PSV number N for a work request of QP. Returns 0 or the vendor
 * syndrome. */
int psv_set(struct hca *hca, const struct qp *qp, uint32_t n, uint64_t start);

#endif
