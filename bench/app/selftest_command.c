/*
 * This program, started for each verdict and each exit code that it has. Most
 * of the commands that are compared only print what they took, in rows of their
 * own making, so that no load can change the verdict; where something is really
 * timed, the difference is a factor of four.
 */
#include "bench/app/selftest_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/system/file.h"
#include "bench/system/interrupt.h"
#include "bench/system/process.h"

#define SELF "/proc/self/exe"
#define PARENT "/proc/$PPID/exe" /* the same, in a shell */
#define MOST_WORDS 24
#define MOST_OUTPUT 16384

/* A small network, 20 iterations of about a millisecond. */
#define TINY "--model=tiny", "--dataset=synthetic", "--synthetic-train=640",   \
	     "--synthetic-test=10", "--warmup=1", "--steps=20"
#define MEASURE SELF " measure cpu-1 --model=tiny --dataset=synthetic "        \
		"--synthetic-train=640 --warmup=1 --epochs=1 --test=off -q "
#define CHECK SELF, "check", "--timeout=60", "--blocks=12"

/* sh play WHO EXPRESSION prints the row of a process that took as many
 * microseconds; n counts the processes of WHO. */
#define PLAY "sh ../play "
static const char play[] =
	"echo >>\"$1\"\n"
	"n=$(wc -l <\"$1\")\n"
	"echo schema,run_id,target,core,phase,epoch,iter,is_warmup,elapsed_s,"
	"loss,status\n"
	"printf 'bench/1,r,t,,step,1,1,0,0.%06d,2.3,ok\\n' $(($2))\n";

/* Of 12 blocks in the screen and 12 in the confirmation. */
struct test_case {
	const char *tried;
	int expected;
	const char *says; /* in its output, somewhere */
	/* Chance alone makes something else of it once in so many times. */
	int attempts;
	const char *words[MOST_WORDS];
};

