/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stream.c - creates the parts of a stream: an id, a completion queue, a queue pair, and one
 * registered region with the receive and send rings.
 */
#include "librdmacm/rsocket/listener.h"
#include "librdmacm/rsocket/stream/mapping.h"
#include "librdmacm/rsocket/service.h"
#include "librdmacm/rsocket/stream/stream.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MIN_RING = 4096, LINE = 64, ASSUMED_MAX_WR = 4096 };

static uint32_t round_up(uint32_t value, uint32_t to)
{
	return (value + to - 1) / to * to;
}

/* Creates the channel in nonblocking mode: blocking calls wait in wait.c instead, for completions
 * and events at once. */
static int make_channel(struct stream *stream)
{
	int ret = rdmacm_rs_open_channel(&stream->channel);

	if (stream->channel)
		stream->rs.fd = stream->channel->fd;
	return ret;
}

static void init_locks(struct stream *stream)
{
	cm_lock_init(&stream->rx_lock);
	cm_lock_init(&stream->tx_lock);
}

int rdmacm_stream_alloc(int domain, struct stream **out)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int ret;

	if (!stream)
		return ENOMEM;
	rdmacm_rs_init(&stream->rs, &rdmacm_stream_kind, domain, SOCK_STREAM);
	init_locks(stream);
	STAILQ_INIT(&stream->accepted);
	ret = make_channel(stream);
	if (!ret)
		ret = rdmacm_rs_table_add(&stream->rs);
	if (ret)
		rdmacm_stream_free(stream);
	else
		*out = stream;
	return ret;
}

void rdmacm_stream_free(struct stream *stream)
{
	rdmacm_rs_retire(&stream->rs);
	rdmacm_service_drop(&stream->rs);
	rdmacm_accept_close(stream);
	rdmacm_stream_unequip(stream);
	if (stream->id && stream->rs.is_shared && stream->state <= STREAM_LISTENING)
		/* the other process still uses the kernel's id */
		rdmacm_id_free(to_cm_id(stream->id));
	else if (stream->id)
		rdmacm_rs_destroy_id(stream->id);
	rdmacm_share_close(&stream->share);
	if (stream->channel)
		rdma_destroy_event_channel(stream->channel);
	rdmacm_rs_fini(&stream->rs);
	free(stream);
}

static int make_cq(struct stream *stream)
{
	const struct rs_options *options = &stream->rs.options;
	int size = (int)(options->sq_size + options->rq_size) + CONTROL_SQ + CONTROL_RQ;

	stream->completions = ibv_create_comp_channel(stream->id->verbs);
	if (!stream->completions)
		return errno;
	if (fcntl(stream->completions->fd, F_SETFL, O_NONBLOCK))
		return errno;
	stream->cq = ibv_create_cq(stream->id->verbs, size, stream, stream->completions, 0);
	return stream->cq ? 0 : errno;
}

/* Limits the queues to the adapter's maximum, since a program may ask for more. */
static void fit_queues(struct stream *stream)
{
	struct rs_options *options = &stream->rs.options;
	struct ibv_device_attr attr;
	unsigned int limit;

	if (options->sq_size < 1)
		options->sq_size = 1;
	if (options->rq_size < 2)
		options->rq_size = 2;
	if (options->sq_size <= ASSUMED_MAX_WR && options->rq_size <= ASSUMED_MAX_WR)
		return;
	if (ibv_query_device(stream->id->verbs, &attr))
		return;
	limit = attr.max_qp_wr - CONTROL_RQ;
	if (options->sq_size > limit)
		options->sq_size = limit;
	if (options->rq_size > limit)
		options->rq_size = limit;
}

