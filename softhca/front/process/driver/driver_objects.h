/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver_objects.h - objects of the driver's own, for QPs of programs that lack one which the
 * device insists on.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_DRIVER_OBJECTS_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_DRIVER_OBJECTS_H

#include <stdint.h>

struct adapter;

struct driver_objects {
	uint32_t pdn, uar, cqn, xrcdn, srqn;
};

/* The objects are made when they are first asked for, and go with the adapter. For the notification
 * thread only; it returns 0 or a positive errno. */
int driver_objects_get(struct adapter *adapter, struct driver_objects *objects);
/* Frees their memory; the device is gone. */
void driver_objects_free(struct adapter *adapter);

#endif
