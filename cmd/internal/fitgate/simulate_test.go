package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestSimulateWritesTasksAndTheirNames(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	if err := run([]string{"simulate", "28", "32", folder}); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadFile(filepath.Join(folder, "tasks.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(names)), "\n")
	if len(lines) != 5 || lines[0] != "name,kind,family" || !strings.HasPrefix(lines[4], "sim-31,") || !strings.HasSuffix(lines[4], ",sim-3") {
		t.Errorf("tasks.csv has\n%s", names)
	}
	f, err := os.Open(filepath.Join(folder, "sim-30.task"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := read(f)
	if err != nil {
		t.Fatal(err)
	}
	if want := draw(30); !reflect.DeepEqual(got.Target, want.Target) || !reflect.DeepEqual(got.Labels, want.Labels) {
		t.Error("the file holds another task than that of its seed")
	}
}
