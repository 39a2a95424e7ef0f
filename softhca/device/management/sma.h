/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sma.h - the adapter's agent for subnet management: what it answers to a manager that asks one of
 * its ports.
 */
#ifndef SOFTHCA_DEVICE_MANAGEMENT_SMA_H
#define SOFTHCA_DEVICE_MANAGEMENT_SMA_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/mad.h"

struct hca;

/* Answers datagram IN, which has come to PORT. It returns false when nothing is to be said. Hops of
 * a directed packet are the business of whoever sends the answer. */
bool sma_answer(struct hca *hca, unsigned int port, const uint8_t in[MAD_SIZE],
		uint8_t out[MAD_SIZE]);

#endif
