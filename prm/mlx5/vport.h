/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vport.h - the ports of the function: addresses, states, contexts and counters.
 */
#ifndef PRM_MLX5_VPORT_H
#define PRM_MLX5_VPORT_H

#include "util/fields.h"

enum {
	PRM_HCA_VPORT_CONTEXT_SIZE = 512,
	PRM_ROCE_ADDR_SIZE = 32,
	PRM_NIC_VPORT_CONTEXT_SIZE = 256,
	PRM_QUERY_VPORT_COUNTER_IN_SIZE = 32,
	PRM_QUERY_VPORT_COUNTER_OUT_SIZE = 528,
	PRM_TRAFFIC_COUNTER_SIZE = 16,
};

/* Values of ALLOWED_LIST_TYPE */
enum {
	PRM_LIST_UC = 0,
	PRM_LIST_MC = 1,
	PRM_LIST_VLAN = 2,
	PRM_LIST_TYPES,
};

#define QUERY_HCA_VPORT_CONTEXT_IN_OTHER_VPORT            FLD(0x8, 31, 31)
#define QUERY_HCA_VPORT_CONTEXT_IN_PORT_NUM               FLD(0x8, 19, 16)
#define QUERY_HCA_VPORT_CONTEXT_IN_VPORT_NUMBER           FLD(0x8, 15, 0)

#define QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT     FLD_PART(0x10)

#define HCA_VPORT_CONTEXT_FIELD_SELECT                    FLD(0x0, 31, 0)
#define HCA_VPORT_CONTEXT_SM_VIRT_AWARE                   FLD(0x20, 31, 31)
#define HCA_VPORT_CONTEXT_HAS_SMI                         FLD(0x20, 30, 30)
#define HCA_VPORT_CONTEXT_HAS_RAW                         FLD(0x20, 29, 29)
#define HCA_VPORT_CONTEXT_GRH_REQUIRED                    FLD(0x20, 28, 28)
#define HCA_VPORT_CONTEXT_PORT_PHYSICAL_STATE             FLD(0x20, 15, 12)
#define HCA_VPORT_CONTEXT_VPORT_STATE_POLICY              FLD(0x20, 11, 8)
#define HCA_VPORT_CONTEXT_PORT_STATE                      FLD(0x20, 7, 4)
#define HCA_VPORT_CONTEXT_VPORT_STATE                     FLD(0x20, 3, 0)
#define HCA_VPORT_CONTEXT_SYSTEM_IMAGE_GUID               FLD64(0x28)
#define HCA_VPORT_CONTEXT_PORT_GUID                       FLD64(0x30)
#define HCA_VPORT_CONTEXT_NODE_GUID                       FLD64(0x38)
#define HCA_VPORT_CONTEXT_CAP_MASK1                       FLD(0x40, 31, 0)
#define HCA_VPORT_CONTEXT_CAP_MASK1_FIELD_SELECT          FLD(0x44, 31, 0)
#define HCA_VPORT_CONTEXT_CAP_MASK2                       FLD(0x48, 31, 0)
#define HCA_VPORT_CONTEXT_CAP_MASK2_FIELD_SELECT          FLD(0x4c, 31, 0)
#define HCA_VPORT_CONTEXT_LID                             FLD(0x60, 31, 16)
#define HCA_VPORT_CONTEXT_INIT_TYPE_REPLY                 FLD(0x60, 11, 8)
#define HCA_VPORT_CONTEXT_LMC                             FLD(0x60, 7, 5)
#define HCA_VPORT_CONTEXT_SUBNET_TIMEOUT                  FLD(0x60, 4, 0)
#define HCA_VPORT_CONTEXT_SM_LID                          FLD(0x64, 31, 16)
#define HCA_VPORT_CONTEXT_SM_SL                           FLD(0x64, 15, 12)
#define HCA_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER          FLD(0x68, 31, 16)
#define HCA_VPORT_CONTEXT_PKEY_VIOLATION_COUNTER          FLD(0x68, 15, 0)

#define QUERY_HCA_VPORT_GID_IN_OTHER_VPORT                FLD(0x8, 31, 31)
#define QUERY_HCA_VPORT_GID_IN_PORT_NUM                   FLD(0x8, 19, 16)
#define QUERY_HCA_VPORT_GID_IN_VPORT_NUMBER               FLD(0x8, 15, 0)
#define QUERY_HCA_VPORT_GID_IN_GID_INDEX                  FLD(0xc, 15, 0)

