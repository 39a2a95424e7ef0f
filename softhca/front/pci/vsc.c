/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vsc.c - see vsc.h. It has one address space, with one semaphore. For every other space the
 * control register reports that it is not supported.
 */
#include <stdbool.h>

#include "softhca/front/pci/vsc.h"

/* Takes the semaphore by writing a value while it is 0; releases it by writing 0. */
static void take_or_give(uint32_t *semaphore, uint32_t value)
{
	if (!*semaphore || !value)
		*semaphore = value;
}

static bool is_sw_reset(const struct vsc *vsc, uint32_t address)
{
	return vsc->space == VSC_SPACE_SEMAPHORES && address == VSC_SW_RESET;
}

static void vsc_run(struct vsc *vsc, uint32_t value)
{
	uint32_t address = value & ~VSC_FLAG;

	if (!is_sw_reset(vsc, address))
		vsc->data = 0;
	else if (value & VSC_FLAG)
		take_or_give(&vsc->sw_reset, vsc->data);
	else
		vsc->data = vsc->sw_reset;
	vsc->address = value ^ VSC_FLAG;
}

uint32_t vsc_read(struct vsc *vsc, uint32_t offset)
{
	switch (offset) {
	case VSC_CONTROL:
		return vsc->space | (vsc->space == VSC_SPACE_SEMAPHORES ? VSC_SPACE_KNOWN : 0);
	case VSC_COUNTER: /* a unique value for each reader, never 0 */
		return ++vsc->counter ? vsc->counter : ++vsc->counter;
	case VSC_SEMAPHORE:
		return vsc->semaphore;
	case VSC_ADDRESS:
		return vsc->address;
	default:
		return vsc->data;
	}
}

void vsc_write(struct vsc *vsc, uint32_t offset, uint32_t value)
{
	enum { SPACE_MASK = 0xffff };

	switch (offset) {
	case VSC_CONTROL:
		vsc->space = value & SPACE_MASK;
		break;
	case VSC_SEMAPHORE:
		take_or_give(&vsc->semaphore, value);
		break;
	case VSC_ADDRESS:
		vsc_run(vsc, value);
		break;
	case VSC_DATA:
		vsc->data = value;
		break;
	}
}
