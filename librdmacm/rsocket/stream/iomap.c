/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * iomap.c - riomap(), riounmap() and riowrite(): memory that the peer writes directly.
 *
 * A mapping has the same index on both sides. The peer keeps a table, sized by its RDMA_IOMAPSIZE,
 * which this side fills with its mappings. riowrite() looks up the offset in the table that the
 * peer has filled.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/rsocket/stream/mapping.h"
#include "librdmacm/rsocket/stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>

static bool may_send_mapping(struct stream *stream)
{
	return stream->state == STREAM_OVER || stream->peer_gone ||
	       (stream->state == STREAM_CONNECTED && stream->tx_count != stream->tx_limit &&
		stream->sq_put - stream->sq_done < stream->rs.options.sq_size);
}

/* Waits, and is no cancellation point, because the caller holds both locks. */
static int __attribute__((noinline))
wait_shielded(struct stream *stream, bool (*ready)(struct stream *stream), bool nonblocking)
{
	int ret;

	rdmacm_rs_shield_sleep();
	ret = rdmacm_stream_wait(stream, ready, nonblocking, -1);
	rdmacm_rs_unshield_sleep();
	return ret;
}

/* As in rsend(), a call that need not wait handles no completions. */
static inline int wait_if_not(struct stream *stream, bool (*ready)(struct stream *stream),
			      bool nonblocking)
{
	return ready(stream) ? 0 : wait_shielded(stream, ready, nonblocking);
}

static int tell_mapping(struct stream *stream, int index, struct wire_mapping entry)
{
	int ret = wait_if_not(stream, may_send_mapping, false);

	if (ret)
		return ret;
	if (stream->state != STREAM_CONNECTED || stream->peer_gone)
		return ENOTCONN;
	return rdmacm_stream_post_mapping(stream, index, &entry);
}

static int map_for_peer(struct stream *stream, struct riomapping *mapping, size_t len)
{
	struct wire_mapping entry = {
		.offset = mapping->offset,
		.memory = { (uintptr_t)mapping->mr->addr, mapping->mr->rkey, (uint32_t)len },
	};

	mapping->index = rdmacm_mapping_take_index(stream);
	if (mapping->index < 0) {
		verbs_warn("riomap: the other side has room for %u mappings",
			   stream->remote.mappings);
		return ENOMEM;
	}
	return tell_mapping(stream, mapping->index, entry);
}

/* Offsets chosen by the library start where programs rarely choose theirs, and are distinct. */
#define FIRST_OFFSET (UINT64_C(1) << (sizeof(off_t) < sizeof(uint64_t) ? 30 : 40))
#define OFFSET_UNIT  UINT64_C(4096)

_Static_assert((off_t)FIRST_OFFSET > 0 && (uint64_t)(off_t)FIRST_OFFSET == FIRST_OFFSET,
	       "riomap() returns it");

static int choose_offset(struct stream *stream, size_t len, uint64_t *offset)
{
	*offset = FIRST_OFFSET + stream->next_mapping * OFFSET_UNIT;
	if ((off_t)*offset < 0 || (uint64_t)(off_t)*offset != *offset)
		return EOVERFLOW;
	stream->next_mapping += (len + OFFSET_UNIT - 1) / OFFSET_UNIT;
	return 0;
}

static bool is_settled(struct stream *stream)
{
	return stream->state != STREAM_ACCEPTED;
}

/* Waits until the connection is established: an accepted one may still wait for the peer's
 * confirmation. */
static int need_connection(struct stream *stream)
{
	int ret = wait_if_not(stream, is_settled, false);

	return ret || stream->state == STREAM_CONNECTED ? ret : ENOTCONN;
}

