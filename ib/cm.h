/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cm.h - management datagrams of communication management. Facts only. IBTA vol 1, 12.6 to 12.11;
 * annex A11 (IP addresses in private data), annex A14 (XRC), and vendors' use of reserved bytes
 * (ECE).
 *
 * Offsets count from the data, which begins CM_DATA bytes into the datagram. The only method is
 * MAD_SEND.
 */
#ifndef IB_CM_H
#define IB_CM_H

#include "ib/mad.h"

enum { CM_CLASS_VERSION = 2, CM_DATA = MAD_HEADER_SIZE };

enum { /* attributes */
       CM_REQ = 0x10,
       CM_MRA,
       CM_REJ,
       CM_REP,
       CM_RTU,
       CM_DREQ,
       CM_DREP,
       CM_SIDR_REQ,
       CM_SIDR_REP,
};

enum { CM_OF_REQ, CM_OF_REP, CM_OF_OTHER }; /* the message that an MRA or REJ answers */

enum cm_reason { /* reasons of a REJ: IBTA vol 1, 12.6.7.2, table 106 */
		 REASON_TIMEOUT = 4,
		 REASON_INVALID_SERVICE_ID = 8,
		 REASON_STALE_CONNECTION = 10,
		 REASON_CONSUMER = 28,
		 REASON_VENDOR_OPTION = 35,
};

enum { SIDR_SUCCESS, SIDR_UNSUPPORTED, SIDR_REJECT };

enum { SERVICE_RC = 0, SERVICE_UC = 1, SERVICE_EXTENDED = 3 };
enum { EXTENDED_XRC = 1 };

enum { /* size and offset of private data */
       REQ_PRIVATE = 92,
       REQ_PRIVATE_AT = 140,
       REJ_PRIVATE = 148,
       REJ_PRIVATE_AT = 84,
       REJ_INFO_AT = 12,
       REP_PRIVATE = 196,
       REP_PRIVATE_AT = 36,
       RTU_PRIVATE = 224,
       DREQ_PRIVATE = 220,
       SIDR_REQ_PRIVATE = 216,
       SIDR_REQ_PRIVATE_AT = 16,
       SIDR_REP_PRIVATE = 136,
       SIDR_REP_PRIVATE_AT = 96,
};

/* The data of all messages except SIDR's begins with the two ids, by which each side finds its
 * connection. */
#define CM_LOCAL_ID             FLD(0x0, 31, 0)
#define CM_REMOTE_ID            FLD(0x4, 31, 0)

#define REQ_VENDOR_ID           FLD(0x4, 23, 0)
#define REQ_SERVICE_ID          FLD64(0x8)
#define REQ_CA_GUID             FLD64(0x10)
#define REQ_QKEY                FLD(0x1c, 31, 0)
#define REQ_QPN                 FLD(0x20, 31, 8)
#define REQ_RESPONDER_RESOURCES FLD(0x20, 7, 0)
#define REQ_INITIATOR_DEPTH     FLD(0x24, 7, 0)
/* timeouts are 4.096 us * 2^n, so that their 5 bits reach from microseconds to hours */
#define REQ_REMOTE_TIMEOUT  FLD(0x28, 7, 3)
#define REQ_SERVICE_TYPE    FLD(0x28, 2, 1)
#define REQ_FLOW_CONTROL    FLD(0x28, 0, 0)
#define REQ_PSN             FLD(0x2c, 31, 8)
#define REQ_LOCAL_TIMEOUT   FLD(0x2c, 7, 3)
#define REQ_RETRY_COUNT     FLD(0x2c, 2, 0)
#define REQ_PKEY            FLD(0x30, 31, 16)
#define REQ_MTU             FLD(0x30, 15, 12)
#define REQ_RNR_RETRY_COUNT FLD(0x30, 10, 8)
#define REQ_MAX_CM_RETRIES  FLD(0x30, 7, 4)
#define REQ_SRQ             FLD(0x30, 3, 3)
#define REQ_EXTENDED_TYPE   FLD(0x30, 2, 0)
#define REQ_LOCAL_LID       FLD(0x34, 31, 16)
#define REQ_REMOTE_LID      FLD(0x34, 15, 0)
#define REQ_LOCAL_GID       FLD_PART(0x38)
#define REQ_REMOTE_GID      FLD_PART(0x48)
#define REQ_FLOW_LABEL      FLD(0x58, 31, 12)
#define REQ_RATE            FLD(0x58, 5, 0)
#define REQ_TCLASS          FLD(0x5c, 31, 24)
#define REQ_HOP_LIMIT       FLD(0x5c, 23, 16)
#define REQ_SL              FLD(0x5c, 15, 12)
#define REQ_SUBNET_LOCAL    FLD(0x5c, 11, 11)
#define REQ_ACK_TIMEOUT     FLD(0x5c, 7, 3)

#define MRA_MESSAGE         FLD(0x8, 31, 30)
#define MRA_TIMEOUT         FLD(0x8, 23, 19)

#define REJ_MESSAGE         FLD(0x8, 31, 30)
#define REJ_INFO_LENGTH     FLD(0x8, 23, 17)
#define REJ_REASON          FLD(0x8, 15, 0)

#define REP_QPN             FLD(0xc, 31, 8)
#define REP_VENDOR_ID_H     FLD(0xc, 7, 0)
/* the XRC target QP, in the field that RD had for its EE context: annex A14 */
#define REP_EECN                FLD(0x10, 31, 8)
#define REP_VENDOR_ID_M         FLD(0x10, 7, 0)
#define REP_PSN                 FLD(0x14, 31, 8)
#define REP_VENDOR_ID_L         FLD(0x14, 7, 0)
#define REP_RESPONDER_RESOURCES FLD(0x18, 31, 24)
#define REP_INITIATOR_DEPTH     FLD(0x18, 23, 16)
#define REP_ACK_DELAY           FLD(0x18, 15, 11)
#define REP_FLOW_CONTROL        FLD(0x18, 8, 8)
#define REP_RNR_RETRY_COUNT     FLD(0x18, 7, 5)
#define REP_SRQ                 FLD(0x18, 4, 4)
#define REP_CA_GUID             FLD64(0x1c)

#define DREQ_QPN                FLD(0x8, 31, 8)

#define SIDR_REQUEST_ID         FLD(0x0, 31, 0)
#define SIDR_REQ_PKEY           FLD(0x4, 31, 16)
#define SIDR_REQ_SERVICE_ID     FLD64(0x8)
#define SIDR_REP_STATUS         FLD(0x4, 31, 24)
#define SIDR_REP_QPN            FLD(0x8, 31, 8)
#define SIDR_REP_SERVICE_ID     FLD64(0xc)
#define SIDR_REP_QKEY           FLD(0x14, 31, 0)

/* Annex A11: addresses and port of the request, at the start of its private data, because the CM's
 * own fields have GIDs only */
enum { CM_IP_SIZE = 36 };
#define CM_IP_VERSION     FLD(0x0, 31, 24) /* version of this header */
#define CM_IP_FAMILY      FLD(0x0, 23, 20) /* 4 or 6 */
#define CM_IP_PORT        FLD(0x0, 15, 0)  /* source port */
#define CM_IP_SOURCE      FLD_PART(0x4)    /* 16 bytes; IPv4 is in the last four */
#define CM_IP_DESTINATION FLD_PART(0x14)

#endif
