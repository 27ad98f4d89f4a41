// Writes the data set of generate.py with arrow-js, in the code that its users
// naturally write. Usage: node generate.cjs FOLDER
//
// Made with apache-arrow 21.2. Its compressed output is left out: no other
// reader takes it.
const fs = require('fs');
const path = require('path');
const arrow = require('apache-arrow');

const rows = [];
for (let i = 0; i < 6; i++) {
  rows.push({
    id: i,
    domain: i < 3 ? 'source' : 'target',
    label: i < 3 ? i : null,
    features: [i, i + 0.5, -i],
    name: i % 2 ? `row ${i} with a longer name` : `row ${i}`,
  });
}

const folder = process.argv[2];
const table = arrow.tableFromJSON(rows);
fs.writeFileSync(path.join(folder, 'arrowjs.arrows'), arrow.tableToIPC(table, 'stream'));
fs.writeFileSync(path.join(folder, 'arrowjs.arrow'), arrow.tableToIPC(table, 'file'));

const typed = new arrow.Table({
  id: arrow.vectorFromArray(rows.map((r) => BigInt(r.id)), new arrow.Int64()),
  domain: arrow.vectorFromArray(rows.map((r) => r.domain), new arrow.Utf8()),
  features: arrow.vectorFromArray(rows.map((r) => r.features), new arrow.FixedSizeList(3, new arrow.Field('item', new arrow.Float32()))),
});
fs.writeFileSync(path.join(folder, 'arrowjs-typed.arrows'), arrow.tableToIPC(typed, 'stream'));
fs.writeFileSync(path.join(folder, 'arrowjs-typed.arrow'), arrow.tableToIPC(typed, 'file'));
