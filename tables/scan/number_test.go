package scan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// wantFloat32 is what Float32 has to make of a field.
func wantFloat32(field string) (float32, bool) {
	if strings.ContainsAny(field, "_xXiInN") { // words, and what only Go takes for a number
		return 0, false
	}
	v, err := strconv.ParseFloat(field, 32)
	return float32(v), err == nil
}

func checkFloat32(t testing.TB, field string) {
	t.Helper()
	want, number := wantFloat32(field)
	for _, after := range []string{"", ",", ".99999999999999999999999", "00000000000000000000000000"} { // it is not looked at
		text := []byte(field + after)
		got, ok := Float32(text[:len(field)])
		if ok != number || ok && math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("%q before %q is %v, %v; strconv says %v, %v", field, after, got, ok, want, number)
		}
	}
}

func TestFloat32(t *testing.T) {
	for _, field := range []string{
		"0", "-0", "+0", "0.0", "-0.000", "00000000000000000000000", "0e99999999999", "1", "-1", "1.", ".5", "-.5", "1e5", "1E+5", "1e-5",
		"12345678", "123456789", "1234567890123456789", "12345678901234567890", "99999999999999999999", "0.1234567", "0.12345678", "0.123456789",
		"16777216", "16777217", "16777219", "8388608.5", "8388609.5", "16777217.0000000000000000000000000000001", "1.00000017881393432617187499", "1.000000059604644776", "1.0000000596046448", "1.000000059604644775", "1.000000178813934326", "1.000000178813934327", "1.00000017881393432617187500", "1.00000017881393432617187501",
		"3.4028235e38", "3.4028235677973366e38", "3.40282356779733661637539395458142568447e38", "3.4028236e38", "3.5e38", "-1e39", "1e400", "1e-400",
		"1.1754944e-38", "1.1754943e-38", "1.17549435e-38", "1e-45", "7e-46", "7.006492321624085e-46", "7.0064923216240853546186479164495e-46", "1.4e-45", "5e-324",
		"0.00000000000000000000000000000000000000000000000000000000000000001e70", "1000000000000000000000000000000000000000000e-40",
		"", "-", "+", ".", "-.", "e5", ".e5", "1e", "1e+", "1e-", "1ee5", "1e5.", "1.2.3", "--1", "+-1", "1 ", " 1", "1,5", "0x1p4", "1_000", "inf", "-Inf", "nan", "infinity", "true", "1f", "½",
		"1234567.", "12345678.", "1.2345678e", "1.2345678e5", "1.23456789e-5", "1.234567:", "1.234567/", "12345.6:", "0.1234567890123456x",
	} {
		checkFloat32(t, field)
	}
}

// Numbers as programs write them, and such as are near the middle of two float32.
func TestFloat32Random(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		f := math.Float32frombits(r.Uint32())
		x := math.Float64frombits(r.Uint64())
		g := (float64(f) + float64(math.Nextafter32(f, math.MaxFloat32))) / 2
		for _, v := range []float64{float64(f), g, math.Nextafter(g, 0), math.Nextafter(g, math.Inf(1)), x, r.NormFloat64()} {
			checkFloat32(t, strconv.FormatFloat(v, 'g', -1, 64))
			checkFloat32(t, strconv.FormatFloat(v, 'e', r.IntN(25), 64))
			if math.Abs(v) < 1e30 {
				checkFloat32(t, strconv.FormatFloat(v, 'f', r.IntN(12), 64))
			}
		}
		checkFloat32(t, strconv.FormatFloat(float64(f), 'g', -1, 32))
		checkFloat32(t, fmt.Sprintf("%d.%0*d", r.IntN(1000), r.IntN(20), r.Uint64()>>r.IntN(64)))
		checkFloat32(t, fmt.Sprintf("%de%d", r.Uint64()>>r.IntN(64), r.IntN(140)-80))
	}
}

