#include <string.h>

#include "backends/contract/backend.h"

extern const struct backend cpu_backend;
extern const struct backend openblas_backend;
extern const struct backend opencl_backend;
extern const struct backend reference_backend;
extern const struct backend single_backend; /* no target */
extern const struct backend null_backend;

/* A new backend needs one folder and two lines here. */
static const struct backend *const backends[] = {
	&cpu_backend,	    &openblas_backend, &opencl_backend,
	&reference_backend, &null_backend,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct backend *backend_next(const struct backend *previous)
{
	size_t i = 0;

	if (previous)
		while (i < COUNT(backends) && backends[i++] != previous)
			;
	return i < COUNT(backends) ? backends[i] : NULL;
}

const struct backend *backend_find(const char *name)
{
	for (size_t i = 0; i < COUNT(backends); i++)
		if (!strcmp(backends[i]->name, name))
			return backends[i];
	return NULL;
}

int backend_check_profile(const struct backend *backend, struct error *err)
{
	const struct backend *other = NULL;
	char names[128] = "";

	if (backend->profile)
		return 0;
	while ((other = backend_next(other)))
		if (other->profile)
			error_list(names, sizeof(names), other->name);
	return error_set(err, ERROR_USAGE,
			 "--profile: backend %s does not support it; these do: "
			 "%s", backend->name, names);
}

int backend_check_precision(const struct backend *backend,
			    enum precision precision, struct error *err)
{
	const struct backend *other = NULL;
	char names[128] = "";

	if (backend->precisions >> precision & 1)
		return 0;
	while ((other = backend_next(other)))
		if (other->precisions >> precision & 1 && !other->unavailable &&
		    (other->is_reference || !backend_lacks(other, 1)))
			error_list(names, sizeof(names), other->name);
	return error_set(err, ERROR_MISSING,
			 "--precision %s: backend %s does not support it; "
			 "these do: %s", precision_name(precision),
			 backend->name, names);
}

const struct backend *backend_reference(void)
{
	return &reference_backend;
}

const struct backend *backend_in_double(void)
{
	for (size_t i = 0; i < COUNT(backends); i++)
		if (!backends[i]->is_reference && !backends[i]->unavailable &&
		    backends[i]->impose &&
		    backends[i]->precisions >> PRECISION_FP64 & 1)
			return backends[i];
	return NULL;
}

const struct backend *backend_single(void)
{
	return &single_backend;
}
