/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet.h - the headers of InfiniBand packets, from the LRH to the payload. Facts only. IBTA vol
 * 1, 7.7 (LRH), 8.3 (GRH), 9.2 to 9.4 (BTH, extended headers, opcodes), 7.8 (checksums); annex A14
 * (XRC), A16 and A17 (RoCE). ib/ethernet.h has the headers before them on Ethernet.
 *
 * A GRH has the layout of an IPv6 header: use the fields IP6_*.
 * Decision: docs/adr/0002.
 */
#ifndef IB_PACKET_H
#define IB_PACKET_H

#include "ib/ethernet.h"
#include "util/fields.h"

enum {
	LRH_SIZE = 8,
	GRH_SIZE = IP6_SIZE,
	BTH_SIZE = 12,
	DETH_SIZE = 8,
	XRCETH_SIZE = 4,
	RETH_SIZE = 16,
	ATOMIC_ETH_SIZE = 28,
	MASKED_ETH_SIZE = 32,
	AETH_SIZE = 4,
	ATOMIC_ACK_ETH_SIZE = 8,
	IMMDT_SIZE = 4,
	DCETH_SIZE = 16,
	IETH_SIZE = 4, /* the key that SEND with invalidate names */
	ICRC_SIZE = 4,
	VCRC_SIZE = 2,
};

enum { /* limits of numbers in headers */
       QPN_MASK = 0xffffff,
       PSN_MASK = 0xffffff,
       /* destination QP of multicast datagrams, because the GRH's GID names the receivers */
       QPN_MULTICAST = 0xffffff,
       /* the first multicast LID; the last LID, 0xffff, is the permissive one and no group */
       LID_MULTICAST = 0xc000,
       LID_PERMISSIVE = 0xffff,
};

/* ---- LRH ---- */

enum { LRH_NEXT_BTH = 2, LRH_NEXT_GRH = 3, VL_MANAGEMENT = 15 };

#define LRH_VL      FLD(0x0, 31, 28)
#define LRH_VERSION FLD(0x0, 27, 24)
#define LRH_SL      FLD(0x0, 23, 20)
#define LRH_NEXT    FLD(0x0, 17, 16)
#define LRH_DLID    FLD(0x0, 15, 0)
/* in words, from the LRH through the ICRC, but not the VCRC: IBTA vol 1, 7.7 */
#define LRH_LENGTH FLD(0x4, 26, 16)
#define LRH_SLID   FLD(0x4, 15, 0)

/* ---- GRH ---- */

enum { GRH_NEXT_IBA = 0x1b }; /* a BTH follows */

/* ---- BTH ---- */

enum ib_service { /* upper three bits of an opcode */
		  IB_SERVICE_RC = 0,
		  IB_SERVICE_UC = 1,
		  IB_SERVICE_UD = 3,
		  IB_SERVICE_XRC = 5,
		  IB_SERVICE_DC = 6, /* 6 and 7 are manufacturers' own */
};

/* lower five bits of an opcode, the same for each service: IBTA vol 1, 9.2, table 38 */
enum ib_opcode {
	IB_SEND_FIRST = 0x00,
	IB_SEND_MIDDLE = 0x01,
	IB_SEND_LAST = 0x02,
	IB_SEND_LAST_IMM = 0x03,
	IB_SEND_ONLY = 0x04,
	IB_SEND_ONLY_IMM = 0x05,
	IB_WRITE_FIRST = 0x06,
	IB_WRITE_MIDDLE = 0x07,
	IB_WRITE_LAST = 0x08,
	IB_WRITE_LAST_IMM = 0x09,
	IB_WRITE_ONLY = 0x0a,
	IB_WRITE_ONLY_IMM = 0x0b,
	IB_READ_REQUEST = 0x0c,
	IB_READ_RESPONSE_FIRST = 0x0d,
	IB_READ_RESPONSE_MIDDLE = 0x0e,
	IB_READ_RESPONSE_LAST = 0x0f,
	IB_READ_RESPONSE_ONLY = 0x10,
	IB_ACKNOWLEDGE = 0x11,
	IB_ATOMIC_ACKNOWLEDGE = 0x12,
	IB_COMPARE_SWAP = 0x13,
	IB_FETCH_ADD = 0x14,
	IB_SEND_LAST_INVALIDATE = 0x16,
	IB_SEND_ONLY_INVALIDATE = 0x17,
	IB_CLOSE = 0x18, /* DC */
	IB_MASKED_CS = 0x19,
	IB_MASKED_FA = 0x1a,
	IB_NUM_OPCODES = 0x20,
};

