/* Lists of images in files: which there are, in which order, with what to be
 * learned of them. */
#include "bench/data/folder.h"

#include <unistd.h>

#include "bench/data/targets.h"
#include "tests/cmocka.h"
#include "tests/unit/idx_files.h"

/* A file of one byte, and the folders above it. */
static void make_file(const char *name)
{
	char above[200];

	snprintf(above, sizeof(above), "%.*s",
		 (int)(strrchr(name, '/') - name), name);
	make_folder(above);
	write_file(in_folder(name), "x", 1);
}

static void assert_sample(const struct folder *list,
			  const struct folder_part *part, int index,
			  const char *name, int label)
{
	uint16_t found = UINT16_MAX;
	char path[PATH_MAX];

	folder_path(list, part, index, path, sizeof(path));
	assert_string_equal(path + strlen(list->dir) + 1, name);
	folder_target(list, part, index, &found, NULL);
	assert_int_equal(found, label);
}

static void names_are_sorted_byte_by_byte(void **state)
{
	static const char *const names[] = {
		"sorted/train/b/1.png", "sorted/train/B/2.jpg",
		"sorted/train/a/9.jpeg", "sorted/train/a/10.PNG",
		"sorted/train/a/.x.png", "sorted/train/a/x.gif",
		"sorted/train/a/jpg", "sorted/train/lone.png",
		"sorted/test/a/2.JPG", "sorted/test/B/1.png",
	};
	struct folder list;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make_file(names[i]);
	if (folder_list(&list, in_folder("sorted"), &err))
		fail_msg("%s", err.message);
	assert_int_equal(list.classes, 3);
	assert_int_equal(list.train.count, 4);
	assert_sample(&list, &list.train, 0, "train/B/2.jpg", 0);
	assert_sample(&list, &list.train, 1, "train/a/10.PNG", 1);
	assert_sample(&list, &list.train, 2, "train/a/9.jpeg", 1);
	assert_sample(&list, &list.train, 3, "train/b/1.png", 2);
	assert_int_equal(list.test.count, 2);
	assert_sample(&list, &list.test, 0, "test/B/1.png", 0);
	assert_sample(&list, &list.test, 1, "test/a/2.JPG", 1);
	assert_true(folder_is_split(&list));
	assert_true(folder_bytes(&list) > 0);
	folder_release(&list);
}

/* In the order of sorted(os.walk()), which sorts the folders' paths: "b-c"
 * comes before "b/d". Skipped files are counted by reason. */
static void classes_may_have_folders(void **state)
{
	static const char *const names[] = {
		"nest/train/a/z.png", "nest/train/a/b/y.JPG",
		"nest/train/a/b-c/x.png", "nest/train/a/b/d/w.jpeg",
		"nest/train/a/c.png/v.png", "nest/train/b/images/u.png",
		"nest/val/a/images/t.png", "nest/val/b/s.png",
		"nest/train/a/b/r.webp", "nest/train/a/q.BMP",
		"nest/train/a/.p.png", "nest/train/a/.hidden/d/o.tif",
		"nest/train/a/.n.txt", "nest/val/b/boxes.txt",
		"nest/train/m.png", "nest/val/l.ppm", "nest/val/read.me",
	};
	static const char *const order[] = {
		"train/a/z.png", "train/a/b/y.JPG", "train/a/b-c/x.png",
		"train/a/b/d/w.jpeg", "train/a/c.png/v.png",
		"train/a/link/t.png", "train/b/images/u.png",
	};
	struct folder list;
	struct error err;
	char note[512];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make_file(names[i]);
	assert_int_equal(symlink("../../val/a/images",
				 in_folder("nest/train/a/link")), 0);
	if (folder_list(&list, in_folder("nest"), &err))
		fail_msg("%s", err.message);
	assert_int_equal(list.train.count, 7);
	for (int i = 0; i < 7; i++)
		assert_sample(&list, &list.train, i, order[i], i == 6);
	assert_int_equal(list.test.count, 2);
	assert_sample(&list, &list.test, 0, "val/a/images/t.png", 0);
	folder_note(&list, note, sizeof(note));
	assert_string_equal(note, "2 files left out, bench reads JPEG and PNG "
			    "only (train/a/b/r.webp, ...); 2 files left out, "
			    "the name begins with a dot (train/a/.hidden/d/o."
			    "tif, ...); 1 file left out, the name is not an "
			    "image's (val/b/boxes.txt); 2 files left out, not "
			    "in the folder of a class (train/m.png, ...)");
	folder_release(&list);
}

