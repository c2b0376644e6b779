/*
 * Prints what the runs of a setup verify. Targets that begin alike have equal
 * first losses. The cores of a target end with equal parameters. Only bench
 * verify compares gradients.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/record/run.h"
#include "bench/report/table_view.h"
#include "bench/system/command_line.h"
#include "bench/system/text.h"

/* Relative gaps of losses: of one computation in fp32 or fp64, through batch
 * norms, and in shorter numbers, which round otherwise on each backend. */
#define GAP 1e-5
#define GAP_OF_NORM 1e-4
#define GAP_OF_SHORT 2e-2

/* Texts of a line; what does not fit is left out. */
struct verified {
	int targets; /* that trained to their end; null computes nothing */
	char losses[400], differ[400], alone[200], cores[200];
	double gap; /* the largest within losses */
};

static int computes(const struct result *cell)
{
	return cell->outcome == OUTCOME_OK &&
	       strncmp(cell->run->target, "null", strlen("null")) != 0;
}

/* Returns 1 if the first iterations of both have equal parameters, samples and
 * masks. In batch norms each core has its own statistics, and in data set fake
 * its own batch. */
static int begin_alike(const struct run *first, const struct run *second)
{
	const int by_core = first->buffers_hash[0] ||
			    !strcmp(first->dataset, "fake");

	return first->global_batch != CELL_NO_INT &&
	       first->global_batch == second->global_batch &&
	       !strcmp(first->model, second->model) &&
	       !strcmp(first->precision, second->precision) &&
	       (first->cores == second->cores || !by_core);
}

/* The largest relative gap of the first losses of two targets, over the
 * repetitions of a line; NAN: no repetition has both. */
static double loss_gap(const struct result *first, const struct result *second)
{
	const struct result *one, *other;
	double most = NAN;

	for (int at = 0, to = 0; (one = next_repetition(first, &at)) &&
				 (other = next_repetition(second, &to));) {
		const double larger = fmax(fabs(one->first_loss),
					   fabs(other->first_loss));
		const double gap = fabs(one->first_loss - other->first_loss);

		if (isfinite(one->first_loss) && isfinite(other->first_loss) &&
		    larger > 0)
			most = fmax(most, gap / larger);
	}
	return most;
}

static double most_gap(const struct run *run)
{
	static const char *const shorts[] = { "bf16", "fp16", "bf16-storage" };

	for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++)
		if (!strcmp(run->precision, shorts[i]))
			return GAP_OF_SHORT;
	return run->buffers_hash[0] ? GAP_OF_NORM : GAP;
}

/* Compares with the first target before it that begins alike. */
static void add_loss(struct verified *verified, const struct result *cell)
{
	const struct run *run = cell->run;
	const struct result *other = NULL;
	double gap = NAN;

	for (int at = 0; !isfinite(gap) &&
			 (other = next_target(cell->line, &at));)
		if (other != cell && computes(other) &&
		    begin_alike(run, other->run))
			gap = loss_gap(cell, other);
	if (!isfinite(gap))
		text_list(verified->alone, sizeof(verified->alone), "", ", ",
			  "%s", run->target);
	else if (other > cell)
		return; /* it is compared with this one */
	else if (gap > most_gap(run))
		text_list(verified->differ, sizeof(verified->differ), "", ", ",
			  "%s from %s by %.1g", run->target,
			  other->run->target, gap);
	else {
		text_list(verified->losses, sizeof(verified->losses), "", ", ",
			  "%s as %s", run->target, other->run->target);
		verified->gap = fmax(verified->gap, gap);
	}
}

static struct verified find_verified(const struct line *line)
{
	struct verified verified = { .losses = "" };
	const struct result *cell;

	for (int at = 0; (cell = next_target(line, &at));) {
		if (!computes(cell))
			continue;
		verified.targets++;
		add_loss(&verified, cell);
		/* Otherwise the run would have failed. */
		if (cell->run->cores > 1 && cell->run->parameters_hash[0])
			text_list(verified.cores, sizeof(verified.cores), "",
				  ", ", "%s", cell->run->target);
	}
	return verified;
}

