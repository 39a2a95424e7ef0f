/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * imports.c - verbs-mlx4-imports [TOPIC...]: Linux' mlx4_ib does not support sharing a context
 * with a second process, so importing one or its objects fails with EOPNOTSUPP on all libraries.
 * "explained" requires a log line from each such call, as our libraries log at warn: set VERBS_LOG
 * accordingly.
 *
 * Covers: providers/mlx4/context.c, libibverbs/context.c
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

static bool import_context(struct rig *rig, struct ibv_pd *pd)
{
	int fd = dup(rig->ctx->cmd_fd);
	void *imported;

	(void)pd;
	MUST(fd >= 0);
	imported = SAY_PTR(ibv_import_device(fd), "import_device");
	close(fd);
	return imported;
}

static bool import_pd(struct rig *rig, struct ibv_pd *pd)
{
	return SAY_PTR(ibv_import_pd(rig->ctx, pd->handle), "import_pd");
}

static bool import_mr(struct rig *rig, struct ibv_pd *pd)
{
	(void)rig;
	return SAY_PTR(ibv_import_mr(pd, 0), "import_mr");
}

static bool import_dm(struct rig *rig, struct ibv_pd *pd)
{
	(void)pd;
	return SAY_PTR(ibv_import_dm(rig->ctx, 0), "import_dm");
}

static const struct {
	const char *name;
	bool (*run)(struct rig *rig, struct ibv_pd *pd);
} calls[] = {
	{ "import_device", import_context },
	{ "import_pd", import_pd },
	{ "import_mr", import_mr },
	{ "import_dm", import_dm },
};

static void imports_refused(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);

	MUST(pd);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		say_check(!calls[i].run(rig, pd) && errno == EOPNOTSUPP, "%s is refused",
			  calls[i].name);
	MUST(!ibv_dealloc_pd(pd));
}

/* What standard error gets meanwhile is kept in LINES. */
static void run_captured(size_t call, struct rig *rig, struct ibv_pd *pd, char *lines, size_t size)
{
	FILE *file = tmpfile();
	int error = dup(STDERR_FILENO);
	size_t count;

	MUST(file && error >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
	MUST(!calls[call].run(rig, pd));
	MUST(dup2(error, STDERR_FILENO) >= 0 && !close(error));
	rewind(file);
	count = fread(lines, 1, size - 1, file);
	lines[count] = '\0';
	fclose(file);
}

static void explained(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	char lines[1024];
	const char *end;

	MUST(pd);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		run_captured(i, rig, pd, lines, sizeof(lines));
		end = strchr(lines, '\n');
		say_check(end && !end[1], "%s: one line", calls[i].name);
		say_check(strstr(lines, calls[i].name) && strstr(lines, "not supported"),
			  "it names the call: %s", lines);
	}
	MUST(!ibv_dealloc_pd(pd));
}

static const struct rig_topic topics[] = {
	{ "refused", imports_refused },
	{ "explained", explained },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
