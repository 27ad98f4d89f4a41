package cli

import "testing"

// A build says where it is from: the commit and its day are left out where they are not known.
func TestVersionText(t *testing.T) {
	const rest = "\ngo1.26.0 linux/amd64, kernels: avx2, threads: 2\n"
	b := build{Version: "v1.2.3", Go: "go1.26.0", Platform: "linux/amd64", Kernels: "avx2", Threads: 2}
	for _, c := range []struct{ commit, date, want string }{
		{"", "", "v1.2.3"},
		{"", "2026-11-22T10:00:00+00:00", "v1.2.3"},
		{"0123456789abcdef", "", "v1.2.3 (commit 0123456789ab)"},
		{"0123456789abcdef", "2026-11-22T10:00:00+00:00", "v1.2.3 (commit 0123456789ab of 2026-11-22)"},
	} {
		b.Commit, b.Date = c.commit, c.date
		if got := b.String(); got != c.want+rest {
			t.Errorf("%q, want %q", got, c.want+rest)
		}
	}
}

// What git archive puts into origin.txt is found, and what it leaves there is not.
func TestOrigin(t *testing.T) {
	const archive = "version: v1.2.3\ncommit: 0123\ndate: 2026-11-22T10:00:00+00:00\n"
	for name, want := range map[string]string{"version": "v1.2.3", "commit": "0123", "date": "2026-11-22T10:00:00+00:00", "other": ""} {
		if got := fromOrigin(archive, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := fromOrigin("version: \ncommit: 0123\n", "version"); got != "" {
		t.Errorf("the version of a repository without tags is %q", got)
	}
	if got := fromOrigin("version: $Format:%H$\n", "version"); got != "" {
		t.Errorf("the version of a clone is %q", got)
	}
}
