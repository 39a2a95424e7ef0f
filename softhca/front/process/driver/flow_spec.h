/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_spec.h - converts the specs of a flow, as programs give them, to the adapter's match.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_FLOW_SPEC_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_FLOW_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/front/process/driver/steering.h"

struct flow_specs {
	struct steering_match match;
	uint32_t tag;
	bool has_tag, drop;
	bool counts;
	uint32_t counters; /* handle */
};

/* Reads COUNT specs at DATA, LEN bytes in all. Returns 0; EINVAL for wrong sizes or types;
 * EOPNOTSUPP for fields that the adapter cannot match. */
int flow_specs_read(const void *data, size_t len, unsigned int count, struct flow_specs *specs);

#endif
