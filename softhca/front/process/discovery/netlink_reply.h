/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink_reply.h - builds netlink messages and sends them to a program's port.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DISCOVERY_NETLINK_REPLY_H
#define SOFTHCA_FRONT_PROCESS_DISCOVERY_NETLINK_REPLY_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Programs receive into buffers of a page; Linux sends as much to one that has received nothing
 * yet (NLMSG_GOODSIZE). */
enum { REPLY_MAX = 3776 };

struct reply {
	uint32_t port, seq;
	bool multi; /* messages get NLM_F_MULTI, as parts of a dump */
	size_t len;
	struct nlmsghdr *message; /* being built */
	_Alignas(8) uint8_t bytes[REPLY_MAX];
};

void reply_init(struct reply *reply, uint32_t port, uint32_t seq, bool multi);
void reply_begin(struct reply *reply, uint16_t type);
void reply_end(struct reply *reply);
/* Add an attribute to the message being built. */
void reply_u8(struct reply *reply, uint16_t type, uint8_t value);
void reply_u32(struct reply *reply, uint16_t type, uint32_t value);
void reply_u64(struct reply *reply, uint16_t type, uint64_t value);
void reply_string(struct reply *reply, uint16_t type, const char *value);
/* Begins an attribute that contains the next ones, until reply_nest_end(). Returns NULL if the
 * datagram is full. */
struct nlattr *reply_nest(struct reply *reply, uint16_t type);
void reply_nest_end(struct reply *reply, struct nlattr *nest);
void reply_done(struct reply *reply);
/* Adds an NLMSG_ERROR message with the result of REQUEST: ERROR is a positive errno, or 0 for an
 * acknowledgement. */
void reply_error(struct reply *reply, const struct nlmsghdr *request, int error);
/* Returns how many bytes are left in the datagram. */
size_t reply_room(const struct reply *reply);
/* Sends the datagram and begins an empty one, even if the program cannot take it. */
void reply_send(struct reply *reply);
/* Sends the datagram and begins an empty one. Returns 0, or EAGAIN if the program has not read
 * earlier ones: the datagram is kept. Returns another errno if it cannot be sent. */
int reply_try_send(struct reply *reply);
/* Sends the datagram if more than half of its buffer is used, so that the next message, of up to
 * half the buffer, fits. Called between the messages of a dump. */
void reply_make_room(struct reply *reply);

#endif
