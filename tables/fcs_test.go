package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// fcsOf is an FCS file of those keywords, which change those of a plain one.
func fcsOf(version, data string, changes ...string) string {
	keys := map[string]string{"$PAR": "1", "$MODE": "L", "$DATATYPE": "I", "$BYTEORD": "1,2,3,4", "$TOT": "2", "$P1B": "16", "$P1R": "1024", "$P1E": "0,0", "$P1N": "FL1"}
	for i := 0; i < len(changes); i += 2 {
		if keys[changes[i]] = changes[i+1]; changes[i+1] == "" {
			delete(keys, changes[i])
		}
	}
	text := "|"
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		text += k + "|" + keys[k] + "|"
	}
	begin := 58 + len(text)
	return fmt.Sprintf("%s    %8d%8d%8d%8d%8d%8d", version, 58, begin-1, begin, begin+len(data)-1, 0, 0) + text + data
}

func TestFCSErrors(t *testing.T) {
	const data = "\x01\x00\x02\x00"
	plain := fcsOf("FCS3.1", data)
	for _, tc := range []struct{ text, want string }{
		{fcsOf("FCS1.0", data), "begins with bytes"},
		{fcsOf("FCS3.2", data), `holds FCS of version "3.2": 2.0, 3.0 and 3.1 can be read`},
		{plain[:30], "header: is truncated"},
		{plain[:100], "TEXT: is truncated"},
		{plain[:len(plain)-1], "is truncated: announces 2 events of 2 bytes, 1 are there"},
		{strings.Replace(plain, "      58", "      5x", 1), `header: byte 10: "5x" is no offset`},
		{strings.Replace(plain, "      58", "99999999", 1), "header: TEXT from byte 99999999 to "},
		{fcsOf("FCS3.1", data, "$MODE", "U"), "has histograms"},
		{fcsOf("FCS3.1", data, "$DATATYPE", "A"), `has values of type "A": I, F and D ($DATATYPE) can be read`},
		{fcsOf("FCS3.1", data, "$PAR", "99999999"), "want a whole number from 1 to 10000"},
		{fcsOf("FCS3.1", data, "$PAR", "2"), `$P2B is "", want a whole number from 1 to 64`},
		{fcsOf("FCS3.1", data, "$P1B", "10"), "$P1B is 10: integers of 8, 16, 24, 32 and 64 bits can be read"},
		{fcsOf("FCS3.1", data, "$P1B", "*"), `$P1B is "*"`},
		{fcsOf("FCS3.1", data, "$DATATYPE", "F"), "$P1B is 16, and values of type F have 32 bits"},
		{fcsOf("FCS3.1", data, "$P1R", "x"), `$P1R is "x", want the range`},
		{fcsOf("FCS3.1", data, "$P1E", "4"), `$P1E is "4", want decades and the smallest value`},
		{fcsOf("FCS3.1", data, "$BYTEORD", "3,4,1,2"), `$BYTEORD is "3,4,1,2"`},
		{fcsOf("FCS3.1", data, "$TOT", "0"), "has no events"},
		{fcsOf("FCS3.1", data, "$TOT", "1000000000000"), "announces 1000000000000 events of 2 bytes, 2 are there"},
		{fcsOf("FCS3.1", "", "$TOT", "2"), "announces 2 events"},
	} {
		_, err := read("a.fcs", tc.text, Options{})
		wantError(t, err, tc.want)
	}
	for _, key := range []string{"A", "z"} { // the first and the last keyword
		empty := strings.Replace(fcsOf("FCS3.1", data, key, "12345678"), key+"|12345678|", key+"||        ", 1)
		if got, err := read("a.fcs", empty, Options{}); err != nil || got.Features.Rows != 2 {
			t.Errorf("an empty value: %v, %v", got, err)
		}
	}
	got, err := read("a.fcs", fcsOf("FCS2.0", data, "$TOT", "", "$P1E", "2,0", "$P1R", "2", "$P1S", "CD3"), Options{})
	if err != nil || len(got.Features.Data) != 2 || got.Features.Data[0] != 10 || got.Features.Data[1] != 1 || got.Columns[0] != "CD3" {
		t.Errorf("%+v, %v", got, err) // the range masks 2 to 0
	}
}

func TestCompensation(t *testing.T) {
	const data = "\x01\x00\x02\x00"
	for _, tc := range []struct{ key, value, want string }{
		{"X", "", "has no spillover matrix ($SPILLOVER or SPILL): leave --compensate out"},
		{"$COMP", "1,1", "has its compensation in $COMP, which names no channels"},
		{"$SPILLOVER", "1,FL1,0", "$SPILLOVER: cannot be inverted: its condition number is +Inf"},
		{"SPILL", "1,FL7,1", `SPILL: names the channel "FL7", which the file has not`},
		{"SPILL", "1,FL1,x", `SPILL: "x" is no number`},
		{"SPILL", "1,FL1", `SPILL: "1,FL1" is no matrix`},
		{"SPILL", "3,FL1,1", `SPILL: "3,FL1,1" is no matrix`},
	} {
		_, err := read("a.fcs", fcsOf("FCS3.1", data, tc.key, tc.value), Options{Compensate: true})
		wantError(t, err, tc.want)
		_, err = read("a.fcs", fcsOf("FCS3.1", data, tc.key, tc.value), Options{Compensated: true})
		wantError(t, err, strings.Replace(tc.want, "leave --compensate out", "what was learnt on was compensated: learn again without --compensate", 1))
	}
	two := []fcsChannel{{short: "FL1"}, {short: "FL2"}}
	_, err := parseSpill("2,FL1,FL2,1,1,1,1.0000000000001", two, "leave --compensate out")
	wantError(t, err, "cannot be inverted: its condition number is 4e+13, and above 1e+06 nothing is left of what was measured: leave --compensate out")
	if _, err := parseSpill("2,FL1,FL2,1,.9,.8,1", two, ""); err != nil {
		t.Error(err)
	}
	got, err := read("a.fcs", fcsOf("FCS3.1", data, "$SPILLOVER", "1,1,2"), Options{Compensate: true})
	if err != nil || got.Features.Data[1] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	got, err = read("a.fcs", fcsOf("FCS3.1", data, "$SPILLOVER", "1,1,2"), Options{Compensated: true})
	if err != nil || got.Features.Data[1] != 1 || got.Note == "" || got.Doubt != "" {
		t.Errorf("%v, %v", got, err)
	}
	got, err = read("a.csv", "a\n1\n", Options{Compensated: true})
	if err != nil || !strings.HasPrefix(got.Doubt, "is a text table, and what was learnt on was compensated") {
		t.Errorf("%v, %v", got, err)
	}
	_, err = read("a.csv", "a\n1\n", Options{Compensate: true})
	wantError(t, err, "a.csv: is a text table, and --compensate is for FCS files")
}
