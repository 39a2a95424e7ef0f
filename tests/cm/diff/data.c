/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * data.c - the calls of rdma_verbs.h: memory, requests and completions of ids; and connections
 * between GIDs.
 *
 * Covers: librdmacm/rdma_verbs.h, librdmacm/query.c
 */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>

#include "tests/cm/cm.h"

enum { SIZE = 64 };

struct memory {
	uint8_t bytes[SIZE];
	struct ibv_mr *msgs, *read, *write;
};

static void get_memory(struct rdma_cm_id *id, struct memory *memory, uint8_t fill)
{
	memset(memory->bytes, fill, SIZE);
	memory->msgs = SAY_PTR(rdma_reg_msgs(id, memory->bytes, SIZE), "reg_msgs");
	memory->read = SAY_PTR(rdma_reg_read(id, memory->bytes, SIZE), "reg_read");
	memory->write = SAY_PTR(rdma_reg_write(id, memory->bytes, SIZE), "reg_write");
	MUST(memory->msgs && memory->read && memory->write);
}

static void put_memory(struct memory *memory)
{
	SAY_RET(rdma_dereg_mr(memory->msgs), "dereg_mr");
	SAY_RET(rdma_dereg_mr(memory->read), "dereg_mr");
	SAY_RET(rdma_dereg_mr(memory->write), "dereg_mr");
}

static void say_comp(const char *who, int ret, const struct ibv_wc *wc)
{
	say("%s: %d completion, context %llu, %s, opcode %d, %u bytes", who, ret,
	    (unsigned long long)wc->wr_id, ibv_wc_status_str(wc->status),
	    wc->status ? -1 : (int)wc->opcode, wc->status ? 0 : wc->byte_len);
}

static void send_comp_say(const char *what, struct rdma_cm_id *id)
{
	struct ibv_wc wc = { 0 };
	int ret = rdma_get_send_comp(id, &wc);

	wc.byte_len = 0; /* 0, as it is undefined in the completion of a send */
	say_comp(what, ret, &wc);
}

static void received(const char *what, struct rdma_cm_id *id)
{
	struct ibv_wc wc = { 0 };
	int ret = rdma_get_recv_comp(id, &wc);

	say_comp(what, ret, &wc);
}

static void *context(uintptr_t number)
{
	return (void *)number;
}

static void data_exchange(struct cm_pair *pair, struct memory *from, struct memory *to)
{
	struct ibv_sge sge[9] = { { (uintptr_t)to->bytes, SIZE, to->msgs->lkey } };

	SAY_RET(rdma_post_recv(pair->server, context(1), to->bytes, SIZE, to->msgs), "post_recv");
	SAY_RET(rdma_post_recvv(pair->server, context(2), sge, 1), "post_recvv");
	SAY_RET(rdma_post_recvv(pair->server, context(3), sge, 9), "post_recvv of too many");
	SAY_RET(rdma_post_send(pair->client, context(4), from->bytes, 7, from->msgs,
			       IBV_SEND_SIGNALED),
		"post_send");
	send_comp_say("send", pair->client);
	received("recv", pair->server);
	sge[0] = (struct ibv_sge){ (uintptr_t)from->bytes, 9, from->msgs->lkey };
	SAY_RET(rdma_post_sendv(pair->client, context(5), sge, 1, IBV_SEND_SIGNALED), "post_sendv");
	send_comp_say("send", pair->client);
	received("recv", pair->server);
	SAY_RET(rdma_post_sendv(pair->client, context(6), sge, 9, IBV_SEND_SIGNALED),
		"post_sendv of too many");
	SAY_RET(rdma_post_send(pair->client, context(7), from->bytes, SIZE, NULL,
			       IBV_SEND_INLINE | 1 << 30),
		"post_send of more than fits inline, or with a flag that is none");
}

static void write_and_read(struct cm_pair *pair, struct memory *from, struct memory *to)
{
	struct ibv_sge sge = { (uintptr_t)from->bytes, 8, from->msgs->lkey };

	SAY_RET(rdma_post_write(pair->client, context(8), from->bytes, 16, from->msgs,
				IBV_SEND_SIGNALED, (uintptr_t)to->bytes, to->write->rkey),
		"post_write");
	send_comp_say("write", pair->client);
	say("written: %u %u", to->bytes[15], to->bytes[16]);
	SAY_RET(rdma_post_writev(pair->client, context(9), &sge, 1, IBV_SEND_SIGNALED,
				 (uintptr_t)to->bytes + 32, to->write->rkey),
		"post_writev");
	send_comp_say("write", pair->client);
	say("written: %u %u", to->bytes[39], to->bytes[40]);
	to->bytes[50] = 77;
	SAY_RET(rdma_post_read(pair->client, context(10), from->bytes, 4, from->msgs,
			       IBV_SEND_SIGNALED, (uintptr_t)to->bytes + 48, to->read->rkey),
		"post_read");
	send_comp_say("read", pair->client);
	say("read: %u", from->bytes[2]);
	SAY_RET(rdma_post_readv(pair->client, context(11), &sge, 1, IBV_SEND_SIGNALED,
				(uintptr_t)to->bytes + 44, to->read->rkey),
		"post_readv");
	send_comp_say("read", pair->client);
	say("read: %u", from->bytes[6]);
	/* refused, as memory of rdma_reg_msgs() gives the peer no access */
	SAY_RET(rdma_post_write(pair->client, context(12), from->bytes, 16, from->msgs,
				IBV_SEND_SIGNALED, (uintptr_t)to->bytes, to->msgs->rkey),
		"post_write without a right");
	send_comp_say("write", pair->client);
	SAY_RET(rdma_post_send(pair->client, context(13), from->bytes, 7, from->msgs, 0),
		"post_send behind it");
	send_comp_say("send", pair->client);
}

