/* What a measuring child says, until its end: heard, passed on, and hurried. */
#ifndef BENCH_RUN_LISTENER_H
#define BENCH_RUN_LISTENER_H

#include <sys/types.h>

#include "bench/run/child.h"
#include "bench/run/command_usage.h"
#include "bench/record/csv.h"
#include "bench/system/process.h"

#define LISTENER_ROWS_BEGIN "schema,"

enum output { OUTPUT_UNKNOWN, OUTPUT_ROWS, OUTPUT_OTHER };

struct listener {
	pid_t pid;
	int pipe; /* -1: nobody will write to it any more */
	int watch; /* readable when a command has ended; -1: has, or none */
	struct process_status status; /* at the end */
	double began_at, ended_at;    /* ended_at: of a command; 0 before */
	struct command_usage usage;   /* of a command */
	double deadline; /* 0: none */
	int forwarded;	 /* the signal of ours that was passed on */
	int asked;	 /* to end, and SIGKILL comes next */
	int timed_out;
	int failed; /* what it says is not wanted any more */
	struct csv_reader *reader;
	const struct child_request *request;
	const struct child_ear *ear;
	enum output output;
	char begin[sizeof(LISTENER_ROWS_BEGIN)]; /* while output is unknown */
	size_t begun;
};

/* For the output of a child of the request. To be released on success. */
int listener_open(struct listener *listener,
		  const struct child_request *request,
		  const struct child_ear *ear, struct error *err);
void listener_release(struct listener *listener);

/*
 * Hears the child listener->pid, which writes to listener->pipe, until its end
 * or listener->deadline: see child_measure. Fails if its rows cannot be taken;
 * it has ended then, too.
 */
int listener_hear_out(struct listener *listener, struct error *err);

/* Whatever is wrong with what a child hands over, no file of the user's is. */
int listener_blame(const char *words, struct error *err);

#endif
