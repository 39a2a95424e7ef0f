/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counted_objects.h - stand-ins for the verbs objects of a socket. Each call that creates one is
 * counted, and the call of number counted.fails_at fails: a test thus fails each step of a creation
 * in turn, and sees by counted.objects whether the code under test has freed all others.
 *
 * Include it once in a test, after the source that it tests: it defines the calls of libibverbs.
 */
#ifndef TESTS_UNIT_LIBRDMACM_RSOCKET_COUNTED_OBJECTS_H
#define TESTS_UNIT_LIBRDMACM_RSOCKET_COUNTED_OBJECTS_H

enum { KEY = 0x77, REFUSED = EDOM };

static struct {
	int fails_at; /* number of the call that fails, from 1; 0: none */
	int calls, objects, acked;
} counted;

static struct ibv_context context;
static struct ibv_pd pd = { .context = &context };
static struct ibv_mr mr = { .lkey = KEY, .rkey = KEY };
static struct ibv_cq cq;
static struct ibv_comp_channel completions;
static struct ibv_qp qp = { .context = &context };

static bool call_fails(void)
{
	errno = REFUSED;
	return ++counted.calls == counted.fails_at;
}

static void *object_made(void *object)
{
	if (call_fails())
		return NULL;
	counted.objects++;
	return object;
}

static int object_gone(void)
{
	counted.objects--;
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *verbs)
{
	assert_ptr_equal(verbs, &context);
	return object_made(&completions);
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *of)
{
	assert_ptr_equal(of, &completions);
	return object_gone();
}

int ibv_destroy_cq(struct ibv_cq *of)
{
	assert_ptr_equal(of, &cq);
	return object_gone();
}

void ibv_ack_cq_events(struct ibv_cq *of, unsigned int count)
{
	assert_ptr_equal(of, &cq);
	counted.acked += (int)count;
}

/* The macro ibv_reg_mr() becomes this call if the access flags are not constant, so it is replaced
 * as well. */
struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *of, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	assert_true(iova == (uintptr_t)addr);
	return (ibv_reg_mr)(of, addr, length, (int)access);
}

#endif
