/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_meter.h - objects that give a frame a color by the rate of its flow. Entries that software
 * writes lead to them, and a table behind them decides by the color.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_FLOW_METER_H
#define SOFTHCA_DEVICE_ETH_FLOW_FLOW_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/match.h"

struct flow_table;
struct hca;

enum {
	FLOW_METER_LOG_MAX = 10,
	FLOW_METER_REGISTERS = 6, /* C 0 to 5 may have the color: those that entries can change */
};

enum flow_meter_color { FLOW_METER_RED, FLOW_METER_YELLOW, FLOW_METER_GREEN };

/* A limit: BURST bytes at once, and MANTISSA / 2^EXPONENT bytes in each nanosecond */
struct flow_meter_limit {
	uint64_t burst;
	unsigned int burst_exponent; /* BURST is a multiple of 2^this, as software wrote it */
	uint32_t mantissa;           /* 0: nothing passes */
	uint32_t exponent;
	uint64_t busy; /* time until which frames have used the rate */
};

struct flow_meter {
	uint32_t n;
	enum prm_flow_table_type type;
	struct flow_table *next;
	unsigned int reg;
	bool active;                 /* else all frames get the first color */
	enum flow_meter_color first; /* the best color that a frame gets */
	bool overflow;               /* software wants unused green bytes to become yellow ones */
	struct flow_meter_limit committed,
		excess; /* green up to the first, yellow up to the second */
};

/* Adds a meter whose other fields are set, and uses its table. Returns 0, ENOSPC or ENOMEM. */
int flow_meter_add(struct hca *hca, const struct flow_meter *wanted, struct flow_meter **meter);
void flow_meter_remove(struct hca *hca, struct flow_meter *meter);
/* Returns the color of a frame of LEN bytes at time NOW, and takes the frame into account. */
enum flow_meter_color flow_meter_color(struct flow_meter *meter, uint64_t now, size_t len);

#endif
