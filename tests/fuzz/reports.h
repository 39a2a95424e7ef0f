/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reports.h - reports of strict adapters. Random work breaks rules all the time, so a report is no
 * failure; but the code that makes reports must not fail either.
 */
#ifndef FUZZ_REPORTS_H
#define FUZZ_REPORTS_H

#include "softhca/strict.h"

/* Returns the reports of the whole process, which prints only the first few hundred. */
struct strict *fuzz_reports(void);
unsigned int fuzz_count_reports(void);

#endif
