/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * link.c - creates a UD QP for a local address. rdma_cm finds the device of the address and moves
 * the QP to RTS.
 *
 * Each receive buffer has room for a GRH before the message. Any host of the network can send
 * packets of maximal length, since rdma_cm's Q_Key is known, and a receive without enough room
 * would put the QP into error. So each receive has a second buffer, shared by all and never read,
 * for the excess. Sends complete in order, so their buffers are used in turn.
 */
#include "librdmacm/rsocket/dgram/dgram.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GRH = 40, HEADROOM = 64, FEWEST = 4, SEND_ID = 1 << 30 };
enum { LONGEST_PACKET = 4096, SPILL = LONGEST_PACKET - DGRAM_MAX_MESSAGE, RECEIVE_SGES = 2 };

static unsigned int buffer_count(int bytes, unsigned int queue)
{
	unsigned int count = (unsigned int)bytes / DGRAM_MAX_MESSAGE;

	if (count > queue)
		count = queue;
	return count < FEWEST ? FEWEST : count;
}

static uint8_t *buffer_at(const struct dgram_link *link, unsigned int index)
{
	return link->memory + (size_t)index * DGRAM_BUFFER + HEADROOM;
}

int rdmacm_dgram_link_post_receive(struct dgram_link *link, unsigned int index)
{
	struct ibv_sge sges[RECEIVE_SGES] = {
		{ (uintptr_t)buffer_at(link, index) - GRH, DGRAM_MAX_MESSAGE + GRH,
		  link->mr->lkey },
		{ (uintptr_t)link->memory + link->memory_size - SPILL, SPILL, link->mr->lkey },
	};
	struct ibv_recv_wr wr = { .wr_id = index, .sg_list = sges, .num_sge = RECEIVE_SGES }, *bad;

	return ibv_post_recv(link->id->qp, &wr, &bad);
}

unsigned int rdmacm_dgram_link_index(const struct dgram_link *link,
				     const struct dgram_message *message)
{
	return message - link->received;
}

uint8_t *rdmacm_dgram_link_send_buffer(const struct dgram_link *link)
{
	return buffer_at(link, link->receives + link->sq_put % link->sends);
}

int rdmacm_dgram_link_post_send(struct dgram_link *link, struct dgram_peer *peer, size_t size)
{
	struct ibv_sge sge = { (uintptr_t)rdmacm_dgram_link_send_buffer(link), size,
			       link->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = SEND_ID,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | (size <= link->inline_size ? IBV_SEND_INLINE : 0),
		.wr.ud = { .ah = peer->ah, .remote_qpn = peer->qpn, .remote_qkey = RDMA_UDP_QKEY },
	};
	struct ibv_send_wr *bad;
	int ret = ibv_post_send(link->id->qp, &wr, &bad);

	if (!ret)
		peer->sent_until = ++link->sq_put;
	return ret;
}

static int make_qp(struct dgram_link *link, const struct rs_options *options)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = link->sends,
			 .max_recv_wr = link->receives,
			 .max_send_sge = 1,
			 .max_recv_sge = RECEIVE_SGES,
			 .max_inline_data = options->inline_size },
	};

	link->completions = ibv_create_comp_channel(link->id->verbs);
	if (!link->completions || fcntl(link->completions->fd, F_SETFL, O_NONBLOCK))
		return errno;
	link->cq = ibv_create_cq(link->id->verbs, (int)(link->sends + link->receives), link,
				 link->completions, 0);
	if (!link->cq)
		return errno;
	attr.send_cq = attr.recv_cq = link->cq;
	if (rdma_create_qp(link->id, NULL, &attr))
		return errno;
	link->inline_size = attr.cap.max_inline_data;
	return 0;
}

