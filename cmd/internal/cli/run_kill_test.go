//go:build linux

package cli

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asMars has the test's program be mars, for tests that need a process to kill.
const asMars = "MARS_TEST_AS_MARS"

func TestMain(m *testing.M) {
	if os.Getenv(asMars) != "" {
		Main(Mars())
	}
	os.Exit(m.Run())
}

// marsCommand is mars with arguments, in a folder and a process group of its own.
func marsCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asMars+"=1", "MARS_CACHE="+filepath.Join(dir, "cache"), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func runMars(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := marsCommand(dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("mars %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

const killStudy = `
[matrix]
method = ["source", "marsc"]
[[stage]]
run = "featurize toy"
source-rows = 300
target-rows = 300
truth = true
[[stage]]
run = "embed"
epochs = 10
[[stage]]
run = "train"
method = "{method}"
epochs = 16
start-align = 4
batch = 30
checkpoint-every = 2
save = "model-{method}.safetensors"
output = "labelled-{method}.arrow"
[[stage]]
run = "eval"
json = true
output = "{method}.json"
`

func studyFolder(t *testing.T, study string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "study.toml"), []byte(study), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// outputs are the hashes of what a study leaves beside its file, and of the
// rows, texts and states in its cache.
func outputs(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || d.IsDir() || d.Name() == "entry.json" || strings.HasPrefix(name, "cache/locks") || d.Name() == "CACHEDIR.TAG" {
			return err
		}
		text, err := os.ReadFile(path)
		found[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// agePartFiles makes the files that a killed run was writing, in its folder and its cache, as old
// as those that the next run removes.
func agePartFiles(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-25 * time.Hour)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(d.Name(), ".mars-") {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A run that is killed at any moment ends, after another a day later, in the same
// bytes, and nothing is left over: neither files nor processes.
func TestKilledRunsResume(t *testing.T) {
	kills := 3
	if os.Getenv("MARS_LONG") != "" {
		kills = 50
	}
	whole := studyFolder(t, killStudy)
	start := time.Now()
	runMars(t, whole, "run", "-q", "study.toml")
	took := time.Since(start)
	want := outputs(t, whole)
	random := rand.New(rand.NewPCG(1, 2))
	resumed := 0
	for kill := range kills {
		dir := studyFolder(t, killStudy)
		after := time.Duration(random.Int64N(int64(took)))
		if killed(t, dir, after) {
			resumed++
		}
		agePartFiles(t, dir)
		log := runMars(t, dir, "run", "study.toml")
		got := outputs(t, dir)
		for name, sum := range want {
			if got[name] != sum {
				t.Errorf("kill %d after %s: %s differs or is missing\n%s", kill, after, name, log)
			}
		}
		for name := range got {
			if want[name] == "" {
				t.Errorf("kill %d after %s: %s was left over\n%s", kill, after, name, log)
			}
		}
	}
	if resumed == 0 {
		t.Error("no run was killed before its end")
	}
}

// killed runs the study and kills mars alone; it reports whether it was still at work.
func killed(t *testing.T, dir string, after time.Duration) bool {
	t.Helper()
	cmd := marsCommand(dir, "run", "-q", "study.toml")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	cmd.Process.Kill() //nolint:errcheck // it may have ended
	err := cmd.Wait()
	for range 100 { // its stages die with it
		if syscall.Kill(-cmd.Process.Pid, 0) != nil {
			var exit *exec.ExitError
			return errors.As(err, &exit) && exit.ExitCode() < 0
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("stages outlived the run that was killed\n%s", log.String())
	return true
}

// A training that was killed goes on from its checkpoint.
func TestTrainingResumesFromCheckpoint(t *testing.T) {
	const study = `
[[stage]]
run = "featurize toy"
source-rows = 300
target-rows = 300
[[stage]]
run = "train"
epochs = 100
batch = 30
checkpoint-every = 1
output = "labelled.arrow"
`
	dir := studyFolder(t, study)
	cmd := marsCommand(dir, "run", "-q", "study.toml")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	checkpoint := ""
	for range 500 {
		found, _ := filepath.Glob(filepath.Join(dir, "cache", "checkpoints", "*"))
		if len(found) > 0 && filepath.Ext(found[0]) == "" { // else it is being written
			checkpoint = found[0]
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	cmd.Process.Kill() //nolint:errcheck // it may have ended
	cmd.Wait()         //nolint:errcheck // it was killed
	if checkpoint == "" {
		t.Fatal("training wrote no checkpoint")
	}
	if err := os.WriteFile(filepath.Join(dir, "study.toml"), []byte(study), 0o666); err != nil {
		t.Fatal(err)
	}
	if log := runMars(t, dir, "run", "study.toml"); !strings.Contains(log, "goes on from its last checkpoint") {
		t.Errorf("training did not resume:\n%s", log)
	}
	if _, err := os.Stat(checkpoint); err == nil {
		t.Error("the checkpoint of a complete training was left")
	}
}

// Without a cache a killed run leaves a scratch folder, which the next one removes.
func TestScratchIsSwept(t *testing.T) {
	dir := studyFolder(t, killStudy)
	scratch := filepath.Join(dir, "mars-run-*")
	cmd := marsCommand(dir, "run", "-q", "--no-cache", "study.toml")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if found, _ := filepath.Glob(filepath.Join(scratch, "cache", "entries", "*")); len(found) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Kill() //nolint:errcheck // it may have ended
	cmd.Wait()         //nolint:errcheck // it was killed
	if left, _ := filepath.Glob(scratch); len(left) != 1 {
		t.Fatalf("the killed run left %v", left)
	}
	runMars(t, dir, "run", "-q", "--no-cache", "--set", "matrix.method=source", "study.toml")
	if left, _ := filepath.Glob(scratch); len(left) != 0 {
		t.Errorf("%v was left over", left)
	}
}

// tmpfs mounts a small file system, or skips the test.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).Run(); err != nil {
		t.Skipf("a tmpfs cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := exec.Command("umount", "-l", dir).Run(); err != nil {
			t.Errorf("umount %s: %v", dir, err)
		}
	})
	return dir
}

// A cache whose disk is full, or that cannot be written, is done without.
func TestFullAndReadOnlyCache(t *testing.T) {
	want := studyFolder(t, killStudy)
	runMars(t, want, "run", "-q", "--no-cache", "study.toml")
	for _, size := range []string{"64k", "700k"} {
		small := tmpfs(t, size)
		dir := studyFolder(t, killStudy)
		log := runMars(t, dir, "run", "--cache", small, "study.toml")
		if !strings.Contains(log, "warning: cache") || !strings.Contains(log, "going on without it") && !strings.Contains(log, "nothing is added") {
			t.Errorf("cache of %s: no clear warning:\n%s", size, log)
		}
		sameOutputs(t, size, want, dir)
	}
	large := tmpfs(t, "20m")
	dir := studyFolder(t, killStudy)
	runMars(t, dir, "run", "-q", "--cache", large, "--set", "matrix.method=source", "study.toml")
	if err := exec.Command("mount", "-o", "remount,ro", large).Run(); err != nil {
		t.Skipf("a file system cannot be made read-only here: %v", err)
	}
	log := runMars(t, dir, "run", "--cache", large, "study.toml")
	if !strings.Contains(log, "read-only file system: what is in it is used") || !strings.Contains(log, "eval method=source: cached") {
		t.Errorf("read-only cache:\n%s", log)
	}
	sameOutputs(t, "read-only", want, dir)
}

// sameOutputs compares what two studies left, but for their caches.
func sameOutputs(t *testing.T, what, want, got string) {
	t.Helper()
	a, b := outputs(t, want), outputs(t, got)
	for name := range b {
		if a[name] == "" && !strings.HasPrefix(name, "cache/") {
			t.Errorf("%s: %s was left over", what, name)
		}
	}
	for name, sum := range a {
		if b[name] != sum {
			t.Errorf("%s: %s differs", what, name)
		}
	}
}
