/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pm.h - performance management: counters of a port. Facts only. IBTA vol 1, 16.1.3; ib/mad.h has
 * the common header.
 */
#ifndef IB_PM_H
#define IB_PM_H

#include "ib/mad.h"

enum { PM_CLASS_VERSION = 1, PM_DATA = 64, PM_DATA_SIZE = 192 };

enum { /* attributes */
       PM_PORT_COUNTERS = 0x12,
       PM_PORT_COUNTERS_EXTENDED = 0x1d,
};

/* Bits of ClassPortInfo's capability mask */
enum { PM_CAP_EXTENDED = 1 << 9 };

#define PM_CAP_MASK FLD(0x0, 15, 0) /* of ClassPortInfo */

/* PortCounters: a counter stops at its highest value instead of wrapping, so that a reader sees the
 * overflow. Data counts in words of 4 bytes. IBTA vol 1, 16.1.3 */
#define PM_PORT            FLD(0x0, 23, 16)
#define PM_SELECT          FLD(0x0, 15, 0)
#define PM_LINK_DOWNED     FLD(0x4, 7, 0)
#define PM_XMIT_DATA       FLD(0x18, 31, 0)
#define PM_RECEIVE_DATA    FLD(0x1c, 31, 0)
#define PM_XMIT_PACKETS    FLD(0x20, 31, 0)
#define PM_RECEIVE_PACKETS FLD(0x24, 31, 0)

/* Bits of PM_SELECT, in the order of the attribute's counters: the counters that a Set writes */
enum {
	PM_SELECT_LINK_DOWNED = 1 << 2,
	PM_SELECT_XMIT_DATA = 1 << 12,
	PM_SELECT_RECEIVE_DATA = 1 << 13,
	PM_SELECT_XMIT_PACKETS = 1 << 14,
	PM_SELECT_RECEIVE_PACKETS = 1 << 15,
};

/* Counters of PortCountersExtended: 64 bits each, in this order from byte 8 on */
enum {
	PM_EXT_XMIT_DATA,
	PM_EXT_RECEIVE_DATA,
	PM_EXT_XMIT_PACKETS,
	PM_EXT_RECEIVE_PACKETS,
	PM_EXT_UNICAST_XMIT_PACKETS,
	PM_EXT_UNICAST_RECEIVE_PACKETS,
	PM_EXT_MULTICAST_XMIT_PACKETS,
	PM_EXT_MULTICAST_RECEIVE_PACKETS,
	PM_EXT_COUNTERS,
	PM_EXT_FIRST = 8,
};

#endif
