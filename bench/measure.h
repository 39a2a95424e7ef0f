/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * measure.h - the clock of the benchmarks, and the median of its readings.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdlib.h>
#include <time.h>

static inline double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static inline int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), double_compare);
	return values[n / 2];
}

#endif
