package tables

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms"
)

// What is read does not depend on the pieces in which it is, nor on the number of threads.
func TestTextInPieces(t *testing.T) {
	t.Cleanup(func() { textChunk = 0; algorithms.SetJobs(runtime.GOMAXPROCS(0)) })
	var text strings.Builder
	text.WriteString("id,x,\"y, or \"\"z\"\"\",kind,domain,label\n")
	for i := range 500 {
		fmt.Fprintf(&text, "r%d, %d.25 ,\"%d\",k%d,%s,\"c%d\n\"\n", i, i, i%7, i%3, []string{"source", "target", "other"}[i%5%3], i%4)
		if i%100 == 0 {
			text.WriteString("\r\n")
		}
	}
	for _, bad := range []string{"", "r,1,2\n", "r,x,1,k,source,c\n", "r,nan,1,k,other,c\nr,1,,k,target,c\n", "r,\"\n\",\"oops\",k,source,c\n", "r,1,2,k,source,\"c\"d\n", "\xff", "r9,1,2,k,source,c\n"} {
		for _, o := range []Options{{}, {Domain: "domain", Parts: []Part{{Name: "source"}, {Name: "target"}}}, {Columns: []string{"y, or \"z\""}, NoLabels: true}, {OnlyIDs: true}} {
			var want []*Table
			fault := "not read yet"
			for _, textChunk = range []int{0, 1, 50, 700} {
				for jobs := 1; jobs <= 3; jobs++ {
					algorithms.SetJobs(jobs)
					got, err := readParts(t.Context(), strings.NewReader(text.String()+bad), "a.csv", o)
					for _, table := range got {
						table.mem = nil
					}
					if fault == "not read yet" {
						if want, fault = got, fmt.Sprint(err); (err == nil) == (bad != "") && reflect.DeepEqual(o, Options{}) {
							t.Fatalf("%q: %v", bad, err)
						}
					}
					if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fault {
						t.Fatalf("%q, %+v, %d jobs, chunks of %d: %v, want %s", bad, o, jobs, textChunk, err, fault)
					}
				}
			}
		}
	}
}
