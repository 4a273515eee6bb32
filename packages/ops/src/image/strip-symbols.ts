/**
 * Removes symbol table and debugging data of a program: some 18 of the 127 MB of Node.js.
 *
 * `strip` of binutils knows only the machine that it was built for; images are made for others too.
 */

const MAGIC = 0x7f454c46;
const CLASS_64 = 2;
/** Offsets in the header of a 64-bit file. */
const HEADER = { class: 4, sectionTable: 0x28, sectionSize: 0x3a, sectionCount: 0x3c, names: 0x3e } as const;
/** Offsets in the header of a section. */
const SECTION = { type: 4, flags: 8, offset: 0x18, size: 0x20 } as const;
/** A section that has no octets in the file. */
const NO_BITS = 8;
const ALLOCATED = 2n;
const ALIGNMENT = 8;

/**
 * Keeps all that is loaded, and the names of sections.
 *
 * @param program an ELF file, little-endian
 * @returns `program` itself if it is no 64-bit ELF file
 */
export function stripSymbols(program: Buffer): Buffer {
  if (program.readUInt32BE(0) !== MAGIC || program[HEADER.class] !== CLASS_64) return program;
  const table = Number(program.readBigUInt64LE(HEADER.sectionTable));
  const size = program.readUInt16LE(HEADER.sectionSize);
  const headers = Array.from({ length: program.readUInt16LE(HEADER.sectionCount) }, (_, at) =>
    Buffer.from(program.subarray(table + at * size, table + (at + 1) * size)),
  );
  const names = headers[program.readUInt16LE(HEADER.names)];
  if (names === undefined) return program;
  const loaded = headers.filter(isLoaded);
  const end = Math.max(size, ...loaded.map((each) => readOffset(each) + readSize(each)));
  const nameTexts = program.subarray(readOffset(names), readOffset(names) + readSize(names));
  const gap = Buffer.alloc(ALIGNMENT - ((end + nameTexts.length) % ALIGNMENT));

  // The places of sections in the table stay, since others refer to them.
  for (const each of headers) if (!isAllocated(each) && each !== names) each.fill(0);
  names.writeBigUInt64LE(BigInt(end), SECTION.offset);
  const stripped = Buffer.concat([program.subarray(0, end), nameTexts, gap, ...headers]);
  stripped.writeBigUInt64LE(BigInt(end + nameTexts.length + gap.length), HEADER.sectionTable);
  return stripped;
}

const readOffset = (header: Buffer): number => Number(header.readBigUInt64LE(SECTION.offset));
const readSize = (header: Buffer): number => Number(header.readBigUInt64LE(SECTION.size));
const isAllocated = (header: Buffer): boolean => (header.readBigUInt64LE(SECTION.flags) & ALLOCATED) !== 0n;
const isLoaded = (header: Buffer): boolean =>
  isAllocated(header) && header.readUInt32LE(SECTION.type) !== NO_BITS;
