/* What gnuplot may see of a text, and what becomes of what it drew. */
#include "bench/report/pictures/plot.h"

#include "bench/report/pictures/plot_svg.h"
#include "tests/cmocka.h"
#include "tests/unit/rows.h"

#define HEAD                                                                   \
	"<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 450 300\"\n>\n"        \
	"<title>Gnuplot</title>\n<g id=\"gnuplot_canvas\">\n"
#define TAIL "</g>\n</svg>\n\n"

/* The element for text between head and tail; the caller frees it. */
static char *element(const char *text)
{
	char drawn[4096], *shown = NULL;
	struct plot_svg svg = { .name = "epochs", .title = "A title",
				.text = drawn };
	struct error err = { .message = "" };
	size_t size;
	FILE *out = open_memstream(&shown, &size);

	assert_non_null(out);
	snprintf(drawn, sizeof(drawn), "%s%s%s", HEAD, text, TAIL);
	svg.size = strlen(drawn);
	if (plot_svg_check(&svg, &err))
		fail_msg("%s", err.message);
	plot_svg_print_element(out, &svg);
	fclose(out);
	return shown;
}

static void assert_shows(const char *drawn, const char *expected)
{
	char *shown = element(drawn);

	if (!strstr(shown, expected))
		fail_msg("expected %s in:\n%s", expected, shown);
	free(shown);
}

static void assert_hides(const char *drawn, const char *unwanted)
{
	char *shown = element(drawn);

	if (strstr(shown, unwanted))
		fail_msg("there is %s in:\n%s", unwanted, shown);
	free(shown);
}

