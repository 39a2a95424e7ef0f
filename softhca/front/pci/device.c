/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device.c - the PCI device: its regions, resets and interrupts.
 *
 * A reset destroys the adapter and creates a new one, so no old state survives. There are three
 * kinds: of the device (by the front, or function-level), with its configuration space; by the
 * driver, through the initialization segment; and when the client disconnects. Decision:
 * docs/adr/0039.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>
#include <unistd.h>

#include "prm/mlx5/eqe.h"
#include "softhca/front/eventfd.h"
#include "softhca/front/pci/device.h"
#include "softhca/log.h"

void device_interrupt(struct device *device, uint32_t vector)
{
	if (vector >= PCI_MSIX_VECTORS || !device->dma.enabled)
		return;
	pthread_mutex_lock(&device->vector_lock);
	if (device->vector_fd[vector] >= 0)
		eventfd_signal(device->vector_fd[vector]);
	pthread_mutex_unlock(&device->vector_lock);
}

static void raise_interrupt(void *front, uint32_t vector)
{
	device_interrupt(front, vector);
}

/* Handles an event that the core reports outside of any EQ. The only one is the adapter's death. */
static void on_event(void *front, uint32_t eqn, const uint8_t eqe[64])
{
	struct device *device = front;

	if (eqn == 0 && eqe[1] == PRM_EVENT_INTERNAL_ERROR)
		device->model->die(device);
}

static int start_adapter(struct device *device, enum reset why)
{
	int ret = hca_create(&device->config, device->model->format, &device->hca);

	if (!ret)
		device->model->reset(device, why);
	return ret;
}

static int restart_adapter(struct device *device, enum reset why)
{
	if (device->hca)
		hca_destroy(device->hca);
	device->hca = NULL;
	return start_adapter(device, why);
}

static void init_config_space(struct device *device)
{
	pci_config_init(&device->pci, &device->model->identity,
			device->config.link_layer == HCA_LINK_INFINIBAND);
	device->dma.enabled = pci_config_is_master(&device->pci);
}

int device_reset(struct device *device)
{
	device->unplugged = false;
	init_config_space(device);
	return restart_adapter(device, RESET_DEVICE);
}

void device_unplug(struct device *device)
{
	device->unplugged = true;
	device->dma.enabled = false;
}

int device_init(struct device *device, const struct hca_config *config, uint32_t command_timeout_ms)
{
	int ret;

	memset(device, 0, sizeof(*device));
	pthread_mutex_init(&device->vector_lock, NULL);
	pthread_mutex_init(&device->dma.lock, NULL);
	device->model = config->kind == HCA_MLX4 ? &mlx4_model : &mlx5_model;
	device->command_timeout_ms = command_timeout_ms;
	device->config = *config;
	device->config.bus_ops = &dma_bus_ops;
	device->config.bus = &device->dma;
	device->config.front = device;
	device->config.interrupt = raise_interrupt;
	device->config.event = on_event;
	for (unsigned int i = 0; i < PCI_MSIX_VECTORS; i++)
		device->vector_fd[i] = -1;
	ret = device->model->init(device, &device->config);
	if (ret)
		return ret;
	init_config_space(device);
	return start_adapter(device, RESET_DEVICE);
}

/* Handles pending doorbells before a command: a real adapter has seen them long before, and the
 * command may destroy objects that the posted WQEs use. */
static void take_doorbells(struct device *device, uint64_t now_ns)
{
	unsigned int turns = 4;

	if (device->model->is_pending(device))
		hca_finish_scans(device->hca, now_ns);
	while (device->model->is_pending(device) && turns && !hca_progress(device->hca, now_ns))
		turns--;
}

uint64_t device_progress(struct device *device, uint64_t now_ns)
{
	uint64_t next;
	bool more;

	if (!device->hca || device->unplugged)
		return HCA_IDLE;
	take_doorbells(device, now_ns);
	more = device->model->run(device);
	next = hca_progress(device->hca, now_ns);
	return more ? 0 : next;
}

void device_set_vector(struct device *device, uint32_t vector, int fd)
{
	pthread_mutex_lock(&device->vector_lock);
	if (device->vector_fd[vector] >= 0)
		close(device->vector_fd[vector]);
	device->vector_fd[vector] = fd;
	pthread_mutex_unlock(&device->vector_lock);
}

uint64_t device_region_size(const struct device *device, uint32_t index)
{
	if (index < PCI_BARS)
		return device->model->bar_size[index];
	return index == VFIO_PCI_CONFIG_REGION_INDEX ? PCI_CONFIG_SIZE : 0;
}

void device_read(struct device *device, uint32_t region, uint64_t offset, uint8_t *data,
		 uint32_t len)
{
	if (device->unplugged)
		memset(data, 0xff, len);
	else if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		pci_config_read(&device->pci, offset, data, len);
	else if (!device->hca)
		memset(data, 0xff, len); /* all ones, as of a device that is gone */
	else
		device->model->read(device, region, offset, data, len);
}

static int write_config(struct device *device, uint64_t offset, const uint8_t *data, uint32_t len)
{
	bool reset = pci_config_write(&device->pci, offset, data, len);

	device->dma.enabled = pci_config_is_master(&device->pci);
	return reset ? device_reset(device) : 0;
}

int device_write(struct device *device, uint32_t region, uint64_t offset, const uint8_t *data,
		 uint32_t len)
{
	if (device->unplugged)
		return 0; /* nobody takes it */
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		return write_config(device, offset, data, len);
	if (!device->hca)
		return ENODEV;
	if (!device->model->write(device, region, offset, data, len))
		return 0;
	log_note("pci: the driver has reset the adapter");
	return restart_adapter(device, RESET_BY_DRIVER);
}

static void forget_client(struct device *device)
{
	for (unsigned int i = 0; i < PCI_MSIX_VECTORS; i++)
		device_set_vector(device, i, -1);
	dma_table_clear(&device->dma);
}

int device_detach(struct device *device)
{
	int ret = device_reset(device);

	forget_client(device);
	return ret;
}

void device_free(struct device *device)
{
	if (device->hca)
		hca_destroy(device->hca);
	device->model->free(device);
	forget_client(device);
}
