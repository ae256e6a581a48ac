package sql

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The types below are the part of DuckDB's syntax trees that routes are made of. A tree with any other field is not
// read at all, so that nothing a query asks for can be overlooked.

type syntaxTree struct {
	Error      bool `json:"error"`
	Statements []struct {
		Node selectNode `json:"node"`
	} `json:"statements"`
}

type selectNode struct {
	Type       string     `json:"type"`
	Modifiers  []modifier `json:"modifiers"`
	Select     []syntax   `json:"select_list"`
	From       fromNode   `json:"from_table"`
	Where      *syntax    `json:"where_clause"`
	GroupBy    []syntax   `json:"group_expressions"`
	GroupSets  [][]int    `json:"group_sets"`
	Aggregates string     `json:"aggregate_handling"`
}

// A fromNode is a table by name, or a call.
type fromNode struct {
	Type       string  `json:"type"`
	Alias      string  `json:"alias"`
	Location   uint64  `json:"query_location"`
	Table      string  `json:"table_name"`
	Function   *syntax `json:"function"`
	Ordinality string  `json:"with_ordinality"`
}

type modifier struct {
	Type   string    `json:"type"`
	Orders []orderBy `json:"orders"`
	Limit  *syntax   `json:"limit"`
}

type orderBy struct {
	Type  string `json:"type"`
	Nulls string `json:"null_order"`
	By    syntax `json:"expression"`
}

// A syntax is an expression.
type syntax struct {
	Class       string     `json:"class"`
	Type        string     `json:"type"`
	Alias       string     `json:"alias"`
	Location    uint64     `json:"query_location"`
	Function    string     `json:"function_name"`
	Schema      string     `json:"schema"` // of struct_pack, which braces mean
	Children    []syntax   `json:"children"`
	Columns     []string   `json:"column_names"`
	Value       *constant  `json:"value"`
	Left        *syntax    `json:"left"`
	Right       *syntax    `json:"right"`
	Input       *syntax    `json:"input"`
	Lower       *syntax    `json:"lower"`
	Upper       *syntax    `json:"upper"`
	Order       *orderList `json:"order_bys"`
	Distinct    bool       `json:"distinct"`
	IsOperator  bool       `json:"is_operator"`
	ExportState bool       `json:"export_state"`
}

type orderList struct {
	Type   string    `json:"type"`
	Orders []orderBy `json:"orders"`
}

type constant struct {
	Type struct {
		ID string `json:"id"`
	} `json:"type"`
	Null  bool            `json:"is_null"`
	Value json.RawMessage `json:"value"`
}

// parseTree reads the syntax tree of one SELECT.
func parseTree(tree []byte) (*selectNode, error) {
	d := json.NewDecoder(bytes.NewReader(tree))
	d.DisallowUnknownFields()
	var t syntaxTree
	if err := d.Decode(&t); err != nil {
		field, ok := strings.CutPrefix(err.Error(), "json: unknown field ")
		if !ok {
			return nil, errors.New("it is of another form")
		}
		return nil, fmt.Errorf("it has a %s", strings.ReplaceAll(strings.Trim(field, `"`), "_", " "))
	}
	if len(t.Statements) != 1 || t.Statements[0].Node.Type != "SELECT_NODE" {
		return nil, errors.New("it is no plain SELECT")
	}
	return &t.Statements[0].Node, nil
}

// column returns the event column that an expression is, or "". table is the name that may stand before it.
func (s *syntax) column(table string) string {
	if s == nil || s.Class != "COLUMN_REF" || len(s.Columns) == 0 || len(s.Columns) > 2 {
		return ""
	}
	if len(s.Columns) == 2 && !strings.EqualFold(s.Columns[0], table) {
		return ""
	}
	name := strings.ToLower(s.Columns[len(s.Columns)-1])
	if len(name) != 1 || !strings.Contains("txyp", name) {
		return ""
	}
	return name
}

// named reports whether an expression is nothing but a name.
func (s *syntax) named(name string) bool {
	return s.Class == "COLUMN_REF" && len(s.Columns) == 1 && name != "" && strings.EqualFold(s.Columns[0], name)
}

// integer returns a constant that is a whole number of at most 64 bits.
func (s *syntax) integer() (int64, bool) {
	if s == nil || s.Class != "CONSTANT" || s.Value == nil || s.Value.Null {
		return 0, false
	}
	switch s.Value.Type.ID {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT":
		v, err := strconv.ParseInt(string(s.Value.Value), 10, 64)
		return v, err == nil
	}
	return 0, false
}

// constant returns a constant as an aggregate is given it.
func (s *syntax) constant() (any, bool) {
	if v, ok := s.integer(); ok {
		return v, true
	}
	if s.Class != "CONSTANT" || s.Value == nil || s.Value.Null {
		return nil, false
	}
	switch s.Value.Type.ID {
	case "VARCHAR":
		var text string
		err := json.Unmarshal(s.Value.Value, &text)
		return text, err == nil
	case "BOOLEAN":
		var b bool
		err := json.Unmarshal(s.Value.Value, &b)
		return b, err == nil
	}
	return nil, false
}

// plain reports whether a call has nothing but arguments.
func (s *syntax) plain() bool {
	return s.Class == "FUNCTION" && !s.Distinct && !s.ExportState && (s.Order == nil || len(s.Order.Orders) == 0)
}

// same reports whether two expressions are the same but for where they stand and what they are called.
func same(a, b *syntax) bool {
	x, y := *a, *b
	return unplaced(&x) == unplaced(&y)
}

func unplaced(s *syntax) string {
	s.Location, s.Alias = 0, ""
	for i := range s.Children {
		c := s.Children[i]
		s.Children = append([]syntax{}, s.Children...)
		c.Location, c.Alias = 0, ""
		s.Children[i] = c
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
