/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pci.h - PCI configuration space of the adapter.
 */
#ifndef SOFTHCA_FRONT_PCI_PCI_H
#define SOFTHCA_FRONT_PCI_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/front/pci/vsc.h"

enum {
	PCI_CONFIG_SIZE = 4096,
	PCI_MSIX_VECTORS = 64,
	/* MSI-X table and PBA are in BAR 0; the vfio-user client handles them */
	BAR_MSIX_TABLE = 0x2000,
	BAR_MSIX_PBA = 0x3000,
};

enum { PCI_BARS = 6 };

/* Properties that differ between kinds of devices. */
struct pci_identity {
	uint16_t device;
	uint32_t bar[PCI_BARS];        /* PCI_BASE_ADDRESS_MEM_* */
	uint32_t msix_table, msix_pba; /* offsets in BAR 0 */
	bool has_gateway;              /* has the vendor's capability: see vsc.h */
};

struct pci_config {
	const struct pci_identity *identity;
	uint8_t value[PCI_CONFIG_SIZE];
	uint8_t writable[PCI_CONFIG_SIZE]; /* bits that software may change */
	struct vsc vsc;
};

void pci_config_init(struct pci_config *pci, const struct pci_identity *identity, bool infiniband);
/* Reads LEN bytes at OFFSET; both are within PCI_CONFIG_SIZE. */
void pci_config_read(struct pci_config *pci, uint32_t offset, uint8_t *data, uint32_t len);
/* Writes configuration space. Returns true for a function-level reset. */
bool pci_config_write(struct pci_config *pci, uint32_t offset, const uint8_t *data, uint32_t len);
/* Returns whether the device may access memory and raise interrupts: bus mastering is enabled, in
 * power state D0. */
bool pci_config_is_master(const struct pci_config *pci);

#endif
