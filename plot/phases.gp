# Shares of an epoch's time: a bar for each target, its name above it.
load 'style.gp'
file = 'phases.csv'

# Apart in lightness, too, for the colour-blind: tests/command/pictures.bats holds it.
fills = '#58aafd #feb935 #ed7a4d #b78bb8 #796cff #e9e7f6 #4ff1ab #788770'
names = 'compute wait reduce update iteration loader test other'
array used[8]
do for [p = 1:8] { used[p] = 0 }
see(p, share) = used[p] = used[p] + share
stats file using (keep(column('series'), strcol('label')), \
	see(int(column('phase')) + 1, column('to') - column('from')), 0) \
	nooutput
shown = 0
do for [p = 1:8] { shown = shown + (used[p] >= 0.05) }

keys = line * ((shown + 1) / 2) + 10
total = 6. + 58 * series + below + keys
eval draw(total)
set output 'phases.svg'

set lmargin 2
set rmargin 3
set tmargin at screen 1 - 4. / total
set bmargin at screen (keys + below) / total
set xrange [0:100]
set yrange [series - 0.4:-0.8]
unset ytics
set xlabel 'share of the time of an epoch (%)'
set key at screen 0.02, keys / total left top Left reverse vertical \
	maxcols 2 maxrows ((shown + 1) / 2) samplen 1.5 width 2
set style fill solid 1 noborder
span(p) = column('phase') == p ? column('from') : NaN
share(f) = column('to') - column('from')
# Two characters of it take about 4 % of the width.
says(share, name) = sprintf(share > 2.2 * (strlen(name) + 5) ? \
	name . ' %.0f %%' : '%.0f %%', share)
plot for [p = 0:7] file using (used[p + 1] >= 0.05 ? span(p) : NaN): \
		(column('series') + 0.05):(column('from')):(column('to')): \
		(column('series') - 0.2):(column('series') + 0.3) \
		with boxxyerror lc rgb word(fills, p + 1) \
		title (used[p + 1] >= 0.05 ? word(names, p + 1) : ''), \
	file using (share(0) >= 8 ? \
		(column('from') + column('to')) / 2 : NaN): \
		(column('series') + 0.05):(says(share(0), strcol('name'))) \
		with labels center textcolor rgb '#1a1a1a' notitle, \
	file using (strcol('label') ne '-' ? 0 : NaN): \
		(column('series') - 0.45):(strcol('label')) with labels left \
		offset 0.2,0 textcolor rgb ink noenhanced notitle
