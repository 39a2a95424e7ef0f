/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rates.c - converts static rates to multiples of 2.5 Gb/s and to Mb/s (IBTA vol 1, PathRecord:
 * Rate), and back. A rate that is not a whole multiple has the multiple -1; a number without a rate
 * becomes IBV_RATE_MAX, the port's own rate.
 */
#include "libibverbs/private.h"

#include "util/bits.h"

/* RATE(name, multiple, Mb/s) */
#define WHOLE_RATES(RATE)      \
	RATE(2_5, 1, 2500)     \
	RATE(5, 2, 5000)       \
	RATE(10, 4, 10000)     \
	RATE(20, 8, 20000)     \
	RATE(28, 11, 28125)    \
	RATE(30, 12, 30000)    \
	RATE(40, 16, 40000)    \
	RATE(50, 20, 53125)    \
	RATE(60, 24, 60000)    \
	RATE(80, 32, 80000)    \
	RATE(120, 48, 120000)  \
	RATE(400, 160, 425000) \
	RATE(600, 240, 637500) \
	RATE(800, 320, 850000) \
	RATE(1200, 480, 1275000)
#define OTHER_RATES(RATE)     \
	RATE(14, -1, 14062)   \
	RATE(25, -1, 25781)   \
	RATE(56, -1, 56250)   \
	RATE(100, -1, 103125) \
	RATE(112, -1, 112500) \
	RATE(168, -1, 168750) \
	RATE(200, -1, 206250) \
	RATE(300, -1, 309375)

#define BY_RATE(name, mult, mbps) [IBV_RATE_##name##_GBPS] = { mult, mbps },
#define BY_MULT(name, mult, mbps) \
	case mult:                \
		return IBV_RATE_##name##_GBPS;
#define BY_MBPS(name, mult, mbps) \
	case mbps:                \
		return IBV_RATE_##name##_GBPS;

/* Multiples and Mbit/s by enum ibv_rate; -1: none. 0 is the port's own rate, and 1 is unused. */
static const struct {
	int mult, mbps;
} rates[] = { [0] = { -1, -1 }, [1] = { -1, -1 }, WHOLE_RATES(BY_RATE) OTHER_RATES(BY_RATE) };

VERBS_EXPORT int ibv_rate_to_mult(enum ibv_rate rate)
{
	return (unsigned int)rate < ARRAY_SIZE(rates) ? rates[rate].mult : -1;
}

VERBS_EXPORT enum ibv_rate mult_to_ibv_rate(int mult)
{
	switch (mult) {
		WHOLE_RATES(BY_MULT)
	default:
		return IBV_RATE_MAX;
	}
}

VERBS_EXPORT int ibv_rate_to_mbps(enum ibv_rate rate)
{
	return (unsigned int)rate < ARRAY_SIZE(rates) ? rates[rate].mbps : -1;
}

VERBS_EXPORT enum ibv_rate mbps_to_ibv_rate(int mbps)
{
	switch (mbps) {
		WHOLE_RATES(BY_MBPS)
		OTHER_RATES(BY_MBPS)
	default:
		return IBV_RATE_MAX;
	}
}