/* Lists grow as they have to. */
static void there_may_be_many(void **state)
{
	struct folder list;
	struct error err;
	char name[64];

	(void)state;
	for (int i = 0; i < 700; i++) {
		snprintf(name, sizeof(name), "many/%s/c%d/%03d.png",
			 i % 7 ? "train" : "val", i % 2, i);
		make_file(name);
	}
	assert_int_equal(folder_list(&list, in_folder("many"), &err), 0);
	assert_int_equal(list.train.count, 600);
	assert_int_equal(list.test.count, 100);
	assert_sample(&list, &list.train, 599, "train/c1/699.png", 1);
	assert_sample(&list, &list.test, 99, "val/c1/693.png", 1);
	folder_release(&list);
}

static void what_is_wrong_is_told(void **state)
{
	static const struct {
		const char *file, *words;
		enum error_kind kind;
	} cases[] = {
		{ "wrong/file", "has no folder train", ERROR_MISSING },
		{ "wrong/train/x", "has no folder of a class", ERROR_INPUT },
		{ "wrong/train/a/x", "train/a: has no file .jpg", ERROR_INPUT },
		{ "wrong/train/a/x.webp", "convert the images", ERROR_INPUT },
		{ "wrong/train/a/1.png", "has no folder val", ERROR_MISSING },
		{ "wrong/val/b/1.png", "val/b: train has no", ERROR_INPUT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct folder list;
		struct error err;

		make_file(cases[i].file);
		assert_int_equal(folder_list(&list, in_folder("wrong"), &err),
				 -1);
		if (!strstr(err.message, cases[i].words))
			fail_msg("%s, not: %s", err.message, cases[i].words);
		assert_int_equal(err.kind, cases[i].kind);
		folder_release(&list);
	}
}

/* Of a folder listed as it is now; *bytes: of its files, which are taken for
 * more where there are too many to read. */
static void hash_now(char hex[HASH_SHA256_SIZE], int are_many, double *bytes)
{
	struct folder list;
	struct error err;

	assert_int_equal(folder_list(&list, in_folder("hash"), &err), 0);
	*bytes = list.file_bytes;
	if (are_many)
		list.file_bytes = FOLDER_HASHED_BYTES + 1.;
	folder_hash(&list, hex);
	folder_release(&list);
}

/* The last image becomes another one, of as many bytes and then of more. */
static void a_hash_is_of_bytes_or_of_sizes(void **state)
{
	static const char *const texts[] = { "x", "y", "yy" };
	char hex[2][3][HASH_SHA256_SIZE];
	double bytes;

	(void)state;
	make_file("hash/train/a/1.png");
	make_file("hash/val/a/2.png");
	for (size_t i = 0; i < 3; i++) {
		write_file(in_folder("hash/val/a/2.png"), texts[i],
			   strlen(texts[i]));
		for (int are_many = 0; are_many < 2; are_many++) {
			hash_now(hex[are_many][i], are_many, &bytes);
			assert_true(bytes == 1. + (double)strlen(texts[i]));
		}
		assert_string_not_equal(hex[0][i], hex[1][i]);
	}
	assert_string_not_equal(hex[0][0], hex[0][1]);
	assert_string_not_equal(hex[0][1], hex[0][2]);
	assert_string_equal(hex[1][0], hex[1][1]);
	assert_string_not_equal(hex[1][1], hex[1][2]);
}

#define ROWS 140
#define EVEN 98 /* of the first rows, groups a to g have as many each */

/* Of the others, most are g's, which is the largest by far. Row i has the
 * labels of its bits. */
static void make_targets(const char *path)
{
	FILE *file = fopen(path, "w");
	char name[64];

	assert_non_null(file);
	fputs("path,group,one,two,four\n", file);
	for (int i = 0; i < ROWS; i++) {
		snprintf(name, sizeof(name), "rows/all/%d.png", i);
		make_file(name);
		fprintf(file, "all/%d.png,%c,%d,%d,%d\n", i,
			'a' + (i < EVEN ? i % 7 : i % 5 ? 6 : 5), i & 1,
			i >> 1 & 1, i >> 2 & 1);
	}
	fclose(file);
}

/* Each row is in one of the two, in the order of the file; the test has g, and
 * no other group. */
static void rows_are_split_by_group(void **state)
{
	char path[PATH_MAX];
	struct folder list;
	struct error err;
	int at[2] = { 0 };

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("targets.csv"));
	make_targets(path);
	if (targets_list(&list, in_folder("rows"), path, &err))
		fail_msg("%s", err.message);
	assert_int_equal(list.classes, 3);
	assert_int_equal(list.train.count + list.test.count, ROWS);
	assert_false(folder_is_split(&list));
	for (int i = 0; i < ROWS; i++) {
		const int is_test = i < EVEN ? i % 7 == 6 : i % 5 != 0;
		const struct folder_part *part = is_test ? &list.test :
							   &list.train;
		char found[PATH_MAX], name[64];
		float values[3];

		snprintf(name, sizeof(name), "/all/%d.png", i);
		folder_path(&list, part, at[is_test], found, sizeof(found));
		assert_string_equal(found + strlen(list.dir), name);
		folder_target(&list, part, at[is_test]++, NULL, values);
		for (int k = 0; k < 3; k++)
			assert_true(values[k] == (float)(i >> k & 1));
	}
	folder_release(&list);
}

