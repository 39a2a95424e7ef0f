/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.h - the PCI device: adapter, registers, configuration space, interrupts, and answers to
 * the client's messages. It does not use the socket.
 */
#ifndef SOFTHCA_FRONT_PCI_DEVICE_H
#define SOFTHCA_FRONT_PCI_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "softhca/front/pci/bar.h"
#include "softhca/front/pci/mlx4/registers.h"
#include "softhca/front/pci/model.h"
#include "softhca/front/pci/pci.h"
#include "softhca/front/vfio-user/protocol.h"

struct device {
	struct hca_config config;
	struct hca *hca;
	struct dma_table dma;
	struct pci_config pci;
	const struct model *model;
	uint32_t command_timeout_ms;     /* command timeout that the driver reads */
	struct bar bar;                  /* only model mlx5 */
	struct registers registers;      /* only model mlx4 */
	int vector_fd[PCI_MSIX_VECTORS]; /* the client's eventfds; -1: none */
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

struct message {
	enum vfu_command command;
	const uint8_t *body;
	size_t len;
	int *fd; /* set to -1 when taken; the caller closes the others */
	unsigned int num_fds;
	uint8_t *reply; /* VFU_MAX_TRANSFER and a struct vfu_region_access */
	size_t reply_len;
};

/* Answers a message. Returns 0 with the reply's body, or the errno for the client. */
int device_answer(struct device *device, struct message *message);

#endif
