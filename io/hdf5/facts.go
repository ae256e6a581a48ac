package hdf5

import "github.com/evq-project/evq/io/format"

// facts say of the format what the documents show.
var facts = format.Facts{
	Proof:    "the HDF5 signature and events in a known layout (gen4, 1 Mpx, DSEC, Prophesee, M3ED, MVSEC, columns or records of other names)",
	Time:     "µs where integers, s where floats, unless `--time-unit` says otherwise; DSEC adds t_offset",
	Polarity: "0/1, -1/1, booleans, or unsigned -1; found out and counted",
	Triggers: "/EXT_TRIGGER/events, in the layout of Prophesee",
	Streams:  "other event groups are named; `--stream N` reads them instead",
	Counts:   "triggers, remapped_polarity, trailing_bytes, damaged_bytes",
	Options:  "`--h5-map t=NAME,x=NAME,y=NAME,p=NAME`, `--time-unit`, `--polarity-encoding`, `--stream N`, `--columns`",
	Writes:   "/events/{t,x,y,p}, or the layout of DSEC",
	Doubts: []string{
		"ECF keeps the running maximum of times: a recording out of order has lost its own times before evq sees it.",
	},
	Checks: []format.Check{
		{Program: "hdf5_ecf (8735ce71), its filter", Recording: "three recordings packed by its encoder in the layout of OpenEB (derived; 521,252, 219,596 and 82,469 events)", Result: "x, y, p, t; two triggers"},
		{Program: "h5py with hdf5plugin, writing", Recording: "gen4 layout with blosc and with gzip, DSEC layout with blosc (derived; 82,469 events)", Result: "x, y, p, t"},
		{Program: "evlib 0.13.2", Recording: "the ECF recordings and the gen4 layout", Result: "x, y, p, t; of DSEC it does not add t_offset"},
		{Program: "h5py 3.16, evutils 0.3.18", Recording: "the gen4 and DSEC layouts", Result: "x, y, p, t"},
		{Program: "evlib 0.13.2, h5py 3.16, evutils 0.3.18", Recording: "what evq writes without a layout, of a scene and of the trigger recording", Result: "x, y, p, t"},
	},
	Unproven: "M3ED, MVSEC and other names on files of those data sets",
}
