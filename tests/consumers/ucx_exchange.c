/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ucx_exchange.c - UCX between two workers of one process: tagged messages go in batches, as many
 * as complete in one turn of the adapter, and each byte of them is checked. Which transport and
 * which completions there are is told by UCX' variables.
 *
 * Exit code 0; 1: a byte was wrong, or UCX said no.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

enum { BATCH = 48, BATCHES = 120, SIZE = 700 };

struct peer {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h to_other;
};

static void status_must(ucs_status_t status, const char *what)
{
	if (status == UCS_OK)
		return;
	fprintf(stderr, "%s: %s\n", what, ucs_status_string(status));
	exit(1);
}

static void peer_open(struct peer *peer)
{
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				.features = UCP_FEATURE_TAG };
	ucp_worker_params_t worker = { .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
				       .thread_mode = UCS_THREAD_MODE_SINGLE };

	status_must(ucp_init(&params, NULL, &peer->context), "ucp_init");
	status_must(ucp_worker_create(peer->context, &worker, &peer->worker), "ucp_worker_create");
}

static void peer_connect(struct peer *peer, const struct peer *other)
{
	ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	ucp_address_t *address;
	size_t len;

	status_must(ucp_worker_get_address(other->worker, &address, &len),
		    "ucp_worker_get_address");
	params.address = address;
	status_must(ucp_ep_create(peer->worker, &params, &peer->to_other), "ucp_ep_create");
	ucp_worker_release_address(other->worker, address);
}

static void request_await(struct peer peers[2], void *request)
{
	if (UCS_PTR_IS_ERR(request))
		status_must(UCS_PTR_STATUS(request), "a request");
	if (!request)
		return;
	while (ucp_request_check_status(request) == UCS_INPROGRESS) {
		ucp_worker_progress(peers[0].worker);
		ucp_worker_progress(peers[1].worker);
	}
	status_must(ucp_request_check_status(request), "a request");
	ucp_request_free(request);
}

static size_t length(unsigned int n)
{
	return 100 + n * 37 % (SIZE - 100);
}

static uint8_t byte_of(unsigned int n, size_t at)
{
	return (uint8_t)(n * 31 + at * 7 + (at >> 8));
}

static void message_fill(uint8_t *buf, unsigned int n)
{
	for (size_t at = 0; at < length(n); at++)
		buf[at] = byte_of(n, at);
}

static bool message_is_right(const uint8_t *buf, unsigned int n)
{
	for (size_t at = 0; at < length(n); at++)
		if (buf[at] != byte_of(n, at))
			return false;
	return true;
}

/* The function returns how many messages were wrong. */
static unsigned int exchange_batch(struct peer peers[2], unsigned int first)
{
	static uint8_t out[BATCH][SIZE], in[BATCH][SIZE];
	const ucp_request_param_t none = { 0 };
	void *sent[BATCH], *received[BATCH];
	unsigned int wrong = 0;

	memset(in, 0, sizeof(in));
	for (unsigned int i = 0; i < BATCH; i++)
		received[i] = ucp_tag_recv_nbx(peers[1].worker, in[i], SIZE, first + i, UINT64_MAX,
					       &none);
	for (unsigned int i = 0; i < BATCH; i++) {
		message_fill(out[i], first + i);
		sent[i] = ucp_tag_send_nbx(peers[0].to_other, out[i], length(first + i), first + i,
					   &none);
	}
	for (unsigned int i = 0; i < BATCH; i++) {
		request_await(peers, sent[i]);
		request_await(peers, received[i]);
		wrong += !message_is_right(in[i], first + i);
	}
	return wrong;
}

static void peer_close(struct peer peers[2], struct peer *peer)
{
	const ucp_request_param_t none = { 0 };

	if (peer->to_other)
		request_await(peers, ucp_ep_close_nbx(peer->to_other, &none));
	peer->to_other = NULL;
}

int main(void)
{
	struct peer peers[2] = { 0 };
	unsigned int wrong = 0;

	peer_open(&peers[0]);
	peer_open(&peers[1]);
	peer_connect(&peers[0], &peers[1]);
	for (unsigned int i = 0; i < BATCHES; i++)
		wrong += exchange_batch(peers, i * BATCH);
	peer_close(peers, &peers[0]);
	for (int i = 0; i < 2; i++) {
		ucp_worker_destroy(peers[i].worker);
		ucp_cleanup(peers[i].context);
	}
	printf("%u of %u messages were wrong\n", wrong, BATCH * BATCHES);
	return wrong != 0;
}
