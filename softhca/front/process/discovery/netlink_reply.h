/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink_reply.h - netlink messages built and sent to a program's port.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_NETLINK_REPLY_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_NETLINK_REPLY_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLY_MAX = 16384 };

struct reply {
	uint32_t port, seq;
	bool multi; /* of a dump */
	size_t len;
	struct nlmsghdr *message; /* under construction */
	_Alignas(8) uint8_t bytes[REPLY_MAX];
};

void reply_init(struct reply *reply, uint32_t port, uint32_t seq, bool multi);
void reply_begin(struct reply *reply, uint16_t type);
void reply_end(struct reply *reply);
/* These add attributes to the message under construction. */
void reply_u8(struct reply *reply, uint16_t type, uint8_t value);
void reply_u32(struct reply *reply, uint16_t type, uint32_t value);
void reply_u64(struct reply *reply, uint16_t type, uint64_t value);
void reply_string(struct reply *reply, uint16_t type, const char *value);
/* What follows a reply_nest() up to its end is inside one attribute; NULL says that the datagram is
 * full. */
struct nlattr *reply_nest(struct reply *reply, uint16_t type);
void reply_nest_end(struct reply *reply, struct nlattr *nest);
/* Ends a dump. */
void reply_done(struct reply *reply);
/* Tells the result of REQUEST: an error, or with 0 an acknowledge. */
void reply_error(struct reply *reply, const struct nlmsghdr *request, int error);
void reply_send(struct reply *reply);
/* Sends what there is, between two messages of a dump, unless there is room for one more of half
 * the largest size. */
void reply_make_room(struct reply *reply);

#endif
