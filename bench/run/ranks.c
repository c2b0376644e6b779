#include "bench/run/ranks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/run/plugin_file.h"
#include "bench/system/process.h"

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

int ranks_are_launched(const struct target *target)
{
	return launched(target) != NULL;
}

int ranks_of_host(const char *hosts, const char *host, int cores,
		  struct slice *ranks)
{
	size_t at = 0, most = (size_t)cores;

	while (hosts && *hosts) {
		const size_t name = strcspn(hosts, ":,");
		const char *number = hosts + name;
		size_t count = 1;

		if (*number == ':')
			count = strtoul(number + 1, NULL, 10);
		*ranks = (struct slice){ at, at + count < most ? at + count :
								 most };
		at = ranks->to;
		if (!host || (strlen(host) == name &&
			      !memcmp(host, hosts, name)))
			return 1;
		hosts += strcspn(hosts, ",");
		hosts += *hosts == ',';
	}
	return 0;
}

int ranks_here(const struct target *target, const char *hosts)
{
	const int here = launched(target) ?
		read_variable("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS") :
		0;
	struct slice ranks;

	if (here)
		return here;
	if (launched(target) &&
	    ranks_of_host(hosts, NULL, target->cores, &ranks))
		return (int)ranks.to;
	return target->cores;
}

static const char *const ending_words[] = { "setpriv", "--pdeathsig",
						    "KILL" };

/* Of the launcher, behind its name. */
static const char *const launcher_words[] = {
	"--bind-to", "none", /* which CPUs cores may use is up to bench */
	/* Who is to stop hears it by a signal that is passed on, and has all
	 * the time that it takes; who is to end does so at once. */
	"--mca", "odls_base_sigkill_timeout", "0",
	/* A host that is silent for 14 s is lost, and one that does not start
	 * in 20 s; of some neither hears (child.c: end_unmet). */
	"--mca", "oob_tcp_keepalive_time", "5",
	"--mca", "oob_tcp_keepalive_intvl", "3",
	"--mca", "oob_tcp_keepalive_probes", "3",
	"--mca", "orte_startup_timeout", "20",
};

/* What cores on other hosts have to know, too. */
static const char *const passed_on[] = { "BENCH_ISA", "BENCH_PLUGIN" };

void ranks_words(const struct target *target, const char *hosts,
		 const char *words[RANKS_MOST_WORDS], char number[16])
{
	const struct plugin_known *known = launched(target);
	int at = 0;

	if (known) {
		snprintf(number, 16, "%d", target->cores);
		/* It ends with us, and its cores with it; asked politely it
		 * would wait for a host that is lost. */
		if (process_find_program("setpriv"))
			for (size_t w = 0; w < 3; w++)
				words[at++] = ending_words[w];
		words[at++] = known->launcher;
		for (size_t w = 0; w < sizeof(launcher_words) /
					       sizeof(*launcher_words); w++)
			words[at++] = launcher_words[w];
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
	snprintf(text, size, "%s --bind-to none %s%s -np %d bench measure %s",
		 launched(target)->launcher,
		 hosts ? "--host " : "--oversubscribe", hosts ? hosts : "",
		 target->cores, target->name);
}

/* Hosts may be called by more than their first part. */
static int check_first_host(const char *hosts, struct error *err)
{
	const size_t length = strcspn(hosts, ".:,");
	char own[HOST_NAME_MAX + 1] = "";

	gethostname(own, sizeof(own) - 1);
	if (strcspn(own, ".") == length && !strncmp(hosts, own, length))
		return 0;
	return error_set(err, ERROR_USAGE, "--hosts %s: the first host has to "
			 "be this one, which is called %s", hosts, own);
}

int ranks_check_launcher(const struct target *target, const char *hosts,
			 struct error *err)
{
	const struct plugin_known *known = launched(target);
	char command[400];

	if (!known || process_find_program(known->launcher))
		return known && hosts ? check_first_host(hosts, err) : 0;
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
