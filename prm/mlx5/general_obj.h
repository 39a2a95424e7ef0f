/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * general_obj.h - general objects: one set of commands creates, modifies, queries and destroys
 * objects of many types, among them schedulers and reserved QP numbers.
 */
#ifndef PRM_MLX5_GENERAL_OBJ_H
#define PRM_MLX5_GENERAL_OBJ_H

#include "util/fields.h"

/* Values of OBJ_TYPE. HCA_CAP_GENERAL_OBJ_TYPES has a bit for each. */
enum prm_obj_type {
	PRM_OBJ_TYPE_SW_ICM = 0x8,
	PRM_OBJ_TYPE_FLOW_METER = 0xa,
	PRM_OBJ_TYPE_DEK = 0xc,
	PRM_OBJ_TYPE_VIRTIO_NET_Q = 0xd,
	PRM_OBJ_TYPE_CRYPTO_LOGIN = 0x1f,
	PRM_OBJ_TYPE_SAMPLER = 0x20,
	PRM_OBJ_TYPE_ASO_FLOW_METER = 0x24,
	PRM_OBJ_TYPE_ASO_FIRST_HIT = 0x25,
	PRM_OBJ_TYPE_SCHEDULING_ELEMENT = 0x26,
	PRM_OBJ_TYPE_RESERVED_QPN = 0x2c,
	PRM_OBJ_TYPE_ASO_CONNECTIONS = 0x31, /* connection tracking */
	PRM_OBJ_TYPE_AV_QP_MAPPING = 0x3a,
};

enum {
	PRM_GENERAL_OBJ_HDR_SIZE = 16, /* of a command or an answer; the object follows */
	PRM_SCHED_ELEM_SIZE = 128,
	PRM_SCHED_CONTEXT_SIZE = 64,
	PRM_RESERVED_QPN_SIZE = 16,
	PRM_AV_QP_MAPPING_SIZE = 48,
	PRM_SW_ICM_SIZE = 64,
	PRM_SAMPLER_SIZE = 40,
	PRM_METER_SIZE = 128,
	PRM_ASO_SIZE = 128,
};

#define GENERAL_OBJ_IN_VHCA_TUNNEL_ID FLD(0x4, 31, 16)
#define GENERAL_OBJ_IN_OBJ_TYPE       FLD(0x4, 15, 0)
#define GENERAL_OBJ_IN_OBJ_ID         FLD(0x8, 31, 0)
#define GENERAL_OBJ_IN_LOG_OBJ_RANGE  FLD(0xc, 28, 24)
#define GENERAL_OBJ_OUT_OBJ_ID        FLD(0x8, 31, 0)
#define GENERAL_OBJ_OBJECT            FLD_PART(0x10)

/* Scheduling elements also have commands of their own; they create no schedulers here. */
#define SCHEDULING_IN_HIERARCHY          FLD(0x8, 31, 24)
#define SCHEDULING_IN_ELEMENT_ID         FLD(0xc, 31, 0)
#define CREATE_SCHEDULING_OUT_ELEMENT_ID FLD(0x10, 31, 0)

/* A scheduling element shares its bandwidth among the elements below it. MODIFY_FIELD_SELECT has
 * the bits PRM_SCHED_MODIFY_*. */
enum {
	PRM_SCHED_MODIFY_BW_SHARE = 1 << 0,
	PRM_SCHED_MODIFY_MAX_AVERAGE_BW = 1 << 1,
};

enum prm_sched_hierarchy { PRM_SCHED_HIERARCHY_NIC = 3 };
enum prm_sched_element {
	PRM_SCHED_ELEMENT_TSAR = 0,        /* an arbiter */
	PRM_SCHED_ELEMENT_QUEUE_GROUP = 4, /* a leaf; queues name it by its object id */
};
enum prm_sched_tsar {
	PRM_SCHED_TSAR_DWRR = 0,
	PRM_SCHED_TSAR_ETS = 2,
};

#define SCHED_ELEM_MODIFY_FIELD_SELECT  FLD64(0x0)
#define SCHED_ELEM_SCHEDULING_HIERARCHY FLD(0x8, 31, 24)
#define SCHED_ELEM_SCHED_CONTEXT        FLD_PART(0x20)
#define SCHED_CONTEXT_ELEMENT_TYPE      FLD(0x0, 31, 24)
#define SCHED_CONTEXT_TSAR_TYPE         FLD(0x4, 23, 16)
#define SCHED_CONTEXT_PARENT_ELEMENT_ID FLD(0x8, 31, 0)
#define SCHED_CONTEXT_BW_SHARE          FLD(0x14, 31, 0)
#define SCHED_CONTEXT_MAX_AVERAGE_BW    FLD(0x18, 31, 0) /* Mbit/s; 0: no limit */

