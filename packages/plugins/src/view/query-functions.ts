/**
 * The functions by which a condition reads the query: `client_ip()`, `type()`, `incidr(…)` and others.
 */
import { parseCidr } from '@portolan/corefile/directive/go-values.ts';
import type { FunctionType } from '@portolan/corefile/expression/built-in-functions.ts';
import type { FunctionTypes } from '@portolan/corefile/expression/check-expression.ts';
import type { Functions } from '@portolan/corefile/expression/evaluate.ts';
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressMatch, matchRange } from '@portolan/dns/address-range.ts';
import { presentNameAsGo } from '@portolan/dns/go-name.ts';
import { className, typeName } from '@portolan/dns/mnemonics.ts';
import { maxResponseOctets } from '@portolan/dns/response-size.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';

const TEXT: FunctionType = { parameters: [], result: 'string' };
const NUMBER: FunctionType = { parameters: [], result: 'number' };

export const QUERY_FUNCTIONS: FunctionTypes = new Map<string, FunctionType>([
  ...['class', 'client_ip', 'name', 'port', 'proto', 'server_ip', 'server_port', 'type'].map(
    (name) => [name, TEXT] as const,
  ),
  ...['bufsize', 'id', 'opcode', 'size'].map((name) => [name, NUMBER] as const),
  ['do', { parameters: [], result: 'boolean' }] as const,
  ['incidr', { parameters: ['string', 'string'], result: 'boolean' }] as const,
  ['metadata', { parameters: ['string'], result: 'string' }] as const,
]);

const MAX_UDP_OCTETS = 65_535;

/** @param current the query that is being judged */
export function createQueryFunctions(current: () => Query): Functions {
  return new Map<string, Functions extends ReadonlyMap<string, infer Call> ? Call : never>([
    ['client_ip', () => plain(current().sender.address)],
    ['server_ip', () => current().sender.localAddress ?? '::'],
    ['port', () => String(current().sender.port)],
    ['server_port', () => String(current().sender.localPort ?? parsePort(current().site.server))],
    ['proto', () => current().sender.transport],
    ['name', () => presentNameAsGo(current().key)],
    ['type', () => typeName(current().question.type)],
    ['class', () => className(current().question.class)],
    ['id', () => current().header.id],
    ['opcode', () => current().header.opcode],
    ['size', () => current().octets],
    ['bufsize', () => octetsFor(current())],
    ['do', () => current().edns?.dnssecOk ?? false],
    ['incidr', (address = null, range = null) => isInRange(String(address), String(range))],
    ['metadata', (label = null) => current().metadata(String(label)) ?? ''],
  ]);
}

/** Addresses of an interface have its name behind a `%`. */
function plain(address: string): string {
  return address.split('%')[0] ?? address;
}

/** @param server `dns://:53` */
function parsePort(server: string): string {
  return server.slice(server.lastIndexOf(':') + 1);
}

function octetsFor({ sender, edns }: Query): number {
  return maxResponseOctets(sender.transport, edns?.udpSize ?? 0, MAX_UDP_OCTETS);
}

const MAX_RANGES = 1000;
const ranges = new Map<string, AddressMatch>();

/** @throws TypeError if one of them is not what it should be */
function isInRange(address: string, range: string): boolean {
  const octets = parseAddress(address);
  if (octets === undefined) throw new TypeError('first argument is not an IP address');
  return compileRange(range)(octets);
}

function compileRange(range: string): AddressMatch {
  const known = ranges.get(range);
  if (known !== undefined) return known;
  const read = parseCidr(range);
  if (read.kind === 'bad') throw new TypeError(read.fault);
  const made = matchRange(read.value);
  // Ranges may come from a query only through an expression that says so.
  if (ranges.size >= MAX_RANGES) ranges.clear();
  ranges.set(range, made);
  return made;
}
