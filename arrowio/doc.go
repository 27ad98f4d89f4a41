// Package arrowio reads and writes Arrow record batches so that a stage can
// trust what it reads and a user can trust what is written. It knows Arrow and no
// mathematics, and all that stages read and write goes through it.
//
// A stage reads a [Stream] and writes a [Sink]:
//
//	in, err := arrowio.Open(path, arrowio.ReadOptions{})       // stream or file, "-" is standard input
//	out, err := arrowio.Create(output, arrowio.WriteOptions{}) // .arrow a file, else a stream, "-" is standard output
//	err = out.Begin(schema)
//	for {
//		rec, err := in.Next() // io.EOF only after a complete input
//		…
//		err = out.Write(rec)
//	}
//	err = out.Close() // or out.Fail(err)
//
// # What a reader guarantees
//
// Nothing is lost in silence. A stream ends with its end marker and nothing
// after it; a file's footer accounts for all of its bytes. An input that is cut,
// anywhere, is an error, and so is a second stream after the first. An input that
// is not Arrow is named for what it looks like ([RegisterForeign]).
//
// Nothing is believed. Every offset in a message's metadata is followed only
// within its bytes; every buffer lies within its body; and before a batch is
// given out, every array in it has been checked: lengths, null counts against
// bitmaps, offsets, sizes, views, type codes, run ends, dictionary indices, and
// that text is UTF-8. Types that cannot be read are refused by name, with what
// to change in the program that wrote them. So no damaged or hostile input makes
// a later access panic.
//
// No input takes more memory than it is worth. A length is believed as far as bytes
// really come, compressed data may not claim to be longer than its codec can make
// it, and the memory of all batches counts against [ReadOptions].Memory.
//
// A stream of this package ends with a checksum, and a reader fails at the end of one
// that does not fit: what was made of its batches is to be given up then. Of others a
// reader finds only what the format shows. Arrow has no checksums, so a value that
// is damaged within its buffer passes in a file, or in a stream of another program. So
// does an input that was cut and then properly ended by a program in between (see Fail
// below).
//
// A batch is valid until the following call of Next. Retain it, or any of its
// arrays, to keep it longer, and Release it then. Dictionaries may be replaced
// or grow in the middle of a stream, and may follow the batches of a file.
//
// # What a writer guarantees
//
// An output counts only when Close has returned nil. A file appears whole or not at
// all (package atomicfile), so a failure leaves what was there before, and the output
// is never a file that is being read. From a pipe nothing can be taken back: there
// Fail sends a message that no Arrow reader takes, with the reason for it, so the
// programs that read it fail too and say why. When a step has failed, Close does what
// Fail does. A pipe that nobody reads any more gives [ErrBrokenPipe], a reason to end
// quietly.
//
// What is written is plain: offsets from 0, buffers cut to their rows and aligned
// to 64 bytes, no dictionary deltas, batches of at most about 4 MB, by default
// uncompressed. Zero rows make a valid output.
//
// # The contract of columns
//
// [Columns] are the names that stages use. The typed access ([VectorColumn],
// [IntColumn], [LabelColumn], [FloatColumn], [StringColumn], [DomainColumn])
// takes what Python, R and JavaScript programs naturally write, without a copy
// where the layout allows, and its errors name column and row. [AppendColumns]
// adds columns to a batch; all others pass through untouched, whatever their
// types. [Meta] is what travels in schema metadata beside the user's own keys. It is
// a hint, since tools in between may drop it.
//
// # Reading twice
//
// A stage that reads its input more than once reads it through a [Spool], which
// keeps what cannot be read again. A [Table] holds rows in memory.
//
// # Speed
//
// The arrays of a batch are made when they are first asked for, as views into the
// memory that its message was read into. That memory is used again when the last of
// them is released. A batch that a stage does not look into is written as the bytes
// that it came as. A pass-through therefore allocates nothing per batch, and holds a
// batch or two however long the stream is.
package arrowio
