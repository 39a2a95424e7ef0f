/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events_test.c - the library's own event queue: what it asks for, which events it acts on, and
 * that neither a flood of them nor a number that is wrong takes the program away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

#include "prm/mlx5/cmd.h"
#include "providers/mlx5/vfio/events.h"
#include "tests/unit/golden.h"
#include "util/bits.h"

#include "guarded.h"

enum {
	UAR = 3,
	EQN = 0x2a,
	ENTRIES = 256,
	EQE = 64,
	OWNER = 63,
	UAR_SIZE = 4096,
	ARM = 0x40,
	UPDATE = 0x48
};

static struct {
	uint8_t bar[8 * UAR_SIZE];
	struct vfio_cmdq cmdq;
	struct vfio_pages pages;
	struct vfio_events events;
	uint32_t uar;
	uint32_t written; /* events */
	uint32_t opcodes[8];
	unsigned int commands;
	int32_t changes[512];
	unsigned int num_changes;
	bool floods;
	int health;
	bool is_inherited; /* by a child of fork() */
	unsigned int losses;
	unsigned int looks; /* at the health, which end */
	uint32_t refused;   /* the function */
} rig;

int mlx5_vfio_cmdq_run(struct vfio_cmdq *cmdq, enum vfio_lane lane, const void *in, uint32_t inlen,
		       void *out, uint32_t outlen, bool *is_answered)
{
	const uint32_t opcode = (uint32_t)fld_get(in, CMD_IN_OPCODE);

	(void)cmdq;
	(void)lane;
	(void)inlen;
	(void)is_answered;
	memset(out, 0, outlen);
	fld_set(out, FLD(0x8, 31, 0), opcode == PRM_OP_CREATE_EQ ? EQN : rig.uar);
	rig.opcodes[rig.commands++ % ARRAY_SIZE(rig.opcodes)] = opcode;
	return 0;
}

bool mlx5_vfio_cmdq_is_inherited(const struct vfio_cmdq *cmdq)
{
	(void)cmdq;
	return rig.is_inherited;
}

int mlx5_vfio_cmdq_health(struct vfio_cmdq *cmdq)
{
	(void)cmdq;
	pthread_testcancel(); /* as the reset and its log do */
	rig.looks++;
	return rig.health;
}

int mlx5_vfio_cmdq_lose(struct vfio_cmdq *cmdq)
{
	(void)cmdq;
	rig.losses++;
	return EIO;
}

void mlx5_vfio_dma_put_pages(const struct vfio_dma *dma, void *pas)
{
	(void)dma;
	(void)pas;
}

static void event_write(uint8_t type, uint32_t pages)
{
	uint8_t *entry = (uint8_t *)rig.events.ring.dma.memory + rig.written % ENTRIES * EQE;

	entry[1] = type;
	fld_set(entry, FLD(0x24, 31, 0), pages);
	entry[OWNER] = (uint8_t)(rig.written++ / ENTRIES & 1);
}

int mlx5_vfio_pages_change(struct vfio_pages *pages, int32_t count)
{
	(void)pages;
	rig.changes[rig.num_changes++ % ARRAY_SIZE(rig.changes)] = count;
	if (rig.floods)
		event_write(0x0b, 1);
	/* no more than fits is unread, by what the adapter was told */
	assert_true(rig.written - fld_get(rig.bar + UAR * UAR_SIZE + UPDATE, FLD(0, 23, 0)) <=
		    ENTRIES);
	return count > 1000 ? ENOMEM : 0;
}

void mlx5_vfio_pages_refuse(struct vfio_pages *pages, uint32_t function)
{
	(void)pages;
	rig.refused = function;
}