static int map_buffer(struct stream *stream, void *buf, size_t len, int prot, off_t *offset)
{
	struct riomapping *mapping;
	int ret = need_connection(stream);

	if (ret)
		return ret;
	mapping = calloc(1, sizeof(*mapping));
	if (!mapping)
		return ENOMEM;
	mapping->index = -1;
	mapping->mr = ibv_reg_mr(
		stream->id->pd, buf, len,
		prot & PROT_WRITE ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0);
	if (!mapping->mr) {
		ret = errno;
		free(mapping);
		return ret;
	}
	mapping->offset = (uint64_t)*offset;
	if (*offset == -1)
		ret = choose_offset(stream, len, &mapping->offset);
	if (!ret && prot & PROT_WRITE)
		ret = map_for_peer(stream, mapping, len);
	if (ret) {
		rdmacm_mapping_free(stream, mapping);
		return ret;
	}
	mapping->next = stream->mappings;
	stream->mappings = mapping;
	*offset = (off_t)mapping->offset;
	return 0;
}

static int find_stream(int socket, struct stream **stream)
{
	struct rs *rs = rs_find(socket);

	if (!rs)
		return EBADF;
	*stream = to_stream(rs);
	return rs->kind == &rdmacm_stream_kind ? 0 : EOPNOTSUPP;
}

CMA_EXPORT off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset)
{
	struct stream *stream;
	int ret = find_stream(socket, &stream);

	if (!ret && (!len || len > UINT32_MAX || flags || (prot & ~(PROT_WRITE | PROT_NONE))))
		ret = EINVAL;
	if (ret)
		return cma_return(ret);
	rdmacm_rs_shield_sleep();
	cm_lock_take(&stream->tx_lock);
	cm_lock_take(&stream->rs.lock);
	ret = map_buffer(stream, buf, len, prot, &offset);
	cm_lock_drop(&stream->rs.lock);
	cm_lock_drop(&stream->tx_lock);
	rdmacm_rs_unshield_sleep();
	return ret ? cma_return(ret) : offset;
}

static int unmap_buffer(struct stream *stream, const void *buf, size_t len)
{
	struct riomapping **at = rdmacm_mapping_find(stream, buf, len), *mapping = *at;
	struct wire_mapping none = { 0 };

	if (!mapping)
		return EINVAL;
	if (mapping->index >= 0 && stream->state == STREAM_CONNECTED && !stream->peer_gone)
		tell_mapping(stream, mapping->index, none);
	*at = mapping->next;
	rdmacm_mapping_free(stream, mapping);
	return 0;
}

CMA_EXPORT int riounmap(int socket, void *buf, size_t len)
{
	struct stream *stream;
	int ret = find_stream(socket, &stream);

	if (ret)
		return cma_return(ret);
	rdmacm_rs_shield_sleep();
	cm_lock_take(&stream->tx_lock);
	cm_lock_take(&stream->rs.lock);
	ret = unmap_buffer(stream, buf, len);
	cm_lock_drop(&stream->rs.lock);
	cm_lock_drop(&stream->tx_lock);
	rdmacm_rs_unshield_sleep();
	return cma_return(ret);
}

/* Finds the peer's memory at OFFSET, up to the end of its mapping. Inline, because each
 * riowrite() looks an offset up. */
static inline __attribute__((always_inline)) bool
look_up_offset(const struct stream *stream, uint64_t offset, struct wire_segment *to)
{
	struct wire_mapping entry;

	for (unsigned int i = 0; i < stream->peer_mappings_room; i++) {
		entry = stream->peer_mappings[i];
		if (stream->remote.swapped)
			rdmacm_wire_mapping_swap(&entry);
		if (offset < entry.offset || offset - entry.offset >= entry.memory.length)
			continue;
		*to = entry.memory;
		to->addr += offset - entry.offset;
		to->length -= offset - entry.offset;
		return true;
	}
	return false;
}

/* Returns the region if this side has mapped the memory by riomap(): it is then sent without a
 * copy. */
static struct ibv_mr *registered_mr(const struct stream *stream, const void *buf, size_t len)
{
	uintptr_t start;

	for (const struct riomapping *at = stream->mappings; at; at = at->next) {
		start = (uintptr_t)at->mr->addr;
		if ((uintptr_t)buf >= start && (uintptr_t)buf + len <= start + at->mr->length)
			return at->mr;
	}
	return NULL;
}

static bool may_write(struct stream *stream)
{
	return stream->state == STREAM_OVER || stream->peer_gone || stream->write_shut ||
	       (stream->state == STREAM_CONNECTED &&
		stream->sq_put - stream->sq_done < stream->rs.options.sq_size &&
		tx_ring_room(&stream->tx));
}

