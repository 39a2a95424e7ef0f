/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * neighbour.h - answers ARP requests (RFC 826) and neighbour solicitations (RFC 4861) for adapters
 * without a network stack, so that other hosts can find their MAC addresses.
 */
#ifndef SOFTHCA_NET_NEIGHBOUR_H
#define SOFTHCA_NET_NEIGHBOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NEIGHBOUR_ANSWER_MAX = 86 };

/* Returns whether GID (maybe an IPv4-mapped address) is ours, and its MAC. */
typedef bool (*neighbour_find_fn)(void *owner, const uint8_t gid[16], uint8_t mac[6]);

/* Makes the frame that answers FRAME. Returns its length; 0: no answer. */
size_t neighbour_answer(const uint8_t *frame, size_t len, neighbour_find_fn find, void *owner,
			uint8_t answer[NEIGHBOUR_ANSWER_MAX]);

#endif
