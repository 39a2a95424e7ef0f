/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model.h - models of PCI devices: the identity, regions and registers that differ.
 */
#ifndef SOFTHCA_FRONT_PCI_MODEL_H
#define SOFTHCA_FRONT_PCI_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/hca.h"
#include "softhca/front/pci/pci.h"

struct device;

enum reset {
	RESET_DEVICE,    /* PCI reset: also resets the configuration space */
	RESET_BY_DRIVER, /* requested by the driver in a register */
};

struct model {
	const struct format *format;
	struct pci_identity identity;
	uint64_t bar_size[PCI_BARS]; /* 0: no such region */
	/* Completes CONFIG for this model. Called once per device. Returns 0 or a positive
	 * errno. */
	int (*init)(struct device *device, struct hca_config *config);
	/* Sets the registers to their values after a reset of kind WHY. device->hca is new by
	 * then. */
	void (*reset)(struct device *device, enum reset why);
	/* Access LEN bytes at OFFSET, which lie within the BAR. write() returns true if the driver
	 * requests a reset. */
	void (*read)(struct device *device, uint32_t bar, uint64_t offset, uint8_t *data,
		     uint32_t len);
	bool (*write)(struct device *device, uint32_t bar, uint64_t offset, const uint8_t *data,
		      uint32_t len);
	bool (*is_pending)(const struct device *device); /* a command waits */
	/* Executes a command. Returns true if more wait. */
	bool (*run)(struct device *device);
	void (*die)(struct device *device); /* reports that the adapter has died */
	void (*free)(struct device *device);
};

extern const struct model mlx5_model, mlx4_model;

#endif
