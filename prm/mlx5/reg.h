/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reg.h - the registers that ACCESS_REG reads and writes.
 */
#ifndef PRM_MLX5_REG_H
#define PRM_MLX5_REG_H

#include "util/fields.h"

enum {
	PRM_PPCNT_REG_SIZE = 256,
};

enum prm_register {
	PRM_REG_PMLP = 0x5002,
	PRM_REG_PMTU = 0x5003,
	PRM_REG_PTYS = 0x5004,
	PRM_REG_PAOS = 0x5006,
	PRM_REG_PFCC = 0x5007,
	PRM_REG_PPCNT = 0x5008,
	PRM_REG_PVLC = 0x500f,
	PRM_REG_NODE_DESC = 0x6001,
	PRM_REG_HOST_ENDIANNESS = 0x7004,
	PRM_REG_DTOR = 0xc00e, /* default timeouts */
};

enum {
	PRM_PORT_UP = 1, /* PAOS admin_status, oper_status */
	PRM_PORT_DOWN = 2,
	PRM_COUNTERS_IEEE_802_3 = 0x0, /* PPCNT grp */
	PRM_COUNTERS_RFC_2863 = 0x1,
	PRM_COUNTERS_RFC_2819 = 0x2,
	PRM_COUNTERS_PER_PRIORITY = 0x10,
	PRM_COUNTERS_PHYSICAL = 0x12,
	PRM_COUNTERS_INFINIBAND = 0x20,
};

#define ACCESS_REGISTER_IN_REGISTER_ID    FLD(0x8, 15, 0)
#define ACCESS_REGISTER_IN_REGISTER_DATA  FLD_PART(0x10)
#define ACCESS_REGISTER_OUT_REGISTER_DATA FLD_PART(0x10)

#define PTYS_REG_LOCAL_PORT               FLD(0x0, 23, 16)
#define PTYS_REG_PROTO_MASK               FLD(0x0, 2, 0)
#define PTYS_REG_IB_LINK_WIDTH_CAPABILITY FLD(0x10, 31, 16)
#define PTYS_REG_IB_PROTO_CAPABILITY      FLD(0x10, 15, 0)
#define PTYS_REG_IB_LINK_WIDTH_OPER       FLD(0x28, 31, 16)
#define PTYS_REG_IB_PROTO_OPER            FLD(0x28, 15, 0)
#define PMTU_REG_LOCAL_PORT               FLD(0x0, 23, 16)
#define PMTU_REG_MAX_MTU                  FLD(0x4, 31, 16)
#define PMTU_REG_ADMIN_MTU                FLD(0x8, 31, 16)
#define PMTU_REG_OPER_MTU                 FLD(0xc, 31, 16)
#define PVLC_REG_LOCAL_PORT               FLD(0x0, 23, 16)
#define PVLC_REG_VL_HW_CAP                FLD(0x4, 3, 0)
#define PVLC_REG_VL_OPERATIONAL           FLD(0xc, 3, 0)

/* A timeout is in milliseconds, or in the unit of its multiplier. */
enum {
	PRM_TIMEOUT_MS = 0x0,
	PRM_TIMEOUT_SECONDS = 0x1,
	PRM_TIMEOUT_MINUTES = 0x2,
	PRM_TIMEOUT_HOURS = 0x3,
};
#define DTOR_REG_HEALTH_POLL_MULTIPLIER FLD(0x14, 31, 29)
#define DTOR_REG_PCIE_TOGGLE_TO         FLD(0x4, 19, 0)
#define DTOR_REG_HEALTH_POLL_TO         FLD(0x14, 19, 0)
#define DTOR_REG_FULL_CRDUMP_TO         FLD(0x18, 19, 0)
#define DTOR_REG_FW_RESET_TO            FLD(0x1c, 19, 0)
#define DTOR_REG_FLUSH_ON_ERR_TO        FLD(0x20, 19, 0)
#define DTOR_REG_PCI_SYNC_UPDATE_TO     FLD(0x24, 19, 0)
#define DTOR_REG_TEAR_DOWN_TO           FLD(0x28, 19, 0)
#define DTOR_REG_FSM_REACTIVATE_TO      FLD(0x2c, 19, 0)
#define DTOR_REG_RECLAIM_PAGES_TO       FLD(0x30, 19, 0)
#define DTOR_REG_RECLAIM_VFS_PAGES_TO   FLD(0x34, 19, 0)

