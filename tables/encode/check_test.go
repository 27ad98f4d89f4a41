package encode

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// An encoder of a file has nothing that does not fit: what is looked up by its numbers is there.
func TestUnmarshalChecks(t *testing.T) {
	for _, good := range []string{
		`{"name":"x","fill":1.5,"parts":["number"]}`,
		`{"name":"c","kind":"category","values":["a","b"],"fill":1,"levels":[0,1],"other":true}`,
		`{"name":"c","kind":"category","values":["a"],"fill":0,"gaps":true}`,
		`{"name":"c","kind":"category","buckets":3,"fill":2}`,
		`{"name":"d","kind":"day","fill":9000,"origin":9000,"parts":["days","week"]}`,
		`{"name":"c","kind":"category","fill":0,"dropped":"empty"}`,
	} {
		if err := json.Unmarshal([]byte(`{"columns":[`+good+`]}`), &Encoder{}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		`"kind":"category","values":["a","b"],"fill":0,"levels":[0,2]`:       `column "c": its levels are [0 2], and it has 2 values`,
		`"kind":"category","values":["a","b"],"fill":0,"levels":[-1,1]`:      "its levels are [-1 1]",
		`"kind":"category","values":["a","b"],"fill":0,"levels":[1,0]`:       "its levels are [1 0]",
		`"kind":"category","values":["a","b"],"fill":0,"levels":[1,1]`:       "its levels are [1 1]",
		`"kind":"category","values":null,"fill":0,"levels":[0]`:              "and it has 0 values",
		`"kind":"category","values":["a","b"],"fill":2,"levels":[0]`:         "value 2 is filled in, and it has 2",
		`"kind":"category","values":["a","b"],"fill":0.5,"levels":[0]`:       "value 0.5 is filled in",
		`"kind":"category","buckets":-1,"fill":0`:                            "it has -1 buckets",
		`"kind":"category","buckets":2000000000,"fill":0`:                    "it has 2000000000 buckets",
		`"kind":"category","buckets":2,"fill":2`:                             "value 2 is filled in, and it has 2",
		`"kind":"category","buckets":2,"fill":0,"levels":[0],"values":["a"]`: "its values are hashed",
		`"kind":"day","fill":0,"layout":"x","parts":["days"]`:                `written as "x"`,
		`"kind":"sound","fill":0`:                                            `its kind is "sound"`,
		`"fill":0,"parts":["week"]`:                                          `its parts are ["week"]`,
		`"fill":0,"parts":["number","number"]`:                               "its parts are",
		`"fill":0`:                                                           "nothing becomes of it",
		`"fill":0,"levels":[0],"values":["a"]`:                               "is no category",
		`"fill":1e39,"parts":["number"]`:                                     "1e39",
	} {
		err := json.Unmarshal([]byte(`{"columns":[{"name":"c",`+bad+`}]}`), &Encoder{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", bad, err, want)
		}
	}
	many := strings.Repeat(`{"name":"c","kind":"category","buckets":16777216,"fill":0},`, 2)
	if err := json.Unmarshal([]byte(`{"columns":[`+strings.TrimSuffix(many, ",")+`]}`), &Encoder{}); err == nil {
		t.Error("too many features are read")
	}
}

// What is read as an encoder makes features of any row, as many as it has names for.
func FuzzUnmarshal(f *testing.F) {
	for _, text := range []string{
		`{"columns":[{"name":"x","fill":1.5,"parts":["number"],"gaps":true}]}`,
		`{"columns":[{"name":"c","kind":"category","values":["a","b"],"fill":1,"levels":[0,1],"other":true},{"name":"h","kind":"category","buckets":3,"fill":2}]}`,
		`{"columns":[{"name":"d","kind":"day","fill":9000,"origin":9000,"parts":["days","week","year"]},{"name":"d","kind":"clock","fill":3,"parts":["seconds","day"]}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e := &Encoder{}
		if json.Unmarshal(text, e) != nil || e.Width() > 1<<16 {
			return
		}
		if names := e.Names(); len(names) != e.Width() {
			t.Errorf("%d names of %d features", len(names), e.Width())
		}
		row, features := make([]float32, len(e.Columns)), make([]float32, e.Width())
		for _, v := range []float32{0, float32(math.NaN())} {
			for j := range row {
				row[j] = v
				_ = e.Columns[j].Filled()
				_ = e.Columns[j].Becomes()
			}
			e.encode(row, features)
		}
	})
}
