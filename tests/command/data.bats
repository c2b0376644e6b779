#!/usr/bin/env bats
# `bench data`, and what a run says about data that is missing or wrong.
# The downloads come from a server of our own on this machine.

load command.sh

FASHION=/usr/share/datasets/fashion-mnist
FILES="train-images-idx3-ubyte train-labels-idx1-ubyte
	t10k-images-idx3-ubyte t10k-labels-idx1-ubyte"

# A server on a port that the system chooses; $SERVED is what it serves.
setup_file() {
	export SERVED=$BATS_FILE_TMPDIR/served
	mkdir -p "$SERVED/good" "$SERVED/wrong"
	if [ -d "$FASHION" ]; then
		ln -s "$FASHION"/*.gz "$SERVED/good/"
		cp "$FASHION/t10k-labels-idx1-ubyte.gz" \
			"$SERVED/wrong/train-images-idx3-ubyte.gz"
	fi
	PYTHONUNBUFFERED=1 python3 -m http.server --bind 127.0.0.1 \
		--directory "$SERVED" 0 \
		>"$BATS_FILE_TMPDIR/server" 2>/dev/null 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/pid"
	within 10 grep -q port "$BATS_FILE_TMPDIR/server"
	PORT=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$BATS_FILE_TMPDIR/server")
	export MIRROR=http://127.0.0.1:$PORT
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/pid")"
}

setup() {
	unset BENCH_DATA_DIR
	export no_proxy=127.0.0.1
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	DIR=$BATS_TEST_TMPDIR/data
	mkdir "$DIR"
}

need_fashion() {
	[ -d "$FASHION" ] || skip "dataset-fashion-mnist is not installed"
}

# Nobody listens on a port that was free a moment ago.
closed_port() {
	python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Makes 96 and 32 random images with labels: a valid set without a name.
make_set() {
	python3 - "$1" <<-'END'
	import random, struct, sys
	random.seed(1)
	for name, count in ("train", 96), ("t10k", 32):
	    images = struct.pack(">4I", 0x803, count, 28, 28)
	    images += random.randbytes(count * 784)
	    labels = struct.pack(">2I", 0x801, count)
	    labels += bytes(i % 10 for i in range(count))
	    for kind, data in ("images-idx3", images), ("labels-idx1", labels):
	        path = f"{sys.argv[1]}/{name}-{kind}-ubyte"
	        open(path, "wb").write(data)
	END
}

# put FILE OFFSET BYTES, with escapes: \0377
put() {
	printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# One iteration that needs the data set NAME in DIR.
measure() {
	run --separate-stderr "$BENCH" measure null-1 \
		--model tiny --epochs 1 --steps 1 --dataset "$1" \
		--data-dir "$2"
}

# A run on $DIR ends with exit code 5 and says all of the words on stderr.
refused() {
	measure auto "$DIR"
	echo "$status: $stderr"
	[ "$status" -eq 5 ]
	[ -z "$output" ] || [[ $output != *,ok,* ]]
	for word in "$@"; do
		[[ $stderr == *"$word"* ]]
	done
}

@test "data list names every set and how to get it" {
	run -0 "$BENCH" data list --data-dir "$DIR"
	[[ $output == *"mnist "*missing*" $BENCH data get mnist"* ]]
	[[ $output == *"fashion-mnist missing"*dataset-fashion-mnist* ]]
	# As many as --dataset takes, with what each is.
	local name names
	names=$("$BENCH" run --dataset nothing 2>&1 |
		sed 's/.*must be one of//; s/, not .*//; s/,//g')
	[ "$(wc -w <<<"$names")" -ge 7 ]
	for name in $names; do
		grep -Eq "^  $name +[^ ]+ [^ ]+" <<<"$output"
	done
	run -0 "$BENCH" data list mnist --data-dir "$DIR"
	[ "${#lines[@]}" -eq 2 ]
}

