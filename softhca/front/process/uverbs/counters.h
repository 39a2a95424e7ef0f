/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.h - sets of flow counters, as flows use them.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_COUNTERS_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_COUNTERS_H

#include "softhca/front/process/uverbs/objects.h"

/* Finds the counter set HANDLE and describes it as the driver's part of a flow says. Returns 0
 * with *OBJECT, which the flow must count as used, and the device's counter NUMBER; or a
 * positive errno. */
int counters_for_flow(struct uverbs_call *uc, uint32_t handle, struct object **object,
		      uint32_t *number);

#endif
