/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - the PCI device: adapter, registers, configuration space, interrupts. The client is
 * whatever a front connects: a virtual machine, or a program.
 */
#ifndef SOFTHCA_FRONT_PCI_DEVICE_H
#define SOFTHCA_FRONT_PCI_DEVICE_H

#include <pthread.h>
#include <stdint.h>

#include "softhca/front/pci/bar.h"
#include "softhca/front/pci/mlx4/registers.h"
#include "softhca/front/pci/model.h"
#include "softhca/front/pci/pci.h"

struct device {
	struct hca_config config;
	struct hca *hca;
	struct dma_table dma;
	struct pci_config pci;
	const struct model *model;
	uint32_t command_timeout_ms;     /* command timeout that the driver reads */
	struct bar bar;                  /* only model mlx5 */
	struct registers registers;      /* only model mlx4 */
	pthread_mutex_t vector_lock;     /* guards vector_fd, as events come in any thread */
	int vector_fd[PCI_MSIX_VECTORS]; /* the client's eventfds; -1: none */
	bool unplugged;                  /* has left the bus: reads answer all ones */
};

/* Creates the device. CONFIG is complete except for bus and callbacks, which the device sets.
 * COMMAND_TIMEOUT_MS is the command timeout that the driver reads. Returns 0 or a positive errno;
 * after an error call only device_free(). */
int device_init(struct device *device, const struct hca_config *config,
		uint32_t command_timeout_ms);
/* Executes a command and other pending work. Returns as hca_progress() does. */
uint64_t device_progress(struct device *device, uint64_t now_ns);
void device_free(struct device *device);
/* Resets the device when the client disconnects, and drops its memory and interrupts. */
int device_detach(struct device *device);
int device_reset(struct device *device);
/* Takes the device off the bus, until device_reset(): it accesses no memory, and its registers and
 * configuration space read as ones. */
void device_unplug(struct device *device);

/* Regions are numbered as VFIO does. Returns 0 for one that does not exist. */
uint64_t device_region_size(const struct device *device, uint32_t index);
/* Access LEN bytes at OFFSET, which lie within the region. A write returns 0 or a positive errno,
 * as it may reset the device. */
void device_read(struct device *device, uint32_t region, uint64_t offset, uint8_t *data,
		 uint32_t len);
int device_write(struct device *device, uint32_t region, uint64_t offset, const uint8_t *data,
		 uint32_t len);

/* Sets the vector's eventfd, or none if FD is -1. Closes the old one. FD must be an eventfd, as a
 * write to another kind of file can block. */
void device_set_vector(struct device *device, uint32_t vector, int fd);
/* Raises an interrupt. Any thread may call it. */
void device_interrupt(struct device *device, uint32_t vector);

#endif
