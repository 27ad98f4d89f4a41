package tables

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

func TestSVMLightErrors(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"1 1:1\n1 1:1 1:2\n", "line 2: has feature 1 twice"},
		{"1 1:1\n1 x:1\n", `line 2: "x:1" is no index:value: indices are whole numbers from 0`},
		{"1 1:1\n1 -1:1\n", "indices are whole numbers from 0"},
		{"1 1:1\n1 2\n", `line 2: "2" is no index:value`},
		{"1 1:1\n1 1:x\n", `line 2: feature 1: "x" is not a number`},
		{"1 1:1\n1:1\n", "line 2: begins with \"1:1\" where its label should be"},
		{"1 1:1\n1,2 1:1\n", "line 2: has several labels"},
		{"1 1:1\n2.5 1:1\n", "line 2: label 2.5 is not a whole number"},
		{"1 1:1\n1 2:1 3:1 1:1 3:2\n", "line 2: has feature 3 twice"},
		{"1 1:1\n1 99999999999999999999:1\n", `line 2: "99999999999999999999:1" is no index:value: indices are whole numbers from 0 to 9223372036854775807`},
		{"1 1:1\n1 99999:3e38 5:3e38 99999:1\n", "line 2: has feature 99999 twice"},
		{"1 1:1\n1 1:1e99\n", "is +Inf"},
		{"1\n-1\n", "has no column of numbers"},
		{"# nothing\n", "has no rows"},
	} {
		_, err := read("t.svm", tc.text, Options{})
		wantError(t, err, tc.want)
	}
	got, err := read("t.svm", "cat 2:1\n3.0 1:1\n", Options{}) // by its name
	if err != nil || !slices.Equal(got.Labels, []string{"cat", "3"}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestARFFErrors(t *testing.T) {
	const head = "@relation r\n@attribute x real\n@attribute k {a,b}\n@attribute d date\n@data\n"
	for _, tc := range []struct{ text, want string }{
		{"@relation r\n@attribute x real\n", "has no @data"},
		{"@relation r\n@data\n1\n", "line 2: @data comes before any @attribute"},
		{"@relation r\nx real\n", `line 2: has "x" where @attribute or @data should be`},
		{"@relation r\n@attribute x relational\n", `line 2: attribute "x" has type "relational": numeric, nominal`},
		{"@relation r\n@attribute x {a,b\n", `line 2: the values of attribute "x" have no }`},
		{"@relation r\n@attribute 'x real\n", `line 2: "'x real" has no quote at its end`},
		{"@relation r\n@attribute x real\n@attribute x real\n", `line 3: attribute "x" is there twice`},
		{head + "1,a\n", "line 6: has 2 values, and there are 3 attributes"},
		{head + "1,a,?,4\n", "line 6: has more values than the 3 attributes"},
		{head + "z,a,?\n", `line 6: attribute "x": "z" is not a number`},
		{head + "1,c,?\n", `line 6: attribute "k": "c" is none of its values`},
		{head + "1,a,2020\n", `line 6: attribute "d": "2020" is no date as "2006-01-02T15:04:05"`},
		{head + "1,,?\n", `line 6: attribute "k" has no value: a missing one is ?`},
		{head + "1,'a'b,?\n", `line 6: has "b,?" after the quoted value "a"`},
		{head + "?,a,?\n", `column "x": row 1: is null`},
		{head + "{3 1}\n", `line 6: "3" is no index of an attribute: they are from 0 to 2`},
		{head + "{0 1, 0 2}\n", "line 6: has attribute 0 twice"},
		{head + "{0 1\n", "line 6: a sparse row has no }"},
		{head, "has no rows"},
	} {
		_, err := read("t.arff", tc.text, Options{})
		wantError(t, err, tc.want)
	}
}

// What is no feature is there for those who keep columns: dates are times, and what is
// missing is null.
func TestARFFColumns(t *testing.T) {
	got := map[string]string{}
	names := []string{"kind", "day"}
	columns, uneven, err := Columns(t.Context(), formats+"/dense.arff", Options{})
	columns = slices.DeleteFunc(columns, func(f arrow.Field) bool { return !slices.Contains(names, f.Name) })
	if err != nil || uneven != nil {
		t.Fatal(uneven, err)
	}
	err = EachBatch(t.Context(), formats+"/dense.arff", Options{}, columns, func(rec arrow.Record) error {
		for k, name := range names {
			c := rec.Column(k)
			for i := range c.Len() {
				got[name] += c.ValueStr(i) + ";"
			}
		}
		if _, ok := rec.Column(1).(*array.Timestamp); !ok {
			t.Errorf("days are %s", rec.Column(1).DataType())
		}
		return nil
	})
	if err != nil || got["kind"] != "cat;dog, big;it's;(null);cat;" ||
		got["day"] != "2020-01-02 03:04:00Z;2021-12-31 23:59:00Z;1969-07-20 20:17:00Z;(null);2020-02-29 00:00:00Z;" {
		t.Errorf("%q, %v", got, err)
	}
	for pattern, want := range map[string]string{"": "2006-01-02T15:04:05", "dd.MM.yy": "02.01.06", "yyyy-MM-dd HH:mm:ss.SSS": "2006-01-02 15:04:05.000",
		"EEE, d MMM yyyy hh:mm a": "Mon, 2 Jan 2006 03:04 PM", "w": "", "yyyyy": "", "'T": "", "2": ""} {
		if got := javaLayout(pattern); got != want {
			t.Errorf("%q is %q, not %q", pattern, got, want)
		}
	}
}
