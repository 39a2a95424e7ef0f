/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event_test.c - channels of device events and subscriptions to them: what a program may ask for,
 * which events reach it and how, and what ends a subscription.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/devx/event.c"

enum { CHANNEL_FD = 20, EVENT_FD = 30, FIRST_COPY = 100, CQN = 0x77, COOKIE = 0x1234 };

struct event_channel {
	int number, references;
	void (*closed)(struct event_channel *channel);
	uint64_t sent, read;
	uint8_t message[sizeof(uint64_t) + PRM_EQE_SIZE]; /* the last */
	size_t len;
};

static struct event_channel made[3];
static struct {
	unsigned int channels;
	int create_error, lock_depth;
	int copies;      /* of eventfds, open */
	int copies_left; /* until there are no more */
	bool is_eventfd;
	unsigned int signals;
	bool has_cookie, has_fd;
	struct adapter other;
} it;

void events_lock(void)
{
	assert_int_equal(it.lock_depth++, 0);
}

void events_unlock(void)
{
	assert_int_equal(--it.lock_depth, 0);
}

int event_channel_create(struct call *call, const struct uverbs_file *file, enum channel_kind kind,
			 struct event_channel **channel, int *number)
{
	(void)call;
	assert_ptr_equal(file, &rig.file);
	assert_int_equal(kind, CHANNEL_DEVX_EVENTS);
	if (it.create_error)
		return it.create_error;
	*number = CHANNEL_FD + it.channels;
	*channel = &made[it.channels++];
	**channel = (struct event_channel){ .number = *number, .references = 1 };
	return 0;
}

void event_channel_put(struct event_channel *channel)
{
	assert_int_equal(it.lock_depth, 0);
	assert_int_equal(channel->references--, 1);
}

struct event_channel *event_channel_find(pid_t tid, const struct uverbs_file *file, int fd,
					 enum channel_kind kind)
{
	(void)tid;
	assert_ptr_equal(file, &rig.file);
	assert_int_equal(kind, CHANNEL_DEVX_EVENTS);
	for (unsigned int i = 0; i < it.channels; i++)
		if (made[i].number == fd)
			return &made[i];
	return NULL;
}

void event_channel_on_close(struct event_channel *channel,
			    void (*closed)(struct event_channel *channel))
{
	channel->closed = closed;
}

uint64_t event_channel_send(struct event_channel *channel, const void *message, size_t len)
{
	assert_int_equal(it.lock_depth, 1);
	assert_true(len <= sizeof(channel->message));
	memcpy(channel->message, message, len);
	channel->len = len;
	return ++channel->sent;
}

uint64_t event_channel_read_count(struct event_channel *channel)
{
	return channel->read;
}

void eventfd_signal(int fd)
{
	assert_true(fd >= FIRST_COPY);
	it.signals++;
}

bool eventfd_is(int fd)
{
	assert_true(fd >= FIRST_COPY);
	return it.is_eventfd;
}

int caller_fd_copy(const struct call *call, int fd)
{
	(void)call;
	if (fd != EVENT_FD || !it.copies_left)
		return -1;
	it.copies_left--;
	return FIRST_COPY + it.copies++;
}

/* Copies are no descriptors of this process. */
int __wrap_close(int fd)
{
	assert_true(fd >= FIRST_COPY);
	it.copies--;
	return 0;
}

struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	if ((id == MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM && !it.has_fd) ||
	    (id == MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE && !it.has_cookie))
		return NULL;
	return uc->attr;
}

/* ---- the test's calls ---- */

static struct devx_obj cq, qp;

static int event_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	it.copies_left = MAX_EVENTS;
	it.is_eventfd = true;
	rig.file.uid = 1;
	memset(&cq, 0, sizeof(cq));
	memset(&qp, 0, sizeof(qp));
	cq.made.name = (uint64_t)PRM_OP_CREATE_CQ << 32 | CQN;
	qp.made.name = (uint64_t)PRM_OP_CREATE_QP << 32 | CQN; /* the same number */
	return 0;
}