static bool all_done(struct stream *stream)
{
	return stream->state != STREAM_CONNECTED || stream->sq_put == stream->sq_done;
}

static bool is_closed(struct stream *stream)
{
	return stream->state != STREAM_CONNECTED || stream->peer_gone || stream->write_shut;
}

/* Handles what has arrived, and looks up the offset again: the peer may have announced the mapping,
 * or closed the connection. Programs retry in a loop, which calls nothing else of the library. */
static int __attribute__((noinline))
look_up_arrived(struct stream *stream, uint64_t offset, bool *is_found)
{
	struct wire_segment to;

	wait_shielded(stream, is_closed, true);
	*is_found = look_up_offset(stream, offset, &to);
	return is_closed(stream) ? EPIPE : 0;
}

/* Writes one piece of at most *SIZE bytes, and sets *SIZE to its size. */
static int write_piece(struct stream *stream, const void *buf, size_t *size,
		       const struct wire_segment *to, struct ibv_mr *mr)
{
	uint32_t room = tx_ring_room(&stream->tx);
	uint8_t *copy = stream->tx_bytes + stream->tx.head;

	if (*size > to->length)
		*size = to->length;
	if (*size <= stream->inline_size)
		return rdmacm_stream_post_write(stream, (uintptr_t)buf, 0, *size, true, to);
	if (mr)
		return rdmacm_stream_post_write(stream, (uintptr_t)buf, mr->lkey, *size, false, to);
	if (*size > room)
		*size = room;
	memcpy(copy, buf, *size);
	tx_ring_put(&stream->tx, *size);
	return rdmacm_stream_post_write(stream, (uintptr_t)copy, stream->mr->lkey, *size, false,
					to);
}

static int write_all(struct stream *stream, const uint8_t *buf, size_t count, uint64_t offset,
		     bool nonblocking, size_t *done)
{
	struct ibv_mr *mr = registered_mr(stream, buf, count);
	struct wire_segment to;
	bool is_found;
	size_t size;
	int ret;

	for (*done = 0; *done < count; *done += size) {
		ret = wait_if_not(stream, may_write, nonblocking);
		if (ret)
			return ret;
		if (is_closed(stream))
			return EPIPE;
		if (!look_up_offset(stream, offset + *done, &to)) {
			ret = look_up_arrived(stream, offset + *done, &is_found);
			if (ret || !is_found)
				return ret; /* the mapping may be announced later */
			size = 0;           /* because the wait may have taken the room */
			continue;
		}
		size = count - *done;
		ret = write_piece(stream, buf + *done, &size, &to, mr);
		if (ret)
			return ret;
	}
	return 0;
}

static bool was_connected(const struct stream *stream)
{
	return stream->state == STREAM_OVER && stream->remote.slots_addr;
}

/* Writes, and waits for data sent without a copy, because the program may change its memory when
 * riowrite() returns. */
static int write_checked(struct stream *stream, const void *buf, size_t count, off_t offset,
			 bool nonblocking, size_t *done)
{
	int ret;

	if (stream->state != STREAM_CONNECTED)
		return was_connected(stream) ? EPIPE : ENOTCONN;
	ret = write_all(stream, buf, count, offset, nonblocking, done);
	if (!ret && registered_mr(stream, buf, count) && count > stream->inline_size) {
		/* a keepalive completes only after all earlier requests */
		stream->keepalive_due = true;
		rdmacm_stream_send_controls(stream);
		ret = wait_if_not(stream, all_done, false);
	}
	return ret;
}

CMA_EXPORT size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags)
{
	struct stream *stream;
	size_t done = 0;
	int ret = find_stream(socket, &stream);

	if (ret)
		return cma_return(ret);
	cm_lock_take(&stream->tx_lock);
	cm_lock_take(&stream->rs.lock);
	ret = write_checked(stream, buf, count, offset, rs_nonblocking(&stream->rs, flags), &done);
	cm_lock_drop(&stream->rs.lock);
	cm_lock_drop(&stream->tx_lock);
	return ret && !done ? (size_t)cma_return(ret) : done;
}
