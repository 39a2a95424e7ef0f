/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object_counts.h - numbers of objects, by the resource of the adapter that each kind uses up.
 */
#ifndef SOFTHCA_FRONT_PROCESS_OBJECT_COUNTS_H
#define SOFTHCA_FRONT_PROCESS_OBJECT_COUNTS_H

#include <stdint.h>

enum object_kind {
	OBJECT_QP,
	OBJECT_CQ,
	OBJECT_SRQ,
	OBJECT_KEY, /* memory regions and windows */
	OBJECT_PD,
	OBJECT_OTHER, /* limited by memory only */
	OBJECT_KINDS
};

struct object_counts {
	uint32_t of[OBJECT_KINDS];
};

#endif
