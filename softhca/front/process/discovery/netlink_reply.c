/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netlink_reply.c - builds netlink messages and sends them to a program's port.
 *
 * All messages of an answer are sent as one datagram. For long answers, call reply_make_room()
 * between messages; otherwise messages that do not fit are dropped.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "softhca/front/process/discovery/netlink_reply.h"
#include "softhca/log.h"

void reply_init(struct reply *reply, uint32_t port, uint32_t seq, bool multi)
{
	reply->port = port;
	reply->seq = seq;
	reply->multi = multi;
	reply->len = 0;
	reply->message = NULL;
}

/* Returns LEN aligned zero bytes in the datagram, or NULL if it is full. */
static void *reply_append(struct reply *reply, size_t len)
{
	uint8_t *at = reply->bytes + reply->len;

	if (NLMSG_ALIGN(len) > sizeof(reply->bytes) - reply->len) {
		log_error("netlink: an answer is too long");
		return NULL;
	}
	reply->len += NLMSG_ALIGN(len);
	return memset(at, 0, NLMSG_ALIGN(len));
}

void reply_begin(struct reply *reply, uint16_t type)
{
	struct nlmsghdr *header = reply_append(reply, sizeof(*header));

	reply->message = header;
	if (!header)
		return;
	header->nlmsg_type = type;
	header->nlmsg_flags = reply->multi ? NLM_F_MULTI : 0;
	header->nlmsg_seq = reply->seq;
	header->nlmsg_pid = reply->port;
}

void reply_end(struct reply *reply)
{
	if (reply->message)
		reply->message->nlmsg_len =
			reply->bytes + reply->len - (const uint8_t *)reply->message;
	reply->message = NULL;
}

static void put_attr(struct reply *reply, uint16_t type, const void *value, size_t len)
{
	struct nlattr *attr = reply->message ? reply_append(reply, NLA_HDRLEN + len) : NULL;

	if (!attr)
		return;
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy(attr + 1, value, len);
}

void reply_u8(struct reply *reply, uint16_t type, uint8_t value)
{
	put_attr(reply, type, &value, sizeof(value));
}

void reply_u32(struct reply *reply, uint16_t type, uint32_t value)
{
	put_attr(reply, type, &value, sizeof(value));
}

void reply_u64(struct reply *reply, uint16_t type, uint64_t value)
{
	put_attr(reply, type, &value, sizeof(value));
}

void reply_string(struct reply *reply, uint16_t type, const char *value)
{
	put_attr(reply, type, value, strlen(value) + 1);
}

struct nlattr *reply_nest(struct reply *reply, uint16_t type)
{
	struct nlattr *attr = reply->message ? reply_append(reply, NLA_HDRLEN) : NULL;

	if (attr)
		attr->nla_type = type | NLA_F_NESTED;
	return attr;
}

void reply_nest_end(struct reply *reply, struct nlattr *nest)
{
	if (nest)
		nest->nla_len = reply->bytes + reply->len - (const uint8_t *)nest;
}

void reply_done(struct reply *reply)
{
	reply_begin(reply, NLMSG_DONE);
	reply_append(reply, sizeof(int));
	reply_end(reply);
}

void reply_error(struct reply *reply, const struct nlmsghdr *request, int error)
{
	struct nlmsgerr *body;

	reply->multi = false;
	reply_begin(reply, NLMSG_ERROR);
	body = reply_append(reply, sizeof(*body));
	if (body) {
		body->error = -error;
		body->msg = *request;
	}
	reply_end(reply);
}

size_t reply_room(const struct reply *reply)
{
	return sizeof(reply->bytes) - reply->len;
}

int reply_try_send(struct reply *reply)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = reply->port };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK), ret = 0;

	if (fd < 0)
		return errno;
	if (sendto(fd, reply->bytes, reply->len, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) <
	    0)
		ret = errno;
	else
		reply->len = 0;
	close(fd);
	return ret;
}

void reply_send(struct reply *reply)
{
	int ret = reply_try_send(reply);

	if (ret)
		log_error("netlink: cannot answer: %s", strerror(ret));
	reply->len = 0;
}

void reply_make_room(struct reply *reply)
{
	if (reply->len > sizeof(reply->bytes) / 2)
		reply_send(reply);
}
