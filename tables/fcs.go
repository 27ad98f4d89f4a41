package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio"
)

// FCS files of flow cytometers, versions 2.0 to 3.2 (https://doi.org/10.1002/cyto.a.24225),
// have a header of offsets, a segment of keywords, TEXT, and one of events, DATA.

var fcsFormat = &format{
	name: "FCS", short: "FCS", looksLike: "an FCS file of a flow cytometer", instead: toArrow,
	extensions: []string{".fcs", ".lmd"}, begins: prefixes("FCS2.0", "FCS3."),
	refuse: func(head []byte) error {
		if prefixes("FCS2.0", "FCS3.0", "FCS3.1", "FCS3.2")(head) {
			return nil
		}
		return fmt.Errorf("holds FCS of version %q: 2.0, 3.0, 3.1 and 3.2 can be read: export it as one of them", head[3:6])
	},
	own: func(o Options) string {
		switch {
		case o.Compensate:
			return "--compensate is for FCS files of a cytometer"
		case o.Panel != nil:
			return "--panel is for FCS files of a cytometer"
		}
		return ""
	},
	open: openFCS,
}

// fcsText are the keywords of a data set, in capitals.
type fcsText map[string]string

// An fcsFile is one that is being opened.
type fcsFile struct {
	r    io.ReaderAt
	size int64
	mem  *arrowio.Budget
	text fcsText
	data [2]int64 // the first and the last byte of the events
	// opaque: supplemental TEXT is something else, such as the archive of settings that a CyFlow Cube writes there
	opaque bool
}

// openFCS opens the first data set of a file.
func openFCS(ctx context.Context, in *input, o Options) (*batches, error) {
	r, size, err := in.whole(ctx)
	if err != nil {
		return nil, err
	}
	f := &fcsFile{r: r, size: size, mem: in.reading, text: fcsText{}}
	if err := f.header(); err != nil {
		return nil, err
	}
	set, err := f.events()
	if err != nil {
		return nil, err
	}
	if o.Compensate || o.Compensated {
		without := "leave --compensate out"
		if !o.Compensate {
			without = "what was learnt on was compensated: learn again without --compensate"
		}
		if set.spill, err = f.spillover(set.channels, without); err != nil {
			return nil, err
		}
	}
	doubt := ""
	if o.Panel != nil {
		if doubt, err = o.Panel.name(set.channels); err != nil {
			return nil, err
		}
	}
	notes := []string{match(set.channels, o.asked())}
	if f.opaque {
		notes = append(notes, "has something else than keywords in its supplemental TEXT, which is left out")
	}
	b, err := set.batches()
	if err != nil {
		return nil, err
	}
	b.cofactor, b.left, b.doubt = cofactor(set.channels), map[string]string{}, doubt
	for _, c := range set.channels {
		b.left[c.name] = c.left
	}
	b.hint = fmt.Sprintf(". Its detectors are %s: if one of them has the marker, say so in a table of detectors and markers (--panel)", list(detectors(set.channels)))
	switch {
	case o.Compensated:
		notes = append(notes, "is compensated, as what was learnt on was")
	case !o.Compensate && !o.Learnt && f.spills(set.channels):
		notes = append(notes, "has a spillover matrix, which is left as it is: --compensate takes it out, if the values are not compensated yet")
	}
	b.note = strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
	if next, _ := f.text.number("$NEXTDATA"); next > 0 {
		b.skipped = []Skipped{{Name: "data sets after the first"}}
	}
	return b, nil
}

// header reads the offsets and the keywords.
func (f *fcsFile) header() error {
	head := make([]byte, 42)
	if _, err := f.r.ReadAt(head, 0); err != nil {
		return fcsError("header", err)
	}
	var at [4]int64
	for i := range at {
		text := strings.TrimSpace(string(head[10+8*i : 18+8*i]))
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil && text != "" {
			return fmt.Errorf("header: byte %d: %q is no offset: it is damaged: copy or export it again", 10+8*i, text)
		}
		at[i] = v
	}
	if err := f.keywords(mainText, at[0], at[1]); err != nil {
		return err
	}
	begin, _ := f.text.number("$BEGINSTEXT")
	end, _ := f.text.number("$ENDSTEXT")
	if begin > 0 && begin != at[0] && end > begin {
		err := f.keywords("supplemental TEXT", begin, end)
		if f.opaque = errors.Is(err, errNoKeywords); err != nil && !f.opaque {
			return err
		}
	}
	f.data = [2]int64{at[2], at[3]}
	first, said := f.text.number("$BEGINDATA")
	switch {
	case at[2] <= 0 || at[3] <= 0: // they have more digits than the header has room for
		last, there := f.text.number("$ENDDATA")
		if f.data = [2]int64{first, last}; !said || !there {
			return errors.New("says in neither its header nor $BEGINDATA and $ENDDATA where its events are: export it again")
		}
	case said && first > 0 && first != at[2]:
		return fmt.Errorf("header: says that the events begin at byte %d, and $BEGINDATA that they do at %d: one of them is wrong: export it again", at[2], first)
	}
	return nil
}

