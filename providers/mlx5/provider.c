/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * provider.c - tells the library which devices are ours.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "util/alloc.h"

#include <rdma/ib_user_ioctl_verbs.h>

#define MELLANOX 0x15b3

static const struct verbs_pci_id pci_ids[] = {
	{ MELLANOX, 0x1011 }, /* Connect-IB */
	{ MELLANOX, 0x1012 }, /* Connect-IB, virtual function */
	{ MELLANOX, 0x1013 }, /* ConnectX-4 */
	{ MELLANOX, 0x1014 }, /* ConnectX-4, virtual function */
	{ MELLANOX, 0x1015 }, /* ConnectX-4 Lx */
	{ MELLANOX, 0x1016 }, /* ConnectX-4 Lx, virtual function */
	{ MELLANOX, 0x1017 }, /* ConnectX-5 */
	{ MELLANOX, 0x1018 }, /* ConnectX-5, virtual function */
	{ MELLANOX, 0x1019 }, /* ConnectX-5 Ex */
	{ MELLANOX, 0x101a }, /* ConnectX-5 Ex, virtual function */
	{ MELLANOX, 0x101b }, /* ConnectX-6 */
	{ MELLANOX, 0x101c }, /* ConnectX-6, virtual function */
	{ MELLANOX, 0x101d }, /* ConnectX-6 Dx */
	{ MELLANOX, 0x101e }, /* ConnectX family, virtual function */
	{ MELLANOX, 0x101f }, /* ConnectX-6 Lx */
	{ MELLANOX, 0x1021 }, /* ConnectX-7 */
	{ MELLANOX, 0x1023 }, /* ConnectX-8 */
	{ MELLANOX, 0x1025 }, /* ConnectX-9 */
	{ MELLANOX, 0xa2d2 }, /* BlueField, integrated ConnectX-5 */
	{ MELLANOX, 0xa2d3 }, /* BlueField, virtual function */
	{ MELLANOX, 0xa2d6 }, /* BlueField-2, integrated ConnectX-6 Dx */
	{ MELLANOX, 0xa2dc }, /* BlueField-3, integrated ConnectX-7 */
	{ MELLANOX, 0xa2df }, /* BlueField-4 */
	{ 0, 0 },
};

static int device_alloc(const struct verbs_device_info *info, struct verbs_device **vdev)
{
	struct mlx5_device *dev = calloc_for("get_device_list", 1, sizeof(*dev));

	(void)info;
	if (!dev)
		return ENOMEM;
	*vdev = &dev->vdev;
	return 0;
}

static void device_free(struct verbs_device *vdev)
{
	free(container_of(vdev, struct mlx5_device, vdev));
}

VERBS_DRIVER(mlx5) = {
	.magic = VERBS_DRIVER_MAGIC,
	.name = "mlx5",
	.driver_id = RDMA_DRIVER_MLX5,
	.pci_ids = pci_ids,
	.min_abi = MLX5_IB_UVERBS_ABI_VERSION,
	.max_abi = MLX5_IB_UVERBS_ABI_VERSION,
	.alloc_device = device_alloc,
	.free_device = device_free,
	.alloc_context = mlx5_context_alloc,
	.import_context = mlx5_context_import,
	.free_context = mlx5_context_free,
};
VERBS_DRIVER_REGISTER(mlx5)