static int make_qp(struct stream *stream)
{
	const struct rs_options *options = &stream->rs.options;
	unsigned int inline_size = options->inline_size;
	struct ibv_qp_init_attr attr = {
		.send_cq = stream->cq,
		.recv_cq = stream->cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = options->sq_size + CONTROL_SQ,
			 .max_recv_wr = options->rq_size + CONTROL_RQ,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	/* announcements are sent inline: then no buffer must live until they complete */
	if (inline_size < sizeof(struct wire_mapping))
		inline_size = sizeof(struct wire_mapping);
	attr.cap.max_inline_data = inline_size;
	if (rdma_create_qp(stream->id, NULL, &attr))
		return errno;
	stream->inline_size =
		attr.cap.max_inline_data < MAX_INLINE ? attr.cap.max_inline_data : MAX_INLINE;
	stream->rs.options.inline_size = attr.cap.max_inline_data;
	stream->tx_want = WORTH_SENDING;
	return 0;
}

static void lay_out(struct stream *stream, uint32_t head, uint32_t rx_size, uint32_t tx_size)
{
	stream->slots = (struct wire_segment *)stream->memory;
	stream->peer_mappings = (struct wire_mapping *)(stream->slots + WIRE_SLOTS);
	stream->peer_mappings_room = stream->rs.options.mappings;
	stream->rx_bytes = stream->memory + head;
	stream->tx_bytes = stream->rx_bytes + rx_size;
	rx_ring_init(&stream->rx, rx_size);
	stream->tx = (struct tx_ring){ .size = tx_size };
}

static uint32_t ring_size(int asked)
{
	return round_up(asked < MIN_RING ? MIN_RING : (uint32_t)asked, 2 * LINE);
}

static int make_memory(struct stream *stream)
{
	const struct rs_options *options = &stream->rs.options;
	uint32_t head = round_up(WIRE_SLOTS * sizeof(struct wire_segment) +
					 options->mappings * sizeof(struct wire_mapping),
				 LINE);
	uint32_t rx_size = ring_size(rs_number(&stream->rs.flags.rx_size));
	uint32_t tx_size = ring_size(rs_number(&stream->rs.flags.tx_size));
	uint8_t *memory;

	stream->memory_size = (size_t)head + rx_size + tx_size;
	memory = mmap(NULL, stream->memory_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return errno;
	stream->memory = memory;
	lay_out(stream, head, rx_size, tx_size);
	stream->mr = ibv_reg_mr(stream->id->pd, memory, stream->memory_size,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	return stream->mr ? 0 : errno;
}

static int post_receives(struct stream *stream)
{
	unsigned int count = stream->rs.options.rq_size + CONTROL_RQ;
	struct ibv_recv_wr wr = { 0 }, *bad;
	int ret = 0;

	while (count-- && !ret)
		ret = ibv_post_recv(stream->id->qp, &wr, &bad);
	return ret;
}

int rdmacm_stream_equip(struct stream *stream)
{
	int ret;

	fit_queues(stream);
	ret = make_cq(stream);
	if (!ret)
		ret = make_qp(stream);
	if (!ret)
		ret = make_memory(stream);
	if (!ret)
		ret = post_receives(stream);
	if (ret) {
		rdmacm_stream_unequip(stream);
		return ret;
	}
	stream->rx_granted = stream->rs.options.rq_size;
	return 0;
}

void rdmacm_stream_unequip(struct stream *stream)
{
	rdmacm_stream_free_mappings(stream);
	if (stream->mr) /* before the memory that it covers: the adapter may still write there */
		ibv_dereg_mr(stream->mr);
	if (stream->id && stream->id->qp)
		rdma_destroy_qp(stream->id);
	if (stream->cq) {
		if (stream->events)
			ibv_ack_cq_events(stream->cq, stream->events);
		ibv_destroy_cq(stream->cq);
	}
	if (stream->completions)
		ibv_destroy_comp_channel(stream->completions);
	if (stream->memory)
		munmap(stream->memory, stream->memory_size);
	stream->cq = NULL;
	stream->completions = NULL;
	stream->mr = NULL;
	stream->memory = NULL;
	stream->events = 0;
	stream->has_event = stream->is_armed = false;
}

void rdmacm_stream_hello(struct stream *stream, struct wire_hello *hello)
{
	struct wire_peer self = {
		.credits = stream->rs.options.rq_size,
		.slots_addr = (uintptr_t)stream->slots,
		.slots_key = stream->mr->rkey,
		.data = { (uintptr_t)stream->rx_bytes, stream->mr->rkey, stream->rx.size / 2 },
		.mappings = stream->peer_mappings_room,
	};

	rdmacm_wire_hello_pack(hello, &self);
}

/* Processes the peer's hello, which has the first target. That counts as slot 0, so slot 1 is
 * next. */
int rdmacm_stream_meet(struct stream *stream, const struct rdma_conn_param *param)
{
	int ret = rdmacm_wire_hello_unpack(param->private_data, param->private_data_len,
					   &stream->remote);

	if (ret)
		return ret;
	stream->target = stream->remote.data;
	stream->tx_limit = stream->remote.credits;
	stream->slot = 1;
	stream->remote_slot = 1;
	return 0;
}
