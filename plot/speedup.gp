# Speed-up against cores: measured, estimated (emulated in the data) and ideal.
load 'style.gp'
file = 'speedup.csv'

most = 1
top = 1
cpus = 0
array emulated[24]
array repeated[24]
disturbed = 0
do for [i = 1:24] { emulated[i] = 0; repeated[i] = 0 }
see(y) = top = y > top ? y : top
count(i) = (emulated[i] = emulated[i] + \
	(column('emulated') == column('emulated')), \
	repeated[i] = repeated[i] + (column('low') == column('low')), \
	disturbed = disturbed + (column('disturbed') == 1))
stats file using (keep(column('group'), strcol('label')), \
	most = column('cores') > most ? column('cores') : most, \
	see(column('cores')), see(column('speedup')), see(column('high')), \
	see(column('emulated')), \
	count(int(column('group')) + 1), \
	column('cpus') < column('cores') && column('cpus') > cpus ? \
		(cpus = column('cpus')) : 0, 0) nooutput

# What there is to draw, with its line in the key.
of(g) = column('group') == g ? column('cores') : NaN
shared(x) = x < cpus ? x : cpus
what = "plot x >= 1 ? x : NaN with lines lw 1.5 dt 3 lc rgb ink title 'ideal'"
drawn = 1
if (cpus > 0) {
	what = what . ", x >= 1 ? shared(x) : NaN with lines lw 1.5 \
		lc rgb behind title sprintf('ideal on the %d CPU%s that \
they share', cpus, cpus > 1 ? 's' : '')"
	drawn = drawn + 1
}
do for [g = 0:series - 1] {
	if (emulated[g + 1] > 0) {
		what = what . sprintf(", file using \
			(of(%d)):(column('emulated')) with linespoints lw 1.5 \
			dt 2 pt shape(%d) - 1 ps 0.9 lc rgb colour(%d) \
			title label[%d] . ', estimate'", \
			g, g, g, g + 1)
		drawn = drawn + 1
	}
}
# Marks of disturbed runs are hollow.
filled(x) = column('disturbed') == 1 ? NaN : x
hollow(x) = column('disturbed') == 1 ? x : NaN
do for [g = 0:series - 1] {
	what = what . sprintf(", file using (of(%d)):(column('speedup')) \
		with lines lw 2 lc rgb colour(%d) notitle", g, g)
	if (repeated[g + 1] > 0) {
		what = what . sprintf(", file using (of(%d)): \
			(column('speedup')):(column('low')):(column('high')) \
			with yerrorbars lw 1.5 pt 0 lc rgb colour(%d) \
			notitle", g, g)
	}
	what = what . sprintf(", file using (filled(of(%d))): \
		(column('speedup')) with points pt shape(%d) ps 0.9 \
		lc rgb colour(%d) notitle, \
		file using (hollow(of(%d))):(column('speedup')) with points \
		pt shape(%d) - 1 ps 0.9 lw 1.5 lc rgb colour(%d) notitle, \
		keyentry with linespoints lw 2 pt shape(%d) ps 0.9 \
		lc rgb colour(%d) title label[%d] . ', measured'", \
		g, g, g, g, g, g, g, g, g + 1)
	drawn = drawn + 1
}
if (disturbed > 0) {
	what = what . ", keyentry with points pt 6 ps 0.9 lw 1.5 \
		lc rgb behind title 'hollow: disturbed, or above CPUs'"
	drawn = drawn + 1
}

keys = line * drawn + 10
total = 300. + keys + below
eval draw(total)
set output 'speedup.svg'

set border 3 lc rgb ink
set grid xtics ytics lc rgb faint lt 1 lw 1, lc rgb faint lt 1 lw 1
set lmargin 6
set rmargin 3
set tmargin at screen 1 - 30. / total
set bmargin at screen (keys + below) / total
set label 1 'times the speed of one core' at graph 0, 1.06 left \
	textcolor rgb ink
set xlabel 'cores'
set xrange [0.5:most + 0.5]
set yrange [0:top * 1.06]
step = most <= 10 ? 1 : tic(most, 8)
set xtics 0, step
step = top <= 10 ? 1 : tic(top, 8)
set ytics 0, step
eval list(drawn, 3)
set samples 200
eval what
