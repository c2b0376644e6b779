# What bench scale predicts for more cores: efficiency and communication.
load 'style.gp'
file = 'scale.csv'

most = 1
stats file using (keep(column('group'), strcol('label')), \
	most = column('cores') > most ? column('cores') : most, 0) nooutput

# What there is to draw, with its line in the key.
of(g) = column('group') == g ? column('cores') : NaN
what = 'plot'
do for [g = 0:series - 1] {
	what = what . sprintf(" file using (of(%d)):(column('efficiency')): \
		(column('low')):(column('high')) with yerrorlines lw 2 \
		pt shape(%d) ps 0.7 lc rgb colour(%d) \
		title label[%d] . ', model', file using \
		(of(%d)):(column('exposed')) with lines lw 1.5 dt 2 \
		lc rgb colour(%d) notitle,", g, g, g, g + 1, g, g)
}

keys = line * series + 10
total = 260. + keys + below
eval draw(total)
set output 'scale.svg'

set border 3 lc rgb ink
set grid xtics ytics lc rgb faint lt 1 lw 1, lc rgb faint lt 1 lw 1
set lmargin 6
set rmargin 3
set tmargin at screen 1 - 30. / total
set bmargin at screen (keys + below) / total
set label 1 'a model: efficiency (%)' \
	at graph 0, 1.06 left textcolor rgb ink
set xlabel 'cores'
set logscale x 2
set xrange [0.8:most * 1.25]
set xtics 1, 4
set yrange [0:104]
set ytics 0, 20
eval list(series, 3)
eval what
