package parquet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/evq-project/evq/io/event"
	"github.com/evq-project/evq/io/format"
)

// storeVersion is the version of what evq writes into the metadata.
const storeVersion = "1"

// The keys of a store's metadata. All other keys with the prefix are facts in plain text: where the events came
// from and what was done to them.
const (
	prefix       = "evq."
	keyVersion   = prefix + "version"
	keyWidth     = prefix + "width"  // pixels; absent where the sensor's size is not known
	keyHeight    = prefix + "height" // pixels
	keyReport    = prefix + "report" // what the conversion counted, as JSON
	keyFields    = prefix + "fields" // the header of the source, as JSON: [{"Key": …, "Value": …}, …]
	keyStreams   = prefix + "streams"
	keySource    = prefix + "source"
	keyFormat    = prefix + "source_format"
	keySourceVer = prefix + "source_version"
	keyUnit      = prefix + "unit"     // the unit of time in the source; the store's own is always us
	keyPolarity  = prefix + "polarity" // the encoding in the source; the store's own is always 0/1
	keyShift     = prefix + "shift"    // microseconds that were subtracted from every time
)

// facts are what a store's metadata says.
type facts struct {
	version  string
	geometry event.Geometry
	history  []event.Field // keys with the prefix
	fields   []event.Field
	streams  []event.Field
	report   *event.Report
	duration bool // Arrow's readers are told that t is one
}

func isHistory(f event.Field) bool { return strings.HasPrefix(f.Key, prefix) }

func newFacts(h format.Header) facts {
	f := facts{version: storeVersion, geometry: h.Geometry}
	f.fields = slices.DeleteFunc(slices.Clone(h.Fields), isHistory)
	return f
}

// describe adds what a source says of itself. The history of a store that was made from another store goes
// back to the recording: what is known already stays.
func (f *facts) describe(info event.Info, more []event.Field, rep *event.Report) {
	if !f.geometry.Known() {
		f.geometry = info.Geometry
	}
	if info.Format == formatName {
		for _, h := range info.Fields {
			if isHistory(h) {
				f.remember(h.Key, h.Value)
			}
		}
	}
	if len(f.fields) == 0 {
		f.fields = slices.DeleteFunc(slices.Clone(info.Fields), isHistory)
	}
	f.streams = info.Streams
	f.remember(keySource, info.Name)
	f.remember(keyFormat, info.Format)
	f.remember(keySourceVer, info.Version)
	f.remember(keyUnit, info.Unit)
	f.remember(keyPolarity, info.Polarity)
	for _, m := range more {
		f.remember(prefix+m.Key, m.Value)
	}
	if rep == nil {
		return
	}
	f.report = rep.Clone()
	if rep.Shift != 0 {
		f.remember(keyShift, strconv.FormatInt(rep.Shift, 10))
	}
}

// remember keeps a fact unless it is empty or known already.
func (f *facts) remember(key, value string) {
	if value != "" && !slices.ContainsFunc(f.history, func(h event.Field) bool { return h.Key == key }) {
		f.history = append(f.history, event.Field{Key: key, Value: value})
	}
}

// keyValues returns the facts as Parquet metadata.
func (f *facts) keyValues() (metadata.KeyValueMetadata, error) {
	kv := []event.Field{{Key: keyVersion, Value: f.version}}
	if f.geometry.Known() {
		kv = append(kv, event.Field{Key: keyWidth, Value: strconv.Itoa(f.geometry.Width)},
			event.Field{Key: keyHeight, Value: strconv.Itoa(f.geometry.Height)})
	}
	kv = append(kv, f.history...)
	add := func(key string, set bool, value any) error {
		if !set {
			return nil
		}
		b, err := json.Marshal(value)
		kv = append(kv, event.Field{Key: key, Value: string(b)})
		return err
	}
	if err := add(keyFields, len(f.fields) > 0, f.fields); err != nil {
		return nil, err
	}
	if err := add(keyStreams, len(f.streams) > 0, f.streams); err != nil {
		return nil, err
	}
	if err := add(keyReport, f.report != nil, f.report); err != nil {
		return nil, err
	}
	if f.duration {
		schema, err := durationSchema()
		if err != nil {
			return nil, err
		}
		kv = append(kv, event.Field{Key: keyArrow, Value: schema})
	}
	return keyValues(kv), nil
}

// keyValues turns fields into Parquet metadata, which must be UTF-8.
func keyValues(fields []event.Field) metadata.KeyValueMetadata {
	kv := metadata.NewKeyValueMetadata()
	for _, f := range fields {
		_ = kv.Append(strings.ToValidUTF8(f.Key, "?"), strings.ToValidUTF8(f.Value, "?"))
	}
	return kv
}

// parseFacts reads the metadata of a store, or of any Parquet file: then version is empty.
func parseFacts(kv metadata.KeyValueMetadata) (facts, error) {
	var f facts
	var err error
	note := func(key string, e error) {
		if e != nil && err == nil {
			err = fmt.Errorf("parquet: metadata %s: %w", key, e)
		}
	}
	for i, key := range kv.Keys() {
		value := kv.Values()[i]
		switch key {
		case keyVersion:
			f.version = value
		case keyWidth:
			note(key, parseSize(value, &f.geometry.Width))
		case keyHeight:
			note(key, parseSize(value, &f.geometry.Height))
		case keyFields:
			note(key, json.Unmarshal([]byte(value), &f.fields))
		case keyStreams:
			note(key, json.Unmarshal([]byte(value), &f.streams))
		case keyReport:
			f.report = new(event.Report)
			note(key, json.Unmarshal([]byte(value), f.report))
		default:
			if strings.HasPrefix(key, prefix) {
				f.remember(key, value)
			}
		}
	}
	if f.version != "" && f.version != storeVersion {
		return f, fmt.Errorf("parquet: the store has version %s, this evq knows %s; update evq or convert again", f.version, storeVersion)
	}
	return f, err
}

// parseSize reads a side of the sensor in pixels, which are addressed by 16 bits.
func parseSize(s string, n *int) error {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 || v > 1<<16 {
		return fmt.Errorf("%q is no number of pixels; convert the recording again", s)
	}
	*n = v
	return nil
}