#define MOST_COMMANDS 4

/* Targets for commands of bench verify, such as " cpu opencl:1": a command
 * takes a backend once. Targets beyond the room are left out. */
struct to_verify {
	char targets[MOST_COMMANDS][200];
};

/* Is a word of the list name, or name and then one of the marks? */
static int has_word(const char *list, const char *name, size_t length,
		    const char *marks)
{
	while ((list = strchr(list, ' ')))
		if (!strncmp(++list, name, length) &&
		    (!list[length] || strchr(marks, list[length])))
			return 1;
	return 0;
}

/* A backend, with its device. A target with a transport is named whole, since
 * bench verify compares the sums of a backend by threads and fork alone. */
static void add_to_verify(struct to_verify *all, const char *slowed)
{
	char target[96], backend[64], name[96];
	const char *device;
	int c = 0;

	/* A straggler's rank has a colon, too. */
	snprintf(target, sizeof(target), "%.*s", (int)strcspn(slowed, "+"),
		 slowed);
	device = strchr(target, ':');
	snprintf(backend, sizeof(backend), "%.*s",
		 (int)strcspn(target, "-@:"), target);
	if (!strcmp(backend, "null") || !strcmp(backend, "reference"))
		return;
	if (strchr(target, '@'))
		snprintf(name, sizeof(name), "%s", target);
	else
		snprintf(name, sizeof(name), "%s%.30s", backend,
			 device ? device : "");
	for (; c < MOST_COMMANDS; c++) {
		char *list = all->targets[c];

		if (has_word(list, name, strlen(name), " "))
			return;
		if (has_word(list, backend, strlen(backend), " -@:"))
			continue;
		text_append(list, sizeof(all->targets[c]), " %s", name);
		return;
	}
}

/* The commands that verify the setup's backends. */
static void command_text(char *text, size_t size, const struct line *line)
{
	const struct run *run = find_settings(line);
	const char *precision = run ? run_odd_precision(run) : "";
	struct to_verify all = { .targets = { "" } };
	const struct result *cell;
	char command[600];

	for (int at = 0; (cell = next_target(line, &at));)
		add_to_verify(&all, cell->run->target);
	command_line_hint(command, sizeof(command), "verify", NULL);
	text[0] = '\0';
	for (int c = 0; c < MOST_COMMANDS && (!c || all.targets[c][0]); c++) {
		text_list(text, size, "", "; ", "%s%s", command,
			  all.targets[c]);
		if (run && strcmp(run->model, "mnist") != 0)
			text_append(text, size, " -m %s", run->model);
		if (precision[0])
			text_append(text, size, " --precision %s", precision);
	}
}

int view_differing_losses(const struct view *view, const struct line *line)
{
	const struct verified verified = find_verified(line);

	if (!verified.differ[0])
		return 0;
	view_note(view, "%sfirst losses differ: %s",
		  line_prefix(view, line).text, verified.differ);
	return 1;
}

void view_verified(const struct view *view, const struct line *line,
		   struct names *told)
{
	const struct verified verified = find_verified(line);
	char command[1200], text[2048] = "";

	if (!verified.targets)
		return;
	command_text(command, sizeof(command), line);
	if (verified.losses[0])
		text_list(text, sizeof(text), "verified: ", ", ", "first "
			  "losses, within %.1g (%s)", verified.gap,
			  verified.losses);
	if (verified.cores[0])
		text_list(text, sizeof(text), "verified: ", ", ", "equal "
			  "parameters of the cores of %s", verified.cores);
	text_list(text, sizeof(text), "", "; ", "not verified: ");
	if (verified.alone[0])
		text_append(text, sizeof(text), "first losses of %s (no other "
			    "begins alike), ", verified.alone);
	note_once(view, told, "%s%sgradients (%s)",
		  line_prefix(view, line).text, text, command);
}
