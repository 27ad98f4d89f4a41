package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestTaskRoundTrip(t *testing.T) {
	want := draw(1)
	var b bytes.Buffer
	if err := want.write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := read(&b)
	if err != nil {
		t.Fatal(err)
	}
	got.Name, got.Kind, got.Family = want.Name, want.Kind, want.Family
	if !reflect.DeepEqual(got, want) {
		t.Error("what is read differs from what was written")
	}
}

func TestDamagedTask(t *testing.T) {
	small := task{Source: matrix(2, 3), Labels: []int32{0, 1}, Target: matrix(1, 3), Truth: []int32{1}, Classes: 2}
	var b bytes.Buffer
	if err := small.write(&b); err != nil {
		t.Fatal(err)
	}
	with := func(at int, value uint32) []byte {
		damaged := bytes.Clone(b.Bytes())
		binary.LittleEndian.PutUint32(damaged[at:], value)
		return damaged
	}
	const firstValue, firstLabel = 16, 16 + 4*6
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"nothing":          {nil, "header: EOF"},
		"half a header":    {b.Bytes()[:9], "header: unexpected EOF"},
		"cut":              {b.Bytes()[:b.Len()-4], "rows: 44 bytes follow"},
		"cut in a value":   {b.Bytes()[:b.Len()-1], "rows: 47 bytes follow"},
		"too long":         {append(bytes.Clone(b.Bytes()), 0, 0, 0, 0), "rows: 52 bytes follow"},
		"no rows":          {with(0, 0), "header: 0 and 1 rows"},
		"negative columns": {with(8, 1<<31), "each is at least 1"},
		"many rows":        {with(0, math.MaxInt32), "2147483647 + 1 rows of 3 columns"},
		"many columns":     {with(8, math.MaxInt32), "2 + 1 rows of 2147483647 columns"},
		"not a number":     {with(firstValue+4, math.Float32bits(float32(math.NaN()))), "source: row 0, column 1: NaN is not finite"},
		"label":            {with(firstLabel+4, 2), "source: row 1: label 2 is none of the 2 classes"},
		"truth":            {with(b.Len()-4, 9), "target: row 0: label 9 is none"},
	} {
		if _, err := read(bytes.NewReader(c.bytes)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, without %q", name, err, c.says)
		}
	}
}

func TestHeaderAloneAllocatesNothing(t *testing.T) {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, header{math.MaxInt32, math.MaxInt32, math.MaxInt32, 2}); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := read(&b); err == nil {
		t.Error("a header without rows is read")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<16 {
		t.Errorf("%d bytes are allocated for a header without rows", used)
	}
}
