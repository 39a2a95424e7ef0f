/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reports.h - the reports of strict adapters that are fuzzed. Random work breaks rules all the
 * time, so that reports are no failures; making them must not be one either.
 */
#ifndef FUZZ_REPORTS_H
#define FUZZ_REPORTS_H

#include "softhca/strict.h"

/* Returns the one of the whole process, as only the first few hundred reports are printed. */
struct strict *fuzz_reports(void);
/* Returns how many reports there were. */
unsigned int fuzz_count_reports(void);

#endif
