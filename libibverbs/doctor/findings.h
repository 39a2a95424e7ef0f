/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * findings.h - the doctor's findings, and its exit status.
 */
#ifndef LIBIBVERBS_DOCTOR_FINDINGS_H
#define LIBIBVERBS_DOCTOR_FINDINGS_H

#include <stdbool.h>

enum severity {
	FINE,
	HINT,    /* works, but could be better */
	WARNING, /* some programs fail */
	PROBLEM, /* RDMA, or the finding's subject, does not work */
};

/* Quiet: findings of severity FINE are not printed. */
void findings_quiet(bool quiet);

void found(enum severity severity, const char *subject, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void cure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Records that a port works, so that problems elsewhere do not stop programs from using that
 * port. */
void findings_port_works(void);

/* Returns the exit status: 0 if RDMA works, 1 if some programs will fail, 2 if no port works. */
int findings_status(void);

#endif
