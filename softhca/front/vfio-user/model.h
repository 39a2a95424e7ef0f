/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model.h - what PCI devices of different kinds do differently: identity, regions, registers.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_MODEL_H
#define SOFTHCA_FRONT_VFIO_USER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/hca.h"
#include "softhca/front/vfio-user/pci.h"

struct device;

enum reset {
	RESET_DEVICE,    /* and configuration space */
	RESET_BY_DRIVER, /* through a register */
};

struct model {
	const struct format *format;
	struct pci_identity identity;
	uint64_t bar_size[PCI_BARS]; /* 0: there is no such region */
	/* The call completes CONFIG, once; 0 or a positive errno. */
	int (*init)(struct device *device, struct hca_config *config);
	/* The adapter is a new one: registers are as after that reset. */
	void (*reset)(struct device *device, enum reset why);
	/* Accesses lie within the region. write() returns true when the driver wants a reset. */
	void (*read)(struct device *device, uint32_t bar, uint64_t offset, uint8_t *data,
		     uint32_t len);
	bool (*write)(struct device *device, uint32_t bar, uint64_t offset, const uint8_t *data,
		      uint32_t len);
	bool (*is_pending)(const struct device *device); /* a command is waiting */
	/* The call runs a command, and returns true when more are waiting. */
	bool (*run)(struct device *device);
	void (*die)(struct device *device); /* the adapter has died */
	void (*free)(struct device *device);
};

extern const struct model mlx5_model, mlx4_model;

#endif
