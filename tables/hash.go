package tables

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
)

// DefaultHash is how many features the indices of svmlight become if they are more than rows
// can have.
const DefaultHash = 1024

// MaxHash is the most that can be asked for.
const MaxHash = maxSparse

// Signed feature hashing (Weinberger et al. 2009, https://arxiv.org/abs/0902.2206): each
// index adds its value, or takes it off, to one of n features, which its hash chooses. Inner
// products of rows stay as they are in expectation. The hash is that of scikit-learn's
// FeatureHasher, so its rows are the same.

// hashed is the feature of an index, from 0, and the sign of its value there. The name of the
// index is in buffer.
func hashed(buffer []byte, n int) (feature int, sign float64) {
	h := int64(int32(murmur3(buffer)))
	if h < 0 {
		return int(-h % int64(n)), -1
	}
	return int(h % int64(n)), 1
}

// murmur3 is MurmurHash3_x86_32 of seed 0.
func murmur3(data []byte) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	mix := func(k uint32) uint32 { return bits.RotateLeft32(k*c1, 15) * c2 }
	h, size := uint32(0), uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		h = bits.RotateLeft32(h^mix(binary.LittleEndian.Uint32(data)), 13)*5 + 0xe6546b64
	}
	var rest [4]byte
	copy(rest[:], data)
	h ^= mix(binary.LittleEndian.Uint32(rest[:])) ^ size // the mix of 0 is 0
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

// The name of a hashed feature says how many there are, so whatever knows the features of a
// fit, such as a model, can read other rows alike.
var hashedName = regexp.MustCompile(`^hash[1-9]\d*/([1-9]\d{0,8})$`)

// nameHashed is the name of a hashed feature, from 0.
func nameHashed(feature, n int) string { return fmt.Sprintf("hash%d/%d", feature+1, n) }

// hashedOf is of how many hashed features these are some; 0 if they are others.
func hashedOf(names []string) int {
	if len(names) == 0 {
		return 0
	}
	found := hashedName.FindStringSubmatch(names[0])
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return min(n, MaxHash)
}
