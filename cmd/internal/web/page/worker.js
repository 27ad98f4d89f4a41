"use strict";
// Runs one command of the program. What it reads and writes is here: nodes by their path, a folder
// without content, a chosen file as the browser has it, another as its bytes.
const nodes = new Map(), opened = new Map(), started = Date.now();
let inode = 0;

const fail = (code) => { throw Object.assign(new Error(code), { code }); };
const absolute = (path) => {
  const parts = [];
  for (const part of path.split("/")) if (part === "..") parts.pop(); else if (part && part !== ".") parts.push(part);
  return "/" + parts.join("/");
};
const find = (path) => nodes.get(absolute(path)) || fail("ENOENT");
const parent = (path) => absolute(path + "/..");
const put = (path, node) => {
  if (!nodes.get(parent(path))?.folder) fail("ENOENT");
  nodes.set(absolute(path), { size: 0, mode: 0o644, time: started, inode: ++inode, ...node });
  return find(path);
};
const under = (path) => [...nodes.keys()].filter((other) => other !== "/" && parent(other) === absolute(path));
const stat = (node) => ({
  dev: 1, ino: node.inode, mode: (node.folder ? 0o40000 : node.device ? 0o20000 : 0o100000) | node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0,
  size: node.size, blksize: 4096, blocks: 0, atimeMs: node.time, mtimeMs: node.time, ctimeMs: node.time, isDirectory: () => !!node.folder,
});
const file = (fd) => opened.get(fd) || fail("EBADF");
// Files that the program writes may take as much memory as it may hold itself.
let mostBytes = 0, heldBytes = 0;
const resize = (node, size) => {
  const before = node.bytes?.length || 0;
  if (size > before) {
    const room = Math.max(size, node.size + Math.min(node.size, 1 << 26), 1 << 16);
    heldBytes += room - before;
    if (heldBytes > mostBytes) fail("ENOSPC");
    const bytes = new Uint8Array(room);
    if (node.bytes) bytes.set(node.bytes.subarray(0, node.size));
    node.bytes = bytes;
  }
  node.size = size;
};

// Chosen files are read a window at a time, however large they are.
const windowBytes = 1 << 22;
const readChosen = (node, at, length) => {
  if (!node.window || at < node.from || at + length > node.from + node.window.length) {
    node.from = at;
    node.window = new Uint8Array(new FileReaderSync().readAsArrayBuffer(node.chosen.slice(at, at + Math.max(length, windowBytes))));
  }
  return node.window.subarray(at - node.from, at - node.from + length);
};

const said = [new TextDecoder(), new TextDecoder()];
let printed = "", line = "";
const say = (fd, bytes) => {
  const text = said[fd - 1].decode(bytes, { stream: true });
  if (fd === 1) { printed += text; return; }
  const lines = (line + text).split("\n");
  line = lines.pop();
  for (const l of lines) postMessage({ line: l });
};

