#include "bench/launch/launcher_log.h"

#include <stdio.h>
#include <string.h>

#include "bench/plan/ranks.h"
#include "bench/system/text.h"

#define RANK "bench: core " /* how a rank begins that fails by itself */
#define HOST_ROOM 64

/* A line of dashes is above and below each block. */
static int is_rule(const char *line)
{
	return strlen(line) > 70 && !line[strspn(line, "-")];
}

/* "... process rank 2 with PID 71 on node b exited on signal 9 (Killed)." */
static int find_death(struct launcher_log *log)
{
	const char *at = strstr(log->block, "noticed that process rank ");
	char host[HOST_ROOM] = "", name[40] = "";
	int rank, number;

	if (!at || sscanf(at, "noticed that process rank %d with PID %*d on "
			  "node %63s exited on signal %d (%39[^)]", &rank, host,
			  &number, name) < 3)
		return 0;
	snprintf(log->lost, sizeof(log->lost), "core %d on host %s was ended "
		 "by signal %d%s%s%s", rank, host, number, *name ? " (" : "",
		 name, *name ? ")" : "");
	return 1;
}

/* "... lost communication with a remote daemon. HNP daemon : [..] on node a
 * Remote daemon: [..] on node b This is usually ..." */
static int find_lost_host(struct launcher_log *log)
{
	const char *at = strstr(log->block, "lost communication with a remote");
	char host[HOST_ROOM] = "";
	struct slice ranks;

	at = at ? strstr(at, "Remote daemon") : NULL;
	at = at ? strstr(at, "on node ") : NULL;
	if (!at || sscanf(at, "on node %63s", host) != 1)
		return 0;
	snprintf(log->lost, sizeof(log->lost), "host %s does not answer any "
		 "more", host);
	if (ranks_of_host(log->hosts, host, log->cores, &ranks))
		text_append(log->lost, sizeof(log->lost), ", nor do its cores, "
			    "%zu to %zu", ranks.from, ranks.to - 1);
	text_append(log->lost, sizeof(log->lost), ": it has ended, or its link "
		    "is down");
	return 1;
}

/* Open MPI does not name the host. */
static int find_no_start(struct launcher_log *log)
{
	if (!strstr(log->block, "unable to reliably start one or more daemons"))
		return 0;
	snprintf(log->lost, sizeof(log->lost), "orted is lost on one of the "
		 "hosts %.80s: it could not be started there (package "
		 "openmpi-bin), has ended, or the link is down",
		 log->hosts ? log->hosts : "");
	return 1;
}

/* Reads "... peer process has unexpectedly disconnected. ... Local host: a
 * Local PID: 71 Peer host: b". */
static int find_reset(struct launcher_log *log)
{
	const char *at = strstr(log->block, "peer process has unexpectedly "
					    "disconnected");
	char host[HOST_ROOM], peer[HOST_ROOM];

	if (!at)
		return 0;
	at = strstr(at, "Local host: ");
	if (at && sscanf(at, "Local host: %63s Local PID: %*s Peer host: %63s",
			 host, peer) == 2)
		snprintf(log->reset, sizeof(log->reset), "a core on host %s "
			 "lost its connection to host %s: a core there has "
			 "ended, or the link is down", host, peer);
	return 1;
}

/* Open MPI may print either line in a core that it then ends:
 * "[a][[825,1],0][...btl_tcp_frag.c:135:mca_btl_tcp_frag_send] ..." of core 0,
 * "[a:06607] .../ompi/mca/pml/ob1/pml_ob1_sendreq.c:317 FATAL" of a process. */
static int take_reset(struct launcher_log *log, const char *line)
{
	char host[HOST_ROOM], core[32] = "a core";
	int rank;

	if (strstr(line, "/btl_tcp_") &&
	    sscanf(line, "[%63[^]]][[%*d,%*d],%d]", host, &rank) == 2)
		snprintf(core, sizeof(core), "core %d", rank);
	else if (!strstr(line, "/pml_ob1_") || !strstr(line, " FATAL") ||
		 sscanf(line, "[%63[^]:]:", host) != 1)
		return 0;
	if (!log->reset[0])
		snprintf(log->reset, sizeof(log->reset), "%s on host %s lost "
			 "its connection to another core, which has ended, or "
			 "the link is down", core, host);
	return 1;
}

