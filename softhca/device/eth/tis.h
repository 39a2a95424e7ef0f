/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tis.h - transport interface send (TIS): the port and the transport domain of send queues.
 */
#ifndef SOFTHCA_DEVICE_ETH_TIS_H
#define SOFTHCA_DEVICE_ETH_TIS_H

#include <stdint.h>

#include "softhca/device/format/format.h"

struct hca;
struct pd;

struct tis {
	uint32_t n;
	uint32_t users; /* number of SQs; it cannot be destroyed before them */
	struct pd *td;
	unsigned int port; /* 0: not specified */
	/* QP that seems to send the queues' datagrams; 0: they send frames */
	uint32_t underlay_qpn;
	uint8_t context[CONTEXT_MAX];
};

/* Adds a TIS whose other fields are set, and numbers it. Returns 0, ENOSPC or ENOMEM. */
int tis_add(struct hca *hca, struct tis *tis);
void tis_remove(struct hca *hca, struct tis *tis);

#endif
