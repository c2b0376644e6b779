#include "bench/report/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/statistics/stats.h"
#include "models/random.h"

#define RESAMPLES 1000
#define PI 3.14159265358979323846

DEFINE_ROWS(scale_rows, struct scale_row, SCALE_COLUMNS);

enum { ITER, IMAGES, EFFICIENCY, COMMUNICATION, VALUES };

/* State of a prediction. */
struct work {
	const struct scale_times *times;
	struct scale_point *points;
	size_t point_count, count; /* of times */
	double batch, shared_cpus;
	unsigned long long seed;

	struct ranked_time {
		double seconds;
		size_t at; /* in times */
	} *sorted;	 /* [count] */
	size_t *place;	 /* [count]: in sorted, of each time */
	size_t *drawn;	 /* [count]: how often each of the sorted is */
	double *chances; /* [points + 1][count + 1]: (k / count)^cores; of the
			  * last it is one core */
	double *resampled; /* [points][VALUES][RESAMPLES] */
};

/* Uniform in [0, 1), of the draw at a place of a resample. */
static double uniform(const struct work *work, uint32_t resample, uint32_t kind,
		      size_t at)
{
	const uint32_t place[4] = { (uint32_t)(at / 4), resample, kind, 0 };
	uint32_t words[4];

	random_words(work->seed, place, words);
	return words[at % 4] / 4294967296.;
}

static double normal(const struct work *work, uint32_t resample)
{
	return sqrt(-2 * log(1 - uniform(work, resample, 2, 0))) *
	       cos(2 * PI * uniform(work, resample, 2, 1));
}

/* Draws as many times as were measured: first a run, then one of its times. */
static void draw(const struct work *work, uint32_t resample)
{
	const struct scale_times *times = work->times;

	memset(work->drawn, 0, work->count * sizeof(*work->drawn));
	for (size_t i = 0; i < work->count; i++) {
		const size_t run = (size_t)(uniform(work, resample, 0,
						    i % times->runs) *
					    (double)times->runs);
		const size_t from = times->starts[run];
		const size_t length = times->starts[run + 1] - from;
		const size_t at = (size_t)(uniform(work, resample, 1, i) *
					   (double)length);

		work->drawn[work->place[from + at]]++;
	}
}

/* Returns the expected time of the slowest core of a point. Summing differences
 * of times keeps equal times exact, and more cores never get faster. */
static double slowest(const struct work *work, size_t point)
{
	const double *chances = work->chances + point * (work->count + 1);
	double result = 0, last = 0;
	size_t below = 0;

	for (size_t i = 0; i < work->count; i++) {
		if (!work->drawn[i])
			continue;
		result += (work->sorted[i].seconds - last) *
			  (1 - chances[below]);
		last = work->sorted[i].seconds;
		below += work->drawn[i];
	}
	return result;
}

static void compute_point(const struct work *work, size_t at, double mean,
			  double factor, double values[VALUES],
			  double *compute_s)
{
	const struct scale_point *point = &work->points[at];
	const double n = (double)point->cores;
	double compute = slowest(work, at);

	if (work->shared_cpus > 0 && n * mean / work->shared_cpus > compute)
		compute = n * mean / work->shared_cpus;
	values[COMMUNICATION] = point->exposed_s *
				fmax(0, 1 + factor * point->error);
	values[ITER] = compute + values[COMMUNICATION];
	values[IMAGES] = n * work->batch / values[ITER];
	values[EFFICIENCY] = mean / values[ITER];
	*compute_s = compute;
}

static void resample(const struct work *work)
{
	double values[VALUES], compute_s;

	for (uint32_t b = 0; b < RESAMPLES; b++) {
		const double factor = normal(work, b);
		double mean;

		draw(work, b);
		mean = slowest(work, work->point_count);
		for (size_t p = 0; p < work->point_count; p++) {
			compute_point(work, p, mean, factor, values,
				      &compute_s);
			for (int v = 0; v < VALUES; v++)
				work->resampled[(p * VALUES + (size_t)v) *
						RESAMPLES + b] = values[v];
		}
	}
}

static void list_values(struct scale_point *point,
			struct scale_value *list[VALUES])
{
	list[ITER] = &point->iter_s;
	list[IMAGES] = &point->images_per_s;
	list[EFFICIENCY] = &point->efficiency;
	list[COMMUNICATION] = &point->communication_s;
}

static void fill_point(const struct work *work, size_t at, double mean)
{
	struct scale_value *list[VALUES];
	double values[VALUES];

	list_values(&work->points[at], list);
	compute_point(work, at, mean, 0, values, &work->points[at].compute_s);
	for (int v = 0; v < VALUES; v++)
		list[v]->value = values[v];
}

static void fill_intervals(const struct work *work, size_t at)
{
	struct scale_value *list[VALUES];

	list_values(&work->points[at], list);
	for (size_t v = 0; v < VALUES; v++) {
		double *drawn = work->resampled + (at * VALUES + v) * RESAMPLES;

		stats_sort(drawn, RESAMPLES);
		list[v]->low = stats_quantile(drawn, RESAMPLES, .025);
		list[v]->high = stats_quantile(drawn, RESAMPLES, .975);
	}
}

static int compare_times(const void *a, const void *b)
{
	const struct ranked_time *left = a, *right = b;

	return left->seconds < right->seconds ? -1 :
	       left->seconds > right->seconds;
}

