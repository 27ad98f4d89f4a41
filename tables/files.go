package tables

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Expand returns the files that a path names: several if it is a pattern, such as
// day-*.csv, which gives them sorted by name, or a list with commas. A file that is there
// under the whole path is that file. Members of an archive may follow each.
func Expand(path string) ([]string, error) {
	parts := pathList(path)
	var all []string
	for _, part := range parts {
		found, err := expandOne(part)
		if err != nil {
			return nil, err
		}
		if part == "-" && len(parts) > 1 {
			return nil, fmt.Errorf("%s: standard input cannot be one of several files: give files, or standard input alone", path)
		}
		for _, file := range found {
			if slices.Contains(all, file) {
				return nil, fmt.Errorf("%s: names %s twice: name each file once", path, file)
			}
			all = append(all, file)
		}
	}
	return all, nil
}

// pathList takes a list apart.
func pathList(path string) []string {
	if isFile(path) || !strings.Contains(path, ",") || isURL(path) {
		return []string{path}
	}
	var parts []string
	for _, part := range strings.Split(path, ",") {
		last := len(parts) - 1
		if last >= 0 && isMember(parts[last]) && !isFile(part) { // the labels after the features
			parts[last] += "," + part
			continue
		}
		parts = append(parts, part)
	}
	return parts
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isMember reports whether a path ends with a member of an archive, and no second one.
func isMember(path string) bool {
	file, member, found := strings.Cut(path, ":")
	return found && hasMembers(file) && !strings.Contains(member, ",")
}

// hasMembers reports whether members may follow the path of a file.
func hasMembers(file string) bool {
	return slices.Contains([]string{".npz", ".mat"}, strings.ToLower(filepath.Ext(file)))
}

func expandOne(path string) ([]string, error) {
	if isFile(path) || !strings.ContainsAny(path, "*?[") || isURL(path) {
		return []string{path}, nil
	}
	pattern, inner := path, ""
	if at := strings.LastIndexByte(path, ':'); at >= 0 && hasMembers(path[:at]) {
		pattern, inner = path[:at], path[at:]
	}
	found, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("%s: is no pattern (%w): check its brackets", path, err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no file has a name of this pattern: check the path", path)
	}
	for i := range found {
		found[i] += inner
	}
	return found, nil
}

// Files returns the files that Open reads for path, without the members of an archive that
// it may name, the files of labels next to them, and the pictures that tables name. A cache
// that depends on the content of its inputs hashes these. Once ctx has ended some may be left
// out.
func Files(ctx context.Context, path string) []string {
	paths, err := Expand(path)
	if err != nil {
		return []string{path}
	}
	var all []string
	for _, path := range paths {
		file, _, err := splitPath(path)
		if err != nil {
			file = path
		}
		all = append(all, file)
		if labels := neighbour(file); labels != "" {
			all = append(all, labels)
		}
		all = append(all, listed(ctx, file)...)
	}
	return all
}