#define PAOS_REG_LOCAL_PORT             FLD(0x0, 23, 16)
#define PAOS_REG_ADMIN_STATUS           FLD(0x0, 11, 8)
#define PAOS_REG_OPER_STATUS            FLD(0x0, 3, 0)
#define PAOS_REG_ASE                    FLD(0x4, 31, 31)
#define PAOS_REG_EE                     FLD(0x4, 30, 30)
#define PAOS_REG_E                      FLD(0x4, 1, 0)
#define PTYS_REG_AN_DISABLE_ADMIN       FLD(0x0, 30, 30)
#define PTYS_REG_AN_DISABLE_CAP         FLD(0x0, 29, 29)
#define PTYS_REG_AN_STATUS              FLD(0x4, 31, 28)
#define PTYS_REG_ETH_PROTO_CAPABILITY   FLD(0xc, 31, 0)
#define PTYS_REG_ETH_PROTO_ADMIN        FLD(0x18, 31, 0)
#define PTYS_REG_ETH_PROTO_OPER         FLD(0x24, 31, 0)
#define PTYS_REG_EXT_ETH_PROTO_ADMIN    FLD(0x14, 31, 0)
#define PTYS_REG_CONNECTOR_TYPE         FLD(0x2c, 3, 0)
#define PMLP_REG_LOCAL_PORT             FLD(0x0, 23, 16)
#define PMLP_REG_WIDTH                  FLD(0x0, 7, 0)
#define PMLP_REG_LANE0_MODULE_MAPPING   FLD(0x4, 31, 0)
#define PFCC_REG_LOCAL_PORT             FLD(0x0, 23, 16)
#define PFCC_REG_PPTX                   FLD(0x8, 31, 31)
#define PFCC_REG_PPRX                   FLD(0xc, 31, 31)
#define PFCC_REG_PFCTX                  FLD(0x8, 23, 16)
#define PFCC_REG_PFCRX                  FLD(0xc, 23, 16)
#define PPCNT_REG_LOCAL_PORT            FLD(0x0, 23, 16)
#define PPCNT_REG_GRP                   FLD(0x0, 5, 0)
#define PPCNT_REG_CLR                   FLD(0x4, 31, 31)
#define PPCNT_REG_PRIO_TC               FLD(0x4, 2, 0)
#define PPCNT_REG_COUNTER_SET           FLD_PART(0x8)

/* Counters in the groups of PPCNT have 64 bits; each name has the offset of the upper half. */
#define PPCNT_A_FRAMES_TRANSMITTED_OK_HIGH        FLD_PART(0x0)
#define PPCNT_A_FRAMES_RECEIVED_OK_HIGH           FLD_PART(0x8)
#define PPCNT_A_OCTETS_TRANSMITTED_OK_HIGH        FLD_PART(0x20)
#define PPCNT_A_OCTETS_RECEIVED_OK_HIGH           FLD_PART(0x28)
#define PPCNT_A_MULTICAST_FRAMES_XMITTED_OK_HIGH  FLD_PART(0x30)
#define PPCNT_A_BROADCAST_FRAMES_XMITTED_OK_HIGH  FLD_PART(0x38)
#define PPCNT_A_MULTICAST_FRAMES_RECEIVED_OK_HIGH FLD_PART(0x40)
#define PPCNT_A_BROADCAST_FRAMES_RECEIVED_OK_HIGH FLD_PART(0x48)
#define PPCNT_A_FRAME_TOO_LONG_ERRORS_HIGH        FLD_PART(0x60)
#define PPCNT_IF_IN_OCTETS_HIGH                   FLD_PART(0x0)
#define PPCNT_IF_IN_UCAST_PKTS_HIGH               FLD_PART(0x8)
#define PPCNT_IF_IN_DISCARDS_HIGH                 FLD_PART(0x10)
#define PPCNT_IF_OUT_OCTETS_HIGH                  FLD_PART(0x28)
#define PPCNT_IF_OUT_UCAST_PKTS_HIGH              FLD_PART(0x30)
#define PPCNT_IF_OUT_DISCARDS_HIGH                FLD_PART(0x38)
#define PPCNT_IF_IN_MULTICAST_PKTS_HIGH           FLD_PART(0x48)
#define PPCNT_IF_IN_BROADCAST_PKTS_HIGH           FLD_PART(0x50)
#define PPCNT_IF_OUT_MULTICAST_PKTS_HIGH          FLD_PART(0x58)
#define PPCNT_IF_OUT_BROADCAST_PKTS_HIGH          FLD_PART(0x60)
#define PPCNT_ETHER_STATS_OCTETS_HIGH             FLD_PART(0x8)
#define PPCNT_ETHER_STATS_PKTS_HIGH               FLD_PART(0x10)
#define PPCNT_ETHER_STATS_BROADCAST_PKTS_HIGH     FLD_PART(0x18)
#define PPCNT_ETHER_STATS_MULTICAST_PKTS_HIGH     FLD_PART(0x20)
#define PPCNT_ETHER_STATS_OVERSIZE_PKTS_HIGH      FLD_PART(0x38)
#define PPCNT_ETHER_STATS_PKTS64OCTETS_HIGH       FLD_PART(0x58)
#define PPCNT_PRIO_RX_OCTETS_HIGH                 FLD_PART(0x0)
#define PPCNT_PRIO_RX_FRAMES_HIGH                 FLD_PART(0x20)
#define PPCNT_PRIO_TX_OCTETS_HIGH                 FLD_PART(0x28)
#define PPCNT_PRIO_TX_FRAMES_HIGH                 FLD_PART(0x48)
#define PPCNT_LINK_DOWNED_COUNTER                 FLD(0x0, 7, 0)
#define PPCNT_PORT_XMIT_DISCARDS                  FLD(0x8, 15, 0)
#define PPCNT_LINK_DOWN_EVENTS                    FLD_PART(0xc0)

#endif