/* Returns 1 for a block that only follows from another message. */
static int is_echo(const char *block)
{
	return strstr(block, "non-zero exit code") ||
	       strstr(block, "with non-zero status") ||
	       strstr(block, "MPI_ABORT was invoked");
}

static int find_root(struct launcher_log *log)
{
	if (!strstr(log->block, "attempt to run as root"))
		return 0;
	snprintf(log->said, sizeof(log->said), "mpirun refuses to run as root: "
		 "use another user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and "
		 "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
	return 1;
}

static void end_block(struct launcher_log *log)
{
	if (log->lost[0] || is_echo(log->block) || find_reset(log) ||
	    find_death(log) || find_lost_host(log) || find_no_start(log) ||
	    log->said[0] || find_root(log))
		return;
	snprintf(log->said, sizeof(log->said), "mpirun: %.*s",
		 (int)sizeof(log->said) - 9, log->block);
}

static int is_about_itself(const char *line)
{
	return strstr(line, "mpirun: Forwarding signal") ||
	       strstr(line, "sent help message") ||
	       strstr(line, "\"orte_base_help_aggregate\"");
}

/* Appends the line's words. */
static void add_to_block(struct launcher_log *log)
{
	char *word, *rest = log->line;

	while ((word = strtok_r(rest, " \t", &rest)))
		text_append(log->block, sizeof(log->block), "%s%s",
			    *log->block ? " " : "", word);
}

static int count_names(const char *line)
{
	int count = 1;

	while ((line = strchr(line, ','))) {
		count++;
		line++;
	}
	return count;
}

/* A rank that answers late is in the lists of the others, so the shortest list
 * is the best one. */
static void take_waits(struct launcher_log *log, const char *line)
{
	const int count = count_names(line);

	if (log->waits[0] && count >= log->waited_for)
		return;
	snprintf(log->waits, sizeof(log->waits), "%.150s", line);
	log->waited_for = count;
}

static void end_line(struct launcher_log *log, int to)
{
	char *line = log->line;
	const int is_rank = !strncmp(line, RANK, strlen(RANK));

	/* Other text may precede it on the line. */
	if (strstr(line, LAUNCHER_LOG_MET)) {
		log->met = 1;
	} else if (is_rule(line)) {
		if (log->in_block)
			end_block(log);
		log->in_block = !log->in_block;
		log->block[0] = '\0';
	} else if (log->in_block) {
		add_to_block(log);
	} else if (is_rank && strstr(line, ": waits for ")) {
		take_waits(log, line + strlen("bench: "));
	} else if (is_rank && !log->is_ranks) {
		snprintf(log->said, sizeof(log->said), "%.390s",
			 line + strlen("bench: "));
		log->is_ranks = 1;
	} else if (!take_reset(log, line) && !is_about_itself(line)) {
		if (!log->other[0])
			snprintf(log->other, sizeof(log->other), "%.150s",
				 line);
		dprintf(to, "%s\n", line);
	}
}

static void take_line(struct launcher_log *log, int to)
{
	log->line[log->length] = '\0';
	log->length = 0;
	end_line(log, to);
}

void launcher_log_feed(struct launcher_log *log, const char *bytes,
		       size_t count, int to)
{
	for (size_t i = 0; i < count; i++) {
		/* A longer line is split. */
		if (bytes[i] != '\n' && log->length < sizeof(log->line) - 1) {
			log->line[log->length++] = bytes[i];
			continue;
		}
		take_line(log, to);
		if (bytes[i] != '\n')
			log->line[log->length++] = bytes[i];
	}
}

void launcher_log_end(struct launcher_log *log, int to)
{
	if (log->length)
		take_line(log, to);
	if (log->in_block)
		end_block(log);
	log->in_block = 0;
}

void launcher_log_unmet(struct launcher_log *log, int seconds)
{
	if (!log->lost[0])
		snprintf(log->lost, sizeof(log->lost), "the cores on hosts "
			 "%.80s have not met within %d s: one of them does not "
			 "answer, or its link is down", log->hosts, seconds);
}