static int rig_up(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	rig.cmdq.bar = rig.bar;
	rig.uar = UAR;
	assert_int_equal(mlx5_vfio_events_start(&rig.events, &rig.cmdq, &rig.pages, sizeof(rig.bar),
						eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
						eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
			 0);
	return 0;
}

static int rig_down(void **state)
{
	(void)state;
	mlx5_vfio_events_stop(&rig.events);
	assert_null(rig.cmdq.while_waiting);
	mlx5_vfio_events_free(&rig.events);
	close(rig.events.fd);
	close(rig.events.request_fd);
	assert_int_equal(guarded.in_use, 0);
	return 0;
}

static void check_armed(const char *register_hex)
{
	check_bytes(rig.bar + UAR * UAR_SIZE + ARM, register_hex);
}

static void a_queue_is_made_and_armed(void **state)
{
	(void)state;
	assert_int_equal(rig.commands, 2);
	assert_int_equal(rig.opcodes[0], PRM_OP_ALLOC_UAR);
	assert_int_equal(rig.opcodes[1], PRM_OP_CREATE_EQ);
	check_armed("2a000000");
}

static void requests_for_pages_are_served(void **state)
{
	(void)state;
	event_write(0x0b, 17);
	event_write(0x09, 5); /* a port */
	event_write(0x00, 5); /* a completion, which nobody asked for */
	event_write(0x0b, (uint32_t)-4);
	assert_int_equal(mlx5_vfio_events_process(&rig.events), 0);
	assert_int_equal(rig.num_changes, 2);
	assert_int_equal(rig.changes[0], 17);
	assert_int_equal(rig.changes[1], -4);
	check_armed("2a000004");
	assert_int_equal(mlx5_vfio_events_process(&rig.events), 0);
	assert_int_equal(rig.num_changes, 2);
}

static void the_first_error_is_returned_after_all_events(void **state)
{
	(void)state;
	event_write(0x0b, 2000);
	event_write(0x0b, 1);
	assert_int_equal(mlx5_vfio_events_process(&rig.events), ENOMEM);
	assert_int_equal(rig.num_changes, 2);
}

static void other_functions_get_no_pages(void **state)
{
	(void)state;
	fld_set((uint8_t *)rig.events.ring.dma.memory, FLD(0x20, 31, 0), 3);
	event_write(0x0b, 17);
	assert_int_equal(mlx5_vfio_events_process(&rig.events), 0);
	assert_int_equal(rig.num_changes, 0);
	assert_int_equal(rig.refused, 3);
}

static bool is_readable(void)
{
	struct pollfd pfd = { .fd = rig.events.shown_fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static void a_lost_device_is_said(void **state)
{
	(void)state;
	rig.health = EIO;
	event_write(0x0b, 2000); /* ENOMEM, which the loss comes before */
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(mlx5_vfio_events_process(&rig.events), EIO);
		assert_true(is_readable());
	}
	assert_int_equal(rig.num_changes, 1);
}

/* The registers are fine, but the host waits until the program closes the device. */
static void a_request_of_the_host_is_a_loss(void **state)
{
	const uint64_t one = 1;

	(void)state;
	assert_int_equal(write(rig.events.request_fd, &one, sizeof(one)), sizeof(one));
	assert_true(is_readable());
	event_write(0x0b, 1);
	assert_int_equal(mlx5_vfio_events_process(&rig.events), EIO);
	assert_true(rig.losses == 1 && rig.num_changes == 1);
	assert_true(is_readable());
}

static void a_descriptor_without_an_event_is_not_readable(void **state)
{
	const uint64_t one = 1;

	(void)state;
	assert_false(is_readable());
	assert_int_equal(write(rig.events.fd, &one, sizeof(one)), sizeof(one));
	assert_true(is_readable());
	assert_int_equal(mlx5_vfio_events_process(&rig.events), 0);
	assert_false(is_readable());
}

static void a_flood_of_events_ends(void **state)
{
	(void)state;
	event_write(0x0b, 1);
	rig.floods = true;
	assert_int_equal(mlx5_vfio_events_process(&rig.events), 0);
	assert_int_equal(rig.num_changes, ENTRIES);
	check_armed("2a000100");
}

/* The adapter drops events that find no room, so it learns of each that was read. */
static void a_full_queue_has_room_after_the_first_event(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ENTRIES; i++)
		event_write(0x0b, 1);
	rig.floods = true;
	assert_int_equal(mlx5_vfio_events_process(&rig.events), 0);
	assert_int_equal(rig.num_changes, ENTRIES);
}

/* A command may need the pages that an event asks for, so they are given while it waits. */
static void pages_are_given_while_a_command_waits(void **state)
{
	(void)state;
	rig.cmdq.while_waiting(rig.cmdq.waiting_arg);
	assert_int_equal(rig.num_changes, 0);
	event_write(0x0b, 9);
	assert_int_equal(pthread_mutex_lock(&rig.events.lock), 0);
	rig.cmdq.while_waiting(rig.cmdq.waiting_arg); /* another thread serves them */
	assert_int_equal(rig.num_changes, 0);
	pthread_mutex_unlock(&rig.events.lock);
	rig.cmdq.while_waiting(rig.cmdq.waiting_arg);
	assert_int_equal(rig.num_changes, 1);
	check_armed("2a000001");
}

static void *process_cancelled(void *arg)
{
	pthread_cancel(pthread_self());
	mlx5_vfio_events_process(&rig.events);
	return arg;
}

static void a_cancelled_thread_leaves_a_free_queue(void **state)
{
	pthread_t thread;

	(void)state;
	event_write(0x0b, 9);
	assert_int_equal(pthread_create(&thread, NULL, process_cancelled, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(rig.num_changes, 1);
	assert_int_equal(rig.looks, 1); /* or a reset would end halfway */
	assert_int_equal(pthread_mutex_trylock(&rig.events.lock), 0);
	pthread_mutex_unlock(&rig.events.lock);
}

/* The child lacks the queue's memory, and its lock may be taken for ever. */
static void a_child_takes_no_event_of_its_parent(void **state)
{
	(void)state;
	event_write(0x0b, 9);
	rig.is_inherited = true;
	pthread_mutex_lock(&rig.events.lock);
	assert_int_equal(mlx5_vfio_events_process(&rig.events), EIO);
	pthread_mutex_unlock(&rig.events.lock);
	assert_int_equal(rig.num_changes, 0);
	assert_int_equal(rig.looks, 0);
	rig.is_inherited = false;
	assert_int_equal(mlx5_vfio_events_process(&rig.events), 0);
	assert_int_equal(rig.num_changes, 1);
}

static void a_uar_beyond_the_registers_is_refused(void **state)
{
	uint32_t uar;

	(void)state;
	rig.uar = 7;
	assert_int_equal(mlx5_vfio_uar_number_alloc(&rig.cmdq, sizeof(rig.bar), &uar), 0);
	rig.uar = 8;
	assert_int_equal(mlx5_vfio_uar_number_alloc(&rig.cmdq, sizeof(rig.bar), &uar), EIO);
	rig.uar = 0xffffff;
	assert_int_equal(mlx5_vfio_uar_number_alloc(&rig.cmdq, sizeof(rig.bar), &uar), EIO);
}

#define T(test) cmocka_unit_test_setup_teardown(test, rig_up, rig_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_queue_is_made_and_armed),
		T(requests_for_pages_are_served),
		T(the_first_error_is_returned_after_all_events),
		T(other_functions_get_no_pages),
		T(a_lost_device_is_said),
		T(a_request_of_the_host_is_a_loss),
		T(a_descriptor_without_an_event_is_not_readable),
		T(a_flood_of_events_ends),
		T(a_full_queue_has_room_after_the_first_event),
		T(pages_are_given_while_a_command_waits),
		T(a_cancelled_thread_leaves_a_free_queue),
		T(a_child_takes_no_event_of_its_parent),
		T(a_uar_beyond_the_registers_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
