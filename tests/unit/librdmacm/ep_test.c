/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ep_test.c - the order of the calls by which an endpoint is made, and what is undone when one of
 * them fails. The calls are the test's own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/ep.c"

static struct cm_id cm;
static struct ibv_pd pd;
static struct ibv_qp qp;
static struct rdma_addrinfo res;
static struct ibv_qp_init_attr attr;
static char calls[64]; /* a letter for each call */
static char fails;     /* the call that fails, with ENODEV */

static int note_call(char letter)
{
	calls[strlen(calls)] = letter;
	errno = ENODEV;
	return letter == fails ? -1 : 0;
}

int rdmacm_id_create(struct rdma_event_channel *channel, void *context, enum rdma_port_space space,
		     enum ibv_qp_type type, struct cm_id **out)
{
	(void)context, (void)space;
	cm.waits = !channel;
	cm.id.qp_type = type;
	*out = &cm;
	return note_call('c') ? errno : 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	assert_ptr_equal(id, &cm.id);
	assert_ptr_equal(addr, res.ai_src_addr);
	return note_call('b');
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int ms)
{
	assert_ptr_equal(id, &cm.id);
	assert_ptr_equal(src, res.ai_src_addr);
	assert_ptr_equal(dst, res.ai_dst_addr);
	assert_int_equal(ms, 2000);
	return note_call('a');
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms)
{
	assert_ptr_equal(id, &cm.id);
	assert_int_equal(ms, 2000);
	return note_call('r');
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t len)
{
	assert_ptr_equal(id, &cm.id);
	assert_int_equal(level, RDMA_OPTION_IB);
	assert_int_equal(name, RDMA_OPTION_IB_PATH);
	assert_ptr_equal(value, res.ai_route);
	assert_int_equal(len, res.ai_route_len);
	return note_call('o');
}

int rdmacm_event_await(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	return note_call('e') ? errno : 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *of, struct ibv_qp_init_attr *with)
{
	assert_ptr_equal(of, &pd);
	assert_int_equal(with->qp_type, IBV_QPT_UD);
	id->qp = &qp;
	return note_call('q');
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	assert_ptr_equal(id->qp, &qp);
	note_call('Q');
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	(void)id;
	note_call('S');
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	return note_call(id == &cm.id ? 'C' : 'D');
}

/* What requests need. */
int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	(void)id;
	assert_null(channel);
	return note_call('m');
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t len)
{
	(void)id, (void)data, (void)len;
	return note_call('x');
}

void rdmacm_event_settle(struct rdma_cm_event *event)
{
	(void)event;
	note_call('s');
}

void rdmacm_event_release(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	note_call('l');
}

static struct cm_id request;
static struct rdma_cm_event event;

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
	(void)channel;
	*out = &event;
	return note_call('g');
}

int rdma_ack_cm_event(struct rdma_cm_event *one)
{
	assert_ptr_equal(one, &event);
	return note_call('k');
}

static int ep_begin(void **state)
{
	static struct sockaddr src, dst;

	(void)state;
	memset(&cm, 0, sizeof(cm));
	memset(&request, 0, sizeof(request));
	memset(calls, 0, sizeof(calls));
	fails = 0;
	res = (struct rdma_addrinfo){ .ai_src_addr = &src,
				      .ai_dst_addr = &dst,
				      .ai_qp_type = IBV_QPT_UD };
	attr = (struct ibv_qp_init_attr){ .qp_type = IBV_QPT_RC };
	event = (struct rdma_cm_event){ .id = &request.id, .event = RDMA_CM_EVENT_CONNECT_REQUEST };
	return 0;
}

static int ep_end(void **state)
{
	(void)state;
	free(cm.connect_data);
	free(cm.request_qp);
	return 0;
}

static void create_ep(struct ibv_qp_init_attr *with, int err, const char *want)
{
	struct rdma_cm_id *id = NULL;

	memset(calls, 0, sizeof(calls));
	memset(&cm, 0, sizeof(cm));
	errno = 0;
	assert_int_equal(rdma_create_ep(&id, &res, &pd, with), err ? -1 : 0);
	assert_string_equal(calls, want);
	if (err)
		assert_int_equal(errno, err);
	assert_ptr_equal(id, err ? NULL : &cm.id);
}

