/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tir.h - transport interface receive: to which RQ a frame goes, directly or by its hash.
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
	uint32_t users; /* flow table entries */
	struct pd *td;
	struct eth_rq *rq; /* direct */
	struct rqt *rqt;   /* indirect */
	/* A TIR refuses what its own transport domain has sent, unless one of these lets it in. */
	bool own_unicast, own_multicast;
	struct rss rss;
	struct lro_rule lro;
	uint8_t context[CONTEXT_MAX];
};

/* Gives a TIR, whose other fields are set, a number; the result is 0, ENOSPC or ENOMEM. */
int tir_add(struct hca *hca, struct tir *tir);
/* Takes a TIR that has no users out of the adapter, and frees it. */
void tir_remove(struct hca *hca, struct tir *tir);
void tir_receive(struct hca *hca, struct tir *tir, struct eth_arrival *arrival);

#endif
