/**
 * Writes databases in the MaxMind DB format (version 2.0), as small as tests need them.
 */

/** A value of a record. A bigint is an unsigned integer of 64 bits, another number a double or an unsigned integer of 32 bits. */
export type GeoValue =
  | string
  | number
  | bigint
  | boolean
  | readonly GeoValue[]
  | { readonly [field: string]: GeoValue };

/** The record of a network. */
export interface GeoNetwork {
  /** Octets of an IPv6 network, or of an IPv4 one. */
  readonly address: Uint8Array;
  readonly prefix: number;
  readonly record: GeoValue;
}

const TYPE = { TEXT: 2, DOUBLE: 3, UINT32: 6, MAP: 7, UINT64: 9, ARRAY: 11, BOOLEAN: 14 } as const;
/** Types from here on take a second octet. */
const FIRST_EXTENDED = 8;
const MARKER = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex');
/** Of zeros, between the tree and the data. */
const SEPARATOR = Buffer.alloc(16);
const RECORD_BITS = 24;
/** Where IPv4 stands in a tree of IPv6. */
const IPV4_BITS = 96;

type Node = [Branch, Branch];
type Branch = Node | { readonly data: number } | undefined;

/** @param ipVersion 4: the tree has no addresses of IPv6 */
export function writeDatabase(
  databaseType: string,
  networks: readonly GeoNetwork[],
  { ipVersion = 6, buildEpoch = 1_700_000_000 } = {},
): Buffer {
  const root: Node = [undefined, undefined];
  const data: Buffer[] = [];
  let length = 0;
  for (const { address, prefix, record } of networks) {
    insert(root, listBits(address, prefix, ipVersion), { data: length });
    data.push(encode(record));
    length += data.at(-1)?.length ?? 0;
  }
  // As writers of such databases do, so that mapped addresses are found too.
  if (ipVersion === 6) aliasMapped(root);
  const nodes = listNodes(root);
  const numbers = new Map(nodes.map((node, number) => [node, number]));
  const tree = Buffer.concat(
    nodes.map((node) => Buffer.concat(node.map((branch) => encodeBranch(branch, nodes.length, numbers)))),
  );
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: BigInt(buildEpoch),
    database_type: databaseType,
    description: { en: 'test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.length,
    record_size: RECORD_BITS,
  };
  return Buffer.concat([tree, SEPARATOR, ...data, MARKER, encode(metadata)]);
}

function listBits(address: Uint8Array, prefix: number, ipVersion: number): readonly number[] {
  const bits = [...address].flatMap((octet) =>
    Array.from({ length: 8 }, (_, bit) => (octet >> (7 - bit)) & 1),
  );
  const isNested = ipVersion === 6 && address.length === 4;
  const above = isNested ? Array.from({ length: IPV4_BITS }, () => 0) : [];
  return [...above, ...bits.slice(0, prefix)];
}

function insert(root: Node, bits: readonly number[], leaf: Branch): void {
  let node = root;
  for (const [depth, bit] of bits.entries()) {
    const side = bit === 0 ? 0 : 1;
    if (depth === bits.length - 1) node[side] = leaf;
    else node = descend(node, side);
  }
}

function descend(node: Node, side: 0 | 1): Node {
  const branch = node[side];
  if (Array.isArray(branch)) return branch;
  const made: Node = [branch, branch];
  node[side] = made;
  return made;
}

/** Lets `::ffff:0:0/96` lead to IPv4. */
function aliasMapped(root: Node): void {
  let node: Branch = root;
  for (let depth = 0; depth < IPV4_BITS; depth += 1) node = Array.isArray(node) ? node[0] : undefined;
  if (node === undefined) return;
  const bits = Array.from({ length: IPV4_BITS }, (_, depth) => (depth < 80 ? 0 : 1));
  insert(root, bits, node);
}

function listNodes(root: Node): readonly Node[] {
  const nodes = new Set([root]);
  for (const node of nodes) for (const branch of node) if (Array.isArray(branch)) nodes.add(branch);
  return [...nodes];
}

function encodeBranch(branch: Branch, count: number, numbers: ReadonlyMap<Node, number>): Buffer {
  const octets = Buffer.alloc(RECORD_BITS / 8);
  const number =
    branch === undefined
      ? count
      : Array.isArray(branch)
        ? (numbers.get(branch) ?? count)
        : count + SEPARATOR.length + branch.data;
  octets.writeUIntBE(number, 0, octets.length);
  return octets;
}

function encode(value: GeoValue): Buffer {
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([encodeControl(TYPE.TEXT, text.length), text]);
  }
  if (typeof value === 'boolean') return encodeControl(TYPE.BOOLEAN, value ? 1 : 0);
  if (typeof value === 'bigint' || typeof value === 'number') return encodeNumber(value);
  if (isList(value)) return Buffer.concat([encodeControl(TYPE.ARRAY, value.length), ...value.map(encode)]);
  const fields = Object.entries(value);
  const parts = fields.flatMap(([name, part]) => [encode(name), encode(part)]);
  return Buffer.concat([encodeControl(TYPE.MAP, fields.length), ...parts]);
}

function isList(value: GeoValue): value is readonly GeoValue[] {
  return Array.isArray(value);
}

function encodeNumber(value: bigint | number): Buffer {
  if (typeof value === 'number' && !Number.isInteger(value)) {
    const octets = Buffer.alloc(8);
    octets.writeDoubleBE(value);
    return Buffer.concat([encodeControl(TYPE.DOUBLE, 8), octets]);
  }
  const size = typeof value === 'bigint' ? 8 : 4;
  const octets = Buffer.alloc(8);
  octets.writeBigUInt64BE(BigInt(value));
  const type = typeof value === 'bigint' ? TYPE.UINT64 : TYPE.UINT32;
  return Buffer.concat([encodeControl(type, size), octets.subarray(8 - size)]);
}

/** @param size below 285 */
function encodeControl(type: number, size: number): Buffer {
  const head = type < FIRST_EXTENDED ? type << 5 : 0;
  const extended = type < FIRST_EXTENDED ? [] : [type - 7];
  return size < 29
    ? Buffer.from([head | size, ...extended])
    : Buffer.from([head | 29, ...extended, size - 29]);
}