static void an_active_one_resolves_and_has_its_qp_last(void **state)
{
	(void)state;
	create_ep(&attr, 0, "carq");
	assert_int_equal(attr.qp_type, IBV_QPT_UD);
	create_ep(NULL, 0, "car");
}

static void a_known_route_is_set(void **state)
{
	char route[4];

	(void)state;
	res.ai_route = route;
	res.ai_route_len = sizeof(route);
	create_ep(&attr, 0, "caoeq");
	fails = 'o';
	create_ep(&attr, ENODEV, "caoC");
	fails = 'e';
	create_ep(&attr, ENODEV, "caoeC");
}

static void a_step_that_fails_ends_the_id(void **state)
{
	static const struct {
		char fails;
		const char *want;
	} rows[] = { { 'c', "c" }, { 'a', "caC" }, { 'r', "carC" }, { 'q', "carqQC" } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		fails = rows[i].fails;
		create_ep(&attr, ENODEV, rows[i].want);
	}
}

static void connect_data_is_copied(void **state)
{
	char data[RDMA_MAX_PRIVATE_DATA] = "to the peer";

	(void)state;
	res.ai_connect = data;
	res.ai_connect_len = sizeof(data);
	create_ep(NULL, EINVAL, "carC");
	res.ai_connect_len = sizeof(data) - 1;
	create_ep(NULL, 0, "car");
	assert_int_equal(cm.connect_len, sizeof(data) - 1);
	assert_memory_equal(cm.connect_data, data, sizeof(data) - 1);
	assert_ptr_not_equal(cm.connect_data, data);
}

static void a_passive_one_keeps_the_attributes_for_requests(void **state)
{
	(void)state;
	res.ai_flags = RAI_PASSIVE;
	create_ep(NULL, 0, "cb");
	assert_null(cm.request_qp);
	fails = 'b';
	create_ep(&attr, ENODEV, "cbC");
	fails = 0;
	create_ep(&attr, 0, "cb");
	assert_int_equal(cm.request_qp->qp_type, IBV_QPT_UD);
	assert_ptr_equal(cm.request_pd, &pd);
}

static void ask_for_request(int err, const char *want)
{
	struct rdma_cm_id *id = NULL;

	memset(calls, 0, sizeof(calls));
	assert_int_equal(rdma_get_request(&cm.id, &id), err ? -1 : 0);
	assert_string_equal(calls, want);
	if (err)
		assert_int_equal(errno, err);
	assert_ptr_equal(id, err ? NULL : &request.id);
}

static void a_request_becomes_an_id_with_a_qp(void **state)
{
	struct ibv_qp_init_attr of_requests = { .qp_type = IBV_QPT_UD };

	(void)state;
	ask_for_request(EINVAL, ""); /* refused, as the id has a channel of the program's */
	cm.waits = true;
	ask_for_request(0, "lgms");
	assert_ptr_equal(request.id.event, &event);
	cm.request_qp = &of_requests;
	cm.request_pd = &pd;
	ask_for_request(0, "lgmqs");
	fails = 'm';
	ask_for_request(ENODEV, "lgmxDk");
	fails = 'q';
	ask_for_request(ENODEV, "lgmqxDk");
	fails = 'g';
	ask_for_request(ENODEV, "lg");
	cm.request_qp = NULL;
}

static void another_event_is_an_error(void **state)
{
	(void)state;
	cm.waits = true;
	event.event = RDMA_CM_EVENT_DEVICE_REMOVAL;
	ask_for_request(EINVAL, "lgk");
	event.status = -ETIMEDOUT;
	ask_for_request(ETIMEDOUT, "lgk");
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, ep_begin, ep_end)
	const struct CMUnitTest tests[] = {
		TEST(an_active_one_resolves_and_has_its_qp_last),
		TEST(a_known_route_is_set),
		TEST(a_step_that_fails_ends_the_id),
		TEST(connect_data_is_copied),
		TEST(a_passive_one_keeps_the_attributes_for_requests),
		TEST(a_request_becomes_an_id_with_a_qp),
		TEST(another_event_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
