/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uctx.h - users of the adapter: programs to which the driver passes commands through.
 *
 * The driver announces a user, and says that user's number in each command on its behalf. What such
 * a command makes is the user's, and it finds nothing else.
 */
#ifndef SOFTHCA_DEVICE_UCTX_H
#define SOFTHCA_DEVICE_UCTX_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

enum { UCTX_LOG_MAX = 10, UCTX_MAX = (1 << UCTX_LOG_MAX) - 1 };

struct uctx {
	uint32_t n;
	bool sends_frames; /* as it likes */
};

/* The result is 0, ENOSPC or ENOMEM. */
int uctx_add(struct hca *hca, bool sends_frames, struct uctx **uctx);
void uctx_remove(struct hca *hca, struct uctx *uctx);
/* Tells how many objects are the user's. */
uint64_t uctx_count_objects(const struct hca *hca, const struct uctx *uctx);
/* Returns whether he for whom the command under way is may send frames as he likes: the driver, or
 * a user for whom it has said so. */
bool uctx_may_send_frames(const struct hca *hca);
void uctx_free_all(struct hca *hca);

#endif
