/**
 * Tar archives (POSIX.1-2001) that are the same for the same files: sorted, of root, with one time for all.
 *
 * Permissions are reduced to those of the image: whether a file may be executed, and the sticky bit. File capabilities are extended
 * attributes, so that nobody has to be root to write them. Container runtimes set them where they unpack the layer, as does
 * `tar --xattrs --xattrs-include=security.capability`.
 */
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

const BLOCK = 512;
const MAX_NAME = 100;
/** The time that npm gives all files of its packages, in seconds. */
export const MODIFIED = 499_162_500;

const CAP_NET_BIND_SERVICE = 10;
/** VFS_CAP_REVISION_2, for two words of capabilities, and VFS_CAP_FLAGS_EFFECTIVE: in effect as soon as the program runs. */
const REVISION_2_EFFECTIVE = 0x02000001;

/** A thing in an archive. */
export type TarEntry = TarPath & TarContent;

interface TarPath {
  /** Relative, without a final slash. */
  readonly path: string;
}

type TarContent =
  | { readonly kind: 'folder'; readonly isSticky: boolean }
  | { readonly kind: 'link'; readonly target: string }
  | {
      readonly kind: 'file';
      readonly size: number;
      readonly isExecutable: boolean;
      /** Whether it has the file capability cap_net_bind_service=+ep. */
      readonly opensLowPorts: boolean;
      readonly read: () => AsyncIterable<Buffer> | Iterable<Buffer>;
    };

/** A file whose content is in memory. */
export function fileEntry(path: string, content: Buffer, isExecutable = false): TarEntry {
  const read = () => [content];
  return { kind: 'file', path, size: content.length, isExecutable, opensLowPorts: false, read };
}

/** All below a folder, in the order of their names. @param prefix the folder's own path in the archive, empty or with a final slash */
export async function* listEntries(folder: string, prefix = ''): AsyncGenerator<TarEntry> {
  const names = (await readdir(folder)).sort((one, other) => (one < other ? -1 : 1));
  for (const name of names) {
    const file = join(folder, name);
    const path = `${prefix}${name}`;
    const status = await lstat(file);
    if (status.isSymbolicLink()) yield { kind: 'link', path, target: await readlink(file) };
    else if (status.isDirectory()) {
      yield { kind: 'folder', path, isSticky: (status.mode & 0o1000) !== 0 };
      yield* listEntries(file, `${path}/`);
    } else {
      const isExecutable = (status.mode & 0o111) !== 0;
      const read = () => createReadStream(file);
      yield { kind: 'file', path, size: status.size, isExecutable, opensLowPorts: false, read };
    }
  }
}

/** The octets of an archive. */
export async function* writeTar(
  entries: AsyncIterable<TarEntry> | Iterable<TarEntry>,
): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    const records = extendedRecords(entry);
    if (records.length > 0) {
      yield header('pax-header', 'x', 0o644, records.length);
      yield padded(records);
    }
    if (entry.kind === 'link') yield header(entry.path, '2', 0o777, 0, entry.target);
    else if (entry.kind === 'folder') yield header(`${entry.path}/`, '5', entry.isSticky ? 0o1777 : 0o755, 0);
    else {
      yield header(entry.path, '0', entry.isExecutable ? 0o755 : 0o644, entry.size);
      yield* entry.read();
      yield Buffer.alloc((BLOCK - (entry.size % BLOCK)) % BLOCK);
    }
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** Values that do not fit into the header, and attributes. */
function extendedRecords(entry: TarEntry): Buffer {
  const records: Buffer[] = [];
  const name = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
  if (Buffer.byteLength(name) > MAX_NAME) records.push(record('path', Buffer.from(name)));
  if (entry.kind === 'link' && Buffer.byteLength(entry.target) > MAX_NAME)
    records.push(record('linkpath', Buffer.from(entry.target)));
  if (entry.kind === 'file' && entry.opensLowPorts)
    records.push(record('SCHILY.xattr.security.capability', fileCapability(CAP_NET_BIND_SERVICE)));
  return Buffer.concat(records);
}

/** A record of a pax extended header, which begins with its own length. */
function record(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = rest.length;
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

/** The attribute `security.capability` of one capability: `struct vfs_cap_data` of linux/capability.h. */
function fileCapability(capability: number): Buffer {
  const data = Buffer.alloc(20);
  data.writeUInt32LE(REVISION_2_EFFECTIVE, 0);
  // The permitted ones. The inheritable ones follow, none of which is set, and the second word of both.
  data.writeUInt32LE(2 ** capability, 4);
  return data;
}

/** A header of ustar. */
function header(name: string, type: string, mode: number, size: number, target = ''): Buffer {
  const block = Buffer.alloc(BLOCK);
  const writeOctal = (value: number, offset: number, width: number) =>
    block.write(value.toString(8).padStart(width - 1, '0'), offset, 'latin1');
  // Longer ones are in the extended header.
  Buffer.from(name).copy(block, 0, 0, MAX_NAME);
  writeOctal(mode, 100, 8);
  writeOctal(0, 108, 8);
  writeOctal(0, 116, 8);
  writeOctal(size, 124, 12);
  writeOctal(MODIFIED, 136, 12);
  block.write(`        ${type}`, 148, 'latin1');
  Buffer.from(target).copy(block, 157, 0, MAX_NAME);
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, octet) => total + octet, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}
