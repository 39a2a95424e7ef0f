/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export.h - data that one process passes to another to share an object; programs do not interpret
 * it. The format equals release 65.0's of the distribution's library, so the two processes may
 * use different libraries.
 */
#ifndef PROVIDERS_MLX5_DV_EXPORT_H
#define PROVIDERS_MLX5_DV_EXPORT_H

#include <assert.h>
#include <stdint.h>

struct dv_export_var {
	uint32_t handle;
	uint32_t page_id;
	uint32_t length;
	uint32_t reserved;
	uint64_t mmap_off;
};
static_assert(sizeof(struct dv_export_var) == 24, "as release 65.0 says");

struct dv_export_umem {
	uint32_t handle, umem_id;
};

/* Kinds of objects that release 65.0 names. Its flow steering uses an imported object by its kind
 * and number; an object without a kind is used by handle only. */
enum dv_export_type {
	DV_EXPORT_OTHER,
	DV_EXPORT_FLOW_TABLE,
	DV_EXPORT_FLOW_COUNTER,
	DV_EXPORT_FLOW_METER,
	DV_EXPORT_QP,
	DV_EXPORT_PACKET_REFORMAT,
	DV_EXPORT_TIR,
	DV_EXPORT_FLOW_GROUP,
	DV_EXPORT_FLOW_ENTRY,
	DV_EXPORT_FLOW_SAMPLER,
	DV_EXPORT_ASO_FIRST_HIT,
	DV_EXPORT_ASO_FLOW_METER,
	DV_EXPORT_ASO_CONNECTIONS,
};

struct dv_export_obj {
	uint32_t handle;
	uint32_t type;
	uint32_t id; /* device's number of the object, where release 65.0 exports it; else 0 */
	uint32_t reserved_1;
	uint64_t icm;      /* of a TIR: its address in the device's memory; else 0 */
	uint8_t log_range; /* of a general object: log2 of the number of objects created */
	uint8_t reserved_2[7];
};
static_assert(sizeof(struct dv_export_obj) == 32, "as release 65.0 says");

#endif
