//go:build !js

package tables

import (
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// eastern are the encodings of some ten thousand characters each.
var eastern = map[string]encoding.Encoding{
	"shift_jis": japanese.ShiftJIS,
	"euc-jp":    japanese.EUCJP,
	"euc-kr":    korean.EUCKR,
	"gbk":       simplifiedchinese.GBK,
	"gb18030":   simplifiedchinese.GB18030,
	"big5":      traditionalchinese.Big5,
}
