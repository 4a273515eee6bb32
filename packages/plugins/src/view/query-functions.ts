/**
 * The functions by which a condition reads the query: `client_ip()`, `type()`, `incidr(…)` and others. Source: plugin/pkg/expression of
 * CoreDNS 1.14.7.
 */
import { parseCidr } from '@portolan/corefile/directive/go-values.ts';
import { needText } from '@portolan/corefile/expression/built-ins/built-in.ts';
import type { EnvironmentTypes } from '@portolan/corefile/expression/check/checker.ts';
import type { EnvironmentValues } from '@portolan/corefile/expression/run/run.ts';
import { fromOctets, toOctets } from '@portolan/corefile/expression/text/octets.ts';
import { BOOL, functionType, type GoType, INT, STRING } from '@portolan/corefile/expression/types/go-type.ts';
import { EvaluationError } from '@portolan/corefile/expression/values/budget.ts';
import { type ExpressionValue, GoFunction } from '@portolan/corefile/expression/values/value.ts';
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressMatch, matchRange } from '@portolan/dns/address-range.ts';
import { presentNameAsGo } from '@portolan/dns/go-name.ts';
import { className, typeName } from '@portolan/dns/mnemonics.ts';
import { maxResponseOctets } from '@portolan/dns/response-size.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';

const TEXT = functionType([], STRING);
const NUMBER = functionType([], INT);

export const QUERY_TYPES: EnvironmentTypes = new Map<string, GoType>([
  ...['class', 'client_ip', 'name', 'port', 'proto', 'server_ip', 'server_port', 'type'].map(
    (name) => [name, TEXT] as const,
  ),
  ...['bufsize', 'id', 'opcode', 'size'].map((name) => [name, NUMBER] as const),
  ['do', functionType([], BOOL)],
  ['incidr', functionType([STRING, STRING], BOOL, ['error'])],
  ['metadata', functionType([STRING], STRING)],
]);

const MAX_UDP_OCTETS = 65_535;

/** What a function does with its arguments, whose types are those of its signature. */
export type QueryFunction = (args: readonly ExpressionValue[]) => ExpressionValue;

/** The functions of an environment as values. */
export function createEnvironment(
  types: EnvironmentTypes,
  functions: ReadonlyMap<string, QueryFunction>,
): EnvironmentValues {
  return new Map(
    Array.from(functions, ([name, call]) => {
      const { name: type = '', signature } = types.get(name) ?? {};
      return [
        name,
        new GoFunction(type, signature?.parameters.map((parameter) => parameter.name) ?? [], call),
      ];
    }),
  );
}

/** @param current the query that is being judged */
export function createQueryFunctions(current: () => Query): ReadonlyMap<string, QueryFunction> {
  return new Map<string, QueryFunction>([
    ['client_ip', () => plain(current().sender.address)],
    ['server_ip', () => current().sender.localAddress ?? '::'],
    ['port', () => String(current().sender.port)],
    ['server_port', () => String(current().sender.localPort ?? parsePort(current().site.server))],
    ['proto', () => current().sender.transport],
    ['name', () => presentNameAsGo(current().key)],
    ['type', () => typeName(current().question.type)],
    ['class', () => className(current().question.class)],
    ['id', () => BigInt(current().header.id)],
    ['opcode', () => BigInt(current().header.opcode)],
    ['size', () => BigInt(current().octets)],
    ['bufsize', () => BigInt(octetsFor(current()))],
    ['do', () => current().edns?.dnssecOk ?? false],
    ['incidr', ([address, range]) => isInRange(needText(address), needText(range))],
    ['metadata', ([label]) => toOctets(current().metadata(fromOctets(needText(label))) ?? '')],
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
/** Longer texts are no ranges. */
const MAX_RANGE_LENGTH = 100;
const ranges = new Map<string, AddressMatch>();

/** @throws EvaluationError if one of them is not what it should be */
function isInRange(address: string, range: string): boolean {
  const octets = parseAddress(address);
  if (octets === undefined) throw new EvaluationError('first argument is not an IP address');
  return compileRange(range)(octets);
}

function compileRange(range: string): AddressMatch {
  const known = ranges.get(range);
  if (known !== undefined) return known;
  const read = parseCidr(range.slice(0, MAX_RANGE_LENGTH));
  if (read.kind === 'bad') throw new EvaluationError(read.fault);
  const made = matchRange(read.value);
  // Ranges may come from a query only through an expression that says so.
  if (ranges.size >= MAX_RANGES) ranges.clear();
  ranges.set(range, made);
  return made;
}
