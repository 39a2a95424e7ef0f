/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - man-errors PLACE [PAGE...|--list]: runs the cases of a place. For each it prints
 *
 *	page TAB errno promised TAB words of the page TAB errno given TAB errno left
 *
 * The cases of a page run in a child. One that crashes or hangs ends the child; the next child goes
 * on behind it. The line "end: N cases" is the last.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors.h"

enum { MAX_CASES = 1024, CASE_SECONDS = 30 };

static struct error_case cases[MAX_CASES];
static size_t num_cases;

/* What the child has come to, which the parent reads when the child has died. */
static volatile size_t *reached;

void error_case_add(const struct error_case *c)
{
	MUST(num_cases < MAX_CASES);
	cases[num_cases++] = *c;
}

int errno_of_object(bool is_there)
{
	return is_there ? 0 : errno ? errno : -1;
}

int errno_of_return(int ret)
{
	return ret >= 0 ? ret : errno_of_object(false);
}

int errno_of_size(long ret)
{
	return errno_of_object(ret >= 0);
}

void adapter_fault(const char *text)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("ERRORS_CONTROL");
	char answer[128];
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	MUST(path && strlen(path) < sizeof(addr.sun_path) && fd >= 0);
	strcpy(addr.sun_path, path);
	MUST(!bind(fd, (struct sockaddr *)&(struct sockaddr_un){ .sun_family = AF_UNIX },
		   sizeof(sa_family_t))); /* an address for the answer */
	MUST(sendto(fd, text, strlen(text), 0, (void *)&addr, sizeof(addr)) > 0);
	MUST(recv(fd, answer, sizeof(answer), 0) >= 2 && !memcmp(answer, "ok", 2));
	close(fd);
}

struct ibv_context *devx_refused(struct bed *bed)
{
	struct ibv_context *ctx;

	adapter_fault("cmd:1=EINVAL");
	ctx = ibv_open_device(bed->device);
	if (!ctx)
		ctx = ibv_open_device(bed->device);
	MUST(ctx);
	return ctx;
}

void capabilities_drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	MUST(!syscall(SYS_capset, &header, none));
}

void descriptors_end(void)
{
	int fd = dup(0);
	struct rlimit limit = { (rlim_t)fd, (rlim_t)fd };

	MUST(fd >= 0 && !close(fd));
	MUST(!setrlimit(RLIMIT_NOFILE, &limit));
}

struct ibv_qp_init_attr bed_qp_attr(struct bed *bed)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.send_cq = bed->cq,
		.recv_cq = bed->cq,
		.cap = { .max_send_wr = 16,
			 .max_recv_wr = 16,
			 .max_send_sge = 4,
			 .max_recv_sge = 4,
			 .max_inline_data = 64 },
	};
}

struct ibv_qp_init_attr_ex bed_qp_attr_ex(struct bed *bed)
{
	struct ibv_qp_init_attr basic = bed_qp_attr(bed);
	struct ibv_qp_init_attr_ex attr = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = bed->pd };

	attr.qp_type = basic.qp_type;
	attr.send_cq = basic.send_cq;
	attr.recv_cq = basic.recv_cq;
	attr.cap = basic.cap;
	return attr;
}

struct ibv_qp *bed_qp(struct bed *bed, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = bed_qp_attr(bed);
	struct ibv_qp *qp;

	attr.qp_type = type;
	qp = ibv_create_qp(bed->pd, &attr);
	MUST(qp);
	return qp;
}

struct ibv_srq *bed_srq(struct bed *bed)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 2 } };
	struct ibv_srq *srq = ibv_create_srq(bed->pd, &attr);

	MUST(srq);
	return srq;
}

struct ibv_qp *bed_rts(struct bed *bed)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_RC);

	rig_qp_to(&bed->rig, &conf, qp, qp->qp_num, IBV_QPS_RTS);
	return qp;
}

