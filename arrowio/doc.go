// Package arrowio reads and writes Arrow record batches so that a stage can
// trust what it gets and a user can trust what they have. It knows Arrow and no
// mathematics.
package arrowio
