#include "bench/plan/ranks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/plan/plugin_file.h"
#include "bench/record/machine.h"
#include "bench/system/number.h"
#include "bench/system/process.h"

#define VERSION_S 20 /* in which a launcher prints its version */

extern char **environ;

static const struct plugin_known *launched(const struct target *target)
{
	const struct plugin_known *known = plugin_known_find(target->plugin);

	return known && known->launcher ? known : NULL;
}

/* Reads a variable of Open MPI, of other launchers that use PMI, or of Slurm's
 * srun --mpi=pmix. A batch script has Slurm's variables too, but is no rank:
 * PMIX_RANK is missing. */
static int read_variable(const char *open_mpi, const char *others,
			 const char *slurm)
{
	const char *text = getenv(open_mpi);

	if (!text)
		text = getenv(others);
	if (!text && getenv("PMIX_RANK"))
		text = getenv(slurm);
	return text ? (int)strtol(text, NULL, 10) : 0;
}

int ranks_own(const struct target *target)
{
	return launched(target) ?
		       read_variable("OMPI_COMM_WORLD_RANK", "PMI_RANK",
				     "SLURM_PROCID") : 0;
}

int ranks_are_launched(const struct target *target)
{
	return launched(target) != NULL;
}

/* One of --hosts. */
struct host {
	const char *name; /* not terminated: see length */
	size_t length;
	long slots;
};

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyz" \
		   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

/* Moves *text past its next entry. Returns 1, or 0 at the end of the list.
 * Returns -1 if the entry is not NAME or NAME:SLOTS, or if ssh would take the
 * name for an option. */
static int next_host(const char **text, struct host *host)
{
	const char *at = *text;
	char number[24] = "1";
	size_t digits;

	if (!at || !*at)
		return 0;
	*host = (struct host){ at, strspn(at, NAME_BYTES), 0 };
	at += host->length;
	if (*at == ':') {
		digits = strcspn(++at, ",");
		snprintf(number, sizeof(number), "%.*s", (int)digits, at);
		at += digits;
	}
	/* A comma promises another entry. */
	if ((*at == ',' && !at[1]) || (*at && *at != ',') || !host->length ||
	    *host->name == '-' || number_parse_int(number, &host->slots) ||
	    host->slots < 1 || host->slots > INT_MAX)
		return -1;
	*text = *at ? at + 1 : at;
	return 1;
}

static int is_host(const struct host *host, const char *name)
{
	return strlen(name) == host->length &&
	       !memcmp(name, host->name, host->length);
}

int ranks_of_host(const char *hosts, const char *name, int cores,
		  struct slice *ranks)
{
	const size_t most = (size_t)cores;
	struct host host;
	size_t at = 0;

	while (next_host(&hosts, &host) > 0) {
		const size_t to = at + (size_t)host.slots;

		*ranks = (struct slice){ at, to < most ? to : most };
		at = ranks->to;
		if (!name || is_host(&host, name))
			return 1;
	}
	return 0;
}

int ranks_here(const struct target *target, const char *hosts)
{
	const int here = launched(target) ?
		read_variable("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
			      "SLURM_STEP_TASKS_PER_NODE") : 0;
	struct slice ranks;

	if (here)
		return here;
	if (launched(target) &&
	    ranks_of_host(hosts, NULL, target->cores, &ranks))
		return (int)ranks.to;
	return target->cores;
}

static const char *const ending_words[] = { "setpriv", "--pdeathsig", "KILL" };

/* The launcher's options. */
static const char *const launcher_words[] = {
	"--bind-to", "none", /* which CPUs cores may use is up to bench */
	/* Ranks that should stop get a signal from the launcher and any time
	 * that they need; ranks that should end are killed at once. */
	"--mca", "odls_base_sigkill_timeout", "0",
	/* A host is lost after 14 s of silence, or if it does not start within
	 * 20 s. Some losses are not noticed (child.c: end_unmet). */
	"--mca", "oob_tcp_keepalive_time", "5",
	"--mca", "oob_tcp_keepalive_intvl", "3",
	"--mca", "oob_tcp_keepalive_probes", "3",
	"--mca", "orte_startup_timeout", "20",
};

enum {
	ENDING_WORDS = sizeof(ending_words) / sizeof(*ending_words),
	LAUNCHER_WORDS = sizeof(launcher_words) / sizeof(*launcher_words)
};

/* Returns 1 if bench itself set the variable NAME=VALUE for this host. */
static int is_own(const char *variable)
{
	const char *names = getenv("BENCH_SET");
	const size_t length = strcspn(variable, "=");

	if (!strncmp(variable, "BENCH_SET=", strlen("BENCH_SET=")))
		return 1;
	while (names && *names) {
		const size_t each = strcspn(names, ",");

		if (each == length && !memcmp(names, variable, length))
			return 1;
		names += each + (names[each] == ',');
	}
	return 0;
}

