/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sa.h - management datagrams of subnet administration: facts only. IBTA vol 1, 13.4 (MADs), 13.6
 * (RMPP), 15.2 (subnet administration).
 */
#ifndef IB_SA_H
#define IB_SA_H

#include "util/fields.h"

enum {
	MAD_BASE_VERSION_1 = 1,
	MAD_CLASS_SA = 3,
	SA_CLASS_VERSION = 2,
	SA_QKEY = 0x80010000u,
};

enum {
	SA_GET = 0x01,
	SA_SET = 0x02,
	SA_GET_TABLE = 0x12,
	SA_DELETE = 0x15,
	SA_RESPONSE = 0x80,
};

enum {
	SA_CLASS_PORT_INFO = 0x01,
	SA_SERVICE_RECORD = 0x31,
	SA_PATH_RECORD = 0x35,
	SA_MC_MEMBER_RECORD = 0x38,
};

enum {
	MAD_UNSUPPORTED_METHOD_ATTRIBUTE = 0x000c,
	SA_NO_RESOURCES = 0x0100,
	SA_INVALID_REQUEST = 0x0200,
	SA_NO_RECORDS = 0x0300,
	SA_TOO_MANY_RECORDS = 0x0400,
	SA_INVALID_GID = 0x0500,
	SA_INSUFFICIENT_COMPONENTS = 0x0600,
};

enum { /* components of requests, by bit */
       PATH_HAS_DGID = 2,
       PATH_HAS_PKEY = 13,
       MC_HAS_MGID = 0,
       MC_HAS_PORT_GID = 1,
       MC_HAS_QKEY = 2,
       MC_HAS_MTU_SELECTOR = 4,
       MC_HAS_MTU = 5,
       MC_HAS_TCLASS = 6,
       MC_HAS_PKEY = 7,
       MC_HAS_SL = 12,
       MC_HAS_FLOW_LABEL = 13,
       MC_HAS_JOIN_STATE = 16,
};

enum { /* of MTU, rate and packet lifetime */
       SELECT_EXACTLY = 2,
       MTU_4096 = 5,
       RATE_10_GBPS = 3,
       LIFETIME_134_MS = 15,
};

enum { RMPP_VERSION_1 = 1, RMPP_DATA = 1, RMPP_ACTIVE = 1, RMPP_WHOLE = 7 };

enum { SA_DATA = 56, PATH_RECORD_SIZE = 64, MC_MEMBER_RECORD_SIZE = 52, RMPP_SA_OVERHEAD = 20 };

#define MAD_BASE_VERSION  FLD(0x0, 31, 24)
#define MAD_CLASS         FLD(0x0, 23, 16)
#define MAD_CLASS_VERSION FLD(0x0, 15, 8)
#define MAD_METHOD        FLD(0x0, 7, 0)
#define MAD_STATUS        FLD(0x4, 31, 16)
#define MAD_ATTRIBUTE     FLD(0x10, 31, 16)
#define RMPP_VERSION      FLD(0x18, 31, 24)
#define RMPP_TYPE         FLD(0x18, 23, 16)
#define RMPP_FLAGS        FLD(0x18, 10, 8)
#define RMPP_SEGMENT      FLD(0x1c, 31, 0)
#define RMPP_LENGTH       FLD(0x20, 31, 0)
#define SA_ATTR_OFFSET    FLD(0x2c, 31, 16) /* in 8 bytes */
#define SA_COMPONENTS     48                /* 64 bits; at this byte */

/* In the data */
#define CPI_BASE_VERSION                FLD(0x0, 31, 24)
#define CPI_CLASS_VERSION               FLD(0x0, 23, 16)
#define CPI_MASK2                       FLD(0x4, 31, 5)
#define CPI_RESPONSE_TIME               FLD(0x4, 4, 0)
#define CPI_MASK2_SENDONLY_FULL_MEMBERS (1u << 12)

#define PATH_DGID                       FLD_PART(0x8)
#define PATH_SGID                       FLD_PART(0x18)
#define PATH_DLID                       FLD(0x28, 31, 16)
#define PATH_SLID                       FLD(0x28, 15, 0)
#define PATH_FLOW_LABEL                 FLD(0x2c, 27, 8)
#define PATH_HOP_LIMIT                  FLD(0x2c, 7, 0)
#define PATH_TCLASS                     FLD(0x30, 31, 24)
#define PATH_REVERSIBLE                 FLD(0x30, 23, 23)
#define PATH_NUMBER                     FLD(0x30, 22, 16)
#define PATH_PKEY                       FLD(0x30, 15, 0)
#define PATH_SL                         FLD(0x34, 19, 16)
#define PATH_MTU_SELECTOR               FLD(0x34, 15, 14)
#define PATH_MTU                        FLD(0x34, 13, 8)
#define PATH_RATE_SELECTOR              FLD(0x34, 7, 6)
#define PATH_RATE                       FLD(0x34, 5, 0)
#define PATH_LIFETIME_SELECTOR          FLD(0x38, 31, 30)
#define PATH_LIFETIME                   FLD(0x38, 29, 24)

#define MC_MGID                         FLD_PART(0x0)
#define MC_PORT_GID                     FLD_PART(0x10)
#define MC_QKEY                         FLD(0x20, 31, 0)
#define MC_MLID                         FLD(0x24, 31, 16)
#define MC_MTU_SELECTOR                 FLD(0x24, 15, 14)
#define MC_MTU                          FLD(0x24, 13, 8)
#define MC_TCLASS                       FLD(0x24, 7, 0)
#define MC_PKEY                         FLD(0x28, 31, 16)
#define MC_RATE_SELECTOR                FLD(0x28, 15, 14)
#define MC_RATE                         FLD(0x28, 13, 8)
#define MC_LIFETIME_SELECTOR            FLD(0x28, 7, 6)
#define MC_LIFETIME                     FLD(0x28, 5, 0)
#define MC_SL                           FLD(0x2c, 31, 28)
#define MC_FLOW_LABEL                   FLD(0x2c, 27, 8)
#define MC_HOP_LIMIT                    FLD(0x2c, 7, 0)
#define MC_SCOPE                        FLD(0x30, 31, 28)
#define MC_JOIN_STATE                   FLD(0x30, 27, 24)

#endif