void cm_diff_data(void)
{
	struct memory from, to;
	struct cm_pair pair;

	cm_pair_connect(&pair);
	get_memory(pair.client, &from, 1);
	get_memory(pair.server, &to, 2);
	data_exchange(&pair, &from, &to);
	write_and_read(&pair, &from, &to);
	put_memory(&from);
	put_memory(&to);
	cm_pair_close(&pair);
}

static struct sockaddr_ib gid_addr(const union ibv_gid *gid, uint64_t service)
{
	struct sockaddr_ib sib = { .sib_family = AF_IB,
				   .sib_pkey = htons(0xffff),
				   .sib_sid = htobe64(service),
				   .sib_sid_mask = htobe64(UINT64_MAX) };

	if (gid)
		memcpy(&sib.sib_addr, gid, sizeof(*gid));
	return sib;
}

static void say_gid(const char *what, struct sockaddr *addr)
{
	const struct sockaddr_ib *sib = (const struct sockaddr_ib *)addr;
	char text[INET6_ADDRSTRLEN] = "";

	if (addr->sa_family == AF_IB)
		inet_ntop(AF_INET6, &sib->sib_addr, text, sizeof(text));
	say("%s: family %d %s port space 0x%llx, a port %d", what, addr->sa_family, text,
	    addr->sa_family == AF_IB ? (unsigned long long)be64toh(sib->sib_sid) >> 16 : 0ull,
	    addr->sa_family == AF_IB && (be64toh(sib->sib_sid) & 0xffff));
}

static void bind_gid(struct rdma_event_channel *channel, enum rdma_port_space ps,
		     const union ibv_gid *gid, uint64_t service)
{
	struct sockaddr_ib addr = gid_addr(gid, service);
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, ps));
	if (!SAY_RET(rdma_bind_addr(id, (struct sockaddr *)&addr),
		     "port space 0x%x: bind to %s GID, service 0x%llx", ps, gid ? "a" : "any",
		     (unsigned long long)service)) {
		say_gid("bound", rdma_get_local_addr(id));
		say("verbs %d port_num %u a port %d", id->verbs != NULL, id->port_num,
		    rdma_get_src_port(id) != 0);
	}
	MUST(!rdma_destroy_id(id));
}

static void resolve_gid(struct rdma_event_channel *channel, const union ibv_gid *gid,
			uint64_t service)
{
	struct sockaddr_ib addr = gid_addr(gid, service);
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_IB));
	if (!SAY_RET(rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, RESOLVE_MS),
		     "resolve a GID") &&
	    cm_expect("address", channel) == RDMA_CM_EVENT_ADDR_RESOLVED) {
		say_gid("from", rdma_get_local_addr(id));
		say_gid("to", rdma_get_peer_addr(id));
		say("ports %d %d", rdma_get_src_port(id) != 0, ntohs(rdma_get_dst_port(id)));
		if (!SAY_RET(rdma_resolve_route(id, RESOLVE_MS), "route"))
			cm_expect("route", channel);
		say("paths %d", id->route.num_paths);
		cm_make_qp(id);
		if (!SAY_RET(rdma_connect(id, NULL), "connect where nobody listens"))
			cm_expect("client", channel);
		rdma_destroy_qp(id);
	}
	MUST(!rdma_destroy_id(id));
}

void cm_diff_gids(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	static const enum rdma_port_space spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB };
	struct rdma_cm_id *id = cm_resolved(channel, RDMA_PS_TCP, 1);
	union ibv_gid gid = id->route.addr.addr.ibaddr.sgid, foreign = gid;

	MUST(!rdma_destroy_id(id));
	foreign.raw[15] ^= 0x77;
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		bind_gid(channel, spaces[i], NULL, 0);
		bind_gid(channel, spaces[i], &gid, 0);
		bind_gid(channel, spaces[i], &gid, (uint64_t)spaces[i] << 16 | 7471);
		bind_gid(channel, spaces[i], &gid, (uint64_t)RDMA_PS_TCP << 16 | 7471);
		bind_gid(channel, spaces[i], &gid, 0x1234567800000000);
		bind_gid(channel, spaces[i], &foreign, 0);
	}
	resolve_gid(channel, &gid, (uint64_t)RDMA_PS_IB << 16 | 7999);
	resolve_gid(channel, &foreign, (uint64_t)RDMA_PS_IB << 16 | 7999);
	resolve_gid(channel, NULL, 0);
	rdma_destroy_event_channel(channel);
}
