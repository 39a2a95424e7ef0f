/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pci.c - PCI configuration space of a ConnectX, with capabilities for power management, PCI
 * Express, MSI-X, and a vendor-specific one.
 *
 * The client handles base addresses and the MSI-X table for the guest, and passes writes on; here
 * they only have to read back properly. Registers of the vendor's capability are not plain memory:
 * see vsc.c.
 */
#include <endian.h>
#include <linux/pci_regs.h>
#include <string.h>

#include "softhca/front/pci/pci.h"

enum {
	VENDOR_MELLANOX = 0x15b3,
	SUBSYSTEM = 0x0001,
	CLASS_INFINIBAND = 0x0207,
	CLASS_ETHERNET = 0x0200,
	CAP_POWER = 0x40,
	CAP_EXPRESS = 0x60,
	CAP_MSIX = 0x9c,
	CAP_VENDOR = 0xb0,
};

static void put16(uint8_t *at, uint32_t offset, uint16_t value)
{
	uint16_t le = htole16(value);

	memcpy(at + offset, &le, sizeof(le));
}

static void put32(uint8_t *at, uint32_t offset, uint32_t value)
{
	uint32_t le = htole32(value);

	memcpy(at + offset, &le, sizeof(le));
}

static void init_header(struct pci_config *pci, bool infiniband)
{
	uint8_t *value = pci->value;

	put16(value, PCI_VENDOR_ID, VENDOR_MELLANOX);
	put16(value, PCI_DEVICE_ID, pci->identity->device);
	put16(value, PCI_STATUS, PCI_STATUS_CAP_LIST);
	put16(value, PCI_CLASS_DEVICE, infiniband ? CLASS_INFINIBAND : CLASS_ETHERNET);
	for (unsigned int i = 0; i < PCI_BARS; i++)
		put32(value, PCI_BASE_ADDRESS_0 + 4 * i, pci->identity->bar[i]);
	put16(value, PCI_SUBSYSTEM_VENDOR_ID, VENDOR_MELLANOX);
	put16(value, PCI_SUBSYSTEM_ID, SUBSYSTEM);
	value[PCI_CAPABILITY_LIST] = CAP_POWER;
	put16(pci->writable, PCI_COMMAND,
	      PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
	pci->writable[PCI_CACHE_LINE_SIZE] = 0xff;
	pci->writable[PCI_INTERRUPT_LINE] = 0xff;
}

/* Adds power management with D0 and D3hot; the adapter keeps its state in both. */
static void init_power(struct pci_config *pci)
{
	enum { VERSION_3 = 3 };
	uint8_t *cap = pci->value + CAP_POWER;

	cap[PCI_CAP_LIST_ID] = PCI_CAP_ID_PM;
	cap[PCI_CAP_LIST_NEXT] = CAP_EXPRESS;
	put16(cap, PCI_PM_PMC, VERSION_3);
	put16(cap, PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
	put16(pci->writable + CAP_POWER, PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
}

static void init_express(struct pci_config *pci)
{
	enum { VERSION_2 = 2, GEN3 = 3, X16 = 16 };
	uint8_t *cap = pci->value + CAP_EXPRESS;

	cap[PCI_CAP_LIST_ID] = PCI_CAP_ID_EXP;
	cap[PCI_CAP_LIST_NEXT] = CAP_MSIX;
	put16(cap, PCI_EXP_FLAGS, VERSION_2 | PCI_EXP_TYPE_ENDPOINT << 4);
	put32(cap, PCI_EXP_DEVCAP, PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER | 2);
	put32(cap, PCI_EXP_LNKCAP, GEN3 | X16 << 4);
	put16(cap, PCI_EXP_LNKSTA, GEN3 | X16 << 4);
	put32(cap, PCI_EXP_LNKCAP2,
	      PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB);
	put16(pci->writable + CAP_EXPRESS, PCI_EXP_DEVCTL,
	      PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE |
		      PCI_EXP_DEVCTL_URRE | PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_PAYLOAD |
		      PCI_EXP_DEVCTL_READRQ | PCI_EXP_DEVCTL_NOSNOOP_EN);
}

static void init_msix(struct pci_config *pci)
{
	uint8_t *cap = pci->value + CAP_MSIX;

	cap[PCI_CAP_LIST_ID] = PCI_CAP_ID_MSIX;
	cap[PCI_CAP_LIST_NEXT] = pci->identity->has_gateway ? CAP_VENDOR : 0;
	put16(cap, PCI_MSIX_FLAGS, PCI_MSIX_VECTORS - 1);
	put32(cap, 4, pci->identity->msix_table);
	put32(cap, 8, pci->identity->msix_pba);
	put16(pci->writable + CAP_MSIX, PCI_MSIX_FLAGS,
	      PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
}

static void init_vendor(struct pci_config *pci)
{
	uint8_t *cap = pci->value + CAP_VENDOR;

	cap[PCI_CAP_LIST_ID] = PCI_CAP_ID_VNDR;
	cap[PCI_CAP_FLAGS] = VSC_SIZE;
}

void pci_config_init(struct pci_config *pci, const struct pci_identity *identity, bool infiniband)
{
	memset(pci, 0, sizeof(*pci));
	pci->identity = identity;
	init_header(pci, infiniband);
	init_power(pci);
	init_express(pci);
	init_msix(pci);
	if (identity->has_gateway)
		init_vendor(pci);
}

static bool is_gateway(const struct pci_config *pci, uint32_t offset, uint32_t len)
{
	return pci->identity->has_gateway && len == 4 && offset % 4 == 0 &&
	       offset >= CAP_VENDOR + VSC_CONTROL && offset < CAP_VENDOR + VSC_SIZE;
}

void pci_config_read(struct pci_config *pci, uint32_t offset, uint8_t *data, uint32_t len)
{
	if (is_gateway(pci, offset, len))
		put32(data, 0, vsc_read(&pci->vsc, offset - CAP_VENDOR));
	else
		memcpy(data, pci->value + offset, len);
}

bool pci_config_write(struct pci_config *pci, uint32_t offset, const uint8_t *data, uint32_t len)
{
	enum { DEVCTL_HIGH = CAP_EXPRESS + PCI_EXP_DEVCTL + 1 };
	bool reset = false;
	uint32_t le;

	if (is_gateway(pci, offset, len)) {
		memcpy(&le, data, sizeof(le));
		vsc_write(&pci->vsc, offset - CAP_VENDOR, le32toh(le));
		return false;
	}
	for (uint32_t i = 0; i < len; i++) {
		uint8_t mask = pci->writable[offset + i];
		uint8_t *value = &pci->value[offset + i];

		*value = (*value & ~mask) | (data[i] & mask);
		if (offset + i == DEVCTL_HIGH && data[i] & PCI_EXP_DEVCTL_BCR_FLR >> 8)
			reset = true;
	}
	return reset;
}

bool pci_config_is_master(const struct pci_config *pci)
{
	return pci->value[PCI_COMMAND] & PCI_COMMAND_MASTER &&
	       !(pci->value[CAP_POWER + PCI_PM_CTRL] & PCI_PM_CTRL_STATE_MASK);
}
