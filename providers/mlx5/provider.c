/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * provider.c - registers this provider with the library: the PCI ids of its devices, and their
 * calls.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/ah/ah.h"
#include "providers/mlx5/clock.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/cq.h"
#include "providers/mlx5/device.h"
#include "providers/mlx5/dm.h"
#include "providers/mlx5/flow.h"
#include "providers/mlx5/mr.h"
#include "providers/mlx5/pd.h"
#include "providers/mlx5/qp/qp.h"
#include "providers/mlx5/qp/extra.h"
#include "providers/mlx5/srq.h"
#include "providers/mlx5/tm.h"
#include "providers/mlx5/wq.h"
#include "providers/mlx5/qp/xrc.h"
#include "providers/common/mw.h"
#include "providers/common/rwq_table.h"
#include "providers/common/xrcd.h"
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

const struct verbs_ops mlx5_context_ops = {
	.req_notify_cq = mlx5_cq_arm,
	.post_srq_ops = mlx5_tm_post,
	.cq_event = mlx5_cq_event,
	.query_device_ex = mlx5_device_query_ex,
	.query_port = provider_device_query_port,
	.alloc_pd = mlx5_pd_alloc,
	.dealloc_pd = provider_pd_dealloc,
	.import_pd = mlx5_pd_import,
	.unimport_pd = provider_pd_unimport,
	.alloc_td = mlx5_td_alloc,
	.dealloc_td = mlx5_td_dealloc,
	.alloc_parent_domain = provider_parent_domain_alloc,
	.reg_mr = mlx5_mr_reg,
	.reg_dmabuf_mr = mlx5_mr_reg_dmabuf,
	.reg_mr_ex = mlx5_mr_reg_ex,
	.rereg_mr = mlx5_mr_rereg,
	.dereg_mr = mlx5_mr_dereg,
	.import_mr = mlx5_mr_import,
	.unimport_mr = mlx5_mr_unimport,
	.alloc_null_mr = mlx5_mr_alloc_null,
	.alloc_dm = mlx5_dm_alloc,
	.free_dm = mlx5_dm_free,
	.import_dm = mlx5_dm_import,
	.unimport_dm = mlx5_dm_unimport,
	.reg_dm_mr = mlx5_dm_reg_mr,
	.dm_export_dmabuf_fd = mlx5_dm_export_dmabuf,
	.create_ah = mlx5_ah_create,
	.destroy_ah = mlx5_ah_destroy,
	.alloc_mw = mlx5_mw_alloc,
	.dealloc_mw = mlx5_mw_dealloc,
	.create_cq = mlx5_cq_create,
	.resize_cq = mlx5_cq_resize,
	.destroy_cq = mlx5_cq_destroy,
	.create_qp = mlx5_qp_create,
	.modify_qp = mlx5_qp_modify,
	.query_qp = mlx5_qp_query,
	.destroy_qp = mlx5_qp_destroy,
	.open_qp = mlx5_qp_open,
	.set_ece = mlx5_qp_set_ece,
	.query_ece = mlx5_qp_query_ece,
	.query_qp_data_in_order = mlx5_qp_query_data_in_order,
	.modify_qp_rate_limit = mlx5_qp_modify_rate_limit,
	.create_wq = mlx5_wq_create,
	.modify_wq = mlx5_wq_modify,
	.destroy_wq = mlx5_wq_destroy,
	.create_rwq_ind_table = provider_rwq_table_create,
	.destroy_rwq_ind_table = provider_rwq_table_destroy,
	.ibv_create_flow = mlx5_flow_create,
	.ibv_destroy_flow = mlx5_flow_destroy,
	.create_flow_action_esp = mlx5_flow_action_create_esp,
	.modify_flow_action_esp = mlx5_flow_action_modify_esp,
	.destroy_flow_action = mlx5_flow_action_destroy,
	.create_counters = mlx5_counters_create,
	.destroy_counters = mlx5_counters_destroy,
	.attach_counters_point_flow = mlx5_counters_attach,
	.read_counters = mlx5_counters_read,
	.query_rt_values = mlx5_clock_query_rt_values,
	.create_srq = mlx5_srq_create,
	.query_srq = mlx5_srq_query,
	.destroy_srq = mlx5_srq_destroy,
	.open_xrcd = provider_xrcd_open,
	.close_xrcd = provider_xrcd_close,
};

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
	.alloc_context_as = mlx5_context_alloc_with,
	.import_context = mlx5_context_import,
	.free_context = mlx5_context_free,
};
VERBS_DRIVER_REGISTER(mlx5)
