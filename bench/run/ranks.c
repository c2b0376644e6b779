#include "bench/run/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/run/plugin_file.h"
#include "bench/system/process.h"
#include "bench/system/text.h"

static const struct plugin_known *launched(const struct target *target)
{
	const struct plugin_known *known = plugin_known_find(target->plugin);

	return known && known->launcher ? known : NULL;
}

/* Of Open MPI, and of others that speak PMI. */
static int read_variable(const char *open_mpi, const char *others)
{
	const char *text = getenv(open_mpi);

	if (!text)
		text = getenv(others);
	return text ? (int)strtol(text, NULL, 10) : 0;
}

int ranks_own(const struct target *target)
{
	return launched(target) ?
		       read_variable("OMPI_COMM_WORLD_RANK", "PMI_RANK") : 0;
}

/* What cores on other hosts have to know, too. */
static const char *const passed_on[] = { "BENCH_ISA", "BENCH_PLUGIN" };

/* Which CPUs cores may use is up to bench; a help text for each exit code says
 * nothing that it does not; and who is to stop has an iteration to end. */
void ranks_words(const struct target *target, const char *hosts,
		 const char *words[RANKS_MOST_WORDS], char number[16])
{
	const struct plugin_known *known = launched(target);
	int at = 0;

	if (known) {
		snprintf(number, 16, "%d", target->cores);
		words[at++] = known->launcher;
		words[at++] = "--quiet";
		words[at++] = "--bind-to";
		words[at++] = "none";
		words[at++] = "--mca";
		words[at++] = "odls_base_sigkill_timeout";
		words[at++] = "5";
		for (size_t v = 0; v < 2; v++)
			if (getenv(passed_on[v])) {
				words[at++] = "-x";
				words[at++] = passed_on[v];
			}
		words[at++] = hosts ? "--host" : "--oversubscribe";
		if (hosts)
			words[at++] = hosts;
		words[at++] = "-np";
		words[at++] = number;
	}
	words[at] = NULL;
}

static void print_command(const struct target *target, const char *hosts,
			  char *text, size_t size)
{
	const char *words[RANKS_MOST_WORDS];
	char number[16];

	*text = '\0';
	ranks_words(target, hosts, words, number);
	for (int w = 0; words[w]; w++)
		text_append(text, size, "%s ", words[w]);
	text_append(text, size, "bench measure %s", target->name);
}

int ranks_check_launcher(const struct target *target, const char *hosts,
			 struct error *err)
{
	const struct plugin_known *known = launched(target);
	char command[400];

	if (!known || process_find_program(known->launcher))
		return 0;
	print_command(target, hosts, command, sizeof(command));
	return error_set(err, ERROR_USAGE, "target '%s': no %s in $PATH to "
			 "start its cores with; install package %s, or let "
			 "another launcher do what this does: %s", target->name,
			 known->launcher, known->launcher_package, command);
}

int ranks_check_started(const struct target *target, struct error *err)
{
	const int size = read_variable("OMPI_COMM_WORLD_SIZE", "PMI_SIZE");
	char command[400];

	if (!launched(target) || size == target->cores)
		return 0;
	print_command(target, NULL, command, sizeof(command));
	return error_set(err, ERROR_USAGE, "target '%s': %d of its %d cores "
			 "were started; bench run does it, or: %s",
			 target->name, size, target->cores, command);
}
