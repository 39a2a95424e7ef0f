/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * provider.c - registers this provider with the library: the PCI ids of its devices, and their
 * calls.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx4/ah.h"
#include "providers/mlx4/clock.h"
#include "providers/mlx4/context.h"
#include "providers/mlx4/cq.h"
#include "providers/mlx4/data/datapath.h"
#include "providers/mlx4/device.h"
#include "providers/mlx4/flow.h"
#include "providers/mlx4/mr.h"
#include "providers/mlx4/pd.h"
#include "providers/mlx4/qp.h"
#include "providers/mlx4/srq.h"
#include "providers/mlx4/wq.h"
#include "providers/common/mw.h"
#include "providers/common/rwq_table.h"
#include "providers/common/xrcd.h"
#include "util/alloc.h"

#include <rdma/ib_user_ioctl_verbs.h>

#define MELLANOX 0x15b3

static const struct verbs_pci_id pci_ids[] = {
	{ MELLANOX, 0x6340 }, /* ConnectX, SDR */
	{ MELLANOX, 0x634a }, /* ConnectX, DDR */
	{ MELLANOX, 0x6354 }, /* ConnectX, QDR */
	{ MELLANOX, 0x6732 }, /* ConnectX, DDR, PCIe 2 */
	{ MELLANOX, 0x673c }, /* ConnectX, QDR, PCIe 2 */
	{ MELLANOX, 0x6368 }, /* ConnectX EN 10GbE */
	{ MELLANOX, 0x6750 }, /* ConnectX EN 10GbE, PCIe 2 */
	{ MELLANOX, 0x6372 }, /* ConnectX EN 10GBASE-T */
	{ MELLANOX, 0x675a }, /* ConnectX EN 10GBASE-T, PCIe 2 */
	{ MELLANOX, 0x6764 }, /* ConnectX-2 EN 10GbE */
	{ MELLANOX, 0x6746 }, /* ConnectX-2 EN 40GbE */
	{ MELLANOX, 0x676e }, /* ConnectX-2 EN 40GbE */
	{ MELLANOX, 0x1002 }, /* ConnectX-2, virtual function */
	{ MELLANOX, 0x1003 }, /* ConnectX-3 */
	{ MELLANOX, 0x1004 }, /* ConnectX-3, virtual function */
	{ MELLANOX, 0x1005 }, /* ConnectX family */
	{ MELLANOX, 0x1006 }, /* ConnectX family */
	{ MELLANOX, 0x1007 }, /* ConnectX-3 Pro */
	{ 0, 0 },
};

static int device_alloc(const struct verbs_device_info *info, struct verbs_device **vdev)
{
	struct mlx4_device *dev = calloc_for("get_device_list", 1, sizeof(*dev));

	(void)info;
	if (!dev)
		return ENOMEM;
	*vdev = &dev->vdev;
	return 0;
}

static void device_free(struct verbs_device *vdev)
{
	free(container_of(vdev, struct mlx4_device, vdev));
}

const struct verbs_ops mlx4_context_ops = {
	.req_notify_cq = mlx4_cq_arm,
	.cq_event = mlx4_cq_event,
	.query_device_ex = mlx4_device_query_ex,
	.query_port = provider_device_query_port,
	.alloc_pd = mlx4_pd_alloc,
	.dealloc_pd = provider_pd_dealloc,
	.alloc_td = mlx4_td_alloc,
	.dealloc_td = mlx4_td_dealloc,
	.alloc_parent_domain = provider_parent_domain_alloc,
	.reg_mr = mlx4_mr_reg,
	.rereg_mr = mlx4_mr_rereg,
	.dereg_mr = mlx4_mr_dereg,
	.alloc_mw = mlx4_mw_alloc,
	.dealloc_mw = mlx4_mw_dealloc,
	.create_ah = mlx4_ah_create,
	.destroy_ah = mlx4_ah_destroy,
	.create_cq = mlx4_cq_create,
	.resize_cq = mlx4_cq_resize,
	.destroy_cq = mlx4_cq_destroy,
	.create_qp = mlx4_qp_create,
	.modify_qp = mlx4_qp_modify,
	.query_qp = mlx4_qp_query,
	.destroy_qp = mlx4_qp_destroy,
	.open_qp = mlx4_qp_open,
	.create_srq = mlx4_srq_create,
	.destroy_srq = mlx4_srq_destroy,
	.create_wq = mlx4_wq_create,
	.modify_wq = mlx4_wq_modify,
	.destroy_wq = mlx4_wq_destroy,
	.create_rwq_ind_table = provider_rwq_table_create,
	.destroy_rwq_ind_table = provider_rwq_table_destroy,
	.ibv_create_flow = mlx4_flow_create,
	.ibv_destroy_flow = mlx4_flow_destroy,
	.query_rt_values = mlx4_clock_query_rt_values,
	.open_xrcd = provider_xrcd_open,
	.close_xrcd = provider_xrcd_close,
};

VERBS_DRIVER(mlx4) = {
	.magic = VERBS_DRIVER_MAGIC,
	.name = "mlx4",
	.driver_id = RDMA_DRIVER_MLX4,
	.pci_ids = pci_ids,
	.min_abi = MLX4_IB_UVERBS_NO_DEV_CAPS_ABI_VERSION,
	.max_abi = MLX4_IB_UVERBS_ABI_VERSION,
	.alloc_device = device_alloc,
	.free_device = device_free,
	.alloc_context = mlx4_context_alloc,
	.free_context = mlx4_context_free,
};
VERBS_DRIVER_REGISTER(mlx4)
