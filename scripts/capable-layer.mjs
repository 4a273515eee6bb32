// Writes programs as a layer of an image in which each may open ports below 1024 without root: capable-layer.mjs PATH=FILE...
//
// The layer is a tar archive on standard output. It carries the file capability cap_net_bind_service=+ep as an extended attribute, so
// that nobody has to be root to write it. Container runtimes set the attribute where they unpack the layer, as does
// `tar --xattrs --xattrs-include=security.capability`.
import { createReadStream, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';

const CAP_NET_BIND_SERVICE = 10;
/** VFS_CAP_REVISION_2, for two words of capabilities, and VFS_CAP_FLAGS_EFFECTIVE: in effect as soon as the program runs. */
const REVISION_2_EFFECTIVE = 0x02000001;
const BLOCK = 512;

/** The attribute `security.capability` of one capability: `struct vfs_cap_data` of linux/capability.h. */
function fileCapability(capability) {
  const data = Buffer.alloc(20);
  data.writeUInt32LE(REVISION_2_EFFECTIVE, 0);
  // The permitted ones. Then follow the inheritable ones, of which there are none, and the second word of both.
  data.writeUInt32LE(2 ** capability, 4);
  return data;
}

/** A record of a pax extended header, which begins with its own length. */
function paxRecord(key, value) {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = rest.length;
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

/** A header of ustar: a program of root. */
function header(name, type, size, modified) {
  if (Buffer.byteLength(name) > 100) throw new Error(`path too long for the archive: ${name}`);
  const block = Buffer.alloc(BLOCK);
  const writeOctal = (value, offset, width) =>
    block.write(value.toString(8).padStart(width - 1, '0'), offset, 'latin1');
  block.write(name, 0);
  writeOctal(0o755, 100, 8);
  writeOctal(0, 108, 8);
  writeOctal(0, 116, 8);
  writeOctal(size, 124, 12);
  writeOctal(modified, 136, 12);
  block.write(`        ${type}`, 148, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, octet) => total + octet, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

const padding = (size) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

async function* archive(programs) {
  const record = paxRecord('SCHILY.xattr.security.capability', fileCapability(CAP_NET_BIND_SERVICE));
  for (const [path, file] of programs) {
    const { size, mtimeMs } = statSync(file);
    const modified = Math.floor(mtimeMs / 1000);
    yield header('pax-header', 'x', record.length, modified);
    yield Buffer.concat([record, padding(record.length)]);
    yield header(path, '0', size, modified);
    yield* createReadStream(file);
    yield padding(size);
  }
  yield Buffer.alloc(2 * BLOCK);
}

const programs = process.argv.slice(2).map((word) => word.split('='));
if (programs.length === 0 || programs.some((parts) => parts.length !== 2)) {
  console.error('usage: capable-layer.mjs PATH=FILE...');
  process.exitCode = 2;
} else {
  await pipeline(archive(programs), process.stdout);
}
