/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * smi.h - hops of directed route packets at an adapter's port, where routes only begin and end.
 * IBTA vol 1, 14.2.2
 */
#ifndef SOFTHCA_FRONT_PROCESS_UMAD_SMI_H
#define SOFTHCA_FRONT_PROCESS_UMAD_SMI_H

#include <stdint.h>

#include "ib/mad.h"

enum smi_way {
	SMI_DISCARD,
	SMI_WIRE,
	SMI_HERE, /* for this end: a query for our agents, or an answer for a program */
};

/* Process the hop pointer of a directed route packet that PORT is about to send, or has
 * received. */
enum smi_way smi_send(uint8_t mad[MAD_SIZE], unsigned int port);
enum smi_way smi_receive(uint8_t mad[MAD_SIZE], unsigned int port);

#endif