void bed_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	MUST(!ibv_modify_qp(
		qp, &attr, mask | (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
}

void bed_to_rts_ud(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };

	bed_to_init(qp);
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void bed_open(struct bed *bed)
{
	rig_open(&bed->rig);
	bed->ctx = bed->rig.ctx;
	bed->device = bed->ctx->device;
	bed->pd = ibv_alloc_pd(bed->ctx);
	bed->cq = ibv_create_cq(bed->ctx, 64, NULL, NULL, 0);
	bed->buf = aligned_alloc(4096, BED_BUF);
	MUST(bed->pd && bed->cq && bed->buf);
	memset(bed->buf, 0, BED_BUF);
	bed->mr = ibv_reg_mr(bed->pd, bed->buf, BED_BUF, IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE);
	bed->rc = bed_qp(bed, IBV_QPT_RC);
	bed->other = ibv_open_device(bed->device);
	MUST(bed->mr && bed->other);
	bed->other_pd = ibv_alloc_pd(bed->other);
	bed->other_cq = ibv_create_cq(bed->other, 16, NULL, NULL, 0);
	MUST(bed->other_pd && bed->other_cq);
}

static const char *result_name(int result)
{
	static char number[16];
	const char *name = result > 0 ? strerrorname_np(result) : NULL;

	if (name)
		return name;
	snprintf(number, sizeof(number), "%d", result);
	return result == 0 ? "0" : result == NO_SUCH_CALL ? "no-such-call" : number;
}

static void result_print(const struct error_case *c, const char *given, const char *left)
{
	printf("%s\t%s\t%s\t%s\t%s\n", c->page, c->err, c->words, given, left);
	fflush(stdout);
}

/* Whether the file that ERRORS_LEFT_OUT names has a line for the case, which would never end. */
static bool is_left_out(const struct error_case *c)
{
	const char *path = getenv("ERRORS_LEFT_OUT");
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[512], wanted[512];
	bool found = false;

	snprintf(wanted, sizeof(wanted), "%s\t%s\t%s\n", c->page, c->err, c->words);
	while (file && !found && fgets(line, sizeof(line), file))
		found = !strcmp(line, wanted);
	if (file)
		fclose(file);
	return found;
}

static bool is_of(const struct error_case *c, const char *page, unsigned int place)
{
	return (c->places & place) && !strcmp(c->page, page);
}

/* The child: runs the cases of PAGE from FIRST on. */
static void cases_run(const char *page, unsigned int place, size_t first)
{
	struct bed bed = { 0 };

	alarm(CASE_SECONDS);
	if (place != ON_BARE)
		bed_open(&bed);
	for (size_t i = first; i < num_cases; i++) {
		int result;

		if (!is_of(&cases[i], page, place))
			continue;
		*reached = i;
		if (is_left_out(&cases[i])) {
			result_print(&cases[i], "left-out", "-");
			continue;
		}
		alarm(CASE_SECONDS);
		errno = 0;
		result = cases[i].run(&bed);
		result_print(&cases[i], result_name(result), strdup(result_name(errno)));
	}
	fflush(stdout);
	_exit(0);
}

static bool are_left(const char *page, unsigned int place, size_t first)
{
	while (first < num_cases && !is_of(&cases[first], page, place))
		first++;
	return first < num_cases;
}

/* Runs the cases of a page, in further children behind each case that ends one. */
static void page_run(const char *page, unsigned int place, size_t first)
{
	int status;

	for (; are_left(page, place, first); first = *reached + 1) {
		pid_t child;

		*reached = num_cases;
		fflush(stdout);
		child = fork();
		MUST(child >= 0);
		if (!child)
			cases_run(page, place, first);
		MUST(waitpid(child, &status, 0) == child);
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			return;
		if (*reached == num_cases) { /* before its first case */
			printf("FAIL: page %s does not begin\n", page);
			exit(1);
		}
		result_print(&cases[*reached],
			     WIFSIGNALED(status) ? WTERMSIG(status) == SIGALRM ? "hangs" : "crashes"
						 : "no-set-up",
			     "-");
	}
}

static unsigned int place_of(const char *name)
{
	static const char *const names[] = { "ib", "roce", "mlx4", "dying", "bare", "wrapped" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (name && !strcmp(name, names[i]))
			return 1u << i;
	fprintf(stderr, "man-errors ib|roce|mlx4|dying|bare|wrapped [PAGE...]\n");
	exit(2);
}

static bool is_wanted(const char *page, char **wanted)
{
	if (!*wanted)
		return true;
	for (; *wanted; wanted++)
		if (!strcmp(page, *wanted))
			return true;
	return false;
}

/* Whether an earlier case of the place is of the same page. */
static bool is_done(size_t i, unsigned int place)
{
	for (size_t k = 0; k < i; k++)
		if (is_of(&cases[k], cases[i].page, place))
			return true;
	return false;
}

static int pages_list(unsigned int place)
{
	for (size_t i = 0; i < num_cases; i++)
		if ((cases[i].places & place) && !is_done(i, place))
			printf("%s\n", cases[i].page);
	printf("end: %zu cases\n", num_cases);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int place = place_of(argc > 1 ? argv[1] : NULL);
	size_t ran = 0;

	if (argc > 2 && !strcmp(argv[2], "--list"))
		return pages_list(place);
	reached = mmap(NULL, sizeof(*reached), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	MUST(reached != MAP_FAILED);
	for (size_t i = 0; i < num_cases; i++) {
		if (!(cases[i].places & place) || !is_wanted(cases[i].page, argv + 2))
			continue;
		ran++;
		if (!is_done(i, place))
			page_run(cases[i].page, place, i);
	}
	printf("end: %zu cases\n", ran);
	return ran ? 0 : 1;
}
