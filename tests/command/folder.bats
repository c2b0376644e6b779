#!/usr/bin/env bats
# --dataset folder: images in files.

load command.sh

setup() {
	command_setup
	IMAGES=$BATS_TEST_DIRNAME/../images
	FOLDER=(--dataset folder --data-dir set --warmup 1 -q)
	make_set
}

# Ten images of two classes to train on, four to test.
make_set() {
	mkdir -p set/train/b set/train/a set/val/a set/val/b set/.hidden
	cp "$IMAGES"/{rgb,grey,bits,palette,rgba}.png set/train/a
	cp "$IMAGES"/{halved,progressive,grey,cmyk,turned}.jpg set/train/b
	cp "$IMAGES"/{deep,interlaced}.png set/val/b
	cp "$IMAGES"/{palette-clear,grey-alpha}.png set/val/a
	mv set/train/b/grey.jpg set/train/b/GREY.JPEG
	echo text | tee set/train/notes.png set/train/a/notes.txt \
		>set/train/a/.hidden.png
}

# ends CODE WORDS ...: measure says all of them and its exit code. $TARGET has
# the target, and $OPTIONS more options.
ends() {
	local code=$1 word
	shift
	run --separate-stderr "$BENCH" measure "${TARGET:-null-1}" \
		--model tiny "${FOLDER[@]}" --epochs 1 $OPTIONS
	echo "$status: $stderr"
	[ "$status" -eq "$code" ]
	for word in "$@"; do
		[[ "$stderr" == *"$word"* ]]
	done
}

@test "a run trains on a folder and tests it" {
	local column
	run -0 "$BENCH" run cpu-1 cpu-3 cpu-2@fork --model tiny \
		"${FOLDER[@]}" --global-batch 4 --epochs 3 --lr 0.01 \
		--dropout off --out made
	for column in "dataset folder" "train_samples 10" "test_samples 4"; do
		set -- $column
		[ "$(column made/runs.csv "$1")" = "$2 $2 $2" ]
	done
	# The same images, whoever reads them.
	run awk -F, '$6 == "step" && $5 == "" && $7 > 0 {
		loss[$7 " " $8] = loss[$7 " " $8] " " $13
	} END {
		for (step in loss) {
			split(loss[step], each, " ")
			if ((each[1] - each[2]) ^ 2 > 1e-10 ||
			    (each[1] - each[3]) ^ 2 > 1e-10)
				print step, loss[step]
			count++
		}
		print count
	}' made/observations.csv
	[ "$output" = 9 ]
}

@test "a file that is bad ends the run with its name" {
	local target
	head -c 300 set/train/a/rgb.png >set/train/a/cut.png
	for target in cpu-1 cpu-3 cpu-2@fork; do
		TARGET=$target ends 5 "set/train/a/cut.png: cut short: its\
 PNG data ends too early; replace or remove the file"
	done
	rm set/train/a/cut.png
	head -c 800 set/train/b/halved.jpg >set/train/a/cut.jpg
	ends 5 "set/train/a/cut.jpg: cut short: its JPEG data ends too early"
	# libjpeg only warns of it, and Pillow says nothing.
	printf '\377\331' >>set/train/a/cut.jpg
	ends 0
	rm set/train/a/cut.jpg
	echo nothing >set/val/b/x.jpg
	ends 5 "set/val/b/x.jpg: neither a JPEG nor a PNG image"
	OPTIONS="--test off" ends 0
	# An empty file is found before the run begins.
	: >set/val/b/x.jpg
	ends 5 "set/val/b/x.jpg: empty, an image expected"
	[ -z "$output" ]
	ln -sf nowhere set/val/b/x.jpg
	ends 5 "set/val/b/x.jpg: No such file"
	ln -sf .. set/val/b/x.jpg
	ends 5 "set/val/b/x.jpg/b: a link to a folder that it is in; remove it"
}

