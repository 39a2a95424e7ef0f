/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.c - converts the formats of wire.h from and to host order.
 */
#include "librdmacm/rsocket/wire.h"

#include <byteswap.h>
#include <errno.h>
#include <string.h>

enum { SCALE_UNIT = 256, SCALE_TOP = 0x80 };

uint8_t rdmacm_wire_count_scale(unsigned int count)
{
	if (count <= SCALE_TOP)
		return count;
	if (count > WIRE_MAX_MAPPINGS)
		count = WIRE_MAX_MAPPINGS;
	return SCALE_TOP | count / SCALE_UNIT;
}

/* Returns the count of a scaled byte. A byte cannot express a count between 128 and 256, so such a
 * count was rounded down to 128. */
unsigned int rdmacm_wire_count_unscale(uint8_t scaled)
{
	return scaled <= SCALE_TOP ? scaled : (scaled & ~SCALE_TOP) * SCALE_UNIT;
}

static bool host_is_big_endian(void)
{
	return __BYTE_ORDER == __BIG_ENDIAN;
}

void rdmacm_wire_hello_pack(struct wire_hello *hello, const struct wire_peer *self)
{
	*hello = (struct wire_hello){
		.version = WIRE_VERSION,
		.flags = WIRE_KNOWS_MAPPINGS | (host_is_big_endian() ? WIRE_BIG_ENDIAN_HOST : 0),
		.credits = htobe16(self->credits),
		.mappings = rdmacm_wire_count_scale(self->mappings),
		.slots_addr = htobe64(self->slots_addr),
		.slots_key = htobe32(self->slots_key),
		.slots = htobe32(WIRE_SLOTS),
		.data_addr = htobe64(self->data.addr),
		.data_key = htobe32(self->data.key),
		.data_length = htobe32(self->data.length),
	};
}

int rdmacm_wire_hello_unpack(const void *data, unsigned int size, struct wire_peer *peer)
{
	struct wire_hello hello;

	if (!data || size < sizeof(hello))
		return EPROTO;
	memcpy(&hello, data, sizeof(hello));
	if (hello.version != WIRE_VERSION || be32toh(hello.slots) < WIRE_SLOTS || !hello.slots_addr)
		return EPROTO;
	*peer = (struct wire_peer){
		.credits = be16toh(hello.credits),
		.slots_addr = be64toh(hello.slots_addr),
		.slots_key = be32toh(hello.slots_key),
		.data = { be64toh(hello.data_addr), be32toh(hello.data_key),
			  be32toh(hello.data_length) },
		.mappings = hello.flags & WIRE_KNOWS_MAPPINGS
				    ? rdmacm_wire_count_unscale(hello.mappings)
				    : 0,
		.swapped = !!(hello.flags & WIRE_BIG_ENDIAN_HOST) != host_is_big_endian(),
	};
	return 0;
}

void rdmacm_wire_segment_swap(struct wire_segment *segment)
{
	segment->addr = bswap_64(segment->addr);
	segment->key = bswap_32(segment->key);
	segment->length = bswap_32(segment->length);
}

void rdmacm_wire_mapping_swap(struct wire_mapping *mapping)
{
	mapping->offset = bswap_64(mapping->offset);
	rdmacm_wire_segment_swap(&mapping->memory);
}
