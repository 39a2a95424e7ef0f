/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eq_test.c - rings of events: whose entry is whose in each round, and the command that tells the
 * adapter of a ring.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "providers/mlx5/vfio/eq.h"
#include "tests/unit/golden.h"
#include "util/bits.h"

#include "guarded.h"

enum { EQE = 64, OWNER = 63, MANY = 8192 };

static struct {
	uint8_t in[MANY];
	uint32_t inlen;
	int ret;
} ran;

int mlx5_vfio_cmdq_run(struct vfio_cmdq *cmdq, enum vfio_lane lane, const void *in, uint32_t inlen,
		       void *out, uint32_t outlen, bool *is_answered)
{
	(void)cmdq;
	(void)lane;
	(void)out;
	(void)outlen;
	(void)is_answered;
	assert_true(inlen <= sizeof(ran.in));
	memcpy(ran.in, in, inlen);
	ran.inlen = inlen;
	return ran.ret;
}

void mlx5_vfio_dma_put_pages(const struct vfio_dma *dma, void *pas)
{
	for (uint32_t i = 0; i < dma->shape.count; i++)
		fld_set64(pas, i * 8, dma->iova + ((uint64_t)i << dma->shape.log_page));
}

/* What the program chose stays, but where the ring is and how long. */
static void a_ring_is_told_with_its_pages(void **state)
{
	struct vfio_ring ring = { .dma = { .shape = { .log_page = 14, .count = 2 },
					   .iova = 0x123400000000 },
				  .log_size = 9 };
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[16];

	(void)state;
	fld_set(in, FLD_IN(CREATE_EQ_IN_EQC, EQC_UAR_PAGE), 0x55);
	fld_set(in, FLD_IN(CREATE_EQ_IN_EQC, EQC_INTR), 3);
	fld_set(in, FLD_IN(CREATE_EQ_IN_EQC, EQC_PAGE_OFFSET), 0x3f);
	fld_set64(fld_at(in, CREATE_EQ_IN_EVENT_BITMASK), 0, 0xb00);
	assert_int_equal(mlx5_vfio_eq_create(NULL, &ring, in, sizeof(in), out, sizeof(out), NULL),
			 0);
	assert_int_equal(ran.inlen, 0x110 + 16);
	check_bytes(ran.in, "03010000 00000000 00000000 00000000"
			    "00000000 00000000 00000000 09000055 00000000 00000003 02000000");
	check_bytes(ran.in + 0x58, "00000000 00000b00");
	check_bytes(ran.in + 0x110, "00001234 00000000 00001234 00004000");
}

/* An entry whose body appears at the barrier behind its owner bit; see order_watch.h */
static struct {
	uint8_t *entry;
	uint32_t body;
} late;

void order_watch(enum order_barrier barrier)
{
	if (late.entry && barrier == DMA_LOAD)
		memcpy(late.entry, &late.body, sizeof(late.body));
}

static uint8_t *entry_of(const struct vfio_ring *ring, uint32_t number)
{
	return (uint8_t *)ring->dma.memory + (size_t)(number % (1u << ring->log_size)) * EQE;
}

static void event_write(const struct vfio_ring *ring, uint32_t number)
{
	uint8_t *entry = entry_of(ring, number);

	memcpy(entry, &number, sizeof(number));
	entry[OWNER] = (uint8_t)(number >> ring->log_size & 1);
}

static void event_expect(struct vfio_ring *ring, uint32_t number)
{
	const uint8_t *entry;

	assert_true(mlx5_vfio_ring_has_next(ring));
	entry = mlx5_vfio_ring_next(ring);
	assert_ptr_equal(entry, entry_of(ring, number));
	assert_memory_equal(entry, &number, sizeof(number));
}

static void nothing_is_read_before_the_owner_bit(void **state)
{
	struct vfio_ring ring;

	(void)state;
	assert_int_equal(mlx5_vfio_ring_alloc(NULL, 3, &ring), 0);
	for (uint32_t number = 0; number < 20; number++) {
		event_write(&ring, number);
		late.entry = entry_of(&ring, number);
		late.body = number;
		memset(late.entry, 0xee, sizeof(late.body));
		event_expect(&ring, number);
	}
	late.entry = NULL;
	mlx5_vfio_dma_free(NULL, &ring.dma);
}

static void nothing_is_in_a_new_ring(void **state)
{
	struct vfio_ring ring;

	(void)state;
	for (unsigned int log_size = 0; log_size <= 10; log_size++) {
		assert_int_equal(mlx5_vfio_ring_alloc(NULL, log_size, &ring), 0);
		assert_true(ring.dma.shape.length >= (uint64_t)EQE << log_size);
		for (uint32_t i = 0; i < 1u << log_size; i++)
			assert_int_equal(entry_of(&ring, i)[OWNER], 1);
		assert_false(mlx5_vfio_ring_has_next(&ring));
		assert_null(mlx5_vfio_ring_next(&ring));
		mlx5_vfio_dma_free(NULL, &ring.dma);
	}
}

/* For rounds of each parity, as the owner bit changes with each round, with each number of events
 * unread, up to a full ring. */
static void events_are_read_once_in_each_round(void **state)
{
	struct vfio_ring ring;

	(void)state;
	for (unsigned int log_size = 0; log_size <= 6; log_size += 2) {
		uint32_t written = 0, read = 0;

		assert_int_equal(mlx5_vfio_ring_alloc(NULL, log_size, &ring), 0);
		for (uint32_t burst = 1; written < 40u << log_size;
		     burst = burst % (1u << log_size) + 1) {
			for (uint32_t i = 0; i < burst; i++)
				event_write(&ring, written++);
			while (read < written)
				event_expect(&ring, read++);
			assert_null(mlx5_vfio_ring_next(&ring));
			assert_int_equal(ring.ci, read);
		}
		mlx5_vfio_dma_free(NULL, &ring.dma);
	}
}

static void the_counter_of_events_wraps(void **state)
{
	enum { LOG_SIZE = 2 };
	uint32_t number = 0u - 6;
	struct vfio_ring ring;

	(void)state;
	assert_int_equal(mlx5_vfio_ring_alloc(NULL, LOG_SIZE, &ring), 0);
	ring.ci = number;
	for (uint32_t i = number - 4; i != number; i++)
		event_write(&ring, i); /* read long ago */
	for (unsigned int i = 0; i < 20; i++) {
		assert_null(mlx5_vfio_ring_next(&ring));
		event_write(&ring, number);
		event_expect(&ring, number++);
	}
	mlx5_vfio_dma_free(NULL, &ring.dma);
}

static void a_ring_without_memory_is_refused(void **state)
{
	struct vfio_ring ring;

	(void)state;
	guarded.fails = true;
	assert_int_equal(mlx5_vfio_ring_alloc(NULL, 6, &ring), ENOMEM);
	guarded.fails = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_is_told_with_its_pages),
		cmocka_unit_test(nothing_is_read_before_the_owner_bit),
		cmocka_unit_test(nothing_is_in_a_new_ring),
		cmocka_unit_test(events_are_read_once_in_each_round),
		cmocka_unit_test(the_counter_of_events_wraps),
		cmocka_unit_test(a_ring_without_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
