/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * channel_pause.h - while the events of a socket's channel cannot be read, for lack of another
 * channel or of memory. An event that stays there would keep everybody from sleeping, so nobody
 * waits for it for a while, which gets longer each time.
 */
#ifndef RSOCKET_CHANNEL_PAUSE_H
#define RSOCKET_CHANNEL_PAUSE_H

#include "rs.h"

enum { FIRST_DEAF_US = 1000000, LONGEST_DEAF_US = 64000000 };

struct rs_deaf {
	int64_t until_us; /* 0 when events were read last */
	int64_t pause_us;
};

static inline bool rs_is_deaf(const struct rs_deaf *deaf)
{
	return deaf->until_us && rdmacm_rs_now_us() < deaf->until_us;
}

/* What fails while the pause lasts does not make it longer. */
static inline void rs_deaf_begin(struct rs_deaf *deaf)
{
	if (rs_is_deaf(deaf))
		return;
	deaf->pause_us = !deaf->pause_us                    ? FIRST_DEAF_US
			 : deaf->pause_us < LONGEST_DEAF_US ? 2 * deaf->pause_us
							    : LONGEST_DEAF_US;
	deaf->until_us = rdmacm_rs_now_us() + deaf->pause_us;
}

static inline void rs_deaf_end(struct rs_deaf *deaf)
{
	*deaf = (struct rs_deaf){ 0 };
}

#endif
