/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * server.h - softhca pci: one adapter as a PCI device for one vfio-user client.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_SERVER_H
#define SOFTHCA_FRONT_VFIO_USER_SERVER_H

#include "softhca/options.h"

/* Serves one client after the other, each with an adapter that is as new, until SIGTERM or SIGINT;
 * with --once until the first has gone. The exit status. */
int pci_serve(const struct options *options);

#endif