func FuzzFloat32(f *testing.F) {
	for _, field := range []string{"1.5", "-12345678.12345678e-12", "16777217", "1e39", "0.000000000000000000000000000000000000011754943508", "7.0064923216240853546186479164495e-46"} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) { checkFloat32(t, field) })
}

func BenchmarkFloat32(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, digits := range []int{2, 5, 7, 15} {
		fields, size := make([][]byte, 1024), 0
		for i := range fields {
			fields[i] = strconv.AppendFloat(nil, r.NormFloat64(), 'f', digits, 64)
			size += len(fields[i])
		}
		for _, of := range []struct {
			name  string
			parse func([]byte) (float32, bool)
		}{{"scan", Float32}, {"strconv", func(f []byte) (float32, bool) {
			v, err := strconv.ParseFloat(string(f), 32)
			return float32(v), err == nil
		}}} {
			b.Run(fmt.Sprint(of.name, "/", digits), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					for _, f := range fields {
						if _, ok := of.parse(f); !ok {
							b.Fatal(string(f))
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/field")
			})
		}
	}
}

func TestStyle(t *testing.T) {
	for _, tc := range []struct {
		style Style
		field string
		want  float32
		ok    bool
	}{
		{Style{}, "1234.5", 1234.5, true},
		{Style{}, "1,234.5", 0, false},
		{Style{Decimal: '.', Thousands: ','}, "1,234.5", 1234.5, true},
		{Style{Thousands: ','}, "-12,345,678.25e-3", -12345.67825, true},
		{Style{Thousands: ','}, "+123,456", 123456, true},
		{Style{Thousands: ','}, "123456.5", 123456.5, true},
		{Style{Thousands: ','}, "0.25", 0.25, true},
		{Style{Thousands: ','}, "1,23", 0, false},
		{Style{Thousands: ','}, "1,2345", 0, false},
		{Style{Thousands: ','}, "1234,567", 0, false},
		{Style{Thousands: ','}, "1,234,56", 0, false},
		{Style{Thousands: ','}, ",234", 0, false},
		{Style{Thousands: ','}, "1,234,", 0, false},
		{Style{Thousands: ','}, "1.234,567", 0, false},
		{Style{Decimal: ','}, "1234,5", 1234.5, true},
		{Style{Decimal: ','}, "1234.5", 0, false},
		{Style{Decimal: ','}, "1,23456789012345678901234567890", 1.2345679, true},
		{Style{Decimal: ',', Thousands: '.'}, "1.234,5", 1234.5, true},
		{Style{Decimal: ',', Thousands: '.'}, "1.234", 1234, true},
		{Style{Decimal: ',', Thousands: ' '}, "-1 234 567,5", -1234567.5, true},
		{Style{Decimal: ',', Thousands: ' '}, "1\u202f234\u00a0567,5", 1234567.5, true},
		{Style{Thousands: '\''}, "1'234'567.5", 1234567.5, true},
		{Style{Thousands: '’'}, "1’234.5", 1234.5, true},
		{Style{Thousands: ' '}, "1\xff234", 0, false},
		{Style{Thousands: ','}, "1" + strings.Repeat(",000", 12), 1e36, true},
		{Style{Thousands: ','}, "1" + strings.Repeat(",000", 13), 0, false},
		{Style{Thousands: ','}, "", 0, false},
	} {
		got, ok := tc.style.Float32([]byte(tc.field))
		if got != tc.want || ok != tc.ok {
			t.Errorf("%q of %+v is %v, %v; want %v, %v", tc.field, tc.style, got, ok, tc.want, tc.ok)
		}
		if plain := strings.Replace(tc.style.Ungroup(tc.field), ",", ".", 1); tc.ok {
			if v, err := strconv.ParseFloat(plain, 32); err != nil || float32(v) != tc.want {
				t.Errorf("%q of %+v is %q without groups", tc.field, tc.style, plain)
			}
		}
	}
}
