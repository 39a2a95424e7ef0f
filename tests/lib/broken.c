/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * broken.c - takes the place of a test program, for scripts-fail to see whether the script around
 * it notices. BROKEN in the environment says how it is broken: "crash", "hang", or "silent", which
 * ends with status 0 and says nothing.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

int main(void)
{
	const char *how = getenv("BROKEN");

	if (!how)
		return ibv_fork_init(); /* never, but it is linked with libibverbs as others are */
	if (!strcmp(how, "crash"))
		raise(SIGSEGV);
	while (!strcmp(how, "hang"))
		pause();
	return 0;
}
