/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * findings.h - what the doctor says, and what its exit status is.
 */
#ifndef LIBIBVERBS_DOCTOR_FINDINGS_H
#define LIBIBVERBS_DOCTOR_FINDINGS_H

#include <stdbool.h>

enum severity {
	FINE,
	HINT,    /* works, and could be better */
	WARNING, /* some programs fail */
	PROBLEM, /* RDMA does not work, or not on what the finding is about */
};

/* Quiet: what is fine is not printed. */
void findings_quiet(bool quiet);

/* One line: how bad it is, what it is about, and what was found. */
void found(enum severity severity, const char *subject, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What to do about the finding before. */
void cure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* There is a port by which programs reach others: what is wrong elsewhere does not stop those. */
void findings_port_works(void);

/* As an exit status: 0 if RDMA works, 1 if some programs will fail, 2 if no port works. */
int findings_status(void);

#endif
