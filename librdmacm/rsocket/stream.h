/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stream.h - a stream: a reliable connection, a receive ring that the other side writes into, a send ring.
 *
 * Any thread in a call handles what has happened for all of them, under rs.lock. Two threads may read and write at the same
 * time: bytes are copied outside of that lock, under the lock of their direction.
 */
#ifndef RSOCKET_STREAM_H
#define RSOCKET_STREAM_H

#include "ring.h"
#include "rs.h"
#include "wire.h"

enum stream_state {
	STREAM_NEW,
	STREAM_BOUND,
	STREAM_LISTENING,
	STREAM_ADDR,     /* the other side's address is looked for, */
	STREAM_ROUTE,    /* the way to it, */
	STREAM_ASKED,    /* it is asked */
	STREAM_ACCEPTED, /* it has asked, and was answered */
	STREAM_CONNECTED,
	STREAM_OVER /* was connected, or failed to */
};

enum {
	MAX_INLINE = 1024,
	WORTH_SENDING = 2048, /* a send that has more left waits until so much can go */
	CONTROL_SQ = 4,       /* entries of the send queue that only controls and segments use */
	CONTROL_RQ = 24,      /* of the receive queue, for those of the other side; */
	REPOST_BATCH = 16     /* so many, which are posted together, may be missing of them */
};

struct riomapping; /* iomap.c */

struct stream {
	struct rs rs;
	enum stream_state state;
	struct rdma_cm_id *id; /* on a channel of its own, which is rs.fd */
	struct rdma_event_channel *channel;
	bool peer_done; /* will send no more: its SHUTDOWN or DISCONNECT was here, or the connection is gone */
	bool peer_gone; /* will receive no more */
	bool read_shut, write_shut;
	int error; /* SO_ERROR's */
	struct sockaddr_storage peer;

	/* completions of both directions */
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	bool is_armed;        /* the next completion makes an event */
	bool has_event;       /* there is one that was not taken */
	unsigned int events;  /* to acknowledge */
	bool has_sleeper;     /* one thread sleeps on the descriptors, others on the condition */
	unsigned int waiting; /* on the condition */
	pthread_cond_t changed;
	int64_t next_look_us; /* at events of rdma_cm, of a call that does not wait */

	/* one registered piece: slots and mappings of the other side, receive ring, send ring */
	struct ibv_mr *mr;
	uint8_t *memory;
	size_t memory_size;
	struct wire_segment *slots;
	struct wire_mapping *peer_mappings; /* rs.options.mappings of them */
	unsigned int peer_mappings_room;

	pthread_mutex_t rx_lock; /* of reading */
	struct rx_ring rx;
	uint8_t *rx_bytes;
	uint16_t rx_count;   /* messages that count, received; */
	uint16_t rx_granted; /* as far as the other side may count */
	unsigned int to_post;

	pthread_mutex_t tx_lock; /* of writing */
	struct tx_ring tx;
	uint8_t *tx_bytes;
	uint32_t tx_want;           /* bytes of room that are worth sending */
	struct wire_segment target; /* where the next byte goes */
	unsigned int slot;          /* where the next target is told */
	uint16_t tx_count, tx_limit;
	uint32_t sq_put, sq_done, sq_marked; /* work requests, as in tx_ring */
	uint32_t inline_size;

	struct wire_peer remote;
	unsigned int remote_slot; /* the one to fill next */
	unsigned int controls;    /* posted and not completed */
	bool must_shutdown, must_disconnect;
	bool keepalive_due;
	struct riomapping *mappings;
	unsigned int next_mapping;
};

static inline struct stream *to_stream(struct rs *rs)
{
	return (struct stream *)rs;
}

/* stream.c */
int rdmacm_stream_alloc(int domain, struct stream **out);
void rdmacm_stream_free(struct stream *stream);
/* CQ, QP, memory: once the id has a device */
int rdmacm_stream_equip(struct stream *stream);
void rdmacm_stream_unequip(struct stream *stream);
void rdmacm_stream_hello(struct stream *stream, struct wire_hello *hello);
/* The other side's hello is here. */
int rdmacm_stream_meet(struct stream *stream, const struct rdma_conn_param *param);

/* conn.c: events of rdma_cm. Lock held. */
void rdmacm_stream_cm_events(struct stream *stream);
void rdmacm_stream_fail(struct stream *stream, int error);
void rdmacm_stream_established(struct stream *stream);

/* traffic.c. Lock held. */
bool rdmacm_stream_progress(struct stream *stream); /* completions; whether there were any */
void rdmacm_stream_send_controls(struct stream *stream);
bool rdmacm_stream_can_send(struct stream *stream);
int rdmacm_stream_post_data(struct stream *stream, uint64_t addr, uint32_t lkey, uint32_t bytes,
			    bool is_inline);
int rdmacm_stream_post_mapping(struct stream *stream, unsigned int index,
			       const struct wire_mapping *mapping);
int rdmacm_stream_post_write(struct stream *stream, uint64_t addr, uint32_t lkey, uint32_t bytes,
			     bool is_inline, const struct wire_segment *to);
void rdmacm_stream_received(struct stream *stream, uint32_t bytes);

/* wait.c. Lock held; it is let go of while sleeping. 0, EAGAIN if NONBLOCKING, ETIMEDOUT,
 * EINTR. DEADLINE_US < 0: none */
int rdmacm_stream_wait(struct stream *stream, bool (*ready)(struct stream *), bool nonblocking,
		       int64_t deadline_us);
/* Prepare to sleep: false if something has happened */
bool rdmacm_stream_arm(struct stream *stream);
int rdmacm_stream_wake_fds(struct stream *stream, struct pollfd *fds);
void rdmacm_stream_woken(struct stream *stream, const struct pollfd *fds, int count);

/* stream_io.c: calls of the kind */
int rdmacm_stream_send(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		       socklen_t len, size_t *done);
int rdmacm_stream_receive(struct rs *rs, struct span *span, int *flags,
			  struct sockaddr_storage *from, size_t *done);
short rdmacm_stream_poll(struct rs *rs, short events, bool sleep);
int rdmacm_stream_rs_wake_fds(struct rs *rs, struct pollfd *fds);
void rdmacm_stream_rs_woken(struct rs *rs, const struct pollfd *fds, int count);

/* keepalive.c */
int rdmacm_keepalive_set(struct stream *stream, int seconds); /* 0: no more */

/* iomap.c */
void rdmacm_stream_free_mappings(struct stream *stream);

#endif