/* The second row of an image has another group and other labels. */
static void an_image_has_one_row(void **state)
{
	static const char *const names[] = { "all/1.png", "all/../all/1.png",
					     "soft.png", "hard.png" };
	char path[PATH_MAX], words[200];

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("repeat.csv"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct folder list;
		struct error err;
		FILE *file;

		make_targets(path);
		if (!i) {
			assert_int_equal(symlink("all/1.png", in_folder(
						 "rows/soft.png")), 0);
			assert_int_equal(link(in_folder("rows/all/1.png"),
					      in_folder("rows/hard.png")), 0);
		}
		file = fopen(path, "a");
		assert_non_null(file);
		fprintf(file, "%s,z,0,0,1\n", names[i]);
		fclose(file);
		assert_int_equal(targets_list(&list, in_folder("rows"), path,
					      &err), -1);
		assert_int_equal(err.kind, ERROR_INPUT);
		snprintf(words, sizeof(words), ":%d: %s is the image of line 3 "
			 "(all/1.png)", ROWS + 2, names[i]);
		if (!strstr(err.message, words))
			fail_msg("%s, not: %s", err.message, words);
		folder_release(&list);
	}
}

static void wrong_targets_have_a_line(void **state)
{
	static const char *const cases[][2] = {
		{ "path,group\n", ":1: a header of too few columns" },
		{ "path,study,a\n", ":1:2: expected the column group" },
		{ "path,group,a\nx,y,2\n", ":2:3: expected 0 or 1" },
		{ "path,group,a\n\nx,y\n", ":3: fewer cells" },
		{ "path,group,a\nx,y,1,0\n", ":2: more cells" },
		{ "path,group,a\nx,y,\"1\n", ":2: a quote that is never" },
		{ "path,group,a\nnone,y,1\nn,a,1\nn,b,1\nn,c,1\nn,d,0",
		  ":2: " },
	};
	const char *path = in_folder("wrong.csv");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct folder list;
		struct error err;

		write_file(path, cases[i][0], strlen(cases[i][0]));
		assert_int_equal(targets_list(&list, folder, path, &err), -1);
		assert_int_equal(err.kind, ERROR_INPUT);
		if (strncmp(err.message, path, strlen(path)) ||
		    strncmp(err.message + strlen(path), cases[i][1],
			    strlen(cases[i][1])))
			fail_msg("%s, not: %s", err.message, cases[i][1]);
		folder_release(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_sorted_byte_by_byte),
		cmocka_unit_test(classes_may_have_folders),
		cmocka_unit_test(there_may_be_many),
		cmocka_unit_test(what_is_wrong_is_told),
		cmocka_unit_test(a_hash_is_of_bytes_or_of_sizes),
		cmocka_unit_test(rows_are_split_by_group),
		cmocka_unit_test(an_image_has_one_row),
		cmocka_unit_test(wrong_targets_have_a_line),
	};

	return cmocka_run_group_tests_name("folder", tests, folder_make,
					   folder_remove);
}
