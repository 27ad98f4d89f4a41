// Reads what the Go writer wrote with arrow-js. Usage: node verify.cjs FOLDER
//
// Compressed files are left out: arrow-js needs codecs of the user's for them.
const fs = require('fs');
const path = require('path');
const arrow = require('apache-arrow');

const folder = process.argv[2];
let failed = false;
for (const file of fs.readdirSync(folder).filter((f) => f.includes('none'))) {
  const bytes = fs.readFileSync(path.join(folder, file));
  const table = arrow.tableFromIPC(bytes);
  if (file.endsWith('.arrows')) {
    let count = 0; // of the rows of all streams in the file
    for (const stream of arrow.RecordBatchReader.readAll(bytes)) {
      for (const batch of stream) count += batch.numRows;
    }
    if (count !== 6) {
      console.error(file, count);
      failed = true;
    }
  }
  const rows = table.toArray().map((row) => [
    Number(row.id), row.domain, row.label, Array.from(row.features).join(' '), row.name,
  ].join('|'));
  const want = [0, 1, 2, 3, 4, 5].map((i) => [
    i, i < 3 ? 'source' : 'target', i < 3 ? i : null, [i, i + 0.5, -i].join(' '),
    i % 2 ? `row ${i} with a longer name` : `row ${i}`,
  ].join('|'));
  if (JSON.stringify(rows) !== JSON.stringify(want)) {
    console.error(file, rows);
    failed = true;
  }
}
process.exit(failed ? 1 : 0);
