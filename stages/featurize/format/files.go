package format

// Files returns the files that Open reads for path: the file itself, without the
// members of an archive that path may name, and the file of labels next to it. A
// cache that depends on the content of its inputs hashes these.
func Files(path string) []string {
	file, _, err := splitPath(path)
	if err != nil {
		file = path
	}
	if labels := neighbour(file); labels != "" {
		return []string{file, labels}
	}
	return []string{file}
}
