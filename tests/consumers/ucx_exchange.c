/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ucx_exchange.c - ucx_exchange [RECEIVERS [all]]: UCX from one worker to others (1) of one
 * process: tagged messages go to them in turn and in batches, as many as complete in a turn of the
 * adapter, and each byte of them is checked. With "all", active messages, puts, gets and atomics
 * follow. Which transport and which completions there are is told by UCX' variables.
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
enum { AM_ID = 5, WINDOW = 1 << 20, ADDS = 100 };

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

static void peer_open(struct peer *peer, uint64_t features)
{
	ucp_params_t params = { .field_mask = UCP_PARAM_FIELD_FEATURES,
				.features = UCP_FEATURE_TAG | features };
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

/* Returns how many messages were wrong. */
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

struct arrivals {
	unsigned int next, wrong;
};

static ucs_status_t am_arrived(void *arg, const void *header, size_t header_length, void *data,
			       size_t len, const ucp_am_recv_param_t *param)
{
	struct arrivals *arrivals = arg;
	unsigned int n = arrivals->next++;

	(void)param;
	arrivals->wrong += header_length != sizeof(n) || memcmp(header, &n, sizeof(n)) ||
			   len != length(n) || !message_is_right(data, n);
	return UCS_OK;
}

/* They arrive in the order in which they were sent. */
static unsigned int exchange_active(const struct exchange *all)
{
	const ucp_request_param_t none = { 0 };
	struct arrivals arrivals = { 0 };
	ucp_am_handler_param_t handler = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
			      UCP_AM_HANDLER_PARAM_FIELD_ARG,
		.id = AM_ID,
		.cb = am_arrived,
		.arg = &arrivals,
	};
	const struct peer *receiver = &all->receivers[0];
	uint8_t out[SIZE];

	status_must(ucp_worker_set_am_recv_handler(receiver->worker, &handler), "a handler");
	for (unsigned int n = 0; n < BATCH; n++) {
		message_fill(out, n);
		request_await(all, ucp_am_send_nbx(receiver->to_it, AM_ID, &n, sizeof(n), out,
						   length(n), &none));
	}
	while (arrivals.next < BATCH) {
		ucp_worker_progress(all->sender.worker);
		ucp_worker_progress(receiver->worker);
	}
	return arrivals.wrong;
}

struct window {
	uint64_t *memory; /* WINDOW bytes */
	ucp_mem_h mapped;
	ucp_rkey_h key; /* the sender's */
};

static void window_open(const struct peer *receiver, struct window *window)
{
	ucp_mem_map_params_t params = { .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
						      UCP_MEM_MAP_PARAM_FIELD_LENGTH,
					.length = WINDOW };
	size_t size;
	void *packed;

	params.address = window->memory = aligned_alloc(4096, WINDOW);
	if (!window->memory)
		status_must(UCS_ERR_NO_MEMORY, "memory");
	memset(window->memory, 0, WINDOW);
	status_must(ucp_mem_map(receiver->context, &params, &window->mapped), "ucp_mem_map");
	status_must(ucp_rkey_pack(receiver->context, window->mapped, &packed, &size),
		    "ucp_rkey_pack");
	status_must(ucp_ep_rkey_unpack(receiver->to_it, packed, &window->key), "the key");
	ucp_rkey_buffer_release(packed);
}

static void window_close(const struct peer *receiver, struct window *window)
{
	ucp_rkey_destroy(window->key);
	status_must(ucp_mem_unmap(receiver->context, window->mapped), "ucp_mem_unmap");
	free(window->memory);
}

static void endpoint_flush(const struct exchange *all)
{
	const ucp_request_param_t none = { 0 };

	request_await(all, ucp_ep_flush_nbx(all->receivers[0].to_it, &none));
}

/* What was put there is what comes from there, for each length. */
static unsigned int put_and_get(const struct exchange *all, const struct window *window)
{
	static const size_t sizes[] = { 1, 8, 100, 4096, 65536, WINDOW };
	static uint8_t out[WINDOW], in[WINDOW];
	const ucp_request_param_t none = { 0 };
	ucp_ep_h ep = all->receivers[0].to_it;
	uint64_t at = (uintptr_t)window->memory;
	unsigned int wrong = 0;

	for (unsigned int n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		for (size_t i = 0; i < sizes[n]; i++)
			out[i] = byte_of(n, i);
		memset(in, 0, sizes[n]);
		request_await(all, ucp_put_nbx(ep, out, sizes[n], at, window->key, &none));
		endpoint_flush(all);
		wrong += memcmp(window->memory, out, sizes[n]) != 0;
		request_await(all, ucp_get_nbx(ep, in, sizes[n], at, window->key, &none));
		endpoint_flush(all);
		wrong += memcmp(in, out, sizes[n]) != 0;
	}
	return wrong;
}

