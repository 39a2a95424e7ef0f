/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server.h - softhca pci: one adapter as a PCI device for one vfio-user client.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_SERVER_H
#define SOFTHCA_FRONT_VFIO_USER_SERVER_H

#include "softhca/options.h"

/* Serves one client after the other, each with a new adapter, until SIGTERM or SIGINT, or with
 * --once until the first client disconnects. Returns the exit status. */
int pci_serve(const struct options *options);

#endif
