/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.c - encodes and decodes the headers that dgram/wire.h describes.
 */
#include "librdmacm/rsocket/dgram/wire.h"

#include <endian.h>
#include <string.h>

enum {
	VERSION_4 = 4,
	VERSION_6 = 6,
	CONTROL_FIXED = 12, /* bytes before the address */
	DATA_4 = 8,
	DATA_6 = 24
};

static size_t address_put(uint8_t *to, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;

	if (addr->ss_family == AF_INET) {
		memcpy(to, &v4->sin_addr, sizeof(v4->sin_addr));
		return sizeof(v4->sin_addr);
	}
	memcpy(to, &v6->sin6_addr, sizeof(v6->sin6_addr));
	return sizeof(v6->sin6_addr);
}

static uint8_t version_of(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET ? VERSION_4 : VERSION_6;
}

size_t rdmacm_dgram_control_pack(uint8_t *head, enum dgram_control op, uint32_t qpn,
				 const struct sockaddr_storage *addr)
{
	uint32_t tag = htobe32(DGRAM_TAG), number = htobe32(qpn);

	memcpy(head, &tag, sizeof(tag));
	head[4] = version_of(addr);
	head[5] = op;
	head[6] = CONTROL_FIXED + address_put(head + CONTROL_FIXED, addr);
	head[7] = 0;
	memcpy(head + 8, &number, sizeof(number));
	return head[6];
}

size_t rdmacm_dgram_control_unpack(const uint8_t *message, size_t size, uint8_t *op, uint32_t *qpn)
{
	uint32_t tag, number;
	size_t wanted;

	if (size < CONTROL_FIXED)
		return 0;
	memcpy(&tag, message, sizeof(tag));
	memcpy(&number, message + 8, sizeof(number));
	wanted = CONTROL_FIXED +
		 (message[4] == VERSION_4 ? sizeof(struct in_addr) : sizeof(struct in6_addr));
	if (be32toh(tag) != DGRAM_TAG || (message[4] != VERSION_4 && message[4] != VERSION_6) ||
	    message[6] != wanted || size < wanted)
		return 0;
	*op = message[5];
	*qpn = be32toh(number) & 0xffffff;
	return wanted;
}

size_t rdmacm_dgram_data_size(sa_family_t family)
{
	return family == AF_INET ? DATA_4 : DATA_6;
}

size_t rdmacm_dgram_data_pack(uint8_t *head, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)addr;
	size_t size = rdmacm_dgram_data_size(addr->ss_family);

	head[0] = version_of(addr);
	head[1] = size;
	/* sin_port has the same offset, so this serves both families */
	memcpy(head + 2, &v6->sin6_port, sizeof(v6->sin6_port));
	if (addr->ss_family == AF_INET6)
		memcpy(head + 4, &v6->sin6_flowinfo, sizeof(v6->sin6_flowinfo));
	address_put(head + (addr->ss_family == AF_INET ? 4 : 8), addr);
	return size;
}

size_t rdmacm_dgram_data_unpack(const uint8_t *message, size_t size, struct sockaddr_storage *addr)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)addr;
	size_t wanted;

	if (size < 2 || (message[0] != VERSION_4 && message[0] != VERSION_6))
		return 0;
	memset(addr, 0, sizeof(*addr));
	addr->ss_family = message[0] == VERSION_4 ? AF_INET : AF_INET6;
	wanted = rdmacm_dgram_data_size(addr->ss_family);
	if (message[1] != wanted || size < wanted)
		return 0;
	memcpy(&v6->sin6_port, message + 2, sizeof(v6->sin6_port));
	if (addr->ss_family == AF_INET) {
		memcpy(&v4->sin_addr, message + 4, sizeof(v4->sin_addr));
	} else {
		memcpy(&v6->sin6_flowinfo, message + 4, sizeof(v6->sin6_flowinfo));
		memcpy(&v6->sin6_addr, message + 8, sizeof(v6->sin6_addr));
	}
	return wanted;
}
