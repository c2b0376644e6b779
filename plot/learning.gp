# Accuracy and loss over the seconds of the training loop.
load 'style.gp'
file = 'learning.csv'

best = 0
worst = 100
last = 0
all = 0
goals = ''
array tests[24]
array losses[24]
array lines[24]
array goal_of[24]
do for [i = 1:24] {
	tests[i] = 0; losses[i] = 0; lines[i] = 0; goal_of[i] = NaN
}
see(i, t, accuracy) = (goal_of[i] = column('target') > 0 ? \
	column('target') : goal_of[i], last = t > last ? t : last, \
	lines[i] = lines[i] + (column('train_loss') > 0), \
	losses[i] = losses[i] + (column('test_loss') > 0), \
	accuracy == accuracy ? (all = all + 1, tests[i] = tests[i] + 1, \
	best = accuracy > best ? accuracy : best, \
	worst = accuracy < worst ? accuracy : worst) : 0)
stats file using (keep(column('series'), strcol('label')), \
	see(int(column('series')) + 1, column('seconds'), \
	column('accuracy')), 0) nooutput

# The accuracies that were asked for, each once; 99 % where none was. One that
# is far from what was reached would press all else together.
do for [i = 1:series] {
	goal = goal_of[i] == goal_of[i] ? sprintf('%g', goal_of[i]) : ''
	if (strlen(goal) && !strstrt(' '.goals, ' '.goal.' ')) {
		goals = goals . goal . ' '
	}
}
if (!strlen(goals)) { goals = '99 ' }
near = ''
low = worst
high = best
do for [i = 1:words(goals)] {
	goal = real(word(goals, i))
	if (goal < best + 0.5 && goal > worst - (best - worst) - 0.5) {
		near = near . word(goals, i) . ' '
		low = goal < low ? goal : low
		high = goal > high ? goal : high
	}
}
dashed = words(near) ? ', dashed:' : ''
do for [i = 1:words(near)] {
	dashed = dashed . (i > 1 ? ',' : '') . ' ' . word(near, i) . ' %'
}

# What there is to draw, with its line in the key.
of(s) = column('series') == s ? column('seconds') : NaN
draw_lines(s, what) = sprintf(" file using (of(%d)):(column('%s')) \
	with lines lw 1 lc rgb colour(%d) ", s, what, s)
draw_marks(s, what) = sprintf(" file using (of(%d)):(column('%s')) \
	with linespoints lw 2 pt shape(%d) ps size lc rgb colour(%d) ", \
	s, what, s, s)
draw_key(s) = sprintf(" keyentry with linespoints lw 2 pt shape(%d) \
	ps size lc rgb colour(%d) ", s, s)
name(s) = sprintf('title label[%d],', s + 1)
above = ''
under = ''
do for [s = 0:series - 1] {
	if (lines[s + 1] > 0) {
		under = under . draw_lines(s, 'train_loss') . \
			(losses[s + 1] > 0 ? 'notitle,' : name(s))
	}
}
do for [s = 0:series - 1] {
	if (tests[s + 1] > 0) {
		above = above . draw_marks(s, 'accuracy') . 'notitle,'
	}
	if (losses[s + 1] > 0) {
		under = under . draw_marks(s, 'test_loss') . name(s)
	} else {
		# Marks above alone have their name here as well.
		if (tests[s + 1] > 0 && !(lines[s + 1] > 0)) {
			under = under . draw_key(s) . name(s)
		}
	}
}

upper = strlen(above) ? 190. : 0.
lower = 226.
keys = line * series + 10
total = upper + lower + keys + below
eval draw(total)
set output 'learning.svg'

size = all > 12 * series ? 0.4 : 0.7
set border 3 lc rgb ink
set grid xtics ytics lc rgb faint lt 1 lw 1, lc rgb faint lt 1 lw 1
set lmargin 7
set rmargin 3
last = end(last)
set xrange [0:last * 1.03]
set xtics tic(last, 6)
set multiplot
if (strlen(above)) {
	set key off
	set tmargin at screen 1 - 30. / total
	set bmargin at screen 1 - (upper - 14.) / total
	set format x ''
	set label 2 'test accuracy (%)'.dashed \
		at graph 0, 1.1 left textcolor rgb ink
	if (high > low) {
		set ytics tic(high - low, 5)
		set yrange [*<low:high<*]
	} else {
		set yrange [best - 1:best + 1]
	}
	do for [i = 1:words(near)] {
		goal = real(word(near, i))
		set arrow i from graph 0, first goal to graph 1, first goal \
			nohead lc rgb behind dt 2 lw 1.5
	}
	eval 'plot' . above
	unset arrow
	set autoscale y
}
set format x '%g'
set tmargin at screen 1 - (upper + 30.) / total
set bmargin at screen (keys + below) / total
set label 2 'loss, logarithmic' at graph 0, 1.1 left textcolor rgb ink
set xlabel 'seconds of training'
set logscale y
set ytics autofreq
# Where no loss has a logarithm, something beyond the range is drawn: gnuplot
# wants more than names.
some = 0
do for [i = 1:series] { some = some + losses[i] + lines[i] }
if (some == 0) {
	set yrange [0.1:10]
	under = ' 0.01 with lines notitle,' . under
}
eval list(series, 2)
if (strlen(under)) { eval 'plot' . under }
unset multiplot
