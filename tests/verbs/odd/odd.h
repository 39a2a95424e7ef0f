/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odd.h - tables of calls and of their arguments.
 *
 * A call has a list of arguments. An argument has a good value, made when it is needed, and odd
 * ones: a number or NULL, or a field of what it points to. run.c makes the call with good values,
 * and once more for each odd value of each argument, in a process each, and prints one line:
 *
 *	ibv_create_cq(cqe -1): NULL errno EINVAL
 *	ibv_create_qp(attr.cap.max_send_wr all ones): NULL errno EINVAL
 *	ibv_query_gid_ex(entry NULL): signal SEGV
 *
 * Functions take at most MAX_ARGS integers or pointers, which processors that softhca runs on pass
 * alike, whatever their types are; so one type of pointer calls them all.
 */
#ifndef TESTS_VERBS_ODD_H
#define TESTS_VERBS_ODD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#define MAX_ARGS   8
#define MAX_VALUES 6

enum odd_returns {
	ERRNO,      /* 0 or an errno */
	POLLED,     /* the same, but ENOENT means an empty queue */
	MINUS_ONE,  /* 0, or -1 and errno */
	DESCRIPTOR, /* a descriptor or a count, or -1 and errno */
	OBJECT,     /* NULL and errno, or anything else */
	NUMBER,     /* of 32 bits */
	YES_NO,     /* of type bool */
	NOTHING,
};

struct odd_value {
	const char *name;
	long value;
	void *(*make)(void); /* instead of VALUE */
};

struct odd_field {
	const char *name;
	size_t offset, size;
	bool is_pointer; /* its odd value is NULL; a number has the odd values all ones, and 0 */
};

struct odd_arg {
	const char *name;
	long good;
	void *(*make)(void);                 /* instead of GOOD */
	struct odd_value values[MAX_VALUES]; /* up to the first without a name */
	const struct odd_field *fields; /* of what MAKE returns, up to the first without a name */
	bool is_out;                    /* an area that the call may write if it succeeds */
};

typedef long (*odd_function)(long, long, long, long, long, long, long, long);

struct odd_call {
	const char *name;
	enum odd_returns returns;
	odd_function function; /* of an inline call; exported ones are looked up by their names */
	const struct odd_arg *args[MAX_ARGS];
};

struct odd_order {
	const char *name;
	void (*run)(void);
};

struct odd_family {
	const char *name;
	const struct odd_call *calls;
	size_t count;
	const struct odd_order *orders;
	size_t orders_count;
};

#define ODD_FAMILY(family_name, calls_table)                           \
	const struct odd_family odd_##family_name = {                  \
		.name = #family_name,                                  \
		.calls = (calls_table),                                \
		.count = sizeof(calls_table) / sizeof(calls_table[0]), \
	}

/* An argument that one call has: a number, an area, and a structure that MAKE returns. */
#define V(value_name, number)                 \
	{                                     \
		value_name, .value = (number) \
	}
#define NUMBER_ARG(arg_name, good_value, ...)                                     \
	&(const struct odd_arg)                                                   \
	{                                                                         \
		.name = arg_name, .good = (good_value), .values = { __VA_ARGS__ } \
	}
#define OUT_ARG(arg_name)                                                    \
	&(const struct odd_arg)                                              \
	{                                                                    \
		.name = arg_name, .is_out = true, .values = { V("NULL", 0) } \
	}
#define ATTR_ARG(arg_name, maker, attr_fields)                                                     \
	&(const struct odd_arg)                                                                    \
	{                                                                                          \
		.name = arg_name, .make = maker, .fields = attr_fields, .values = { V("NULL", 0) } \
	}
/* One whose value is never odd. */
#define GOOD_ARG(maker)                       \
	&(const struct odd_arg)               \
	{                                     \
		.name = #maker, .make = maker \
	}

#define INLINE(call) ((odd_function)(void *)(call))
#define ODD_FIELD(type, field)                                                   \
	{                                                                        \
#field, offsetof(type, field), sizeof(((type *)0)->field), false \
	}
#define ODD_POINTER(type, field)                                                \
	{                                                                       \
#field, offsetof(type, field), sizeof(((type *)0)->field), true \
	}

extern const struct odd_family odd_device, odd_memory, odd_queues, odd_qp, odd_post, odd_flow,
	odd_cm, odd_rsocket, odd_mlx5dv, odd_devx, odd_steering, odd_mlx4dv, odd_orders;

/* run.c */
void odd_run(const struct odd_family *family);
/* The call said to return an errno has to leave it in errno, too, as programs look at either. */
extern bool odd_errno_is_set;
/* In the process of a call: prints RET of a call, as its line or a part of it. */
void odd_say(const char *call, enum odd_returns returns, long ret);
#define ODD_SAY(name, returns, call) (errno = 0, odd_say((name), (returns), (long)(call)))
/* Ends the process of the call, as an object that it needs does not exist. */
void odd_without(const char *what) __attribute__((noreturn));

/* objects.c: each is made once in a process. */
extern struct ibv_device *odd_ibv_device;
void *odd_context(void), *odd_other_context(void), *odd_open_device(void);
void *odd_pd(void), *odd_other_pd(void), *odd_buffer(void), *odd_mr(void), *odd_mw(void),
	*odd_dm(void), *odd_td(void), *odd_xrcd(void);
void *odd_channel(void), *odd_cq(void), *odd_cq_ex(void), *odd_other_cq(void), *odd_srq(void),
	*odd_wq(void), *odd_table(void), *odd_counters(void);
void *odd_qp_rc(void), *odd_qp_init(void), *odd_qp_rts(void), *odd_qp_ud(void), *odd_qp_raw(void),
	*odd_qp_ex(void), *odd_ah(void);
/* The attributes that lead one step on. */
void *odd_attr_init(void);
struct ibv_ah_attr odd_ah_attr(void);

/* args.c: arguments that calls of several families have. */
extern const struct odd_arg arg_context, arg_device, arg_pd, arg_mr, arg_mw, arg_dm, arg_cq,
	arg_cq_ex, arg_srq, arg_wq, arg_qp, arg_qp_init, arg_qp_rts, arg_qp_ex, arg_ah, arg_channel,
	arg_port, arg_out, arg_out2, arg_addr, arg_length, arg_access, arg_flags, arg_handle,
	arg_fd, arg_context_free, arg_index, arg_u16;

#endif
