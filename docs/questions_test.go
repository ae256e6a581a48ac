package docs_test

// A recipe is a question of docs/cookbook.md and its answer, as a command and in Go.
type recipe struct {
	question string
	say      string
	shell    string // commands of evq, one a line; a line that ends in \ goes on
	code     any    // a function of recipes_test.go
	on       string // the recording, drive.raw where it is not said
}

// setup makes the recordings of the page.
const setup = `evq bench generate -o drive.raw --events 40k --seconds 2 --size 64x48
evq bench generate -o cam0.raw --events 10k --seconds 1 --size 64x48 --seed 2
evq bench generate -o cam1.raw --events 10k --seconds 1 --size 64x48 --seed 3
`

// copied are the files of docs/testdata that the page uses.
var copied = []string{"lab.raw", "labels.npy", "mask.png"}

// recipes are the questions, in the order of the page.
var recipes = []recipe{
	{
		question: "How many events are there each second?",
		say: "A window is a row; `rate` is its events for each second. Windows lie on a grid through time 0 of the recording's " +
			"clock, and `--origin first` moves it to the first event.",
		shell: `evq query drive.raw --window 500ms --agg count,rate`,
		code:  perHalfSecond,
	},
	{
		question: "Where on the sensor does it happen?",
		say:      "A heat map: the events of each pixel, to look at and as an array.",
		shell: `evq tensor drive.raw --repr event_count -o heat.png
evq tensor drive.raw --repr event_count -o heat.npy`,
		code: heatMap,
	},
	{
		question: "Which pixels are the loudest?",
		say:      "`pixel` is short for the keys `y, x`.",
		shell:    `evq query drive.raw --group pixel --order count:desc --limit 3`,
		code:     loudest,
	},
	{
		question: "How do I get rid of hot pixels?",
		say: "The filter reads the recording twice: it learns which pixels fire more often than 99.9 % of those that fire at all, " +
			"then leaves them out. `evq list filters` has its other rules.",
		shell: `evq query drive.raw --filter hot_pixel:percentile=99.9 --agg 'count, distinct(y, x) as pixels'`,
		code:  withoutHotPixels,
	},
	{
		question: "How many events lie in a region?",
		say:      "Both corners belong to the rectangle. Inside `--where` there are also `rect`, `circle`, `polygon` and `mask`.",
		shell:    `evq query drive.raw --roi 16,12,47,35 --window 500ms --group p`,
		code:     inRectangle,
	},
	{
		question: "What share of the events is ON, tile by tile?",
		say:      "A polarity is 0 or 1, so its sum counts ON events and its mean is their share.",
		shell:    `evq query drive.raw --group 'tile(32)' --agg 'count, sum(p) as on_events, mean(p) as on_share'`,
		code:     polarityOfTiles,
	},
	{
		question: "How are the events of a window spread over time?",
		say: "`--bins` divides the time from a window's first event to its last, as RVT does; `--bin-width 250ms` counts from the " +
			"window's start. A bin without events has no row.",
		shell: `evq query drive.raw --window 1s --bins 4 --group p`,
		code:  perBin,
	},
	{
		question: "What happens after each trigger?",
		say:      "Windows of 5 ms from each rising edge; without `--span` a window lasts until the next edge.",
		shell:    `evq query lab.raw --window-by trigger:channel=0,edge=rising --span 5ms --agg 'count, first(t) as first_t'`,
		code:     afterTriggers,
		on:       "lab.raw",
	},
	{
		question: "How do I make blocks for the times of my labels?",
		say: "The windows end at the times of the labels, closed at both ends. The file holds a record for each box, with the " +
			"fields of Prophesee's data sets; a time with several boxes is one window.",
		shell: `evq tensor lab.raw --window-by labels:labels.npy --span 50ms --repr stacked_histogram -o labelled.npy`,
		code:  atLabels,
		on:    "lab.raw",
	},
	{
		question: "How do I make the voxel grid of E2VID?",
		say:      "Polarities are shared out between the nearest two of 5 bins, the last of which lies at the window's end; then values that are not 0 get mean 0 and deviation 1.",
		shell:    `evq tensor drive.raw --count 5000 --repr voxel_grid:bins=5,variant=b-1,normalize=e2vid -o voxels.npy`,
		code:     forE2VID,
	},
	{
		question: "How do I make time surfaces?",
		say:      "With `memory=recording` a pixel shows its last event even if that lies before the window.",
		shell:    `evq tensor drive.raw --window 100ms --repr time_surface:tau=20ms,memory=recording -o surfaces.npy`,
		code:     surfaces,
	},
	{
		question: "Can I have two representations of the same windows?",
		say:      "Yes, and the recording is read once. A `.npz` or `.h5` holds an array for each.",
		shell:    `evq tensor drive.raw --window 250ms --repr event_count --repr time_surface:tau=50ms -o both.npz`,
		code:     twoAtOnce,
	},
	{
		question: "How many events are left if a pixel must rest?",
		say:      "Filters with memory apply in the order they are written, among each other and with predicates.",
		shell:    `evq query drive.raw --filter refractory:period=2ms --group p`,
		code:     refracted,
	},
	{
		question: "How do I take two cameras as one?",
		say:      "Their events are merged by time; those of the first come first where times are equal. Without `--merge` each recording has its own rows.",
		shell:    `evq query cam0.raw cam1.raw --merge --window 250ms`,
		code:     merged,
		on:       "cam0.raw cam1.raw",
	},
	{
		question: "How do I store a smaller recording?",
		say: "Filters and transforms apply on the way into any format that evq writes. `downsample 2:sum` keeps all events, " +
			"`2` those of one pixel in four.",
		shell: `evq convert drive.raw --crop 16,8,47,39 --downsample 2:sum -o small.parquet
evq query small.parquet --agg 'count, max(x), max(y)'`,
		code: smaller,
	},
	{
		question: "Which are the busiest 10 ms?",
		say:      "Rows that are equal in the order asked for stay in the order of time.",
		shell:    `evq query drive.raw --window 10ms --order count:desc --limit 3`,
		code:     busiest,
	},
	{
		question: "When does each pixel fire first?",
		say:      "`first` and `last` follow the order of the recording, also among events of one time.",
		shell:    `evq query drive.raw --group pixel --agg 'first(t) as first_t, first(p) as first_p' --order first_t --limit 3`,
		code:     firstAtPixel,
	},
	{
		question: "How fast does a light flicker?",
		say: "Tiles of 8 x 8 pixels become pixels, and the refractory filter leaves the first ON event of each burst. The period is " +
			"(last_t - first_t) / (bursts - 1): here 8 ms and 20 ms.",
		shell: `evq query lab.raw --polarity on --downsample 8:sum --filter refractory:period=2ms --group pixel \
    --agg 'count as bursts, first(t) as first_t, last(t) as last_t' --order bursts:desc --limit 2`,
		code: flicker,
		on:   "lab.raw",
	},
	{
		question: "What is in a folder of recordings?",
		say:      "Several recordings give rows each, told apart by a column. evq expands the pattern where the shell does not.",
		shell:    `evq query 'cam*.raw' --agg 'count, min(t), max(t)'`,
		code:     perRecording,
		on:       "cam*.raw",
	},
	{
		question: "How do I cut windows of so many events?",
		say:      "The last window may hold fewer; `--complete` leaves it out. `--step` lets windows overlap.",
		shell:    `evq query drive.raw --count 10k --agg 'rate, mean(p) as on_share'`,
		code:     byCount,
	},
	{
		question: "How do I leave out pixels by a mask image?",
		say:      "A pixel is in the mask where the image is not black. A `.npy` of integers or booleans does as well.",
		shell:    `evq query lab.raw --where "not mask('mask.png')" --group p`,
		code:     behindMask,
		on:       "lab.raw",
	},
	{
		question: "Where do nearly all events have one polarity?",
		say:      "Columns may be computed from aggregates, and `--having` keeps the rows for which a condition holds.",
		shell:    `evq query lab.raw --group 'tile(8)' --agg 'count, sum(p)/count as on_share' --having 'count >= 10 and not on_share between 0.3 and 0.7'`,
		code:     oneSided,
		on:       "lab.raw",
	},
}