static int event_end(void **state)
{
	devx_event_forget_file(&rig.file);
	assert_true(LIST_EMPTY(&channels));
	assert_true(LIST_EMPTY(&subscriptions));
	assert_int_equal(it.copies, 0);
	assert_int_equal(it.lock_depth, 0);
	for (unsigned int i = 0; i < it.channels; i++)
		assert_int_equal(made[i].references, 0);
	return rig_end(state);
}

static int channel_asked(uint64_t flags)
{
	rig_in(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, &flags, sizeof(flags));
	return channel_alloc(&rig.call);
}

static struct event_channel *channel_made(uint64_t flags)
{
	assert_int_equal(channel_asked(flags), 0);
	return &made[it.channels - 1];
}

static int subscribed(int fd, struct devx_obj *obj, const uint16_t *events, size_t bytes)
{
	uint64_t cookie = COOKIE;

	it.has_cookie = !it.has_fd;
	rig.call.attr[0].data_s64 = fd;
	rig_in_object(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, (struct object *)obj);
	rig_in(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, &cookie, sizeof(cookie));
	rig_in(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, events, bytes);
	return subscribe(&rig.call);
}

static int subscribed_to_one(struct devx_obj *obj, uint16_t event)
{
	return subscribed(CHANNEL_FD, obj, &event, sizeof(event));
}

static int subscribed_with_eventfd(int32_t fd, const uint16_t *events, size_t bytes)
{
	int ret;

	it.has_fd = true;
	rig_in(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, &fd, sizeof(fd));
	ret = subscribed(CHANNEL_FD, &cq, events, bytes);
	it.has_fd = false;
	return ret;
}

static void device_reports(const struct adapter *adapter, unsigned int type, uint32_t field,
			   uint32_t number)
{
	uint8_t eqe[PRM_EQE_SIZE] = { 0 };

	fld_set(eqe, EQE_TYPE, type);
	fld_set(eqe, field, number);
	events_lock();
	devx_event_from_device(adapter, eqe);
	events_unlock();
}

static void cq_reports(unsigned int type)
{
	device_reports(&rig.adapter, type, type == PRM_EVENT_COMP ? EQE_COMP_CQN : EQE_CQ_ERROR_CQN,
		       CQN);
}

/* ---- channels ---- */

static void a_channel_has_one_flag(void **state)
{
	(void)state;
	assert_int_equal(channel_asked(2), EINVAL);
	it.create_error = EMFILE;
	assert_int_equal(channel_asked(0), EMFILE);
	assert_true(LIST_EMPTY(&channels));
	it.create_error = 0;
	rig.in_refused = MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS;
	assert_int_equal(channel_asked(0), EFAULT);
	rig.in_refused = UINT16_MAX;
	assert_int_equal(channel_asked(MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA), 0);
	assert_int_equal(
		*(const uint32_t *)rig_out(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 4),
		CHANNEL_FD);
}

static void subscriptions_end_with_their_channel(void **state)
{
	struct event_channel *channel = channel_made(0), *other = channel_made(0);
	const uint16_t event = PRM_EVENT_COMP;

	(void)state;
	assert_int_equal(subscribed(CHANNEL_FD, &cq, &event, sizeof(event)), 0);
	assert_int_equal(subscribed(CHANNEL_FD + 1, &cq, &event, sizeof(event)), 0);
	channel->closed(channel);
	assert_int_equal(channel->references, 0);
	cq_reports(PRM_EVENT_COMP);
	assert_int_equal(channel->sent, 0);
	assert_int_equal(other->sent, 1);
}

static void channels_end_with_their_file(void **state)
{
	struct event_channel *channel = channel_made(0);

	(void)state;
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_COMP), 0);
	devx_event_forget_file(&rig.file);
	assert_int_equal(channel->references, 0);
	assert_null(channel->closed); /* the program may close its end later */
	cq_reports(PRM_EVENT_COMP);
	assert_int_equal(channel->sent, 0);
}

static void subscriptions_end_with_their_object(void **state)
{
	struct event_channel *channel = channel_made(0);

	(void)state;
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_COMP), 0);
	assert_int_equal(subscribed_to_one(&qp, PRM_EVENT_COMM_EST), 0);
	assert_true(cq.is_watched);
	devx_event_forget(&cq);
	cq_reports(PRM_EVENT_COMP);
	assert_int_equal(channel->sent, 0);
	device_reports(&rig.adapter, PRM_EVENT_COMM_EST, EQE_QPN, CQN);
	assert_int_equal(channel->sent, 1);
}

