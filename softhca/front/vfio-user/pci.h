/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pci.h - PCI configuration space of the adapter.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_PCI_H
#define SOFTHCA_FRONT_VFIO_USER_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/front/vfio-user/vsc.h"

enum {
	PCI_CONFIG_SIZE = 4096,
	PCI_MSIX_VECTORS = 64,
	BAR_MSIX_TABLE = 0x2000, /* both in BAR 0, where the client keeps them */
	BAR_MSIX_PBA = 0x3000,
};

struct pci_config {
	uint8_t value[PCI_CONFIG_SIZE];
	uint8_t writable[PCI_CONFIG_SIZE]; /* bits that the host may change */
	struct vsc vsc;
};

void pci_config_init(struct pci_config *pci, bool infiniband);
/* OFFSET and LEN lie within PCI_CONFIG_SIZE. */
void pci_config_read(struct pci_config *pci, uint32_t offset, uint8_t *data, uint32_t len);
/* The function returns true when the write asked for a function-level reset. */
bool pci_config_write(struct pci_config *pci, uint32_t offset, const uint8_t *data, uint32_t len);
/* May the device access memory and raise interrupts? Bus master is enabled, and power is full. */
bool pci_config_is_master(const struct pci_config *pci);

#endif
