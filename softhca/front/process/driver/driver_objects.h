/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver_objects.h - objects of the driver itself, for QPs of programs that lack an object which
 * the device requires.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_DRIVER_OBJECTS_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_DRIVER_OBJECTS_H

#include <stdint.h>

struct adapter;

struct driver_objects {
	uint32_t pdn, uar, cqn, xrcdn, srqn;
};

/* Returns the objects; creates them at first use. They are destroyed with the adapter. Only for the
 * notification thread. Returns 0 or a positive errno. */
int driver_objects_get(struct adapter *adapter, struct driver_objects *objects);
void driver_objects_free(struct adapter *adapter);

#endif
