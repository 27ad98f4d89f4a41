package shift

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mars.dev/mars/internal/contexttest"
)

// A message lists ten classes, and of more it says how many there are.
func TestClassesInMessages(t *testing.T) {
	var classes []string
	for k := range maxListed + 1 {
		classes = append(classes, fmt.Sprint("c", k))
	}
	const ten = "c0, c1, c2, c3, c4, c5, c6, c7, c8, c9"
	for n, want := range map[int]string{maxListed: ten, maxListed + 1: ten + ", … (11 in all)"} {
		_, err := ParseProportions("x=1", classes[:n])
		if err == nil || !strings.HasSuffix(err.Error(), `class "x" is not in the data: its classes are `+want) {
			t.Errorf("%d classes: %v", n, err)
		}
	}
}

// A label that is no class is a mistake of the caller, the first one beyond the classes too.
func TestLabelsOutsideTheClasses(t *testing.T) {
	defer func() {
		if got := recover(); got != "shift: label outside the classes" {
			t.Errorf("it panics with %v", got)
		}
	}()
	Thin(t.Context(), []int32{0, 1, 2}, []float64{1, 1}, 1)
}

func TestThinStopsWithItsContext(t *testing.T) {
	contexttest.Stops(t, 2, func(ctx context.Context) error {
		_, err := Thin(ctx, []int32{0, 1, 0, 1}, []float64{1, 0.5}, 1)
		return err
	})
}

// Of a class without rows none is kept, whatever its fraction.
func TestThinOfAnEmptyClass(t *testing.T) {
	kept, err := Thin(t.Context(), []int32{0, 0}, []float64{0.1, 0.1}, 1)
	if err != nil || len(kept) != 1 {
		t.Errorf("%v, %v", kept, err)
	}
}
