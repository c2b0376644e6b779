/* What a run would do, and for how long. */
#include "bench/app/dry_run.h"

#include "bench/run/child.h"
#include "bench/run/plan_memory.h"
#include "bench/run/target_options.h"

#define STEPS 5 /* iterations that are measured */

static void ignore_pause(void *context)
{
	(void)context;
}

void dry_run_print_time(double seconds, char *text, size_t size)
{
	const double minutes = seconds / 60;

	if (seconds < 60)
		snprintf(text, size, "about %.0f s", seconds);
	else
		snprintf(text, size, "about %.*f min", minutes < 10, minutes);
}

/* Of all processes, from what one did of a few iterations. */
static double estimate(const struct run *run, const struct options *given,
		       const struct training *training)
{
	const double tests = training->test_batch ?
				     training->dataset->test.count / 3. : 0;
	const double samples = tests + (double)training->iterations *
					       training->global_batch;

	return (double)given->repeat *
	       (run->setup_s + training->recipe.epochs * samples *
				       run->iterations_s /
				       (double)run->updates /
				       training->global_batch);
}

static void print(FILE *out, const struct options *given,
		  const struct target *target, const struct training *training,
		  const char *outcome)
{
	const int epochs = training->recipe.epochs;

	fprintf(out, "%-10s %s on %s, %d epoch%s of %d iterations of %d "
		"samples, %ld process%s: %s\n", target->name,
		training->model->name, training->dataset->name, epochs,
		epochs == 1 ? "" : "s", training->iterations,
		training->global_batch, given->repeat,
		given->repeat == 1 ? "" : "es", outcome);
}

int dry_run(const struct options *given, const struct target *target,
	    const struct training *training, int named, double *all_s,
	    FILE *out, struct error *err)
{
	const struct memory_plan need = plan_memory(training, target->cores);
	struct options options = *given;
	const struct child_request request = {
		.options = &options,
		.target = target->name,
		.run_id = "dry",
		.campaign_id = "dry",
	};
	const struct child_ear deaf = { csv_ignore, ignore_pause, NULL };
	struct child_result result;
	char time[32], outcome[120];
	double seconds;

	target_options_trim(&options, target);
	options.epochs = 1;
	options.steps = STEPS;
	options.warmup = 1;
	/* What brings the global batch, and cannot be without tests. */
	options.test = given->target_accuracy >= 0;
	options.trace = NULL;
	if (child_measure(&result, &request, &deaf, err))
		return -1;
	if (result.exit_code) {
		print(out, given, target, training, result.run.reason);
		return named ? error_set(err, result.exit_code ==
					 ERROR_MISSING ? ERROR_MISSING :
							 ERROR_FAILED, "%s: %s",
					 target->name, result.run.reason) : 0;
	}
	seconds = estimate(&result.run, given, training);
	*all_s += seconds;
	dry_run_print_time(seconds, time, sizeof(time));
	snprintf(outcome, sizeof(outcome), "%s%s, about %.2f GB of memory",
		 given->target_accuracy >= 0 ? "at most " : "", time,
		 memory_plan_total(&need) * 1e-9);
	print(out, given, target, training, outcome);
	return 0;
}
