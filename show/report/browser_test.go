package report

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// browser is a browser that can be run without a screen.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no browser (chromium) is installed: pages are not looked at")
	return ""
}

var fromPage = regexp.MustCompile(`"initiator":"(?:file:|null)[^}]*?"url":"(https?:[^"]*)"`)

// A browser shows the page in light and dark, wide and narrow, says nothing about it, and asks
// the network for nothing.
func TestPageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	program, folder := browser(t), t.TempDir()
	path := filepath.Join(folder, "page.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	page := &Page{Title: "A page", Parts: allParts(t, hostile), Made: "Made by a test."}
	if err := page.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, view := range []struct {
		name, size, scheme string
		width              int
		dark               bool
	}{{"light", "900,1600", "1", 900, false}, {"dark", "900,1600", "0", 900, true}, {"narrow", "500,1600", "1", 500, false}} {
		shot, netlog := filepath.Join(folder, view.name+".png"), filepath.Join(folder, view.name+".json")
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr",
			"--no-first-run", "--disable-background-networking", "--disable-component-update", "--user-data-dir="+filepath.Join(folder, "profile-"+view.name),
			"--log-net-log="+netlog, "--blink-settings=preferredColorScheme="+view.scheme, "--window-size="+view.size, "--screenshot="+shot, "file://"+path)
		var said bytes.Buffer
		cmd.Stderr = &said
		err := cmd.Run()
		cancel()
		if err != nil {
			t.Fatalf("%s: %v\n%s", view.name, err, said.String())
		}
		for line := range strings.Lines(said.String()) {
			if strings.Contains(line, "CONSOLE") {
				t.Errorf("%s: the console says %s", view.name, line)
			}
		}
		if log, err := os.ReadFile(netlog); err != nil {
			t.Error(err)
		} else if asked := fromPage.FindSubmatch(log); asked != nil {
			t.Errorf("%s: the page asks for %s", view.name, asked[1])
		}
		text, err := os.ReadFile(shot)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", view.name, err)
		}
		if picture.Bounds().Dx() != view.width {
			t.Errorf("%s: %d points wide", view.name, picture.Bounds().Dx())
		}
		mean, colours := look(picture)
		if dark := mean < 100; dark != view.dark || colours < 50 {
			t.Errorf("%s: a mean brightness of %.0f and %d colours", view.name, mean, colours)
		}
	}
}

// look is the mean brightness of a picture, 0 to 255, and how many colours it has.
func look(picture image.Image) (mean float64, colours int) {
	b := picture.Bounds()
	seen := map[[3]uint32]bool{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, blue, _ := picture.At(x, y).RGBA()
			seen[[3]uint32{r, g, blue}] = true
			mean += float64(r+g+blue) / 3 / 257
		}
	}
	return mean / float64(b.Dx()*b.Dy()), len(seen)
}
