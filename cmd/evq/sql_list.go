package main

import "github.com/evq-project/evq/sql"

// sqlFunctionItems lists what evq sql adds to DuckDB.
func sqlFunctionItems() []item {
	var items []item
	all, err := sql.Listed()
	if err != nil {
		return nil // no functions of the program's own could take another's name
	}
	for _, f := range all {
		i := item{Name: f.Name, Doc: f.Call + ": " + f.Doc, Available: sql.Built, Can: "SQL " + f.Kind}
		if !sql.Built {
			i.Why = sql.ErrUnsupported.Error()
		}
		items = append(items, i)
	}
	return items
}
