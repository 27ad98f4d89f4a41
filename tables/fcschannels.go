package tables

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// nameChannels gives each channel a name of its own: its marker, or its detector where that is empty
// or of several channels.
func nameChannels(channels []fcsChannel) {
	count := map[string]int{}
	for _, c := range channels {
		count[c.name]++
	}
	taken := map[string]bool{}
	for i := range channels {
		c := &channels[i]
		if c.name == "" || count[c.name] > 1 {
			c.name = c.short
		}
		for taken[c.name] {
			c.name = fmt.Sprintf("%s (P%d)", c.name, i+1)
		}
		taken[c.name] = true
	}
}

// asked are the names of columns that options have, in which files of other instruments may write
// theirs otherwise.
func (o Options) asked() []string {
	return slices.Concat(o.Columns, names(o.Fields), o.Exclude, []string{o.Label, o.ID, o.Batch}, o.Levels)
}

// match gives channels the names that are asked for, where theirs say the same: the detector, if no
// marker is asked for that the file has, as it then comes from files without any; or letters and digits
// that are alike, such as HLA-DR and hladr. It says which.
func match(channels []fcsChannel, asked []string) string {
	wanted, here, markers := SetOf(asked), map[string]bool{}, false
	for _, c := range channels {
		here[c.name] = true
		markers = markers || c.name != c.short && wanted[c.name]
	}
	const several = -1
	detector, letters := map[string]int{}, map[string]int{}
	for i, c := range channels {
		if wanted[c.name] {
			continue
		}
		if !markers {
			detector[c.short] = i
		}
		key := alike(c.name)
		if _, there := letters[key]; there {
			letters[key] = several
		} else {
			letters[key] = i
		}
	}
	var said []string
	for _, name := range asked {
		if here[name] || alike(name) == "" {
			continue
		}
		i, ok := detector[name]
		if !ok {
			i, ok = letters[alike(name)]
		}
		if !ok || i == several || wanted[channels[i].name] {
			continue
		}
		said = append(said, fmt.Sprintf("%s as %s", channels[i].name, name))
		channels[i].name, here[name] = name, true
	}
	if said == nil {
		return ""
	}
	return "channels are read by other names: " + list(said)
}

// alike is what names of one marker have in common.
func alike(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// A Panel says which marker each detector of a cytometer has.
type Panel struct {
	path    string
	header  string            // the name of its first column
	markers map[string]string // "" for a channel that is not used
}

// ReadPanel reads a table whose first two columns are detector and marker.
func ReadPanel(ctx context.Context, path string) (*Panel, error) {
	if info, err := os.Stat(path); path == "-" || err == nil && (info.IsDir() || !HasBlocks(ctx, path, Options{})) {
		return nil, fmt.Errorf("%s: is no table in a file: give the panel as CSV, TSV, Parquet or Arrow", path)
	}
	columns, _, err := Columns(ctx, path, Options{})
	if err != nil {
		return nil, err
	}
	if len(columns) < 2 {
		return nil, fmt.Errorf("%s: has one column: give a panel whose first column has the detectors ($PnN) and whose second has the markers", path)
	}
	columns = columns[:2]
	for i := range columns {
		columns[i] = arrow.Field{Name: columns[i].Name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	p := &Panel{path: path, header: strings.TrimSpace(columns[0].Name), markers: map[string]string{}}
	err = EachBatch(ctx, path, Options{}, columns, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			detector, _ := arrowio.Cell(rec.Column(0), i)
			marker, _ := arrowio.Cell(rec.Column(1), i)
			detector, marker = strings.TrimSpace(detector), strings.TrimSpace(marker)
			if was, there := p.markers[detector]; there && was != marker {
				return fmt.Errorf("%s: says that %s is %q, and that it is %q: give it one marker", path, detector, was, marker)
			}
			p.markers[detector] = marker
		}
		return nil
	})
	return p, err
}

// name names channels by the panel, and says which of them are no features. What it gives is the doubt that the
// file lacks a marker.
func (p *Panel) name(channels []fcsChannel) (string, error) {
	by := map[string]string{}
	for i := range channels {
		c := &channels[i]
		if c.short == p.header {
			return "", fmt.Errorf("%s: its first line is taken for names of columns, and begins with the detector %s: put a line such as detector,marker before it", p.path, c.short)
		}
		marker := p.markers[c.short]
		if marker == "" {
			c.left = "not in the panel"
			continue
		}
		if other, there := by[marker]; there {
			return "", fmt.Errorf("%s: says that %s and %s are both %s: give each a name of its own", p.path, other, c.short, marker)
		}
		c.name, c.left, by[marker] = marker, "", c.short
	}
	if len(by) == 0 {
		return "", fmt.Errorf("has none of the detectors that %s names (its detectors are %s): give the panel of this instrument", p.path, list(detectors(channels)))
	}
	for i := range channels { // another may be called as one of the panel
		if c := &channels[i]; c.left != "" && by[c.name] != "" {
			c.name = fmt.Sprintf("%s (P%d)", c.name, i+1)
		}
	}
	var absent []string
	for _, detector := range slices.Sorted(maps.Keys(p.markers)) {
		if marker := p.markers[detector]; marker != "" && by[marker] == "" {
			absent = append(absent, fmt.Sprintf("%s (%s)", detector, marker))
		}
	}
	if absent == nil {
		return "", nil
	}
	return fmt.Sprintf("has not all detectors that %s names: %s; it has %s", p.path, list(absent), list(detectors(channels))), nil
}

func detectors(channels []fcsChannel) (all []string) {
	for _, c := range channels {
		all = append(all, c.short)
	}
	return all
}

// massChannel is the name of a detector of a mass cytometer, such as Nd144Di or (Nd144)Di.
var massChannel = regexp.MustCompile(`\d{2,3}\)?D[di]$`).MatchString

// cofactor is that of arcsinh which is usual for the instrument.
func cofactor(channels []fcsChannel) float64 {
	if slices.ContainsFunc(channels, func(c fcsChannel) bool { return massChannel(c.short) }) {
		return 5
	}
	return 150
}
