/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pma.h - the adapter's performance management agent (PMA): answers queries of port counters.
 */
#ifndef SOFTHCA_DEVICE_MANAGEMENT_PMA_H
#define SOFTHCA_DEVICE_MANAGEMENT_PMA_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/mad.h"

struct hca;

/* Answers datagram IN. Returns false if it needs no answer. */
bool pma_answer(struct hca *hca, const uint8_t in[MAD_SIZE], uint8_t out[MAD_SIZE]);

#endif
