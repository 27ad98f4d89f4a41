// Command dist makes what is given to others: for each platform an archive with the program,
// pages of the manual, completions, documentation and the licences of what is linked, a list of
// its modules, an archive of the source with the modules that it needs, and their checksums. The same commit
// and Go give the same bytes, whoever makes them, where and when.
package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/cmd/internal/cli"
)

// platforms are those that there are archives for.
const platforms = "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"

func main() {
	d := dist{version: strings.TrimPrefix(cli.Version(), "v")}
	flag.StringVar(&d.folder, "o", "dist", "folder for the archives")
	flag.StringVar(&d.ldflags, "ldflags", "", "flags for the linker")
	source := flag.Bool("source", false, "make the archive of the source too")
	flag.BoolVar(&d.web, "web", false, "make the archive of the page for browsers too")
	flag.BoolVar(&d.sbom, "sbom", false, "list the modules of each program too, in a file beside its archive")
	notices := flag.String("notices", "", "write only the licences of what is linked, for the platform of go env, to this file")
	flag.Parse()
	var err error
	if *notices != "" {
		err = writeNotices(*notices)
	} else if d.time, err = commitTime(os.Getenv("SOURCE_DATE_EPOCH"), cli.Date()); err == nil {
		err = d.make(cmp.Or(strings.Join(flag.Args(), " "), platforms), *source)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// commitTime is the time that files in archives have.
func commitTime(epoch, date string) (time.Time, error) {
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s: want a number of seconds", epoch)
		}
		return time.Unix(seconds, 0).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return at, errors.New("there is no commit to take the date from: set SOURCE_DATE_EPOCH to the seconds since 1970")
	}
	return at.UTC(), nil
}

func writeNotices(path string) error {
	text, err := noticesOf("")
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(path, text)
}

// dist is what all archives have in common.
type dist struct {
	folder, version, ldflags string
	time                     time.Time
	sbom, web                bool
}

// make makes the archives of platforms, and says what they are in SHA256SUMS.
func (d dist) make(platforms string, source bool) error {
	if err := os.MkdirAll(d.folder, 0o777); err != nil {
		return err
	}
	common, err := d.common()
	if err != nil {
		return err
	}
	var sums []string
	add := func(name string, write func(io.Writer) error) error {
		hash := sha256.New()
		err := atomicfile.Write(filepath.Join(d.folder, name), func(w io.Writer) error { return write(io.MultiWriter(w, hash)) })
		sums = append(sums, fmt.Sprintf("%x  %s\n", hash.Sum(nil), name))
		fmt.Println(filepath.Join(d.folder, name))
		return err
	}
	for _, platform := range strings.Fields(platforms) {
		p, err := d.archive(platform, common)
		if err == nil {
			err = add(p.name, p.write)
		}
		if err == nil && d.sbom {
			err = add(p.folder+".cdx.json", func(w io.Writer) error { return d.list(w, p) })
		}
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	if d.web {
		p, err := d.page()
		if err == nil {
			err = add(p.name, p.write)
		}
		if err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	if source {
		s, err := d.source()
		if err == nil {
			err = add(s.name, s.write)
		}
		if err == nil {
			sum, _, _ := strings.Cut(sums[len(sums)-1], " ")
			err = d.formula(sum)
		}
		if err != nil {
			return fmt.Errorf("source: %w", err)
		}
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[2*sha256.Size:], b[2*sha256.Size:]) })
	return atomicfile.WriteFile(filepath.Join(d.folder, "SHA256SUMS"), []byte(strings.Join(sums, "")))
}
