package pipeline

import "strings"

// nearest is the candidate that word was most likely meant to be, by the number
// of letters to change; "" if none is near.
func nearest(word string, candidates []string) string {
	best, least := "", max(2, len(word)/2)+1
	for _, c := range candidates {
		d := editDistance(word, c)
		if strings.HasPrefix(c, word) && word != "" {
			d = min(d, 1)
		}
		if d < least {
			best, least = c, d
		}
	}
	return best
}

// editDistance counts the letters to insert, delete or change from a to b
// (Levenshtein), a row of the table at a time.
func editDistance(a, b string) int {
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

// didYouMean is a hint at the nearest candidate, or the list of all.
func didYouMean(word string, candidates []string) string {
	if c := nearest(word, candidates); c != "" {
		return "did you mean " + c + "?"
	}
	return "there are " + strings.Join(candidates, ", ")
}
