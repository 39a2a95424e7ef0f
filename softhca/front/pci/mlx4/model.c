/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model.c - the model mlx4: a ConnectX-3 as a PCI device.
 */
#include <linux/pci_regs.h>
#include <string.h>

#include "softhca/front/pci/device.h"

enum {
	DEVICE_CONNECTX3 = 0x1003,
	/* MSI-X table and PBA are in BAR 0; the vfio-user client handles them */
	MSIX_TABLE = 0x7c000,
	MSIX_PBA = 0x7d000,
	DOORBELLS = 2, /* BAR with the doorbells */
	DOORBELL_BYTES = 16 << 20,
};

static int mlx4_init(struct device *device, struct hca_config *config)
{
	device->registers.fault = config->fault;
	return 0;
}

static void mlx4_reset(struct device *device, enum reset why)
{
	device->registers.hca = device->hca;
	registers_reset(&device->registers, why == RESET_BY_DRIVER);
}

static void mlx4_read(struct device *device, uint32_t bar, uint64_t offset, uint8_t *data,
		      uint32_t len)
{
	uint32_t be = 0;

	for (uint32_t i = 0; i < len; i++, offset++) {
		if (i == 0 || offset % 4 == 0)
			be = bar ? 0 : registers_read(&device->registers, offset & ~3ull);
		data[i] = ((const uint8_t *)&be)[offset & 3];
	}
}

static bool mlx4_write(struct device *device, uint32_t bar, uint64_t offset, const uint8_t *data,
		       uint32_t len)
{
	bool reset = false;
	uint32_t be;

	if (bar == DOORBELLS) {
		registers_ring(&device->registers, offset, data, len);
		return false;
	}
	for (uint32_t i = 0; i + 4 <= len && offset % 4 == 0; i += 4) {
		memcpy(&be, data + i, sizeof(be));
		reset |= registers_write(&device->registers, offset + i, be);
	}
	return reset;
}

static bool mlx4_is_pending(const struct device *device)
{
	return device->registers.pending;
}

static bool mlx4_run(struct device *device)
{
	registers_run(&device->registers);
	return false;
}

static void mlx4_die(struct device *device)
{
	device->registers.error = true;
}

static void mlx4_free(struct device *device)
{
	(void)device;
}

const struct model mlx4_model = {
	.format = &mlx4_driver_format,
	.identity = {
		.device = DEVICE_CONNECTX3,
		.bar = { [0] = PCI_BASE_ADDRESS_MEM_TYPE_64,
			 [DOORBELLS] = PCI_BASE_ADDRESS_MEM_TYPE_64 |
				       PCI_BASE_ADDRESS_MEM_PREFETCH },
		.msix_table = MSIX_TABLE,
		.msix_pba = MSIX_PBA,
	},
	.bar_size = { [0] = M4_BAR0_SIZE, [DOORBELLS] = DOORBELL_BYTES },
	.init = mlx4_init,
	.reset = mlx4_reset,
	.read = mlx4_read,
	.write = mlx4_write,
	.is_pending = mlx4_is_pending,
	.run = mlx4_run,
	.die = mlx4_die,
	.free = mlx4_free,
};
