/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acm_wire.c - encodes questions for ibacm and decodes its answers; see acm.h.
 *
 * Each IP address of a question is a separate entry, because ibacm's protocol has one address in an
 * entry. A GID (AF_IB) is not an entry; it is part of the requested path record.
 */
#include "acm.h"

#include <errno.h>
#include <infiniband/ib.h>
#include <netinet/in.h>
#include <string.h>

#include "util/bits.h"
#include "util/log.h"

static const char *status_str(uint8_t status)
{
	static const char *const texts[] = {
		[0] = "success",
		[1] = "out of memory",
		[2] = "invalid request",
		[3] = "nothing known",
		[5] = "not connected to the fabric",
		[6] = "timeout",
		[7] = "no such source address",
		[8] = "source address of an unknown type",
		[9] = "no such destination address",
		[10] = "destination address of an unknown type",
	};

	if (status >= ARRAY_SIZE(texts) || !texts[status])
		return "unknown error";
	return texts[status];
}

static struct acm_entry *add_entry(struct acm_message *message, uint32_t flags, uint16_t kind)
{
	size_t used = message->header.length - sizeof(message->header);
	struct acm_entry *entry = &message->entries[used / sizeof(*entry)];

	message->header.length += sizeof(*entry);
	entry->flags = flags;
	entry->kind = kind;
	return entry;
}

static int put_ip(struct acm_message *message, uint32_t flags, const struct sockaddr *addr)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (addr->sa_family == AF_INET) {
		memcpy(&v4, addr, sizeof(v4));
		memcpy(add_entry(message, flags, ACM_ENTRY_IPV4)->addr, &v4.sin_addr,
		       sizeof(v4.sin_addr));
		return 0;
	}
	if (addr->sa_family == AF_INET6) {
		memcpy(&v6, addr, sizeof(v6));
		memcpy(add_entry(message, flags, ACM_ENTRY_IPV6)->addr, &v6.sin6_addr,
		       sizeof(v6.sin6_addr));
		return 0;
	}
	return EINVAL;
}

static bool is_gid(const struct sockaddr *addr)
{
	return addr && addr->sa_family == AF_IB;
}

static void put_gid(union ibv_gid *gid, const struct sockaddr *addr)
{
	struct sockaddr_ib sib;

	memcpy(&sib, addr, sizeof(sib));
	memcpy(gid->raw, sib.sib_addr.sib_raw, sizeof(gid->raw));
}

static void put_path(struct acm_message *message, const struct acm_question *question)
{
	struct ibv_path_record *path = &add_entry(message, 0, ACM_ENTRY_PATH)->path;

	if (question->has_path)
		*path = question->path;
	if (is_gid(question->src))
		put_gid(&path->sgid, question->src);
	if (is_gid(question->dst))
		put_gid(&path->dgid, question->dst);
}

int rdmacm_acm_pack(const struct acm_question *question, struct acm_message *message)
{
	uint32_t flags = ACM_FLAG_DEST | (question->no_delay ? ACM_FLAG_NO_DELAY : 0);
	int ret = 0;

	*message = (struct acm_message){ .header = { .version = ACM_VERSION,
						     .opcode = ACM_OP_RESOLVE,
						     .length = sizeof(message->header) } };
	if (question->src && !is_gid(question->src))
		ret = put_ip(message, ACM_FLAG_SOURCE, question->src);
	if (!ret && question->dst && !is_gid(question->dst))
		ret = put_ip(message, flags, question->dst);
	if (!ret && (question->has_path || is_gid(question->src) || is_gid(question->dst)))
		put_path(message, question);
	return ret;
}

bool rdmacm_acm_header_is_sane(const struct acm_header *header)
{
	if (header->version != ACM_VERSION) {
		verbs_warn("ibacm: an answer of version %u, not %u", header->version, ACM_VERSION);
		return false;
	}
	if (header->opcode != (ACM_OP_RESOLVE | ACM_OP_ACK)) {
		verbs_warn("ibacm: an answer of kind 0x%02x, not 0x%02x", header->opcode,
			   ACM_OP_RESOLVE | ACM_OP_ACK);
		return false;
	}
	if (header->length < sizeof(*header) || header->length > sizeof(struct acm_message)) {
		verbs_warn("ibacm: an answer of %u bytes, not of %zu to %zu", header->length,
			   sizeof(*header), sizeof(struct acm_message));
		return false;
	}
	return true;
}

static void take_source(struct acm_answer *answer, const struct acm_entry *entry)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (!(entry->flags & ACM_FLAG_SOURCE) || answer->src_len)
		return;
	if (entry->kind == ACM_ENTRY_IPV4) {
		memcpy(&v4.sin_addr, entry->addr, sizeof(v4.sin_addr));
		memcpy(&answer->src, &v4, sizeof(v4));
		answer->src_len = sizeof(v4);
	} else {
		memcpy(&v6.sin6_addr, entry->addr, sizeof(v6.sin6_addr));
		memcpy(&answer->src, &v6, sizeof(v6));
		answer->src_len = sizeof(v6);
	}
}

static void take_entry(struct acm_answer *answer, const struct acm_entry *entry)
{
	switch (entry->kind) {
	case ACM_ENTRY_IPV4:
	case ACM_ENTRY_IPV6:
		take_source(answer, entry);
		break;
	case ACM_ENTRY_PATH:
		answer->paths[answer->num_paths++] =
			(struct ibv_path_data){ .flags = entry->flags, .path = entry->path };
		break;
	default: /* names, which no call needs, and kinds of newer daemons */
		break;
	}
}

int rdmacm_acm_unpack(const struct acm_message *message, struct acm_answer *answer)
{
	size_t count;

	*answer = (struct acm_answer){ 0 };
	if (!rdmacm_acm_header_is_sane(&message->header))
		return EPROTO;
	if (message->header.status) {
		verbs_warn("ibacm: no path: %s (status %u)", status_str(message->header.status),
			   message->header.status);
		return ENODATA;
	}
	count = (message->header.length - sizeof(message->header)) / sizeof(message->entries[0]);
	for (size_t i = 0; i < count; i++)
		take_entry(answer, &message->entries[i]);
	if (answer->num_paths)
		return 0;
	verbs_warn("ibacm: an answer without a path");
	return ENODATA;
}
