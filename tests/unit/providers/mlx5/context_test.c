/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context_test.c - versions of CQEs that a kernel may choose, and what is asked of a kernel that
 * refuses DevX or descriptors.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "providers/mlx5/context.c"

static void cqes_have_version_0_or_1(void **state)
{
	struct mlx5_context ctx = { .caps.cqe_version = 0 };

	(void)state;
	for (int version = 0; version < 4; version++) {
		ctx.caps.cqe_version = (uint8_t)version;
		assert_int_equal(check_ucontext(&ctx), version > 1 ? ENOTSUP : 0);
	}
}

int __wrap_verbs_cmd_get_context_with(struct verbs_context *vctx, const struct verbs_udata *udata,
				      const struct ibv_fd_arr *fds);

enum { MOST_CALLS = 4 };

static struct {
	int err[MOST_CALLS]; /* what each call returns */
	bool devx[MOST_CALLS], has_fds[MOST_CALLS];
	int calls;
} kernel;

int __wrap_verbs_cmd_get_context_with(struct verbs_context *vctx, const struct verbs_udata *udata,
				      const struct ibv_fd_arr *fds)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 *req = udata->req;

	(void)vctx;
	assert_true(kernel.calls < MOST_CALLS);
	kernel.devx[kernel.calls] = req->flags & MLX5_IB_ALLOC_UCTX_DEVX;
	kernel.has_fds[kernel.calls] = fds != NULL;
	return kernel.err[kernel.calls++];
}

/* Each row has the kernel's answers and the calls that must be made: d asks for DevX, f passes
 * descriptors, "." does neither. */
static void a_kernel_is_asked_for_less_when_it_refuses(void **state)
{
	static const struct {
		bool fds;
		int err[MOST_CALLS];
		const char *calls;
		int ret, devx_refusal;
	} rows[] = {
		{ false, { 0 }, "d", 0, 0 },
		{ true, { 0 }, "df", 0, 0 },
		{ false, { EPROTONOSUPPORT, 0 }, "d .", 0, EPROTONOSUPPORT },
		{ false, { EINVAL, ENOMEM }, "d .", ENOMEM, EINVAL },
		{ true, { EINVAL, 0 }, "df f", 0, EINVAL },
		{ true, { EINVAL, EACCES }, "df f", EACCES, EINVAL },
		{ true, { EPROTONOSUPPORT, 0 }, "df d", 0, 0 },
		{ true, { EPROTONOSUPPORT, EINVAL, 0 }, "df d .", 0, EINVAL },
	};
	static const struct ibv_fd_arr fds;
	static struct verbs_device device;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct mlx5_context ctx = { .vctx.context.device = &device.device,
					    .fds = rows[i].fds ? &fds : NULL };
		char calls[32] = "";

		memset(&kernel, 0, sizeof(kernel));
		memcpy(kernel.err, rows[i].err, sizeof(kernel.err));
		assert_int_equal(get_ucontext(&ctx), rows[i].ret);
		for (int call = 0; call < kernel.calls; call++) {
			strcat(calls, call ? " " : "");
			strcat(calls, kernel.devx[call] ? "d" : "");
			strcat(calls, kernel.has_fds[call] ? "f" : "");
			strcat(calls, kernel.devx[call] || kernel.has_fds[call] ? "" : ".");
		}
		assert_string_equal(calls, rows[i].calls);
		assert_int_equal(ctx.devx_refusal, rows[i].devx_refusal);
		assert_int_equal(ctx.has_devx, kernel.devx[kernel.calls - 1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cqes_have_version_0_or_1),
		cmocka_unit_test(a_kernel_is_asked_for_less_when_it_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
