/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sa.h - management datagrams of subnet administration. Facts only. IBTA vol 1, 15.2: header,
 * attributes, status; ib/mad.h has the common header before them.
 */
#ifndef IB_SA_H
#define IB_SA_H

#include "ib/mad.h"

enum {
	SA_CLASS_VERSION = 2,
	SA_DATA = 56,        /* offset of a record in the datagram */
	SA_HEADER_SIZE = 20, /* size of the SA header, behind RMPP's */
	PATH_RECORD_SIZE = 64,
	MC_MEMBER_RECORD_SIZE = 52,
	SERVICE_RECORD_SIZE = 176,
	SERVICE_NAME_SIZE = 64,
	NODE_RECORD_SIZE = 108,
	PORT_INFO_RECORD_SIZE = 68,
	SWITCH_INFO_RECORD_SIZE = 24,
	SM_INFO_RECORD_SIZE = 25,
	LINK_RECORD_SIZE = 6,
	GUID_INFO_RECORD_SIZE = 72,
	PKEY_TABLE_RECORD_SIZE = 72,
};

enum { /* methods besides the common ones */
       SA_GET_TABLE = 0x12,
       SA_DELETE = 0x15,
};

enum { /* attributes */
       SA_NODE_RECORD = 0x11,
       SA_PORT_INFO_RECORD = 0x12,
       SA_SWITCH_INFO_RECORD = 0x14,
       SA_SM_INFO_RECORD = 0x18,
       SA_LINK_RECORD = 0x20,
       SA_GUID_INFO_RECORD = 0x30,
       SA_SERVICE_RECORD = 0x31,
       SA_PKEY_TABLE_RECORD = 0x33,
       SA_PATH_RECORD = 0x35,
       SA_MC_MEMBER_RECORD = 0x38,
};

enum { /* status */
       SA_NO_RESOURCES = 0x0100,
       SA_INVALID_REQUEST = 0x0200,
       SA_NO_RECORDS = 0x0300,
       SA_TOO_MANY_RECORDS = 0x0400,
       SA_INVALID_GID = 0x0500,
       SA_INSUFFICIENT_COMPONENTS = 0x0600,
};

/* bit numbers in the component mask of a request: the fields of the record that the request sets
 * (IBTA vol 1, 15.2) */
enum {
	PATH_HAS_DGID = 2,
	PATH_HAS_SGID = 3,
	PATH_HAS_REVERSIBLE = 11,
	PATH_HAS_NUMBER = 12,
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
	SERVICE_HAS_ID = 0,
	SERVICE_HAS_GID = 1,
	SERVICE_HAS_PKEY = 2,
	SERVICE_HAS_LEASE = 4,
	SERVICE_HAS_KEY = 5,
	SERVICE_HAS_NAME = 6,
	SERVICE_HAS_DATA8 = 7,   /* 16 components of one byte */
	SERVICE_HAS_DATA16 = 23, /* 8 of two bytes */
	SERVICE_HAS_DATA32 = 31, /* 4 of four bytes */
	SERVICE_HAS_DATA64 = 35, /* 2 of eight bytes */
	SERVICE_COMPONENTS = 37,
};

enum { /* selectors and values of MTU, rate and packet lifetime */
       SELECT_EXACTLY = 2,
       MTU_4096 = 5,
       RATE_10_GBPS = 3,
       RATE_100_GBPS = 16,
       LIFETIME_134_MS = 15,
       LIFETIME_1_S = 18,
};

/* distance between the records of a table, in units of 8 bytes, because records are padded to such
 * units */
#define SA_ATTR_OFFSET         FLD(0x2c, 31, 16)
#define SA_COMPONENTS          FLD64(0x30)

#define PATH_DGID              FLD_PART(0x8)
#define PATH_SGID              FLD_PART(0x18)
#define PATH_DLID              FLD(0x28, 31, 16)
#define PATH_SLID              FLD(0x28, 15, 0)
#define PATH_FLOW_LABEL        FLD(0x2c, 27, 8)
#define PATH_HOP_LIMIT         FLD(0x2c, 7, 0)
#define PATH_TCLASS            FLD(0x30, 31, 24)
#define PATH_REVERSIBLE        FLD(0x30, 23, 23)
#define PATH_NUMBER            FLD(0x30, 22, 16)
#define PATH_PKEY              FLD(0x30, 15, 0)
#define PATH_SL                FLD(0x34, 19, 16)
#define PATH_MTU_SELECTOR      FLD(0x34, 15, 14)
#define PATH_MTU               FLD(0x34, 13, 8)
#define PATH_RATE_SELECTOR     FLD(0x34, 7, 6)
#define PATH_RATE              FLD(0x34, 5, 0)
#define PATH_LIFETIME_SELECTOR FLD(0x38, 31, 30)
#define PATH_LIFETIME          FLD(0x38, 29, 24)

#define MC_MGID                FLD_PART(0x0)
#define MC_PORT_GID            FLD_PART(0x10)
#define MC_QKEY                FLD(0x20, 31, 0)
#define MC_MLID                FLD(0x24, 31, 16)
#define MC_MTU_SELECTOR        FLD(0x24, 15, 14)
#define MC_MTU                 FLD(0x24, 13, 8)
#define MC_PKEY                FLD(0x28, 31, 16)
#define MC_RATE_SELECTOR       FLD(0x28, 15, 14)
#define MC_RATE                FLD(0x28, 13, 8)
#define MC_LIFETIME_SELECTOR   FLD(0x28, 7, 6)
#define MC_LIFETIME            FLD(0x28, 5, 0)
#define MC_SCOPE               FLD(0x30, 31, 28)
#define MC_JOIN_STATE          FLD(0x30, 27, 24)

#define SERVICE_ID             FLD64(0x0)
#define SERVICE_GID            FLD_PART(0x8)
#define SERVICE_PKEY           FLD(0x18, 31, 16)
#define SERVICE_LEASE          FLD(0x1c, 31, 0)
#define SERVICE_KEY            FLD_PART(0x20)
#define SERVICE_NAME           FLD_PART(0x30)
#define SERVICE_DATA8          FLD_PART(0x70)
#define SERVICE_DATA16         FLD_PART(0x80)
#define SERVICE_DATA32         FLD_PART(0x90)
#define SERVICE_DATA64         FLD_PART(0xa0)
#define SERVICE_LEASE_FOREVER  0xffffffffu

#endif
