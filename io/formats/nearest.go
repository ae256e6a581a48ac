package formats

import "strings"

// Nearest returns the word of a list that differs least from word, by Levenshtein's distance without regard to case, or
// "" where none is near enough to have been meant: more than a third of the letters differ, and more than one.
func Nearest(word string, of []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, w := range of {
		if d := distance(strings.ToLower(word), strings.ToLower(w)); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance counts the bytes to insert, drop or change to make a into b.
func distance(a, b string) int {
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
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
