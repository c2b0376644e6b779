/* Drivers that are installed and cannot be loaded: OpenCL's loader leaves them
 * out without a word. */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/opencl/device/candidates.h"

#define VARIABLE "OCL_ICD_VENDORS"
#define VENDORS "/etc/OpenCL/vendors"
#define SUFFIX ".icd"

static int is_vendor(const char *name)
{
	const size_t length = strlen(name), suffix = strlen(SUFFIX);

	return length > suffix && !strcmp(name + length - suffix, SUFFIX);
}

static int entry_is_vendor(const struct dirent *entry)
{
	return is_vendor(entry->d_name);
}

/* Fills candidate and returns 1 if the library cannot be loaded. name: the file
 * or variable that names it. */
static int library_fails(const char *library, const char *name,
			 struct candidate *candidate)
{
	struct device_info *info = &candidate->info;
	void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);

	if (handle) {
		dlclose(handle);
		return 0;
	}
	*candidate = (struct candidate){ .platform = NULL };
	snprintf(info->name, sizeof(info->name), "%s", name);
	snprintf(info->unusable, sizeof(info->unusable),
		 "its driver %.60s cannot be loaded: %.110s; %s", library,
		 dlerror(), getenv(VARIABLE) ?
				    "install it, or unset " VARIABLE :
				    "install it, or pocl-opencl-icd");
	return 1;
}

/* The same of a file that names a library in its first line. */
static int file_fails(const char *path, const char *name,
		      struct candidate *candidate)
{
	char library[PATH_MAX] = "";
	FILE *file = fopen(path, "r");

	if (!file)
		return 0;
	if (!fgets(library, sizeof(library), file))
		library[0] = '\0';
	fclose(file);
	library[strcspn(library, "\r\n")] = '\0';
	return library[0] && library_fails(library, name, candidate);
}

static int folder_list(const char *folder, struct candidate *list, int most)
{
	struct dirent **entries;
	const int all = scandir(folder, &entries, entry_is_vendor, alphasort);
	char path[PATH_MAX];
	int count = 0;

	for (int i = 0; i < all; i++) {
		const char *name = entries[i]->d_name;

		if (count < most &&
		    snprintf(path, sizeof(path), "%s/%s", folder, name) <
			    PATH_MAX)
			count += file_fails(path, name, &list[count]);
		free(entries[i]);
	}
	if (all >= 0)
		free(entries);
	return count;
}

int vendors_list(struct candidate *list, int most)
{
	const char *chosen = getenv(VARIABLE);
	const char *path = chosen ? chosen : VENDORS;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct stat stat_;

	if (most < 1 || stat(path, &stat_))
		return 0;
	if (S_ISDIR(stat_.st_mode))
		return folder_list(path, list, most);
	return is_vendor(path) ? file_fails(path, name, list) :
				 library_fails(path, name, list);
}