/* Each time once, which is what was measured itself. */
static void sort_times(struct work *work)
{
	for (size_t i = 0; i < work->count; i++)
		work->sorted[i] = (struct ranked_time){
			.seconds = work->times->seconds[i], .at = i
		};
	qsort(work->sorted, work->count, sizeof(*work->sorted), compare_times);
	for (size_t i = 0; i < work->count; i++) {
		work->place[work->sorted[i].at] = i;
		work->drawn[i] = 1;
	}
}

static void fill_chances(struct work *work)
{
	double *chance = work->chances;

	for (size_t p = 0; p <= work->point_count; p++)
		for (size_t k = 0; k <= work->count; k++)
			*chance++ = pow((double)k / (double)work->count,
					p < work->point_count ?
					(double)work->points[p].cores : 1);
}

static int allocate(struct work *work)
{
	const size_t n = work->count, points = work->point_count;

	work->sorted = calloc(n, sizeof(*work->sorted));
	work->place = calloc(n, sizeof(*work->place));
	work->drawn = calloc(n, sizeof(*work->drawn));
	work->chances = calloc((points + 1) * (n + 1),
			       sizeof(*work->chances));
	work->resampled = calloc(points * VALUES * RESAMPLES,
				 sizeof(*work->resampled));
	return work->sorted && work->place && work->drawn && work->chances &&
			       work->resampled ? 0 : -1;
}

int scale_predict(const struct scale_times *times, long batch,
		  long shared_cpus, unsigned long long seed,
		  struct scale_point *points, size_t count, struct error *err)
{
	struct work work = { .times = times,
			     .points = points,
			     .point_count = count,
			     .count = times->starts[times->runs],
			     .batch = (double)batch,
			     .shared_cpus = (double)shared_cpus,
			     .seed = seed };
	const int failed = allocate(&work);

	if (!failed) {
		double mean;

		sort_times(&work);
		fill_chances(&work);
		mean = slowest(&work, count);
		for (size_t p = 0; p < count; p++)
			fill_point(&work, p, mean);
		resample(&work);
		for (size_t p = 0; p < count; p++)
			fill_intervals(&work, p);
	}
	free(work.sorted);
	free(work.place);
	free(work.drawn);
	free(work.chances);
	free(work.resampled);
	return failed ? error_memory(err, "a prediction") : 0;
}

#define NEAREST 3 /* sizes of a sweep that a line is put through */

static int is_near(const struct network_point *near, size_t count, double bytes)
{
	for (size_t i = 0; i < count; i++)
		if (near[i].bytes == bytes)
			return 1;
	return 0;
}

int scale_counts(const struct scale_network *network,
		 const struct network_row *row)
{
	return !strcmp(row->transport, network->sweep->transport) &&
	       !strcmp(row->hosts, network->sweep->hosts);
}

/* Adds the size nearest to bytes that is not in near, of the sweep's first
 * transport with this number of ranks. Returns -1 if there is none. */
static int add_nearest(const struct scale_network *network, long ranks,
		       double bytes, struct network_point *near, size_t count)
{
	double least = INFINITY;

	for (size_t i = 0; i < network->sweep_count; i++) {
		const struct network_row *row = &network->sweep[i];
		const double size = (double)row->vector_bytes;
		const double distance = fabs(log(size / bytes));

		if (row->ranks != ranks || !(distance < least) ||
		    is_near(near, count, size) || !scale_counts(network, row))
			continue;
		least = distance;
		near[count] = (struct network_point){ size, row->median_s };
	}
	return least < INFINITY ? 0 : -1;
}

/* Adds the sweep's time to the point. */
static int add_swept(const struct scale_network *network, long ranks,
		     double bytes, struct scale_point *point, struct error *err)
{
	struct network_point near[NEAREST];
	struct network_fit fit;
	size_t count = 0;

	while (count < NEAREST &&
	       !add_nearest(network, ranks, bytes, near, count))
		count++;
	fit = network_fit(near, count);
	if (count < NEAREST || isnan(fit.error))
		return error_set(err, ERROR_INPUT, "%s: it has fewer than "
				 "three sizes for %ld ranks by %s: bench env "
				 "--network cpu-%ld@%s --export-csv FILE "
				 "measures them", network->sweep_name, ranks,
				 network->sweep->transport, ranks,
				 network->sweep->transport);
	point->exposed_s += fit.link.latency_s + bytes / fit.link.bytes_per_s;
	/* Two of three points determine the line. */
	point->error = fit.error * sqrt(NEAREST / (NEAREST - 2.));
	return 0;
}

int scale_communication(const struct scale_network *network, double bytes,
			struct scale_point *point, struct error *err)
{
	const long cores = network->is_measured ? point->cores :
			   network->node_cores < point->cores ?
			   network->node_cores : point->cores;
	const long nodes = (point->cores + network->node_cores - 1) /
			   network->node_cores;
	double net_s;

	point->exposed_s = point->error = 0;
	if (cores > 1 && network->sweep &&
	    add_swept(network, cores, bytes, point, err))
		return -1;
	if (network->is_measured)
		return 0;
	net_s = network_allreduce(network->topology, &network->link, nodes,
				  bytes);
	if (point->exposed_s > 0)
		point->error *= point->exposed_s / (point->exposed_s + net_s);
	point->exposed_s += net_s;
	return 0;
}
