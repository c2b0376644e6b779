/* Which of the OpenCL devices is meant. */
#include "backends/opencl/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int contains(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

/*
 * How much a device is what was asked for, 0 if not at all. Asked for nothing,
 * a GPU comes first, since whoever has one means it, and then PoCL, by its
 * name: places in the list change when a driver is installed.
 */
static int candidate_rank(const struct candidate *candidate, int index,
			  const char *choice)
{
	char *end;
	long number;

	if (!choice && !strcmp(candidate->info.type, "GPU"))
		return 3;
	if (!choice)
		return strcmp(candidate->platform_name, POCL) ? 1 : 2;
	number = strtol(choice, &end, 10);
	if (choice[0] && !*end)
		return number == index;
	return contains(candidate->info.name, choice) ||
	       contains(candidate->platform_name, choice) ||
	       contains(candidate->info.type, choice);
}

int candidates_none(struct error *err)
{
	const char *vendors = getenv("OCL_ICD_VENDORS");

	if (vendors)
		return error_set(err, ERROR_MISSING,
				 "no OpenCL platform is found where the "
				 "variable OCL_ICD_VENDORS says, '%.60s'; "
				 "without it, those that are installed would "
				 "be, such as pocl-opencl-icd", vendors);
	return error_set(err, ERROR_MISSING,
			 "no OpenCL platform is installed: install "
			 "pocl-opencl-icd, which makes this CPU one");
}

static int choice_fail(const struct candidate *list, int count,
		       const char *choice, struct error *err)
{
	char names[640] = "";
	size_t used = 0;

	if (!count)
		return candidates_none(err);
	for (int i = 0; i < count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%d %s%s%s", i ? ", " : "", i,
					 list[i].info.name,
					 list[i].info.unusable[0] ? ": " : "",
					 list[i].info.unusable);
	if (choice)
		return error_set(err, ERROR_MISSING,
				 "no OpenCL device '%s'; there is: %s", choice,
				 names);
	return error_set(err, ERROR_MISSING,
			 "no OpenCL device can be used: %s", names);
}

int candidate_choose(const struct candidate *list, int count,
		     const char *choice, struct candidate *chosen,
		     struct error *err)
{
	const struct candidate *refused = NULL;
	int best = 0;

	for (int i = 0; i < count; i++) {
		int rank = candidate_rank(&list[i], i, choice);

		if (rank && list[i].info.unusable[0] && !refused)
			refused = &list[i];
		if (rank > best && !list[i].info.unusable[0]) {
			best = rank;
			*chosen = list[i];
		}
	}
	if (best)
		return 0;
	if (refused && choice)
		return error_set(err, ERROR_MISSING,
				 "OpenCL device '%s' (%s) cannot be used: %s",
				 choice, refused->info.name,
				 refused->info.unusable);
	return choice_fail(list, count, choice, err);
}

int candidate_choose_several(const struct candidate *list, int count,
			     const struct device_request *request,
			     struct candidate *chosen)
{
	struct candidate own = *chosen;
	int rank = 0, found = 0;

	for (int i = 0; i < count; i++)
		if (list[i].device == chosen->device)
			rank = candidate_rank(&list[i], i, request->choice);
	for (int i = 0; i < count; i++) {
		if (list[i].platform != chosen->platform ||
		    list[i].info.unusable[0] ||
		    candidate_rank(&list[i], i, request->choice) != rank)
			continue;
		if (found++ == request->rank)
			own = list[i];
	}
	if (found < request->size)
		return -1;
	*chosen = own;
	return 0;
}
