"""A Python stage for the middle of a pipe, in the documented form: the writer is
opened without `with` and closed on success alone, so that a stage that fails
leaves no end marker. Usage: middle.py [BATCHES]

Passes batches on with a column added; raises after BATCHES of them.
"""

import sys

import pyarrow as pa

reader = pa.ipc.open_stream(sys.stdin.buffer)
schema = reader.schema.append(pa.field("doubled", pa.int64()))
writer = pa.ipc.new_stream(sys.stdout.buffer, schema)
for number, batch in enumerate(reader):
    if number == int((sys.argv + ["-1"])[1]):
        raise RuntimeError("as asked for")
    doubled = pa.array([2 * i for i in batch["id"].to_pylist()], pa.int64())
    writer.write_batch(pa.record_batch(batch.columns + [doubled], schema=schema))
writer.close()
sys.stdout.buffer.flush()
