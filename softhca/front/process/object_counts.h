/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object_counts.h - numbers of objects, by the resource of the adapter that each kind uses up.
 *
 * Some resources have no kind of their own: XRC domains, transport domains, TIRs, TISs and tables
 * of RQs, contexts and umems of DevX, encryption keys (DEKs) and PSVs are OBJECT_OTHER. One program
 * can use these up, as well as the RQs and SQs of raw packet QPs, which count as QPs only.
 */
#ifndef SOFTHCA_FRONT_PROCESS_OBJECT_COUNTS_H
#define SOFTHCA_FRONT_PROCESS_OBJECT_COUNTS_H

#include <stdint.h>

enum object_kind {
	OBJECT_QP,
	OBJECT_DCT, /* made by DevX; one of verbs counts as a QP */
	OBJECT_RQ,
	OBJECT_SQ,
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
