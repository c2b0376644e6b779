# What all pictures have in common. gnuplot runs it in a folder that bench made,
# with the picture's own script and its data; no name of a file or of a target
# is ever part of a script. Labels come from the data, and those of their signs
# that are not plain are private characters that bench turns back.
#
# Colours are those of the table in bench/report/pictures/plot_svg.c, which has their
# dark ones.
set encoding utf8
set datafile separator comma
set datafile columnheaders

ink = '#222222'
behind = '#6b6b6b'
faint = '#d4d4d4'
colours = '#0072b2 #d55e00 #00805e #b0508c #856a00 #5a4fcf'
points = '7 5 9 13 11 15'
colour(i) = word(colours, int(i) % 6 + 1)
shape(i) = int(word(points, int(i) % 6 + 1))

# The page shows a picture at four fifths of its size on a phone.
width = 450
font = 'sans-serif,15'
draw(height) = sprintf("set terminal svg size %d,%d dynamic rounded \
	font '%s' name 'gnuplot'", width, height, font)

set border 1 lc rgb ink
set tics textcolor rgb ink nomirror out scale 0.5
set grid xtics lc rgb faint lt 1 lw 1, lc rgb faint lt 1 lw 1
set format x '%g'
set format y '%g'
set key textcolor rgb ink noenhanced
set errorbars small
set xtics offset 0,0.35
set xlabel offset 0,0.8 textcolor rgb ink

# The end of an axis that begins at 0: where all is 0, it has a length too.
end(most) = most > 0 ? most : 1

# Between two tics, so that there are at most so many of them.
nice(step, unit) = step <= unit ? unit : step <= 2 * unit ? 2 * unit : \
	step <= 5 * unit ? 5 * unit : 10 * unit
tic(span, count) = nice(span / real(count), \
	10 ** floor(log10(span / real(count))))

# Of a line of text, a line of the key and what is below an x axis, in pixels.
line = 22.5
below = 56.

# A key of so many lines, below a plot that may be less high. gnuplot would put
# them into columns then, the last of them beyond the edge; so it is told that
# they take no room, for which it moves them up by half of what they take.
list(lines, samples) = sprintf("set key at screen 0.02, %f left top Left \
	reverse vertical maxcols 1 height -%d samplen %d", \
	(keys - lines * line / 2.) / total, lines, samples)

# The label that each series has in a row of its own, and how many there are.
array label[24]
series = 0
keep(i, text) = text ne '-' ? (label[int(i) + 1] = text, \
	series = int(i) + 1 > series ? int(i) + 1 : series) : 0
