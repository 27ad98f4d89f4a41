// Package spelling finds the name that somebody meant, and lists names.
package spelling

import "strings"

// Nearest is the candidate that takes the fewest changes of letters to get from
// word, "" if none is near.
func Nearest(word string, candidates []string) string {
	best, fewest := "", max(2, len(word)/2)+1
	for _, c := range candidates {
		d := Distance(word, c)
		if strings.HasPrefix(c, word) && word != "" {
			d = min(d, 1)
		}
		if d < fewest && d < len(word) { // a letter of it is left
			best, fewest = c, d
		}
	}
	return best
}

// Distance counts the letters to insert, delete or change from a to b
// (Levenshtein), a row of the table at a time.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
