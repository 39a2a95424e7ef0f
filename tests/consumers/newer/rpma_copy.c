/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * librpma across the adapter: rpma_copy serve|ask ADDRESS PORT. The server shows a region; the
 * client writes into it, flushes, sets a word atomically, reads all of it back, compares, and
 * leaves. Then the server compares what is there. Both say "all right".
 */
#include <infiniband/verbs.h>
#include <librpma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (1 << 20)
#define REMOTE_USAGE \
	(RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)

static unsigned char region[SIZE] __attribute__((aligned(4096)));
static unsigned char back[SIZE] __attribute__((aligned(4096)));

static void check_result(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "%s: %s\n", what, rpma_err_2str(ret));
	exit(1);
}

static unsigned char value(size_t i)
{
	return (unsigned char)(i * 31 + i / 4096);
}

static struct rpma_peer *open_peer(const char *address, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context;
	struct rpma_peer *peer;

	check_result(rpma_utils_get_ibv_context(address, type, &context),
		     "no adapter at the address");
	check_result(rpma_peer_new(context, &peer), "no peer");
	return peer;
}

static void await_event(struct rpma_conn *connection, enum rpma_conn_event wanted, const char *what)
{
	enum rpma_conn_event event;

	check_result(rpma_conn_next_event(connection, &event), what);
	if (event == wanted)
		return;
	fprintf(stderr, "%s: %s\n", what, rpma_utils_conn_event_2str(event));
	exit(1);
}

static void check_region(void)
{
	static const uint64_t word = 0x1122334455667788;

	if (memcmp(region, &word, sizeof(word))) {
		fprintf(stderr, "the word is not as it was set\n");
		exit(1);
	}
	for (size_t i = sizeof(word); i < SIZE; i++) {
		if (region[i] != value(i)) {
			fprintf(stderr, "byte %zu is %u\n", i, region[i]);
			exit(1);
		}
	}
}

static void serve_region(const char *address, const char *port)
{
	struct rpma_peer *peer = open_peer(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_conn_private_data descriptor;
	struct rpma_conn_req *request;
	struct rpma_conn *connection;
	struct rpma_mr_local *memory;
	struct rpma_ep *endpoint;
	size_t size;

	check_result(rpma_mr_reg(peer, region, SIZE, REMOTE_USAGE, &memory), "no memory region");
	check_result(rpma_mr_get_descriptor_size(memory, &size), "no descriptor");
	descriptor.ptr = malloc(size);
	descriptor.len = (uint8_t)size;
	check_result(rpma_mr_get_descriptor(memory, descriptor.ptr), "no descriptor");
	check_result(rpma_ep_listen(peer, address, port, &endpoint), "listen");
	check_result(rpma_ep_next_conn_req(endpoint, NULL, &request), "no request");
	check_result(rpma_conn_req_connect(&request, &descriptor, &connection), "accept");
	await_event(connection, RPMA_CONN_ESTABLISHED, "establish");
	await_event(connection, RPMA_CONN_CLOSED, "close");
	check_region();
	check_result(rpma_conn_disconnect(connection), "disconnect");
	check_result(rpma_conn_delete(&connection), "delete the connection");
	check_result(rpma_ep_shutdown(&endpoint), "shut down");
	check_result(rpma_mr_dereg(&memory), "deregister");
	check_result(rpma_peer_delete(&peer), "delete the peer");
	free(descriptor.ptr);
}

static struct rpma_mr_remote *remote_region(struct rpma_conn *connection)
{
	struct rpma_conn_private_data descriptor;
	struct rpma_mr_remote *remote;
	size_t size;

	check_result(rpma_conn_get_private_data(connection, &descriptor), "no private data");
	check_result(rpma_mr_remote_from_descriptor(descriptor.ptr, descriptor.len, &remote),
		     "no remote region");
	check_result(rpma_mr_remote_get_size(remote, &size), "no size");
	check_result(size == SIZE ? 0 : RPMA_E_INVAL, "another size");
	return remote;
}

static void await_completion(struct rpma_conn *connection, enum ibv_wc_opcode opcode)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;

	check_result(rpma_conn_get_cq(connection, &cq), "no CQ");
	check_result(rpma_cq_wait(cq), "no completion event");
	check_result(rpma_cq_get_wc(cq, 1, &wc, NULL), "no completion");
	if (wc.status == IBV_WC_SUCCESS && wc.opcode == opcode)
		return;
	fprintf(stderr, "a completion with status %s, opcode %d\n", ibv_wc_status_str(wc.status),
		wc.opcode);
	exit(1);
}

static void copy_both_ways(struct rpma_peer *peer, struct rpma_conn *connection)
{
	static const uint64_t word = 0x1122334455667788;
	struct rpma_mr_remote *remote = remote_region(connection);
	struct rpma_mr_local *source, *target;

	check_result(rpma_mr_reg(peer, region, SIZE, RPMA_MR_USAGE_WRITE_SRC, &source),
		     "no source");
	check_result(rpma_mr_reg(peer, back, SIZE, RPMA_MR_USAGE_READ_DST, &target), "no target");
	check_result(rpma_write(connection, remote, 0, source, 0, SIZE, RPMA_F_COMPLETION_ON_ERROR,
				NULL),
		     "write");
	check_result(rpma_atomic_write(connection, remote, 0, (const char *)&word,
				       RPMA_F_COMPLETION_ON_ERROR, NULL),
		     "atomic write");
	check_result(rpma_flush(connection, remote, 0, SIZE, RPMA_FLUSH_TYPE_VISIBILITY,
				RPMA_F_COMPLETION_ALWAYS, NULL),
		     "flush");
	await_completion(connection, IBV_WC_RDMA_READ);
	check_result(
		rpma_read(connection, target, 0, remote, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, NULL),
		"read");
	await_completion(connection, IBV_WC_RDMA_READ);
	memcpy(region, &word, sizeof(word));
	check_result(memcmp(region, back, SIZE) ? RPMA_E_UNKNOWN : 0, "other bytes come back");
	check_result(rpma_mr_dereg(&source), "deregister");
	check_result(rpma_mr_dereg(&target), "deregister");
	check_result(rpma_mr_remote_delete(&remote), "delete the remote region");
}

static void ask_server(const char *address, const char *port)
{
	struct rpma_peer *peer = open_peer(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn_req *request;
	struct rpma_conn *connection;

	for (size_t i = 0; i < SIZE; i++)
		region[i] = value(i);
	check_result(rpma_conn_req_new(peer, address, port, NULL, &request), "no request");
	check_result(rpma_conn_req_connect(&request, NULL, &connection), "connect");
	await_event(connection, RPMA_CONN_ESTABLISHED, "establish");
	copy_both_ways(peer, connection);
	check_result(rpma_conn_disconnect(connection), "disconnect");
	await_event(connection, RPMA_CONN_CLOSED, "close");
	check_result(rpma_conn_delete(&connection), "delete the connection");
	check_result(rpma_peer_delete(&peer), "delete the peer");
}

int main(int argc, char **argv)
{
	if (argc != 4 || (strcmp(argv[1], "serve") && strcmp(argv[1], "ask"))) {
		fprintf(stderr, "usage: %s serve|ask ADDRESS PORT\n", argv[0]);
		return 2;
	}
	(strcmp(argv[1], "serve") ? ask_server : serve_region)(argv[2], argv[3]);
	printf("all right\n");
	return 0;
}
