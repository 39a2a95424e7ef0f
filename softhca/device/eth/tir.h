/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tir.h - transport interface receive (TIR): chooses a frame's RQ, directly or by its hash.
 */
#ifndef SOFTHCA_DEVICE_ETH_TIR_H
#define SOFTHCA_DEVICE_ETH_TIR_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/eth/lro.h"
#include "softhca/device/eth/rss.h"
#include "softhca/device/format/format.h"

struct eth_arrival;
struct eth_rq;
struct hca;
struct pd;
struct rqt;

struct tir {
	uint32_t n;
	uint32_t users; /* number of flow table entries; it cannot be destroyed before them */
	struct pd *td;
	struct eth_rq *rq; /* of a direct TIR, else NULL */
	struct rqt *rqt;   /* of an indirect TIR, else NULL */
	/* whether to accept frames that the TIR's own transport domain (td) has sent */
	bool own_unicast, own_multicast;
	struct rss rss;
	struct lro_rule lro;
	uint8_t context[CONTEXT_MAX];
};

/* Adds a TIR whose other fields are set, and numbers it. Returns 0, ENOSPC or ENOMEM. */
int tir_add(struct hca *hca, struct tir *tir);
void tir_remove(struct hca *hca, struct tir *tir);
void tir_receive(struct hca *hca, struct tir *tir, struct eth_arrival *arrival);

#endif
