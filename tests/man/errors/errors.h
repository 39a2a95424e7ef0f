/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * errors.h - cases of the sections ERRORS of the manual pages.
 *
 * A case names a page, an errno and words of the item that promises the errno, and makes the call
 * that is refused so. man-errors runs all cases of a page in a child with a context of its own, and
 * prints a line for each; tests/man/errors/compare reads the lines.
 */
#ifndef TESTS_MAN_ERRORS_H
#define TESTS_MAN_ERRORS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

/* Where a case runs; the words are arguments of man-errors. */
enum error_place {
	ON_IB = 1 << 0,
	ON_ROCE = 1 << 1,
	ON_MLX4 = 1 << 2,
	ON_DYING = 1 << 3,   /* an adapter that the case may kill */
	ON_BARE = 1 << 4,    /* no adapter and no device file */
	ON_WRAPPED = 1 << 5, /* an adapter that takes wrapped keys: tests/verbs/dv/secrets */
};

/* What the cases of a page share; made anew for each child. */
struct bed {
	struct rig rig;
	struct ibv_context *ctx; /* of the rig */
	struct ibv_device *device;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;         /* covers buf, every access */
	uint8_t *buf;              /* BED_BUF bytes */
	struct ibv_qp *rc;         /* in RESET */
	struct ibv_context *other; /* a second context, with objects of its own */
	struct ibv_pd *other_pd;
	struct ibv_cq *other_cq;
};

enum { BED_BUF = 64 << 10 };

struct ibv_qp *bed_rts(struct bed *bed);
struct ibv_qp_init_attr bed_qp_attr(struct bed *bed);
struct ibv_qp_init_attr_ex bed_qp_attr_ex(struct bed *bed);
struct ibv_qp *bed_qp(struct bed *bed, enum ibv_qp_type type);
struct ibv_srq *bed_srq(struct bed *bed);
void bed_to_init(struct ibv_qp *qp);
void bed_to_rts_ud(struct ibv_qp *qp);

/* A context that the kernel has refused DevX. A library that does not go on without it gets an
 * ordinary context. */
struct ibv_context *devx_refused(struct bed *bed);
void capabilities_drop(void);
void descriptors_end(void);

struct error_case {
	const char *page, *err, *words;
	unsigned int places;
	int (*run)(struct bed *bed);
};

void error_case_add(const struct error_case *c);

/* CASE(page, errno, words) { calls; return OBJ(call); } */
#define CASE(page, err, words)                  CASE_NAMED(ON_IB, #page, #err, words, __COUNTER__)
#define CASE_ON(places, page, err, words)       CASE_NAMED(places, #page, #err, words, __COUNTER__)
#define CASE_NAMED(places, page, err, words, n) CASE_MADE(places, page, err, words, n)
#define CASE_MADE(places_, page_, err_, words_, n)                       \
	static int case_##n(struct bed *bed);                            \
	static void __attribute__((constructor)) case_add_##n(void)      \
	{                                                                \
		error_case_add(&(struct error_case){ .page = page_,      \
						     .err = err_,        \
						     .words = words_,    \
						     .places = places_,  \
						     .run = case_##n }); \
	}                                                                \
	static int case_##n(struct bed *bed __attribute__((unused)))

/* The errno of a call that was refused, or 0: one that returns an object; one that returns an
 * errno, or less than 0 and sets errno; one that returns a number, or -1 and sets errno. */
#define OBJ(call)  (errno = 0, errno_of_object((call) != NULL))
#define RET(call)  (errno = 0, errno_of_return(call))
#define SIZE(call) (errno = 0, errno_of_size(call))
int errno_of_object(bool is_there);
int errno_of_return(int ret);
int errno_of_size(long ret);

/* Declares a call that older releases do not have; it is NULL there. */
#define NEWER(call) extern __typeof__(call) call __attribute__((weak))
/* What a case returns for a call that this release of the library does not have. */
#define NO_SUCH_CALL (-10000)

/* Makes the call again and again, and each time another of its allocations fails. The result is
 * ENOMEM if that was the answer each time, or the first other one. */
#define NO_MEMORY(call) NO_MEMORY_STORED(call, 0)
/* The same for a call that may have memory for up to COUNT objects in store. */
#define NO_MEMORY_STORED(call, count)                              \
	({                                                         \
		struct no_memory no_memory = { .store = (count) }; \
		while (no_memory_next(&no_memory))                 \
			no_memory.ret = (call);                    \
		no_memory_end(&no_memory);                         \
	})

enum { CELLS = 5000 /* small objects for which a provider may have memory */ };

struct no_memory {
	unsigned int n;     /* the allocation that fails */
	unsigned int store; /* further calls that may do without an allocation */
	int ret;
	bool refused; /* an allocation has failed, and the call said ENOMEM */
	int left;     /* errno after it */
};

bool no_memory_next(struct no_memory *m);
int no_memory_end(const struct no_memory *m);

/* Sends softhca a fault as "softhca fault" does. */
void adapter_fault(const char *text);

#endif