const calls = {
  open(path, flags, mode) {
    const { O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = constants, there = nodes.get(absolute(path));
    if (!there && !(flags & O_CREAT)) fail("ENOENT");
    if (there && flags & O_CREAT && flags & O_EXCL) fail("EEXIST");
    const node = there || put(path, { mode });
    if (flags & O_TRUNC) resize(node, 0);
    let fd = 3;
    while (opened.has(fd)) fd++;
    opened.set(fd, { node, at: 0, append: flags & O_APPEND });
    return fd;
  },
  close(fd) { file(fd); opened.delete(fd); },
  read(fd, buffer, offset, length, position) {
    const f = file(fd), { node } = f, at = position ?? f.at, n = Math.max(0, Math.min(length, node.size - at));
    if (node.folder) fail("EISDIR");
    if (n) buffer.set(node.chosen ? readChosen(node, at, n) : node.bytes.subarray(at, at + n), offset);
    if (position === null) f.at += n;
    return n;
  },
  write(fd, buffer, offset, length, position) {
    const bytes = buffer.subarray(offset, offset + length);
    if (fd === 1 || fd === 2) { say(fd, bytes); return length; }
    const f = file(fd), { node } = f, at = position ?? (f.append ? node.size : f.at);
    if (node.chosen) fail("EACCES");
    if (at + length > node.size) resize(node, at + length);
    node.bytes.set(bytes, at);
    if (position === null) f.at = at + length;
    return length;
  },
  fstat: (fd) => stat(file(fd).node),
  stat: (path) => stat(find(path)),
  lstat: (path) => stat(find(path)),
  readdir: (path) => under(find(path) && path).map((other) => other.slice(other.lastIndexOf("/") + 1)),
  mkdir(path, mode) { if (nodes.has(absolute(path))) fail("EEXIST"); put(path, { folder: true, mode }); },
  rmdir(path) { find(path); if (under(path).length) fail("ENOTEMPTY"); nodes.delete(absolute(path)); },
  unlink(path) { heldBytes -= find(path).bytes?.length || 0; nodes.delete(absolute(path)); },
  rename(from, to) { nodes.set(absolute(to), find(from)); nodes.delete(absolute(from)); },
  truncate(path, size) { resize(find(path), size); },
  ftruncate(fd, size) { resize(file(fd).node, size); },
  chmod(path, mode) { find(path).mode = mode & 0o777; },
  fchmod(fd, mode) { file(fd).node.mode = mode & 0o777; },
  readlink(path) { find(path); fail("EINVAL"); },
  utimes() {}, fsync() {}, chown() {}, fchown() {}, lchown() {}, link() { fail("EPERM"); }, symlink() { fail("EPERM"); },
};
const constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };

globalThis.fs = { constants, writeSync: (fd, bytes) => calls.write(fd, bytes, 0, bytes.length, null) };
for (const [name, call] of Object.entries(calls)) fs[name] = (...args) => {
  const done = args.pop();
  let result;
  try { result = call(...args); } catch (err) { return done(err.code ? err : Object.assign(err, { code: "EIO" })); }
  done(null, result);
};
globalThis.path = { resolve: (...parts) => absolute(parts.join("/")) };
globalThis.process = { pid: 1, ppid: 1, getuid: () => 0, geteuid: () => 0, getgid: () => 0, getegid: () => 0, getgroups: () => [], umask: () => 0o22, cwd: () => "/", chdir() {} };

let told = 0;
globalThis.progress = (what, done, total) => {
  if (Date.now() - told > 100) { told = Date.now(); postMessage({ what, done, total }); }
};

onmessage = async ({ data: { program, products, args, budget, chosen, wanted } }) => {
  mostBytes = budget << 20;
  nodes.set("/", { folder: true, size: 0, mode: 0o755, time: started, inode: 0 });
  put("/tmp", { folder: true, mode: 0o777 });
  for (const fd of [0, 1, 2]) opened.set(fd, { node: { device: true, size: 0, mode: 0o666, time: started, inode: ++inode }, at: 0 });
  for (const c of chosen) {
    if (c.name.includes("/") && !nodes.has(parent(c.name))) put(parent(c.name), { folder: true, mode: 0o755 });
    put(c.name, { chosen: c.file, size: c.file.size, time: c.file.lastModified || started });
  }
  const go = new Go();
  let code = 0, simd;
  go.argv = ["mars", ...args];
  go.env = { TMPDIR: "/tmp", HOME: "/" };
  go.exit = (status) => { code = status; };
  // The products of matrices work in the program's memory, which is there once it is.
  const kernel = {
    sgemm: (m, n, k, alpha, a, row, column, b, bRow, beta, c, cRow) => simd.sgemm(m, n, k, alpha, a, row, column, b, bRow, beta, c, cRow),
    dgemm: (m, n, k, alpha, a, row, column, b, bRow, beta, c, cRow) => simd.dgemm(m, n, k, alpha, a, row, column, b, bRow, beta, c, cRow),
  };
  try {
    const instance = await WebAssembly.instantiate(program, { ...go.importObject, kernel });
    simd = new WebAssembly.Instance(products, { go: { mem: instance.exports.mem } }).exports;
    await go.run(instance);
  } catch (err) {
    code = code || 2;
    say(2, new TextEncoder().encode(`${err}\n`));
  }
  const files = {};
  for (const name of wanted) {
    const node = nodes.get(absolute(name));
    if (node) files[name] = new Blob([node.bytes ? node.bytes.subarray(0, node.size) : ""]);
  }
  postMessage({ code, printed, files });
};
