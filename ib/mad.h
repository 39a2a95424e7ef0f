/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mad.h - the parts that all management datagrams share: the common header, and the RMPP header of
 * datagrams in several segments. Facts only. IBTA vol 1, 13.4.2 (header), 13.4.5 to 13.4.7
 * (classes, methods, status), 13.6.2 (RMPP), 3.5.3 and 10.2.5 (QP1 and its Q_Key).
 */
#ifndef IB_MAD_H
#define IB_MAD_H

#include "util/fields.h"

enum {
	MAD_SIZE = 256,
	MAD_HEADER_SIZE = 24,
	MAD_BASE_VERSION_1 = 1,
	SMI_QPN = 0, /* datagrams of subnet management go to QP0 */
	GSI_QPN = 1, /* all other classes go to QP1: IBTA vol 1, 3.5.3 */
	GSI_QKEY = 0x80010000u,
	PKEY_DEFAULT = 0xffff, /* the partition that every port is a full member of */
	/* bits of the partition; bit 15 is set for a full member. Of two ports that exchange
	 * packets, at least one must be a full member */
	PKEY_PARTITION = 0x7fff,
};

enum {                          /* management classes */
       MAD_CLASS_SUBNET = 0x01, /* addressed by LIDs */
       MAD_CLASS_SA = 0x03,
       MAD_CLASS_PERFORMANCE = 0x04,
       MAD_CLASS_BASEBOARD = 0x05,
       MAD_CLASS_DEVICE_MANAGEMENT = 0x06,
       MAD_CLASS_CM = 0x07,
       MAD_CLASS_DEVICE_ADMIN = 0x10,
       MAD_CLASS_BIS = 0x12,
       MAD_CLASS_VENDOR_OUI = 0x30, /* first and last class with a vendor's OUI */
       MAD_CLASS_VENDOR_OUI_LAST = 0x4f,
       MAD_CLASS_DIRECTED = 0x81, /* subnet management along a list of ports */
};

enum { /* methods; MAD_RESPONSE marks a response */
       MAD_GET = 0x01,
       MAD_SET = 0x02,
       MAD_SEND = 0x03,
       MAD_TRAP = 0x05,
       MAD_TRAP_REPRESS = 0x07,
       MAD_RESPONSE = 0x80,
};

enum { MAD_CLASS_PORT_INFO = 0x0001 }; /* the attribute that every class has */

enum { /* status */
       MAD_UNSUPPORTED_VERSION = 0x0004,
       MAD_UNSUPPORTED_METHOD_ATTRIBUTE = 0x000c,
       MAD_INVALID_FIELD = 0x001c,
};

/* Every datagram begins with this header, so its readers need not know the class. IBTA vol 1,
 * 13.4.2 */
#define MAD_BASE_VERSION  FLD(0x0, 31, 24)
#define MAD_CLASS         FLD(0x0, 23, 16)
#define MAD_CLASS_VERSION FLD(0x0, 15, 8)
#define MAD_METHOD        FLD(0x0, 7, 0)
#define MAD_STATUS        FLD(0x4, 31, 16)
#define MAD_TRANSACTION   FLD64(0x8)
#define MAD_TRANSACTION_H FLD(0x8, 31, 0)
#define MAD_ATTRIBUTE     FLD(0x10, 31, 16)
#define MAD_MODIFIER      FLD(0x14, 31, 0)

/* The RMPP header follows the common header (IBTA vol 1, 13.6.2); offsets are from the datagram's
 * start. */
enum { RMPP_HEADER_SIZE = 12, RMPP_VERSION_1 = 1 };
enum { RMPP_DATA = 1, RMPP_ACK = 2, RMPP_ABORT = 4 };    /* type */
enum { RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4 }; /* flags */
enum { RMPP_NO_RESOURCES = 1, RMPP_TOO_LONG = 118 };     /* status: reason of an abort */

#define RMPP_VERSION FLD(0x18, 31, 24)
#define RMPP_TYPE    FLD(0x18, 23, 16)
#define RMPP_FLAGS   FLD(0x18, 10, 8)
#define RMPP_STATUS  FLD(0x18, 7, 0)
#define RMPP_SEGMENT FLD(0x1c, 31, 0)
#define RMPP_LENGTH  FLD(0x20, 31, 0)
/* in an ACK: the last segment that may be sent before another ACK (IBTA vol 1, 13.6.2) */
#define RMPP_WINDOW FLD(0x20, 31, 0)

/* Fields of ClassPortInfo */
#define CPI_BASE_VERSION                FLD(0x0, 31, 24)
#define CPI_CLASS_VERSION               FLD(0x0, 23, 16)
#define CPI_MASK2                       FLD(0x4, 31, 5)
#define CPI_RESPONSE_TIME               FLD(0x4, 4, 0)
#define CPI_MASK2_SENDONLY_FULL_MEMBERS (1u << 12)

#endif
