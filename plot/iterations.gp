# Every iteration: a panel for each target.
load 'style.gp'
file = 'iterations.csv'

array top[24]
array bottom[24]
array first[24]
array last[24]
warm = 0
do for [i = 1:24] { top[i] = 0; bottom[i] = 1e300; first[i] = 1; last[i] = 1 }
see(i, x, y) = (warm = warm + (column('is_warmup') == 1), \
	top[i] = y > top[i] ? y : top[i], \
	bottom[i] = y > 0 && y < bottom[i] ? y : bottom[i], \
	first[i] = x < first[i] ? x : first[i], \
	last[i] = x > last[i] ? x : last[i])
stats file using (keep(column('series'), strcol('label')), \
	see(int(column('series')) + 1, column('iteration'), column('ms')), 0) \
	nooutput

# One scale for all, so that heights compare.
highest = 0
lowest = 1e300
do for [i = 1:series] {
	highest = top[i] > highest ? top[i] : highest
	lowest = bottom[i] < lowest ? bottom[i] : lowest
}
far = highest > 12 * lowest
highest = end(highest)

panel = 132.
head = 26.
foot = 30.
total = head + foot + panel * series
eval draw(total)
set output 'iterations.svg'

set border 3 lc rgb ink
set lmargin 8
set rmargin 3
set grid ytics lc rgb faint lt 1 lw 1, lc rgb faint lt 1 lw 1
set key off
# A short line with round ends is a dot that takes few bytes.
of(i, warm) = column('series') == i - 1 && column('is_warmup') == warm && \
	column('disturbed') != 1 ? column('iteration') : NaN
# Of a run that was disturbed it is hollow.
hollow(i, warm) = column('series') == i - 1 && column('is_warmup') == warm && \
	column('disturbed') == 1 ? column('iteration') : NaN
set multiplot
set label 1 'ms per iteration' . (far ? ', logarithmic' : '') \
	at screen 0.012, 1 - 14. / total \
	textcolor rgb ink
if (warm > 0) {
	set label 2 'orange: warm-up' at screen 0.97, 1 - 14. / total right \
		textcolor rgb colour(1)
}
do for [i = 1:series] {
	set tmargin at screen 1 - (head + panel * (i - 1) + 28) / total
	set bmargin at screen 1 - (head + panel * i - 26) / total
	set label 3 label[i] at graph 0, 1.16 left noenhanced textcolor rgb ink
	span = last[i] - first[i] + 1
	set xrange [first[i] - 0.5 - 0.01 * span:last[i] + 0.5 + 0.01 * span]
	set xtics tic(span, 6)
	unset logscale
	if (far) {
		set logscale y
		set yrange [lowest / 1.5:highest * 1.5]
		# Three of a decade where there are few decades.
		set ytics 10 ** ceil(log10(highest / lowest) / 3)
		if (highest / lowest < 100) {
			do for [at = -3:6] { do for [digit in "2 5"] {
				set ytics add (sprintf('%g', digit * 10.0 ** at) \
					digit * 10.0 ** at)
			}}
		}
	} else {
		set ytics 0, tic(highest, 3)
		set yrange [0:highest * 1.08]
	}
	thick = span < 150 ? 4 : 2.4
	if (i == series) { set xlabel 'iteration' }
	plot file using (of(i, 0)):(column('ms')):(0.001 * span):(0) \
			with vectors nohead lw thick lc rgb colour(0), \
		file using (of(i, 1)):(column('ms')):(0.001 * span):(0) \
			with vectors nohead lw thick + 1 lc rgb colour(1), \
		file using (hollow(i, 0)):(column('ms')) with points pt 6 \
			ps thick / 10. lw 0.8 lc rgb colour(0), \
		file using (hollow(i, 1)):(column('ms')) with points pt 6 \
			ps thick / 8. lw 0.8 lc rgb colour(1)
	unset label 1
	unset label 2
}
unset multiplot