/* ---- what reaches a program ---- */

static void a_message_has_the_cookie_and_the_event(void **state)
{
	struct event_channel *channel = channel_made(0);
	uint64_t cookie;

	(void)state;
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_CQ_ERROR), 0);
	cq_reports(PRM_EVENT_CQ_ERROR);
	assert_int_equal(channel->len, sizeof(cookie) + PRM_EQE_SIZE);
	memcpy(&cookie, channel->message, sizeof(cookie));
	assert_int_equal(cookie, COOKIE);
	assert_int_equal(fld_get(channel->message + sizeof(cookie), EQE_TYPE), PRM_EVENT_CQ_ERROR);
	assert_int_equal(fld_get(channel->message + sizeof(cookie), EQE_CQ_ERROR_CQN), CQN);
}

static void only_the_objects_own_events_arrive(void **state)
{
	struct event_channel *channel = channel_made(0);

	(void)state;
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_COMP), 0);
	assert_int_equal(subscribed_to_one(&qp, PRM_EVENT_COMP), 0); /* a QP has none */
	cq_reports(PRM_EVENT_CQ_ERROR);
	device_reports(&rig.adapter, PRM_EVENT_COMP, EQE_COMP_CQN, CQN + 1);
	device_reports(&it.other, PRM_EVENT_COMP, EQE_COMP_CQN, CQN);
	assert_int_equal(channel->sent, 0);
	cq_reports(PRM_EVENT_COMP);
	assert_int_equal(channel->sent, 1);
}

static void srqs_are_told_from_qps_by_their_creation(void **state)
{
	static const uint16_t srqs[] = { PRM_OP_CREATE_RMP, PRM_OP_CREATE_XRC_SRQ,
					 PRM_OP_CREATE_XRQ };
	struct event_channel *channel = channel_made(0);

	(void)state;
	assert_int_equal(subscribed_to_one(&qp, PRM_EVENT_SRQ_RQ_LIMIT), 0);
	for (unsigned int i = 0; i < 4; i++) {
		qp.made.name = (uint64_t)(i < 3 ? srqs[i] : PRM_OP_CREATE_QP) << 32 | CQN;
		device_reports(&rig.adapter, PRM_EVENT_SRQ_RQ_LIMIT, EQE_QPN, CQN);
		assert_int_equal(channel->sent, i < 3 ? i + 1 : 3);
	}
}

static void ports_have_no_object(void **state)
{
	struct event_channel *channel = channel_made(0);

	(void)state;
	assert_int_equal(subscribed_to_one(NULL, PRM_EVENT_PORT_CHANGE), 0);
	device_reports(&rig.adapter, PRM_EVENT_PORT_CHANGE, EQE_QPN, 5);
	assert_int_equal(channel->sent, 1);
}

static void without_data_one_message_waits_at_a_time(void **state)
{
	struct event_channel *channel = channel_made(MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);

	(void)state;
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_COMP), 0);
	cq_reports(PRM_EVENT_COMP);
	assert_int_equal(channel->len, sizeof(uint64_t));
	cq_reports(PRM_EVENT_COMP);
	assert_int_equal(channel->sent, 1);
	channel->read = 1;
	cq_reports(PRM_EVENT_COMP);
	cq_reports(PRM_EVENT_COMP);
	assert_int_equal(channel->sent, 2);
}

static void an_eventfd_is_signalled_instead(void **state)
{
	struct event_channel *channel = channel_made(0);
	const uint16_t event = PRM_EVENT_COMP;

	(void)state;
	assert_int_equal(subscribed_with_eventfd(EVENT_FD, &event, sizeof(event)), 0);
	cq_reports(PRM_EVENT_COMP);
	assert_int_equal(it.signals, 1);
	assert_int_equal(channel->sent, 0);
	assert_int_equal(it.copies, 1);
	devx_event_forget(&cq);
	assert_int_equal(it.copies, 0);
}

/* ---- refusals ---- */

