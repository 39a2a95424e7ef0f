/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uctx.h - users of the adapter: programs whose commands the driver passes through (DEVX).
 *
 * The driver registers a user, and puts its number into each command that it passes on. The user
 * owns what such a command creates, and the command finds no other objects.
 */
#ifndef SOFTHCA_DEVICE_UCTX_H
#define SOFTHCA_DEVICE_UCTX_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

enum { UCTX_LOG_MAX = 10, UCTX_MAX = (1 << UCTX_LOG_MAX) - 1 };

struct uctx {
	uint32_t n;
	bool sends_frames; /* may send any frame, even with a forged source */
	bool uses_icm;     /* may write table entries, which steer other users' frames */
};

/* Adds a user. Returns 0, ENOSPC or ENOMEM. */
int uctx_add(struct hca *hca, bool sends_frames, bool uses_icm, struct uctx **uctx);
void uctx_remove(struct hca *hca, struct uctx *uctx);
uint64_t uctx_count_objects(const struct hca *hca, const struct uctx *uctx);
/* Returns whether the sender of the current command may send any frame: the driver may, and users
 * that it has allowed to. */
bool uctx_may_send_frames(const struct hca *hca);
/* Returns whether the sender of the current command may use memory for table entries (ICM). */
bool uctx_may_use_icm(const struct hca *hca);

#endif
