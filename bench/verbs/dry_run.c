/* What a run would do, and for how long. */
#include "bench/verbs/dry_run.h"

#include "bench/children/child.h"
#include "bench/training/target_options.h"

#define STEPS 5 /* iterations that are measured */

static void ignore_pause(void *context)
{
	(void)context;
}

int dry_run(const struct options *given, const struct target *target,
	    const struct training *training, int named, FILE *out,
	    struct error *err)
{
	struct options options = *given;
	const struct child_request request = {
		.options = &options,
		.target = target->name,
		.run_id = "dry",
		.campaign_id = "dry",
	};
	const struct child_ear deaf = { csv_ignore, ignore_pause, NULL };
	struct child_result result;
	const struct run *run = &result.run;
	double samples = training->dataset->test.count / 3.;
	const int epochs = training->recipe.epochs;
	char time[64] = "";
	int failed = 0;

	target_options_trim(&options, target);
	options.epochs = 1;
	options.steps = STEPS;
	options.warmup = 1;
	options.test = 0;
	options.target_accuracy = OPTION_UNSET; /* which --test off forbids */
	options.trace = NULL;
	if (child_measure(&result, &request, &deaf, err))
		return -1;
	samples = training->test_batch ? samples : 0;
	samples += (double)training->iterations * training->global_batch;
	if (!result.exit_code)
		snprintf(time, sizeof(time), "%sabout %.0f s",
			 given->target_accuracy >= 0 ? "at most " : "",
			 (double)given->repeat *
				 (run->setup_s +
				  epochs * samples * run->iterations_s /
					  (double)run->updates /
					  training->global_batch));
	fprintf(out, "%-10s %s on %s, %d epoch%s of %d iterations of %d "
		"samples, %ld process%s: %s\n", target->name,
		training->model->name, training->dataset->name, epochs,
		epochs == 1 ? "" : "s",
		training->iterations, training->global_batch,
		given->repeat, given->repeat == 1 ? "" : "es",
		result.exit_code ? run->reason : time);
	if (result.exit_code && named)
		failed = error_set(err, result.exit_code == ERROR_MISSING ?
				   ERROR_MISSING : ERROR_FAILED, "%s: %s",
				   target->name, run->reason);
	return failed;
}
