/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.h - sets of flow counters, for the flows that name them.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_COUNTERS_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_COUNTERS_H

#include "softhca/front/process/uverbs/objects.h"

/* Finds the set of HANDLE, as the driver's part of a flow's creation describes it: *OBJECT, whose
 * users the flow is to count, and the device's NUMBER. It returns 0 or a positive errno. */
int counters_for_flow(struct uverbs_call *uc, uint32_t handle, struct object **object,
		      uint32_t *number);

#endif
