/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs_pci.h - the adapters as PCI devices in the tree that replaces sysfs.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_SYSFS_PCI_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_SYSFS_PCI_H

#include <stdbool.h>
#include <stddef.h>

#include "softhca/front/process/discovery/writer.h"

void sysfs_pci_start(struct writer *writer);
void sysfs_pci_make(struct writer *writer, struct adapter *adapter);
/* Makes the PCI device of an adapter that is bound to vfio-pci, its IOMMU group and the group's
 * device file. */
void sysfs_pci_make_vfio(struct writer *writer, struct adapter *adapter, unsigned int group);
/* Writes the path of the adapter's PCI device, relative to the root, to PATH. */
void sysfs_pci_place(const struct adapter *adapter, char *path, size_t size);
bool sysfs_pci_claims(const char *path);

#endif
