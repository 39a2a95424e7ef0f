/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reports.c - see reports.h.
 */
#include <stdlib.h>

#include "tests/fuzz/reports.h"

static struct strict *reports;

struct strict *fuzz_reports(void)
{
	if (!reports && strict_open(NULL, "fuzz", &reports))
		abort();
	return reports;
}

unsigned int fuzz_count_reports(void)
{
	return strict_count(reports);
}
