/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - the PCI device: adapter, registers, configuration space, interrupts; and the answers
 * to the client's messages. It knows nothing of sockets.
 */
#ifndef SOFTHCA_FRONT_VFIO_USER_DEVICE_H
#define SOFTHCA_FRONT_VFIO_USER_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "softhca/front/vfio-user/bar.h"
#include "softhca/front/vfio-user/mlx4/registers.h"
#include "softhca/front/vfio-user/model.h"
#include "softhca/front/vfio-user/pci.h"
#include "softhca/front/vfio-user/protocol.h"

struct device {
	struct hca_config config;
	struct hca *hca;
	struct dma_table dma;
	struct pci_config pci;
	const struct model *model;
	uint32_t command_timeout_ms;     /* what the driver is told to wait for a command */
	struct bar bar;                  /* of the model mlx5 */
	struct registers registers;      /* of the model mlx4 */
	int vector_fd[PCI_MSIX_VECTORS]; /* eventfds of the client, -1: none */
};

/* CONFIG without bus and callbacks, which are the device's; the driver is told to wait for a
 * command for COMMAND_TIMEOUT_MS. 0 or a positive errno, after which only device_free() may
 * follow. */
int device_init(struct device *device, const struct hca_config *config,
		uint32_t command_timeout_ms);
/* Runs a command and other pending work; returns as hca_progress() does. */
uint64_t device_progress(struct device *device, uint64_t now_ns);
void device_free(struct device *device);
/* The client has gone: its memory and interrupts are forgotten, the adapter is as new. */
int device_detach(struct device *device);

struct message {
	enum vfu_command command;
	const uint8_t *body;
	size_t len;
	int *fd; /* taken ones become -1; the caller closes the others */
	unsigned int num_fds;
	uint8_t *reply; /* VFU_MAX_TRANSFER and a struct vfu_region_access */
	size_t reply_len;
};

/* Returns 0 and the reply's body, or the errno that the client gets. */
int device_answer(struct device *device, struct message *message);

#endif
