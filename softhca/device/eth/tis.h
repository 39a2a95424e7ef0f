/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tis.h - transport interface send: from which port, and in which transport domain, queues send.
 */
#ifndef SOFTHCA_DEVICE_ETH_TIS_H
#define SOFTHCA_DEVICE_ETH_TIS_H

#include <stdint.h>

#include "softhca/device/format/format.h"

struct hca;
struct pd;

struct tis {
	uint32_t n;
	uint32_t users; /* SQs */
	struct pd *td;
	unsigned int port;     /* 0: none is named */
	uint32_t underlay_qpn; /* the QP that datagrams come from; 0: queues send frames */
	uint8_t context[CONTEXT_MAX];
};

/* Gives a TIS, whose other fields are set, a number; the result is 0, ENOSPC or ENOMEM. */
int tis_add(struct hca *hca, struct tis *tis);
/* Takes a TIS that has no users out of the adapter, and frees it. */
void tis_remove(struct hca *hca, struct tis *tis);

#endif
