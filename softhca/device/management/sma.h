/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sma.h - the adapter's subnet management agent (SMA): answers a subnet manager that queries a
 * port.
 */
#ifndef SOFTHCA_DEVICE_MANAGEMENT_SMA_H
#define SOFTHCA_DEVICE_MANAGEMENT_SMA_H

#include <stdbool.h>
#include <stdint.h>

#include "ib/mad.h"

struct hca;

/* Answers datagram IN, which arrived at PORT. Returns false if it needs no answer. The caller sets
 * the hop fields of a directed packet. */
bool sma_answer(struct hca *hca, unsigned int port, const uint8_t in[MAD_SIZE],
		uint8_t out[MAD_SIZE]);

#endif
