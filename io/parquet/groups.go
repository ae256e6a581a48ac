package parquet

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/evq-project/evq/io/event"
)

// A rowGroup is what the footer says of one row group.
type rowGroup struct {
	index  int
	first  int64             // row number of its first row in the file
	at     [numColumns]int64 // where in the file its column chunks start
	end    int64             // where the last of them ends
	rows   int64             // at least 1
	extent event.Box         // holds every event: the whole range where a column has no trustworthy statistics
	stats  bool              // all columns have them
	statsT bool
	sorted bool             // the writer says that t rises
	gaps   [numColumns]bool // rows may lack a value
}

// rowGroups reads the row groups that hold rows. own says that evq wrote the file.
func rowGroups(m *metadata.FileMetaData, c columns, own bool) ([]rowGroup, error) {
	var out []rowGroup
	var first int64
	for i := range m.NumRowGroups() {
		rg := m.RowGroup(i)
		rows := rg.NumRows()
		if rows < 0 || first > math.MaxInt64-rows {
			return nil, fmt.Errorf("parquet: row group %d has %d rows: %w", i, rows, ErrDamaged)
		}
		if rows == 0 {
			continue
		}
		g := rowGroup{index: i, first: first, rows: rows}
		if err := g.readStats(m, rg, c, own); err != nil {
			return nil, err
		}
		if s := rg.SortingColumns(); len(s) > 0 {
			g.sorted = int(s[0].ColumnIdx) == c.at[colT] && !s[0].Descending
		}
		out = append(out, g)
		first += rows
	}
	if first != m.GetNumRows() {
		return nil, fmt.Errorf("parquet: the row groups have %d rows, the footer says %d: %w", first, m.GetNumRows(), ErrDamaged)
	}
	return out, nil
}

// readStats sets the extent from the statistics. A column whose statistics are absent or cannot be true keeps
// the whole range, so that nothing is pruned by it.
func (g *rowGroup) readStats(m *metadata.FileMetaData, rg *metadata.RowGroupMetaData, c columns, own bool) error {
	g.extent, g.stats = event.Everything, true
	for k, at := range c.at {
		chunk, err := rg.ColumnChunk(at)
		if err != nil {
			return fmt.Errorf("parquet: row group %d: %w", g.index, err)
		}
		if chunk.NumValues() != g.rows {
			return fmt.Errorf("parquet: row group %d has %d rows and %d values of %s: %w",
				g.index, g.rows, chunk.NumValues(), columnNames[k], ErrDamaged)
		}
		lo, hi, ok := int64(0), int64(0), false
		if own {
			lo, hi, ok = ownMinMax(m, g.index, at)
		}
		if !ok {
			lo, hi, ok = minMax(chunk)
		}
		g.place(k, chunk)
		g.gaps[k] = rg.Schema.Column(at).MaxDefinitionLevel() > 0 && !complete(chunk)
		limit := [numColumns]int64{math.MaxInt64, math.MaxUint16, math.MaxUint16, 1}[k]
		if !ok || lo > hi || k != colT && lo < 0 || hi > limit || k == colT && c.unsigned {
			g.stats = false
			continue
		}
		switch k {
		case colT:
			g.extent.T0, g.extent.T1, g.statsT = lo, hi, true
		case colX:
			g.extent.X0, g.extent.X1 = uint16(lo), uint16(hi)
		case colY:
			g.extent.Y0, g.extent.Y1 = uint16(lo), uint16(hi)
		case colP:
			g.extent.P0, g.extent.P1 = int8(lo), int8(hi)
		}
	}
	return nil
}

// place notes where a column chunk lies.
func (g *rowGroup) place(k int, c *metadata.ColumnChunkMetaData) {
	g.at[k] = c.DataPageOffset()
	if c.HasDictionaryPage() && c.DictionaryPageOffset() > 0 {
		g.at[k] = min(g.at[k], c.DictionaryPageOffset())
	}
	g.at[k] = max(g.at[k], 0)
	if n := c.TotalCompressedSize(); n > 0 && g.at[k] <= math.MaxInt64-n {
		g.end = max(g.end, g.at[k]+n)
	}
}

// ownMinMax is minMax for files of evq, whose integers are signed and whose statistics are known to be right: the library
// weighs that for each column chunk, which takes most of the time in which a long store is opened.
func ownMinMax(m *metadata.FileMetaData, group, at int) (lo, hi int64, ok bool) {
	if meta := m.RowGroups[group].Columns[at].MetaData; meta != nil && meta.Statistics != nil && m.Schema.Column(at).SortOrder() == schema.SortSIGNED {
		least, most := meta.Statistics.MinValue, meta.Statistics.MaxValue
		switch t := m.Schema.Column(at).PhysicalType(); {
		case t == parquet.Types.Int64 && len(least) == 8 && len(most) == 8:
			return int64(binary.LittleEndian.Uint64(least)), int64(binary.LittleEndian.Uint64(most)), true
		case t == parquet.Types.Int32 && len(least) == 4 && len(most) == 4:
			return int64(int32(binary.LittleEndian.Uint32(least))), int64(int32(binary.LittleEndian.Uint32(most))), true
		}
	}
	return 0, 0, false
}

// minMax returns the smallest and the largest value of a column chunk, where the file says them.
func minMax(c *metadata.ColumnChunkMetaData) (lo, hi int64, ok bool) {
	set, err := c.StatsSet()
	if err != nil || !set {
		return 0, 0, false
	}
	stats, err := c.Statistics()
	if err != nil || stats == nil || !stats.HasMinMax() {
		return 0, 0, false
	}
	switch s := stats.(type) {
	case *metadata.Int64Statistics:
		return s.Min(), s.Max(), true
	case *metadata.Int32Statistics:
		return int64(s.Min()), int64(s.Max()), true
	case *metadata.BooleanStatistics:
		return b2i(s.Min()), b2i(s.Max()), true
	}
	return 0, 0, false
}

// complete reports whether the file says that a column chunk has a value in each row.
func complete(c *metadata.ColumnChunkMetaData) bool {
	set, err := c.StatsSet()
	if err != nil || !set {
		return false
	}
	stats, err := c.Statistics()
	return err == nil && stats != nil && stats.HasNullCount() && stats.NullCount() == 0
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// inOrder reports whether each group ends before the next begins, as far as the statistics tell for certain.
func inOrder(groups []rowGroup) bool {
	for i, g := range groups {
		if !g.statsT || i > 0 && groups[i-1].extent.T1 > g.extent.T0 {
			return false
		}
	}
	return true
}

// hull returns the extent of all groups, and whether every one is known.
func hull(groups []rowGroup) (event.Box, bool) {
	box, known := event.Nothing, len(groups) > 0
	for _, g := range groups {
		box, known = box.Hull(g.extent), known && g.stats
	}
	return box, known
}

// prune returns the groups that can hold an event of the box.
func prune(groups []rowGroup, box event.Box) []rowGroup {
	var out []rowGroup
	for _, g := range groups {
		if g.extent.Overlaps(box) {
			out = append(out, g)
		}
	}
	return out
}
