/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * channel_pause.h - a pause after reading the events of a socket's channel failed for lack of
 * memory or of another channel. An unread event would wake each poll() at once, so no thread polls
 * the channel during the pause. Each pause is longer than the one before.
 */
#ifndef RSOCKET_CHANNEL_PAUSE_H
#define RSOCKET_CHANNEL_PAUSE_H

#include "librdmacm/rsocket/rs.h"

enum { FIRST_CHANNEL_PAUSE_US = 1000000, LONGEST_CHANNEL_PAUSE_US = 64000000 };

struct rs_pause {
	int64_t until_us;
	int64_t pause_us;
};

static inline bool rs_is_paused(const struct rs_pause *pause)
{
	return pause->until_us && rdmacm_rs_now_us() < pause->until_us;
}

/* Begins a pause; a failure during a pause does not extend it, as several threads may meet the same
 * fault. */
static inline void rs_pause_begin(struct rs_pause *pause)
{
	if (rs_is_paused(pause))
		return;
	pause->pause_us = !pause->pause_us                             ? FIRST_CHANNEL_PAUSE_US
			  : pause->pause_us < LONGEST_CHANNEL_PAUSE_US ? 2 * pause->pause_us
								       : LONGEST_CHANNEL_PAUSE_US;
	pause->until_us = rdmacm_rs_now_us() + pause->pause_us;
}

static inline void rs_pause_end(struct rs_pause *pause)
{
	*pause = (struct rs_pause){ 0 };
}

#endif