static void a_program_without_commands_has_no_events(void **state)
{
	(void)state;
	channel_made(0);
	rig.file.uid = 0;
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_COMP), EINVAL);
}

static void a_wish_is_checked(void **state)
{
	uint16_t events[MAX_EVENTS + 1];

	(void)state;
	for (unsigned int i = 0; i <= MAX_EVENTS; i++)
		events[i] = PRM_EVENT_COMP;
	channel_made(0);
	assert_int_equal(subscribed(CHANNEL_FD + 1, &cq, events, 2), EBADF);
	assert_int_equal(subscribed(CHANNEL_FD, &cq, events, 3), EINVAL);
	assert_int_equal(subscribed(CHANNEL_FD, &cq, events, sizeof(events)), EINVAL);
	assert_int_equal(subscribed(CHANNEL_FD, &cq, events, 2 * MAX_EVENTS), 0);
	devx_event_forget(&cq);
	assert_int_equal(subscribed(CHANNEL_FD, NULL, events, 2), EINVAL); /* of objects alone */
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_PORT_CHANGE), EINVAL);
	events[1] = 0xff;
	assert_int_equal(subscribed(CHANNEL_FD, &cq, events, 4), EINVAL);
	rig.in_refused = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST;
	assert_int_equal(subscribed(CHANNEL_FD, &cq, events, 2), EFAULT);
	assert_true(LIST_EMPTY(&subscriptions));
}

static void a_channel_of_another_file_is_none(void **state)
{
	(void)state;
	channel_made(0);
	LIST_FIRST(&channels)->file = NULL;
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_COMP), EBADF);
	LIST_FIRST(&channels)->file = &rig.file;
}

static void an_eventfd_must_be_one(void **state)
{
	const uint16_t event = PRM_EVENT_COMP;

	(void)state;
	channel_made(0);
	assert_int_equal(subscribed_with_eventfd(-1, &event, sizeof(event)), EBADF);
	assert_int_equal(subscribed_with_eventfd(EVENT_FD + 1, &event, sizeof(event)), EBADF);
	it.is_eventfd = false;
	assert_int_equal(subscribed_with_eventfd(EVENT_FD, &event, sizeof(event)), EINVAL);
	assert_int_equal(it.copies, 0);
	assert_true(LIST_EMPTY(&subscriptions));
}

/* A cookie says which subscription it was; an eventfd says so itself. */
static void an_eventfd_has_no_cookie(void **state)
{
	int32_t fd = EVENT_FD;

	(void)state;
	channel_made(0);
	rig_in(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, &fd, sizeof(fd));
	it.has_fd = it.has_cookie = true;
	assert_int_equal(subscribe(&rig.call), EINVAL);
}

static void a_failure_takes_back_the_first_ones(void **state)
{
	const uint16_t events[] = { PRM_EVENT_CQ_ERROR, PRM_EVENT_COMP, PRM_EVENT_CQ_ERROR };
	struct event_channel *channel = channel_made(0);

	(void)state;
	assert_int_equal(subscribed_to_one(&cq, PRM_EVENT_COMP), 0);
	it.copies_left = 2;
	assert_int_equal(subscribed_with_eventfd(EVENT_FD, events, sizeof(events)), EBADF);
	assert_int_equal(it.copies, 0);
	cq_reports(PRM_EVENT_COMP); /* the one before is there */
	assert_int_equal(channel->sent, 1);
	assert_int_equal(it.signals, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, event_begin, event_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_channel_has_one_flag),
		TEST(subscriptions_end_with_their_channel),
		TEST(channels_end_with_their_file),
		TEST(subscriptions_end_with_their_object),
		TEST(a_message_has_the_cookie_and_the_event),
		TEST(only_the_objects_own_events_arrive),
		TEST(srqs_are_told_from_qps_by_their_creation),
		TEST(ports_have_no_object),
		TEST(without_data_one_message_waits_at_a_time),
		TEST(an_eventfd_is_signalled_instead),
		TEST(a_program_without_commands_has_no_events),
		TEST(a_wish_is_checked),
		TEST(a_channel_of_another_file_is_none),
		TEST(an_eventfd_must_be_one),
		TEST(an_eventfd_has_no_cookie),
		TEST(a_failure_takes_back_the_first_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
