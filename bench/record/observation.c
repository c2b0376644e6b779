#include "bench/record/observation.h"

#include <string.h>

DEFINE_ROWS(observation_rows, struct observation, OBSERVATION_COLUMNS);

int observation_is_modelled(const struct observation *row)
{
	return strcmp(row->clock, "model") == 0;
}
