/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ste_end.h - addresses at which a walk through software's entries ends. They stand for a TIR, a
 * table, an object or an action, not for memory. Software gets them from capabilities and from the
 * answers of commands that create or query TIRs, flow tables, samplers and meters.
 */
#ifndef SOFTHCA_DEVICE_STEERING_STE_END_H
#define SOFTHCA_DEVICE_STEERING_STE_END_H

#include <stdbool.h>
#include <stdint.h>

enum ste_end {
	STE_END_DROP,
	STE_END_ALLOW,
	STE_END_TIR,
	STE_END_TABLE,
	STE_END_SAMPLER,
	STE_END_METER,
	STE_ENDS,
};

#define STE_END_START UINT64_C(0x2000000000)

enum { STE_END_LOG_KIND = 32, STE_END_LOG_UNIT = 6 };

static inline uint64_t ste_end_address(enum ste_end end, uint32_t number)
{
	return STE_END_START + ((uint64_t)end << STE_END_LOG_KIND) +
	       ((uint64_t)number << STE_END_LOG_UNIT);
}

/* Returns whether a walk ends at ADDR. Sets END, and NUMBER to the number of the object. */
static inline bool ste_end_at(uint64_t addr, enum ste_end *end, uint32_t *number)
{
	const uint64_t offset = addr - STE_END_START;

	if (addr < STE_END_START || offset >> STE_END_LOG_KIND >= STE_ENDS)
		return false;
	*end = (enum ste_end)(offset >> STE_END_LOG_KIND);
	*number = (uint32_t)offset >> STE_END_LOG_UNIT;
	return true;
}

#endif