static size_t count_words(const char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

/* Adds the launcher's words, up to the program's name. Returns their number. */
static size_t add_launcher(const struct target *target, const char *hosts,
			   const char **words, char number[16])
{
	const struct plugin_known *known = launched(target);
	size_t at = 0;

	snprintf(number, 16, "%d", target->cores);
	/* Ends the launcher and its cores with this process. After SIGTERM it
	 * would wait for a lost host. */
	if (process_find_program("setpriv"))
		for (size_t w = 0; w < ENDING_WORDS; w++)
			words[at++] = ending_words[w];
	words[at++] = known->launcher;
	for (size_t w = 0; w < LAUNCHER_WORDS; w++)
		words[at++] = launcher_words[w];
	/* Cores on other hosts find the same data then, and compute alike. */
	for (char **each = environ; hosts && *each; each++)
		if (machine_has_variable(*each) && !is_own(*each)) {
			words[at++] = "-x";
			words[at++] = *each;
		}
	words[at++] = hosts ? "--host" : "--oversubscribe";
	if (hosts)
		words[at++] = hosts;
	words[at++] = "-np";
	words[at++] = number;
	return at;
}

const char **ranks_command(const struct target *target, const char *hosts,
			   const char *const *argv, char number[16],
			   struct error *err)
{
	const size_t own = count_words(argv);
	const size_t most = ENDING_WORDS + 1 + LAUNCHER_WORDS + 4 + own + 1 +
			    2 * count_words((const char *const *)environ);
	const char **words = malloc(most * sizeof(*words));
	size_t at = 0;

	if (!words) {
		error_memory(err, "a command line");
		return NULL;
	}
	if (target && launched(target))
		at = add_launcher(target, hosts, words, number);
	memcpy(words + at, argv, (own + 1) * sizeof(*words));
	return words;
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
	return error_set(err, ERROR_USAGE, "--hosts %.300s: the first host has "
			 "to be this one, which is called %s", hosts, own);
}

/* Each host has its name once, and all cores of the target have a slot. */
static int check_hosts(const struct target *target, const char *hosts,
		       struct error *err)
{
	const char *rest = hosts, *entry = hosts;
	struct slice ranks;
	struct host host;
	char name[300];
	long slots = 0;
	int found;

	while ((found = next_host(&rest, &host)) > 0) {
		snprintf(name, sizeof(name), "%.*s", (int)host.length,
			 host.name);
		slots += host.slots;
		if (ranks_of_host(hosts, name, INT_MAX, &ranks) &&
		    ranks.to != (size_t)slots)
			return error_set(err, ERROR_USAGE, "--hosts %.300s: "
					 "host %s is named twice", hosts, name);
		entry = rest;
	}
	if (found < 0 || !slots)
		return error_set(err, ERROR_USAGE, "--hosts %.300s: expected "
				 "NAME or NAME:SLOTS, found '%.*s'; a name has "
				 "letters, digits, '.', '_' and '-', not '-' "
				 "first; SLOTS is 1 or more",
				 hosts, (int)strcspn(entry, ","), entry);
	return slots >= target->cores ? 0 :
		error_set(err, ERROR_USAGE, "--hosts %.300s: %ld slots, and %s "
			  "has %d cores", hosts, slots, target->name,
			  target->cores);
}

/* Other libraries have a program of that name, with other options. Warnings or
 * a banner may come before the version; the error has the first line. */
static int check_version(const struct plugin_known *known, struct error *err)
{
	const char *const words[] = { known->launcher, "--version", NULL };
	char text[8192];

	if (process_read(words, VERSION_S, 0, text, sizeof(text), err))
		return -1;
	if (strstr(text, known->library))
		return 0;
	text[strcspn(text, "\n")] = '\0';
	return error_set(err, ERROR_MISSING, "%s --version prints \"%.200s\", "
			 "but the plug-in needs %s: install package %s, and "
			 "put its %s first in $PATH", known->launcher,
			 text, known->library, known->launcher_package,
			 known->launcher);
}

int ranks_check_launcher(const struct target *target, const char *hosts,
			 struct error *err)
{
	const struct plugin_known *known = launched(target);
	char command[400];

	if (!known)
		return 0;
	if (hosts && check_hosts(target, hosts, err))
		return -1;
	if (process_find_program(known->launcher))
		return (hosts && check_first_host(hosts, err)) ||
		       check_version(known, err) ? -1 : 0;
	print_command(target, hosts, command, sizeof(command));
	return error_set(err, ERROR_USAGE, "target '%s': no %s in $PATH to "
			 "start its cores with; install package %s, or start "
			 "them with another launcher, as in: %s", target->name,
			 known->launcher, known->launcher_package, command);
}

int ranks_check_started(const struct target *target, struct error *err)
{
	const int size = read_variable("OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
				       "SLURM_NTASKS");
	char command[400];

	if (!launched(target) || size == target->cores)
		return 0;
	print_command(target, NULL, command, sizeof(command));
	return error_set(err, ERROR_USAGE, "target '%s': %d of its %d cores "
			 "were started; bench run does it, or: %s",
			 target->name, size, target->cores, command);
}
