# Seconds per epoch: a row for each target, its name above its marks.
load 'style.gp'
file = 'epochs.csv'

kinds = 'each measured each measured model post-example post-Colab'
disturbed = '0 0 1 1 0 0 0'
names = "'one run or epoch' 'mean and spread' \
	'one run or epoch, disturbed' 'mean and spread, disturbed' \
	'a free CPU for each core (estimate)' \
	'the post, example files (2020)' 'the post, Colab files (2020)'"
# How far below the top of its row a kind is, and what it looks like.
places = '40 40 40 40 58 -16 -16'
looks = "'pt 7 ps 0.5 lc rgb behind' 'pt 7 ps 1 lw 2.5 lc rgb colour(0)' \
	'pt 6 ps 0.6 lw 1.2 lc rgb behind' 'pt 6 ps 1 lw 2 lc rgb colour(0)' \
	'pt 4 ps 0.9 lw 2 lc rgb colour(2)' \
	'pt 12 ps 1 lw 1.5 lc rgb colour(1)' 'pt 8 ps 1 lw 1.5 lc rgb colour(3)'"

low = 1e300
high = 0
array found[7]
do for [k = 1:7] { found[k] = 0 }
see(s) = s == s && s > 0 ? (low = s < low ? s : low, \
	high = s > high ? s : high) : 0
is(name) = strcol('kind') eq name
a(k) = is(word(kinds, k)) && (column('disturbed') == 1) == word(disturbed, k) + 0
stats file using (see(column('seconds')), see(column('low')), \
	see(column('high')), \
	sum [k = 1:7] (found[k] = found[k] + a(k)), \
	series = column('series') + 1, 0) nooutput
shown = 0
do for [k = 1:7] { shown = shown + (found[k] > 0) }

row = 58. + 16 * (found[5] > 0) + 18 * (found[6] > 0)
keys = line * shown + 10
total = 6 + row * series + below + keys
eval draw(total)
set output 'epochs.svg'

set xlabel 'seconds per epoch'
# Far apart, they would stick to the axis.
if (high > 40 * low) {
	set logscale x
	left = low / 1.5
	right = high * 1.5
	set xlabel 'seconds per epoch, logarithmic'
} else {
	left = 0
	right = end(high) * 1.06
	set xtics tic(right, 7)
}
set xrange [left:right]
set yrange [series * row:0]
unset ytics
set lmargin 2
set rmargin 2
set tmargin at screen 1 - 6. / total
set bmargin at screen (keys + below) / total
set key at screen 0.02, keys / total left top Left reverse vertical \
	maxcols 1 samplen 2

do for [i = 1:series - 1] {
	set arrow from graph 0, first i * row to graph 1, first i * row nohead \
		lc rgb faint lw 1 back
}
at(k) = a(k) ? column('seconds') : NaN
y(pixels) = column('series') * row + (pixels < 0 ? row + pixels : pixels)
what = "plot file using (is('label') ? left : NaN):(y(16)):(strcol('label')) \
		with labels left offset 0.3,0 textcolor rgb ink noenhanced \
		notitle, \
	file using (is('label') ? right : NaN):(y(16)):(strcol('text')) \
		with labels right offset -0.3,0 textcolor rgb ink noenhanced \
		notitle"
do for [k = 1:7] {
	if (found[k] > 0) {
		what = what . sprintf(", file using (at(%d)):(y(%s))%s %s \
			title '%s'", k, word(places, k), \
			word(kinds, k) eq 'each' ? ' with points' : ':(column("low")): \
			(column("high")) with xerrorbars', \
			word(looks, k), word(names, k))
	}
}
eval what
