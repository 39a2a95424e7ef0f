/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio_device.h - a hostile adapter that a program drives by VFIO. It writes anything at any time,
 * but only to memory that is mapped for it, and not after its reset: an IOMMU stands between.
 *
 * It moves whenever the library looks at a register, passes a barrier or sleeps (vfio_seams.h). All
 * choices come from the bytes of a source; an adapter without bytes answers as it should.
 */
#ifndef FUZZ_VFIO_DEVICE_H
#define FUZZ_VFIO_DEVICE_H

#include "tests/fuzz/source.h"

/* Numbers of what the library was shown, over all runs. */
struct vfio_shown {
	uint64_t segments, answers, events, writes;
};

extern struct vfio_shown vfio_shown;

/* Begins a run with another adapter. */
void vfio_device_begin(struct source *source);
/* Returns how many bytes of memory the library has allocated for the adapter, and forgets them. */
uint64_t vfio_device_end(void);

#endif
