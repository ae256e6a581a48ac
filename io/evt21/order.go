package evt21

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evq-project/evq/io/format"
	"github.com/evq-project/evq/io/rawheader"
)

// An order is how the 64 bits of a word lie in the file.
type order string

// The orders that cameras write.
const (
	little order = "little" // the word as a little-endian number
	legacy order = "legacy" // the upper half first, each half a little-endian number
)

// firstLittle is the system_ID of Prophesee's first camera whose words are little-endian where the header does not say
// otherwise; cameras before it write the legacy order (OpenEB, psee_raw_file_header.cpp).
const firstLittle = 0x37

// orderOf returns the order of a recording's words and what says so. A layout that was chosen, little or legacy, wins;
// then the option endianness of the header's format field decides, its endianness field, and the camera. Any other
// order than the two is an error that names it.
func orderOf(h rawheader.Header, layout string) (o order, why string, err error) {
	if layout != "" && layout != "auto" {
		if o, ok := parseOrder(layout); ok {
			return o, "it was chosen", nil
		}
		return "", "", fmt.Errorf("the layout is one of auto, %s, %s, not %q", little, legacy, layout)
	}
	for _, said := range []struct{ where, value string }{
		{"format field", formatOption(h, "endianness")}, {"endianness field", field(h, "endianness")},
	} {
		if said.value == "" {
			continue
		}
		if o, ok := parseOrder(said.value); ok {
			return o, fmt.Sprintf("the header's %s says so", said.where), nil
		}
		return "", "", fmt.Errorf("the header's %s says that the words are %q, which is not supported; pass --layout %s or %s if it is wrong",
			said.where, said.value, little, legacy)
	}
	if id := legacyCamera(h); id != 0 {
		return legacy, fmt.Sprintf("the header's system_ID %d is a camera that writes it", id), nil
	}
	return little, "the header does not say another", nil
}

// legacyCamera returns the system_ID of a camera that writes the legacy order, 0 where the header names none.
func legacyCamera(h rawheader.Header) int {
	if id, err := strconv.Atoi(field(h, "system_ID")); err == nil && id > 0 && id < firstLittle && prophesee(h) {
		return id
	}
	return 0
}

// orderSaid reports whether the header says the order of the words, or names a camera that does.
func orderSaid(h rawheader.Header) bool {
	return formatOption(h, "endianness") != "" || field(h, "endianness") != "" || legacyCamera(h) != 0
}

// orderIn is orderOf for a recording at hand: where nothing says the order, and the words are wrong in the one that
// they have by default and right in the other, they have the other.
func orderIn(f format.File, h rawheader.Header, chosen string) (o order, why string, err error) {
	o, why, err = orderOf(h, chosen)
	if err != nil || o == legacy || chosen != "" && chosen != "auto" || orderSaid(h) {
		return o, why, err
	}
	if layout.Prove(f, h, format.Policy{Layout: string(little)}).Confidence > 0 {
		return o, why, nil
	}
	if layout.Prove(f, h, format.Policy{Layout: string(legacy)}).Confidence > 0 {
		return legacy, "the header does not say it, and in the other order the words make no sense", nil
	}
	return o, why, nil
}

func parseOrder(s string) (order, bool) {
	o := order(strings.ToLower(strings.TrimSpace(s)))
	return o, o == little || o == legacy
}

// prophesee reports whether Prophesee made the camera, as is so where the header names no other maker.
func prophesee(h rawheader.Header) bool {
	for _, key := range []string{"camera_integrator_name", "plugin_integrator_name", "integrator_name"} {
		if v := field(h, key); v != "" && !strings.EqualFold(v, "Prophesee") {
			return false
		}
	}
	return true
}

func field(h rawheader.Header, key string) string {
	v, _ := h.Field(key)
	return v
}

// formatOption returns an option of the header's format field, such as format NAME;option=value.
func formatOption(h rawheader.Header, name string) string {
	_, options, _ := strings.Cut(field(h, "format"), ";")
	for option := range strings.SplitSeq(options, ";") {
		if key, value, _ := strings.Cut(option, "="); strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
