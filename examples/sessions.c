/* SPDX-License-Identifier: MIT */
/* Sessions of a program's own: a profile of the first rounds, and one of all but them.
 *
 *	proton record ./sessions && proton report --diff-profile first.hatchet others.hatchet
 *
 * It adds up numbers in scopes; the first rounds touch fresh memory. */
#include <proton/proton.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20, ROUNDS = 20, FIRST = 2 };

static double sum(const double *v)
{
	proton_scope("sum");
	double s = 0;

	for (int i = 0; i < N; i++)
		s += v[i];
	proton_scope_metric("flops64", N);
	return s;
}

static void fill(double *v, int round)
{
	proton_scope("fill");

	for (int i = 0; i < N; i++)
		v[i] = i % (round + 2);
}

/* A session is over, and its file is there; without a profiler there is none. */
static void end(int session, const char *name)
{
	int status = session < 0 ? session : proton_session_finalize(session, NULL);

	if (status == PROTON_OK)
		printf("%s.hatchet\n", name);
	else
		printf("no profile of the %s rounds: %s\n", name, proton_session_error());
}

int main(void)
{
	double *v = malloc(N * sizeof(*v)), total = 0;
	int session = proton_session_start("first", NULL);

	if (!v)
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		if (i == FIRST) {
			end(session, "first");
			session = proton_session_start("others", NULL);
		}
		fill(v, i);
		total += sum(v);
	}
	end(session, "others");
	printf("%.0f\n", total);
	free(v);
	return 0;
}