// keywordCost is about the memory of keywords for each byte of their text.
const keywordCost = 8

// keywords reads a segment of keywords.
func (f *fcsFile) keywords(what string, begin, end int64) error {
	if begin < 58 || end <= begin || begin >= f.size {
		return fmt.Errorf("header: %s from byte %d to %d is not in the file of %d bytes: copy or export it again", what, begin, end, f.size)
	}
	if end >= f.size {
		return fmt.Errorf("%s: is truncated: the file has %d bytes, and it ends at %d: copy or download it again", what, f.size, end+1)
	}
	size := end - begin + 1
	if err := f.mem.Take(size * keywordCost); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	raw := make([]byte, size)
	if _, err := f.r.ReadAt(raw, begin); err != nil {
		return fcsError(what, err)
	}
	for _, parts := range [][]string{
		splitKeywords(string(raw[1:]), raw[0]),
		strings.Split(strings.TrimSuffix(strings.TrimRight(string(raw[1:]), " \r\n\x00"), string(raw[:1])), string(raw[:1])), // values that are empty look like a delimiter
	} {
		found := pairs(parts, string(raw[:1]))
		if found == nil || what == mainText && (found["$PAR"] == "" || found["$DATATYPE"] == "") {
			continue
		}
		maps.Copy(found, f.text) // what is known already stays
		f.text = found
		return nil
	}
	return fmt.Errorf("%s: %w", what, errNoKeywords)
}

var errNoKeywords = errors.New("has a keyword without a value, or lacks $PAR or $DATATYPE: export it again")

// mainText is what messages call the first segment of keywords.
const mainText = "TEXT"

// splitKeywords takes keywords and values apart. A delimiter in them is there twice.
func splitKeywords(text string, delimiter byte) (parts []string) {
	var part strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != delimiter:
			part.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == delimiter:
			part.WriteByte(delimiter)
			i++
		default:
			parts = append(parts, part.String())
			part.Reset()
		}
	}
	if left := strings.Trim(part.String(), " \r\n\x00"); left != "" {
		parts = append(parts, left)
	}
	return parts
}

// pairs are keywords with their values; nil if they are not: a keyword with a delimiter in it is one without
// a value and the next one.
func pairs(parts []string, delimiter string) fcsText {
	if len(parts)%2 != 0 {
		return nil
	}
	found := fcsText{}
	for i := 0; i < len(parts); i += 2 {
		key := strings.ToUpper(strings.TrimSpace(parts[i]))
		if key == "" || strings.Contains(key, delimiter) {
			return nil
		}
		found[key] = strings.TrimSpace(parts[i+1])
	}
	return found
}

// number is the value of a keyword that is a whole number.
func (t fcsText) number(key string) (int64, bool) {
	v, err := strconv.ParseInt(t[key], 10, 64)
	return v, err == nil
}

// need is number where one has to be, from lo to hi.
func (t fcsText) need(key string, lo, hi int64) (int64, error) {
	v, ok := t.number(key)
	if !ok || v < lo || v > hi {
		return 0, fmt.Errorf("%s is %q, want a whole number from %d to %d: export it again", key, t[key], lo, hi)
	}
	return v, nil
}

// spills reports whether there is a matrix of spillover by which no channel says that it is compensated.
func (f *fcsFile) spills(channels []fcsChannel) bool {
	if slices.ContainsFunc(channels, func(c fcsChannel) bool { return strings.HasPrefix(c.short, "Comp-") }) {
		return false
	}
	s, err := f.spillover(channels, "")
	return err == nil && !s.nothing()
}

// spillover reads the matrix of spillover, which the channels are to be rid of. without says
// how to do without it.
func (f *fcsFile) spillover(channels []fcsChannel, without string) (*spill, error) {
	for _, key := range []string{"$SPILLOVER", "SPILLOVER", "$SPILL", "SPILL"} {
		if text := f.text[key]; text != "" {
			s, err := parseSpill(text, channels, without)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			return s, nil
		}
	}
	if f.text["$COMP"] != "" {
		return nil, fmt.Errorf("has its compensation in $COMP, which names no channels: compensate it in R with flowCore, or %s", without)
	}
	return nil, fmt.Errorf("has no spillover matrix ($SPILLOVER or SPILL): %s, or export it with one", without)
}

// fcsError explains an error of reading a part of a file.
func fcsError(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: is truncated: copy or download it again", what)
	}
	return readError(err)
}
