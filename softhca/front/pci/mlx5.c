/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx5.c - the model mlx5: a ConnectX-5 as a PCI device. BAR 0 has all registers, see bar.h, and
 * memory on the adapter.
 */
#include <errno.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/front/pci/device.h"

enum { MEMIC_PAGE = 4096, DEVICE_MEMORY = 128 << 10 };

static int mlx5_init(struct device *device, struct hca_config *config)
{
	config->memic_size = DEVICE_MEMORY;
	config->memic_bar = BAR_MEMIC;
	config->memic_bar_size = BAR_MEMIC_SIZE;
	config->memic_windows = BAR_WINDOWS;
	device->bar.memory = calloc(1, BAR_MEMIC_SIZE);
	device->bar.cmdq.dma = &device->dma;
	device->bar.cmdq.fault = config->fault;
	device->bar.command_timeout_ms = device->command_timeout_ms;
	return device->bar.memory ? 0 : ENOMEM;
}

static void mlx5_reset(struct device *device, enum reset why)
{
	for (uint64_t at = 0; at < BAR_MEMIC_SIZE; at += MEMIC_PAGE)
		hca_place_memic(device->hca, BAR_MEMIC + at, device->bar.memory + at);
	memset(device->bar.memory, 0, BAR_MEMIC_SIZE);
	device->bar.hca = device->hca;
	device->bar.cmdq.hca = device->hca;
	bar_reset(&device->bar, why == RESET_DEVICE ? BAR_NIC_FULL : BAR_NIC_DISABLED);
}

static void mlx5_read(struct device *device, uint32_t bar, uint64_t offset, uint8_t *data,
		      uint32_t len)
{
	(void)bar;
	bar_read(&device->bar, offset, data, len);
}

static bool mlx5_write(struct device *device, uint32_t bar, uint64_t offset, const uint8_t *data,
		       uint32_t len)
{
	(void)bar;
	return bar_write(&device->bar, offset, data, len);
}

static bool mlx5_is_pending(const struct device *device)
{
	return cmdq_is_pending(&device->bar.cmdq);
}

static bool mlx5_run(struct device *device)
{
	return cmdq_run(&device->bar.cmdq);
}

static void mlx5_die(struct device *device)
{
	device->bar.syndrome = BAR_SYNDROME_FIRMWARE;
}

static void mlx5_free(struct device *device)
{
	free(device->bar.memory);
}

const struct model mlx5_model = {
	.format = &mlx5_format,
	.identity = {
		.device = 0x1017,
		.bar = { PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH },
		.msix_table = BAR_MSIX_TABLE,
		.msix_pba = BAR_MSIX_PBA,
		.has_gateway = true,
	},
	.bar_size = { BAR_SIZE },
	.init = mlx5_init,
	.reset = mlx5_reset,
	.read = mlx5_read,
	.write = mlx5_write,
	.is_pending = mlx5_is_pending,
	.run = mlx5_run,
	.die = mlx5_die,
	.free = mlx5_free,
};
