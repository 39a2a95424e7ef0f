/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * identity.c - the adapters that softhca emulates: a ConnectX-6 of 200 Gb/s, a ConnectX-3 of 56
 * Gb/s and, on Ethernet, a ConnectX-3 Pro of 40 Gb/s, which supports RoCE version 2. An adapter
 * that lets software write table entries of format 1 is a ConnectX-6 Dx, which has that format.
 */
#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/driver/identity.h"

#define CONNECTX_6                                                                              \
	.kind = HCA_MLX5, .format = &mlx5_format, .prefix = "mlx5", .core_driver = "mlx5_core", \
	.ib_driver = "mlx5_ib", .driver_id = RDMA_DRIVER_MLX5, .abi = 1, .fw_minor = 65,        \
	.fw_sub = 0, .board_id = "SFT0000000001", .subsystem_id = 0x0006,                       \
	.rate = "200 Gb/sec (4X HDR)", .pci_speed = "16.0 GT/s PCIe", .pci_speed_code = 4,      \
	.pci_width = 16, .active_speed = 64

static const struct identity connectx_6 = {
	CONNECTX_6,     .hca_type = "MT4123",       .part_id = 0x101b,
	.fw_major = 20, .fw_version = "20.65.0000",
};

static const struct identity connectx_6_dx = {
	CONNECTX_6,     .hca_type = "MT4125",       .part_id = 0x101d,
	.fw_major = 22, .fw_version = "22.65.0000",
};

#define CONNECTX_3                                                                              \
	.kind = HCA_MLX4, .format = &mlx4_format, .prefix = "mlx4", .core_driver = "mlx4_core", \
	.ib_driver = "mlx4_ib", .driver_id = RDMA_DRIVER_MLX4, .abi = 4, .fw_major = 2,         \
	.fw_minor = 65, .fw_sub = 0, .fw_version = "2.65.0000", .board_id = "SFT0000000003",    \
	.subsystem_id = 0x0055, .pci_speed = "8.0 GT/s PCIe", .pci_speed_code = 3, .pci_width = 8

static const struct identity connectx_3 = {
	CONNECTX_3,         .hca_type = "MT4099", .part_id = 0x1003, .rate = "56 Gb/sec (4X FDR)",
	.active_speed = 16,
};

static const struct identity connectx_3_pro = {
	CONNECTX_3,        .hca_type = "MT4103", .part_id = 0x1007, .rate = "40 Gb/sec (4X FDR10)",
	.active_speed = 8,
};

const struct identity *identity_of(enum hca_kind kind, enum hca_link_layer link_layer,
				   enum hca_steering steering)
{
	const bool is_ethernet = link_layer == HCA_LINK_ETHERNET;

	if (kind == HCA_MLX5)
		return is_ethernet && steering == HCA_STEERING_V1 ? &connectx_6_dx : &connectx_6;
	return is_ethernet ? &connectx_3_pro : &connectx_3;
}
