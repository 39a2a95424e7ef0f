/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ucx_exchange.c - ucx_exchange [RECEIVERS]: UCX from one worker to others (1) of one process:
 * tagged messages go to them in turn and in batches, as many as complete in a turn of the adapter,
 * and each byte of them is checked. Which transport and which completions there are is told by UCX'
 * variables.
 *
 * Exit code 0; 1: a byte was wrong, or UCX said no.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

enum { BATCH = 48, BATCHES = 120, SIZE = 700, RECEIVERS_MAX = 16 };

struct peer {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h to_it; /* of a receiver: the sender's */
};

struct exchange {
	struct peer sender, receivers[RECEIVERS_MAX];
	unsigned int num_receivers;
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

static void peer_connect(const struct peer *from, struct peer *to)
{
	ucp_ep_params_t params = { .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS };
	ucp_address_t *address;
	size_t len;

	status_must(ucp_worker_get_address(to->worker, &address, &len), "ucp_worker_get_address");
	params.address = address;
	status_must(ucp_ep_create(from->worker, &params, &to->to_it), "ucp_ep_create");
	ucp_worker_release_address(to->worker, address);
}

static void request_await(const struct exchange *all, void *request)
{
	if (UCS_PTR_IS_ERR(request))
		status_must(UCS_PTR_STATUS(request), "a request");
	if (!request)
		return;
	while (ucp_request_check_status(request) == UCS_INPROGRESS) {
		ucp_worker_progress(all->sender.worker);
		for (unsigned int i = 0; i < all->num_receivers; i++)
			ucp_worker_progress(all->receivers[i].worker);
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

static const struct peer *receiver_of(const struct exchange *all, unsigned int n)
{
	return &all->receivers[n % all->num_receivers];
}

/* The function returns how many messages were wrong. */
static unsigned int exchange_batch(const struct exchange *all, unsigned int first)
{
	static uint8_t out[BATCH][SIZE], in[BATCH][SIZE];
	const ucp_request_param_t none = { 0 };
	void *sent[BATCH], *received[BATCH];
	unsigned int wrong = 0;

	memset(in, 0, sizeof(in));
	for (unsigned int i = 0; i < BATCH; i++)
		received[i] = ucp_tag_recv_nbx(receiver_of(all, first + i)->worker, in[i], SIZE,
					       first + i, UINT64_MAX, &none);
	for (unsigned int i = 0; i < BATCH; i++) {
		message_fill(out[i], first + i);
		sent[i] = ucp_tag_send_nbx(receiver_of(all, first + i)->to_it, out[i],
					   length(first + i), first + i, &none);
	}
	for (unsigned int i = 0; i < BATCH; i++) {
		request_await(all, sent[i]);
		request_await(all, received[i]);
		wrong += !message_is_right(in[i], first + i);
	}
	return wrong;
}

static void exchange_open(struct exchange *all)
{
	peer_open(&all->sender);
	for (unsigned int i = 0; i < all->num_receivers; i++) {
		peer_open(&all->receivers[i]);
		peer_connect(&all->sender, &all->receivers[i]);
	}
}

static void peer_close(struct peer *peer)
{
	ucp_worker_destroy(peer->worker);
	ucp_cleanup(peer->context);
}

static void exchange_close(struct exchange *all)
{
	const ucp_request_param_t none = { 0 };

	for (unsigned int i = 0; i < all->num_receivers; i++)
		request_await(all, ucp_ep_close_nbx(all->receivers[i].to_it, &none));
	peer_close(&all->sender);
	for (unsigned int i = 0; i < all->num_receivers; i++)
		peer_close(&all->receivers[i]);
}

int main(int argc, char **argv)
{
	struct exchange all = { .num_receivers = argc == 2 ? (unsigned int)atoi(argv[1]) : 1 };
	unsigned int wrong = 0;

	if (all.num_receivers < 1 || all.num_receivers > RECEIVERS_MAX)
		return 1;
	exchange_open(&all);
	for (unsigned int i = 0; i < BATCHES; i++)
		wrong += exchange_batch(&all, i * BATCH);
	exchange_close(&all);
	printf("%u of %u messages were wrong\n", wrong, BATCH * BATCHES);
	return wrong != 0;
}
