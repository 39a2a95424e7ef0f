/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * smi.h - hops of directed packets at a port of an adapter, which only begins and ends their ways.
 * IBTA vol 1, 14.2.2
 */
#ifndef SOFTHCA_FRONT_PROCESS_UMAD_SMI_H
#define SOFTHCA_FRONT_PROCESS_UMAD_SMI_H

#include <stdint.h>

#include "ib/mad.h"

enum smi_way {
	SMI_DISCARD, /* the packet names no way */
	SMI_WIRE,    /* it is to leave by the port */
	SMI_HERE,    /* it is for this end: a question for our agents, or an answer for a program */
};

/* The packet is to be sent by PORT, or has come in there; its hops are counted. */
enum smi_way smi_send(uint8_t mad[MAD_SIZE], unsigned int port);
enum smi_way smi_receive(uint8_t mad[MAD_SIZE], unsigned int port);

#endif