/* A block of memory for steering: the driver chooses its place. */
#define SW_ICM_LOG_SW_ICM_SIZE   FLD(0x8, 7, 0)
#define SW_ICM_SW_ICM_START_ADDR FLD64(0x10)

/* A sampler: all frames go to one table, and one of SAMPLE_RATIO to another as well. The adapter
 * chooses the addresses by which entries of software's tables lead to the sampler. */
#define SAMPLER_TABLE_TYPE        FLD(0x8, 31, 24)
#define SAMPLER_LEVEL             FLD(0x8, 23, 16)
#define SAMPLER_IGNORE_FLOW_LEVEL FLD(0x8, 0, 0)
#define SAMPLER_SAMPLE_RATIO      FLD(0xc, 31, 0)
#define SAMPLER_SAMPLE_TABLE_ID   FLD(0x10, 23, 0)
#define SAMPLER_DEFAULT_TABLE_ID  FLD(0x14, 23, 0)
#define SAMPLER_ICM_ADDRESS_RX    FLD64(0x18)
#define SAMPLER_ICM_ADDRESS_TX    FLD64(0x20)

/* A meter: it writes a color into a register C, and the frame goes to a table. */
enum {
	PRM_METER_MODIFY_ACTIVE = 1 << 0,
	PRM_METER_MODIFY_CBS = 1 << 1,
	PRM_METER_MODIFY_CIR = 1 << 2,
	PRM_METER_MODIFY_EBS = 1 << 3,
	PRM_METER_MODIFY_EIR = 1 << 4,
};
enum prm_meter_color { PRM_METER_RED = 0, PRM_METER_YELLOW = 1, PRM_METER_GREEN = 2 };

#define METER_MODIFY_FIELD_SELECT  FLD64(0x0)
#define METER_ACTIVE               FLD(0x8, 31, 31)
#define METER_RETURN_REG_ID        FLD(0x8, 27, 24)
#define METER_TABLE_TYPE           FLD(0x8, 23, 16)
#define METER_DESTINATION_TABLE_ID FLD(0xc, 23, 0)
#define METER_PARAMETERS           FLD_PART(0x20)
#define METER_ICM_ADDRESS_RX       FLD64(0x70)
#define METER_ICM_ADDRESS_TX       FLD64(0x78)

/* Burst: MANTISSA * 2^EXPONENT bytes. Rate: MANTISSA / 2^EXPONENT bytes per nanosecond. */
#define METER_PARAM_VALID                 FLD(0x0, 31, 31)
#define METER_PARAM_BUCKET_OVERFLOW       FLD(0x0, 30, 30)
#define METER_PARAM_START_COLOR           FLD(0x0, 29, 28)
#define METER_PARAM_BOTH_BUCKETS_ON_GREEN FLD(0x0, 27, 27)
#define METER_PARAM_METER_MODE            FLD(0x0, 25, 24)
#define METER_PARAM_CBS_EXPONENT          FLD(0x8, 28, 24)
#define METER_PARAM_CBS_MANTISSA          FLD(0x8, 23, 16)
#define METER_PARAM_CIR_EXPONENT          FLD(0x8, 12, 8)
#define METER_PARAM_CIR_MANTISSA          FLD(0x8, 7, 0)
#define METER_PARAM_EBS_EXPONENT          FLD(0x10, 28, 24)
#define METER_PARAM_EBS_MANTISSA          FLD(0x10, 23, 16)
#define METER_PARAM_EIR_EXPONENT          FLD(0x10, 12, 8)
#define METER_PARAM_EIR_MANTISSA          FLD(0x10, 7, 0)

/* Objects with the state of flows (ASO): bits of first hits, or two meters. A command may create
 * several with numbers in a row. */
enum { PRM_ASO_HITS = 512, PRM_ASO_METERS = 2 };

#define ASO_ACCESS_PD                       FLD(0x10, 23, 0)
#define ASO_HITS                            FLD_PART(0x40) /* 512 bits: the last one is of line 0 */

#define AV_QP_MAPPING_MODIFY_FIELD_SELECT   FLD64(0x0)
#define AV_QP_MAPPING_QPN                   FLD(0xc, 31, 0)
#define AV_QP_MAPPING_REMOTE_ADDRESS_VECTOR FLD_PART(0x10)

#endif
