/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pingpong.h - the core of the pingpong programs.
 *
 * A program declares its options, and how its kind of queue pair is connected; the core parses,
 * opens the adapter, connects to the peer over TCP, exchanges messages, and prints the result. A
 * run calls pp_parse(), pp_open(), pp_create_qps(), pp_bounce() and pp_close(). Errors are printed
 * where they are detected; functions return 0 or nonzero.
 */
#ifndef EXAMPLES_PINGPONG_H
#define EXAMPLES_PINGPONG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct pp_options {
	const char *host; /* NULL: this side is the server */
	const char *device;
	unsigned int port;
	unsigned int ib_port;
	unsigned int size;
	unsigned int rx_depth;
	unsigned int iters;
	unsigned int num_qp;
	unsigned int num_clients;
	unsigned int headroom; /* bytes before the message in its buffer: the GRH of a datagram */
	unsigned char fill;
	enum ibv_mtu mtu;
	int sl;
	int gid_index; /* negative: none */
	bool events;
	bool odp;
	bool implicit_odp;
	bool prefetch;
	bool timestamps;
	bool check;
	bool device_memory;
	bool new_send;
	bool unprotected; /* use memory that a confidential guest shares with its host */
};

/* Limit of queue pairs. ibv_srq_pingpong always sends this many addresses. */
#define PP_MAX_QPS 256

struct pp_address {
	uint16_t lid;
	uint32_t qpn;
	uint32_t psn;
	union ibv_gid gid;
};

struct pp_peer {
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex; /* with options->new_send: the QP's builders */
	struct ibv_ah *ah;
	struct pp_address local, remote;
	unsigned int sends_posted, sends_done, received;
};

struct pp {
	const struct pp_options *options;
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_pd *base_pd; /* with options->unprotected: pd is a parent domain of this PD */
	struct ibv_buf *shared; /* with options->unprotected: the memory of buf */
	struct ibv_dm *dm;      /* with options->device_memory: holds the messages instead of buf */
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;          /* with options->timestamps: the same CQ */
	struct ibv_srq *srq;              /* shared queue of receives; NULL: each QP has its own */
	struct pp_peer peers[PP_MAX_QPS]; /* the first options->num_qp are in use */
	unsigned int records;             /* number of addresses exchanged: 1, or PP_MAX_QPS */
	bool names_qps;
	char *buf;
	size_t page_size;
	unsigned int send_flags;
	uint64_t timestamp_mask;
};

/* Moves the queue pair to a state in which it can reach peer->remote. */
typedef int pp_connect_fn(struct pp *pp, struct pp_peer *peer);

/* ---- pp_options.c ---- */

struct pp_options pp_defaults(void);
/* KEYS lists the program's options in the order of its usage text: their letters, or a digit for an
 * option whose letter or text differs (see pp_options.c). On failure prints the usage where that
 * helps. */
int pp_parse(int argc, char **argv, const char *keys, struct pp_options *options);

/* ---- pp_open.c ---- */

/* pp_open() opens the device and creates PD, MR and CQ. pp_open_memory() creates all but the CQ,
 * for programs with other queues. */
int pp_open(const struct pp_options *options, struct pp *pp);
int pp_open_memory(const struct pp_options *options, struct pp *pp);
int pp_create_qps(struct pp *pp, enum ibv_qp_type type);
int pp_find_address(struct pp *pp);
int pp_close(struct pp *pp);
int pp_fail(const char *message);

/* ---- pp_connect.c ---- */

/* Moves every QP to INIT. MASK has the attributes besides state, P_Key index and port:
 * IBV_QP_ACCESS_FLAGS or IBV_QP_QKEY. */
int pp_to_init(struct pp *pp, int mask);
struct ibv_ah_attr pp_path_to(const struct pp *pp, const struct pp_address *remote);
pp_connect_fn pp_connect_rc, pp_connect_uc, pp_connect_ud;
/* the same in all implementations of these programs, because each may be the peer of another */
#define PP_QKEY 0x11111111

/* ---- pp_exchange.c ---- */

/* Exchanges addresses with the peer, and connects. Both sides are connected when it returns 0. */
int pp_exchange(struct pp *pp, pp_connect_fn *connect);
int pp_dial(const char *host, unsigned int port);
int pp_listen(unsigned int port);
/* Return the number of bytes, fewer than LEN at end of file or after an error. */
size_t pp_send_all(int fd, const void *data, size_t len);
size_t pp_recv_all(int fd, void *data, size_t len);

/* ---- pp_run.c ---- */

/* Runs everything after the creation of the QPs: receives, addresses, connection, messages.
 * INIT_MASK is for pp_to_init(). */
int pp_bounce(struct pp *pp, int init_mask, pp_connect_fn *connect);

#endif
