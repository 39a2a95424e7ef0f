/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wire.h - the protocol between the two ends of a stream.
 *
 * All of it was observed: Debian's rstream, riostream and small programs ran on Debian's librdmacm
 * between two processes on softhca, with --trace, --pcap and strace of rdma_cm's commands. Each run
 * changed one thing: buffer size, queue size, mappings, or direction.
 *
 * Set-up. The private data of the connection request, and of its answer, is a struct wire_hello,
 * big endian. It announces three things to the other side: the address of the receive buffer's
 * first half, the number of messages that it may send, and the address for its own announcements
 * (the "slots"). In a request between AF_IB addresses, 36 unused bytes precede it, in place of
 * rdma_cm's header in requests between IP addresses. An answer has no such bytes.
 *
 * Messages. Each is an RDMA WRITE with immediate data. The immediate data has an operation in the
 * three highest bits and a value in the others:
 *   WIRE_DATA     The message is VALUE bytes of the stream, written behind the earlier ones. It
 *                 does not cross the end of a half.
 *   WIRE_SEGMENT  VALUE is the limit up to which the receiver of this message may count its data
 *                 messages (16 bits, which wrap). A write of 16 bytes also fills one of the two
 *                 slots with a half of the buffer that may be written, again or for the first
 *                 time. Slots take turns; the second one is first. A write of no bytes has only
 *                 the value.
 *   WIRE_MAPPING  A struct wire_mapping is written behind the slots, at index VALUE.
 *   WIRE_CONTROL  VALUE is one of enum wire_control.
 * Data and mappings count against the receiver's limit. Segments and controls do not, so a receive
 * queue has a few spare entries for them. An RDMA WRITE without immediate data is riowrite() into a
 * mapping; one of no bytes keeps the connection alive. Segments and mappings have the byte order of
 * the host that writes them, which its hello announces.
 */
#ifndef RSOCKET_WIRE_H
#define RSOCKET_WIRE_H

#include <endian.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

enum wire_op { WIRE_DATA = 0, WIRE_SEGMENT = 4, WIRE_MAPPING = 6, WIRE_CONTROL = 7 };
enum wire_control { WIRE_DISCONNECT = 0, WIRE_SHUTDOWN = 2 };

enum {
	WIRE_VALUE_BITS = 29,
	WIRE_MAX_VALUE = (1 << WIRE_VALUE_BITS) - 1,
	WIRE_SLOTS = 2,
	WIRE_VERSION = 1,
	WIRE_BIG_ENDIAN_HOST = 1, /* flags in the hello */
	WIRE_KNOWS_MAPPINGS = 2,
	WIRE_MAX_MAPPINGS = 127 * 256,
	WIRE_IB_HEADER = 36
};

struct wire_hello {
	uint8_t version;
	uint8_t flags;
	__be16 credits; /* data messages that the receiver of the hello may send initially */
	uint8_t reserved[3];
	/* size of the sender's table for mappings; see rdmacm_wire_count_scale() */
	uint8_t mappings;
	__be64 slots_addr;
	__be32 slots_key;
	__be32 slots;
	__be64 data_addr;
	__be32 data_key;
	__be32 data_length;
};
_Static_assert(sizeof(struct wire_hello) == 40, "as observed");

struct wire_segment {
	uint64_t addr;
	uint32_t key;
	uint32_t length;
};
_Static_assert(sizeof(struct wire_segment) == 16, "as observed");

struct wire_mapping {
	uint64_t offset;
	struct wire_segment memory;
};
_Static_assert(sizeof(struct wire_mapping) == 24, "as observed");

static inline uint32_t wire_imm(enum wire_op op, uint32_t value)
{
	return (uint32_t)op << WIRE_VALUE_BITS | value;
}

static inline enum wire_op wire_imm_op(uint32_t imm)
{
	return imm >> WIRE_VALUE_BITS;
}

static inline uint32_t wire_imm_value(uint32_t imm)
{
	return imm & WIRE_MAX_VALUE;
}

/* Scale a count of mappings to a byte: up to 128 unchanged, above that in units of 256. The hello
 * has one byte for the count. */
uint8_t rdmacm_wire_count_scale(unsigned int count);
unsigned int rdmacm_wire_count_unscale(uint8_t scaled);

struct wire_peer {
	uint16_t credits;
	uint64_t slots_addr;
	uint32_t slots_key;
	struct wire_segment data;
	unsigned int mappings;
	bool swapped; /* the peer's segments and mappings have the other byte order */
};

void rdmacm_wire_hello_pack(struct wire_hello *hello, const struct wire_peer *self);
/* Returns EPROTO if the hello is too short, of another version, or without slots: a nonzero
 * slots_addr marks a stream as connected elsewhere in the library. */
int rdmacm_wire_hello_unpack(const void *data, unsigned int size, struct wire_peer *peer);

void rdmacm_wire_segment_swap(struct wire_segment *segment);
void rdmacm_wire_mapping_swap(struct wire_mapping *mapping);

#endif