static const struct test_case cases[] = {
	{ "two commands that take the same time", 0, "ok", 1,
	  { CHECK, "--base-cmd=" PLAY "base 100000",
	    "--head-cmd=" PLAY "head 100000" } },
	{ "9 % slower in each process", 1, "REGRESSION", 1,
	  { CHECK, "--base-cmd=" PLAY "base 100000",
	    "--head-cmd=" PLAY "head 109000" } },
	{ "9 % slower, but not when measured again", 0, "was not confirmed", 1,
	  { CHECK, "--base-cmd=" PLAY "base 100000",
	    "--head-cmd=" PLAY "head 'n <= 12 ? 109000 : 100000'" } },
	{ "each process 1.2 % slower than the last", 0, "ok", 1,
	  { CHECK, "--order-seed=1",
	    "--base-cmd=" PLAY "both '100000 + 1200 * n'",
	    "--head-cmd=" PLAY "both '100000 + 1200 * n'" } },
	{ "every other process takes twice as long", 3, "inconclusive", 1,
	  { CHECK, "--base-cmd=" PLAY "base 140000",
	    "--head-cmd=" PLAY "head '100000 * (1 + n % 2)'" } },
	{ "slower in fewer pairs than are needed", 3, "more blocks", 1,
	  { CHECK, "--blocks=6", "--base-cmd=" PLAY "base 100000",
	    "--head-cmd=" PLAY "head 109000" } },
	{ "four times the work, really timed", 1, "REGRESSION", 1,
	  { CHECK, "cpu-1", TINY, "--inject=300%" } },
	{ "a quarter of the work, really timed", 0, "faster", 1,
	  { CHECK, "--base-cmd=" MEASURE "--inject=300%",
	    "--head-cmd=" MEASURE } },
	{ "up to four times the work, by chance", 3, "inconclusive", 3,
	  { CHECK, "--base-cmd=" MEASURE "--inject=0-300%",
	    "--head-cmd=" MEASURE "--inject=0-300%" } },
	{ "slower than a baseline, really timed", 3, "slower (advisory)", 1,
	  { "sh", "-c", PARENT " baseline save made cpu-1 --model=tiny "
	    "--dataset=synthetic --synthetic-train=640 --steps=20 "
	    "--blocks=12 -q && " PARENT " check --baseline made --blocks=12 "
	    "--inject=300%" } },
	{ "a baseline saved under other settings", 3,
	  "environment variables", 1,
	  { "sh", "-c", PARENT " baseline save made null-1 --model=tiny "
	    "--dataset=synthetic --synthetic-train=640 --blocks=12 -q && "
	    "GOMP_SPINCOUNT=7 " PARENT " check --baseline made" } },
	{ "nothing to compare", 2, "nothing to compare", 1, { CHECK } },
	{ "a program that does not exist", 4, "no such program", 1,
	  { CHECK, "--base=./none" } },
	{ "an invalid file of noise floors", 5, "broken", 1,
	  { CHECK, "--base=" SELF, "--floors=../broken" } },
	{ "an invalid baseline", 5, "runs.csv:1", 1,
	  { SELF, "check", "--baseline=../none" } },
	{ "an invalid file of results", 5, "broken", 1,
	  { SELF, "table", "../broken" } },
	{ "a command that crashes", 6, "signal 11", 1,
	  { CHECK, "--base-cmd=" PLAY "base 100000",
	    "--head-cmd=sh -c 'kill -SEGV $$'" } },
	{ "a loss that is not a number", 6, "not a number", 1,
	  { CHECK, "cpu-1", TINY, "--lr=1e30", "--base=" SELF } },
	{ "another loss, from another seed", 6, "result changed", 1,
	  { CHECK, "--base-cmd=" MEASURE "--seed=1",
	    "--head-cmd=" MEASURE "--seed=2" } },
	{ "a folder that cannot be made", 7, "broken", 1,
	  { CHECK, "--base=" SELF, "--out=../broken/below" } },
	{ "Ctrl-C while it measures", 130, "interrupted", 1,
	  { CHECK, "--base-cmd=sh -c 'kill -INT $PPID; exec sleep 50'",
	    "--head-cmd=" PLAY "head 100000" } },
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

/* Where the cases live, and what the last one said. */
struct place {
	char folder[PATH_MAX], path[PATH_MAX + 24];
	char output[2 * MOST_OUTPUT];
};

static int make_error(const struct place *place, struct error *err)
{
	return error_set(err, ERROR_OUTPUT, "selftest cannot write %s: %s",
			 place->path, strerror(errno));
}

static const char *path_of(struct place *place, const char *name)
{
	snprintf(place->path, sizeof(place->path), "%s/%s", place->folder,
		 name);
	return place->path;
}

static int open_file(struct place *place, const char *name, struct error *err)
{
	const int fd = open(path_of(place, name),
			    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? make_error(place, err) : fd;
}

static int write_file(struct place *place, const char *name, const char *text,
		      struct error *err)
{
	const int fd = open_file(place, name, err);

	if (fd < 0)
		return -1;
	errno = file_write_all(fd, text, strlen(text));
	close(fd);
	return errno ? make_error(place, err) : 0;
}

static int make_place(struct place *place, struct error *err)
{
	if (file_make_scratch(place->folder, sizeof(place->folder),
			      "bench-selftest", err))
		return -1;
	if (mkdir(path_of(place, "none"), 0700))
		return make_error(place, err);
	return write_file(place, "play", play, err) ||
	       write_file(place, "broken", "broken\n", err) ||
	       write_file(place, "none/runs.csv", "broken\n", err) ? -1 : 0;
}

/* What it printed, and then what it said of it. */
static void read_output(struct place *place, const int fds[2])
{
	size_t used = 0;

	for (int i = 0; i < 2; i++) {
		ssize_t count = pread(fds[i], place->output + used,
				      MOST_OUTPUT - 1, 0);

		used += count > 0 ? (size_t)count : 0;
	}
	place->output[used] = '\0';
}

/* In a folder of its own, named after the case. */
static int start(struct place *place, const struct test_case *test, int number,
		 int attempt, struct process_status *status, struct error *err)
{
	struct process_setting setting = { 0 };
	char name[24], folder[sizeof(place->path)];
	int fds[2] = { open_file(place, "out", err),
		       open_file(place, "err", err) };
	int failed = fds[0] < 0 || fds[1] < 0;

	snprintf(name, sizeof(name), "%d-%d", number, attempt);
	snprintf(folder, sizeof(folder), "%s", path_of(place, name));
	if (!failed && mkdir(folder, 0700))
		failed = make_error(place, err);
	setting.folder = folder;
	setting.stdout_fd = fds[0];
	setting.stderr_fd = fds[1];
	if (!failed)
		failed = process_run(test->words, &setting, INFINITY, status,
				     err);
	if (!failed)
		read_output(place, fds);
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return failed ? -1 : 0;
}

static int is_as_expected(const struct place *place,
			  const struct test_case *test,
			  const struct process_status *status)
{
	return status->code == test->expected &&
	       strstr(place->output, test->says);
}

/* How it ended: "exit 3", or "other words" where only those are wrong. */
static void describe_end(char text[24], int right,
			 const struct test_case *test,
			 const struct process_status *status)
{
	if (status->signal)
		snprintf(text, 24, "signal %d", status->signal);
	else if (right || status->code != test->expected)
		snprintf(text, 24, "exit %d", status->code);
	else
		snprintf(text, 24, "other words");
}

/* One line of the report. */
static void print_line(FILE *out, const char *tried, const char *expected,
		       const char *got, const char *result)
{
	fprintf(out, "%-46s %-12s %-12s %s\n", tried, expected, got, result);
}

/* Indented; nothing in it steers a terminal. */
static void print_output(FILE *out, const char *output)
{
	int begins = 1;

	for (; *output; output++) {
		if (begins)
			fputs("  | ", out);
		begins = *output == '\n';
		fputc((unsigned char)*output < ' ' && !begins ? '?' : *output,
		      out);
	}
	if (!begins)
		fputc('\n', out);
}

/* Returns 0 if it ended as it has to, 1 if not; -1 and err if it could not be
 * tried. */
static int try_case(FILE *out, struct place *place, int number,
		    struct error *err)
{
	const struct test_case *test = &cases[number];
	struct process_status status;
	char expected[24], got[24];
	int right = 0;

	snprintf(expected, sizeof(expected), "exit %d", test->expected);
	for (int attempt = 0; !right && attempt < test->attempts; attempt++) {
		if (start(place, test, number, attempt, &status, err))
			return -1;
		if (interrupt_signal())
			return error_set(err, ERROR_STOPPED, "interrupted");
		right = is_as_expected(place, test, &status);
	}
	describe_end(got, right, test, &status);
	print_line(out, test->tried, expected, got, right ? "ok" : "WRONG");
	if (!right)
		print_output(out, place->output);
	fflush(out);
	return !right;
}

/* How many did not end as they have to; -1 and err if one was not tried. */
static int try_cases(FILE *out, struct place *place, struct error *err)
{
	int wrong = 0;

	print_line(out, "tried", "expected", "got", "");
	if (make_place(place, err))
		return -1;
	for (int i = 0; i < CASES; i++) {
		const int result = try_case(out, place, i, err);

		if (result < 0)
			return -1;
		wrong += result;
	}
	return wrong;
}

int selftest_command(const struct options *options, FILE *out, FILE *log,
		     struct error *err)
{
	struct place *place = calloc(1, sizeof(*place));
	int wrong;

	(void)options, (void)log;
	if (!place)
		return error_memory(err, "the output of cases");
	/* The first signal ends it soon, and with nothing left behind. */
	interrupt_install(1);
	wrong = try_cases(out, place, err);
	if (place->folder[0])
		file_remove_tree(place->folder);
	free(place);
	if (wrong < 0)
		return -1;
	if (!wrong)
		fprintf(out, "selftest: %d cases, all as expected\n", CASES);
	else
		fprintf(out, "selftest: %d of %d cases WRONG: do not trust "
			"bench check here\n", wrong, CASES);
	if (fflush(out) || ferror(out))
		return error_set(err, ERROR_OUTPUT,
				 "standard output could not be written");
	return wrong ? 1 : 0;
}
