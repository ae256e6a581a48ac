package sql

import (
	"context"
	"slices"

	"github.com/evq-project/evq/engine/rvt"
	"github.com/evq-project/evq/sql/duck"
)

// labelsFunction is labels('x_bbox.npy'): the boxes of label files.
func (s *Session) labelsFunction() duck.TableFunction {
	columns := []duck.Column{{Name: "t", Type: duck.Bigint}}
	for _, name := range []string{"x", "y", "w", "h"} {
		columns = append(columns, duck.Column{Name: name, Type: duck.Double})
	}
	columns = append(columns, duck.Column{Name: "class_id", Type: duck.Bigint}, duck.Column{Name: "track_id", Type: duck.Bigint},
		duck.Column{Name: "confidence", Type: duck.Double}, duck.Column{Name: "filename", Type: duck.Varchar})
	return duck.TableFunction{Name: "labels", Most: 1, Bind: func(_ context.Context, args duck.Args) (duck.Table, error) {
		a, err := newArguments("labels", args, "file")
		if err != nil {
			return nil, err
		}
		files, err := s.files(a.texts("file"))
		if err != nil {
			return nil, err
		}
		return &listing{columns, func(context.Context) (func() ([]any, error), error) { return labelRows(files), nil }}, nil
	}}
}

func labelRows(files []string) func() ([]any, error) {
	var left rvt.Labels
	files, file := slices.Clone(files), ""
	return func() ([]any, error) {
		for len(left) == 0 {
			if len(files) == 0 {
				return nil, nil
			}
			var err error
			file, files = files[0], files[1:]
			if left, err = rvt.ReadLabels(file); err != nil {
				return nil, err
			}
		}
		l := left[0]
		left = left[1:]
		return []any{l.T, float64(l.X), float64(l.Y), float64(l.W), float64(l.H), int64(l.ClassID), int64(l.TrackID), float64(l.Confidence), file}, nil
	}
}
