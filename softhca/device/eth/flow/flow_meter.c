/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_meter.c - objects that give a frame a color by the rate of its flow.
 *
 * A limit has a clock, which each frame that passes advances by its duration at the limit's rate. A
 * frame passes unless that clock is ahead of the device's by more than the burst, so a limit
 * without a burst lets one frame pass at a time. RFC 2697, 2698
 */
#include <errno.h>
#include <stdlib.h>

#include "softhca/device/eth/eth.h"

int flow_meter_add(struct hca *hca, const struct flow_meter *wanted, struct flow_meter **out)
{
	struct flow_meter *meter = malloc(sizeof(*meter));
	int ret;

	if (!meter)
		return ENOMEM;
	*meter = *wanted;
	ret = res_add(&hca->eth->flow_meters, meter, &meter->n);
	if (ret) {
		free(meter);
		return ret;
	}
	meter->next->users++;
	*out = meter;
	return 0;
}

void flow_meter_remove(struct hca *hca, struct flow_meter *meter)
{
	meter->next->users--;
	res_remove(&hca->eth->flow_meters, meter->n);
	free(meter);
}

/* Returns the nanoseconds that BYTES take at the limit's rate; at most some centuries, so that sums
 * of times do not overflow. */
static uint64_t limit_time(const struct flow_meter_limit *limit, uint64_t bytes)
{
	const uint64_t most = UINT64_MAX / 4;

	if (bytes > most >> limit->exponent)
		return most;
	return (bytes << limit->exponent) / limit->mantissa;
}

static bool limit_passes(struct flow_meter_limit *limit, uint64_t now, size_t len)
{
	if (!limit->mantissa)
		return false;
	if (limit->busy < now)
		limit->busy = now;
	if (limit->busy - now > limit_time(limit, limit->burst))
		return false;
	limit->busy += limit_time(limit, len);
	return true;
}

enum flow_meter_color flow_meter_color(struct flow_meter *meter, uint64_t now, size_t len)
{
	enum flow_meter_color color = FLOW_METER_RED;

	if (!meter->active)
		return meter->first;
	if (limit_passes(&meter->committed, now, len))
		color = FLOW_METER_GREEN;
	else if (limit_passes(&meter->excess, now, len))
		color = FLOW_METER_YELLOW;
	return color < meter->first ? color : meter->first;
}