#define BTH_SERVICE   FLD(0x0, 31, 29)
#define BTH_OPCODE    FLD(0x0, 28, 24)
#define BTH_SOLICITED FLD(0x0, 23, 23)
#define BTH_MIGRATED  FLD(0x0, 22, 22)
#define BTH_PAD       FLD(0x0, 21, 20)
#define BTH_VERSION   FLD(0x0, 19, 16)
#define BTH_PKEY      FLD(0x0, 15, 0)
/* FECN, BECN and reserved bits: not in the ICRC, because switches may set FECN on the way (7.8) */
#define BTH_VARIANT     FLD(0x4, 31, 24)
#define BTH_DEST_QPN    FLD(0x4, 23, 0)
#define BTH_ACK_REQUEST FLD(0x8, 31, 31)
#define BTH_PSN         FLD(0x8, 23, 0)

/* ---- extended headers ---- */

#define DETH_QKEY       FLD(0x0, 31, 0)
#define DETH_SOURCE_QPN FLD(0x4, 23, 0)

#define XRCETH_SRQN     FLD(0x0, 23, 0)

/* Requests of DC. The adapters' format is not published. This format is the project's own, with an
 * opcode from the range that the specification leaves to manufacturers. */
#define DCETH_KEY          FLD64(0x0)
#define DCETH_SOURCE_QPN   FLD(0x8, 23, 0)
#define DCETH_SESSION      FLD(0xc, 31, 0)

#define RETH_ADDRESS       FLD64(0x0)
#define RETH_RKEY          FLD(0x8, 31, 0)
#define RETH_LENGTH        FLD(0xc, 31, 0)

#define ATOMIC_ETH_ADDRESS FLD64(0x0)
#define ATOMIC_ETH_RKEY    FLD(0x8, 31, 0)
#define ATOMIC_ETH_SWAP    FLD64(0xc) /* or what is added */
#define ATOMIC_ETH_COMPARE FLD64(0x14)

/* Operands of masked atomics, behind a RETH with their address and size. The adapters' format is
 * not published: the project uses two reserved opcodes of the specification. */
#define MASKED_ETH_SWAP         FLD64(0x0) /* or what is added */
#define MASKED_ETH_COMPARE      FLD64(0x8) /* or where fields end */
#define MASKED_ETH_SWAP_MASK    FLD64(0x10)
#define MASKED_ETH_COMPARE_MASK FLD64(0x18)

/* The syndrome: its upper bits are the kind, the lower five a value of that kind. 9.7.5.1 */
enum { AETH_ACK = 0, AETH_RNR = 1, AETH_NAK = 3, AETH_NO_CREDITS = 0x1f };
enum { /* kinds of NAK */
       NAK_PSN = 0,
       NAK_INVALID_REQUEST = 1,
       NAK_REMOTE_ACCESS = 2,
       NAK_REMOTE_OPERATION = 3,
       NAK_NO_TARGET = 5, /* DC */
};

#define AETH_KIND          FLD(0x0, 31, 29)
#define AETH_VALUE         FLD(0x0, 28, 24)
#define AETH_MSN           FLD(0x0, 23, 0)

#define ATOMIC_ACK_ETH_OLD FLD64(0x0)

/* ---- RoCE ---- */

enum { ETHERTYPE_ROCE = 0x8915, ROCE_UDP_PORT = 4791 };

#endif