/* BYTES are 4 or 8. The CPU is little-endian, as UCX' adapters want it. */
static uint64_t atomic_of(const struct exchange *all, const struct window *window, size_t bytes,
			  ucp_atomic_op_t operation, uint64_t value, uint64_t reply)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
						      UCP_OP_ATTR_FIELD_REPLY_BUFFER,
				      .datatype = ucp_dt_make_contig(bytes),
				      .reply_buffer = &reply };

	request_await(all, ucp_atomic_op_nbx(all->receivers[0].to_it, operation, &value, 1,
					     (uintptr_t)window->memory, window->key, &param));
	return reply;
}

static uint64_t atomic(const struct exchange *all, const struct window *window,
		       ucp_atomic_op_t operation, uint64_t value, uint64_t reply)
{
	return atomic_of(all, window, 8, operation, value, reply);
}

/* Adapters do these by masks, so they must leave the 4 bytes behind a value of 4 alone. */
static unsigned int combine(const struct exchange *all, const struct window *window, size_t bytes)
{
	static const struct {
		ucp_atomic_op_t operation;
		uint64_t value, before, after;
	} steps[] = {
		{ UCP_ATOMIC_OP_SWAP, 0xfffffff0, 0x12345678, 0xfffffff0 },
		{ UCP_ATOMIC_OP_ADD, 0x0f, 0xfffffff0, 0xffffffff },
		{ UCP_ATOMIC_OP_AND, 0xff00ff00, 0xffffffff, 0xff00ff00 },
		{ UCP_ATOMIC_OP_OR, 0x000f0001, 0xff00ff00, 0xff0fff01 },
		{ UCP_ATOMIC_OP_XOR, 0xf0f0f0f0, 0xff0fff01, 0x0fff0ff1 },
		{ UCP_ATOMIC_OP_ADD, 0xf000f00f, 0x0fff0ff1, 0x100000000 },
	};
	const uint64_t mask = bytes == 4 ? UINT32_MAX : UINT64_MAX, rest = ~mask & 0xabcdULL << 32;
	unsigned int wrong = 0;

	*window->memory = 0x12345678 | rest;
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		wrong += atomic_of(all, window, bytes, steps[i].operation, steps[i].value, 0) !=
			 steps[i].before;
		wrong += *window->memory != ((steps[i].after & mask) | rest);
	}
	return wrong;
}

static unsigned int add_and_swap(const struct exchange *all, const struct window *window)
{
	unsigned int wrong = 0;

	*window->memory = 0;
	for (uint64_t n = 0; n < ADDS; n++)
		wrong += atomic(all, window, UCP_ATOMIC_OP_ADD, 7, 0) != n * 7;
	/* Who compares says the new value where the old one comes. */
	wrong += atomic(all, window, UCP_ATOMIC_OP_CSWAP, 1, 5) != ADDS * 7;
	wrong += *window->memory != ADDS * 7;
	wrong += atomic(all, window, UCP_ATOMIC_OP_CSWAP, ADDS * 7, 5) != ADDS * 7;
	wrong += *window->memory != 5;
	return wrong + combine(all, window, 4) + combine(all, window, 8);
}

static unsigned int exchange_all(const struct exchange *all)
{
	unsigned int wrong = exchange_active(all);
	struct window window;

	window_open(&all->receivers[0], &window);
	wrong += put_and_get(all, &window);
	wrong += add_and_swap(all, &window);
	window_close(&all->receivers[0], &window);
	return wrong;
}

static void exchange_open(struct exchange *all, uint64_t features)
{
	peer_open(&all->sender, features);
	for (unsigned int i = 0; i < all->num_receivers; i++) {
		peer_open(&all->receivers[i], features);
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
	struct exchange all = { .num_receivers = argc > 1 ? (unsigned int)atoi(argv[1]) : 1 };
	bool has_all = argc > 2 && !strcmp(argv[2], "all");
	unsigned int wrong = 0;

	if (all.num_receivers < 1 || all.num_receivers > RECEIVERS_MAX)
		return 1;
	exchange_open(&all, has_all ? UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 |
					      UCP_FEATURE_AMO64
				    : 0);
	for (unsigned int i = 0; i < BATCHES; i++)
		wrong += exchange_batch(&all, i * BATCH);
	if (has_all)
		wrong += exchange_all(&all);
	exchange_close(&all);
	printf("%u of %u messages were wrong\n", wrong, BATCH * BATCHES);
	return wrong != 0;
}
