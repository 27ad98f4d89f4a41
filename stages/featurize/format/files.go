package format

// Files are the files that reading path reads: the file itself, without the
// members of an archive that path may name, and the labels that lie beside it.
// Whoever keeps results by the content of their input hashes these.
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