static int make_memory(struct dgram_link *link)
{
	uint8_t *memory;

	link->received = calloc(link->receives, sizeof(*link->received));
	if (!link->received)
		return ENOMEM;
	link->memory_size = (size_t)(link->receives + link->sends) * DGRAM_BUFFER + SPILL;
	memory = mmap(NULL, link->memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		return errno;
	link->memory = memory;
	link->mr = ibv_reg_mr(link->id->pd, memory, link->memory_size, IBV_ACCESS_LOCAL_WRITE);
	return link->mr ? 0 : errno;
}

static int post_receives(struct dgram_link *link)
{
	int ret = 0;

	for (unsigned int i = 0; i < link->receives && !ret; i++) {
		link->received[i].link = link;
		link->received[i].data = buffer_at(link, i);
		ret = rdmacm_dgram_link_post_receive(link, i);
	}
	return ret;
}

static int ask_port(struct dgram_link *link)
{
	struct ibv_port_attr attr;
	int ret = ibv_query_port(link->id->verbs, link->id->port_num, &attr);

	if (ret)
		return ret;
	link->max_message = 128U << attr.active_mtu;
	if (link->max_message > DGRAM_MAX_MESSAGE)
		link->max_message = DGRAM_MAX_MESSAGE;
	return 0;
}

/* Binds the id to port 0: nothing needs the port that rdma_cm chooses, as peers know the socket by
 * its UDP port. */
static int bind_id(struct dgram *dgram, struct dgram_link *link)
{
	int ret = rdmacm_dgram_new_id(dgram, NULL, &link->id);

	if (ret)
		return ret;
	if (rdma_bind_addr(link->id, (struct sockaddr *)&link->local))
		return errno;
	return link->id->verbs ? 0 : ENODEV;
}

static int link_equip(struct dgram *dgram, struct dgram_link *link)
{
	const struct rs_options *options = &dgram->rs.options;
	int ret = bind_id(dgram, link);

	link->receives = buffer_count(rs_number(&dgram->rs.flags.rx_size), options->rq_size);
	link->sends = buffer_count(rs_number(&dgram->rs.flags.tx_size), options->sq_size);
	if (!ret)
		ret = ask_port(link);
	if (!ret)
		ret = make_qp(link, options);
	if (!ret)
		ret = make_memory(link);
	return ret ? ret : post_receives(link);
}

static int link_make(struct dgram *dgram, const struct sockaddr_storage *local,
		     struct dgram_link **out)
{
	const struct cm_renewal renewal = rdmacm_dgram_renewal(dgram), *before;
	struct dgram_link *link = calloc(1, sizeof(*link));
	int ret;

	if (!link)
		return ENOMEM;
	link->local = *local;
	/* so that a channel renewal moves its id, too */
	LIST_INSERT_HEAD(&dgram->links, link, entry);
	before = rdmacm_cmd_set_renewal(&renewal);
	ret = link_equip(dgram, link);
	rdmacm_cmd_set_renewal(before);
	if (ret) {
		LIST_REMOVE(link, entry);
		rdmacm_dgram_link_free(link);
		return ret;
	}
	dgram->link_count++;
	rs_changed(&dgram->rs); /* wakes sleepers, which do not watch it yet */
	*out = link;
	return 0;
}

int rdmacm_dgram_link_get(struct dgram *dgram, const struct sockaddr_storage *local,
			  struct dgram_link **out)
{
	struct dgram_link *link;

	LIST_FOREACH(link, &dgram->links, entry) {
		if (rdmacm_dgram_same_address(&link->local, local)) {
			*out = link;
			return 0;
		}
	}
	return dgram->link_count < DGRAM_LINKS ? link_make(dgram, local, out) : EMFILE;
}

void rdmacm_dgram_link_free(struct dgram_link *link)
{
	if (link->mr) /* before the memory that it covers */
		ibv_dereg_mr(link->mr);
	if (link->id && link->id->qp)
		rdma_destroy_qp(link->id);
	if (link->cq) {
		if (link->events)
			ibv_ack_cq_events(link->cq, link->events);
		ibv_destroy_cq(link->cq);
	}
	if (link->completions)
		ibv_destroy_comp_channel(link->completions);
	if (link->id)
		rdmacm_rs_destroy_id(link->id);
	if (link->memory)
		munmap(link->memory, link->memory_size);
	free(link->received);
	free(link);
}
