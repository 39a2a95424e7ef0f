/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dgram.h - a datagram socket: a UDP socket, whose descriptor it shares, and a UD QP ("link") for
 * each local address that it uses. A "peer" is another socket. dgram/wire.h describes how two
 * sockets find each other.
 *
 * The library has no thread for this: each call handles, under rs.lock, whatever has happened.
 * While the peer is in no call, it does not answer, and the sender continues over UDP, where data
 * waits as in any UDP socket.
 */
#ifndef RSOCKET_DGRAM_H
#define RSOCKET_DGRAM_H

#include "librdmacm/rsocket/channel_pause.h"
#include "librdmacm/rsocket/dgram/wire.h"
#include "librdmacm/rsocket/rs.h"

#include <sys/queue.h>

struct dgram_link;

struct dgram_message {
	STAILQ_ENTRY(dgram_message) entry;
	/* link with the receive buffer of the message; NULL: the message came over UDP, and its
	 * bytes follow this struct */
	struct dgram_link *link;
	uint8_t *data;
	size_t size;
	struct sockaddr_storage from;
};

struct dgram_link {
	LIST_ENTRY(dgram_link) entry;
	struct sockaddr_storage local;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	bool is_armed;
	unsigned int events; /* unacknowledged events of the CQ, which ibv_destroy_cq() waits for */
	struct ibv_mr *mr;
	uint8_t *
		/* one region, as each registration costs a command: receive buffers, send buffers,
		 * and a buffer for data to discard */
		memory;
	size_t memory_size;
	struct dgram_message *received;
	unsigned int receives, sends;
	uint32_t sq_put, sq_done;
	uint32_t max_message;
	uint32_t inline_size;
};

struct dgram_peer {
	struct sockaddr_storage addr;
	TAILQ_ENTRY(dgram_peer) in_used;
	struct dgram_link *link;
	uint32_t qpn;
	/* number of threads that are sending to the peer, which must not be removed meanwhile */
	unsigned int senders;
	struct rdma_cm_id *resolver; /* its events tell the route to the peer */
	/* NULL while no route is known, and if the peer has none */
	struct ibv_ah *ah;
	uint32_t sent_until; /* link's sq_put after the last send to the peer */
	unsigned int looks;
	int64_t next_look_us; /* time before which no new attempt is made */
};

struct dgram {
	struct rs rs;
	struct rdma_event_channel *channel;
	bool is_channel_of_parent; /* the parent's channel, which this process cannot use */
	struct rs_pause pause;     /* pause after reading the channel's events failed */
	bool is_set_up;            /* the options of the UDP socket were set, which is done once */
	bool read_shut, write_shut;
	int error;
	LIST_HEAD(, dgram_link) links;
	unsigned int link_count;
	void *peers; /* the root of a tsearch() tree */
	/* the same peers, most recently used first; the last peer makes room for a new one */
	TAILQ_HEAD(dgram_peers, dgram_peer) used_peers;
	unsigned int peer_count;
	struct dgram_peer *connected;
	uint16_t port; /* UDP port, big-endian; 0: not yet known */
	STAILQ_HEAD(, dgram_message) messages;
	/* messages that came over UDP, which take no receive buffer; limited by their number */
	unsigned int by_udp;
	int64_t next_look_us;
};

enum { DGRAM_LINKS = RS_WAKE_FDS - 2, DGRAM_BUFFER = DGRAM_MAX_MESSAGE + 64 };

static inline struct dgram *to_dgram(struct rs *rs)
{
	return (struct dgram *)rs;
}

/* ---- dgram/link.c: called with rs.lock held ---- */

int rdmacm_dgram_link_get(struct dgram *dgram, const struct sockaddr_storage *local,
			  struct dgram_link **out);
void rdmacm_dgram_link_free(struct dgram_link *link);
int rdmacm_dgram_link_post_receive(struct dgram_link *link, unsigned int index);
uint8_t *rdmacm_dgram_link_send_buffer(const struct dgram_link *link);
/* Sends SIZE bytes of the send buffer, which begins with the header. */
int rdmacm_dgram_link_post_send(struct dgram_link *link, struct dgram_peer *peer, size_t size);
unsigned int rdmacm_dgram_link_index(const struct dgram_link *link,
				     const struct dgram_message *message);

/* ---- dgram/peer.c: called with rs.lock held ---- */

int rdmacm_dgram_peer_get(struct dgram *dgram, const struct sockaddr_storage *addr,
			  struct dgram_peer **out);
/* Stores the peer's QPN. Resolves the route to the peer if it is unknown, but after a failure only
 * when a pause has passed. */
void rdmacm_dgram_peer_found(struct dgram *dgram, struct dgram_peer *peer, uint32_t qpn);
void rdmacm_dgram_peers_free(struct dgram *dgram);
void rdmacm_dgram_take_event(struct rdma_cm_event *event);
/* Completes an address from a packet, which lacks the network: uses LINK's. */
void rdmacm_dgram_complete_address(struct sockaddr_storage *addr, const struct dgram_link *link);
bool rdmacm_dgram_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/* ---- dgram/channel.c: called with rs.lock held ---- */

/* Returns the renewal for an operation of several commands, since the user may change between
 * them. */
struct cm_renewal rdmacm_dgram_renewal(struct dgram *dgram);
/* Creates an id whose events get CONTEXT. Returns 0 or an errno. */
int rdmacm_dgram_new_id(struct dgram *dgram, void *context, struct rdma_cm_id **id);
bool rdmacm_dgram_cm_events(struct dgram *dgram);
/* Returns the descriptor for poll(), or -1 if the channel cannot be read now. */
int rdmacm_dgram_channel_fd(const struct dgram *dgram);

/* ---- dgram/io.c: called with rs.lock held ---- */

bool rdmacm_dgram_progress(struct dgram *dgram, bool look_at_udp);
void rdmacm_dgram_message_done(struct dgram *dgram, struct dgram_message *message);
int rdmacm_dgram_take_error(struct dgram *dgram);

/* ---- functions of struct rs_kind ---- */

int rdmacm_dgram_set_up(struct dgram *dgram);
int rdmacm_dgram_send(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		      socklen_t len, size_t *done);
int rdmacm_dgram_receive(struct rs *rs, struct span *span, int *flags,
			 struct sockaddr_storage *from, size_t *done);
int rdmacm_dgram_unread(struct rs *rs, int *bytes);
short rdmacm_dgram_poll(struct rs *rs, short events, bool sleep);
int rdmacm_dgram_wake_fds(struct rs *rs, struct pollfd *fds);
void rdmacm_dgram_woken(struct rs *rs, const struct pollfd *fds, int count);

#endif