static void only_harmless_characters_reach_gnuplot(void **state)
{
	static const char harmless[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_-+.:;@()/ ";
	char text[2] = "", encoded[8];

	(void)state;
	for (int c = 1; c < 0x80; c++) {
		text[0] = (char)c;
		plot_encode(encoded, sizeof(encoded), text);
		if (strchr("+-@", c)) {
			/* At the beginning they might start a formula. */
			assert_int_not_equal(encoded[0], c);
			continue;
		}
		if (strchr(harmless, c))
			assert_string_equal(encoded, text);
		else
			assert_memory_equal(encoded, "\xEE", 1);
	}
	plot_encode(encoded, sizeof(encoded), "a-b\xC3\xA9");
	assert_string_equal(encoded, "a-b\xC3\xA9");
	/* Whole characters, as many as there is room for. */
	plot_encode(encoded, 5, "<>");
	assert_int_equal(strlen(encoded), 3);
	plot_encode(encoded, 3, "<");
	assert_string_equal(encoded, "");
}

static void labels_come_back_escaped(void **state)
{
	char encoded[64], drawn[128];

	(void)state;
	plot_encode(encoded, sizeof(encoded), "=`a` <b> & \"c\" \\n|'");
	snprintf(drawn, sizeof(drawn), "<text>%s</text>\n", encoded);
	assert_shows(drawn, "<text>=`a` &#60;b&#62; &#38; &#34;c&#34; \\n|&#39;"
			    "</text>");
	plot_encode(encoded, sizeof(encoded), "a\001\x7F");
	snprintf(drawn, sizeof(drawn), "<text>%s</text>\n", encoded);
	assert_shows(drawn, "<text>a&#63;&#63;</text>");
}

static void names_are_the_pictures_own(void **state)
{
	(void)state;
	assert_shows("<path id='gpPt0'/>", "<path id='epochs-gpPt0'/>");
	assert_shows("<use xlink:href='#gpPt0' id='gpPt1'/>",
		     "<use href='#epochs-gpPt0' id='epochs-gpPt1'/>");
	assert_shows("", "<svg viewBox=\"0 0 450 300\" role=\"img\" "
			 "aria-labelledby=\"epochs-title\">\n"
			 "<title id=\"epochs-title\">A title</title>");
	assert_hides("<g id=\"p\" ><title>plot_1</title></g>", "plot_1");
	assert_hides("<filter id='t'><feFlood/></filter>", "feFlood");
}

static void colours_are_those_of_the_style(void **state)
{
	(void)state;
	assert_shows("<path stroke='rgb( 34,   0, 255)'/>",
		     "<path stroke='#2200ff'/>");
	assert_shows("<g fill=\"rgb(34,34,34)\">a</g>",
		     "<g fill=\"#222222\">a</g>");
}

static void empty_groups_are_left_out(void **state)
{
	(void)state;
	assert_hides("<g fill=\"none\" color=\"red\">\n</g>\n", "red");
	assert_shows("<g fill=\"none\" color=\"red\">\n<path/></g>\n",
		     "<g fill=\"none\" color=\"red\">\n<path/></g>");
}

static void others_drawings_are_refused(void **state)
{
	static const char *const wrong[] = {
		"", "<svg></svg>", HEAD, HEAD "</g>\n", HEAD TAIL "more",
		HEAD "<script>a</script>" TAIL, HEAD TAIL HEAD TAIL,
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct plot_svg svg = { "epochs", "t", wrong[i],
					      strlen(wrong[i]) };

		assert_int_equal(plot_svg_check(&svg, &err), -1);
		assert_int_equal(err.kind, ERROR_FAILED);
	}
}

/* The rows of phases.csv; the caller frees them. */
static char *phases_of(struct campaign *campaign, struct plot_note *note)
{
	struct plot plot;
	struct error err;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	*note = (struct plot_note){ .rows = 0 };
	if (plot_build(&plot, campaign, &err) ||
	    plot_write_phases(out, &plot, note, &err))
		fail_msg("%s", err.message);
	fclose(out);
	plot_free(&plot);
	campaign_release(campaign);
	return text;
}

/* Drops the last row of this phase, and those after it. */
static void end_before(struct made *made, const char *phase)
{
	while (strcmp(made->rows[--made->count].phase, phase))
		;
}

/* Epochs take 5 s and 6 s, and what the third has done is not in the shares. */
static void unfinished_epochs_have_no_share(void **state)
{
	struct campaign campaign = { 0 };
	struct plot_note note;
	struct made made;
	char *text;

	(void)state;
	made_run(&made, "r1", "cpu-1", 1, .1);
	end_before(&made, "epoch");
	made_into(&campaign, &made, 1);
	made_status(&campaign, "partial", "interrupted");
	text = phases_of(&campaign, &note);
	/* 2 s of 11 are computed, 2 s loaded, 4 s tested: 3 s are left. */
	assert_non_null(strstr(text, "0,0,compute,0,18.18"));
	assert_non_null(strstr(text, "0,7,other,72.72"));
	assert_non_null(strstr(note.text, "of unfinished runs"));
	free(text);
	made_run(&made, "r1", "cpu-1", 1, .1);
	made_into(&campaign, &made, 1);
	text = phases_of(&campaign, &note);
	assert_non_null(strstr(text, "0,0,compute,0,16.66"));
	assert_string_equal(note.text, "");
	free(text);
}

/* Each core has epochs of its own, whose rows may come in any order. */
static void each_core_has_its_epochs(void **state)
{
	static const struct {
		long core, epoch;
		const char *phase;
		double seconds;
	} given[] = {
		{ 0, 1, "compute", 3 }, { 1, 1, "epoch", 4 },
		{ 1, 2, "compute", 9 }, { 0, 2, "compute", 2 },
		{ 1, 1, "compute", 1 }, { 0, 1, "epoch", 4 },
		{ 0, 2, "epoch", 2 },
	};
	enum { COUNT = sizeof(given) / sizeof(given[0]) };
	struct campaign campaign = { 0 };
	struct plot_note note;
	struct made made;
	char *text;

	(void)state;
	made_run(&made, "r1", "cpu-2", 2, .1);
	made_into(&campaign, &made, 1);
	made.count = 0;
	for (size_t i = 0; i < COUNT; i++)
		made_add(&made, given[i].phase, given[i].epoch,
			 given[i].seconds)->core = given[i].core;
	campaign.core_rows = malloc(COUNT * sizeof(made.rows[0]));
	assert_non_null(campaign.core_rows);
	memcpy(campaign.core_rows, made.rows, COUNT * sizeof(made.rows[0]));
	campaign.core_row_count = COUNT;
	text = phases_of(&campaign, &note);
	assert_non_null(strstr(text, "0,0,compute,0,60,"));
	assert_non_null(strstr(text, "0,7,other,60,100,"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_harmless_characters_reach_gnuplot),
		cmocka_unit_test(labels_come_back_escaped),
		cmocka_unit_test(names_are_the_pictures_own),
		cmocka_unit_test(colours_are_those_of_the_style),
		cmocka_unit_test(empty_groups_are_left_out),
		cmocka_unit_test(others_drawings_are_refused),
		cmocka_unit_test(unfinished_epochs_have_no_share),
		cmocka_unit_test(each_core_has_its_epochs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
