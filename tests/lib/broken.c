/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * broken.c - replaces a test program, so that scripts-fail can check whether the script around it
 * notices. BROKEN in the environment selects the failure: "crash", "hang", or "silent", which exits
 * with status 0 and prints nothing.
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
		return ibv_fork_init(); /* never called: links libibverbs, as other programs do */
	if (!strcmp(how, "crash"))
		raise(SIGSEGV);
	while (!strcmp(how, "hang"))
		pause();
	return 0;
}
