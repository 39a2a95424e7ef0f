/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * files.h - the three files of VFIO that belong to a device, and its registers.
 */
#ifndef PROVIDERS_MLX5_VFIO_FILES_H
#define PROVIDERS_MLX5_VFIO_FILES_H

#include <stdint.h>

struct vfio_files {
	int container, group, device;
	uint8_t *bar; /* mapping of the whole BAR 0 */
	uint64_t bar_size;
	uint32_t vectors; /* MSI-X vectors of the device */
};

/* Returns the number in FILE of the device's directory in sysfs, for instance "vendor". Returns 0
 * if there is no such file. */
unsigned int mlx5_vfio_files_id(const char *pci_name, const char *file);
/* Returns the number of the IOMMU group of the device at a PCI address, or -1. */
int mlx5_vfio_files_group(const char *pci_name);
/* Opens container, group and device, resets the device, maps its registers and makes it a bus
 * master. Returns 0 or an errno; nothing is open after an error. */
int mlx5_vfio_files_open(struct vfio_files *files, const char *pci_name);
/* Resets the device, so that it uses no memory any more, and ends bus mastering. Returns 0, or the
 * errno of the reset, logged: the IOMMU then protects memory that is unmapped, and closing the
 * device is the next try. */
int mlx5_vfio_files_reset(const struct vfio_files *files);
/* Unmaps the registers and closes the device, which resets it. Then closes the group and the
 * container, which ends the mappings of memory. */
void mlx5_vfio_files_close(struct vfio_files *files);

#endif