@test "rows are UTF-8, whatever a file is called" {
	head -c 300 set/train/a/rgb.png >$'set/train/a/\xe9\xe9.png'
	run -5 "$BENCH" run null-1 cpu-1 --model tiny "${FOLDER[@]}" \
		--epochs 1 --out made
	iconv -f UTF-8 -t UTF-8 made/runs.csv >/dev/null
	[[ "$(cell made/runs.csv 2 reason)" == *"set/train/a/??.png: cut"* ]]
}

@test "images in folders of a class are taken, others are counted" {
	local left="note: 3 files left out, bench reads JPEG and PNG only\
 (train/a/0.webp, ...)"
	mkdir -p set/val/a/images
	mv set/val/a/*.png set/val/a/images
	touch set/train/a/{0,1}.webp set/val/a/2.bmp
	run -0 --separate-stderr "$BENCH" measure null-1 --model tiny \
		"${FOLDER[@]/-q/-v}" --epochs 1 --run-file row
	[[ "$stderr" == *"$left"* ]]
	[ "$(cell row 1 train_samples) $(cell row 1 test_samples)" = "10 4" ]
	run -0 --separate-stderr "$BENCH" run null-1 --model tiny \
		"${FOLDER[@]:0:6}" --epochs 1 --out made
	[[ "$stderr" == *"$left"* ]]
}

@test "a folder that is none of images says what one is" {
	OPTIONS="--dataset fake" ends 2 "--data-dir cannot be used"
	OPTIONS="--data-dir=absent" ends 4 "absent: there is no such folder"
	run -2 "$BENCH" measure null-1 --dataset folder
	[[ "$output" == *"needs --data-dir DIR"* ]]
	mv set/val set/test
	ends 0
	mv set/test set/other
	ends 4 "set: has no folder val; --dataset folder takes\
 DIR/train/CLASS/*.jpg (.jpeg, .png) and DIR/val/CLASS/*.jpg, or DIR/test"
	mv set/other set/val
	mkdir set/val/c
	ends 5 "set/val/c: train has no class of this name"
	mkdir set/train/c
	ends 5 "set/train/c: has no file .jpg, .jpeg or .png"
	rm -r set/train/*
	ends 5 "set/train: has no folder of a class"
}

@test "classes and channels have to be the model's" {
	local class
	for class in c d e f g h i j k; do
		cp -r set/train/a set/train/$class
	done
	ends 2 "model 'tiny', layer 10 (loss): has 10 classes, but data set\
 'folder' has 11, the folders in set/train"
	run -2 "$BENCH" measure null-1 --model resnet34 "${FOLDER[@]}"
	[[ "$output" == *"needs targets that are vectors of 10 values, but\
 data set 'folder' has classes"* ]]
	run -2 "$BENCH" verify cpu --model tiny --dataset folder \
		--data-dir set
	[[ "$output" == *"use --dataset synthetic, or leave out --dataset"* ]]
	run -0 "$BENCH" verify cpu --model tiny --dataset synthetic \
		--steps 1 --batch 2 --test-batch 2
}

@test "an image has three channels" {
	run -0 "$BENCH" measure cpu-1 --model resnet50 --image-size 32 \
		--batch 2 --test-batch 2 --epochs 1 --steps 1 --test-steps 1 \
		--lr 0 "${FOLDER[@]}" --run-file row
	[ "$(cell row 1 status)" = ok ]
}

# put FILE BYTE: appends BYTE to the image, instead of an a that put appended.
put() {
	[ "$(tail -c 1 "$1")" != a ] || truncate -s -1 "$1"
	printf %s "$2" >>"$1"
}

# hash FOLDER: dataset_sha256 of a run on it.
hash() {
	run -0 "$BENCH" measure null-1 --model tiny "${FOLDER[@]}" \
		--data-dir "$1" --epochs 1 --steps 1 --run-file row
	cell row 1 dataset_sha256
}

@test "the content of a folder has a hash, of all that it is" {
	local sums=() change
	for change in true "cp set/train/a/rgb.png set/train/b" \
		"cp set/train/a/bits.png set/train/a/rgb.png" \
		"mv set/train/a/rgb.png set/train/a/z.png" \
		"rm -r set/val/a" "mv set/train/b/rgb.png set/val/b" \
		"put set/train/a/bits.png a" "put set/train/a/bits.png b" \
		"put set/val/b/deep.png a" "put set/val/b/deep.png b"; do
		$change
		sums+=("$(hash set)")
	done
	[ "$(printf '%s\n' "${sums[@]}" | grep -x '[0-9a-f]\{64\}' | sort -u |
		wc -l)" = 10 ]
	# Wherever it is, and what is no image does not count.
	cp -r set other
	rm other/train/notes.png other/train/a/notes.txt
	[ "$(hash other)" = "${sums[9]}" ]
}

# Rows of seven groups for ten images that lie in one folder. The model has ten
# labels.
make_targets() {
	local n=0 image
	mkdir all
	cp "$IMAGES"/*.png all
	{
		echo path,group,l1,l2,l3,l4,l5,l6,l7,l8,l9,l10
		for image in all/*.png; do
			echo "$image,g$((n % 7)),1,0,0,1,1,0,$((n % 2)),0,0,0"
			n=$((n + 1))
		done
	} >targets.csv
	LABELS=(--model resnet34 --image-size 32 --dataset folder --data-dir .
		--targets-csv targets.csv --epochs 1 --batch 4 --warmup 1
		--test-batch 2 --lr 0 -q)
}

# refuses WORDS ...: a run of $LABELS ends with code 5 and says all of them.
refuses() {
	local word
	run -5 "$BENCH" measure null-1 "${LABELS[@]}"
	for word in "$@"; do
		[[ "$output" == *"$word"* ]] || {
			echo "$output"
			false
		}
	done
}

@test "labels and groups come from a CSV file" {
	make_targets
	run -0 "$BENCH" run cpu-1 "${LABELS[@]}" --out made
	[ "$(column made/runs.csv status)" = ok ]
	# Ten images; the first fold is the last of the groups of two.
	[ "$(column made/runs.csv train_samples)" = 8 ]
	[ "$(column made/runs.csv test_samples)" = 2 ]
	# Quotes, line ends of another system, a mark of the byte order.
	{
		printf '\357\273\277'
		sed -e 's/,g\([0-9]\)/,"g,""\1"/' -e 's/$/\r/' targets.csv
	} >quoted.csv
	run -0 "$BENCH" measure null-1 "${LABELS[@]}" \
		--targets-csv quoted.csv --run-file row
	[ "$(cell row 1 dataset_sha256)" = \
		"$(column made/runs.csv dataset_sha256)" ]
	run -2 "$BENCH" measure null-1 --model tiny "${LABELS[@]:4}"
	[[ "$output" == *"needs one of 10 classes as a target, but data set\
 'folder' has vectors" ]]
	run -2 "$BENCH" measure null-1 --dataset synthetic \
		--targets-csv targets.csv
	[[ "$output" == *"--targets-csv requires --dataset folder"* ]]
}

@test "a report says how the folder is given again" {
	command -v gnuplot >/dev/null || skip "gnuplot is not installed"
	make_targets
	run -0 "$BENCH" run cpu-1 "${LABELS[@]}" --out made
	run -0 "$BENCH" plot made
	grep -q -- ' --dataset folder --data-dir DIR --targets-csv FILE ' \
		made/report.html
}

@test "folders of training and test decide which an image is for" {
	make_targets
	mkdir train val
	mv all/[a-d]*.png val
	mv all/*.png train
	sed -i -e 's,^all/\([a-d]\),val/\1,' -e 's,^all/,train/,' targets.csv
	run -0 "$BENCH" measure null-1 "${LABELS[@]}" --run-file row
	[ "$(cell row 1 train_samples) $(cell row 1 test_samples)" = "7 3" ]
	sed -i '3s,^val/,./val/,' targets.csv
	refuses "targets.csv:3: ./val/deep-grey.png: expected train/, val/ or\
 test/ at the beginning"
}

@test "a file of targets has images to train on and to test" {
	make_targets
	mv all train
	mkdir val
	sed -i 's,^all/,train/,' targets.csv
	run -2 "$BENCH" measure null-1 "${LABELS[@]}"
	[ "$output" = "bench: data set 'folder' has no image to test: no path\
 in targets.csv begins with val/ (or test/); add rows of such images, or give\
 --test off" ]
	run -0 "$BENCH" measure null-1 "${LABELS[@]}" --test off
	mv train/* val
	sed -i 's,^train/,val/,' targets.csv
	run -2 "$BENCH" measure null-1 "${LABELS[@]}"
	[ "$output" = "bench: data set 'folder' has no image to train on: no\
 path in targets.csv begins with train/; add rows of such images" ]
}

@test "a file of targets that is wrong says where" {
	make_targets
	cp targets.csv right.csv
	sed -i 1s/path/file/ targets.csv
	refuses 'targets.csv:1:1: expected the column path' 'found "file"'
	sed 1s/group/study/ right.csv >targets.csv
	refuses 'targets.csv:1:2: expected the column group' 'found "study"'
	cut -d, -f1-2 right.csv >targets.csv
	refuses "targets.csv:1: a header of too few columns: columns path and\
 group, and one of 0 and 1 per label"
	sed 4s/,1,/,yes,/ right.csv >targets.csv
	refuses 'targets.csv:4:3: expected 0 or 1, found "yes"'
	sed '5s/,0$//' right.csv >targets.csv
	refuses "targets.csv:5: fewer cells than the header has"
	sed '5s/$/,0/' right.csv >targets.csv
	refuses "targets.csv:5: more cells than the header has"
	sed 3s,all/,none/, right.csv >targets.csv
	refuses "targets.csv:3: ./none/deep-grey.png: No such file"
	sed 3s,^all[^,]*,, right.csv >targets.csv
	refuses 'targets.csv:3:1: expected the path of an image, found ""'
	sed '4p;4s,^,./,' right.csv >targets.csv
	refuses "targets.csv:5: ./all/deep.png is the image of line 4\
 (all/deep.png); an image has one row: remove one of the two"
	sed '6s,^,a"b,' right.csv >targets.csv
	refuses "targets.csv:6: a quote in the wrong place"
	sed '6s,^,",' right.csv >targets.csv
	refuses "targets.csv:11: a quote that is never closed"
	sed '7s/g5/a\x00b/' right.csv >targets.csv
	refuses "targets.csv:7: a NUL byte"
	sed 's/g[0-2]/g3/' right.csv >targets.csv
	refuses "targets.csv: 4 groups, but training and test need 5"
	head -n 1 right.csv >targets.csv
	refuses "targets.csv:1: no images; expected one row per image"
	: >targets.csv
	refuses "targets.csv:0: no image"
	rm targets.csv
	run -4 "$BENCH" measure null-1 "${LABELS[@]}"
	[ "$output" = "bench: targets.csv: No such file or directory" ]
	mkfifo targets.csv
	refuses "targets.csv: a regular file expected"
	cut -d, -f1-5 right.csv >three.csv
	run -2 "$BENCH" measure null-1 "${LABELS[@]}" --targets-csv three.csv
	[[ "$output" == *"has 10 classes, but data set 'folder' has 3, the\
 columns of labels in three.csv" ]]
}

# Data in memory show as well whether a program is right.
@test "a check of a folder verifies with data in memory" {
	# What an earlier check has verified would not be verified again.
	export XDG_CACHE_HOME=$PWD/cache
	run -3 "$BENCH" check cpu-1 --model tiny --dataset folder \
		--data-dir set --blocks 6 --steps 2 --batch 3 --warmup 1 \
		--base "$BENCH" -o made
	[[ "$output" == *"verifying the base on cpu"$'\n'* ]]
	[ "$(column made/runs.csv dataset | tr ' ' '\n' | sort -u)" = folder ]
}