#define QUERY_HCA_VPORT_GID_OUT_GIDS_NUM                  FLD(0xc, 31, 16)
#define QUERY_HCA_VPORT_GID_OUT_GID                       FLD_PART(0x10)

#define QUERY_HCA_VPORT_PKEY_IN_OTHER_VPORT               FLD(0x8, 31, 31)
#define QUERY_HCA_VPORT_PKEY_IN_PORT_NUM                  FLD(0x8, 19, 16)
#define QUERY_HCA_VPORT_PKEY_IN_VPORT_NUMBER              FLD(0x8, 15, 0)
#define QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX                FLD(0xc, 15, 0)

#define QUERY_HCA_VPORT_PKEY_OUT_PKEY                     FLD_PART(0x10)

#define PKEY_PKEY                                         FLD(0x0, 15, 0)

#define QUERY_VPORT_STATE_IN_OTHER_VPORT                  FLD(0x8, 31, 31)
#define QUERY_VPORT_STATE_IN_VPORT_NUMBER                 FLD(0x8, 15, 0)

#define QUERY_VPORT_STATE_OUT_MAX_TX_SPEED                FLD(0xc, 31, 16) /* 100 Mbit/s */
#define QUERY_VPORT_STATE_OUT_ADMIN_STATE                 FLD(0xc, 7, 4)
#define QUERY_VPORT_STATE_OUT_STATE                       FLD(0xc, 3, 0)

#define SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX            FLD(0x8, 31, 16)
#define SET_ROCE_ADDRESS_IN_VHCA_PORT_NUM                 FLD(0x8, 3, 0)
#define SET_ROCE_ADDRESS_IN_ROCE_ADDRESS                  FLD_PART(0x10)

#define QUERY_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX          FLD(0x8, 31, 16)
#define QUERY_ROCE_ADDRESS_IN_VHCA_PORT_NUM               FLD(0x8, 3, 0)

#define QUERY_ROCE_ADDRESS_OUT_ROCE_ADDRESS               FLD_PART(0x10)

#define ROCE_ADDR_SOURCE_L3_ADDRESS                       FLD_PART(0x0)
#define ROCE_ADDR_VLAN_VALID                              FLD(0x10, 28, 28)
#define ROCE_ADDR_VLAN_ID                                 FLD(0x10, 27, 16)
#define ROCE_ADDR_SOURCE_MAC_47_32                        FLD(0x10, 15, 0)
#define ROCE_ADDR_SOURCE_MAC_31_0                         FLD(0x14, 31, 0)
#define ROCE_ADDR_ROCE_L3_TYPE                            FLD(0x18, 11, 8)
#define ROCE_ADDR_ROCE_VERSION                            FLD(0x18, 7, 0)

#define MODIFY_HCA_VPORT_CONTEXT_IN_PORT_NUM              FLD(0x8, 19, 16)
#define MODIFY_HCA_VPORT_CONTEXT_IN_HCA_VPORT_CONTEXT     FLD_PART(0x10)