@test "data list says what a folder holds" {
	need_fashion
	run -0 "$BENCH" data list fashion-mnist --data-dir "$FASHION"
	[[ $output == *"found     $FASHION" ]]
	run -0 "$BENCH" data list mnist --data-dir "$FASHION"
	[[ $output == *"other     $FASHION (it holds fashion-mnist)" ]]
	cp "$FASHION"/*.gz "$DIR"
	gunzip "$DIR/t10k-images-idx3-ubyte.gz"
	put "$DIR/t10k-images-idx3-ubyte" 100 '\0011'
	run -0 "$BENCH" data list fashion-mnist --data-dir "$DIR"
	[[ $output == *"other     $DIR (only 3 of its 4 files belong to "* ]]
	rm "$DIR"/*
	make_set "$DIR"
	run -0 "$BENCH" data list mnist --data-dir "$DIR"
	[[ $output == *"other     $DIR (it holds unknown content)" ]]
}

@test "data check says OK to the known content" {
	need_fashion
	run -0 "$BENCH" data check fashion-mnist --data-dir "$FASHION"
	[ "$(grep -c ': OK, fashion-mnist$' <<<"$output")" -eq 4 ]
	run -0 "$BENCH" data check --data-dir "$FASHION"
	[ "$(grep -c ': OK, fashion-mnist$' <<<"$output")" -eq 4 ]
}

@test "data check names the file that differs" {
	need_fashion
	cp "$FASHION"/*.gz "$DIR"
	gunzip "$DIR/t10k-labels-idx1-ubyte.gz"
	run -0 "$BENCH" data check --data-dir "$DIR"
	put "$DIR/t10k-labels-idx1-ubyte" 100 '\0011'
	run -5 "$BENCH" data check --data-dir "$DIR"
	[ "$(grep -c ': OK, fashion-mnist$' <<<"$output")" -eq 3 ]
	[[ $output == *"t10k-labels-idx1-ubyte: not the file from"* ]]
	[[ $output == *0402a96d92fd2663* ]]
	truncate -s 5000 "$DIR/train-labels-idx1-ubyte.gz"
	run -5 "$BENCH" data check fashion-mnist --data-dir "$DIR"
	[[ $output == *"train-labels-idx1-ubyte.gz: cut short"* ]]
	[ "$(grep -c ': OK, fashion-mnist$' <<<"$output")" -eq 2 ]
}

@test "data check finds nothing" {
	run -4 "$BENCH" data check --data-dir "$DIR"
	[[ $output == *t10k-images-idx3-ubyte* ]]
	BENCH_DATA_DIR=$DIR run -4 "$BENCH" data check mnist
	[[ $output == *"bench data get mnist"* ]]
}

@test "data get downloads, verifies, and keeps what is there" {
	need_fashion
	run --separate-stderr -0 "$BENCH" data get fashion-mnist \
		--mirror "$MIRROR/good" --data-dir "$DIR/a/b"
	[ "${#lines[@]}" -eq 4 ]
	for file in $FILES; do
		cmp "$FASHION/$file.gz" "$DIR/a/b/$file.gz"
		[[ $output == *"$DIR/a/b/$file.gz"* ]]
	done
	[ "$(ls "$DIR/a/b" | wc -l)" -eq 4 ]
	run --separate-stderr -0 "$BENCH" data get fashion-mnist \
		--mirror "http://127.0.0.1:$(closed_port)" --data-dir "$DIR/a/b"
	[ "${#lines[@]}" -eq 4 ]
	[ "$(grep -c '^already there' <<<"$stderr")" -eq 4 ]
}

@test "data get goes to the user's cache, where runs find it" {
	need_fashion
	run -0 "$BENCH" data get fashion-mnist --mirror "$MIRROR/good/"
	[ -f "$XDG_CACHE_HOME/bench/fashion-mnist/t10k-labels-idx1-ubyte.gz" ]
	run -0 "$BENCH" data list fashion-mnist
	[[ $output == *"$XDG_CACHE_HOME/bench/fashion-mnist" ]]
}

@test "data get refuses content that is not the set's" {
	need_fashion
	run -5 "$BENCH" data get fashion-mnist --mirror "$MIRROR/wrong" \
		--data-dir "$DIR"
	[[ $output == *"$MIRROR/wrong/train-images-idx3-ubyte.gz"* ]]
	[ -z "$(ls "$DIR")" ]
	run -5 "$BENCH" data get mnist --mirror "$MIRROR/good" --data-dir "$DIR"
	[[ $output == *"expected ba891046e6505d7a"* ]]
	[[ $output == *"found c59f468a2f672dc8"* ]]
	[ -z "$(ls "$DIR")" ]
}

@test "data get says what it could not reach" {
	run -4 "$BENCH" data get mnist --mirror "$MIRROR/absent" \
		--data-dir "$DIR"
	[[ $output == *"$MIRROR/absent/train-images-idx3-ubyte.gz"* ]]
	URL=http://127.0.0.1:$(closed_port)
	run -4 "$BENCH" data get mnist --mirror "$URL" --data-dir "$DIR"
	[[ $output == *"$URL/train-images-idx3-ubyte.gz: no connection"* ]]
	[[ $output == *"--mirror"*"by hand, as $DIR/train-images-idx3-ubyte.gz" ]]
	[ -z "$(ls "$DIR")" ]
}

# As a server that streams: of curl's options none heeds that before 8.4.
@test "data get ends a download that goes on and on" {
	PYTHONUNBUFFERED=1 python3 - >"$DIR/port" 2>/dev/null 3>&- <<-'END' &
	import http.server
	class Endless(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        self.send_response(200)
	        self.end_headers()
	        for _ in range(300):
	            self.wfile.write(bytes(1 << 20))
	server = http.server.HTTPServer(("127.0.0.1", 0), Endless)
	print(server.server_port)
	server.handle_request()
	END
	local server=$!
	within 10 test -s "$DIR/port"
	mkdir "$DIR/set"
	run -4 "$BENCH" data get mnist --data-dir "$DIR/set" \
		--mirror "http://127.0.0.1:$(cat "$DIR/port")"
	[[ $output == *"images-idx3-ubyte.gz: larger than 67108864 bytes"* ]]
	[ -z "$(ls "$DIR/set")" ]
	wait "$server" || true
}

@test "data get replaces a damaged file but never another content" {
	need_fashion
	cp "$FASHION"/*.gz "$DIR"
	truncate -s 1000000 "$DIR/t10k-images-idx3-ubyte.gz"
	run -0 "$BENCH" data get fashion-mnist --mirror "$MIRROR/good" \
		--data-dir "$DIR"
	[[ $output == *"replacing it: "*"cut short"* ]]
	cmp "$FASHION/t10k-images-idx3-ubyte.gz" \
		"$DIR/t10k-images-idx3-ubyte.gz"
	run -5 "$BENCH" data get mnist --mirror "$MIRROR/good" --data-dir "$DIR"
	[[ $output == *"in the way"* ]]
	cmp "$FASHION/train-images-idx3-ubyte.gz" \
		"$DIR/train-images-idx3-ubyte.gz"
}

@test "data get names the package when curl is missing" {
	PATH_WITHOUT=$BATS_TEST_TMPDIR/bin
	mkdir "$PATH_WITHOUT"
	run -4 env PATH="$PATH_WITHOUT" "$BENCH" data get mnist \
		--data-dir "$DIR"
	[[ $output == *"apt-get install curl"* ]]
}

@test "data get cannot write" {
	: >"$DIR/file"
	run -7 "$BENCH" data get mnist --data-dir "$DIR/file"
	run -7 "$BENCH" data get mnist --data-dir "$DIR/file/below"
	[[ $output == *"$DIR/file"* ]]
}

@test "data get and its folders are no shell's business" {
	need_fashion
	NASTY="$DIR/\$(touch p)\`touch q\`'\"; touch r;"
	cd "$DIR"
	run -0 "$BENCH" data get fashion-mnist --mirror "$MIRROR/good" \
		--data-dir "$NASTY"
	[ "$(ls "$DIR" | wc -l)" -eq 1 ]
	run -0 "$BENCH" data check --data-dir "$NASTY"
}

@test "data refuses what makes no sense" {
	run -2 "$BENCH" data
	run -2 "$BENCH" data put
	run -2 "$BENCH" data get
	run -2 "$BENCH" data get synthetic
	run -2 "$BENCH" data check cifar
	run -2 "$BENCH" data get mnist --mirror ftp://127.0.0.1/
	run -2 "$BENCH" data check --mirror "$MIRROR"
}

@test "a run takes small sets of any spelling and labels them" {
	make_set "$DIR"
	mv "$DIR/t10k-labels-idx1-ubyte" "$DIR/t10k-labels.idx1-ubyte"
	gzip "$DIR/train-images-idx3-ubyte"
	measure auto "$DIR"
	[ "$status" -eq 0 ]
	[[ $stderr == *"labelled unknown-"* ]]
}

@test "a run labels by content, not by what was asked for" {
	need_fashion
	measure mnist "$FASHION"
	[ "$status" -eq 0 ]
	[[ $stderr == *"labelled fashion-mnist"* ]]
}

@test "a folder that holds another known set is passed over" {
	need_fashion
	export BENCH_DATA_DIR=$FASHION
	mkdir -p "$XDG_CACHE_HOME/bench/mnist"
	make_set "$XDG_CACHE_HOME/bench/mnist"
	run --separate-stderr "$BENCH" measure null-1 -s 1 -e 1 -d mnist
	[ "$status" -eq 0 ]
	[[ $stderr == *"$FASHION was skipped: it holds Fashion-MNIST"* ]]
	[[ $stderr == *"$XDG_CACHE_HOME/bench/mnist holds no known data set"* ]]
	run --separate-stderr "$BENCH" measure null-1 -s 1 -e 1 -m alexnet \
		--test off
	[ "$status" -eq 0 ]
	[[ $stderr != *skipped* ]]
	rm -r "$XDG_CACHE_HOME"
	run -4 "$BENCH" measure null-1 -s 1 -e 1 -d mnist
	[[ $output == *"MNIST was not found (looked in $FASHION, "*"; $FASHION holds Fashion-MNIST); "*"--data-dir DIR"* ]]
	run --separate-stderr "$BENCH" measure null-1 -s 1 -e 1
	[ "$status" -eq 0 ]
	[[ $stderr == *"MNIST was not found: using fashion-mnist from $FASHION;"* ]]
	[[ $stderr != *skipped* ]]
}

@test "a run misses files, and --data-dir has no fallback" {
	make_set "$DIR"
	mv "$DIR/t10k-images-idx3-ubyte" "$DIR/other"
	for name in auto mnist fashion-mnist; do
		measure $name "$DIR"
		[ "$status" -eq 4 ]
		for file in $FILES; do
			[[ $stderr == *"$file"* ]]
		done
		[ -z "$output" ]
	done
	measure auto "$DIR/absent"
	[ "$status" -eq 4 ]
	[[ $stderr == *"$DIR/absent"* ]]
}

@test "a run refuses files that are cut short" {
	for file in $FILES; do
		make_set "$DIR"
		size=$(stat -c %s "$DIR/$file")
		for cut in 0 3 4 $((size - 1)); do
			make_set "$DIR"
			truncate -s "$cut" "$DIR/$file"
			refused "$DIR/$file" "cut short"
		done
	done
	make_set "$DIR"
	gzip "$DIR/t10k-labels-idx1-ubyte"
	truncate -s -1 "$DIR/t10k-labels-idx1-ubyte.gz"
	refused "$DIR/t10k-labels-idx1-ubyte.gz" "cut short" \
		"bench data get mnist"
}

@test "a run refuses wrong fields and says where" {
	images=$DIR/train-images-idx3-ubyte
	labels=$DIR/t10k-labels-idx1-ubyte
	make_set "$DIR"
	put "$images" 0 'PK'
	refused "$images" "not an IDX file" "50 4b"
	make_set "$DIR"
	put "$images" 2 '\0015'
	refused "$images" "byte 2" "found 13"
	make_set "$DIR"
	put "$images" 4 '\0377\0377\0377\0377'
	refused "$images" "byte 4" "found 4294967295"
	make_set "$DIR"
	put "$images" 15 '\0035'
	refused "$images" "byte 12" "28 expected, found 29"
	make_set "$DIR"
	put "$labels" 11 '\0012'
	refused "$labels" "byte 11" "found 10"
	make_set "$DIR"
	put "$labels" 7 '\0037'
	refused "$labels" "longer than"
	truncate -s 39 "$labels"
	refused "$DIR/t10k-images-idx3-ubyte: byte 4: a count of 31 expected" \
		"as in $labels, found 32"
}

@test "a run stops at a gzip bomb" {
	make_set "$DIR"
	file=$DIR/t10k-labels-idx1-ubyte
	head -c 100M /dev/zero | cat "$file" - | gzip -1 >"$file.gz"
	rm "$file"
	refused "$file.gz" "longer than the 40 bytes"
}

@test "a run never waits for a FIFO and refuses folders" {
	make_set "$DIR"
	rm "$DIR/train-labels-idx1-ubyte"
	mkfifo "$DIR/train-labels-idx1-ubyte"
	refused "$DIR/train-labels-idx1-ubyte" "a FIFO"
	rm "$DIR/train-labels-idx1-ubyte"
	mkdir "$DIR/train-labels-idx1-ubyte"
	refused "$DIR/train-labels-idx1-ubyte" "a directory"
}

# A model's own images are another size and have three channels.
@test "images are resized for the model, or for --image-size" {
	local data=(--dataset synthetic --synthetic-train 100
		--synthetic-test 70 --warmup 0)
	cd "$BATS_TEST_TMPDIR"
	"$BENCH" measure null-2 --model alexnet --image-size 63 "${data[@]}" \
		--run-file row >rows
	# Of several cores what is no whole iteration is left out, tests too.
	[ "$(cell row 1 image_size) $(cell row 1 batch) $(cell row 1 updates)" = \
		"63 32 1" ]
	grep -q ',test,1,,0,[^,]*,[^,]*,64,' rows
	run -0 "$BENCH" run null-1 --model alexnet --image-size 63 "${data[@]}" \
		-q --out sized
	[[ "$output" == "alexnet on synthetic, "*", images of 63x63; n=1"* ]]
	[ "$(cell sized/runs.csv 1 batch) $(cell sized/runs.csv 1 updates)" = \
		"8 13" ]
	grep -q ',test,1,,0,[^,]*,[^,]*,70,' sized/observations.csv
	"$BENCH" measure null-1 "${data[@]}" --run-file row >/dev/null
	[ "$(cell row 1 image_size)" = 28 ]
	run -0 "$BENCH" run null-1 --model tiny "${data[@]}" -q --out usual
	[[ "$output" != *"images of"* ]]
	run -2 "$BENCH" measure null-1 --model alexnet --image-size 8 \
		"${data[@]}"
	[ "$output" = "bench: --image-size 8: model 'alexnet', layer 2\
 (maxpool): a window of 3x3 is larger than its input of 64x1x1" ]
	run -2 "$BENCH" measure null-1 --image-size 4097
	[[ "$output" == *"--image-size must be 1 to 4096, not 4097" ]]
}

@test "scenes are made of Fashion-MNIST, for models of labels" {
	cd "$BATS_TEST_TMPDIR"
	"$BENCH" measure null-1 --model resnet34 --image-size 32 --steps 2 \
		--warmup 1 --test-steps 1 --run-file row >rows
	[ "$(cell row 1 dataset)" = fashion-scenes ]
	[ "$(cell row 1 train_samples) $(cell row 1 test_samples)" = \
		"48007 12002" ]
	run -2 "$BENCH" measure null-1 --dataset fashion-scenes
	[[ "$output" == *"needs one of 10 classes as a target, but data set\
 'fashion-scenes' has vectors" ]]
	run -2 "$BENCH" measure null-1 --model resnet34 --dataset fashion-mnist
	[[ "$output" == *"needs targets that are vectors of 10 values"* ]]
}

# 10 samples to train on and 7 to test, on 3 cores: 12 and 9, by PyTorch's
# DistributedSampler.
@test "a pass can be padded so that all cores have as many" {
	local args=(cpu-3 --model tiny --dataset synthetic --synthetic-train 10
		--synthetic-test 7 --epochs 2 --batch 1 --test-batch 3
		--warmup 0 --progress never)
	cd "$BATS_TEST_TMPDIR"
	run -0 --separate-stderr "$BENCH" measure "${args[@]}" --pad on \
		--run-file on.csv
	grep ',3,,step,' <<<"$output" | grep ',wall,' >steps
	[ "$(cut -d, -f12 steps | sort | uniq -c | tr -s ' ')" = " 8 3" ]
	[ "$(grep -c ',3,[012],step,' <<<"$output")" -eq 24 ]
	[ "$(grep ',3,,test,' <<<"$output" | grep wall | cut -d, -f12 |
		sort -u)" = 9 ]
	[ "$(cell on.csv 1 pad)" = on ]
	run -0 --separate-stderr "$BENCH" measure "${args[@]}" \
		--run-file off.csv
	grep ',3,,step,' <<<"$output" | grep ',wall,' >steps
	[ "$(cut -d, -f12 steps | sort -n | uniq -c | tr -s ' ')" = " 2 1
 6 3" ]
	[ "$(cell off.csv 1 pad)" = off ]
	run -2 "$BENCH" measure null-1 --model tiny --dataset synthetic \
		--infer --pad on
	[[ "$output" == *"--pad applies to training"* ]]
}

# PyTorch has at steps 0, 100 and 500 of rank 0, from torch.manual_seed(3) and
# the draws of post 001: 1.9987623692, 1.6165406704 and .7254170179.
@test "fake data are one batch, and each rank's own draws" {
	cd "$BATS_TEST_TMPDIR"
	"$BENCH" measure cpu-2 --model ddp-toy --seed 3 --steps 501 \
		--run-file row >rows
	awk -F, '$5 == "0" && $6 == "step" && $7 == 1 && $17 == "wall" {
		loss[$8] = $13
	} END {
		for (step in loss) count++
		exit !(count == 501 && near(1.9987623692, loss[1]) &&
			near(1.6165406704, loss[101]) &&
			near(.7254170179, loss[501]))
	} function near(a, b) {
		return (a - b) ^ 2 < (1e-6 * a) ^ 2
	}' rows
	[ "$(cell row 1 dataset) $(cell row 1 train_samples)" = "fake " ]
	[ -z "$(cell row 1 final_accuracy_pct)" ]
	# Zeros: all but the bias of the last layer is the same for all classes.
	"$BENCH" measure cpu-1 --model resnet50 --image-size 32 --batch 2 \
		--epochs 1 --steps 1 --test-steps 1 --test-batch 2 --warmup 0 \
		--run-file row >rows
	[ "$(cell row 1 dataset) $(cell row 1 train_samples)" = "fake 1200000" ]
	run -2 "$BENCH" measure null-1 --dataset fake --data-dir .
	[[ "$output" == *"--dataset fake has no files"* ]]
}

# More iterations than the 1.2 million samples that fake data are said to have.
@test "a batch that comes again has no end" {
	cd "$BATS_TEST_TMPDIR"
	"$BENCH" measure null-2 --model ddp-toy --steps 10000 -q >rows
	[ "$(awk -F, '$5 == "" && $6 == "step" && $7 == 1 && $17 == "wall" {
		print $12 }' rows | sort -u)" = 128 ]
}

@test "numbers of synthetic samples are of no other set" {
	cd "$BATS_TEST_TMPDIR"
	run -2 "$BENCH" measure cpu-1 -m tiny -d fake --synthetic-train 70 -s 1
	[ "$output" = "bench: --synthetic-train 70 has no effect on data set 'fake': name --dataset synthetic, or leave it out" ]
	run -2 "$BENCH" run cpu-1 -m tiny -d fake --synthetic-test 70 -s 1 --out made
	[[ "$output" == *"--synthetic-test 70 has no effect on data set 'fake'"* ]]
	# No file is looked for first.
	run -2 "$BENCH" measure cpu-1 -d mnist --data-dir none --synthetic-test 70
	[[ "$output" == *"--synthetic-test 70 has no effect on data set 'mnist'"* ]]
	run -0 "$BENCH" run cpu-1 -m tiny -d fake -s 1 -e 1 --test off -q --out made
}
