/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of the mlx5 direct-verbs API that are aliases of kernel names. mlx5_user_ioctl_verbs.h has
 * the only definition of each. Included by <infiniband/mlx5dv.h>.
 */
#ifndef MLX5_API_H
#define MLX5_API_H

#include <infiniband/mlx5_user_ioctl_verbs.h>

#define mlx5dv_flow_action_flags                  mlx5_ib_uapi_flow_action_flags
#define mlx5dv_flow_action_packet_reformat_type   mlx5_ib_uapi_flow_action_packet_reformat_type
#define mlx5dv_flow_table_type                    mlx5_ib_uapi_flow_table_type
#define MLX5DV_FLOW_ACTION_FLAGS_REQUIRE_METADATA MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA
#define MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2 \
	MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2
#define MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL \
	MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL
#define MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2 \
	MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2
#define MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL \
	MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL
#define MLX5DV_FLOW_TABLE_TYPE_NIC_RX            MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX
#define MLX5DV_FLOW_TABLE_TYPE_NIC_TX            MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX
#define MLX5DV_FLOW_TABLE_TYPE_FDB               MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB
#define MLX5DV_FLOW_TABLE_TYPE_RDMA_RX           MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX
#define MLX5DV_FLOW_TABLE_TYPE_RDMA_TX           MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX
#define MLX5DV_FLOW_TABLE_TYPE_RDMA_TRANSPORT_RX MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TRANSPORT_RX
#define MLX5DV_FLOW_TABLE_TYPE_RDMA_TRANSPORT_TX MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TRANSPORT_TX

#define mlx5dv_alloc_dm_type                     mlx5_ib_uapi_dm_type
#define MLX5DV_DM_TYPE_MEMIC                     MLX5_IB_UAPI_DM_TYPE_MEMIC
#define MLX5DV_DM_TYPE_STEERING_SW_ICM           MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM
#define MLX5DV_DM_TYPE_HEADER_MODIFY_SW_ICM      MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM
#define MLX5DV_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM \
	MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM
#define MLX5DV_DM_TYPE_ENCAP_SW_ICM            MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM
#define MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT   MLX5_IB_UAPI_REG_DMABUF_ACCESS_DATA_DIRECT

#define mlx5dv_devx_async_cmd_hdr              mlx5_ib_uapi_devx_async_cmd_hdr
#define mlx5dv_devx_async_event_hdr            mlx5_ib_uapi_devx_async_event_hdr
#define mlx5dv_devx_create_event_channel_flags mlx5_ib_uapi_devx_create_event_channel_flags
#define MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA \
	MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA

/* Pages and doorbells. Bit 31 of a UAR type is the library's own, as the kernel's types count from
 * 0: a page that no other user shares. */
#define MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX   MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX
#define MLX5DV_UAR_ALLOC_TYPE_BF                MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF
#define MLX5DV_UAR_ALLOC_TYPE_NC                MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC
#define MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED      (1U << 31)
#define MLX5DV_VAR_ALLOC_FLAG_TLP               MLX5_IB_UAPI_VAR_ALLOC_FLAG_TLP

#define mlx5dv_port                             mlx5_ib_uapi_query_port
#define mlx5dv_reg                              mlx5_ib_uapi_reg
#define MLX5DV_QUERY_PORT_VPORT                 MLX5_IB_UAPI_QUERY_PORT_VPORT
#define MLX5DV_QUERY_PORT_VPORT_VHCA_ID         MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID
#define MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_RX MLX5_IB_UAPI_QUERY_PORT_VPORT_STEERING_ICM_RX
#define MLX5DV_QUERY_PORT_VPORT_STEERING_ICM_TX MLX5_IB_UAPI_QUERY_PORT_VPORT_STEERING_ICM_TX
#define MLX5DV_QUERY_PORT_VPORT_REG_C0          MLX5_IB_UAPI_QUERY_PORT_VPORT_REG_C0
#define MLX5DV_QUERY_PORT_ESW_OWNER_VHCA_ID     MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID

#endif