#define QUERY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT            FLD(0x8, 31, 31)
#define QUERY_NIC_VPORT_CONTEXT_IN_ALLOWED_LIST_TYPE      FLD(0xc, 26, 24)
#define QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT     FLD_PART(0x10)
#define MODIFY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT           FLD(0x8, 31, 31)
#define MODIFY_NIC_VPORT_CONTEXT_IN_FIELD_SELECT          FLD_PART(0xc)
#define MODIFY_NIC_VPORT_CONTEXT_IN_NIC_VPORT_CONTEXT     FLD_PART(0x100)
#define NIC_VPORT_FIELD_DISABLE_UC_LOCAL_LB               FLD(0x0, 11, 11)
#define NIC_VPORT_FIELD_DISABLE_MC_LOCAL_LB               FLD(0x0, 10, 10)
#define NIC_VPORT_FIELD_NODE_GUID                         FLD(0x0, 9, 9)
#define NIC_VPORT_FIELD_PORT_GUID                         FLD(0x0, 8, 8)
#define NIC_VPORT_FIELD_MIN_INLINE                        FLD(0x0, 7, 7)
#define NIC_VPORT_FIELD_MTU                               FLD(0x0, 6, 6)
#define NIC_VPORT_FIELD_CHANGE_EVENT                      FLD(0x0, 5, 5)
#define NIC_VPORT_FIELD_PROMISC                           FLD(0x0, 4, 4)
#define NIC_VPORT_FIELD_PERMANENT_ADDRESS                 FLD(0x0, 3, 3)
#define NIC_VPORT_FIELD_ADDRESSES_LIST                    FLD(0x0, 2, 2)
#define NIC_VPORT_FIELD_ROCE_EN                           FLD(0x0, 1, 1)
#define NIC_VPORT_CONTEXT_MIN_WQE_INLINE_MODE             FLD(0x0, 26, 24)
#define NIC_VPORT_CONTEXT_DISABLE_MC_LOCAL_LB             FLD(0x0, 2, 2)
#define NIC_VPORT_CONTEXT_DISABLE_UC_LOCAL_LB             FLD(0x0, 1, 1)
#define NIC_VPORT_CONTEXT_ROCE_EN                         FLD(0x0, 0, 0)
#define NIC_VPORT_CONTEXT_ARM_CHANGE_EVENT                FLD(0x4, 31, 31)
#define NIC_VPORT_CONTEXT_EVENT_ON_MTU                    FLD(0x4, 4, 4)
#define NIC_VPORT_CONTEXT_EVENT_ON_PROMISC_CHANGE         FLD(0x4, 3, 3)
#define NIC_VPORT_CONTEXT_EVENT_ON_VLAN_CHANGE            FLD(0x4, 2, 2)
#define NIC_VPORT_CONTEXT_EVENT_ON_MC_ADDRESS_CHANGE      FLD(0x4, 1, 1)
#define NIC_VPORT_CONTEXT_EVENT_ON_UC_ADDRESS_CHANGE      FLD(0x4, 0, 0)
#define NIC_VPORT_CONTEXT_MTU                             FLD(0x24, 15, 0)
#define NIC_VPORT_CONTEXT_SYSTEM_IMAGE_GUID               FLD64(0x28)
#define NIC_VPORT_CONTEXT_PORT_GUID                       FLD64(0x30)
#define NIC_VPORT_CONTEXT_NODE_GUID                       FLD64(0x38)
#define NIC_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER          FLD(0x68, 31, 16)
#define NIC_VPORT_CONTEXT_PROMISC_UC                      FLD(0xf0, 31, 31)
#define NIC_VPORT_CONTEXT_PROMISC_MC                      FLD(0xf0, 30, 30)
#define NIC_VPORT_CONTEXT_PROMISC_ALL                     FLD(0xf0, 29, 29)
#define NIC_VPORT_CONTEXT_ALLOWED_LIST_TYPE               FLD(0xf0, 26, 24)
#define NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE               FLD(0xf0, 11, 0)
#define NIC_VPORT_CONTEXT_PERMANENT_ADDRESS               FLD_PART(0xf4)
#define NIC_VPORT_CONTEXT_CURRENT_UC_MAC_ADDRESS          FLD_PART(0x100)
#define MAC_ADDRESS_MAC_ADDR_47_32                        FLD(0x0, 15, 0)
#define MAC_ADDRESS_MAC_ADDR_31_0                         FLD(0x4, 31, 0)
#define VLAN_LAYOUT_VLAN                                  FLD(0x0, 11, 0)
#define MODIFY_VPORT_STATE_IN_OTHER_VPORT                 FLD(0x8, 31, 31)
#define MODIFY_VPORT_STATE_IN_ADMIN_STATE                 FLD(0xc, 7, 4)
#define QUERY_VPORT_COUNTER_IN_OTHER_VPORT                FLD(0x8, 31, 31)
#define QUERY_VPORT_COUNTER_IN_PORT_NUM                   FLD(0x8, 19, 16)
#define QUERY_VPORT_COUNTER_IN_CLEAR                      FLD(0x18, 31, 31)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_ERRORS           FLD_PART(0x10)
#define QUERY_VPORT_COUNTER_OUT_TRANSMIT_ERRORS           FLD_PART(0x20)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_UNICAST       FLD_PART(0x30)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_UNICAST    FLD_PART(0x40)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_MULTICAST     FLD_PART(0x50)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_MULTICAST  FLD_PART(0x60)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_BROADCAST    FLD_PART(0x70)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_BROADCAST FLD_PART(0x80)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_UNICAST      FLD_PART(0x90)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_UNICAST   FLD_PART(0xa0)
#define QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_MULTICAST    FLD_PART(0xb0)
#define QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_MULTICAST FLD_PART(0xc0)
#define TRAFFIC_COUNTER_PACKETS                           FLD64(0x0)
#define TRAFFIC_COUNTER_OCTETS                            FLD64(0x8)

#endif
