/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * identity.h - identities of adapters and drivers: the values in sysfs, netlink and query_device
 * that differ between kinds of adapters.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_IDENTITY_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_IDENTITY_H

#include <stdint.h>

#include "softhca/device/hca.h"

struct identity {
	enum hca_kind kind;
	const struct format *format;
	const char *prefix;      /* of device names */
	const char *core_driver; /* driver of the PCI device */
	const char *ib_driver;
	uint32_t driver_id; /* enum rdma_driver_id */
	unsigned int abi;   /* version of the driver's part of calls */
	unsigned int fw_major, fw_minor, fw_sub;
	const char *fw_version; /* firmware version as text */
	const char *board_id;
	const char *hca_type;
	uint16_t part_id, subsystem_id;
	const char *rate, *pci_speed;
	unsigned int pci_width, pci_speed_code;
	uint8_t active_speed; /* PortInfo.LinkSpeedActive, as in verbs; 4 lanes */
};

const struct identity *identity_of(enum hca_kind kind, enum hca_link_layer link_layer,
				   enum hca_steering steering);

#endif
