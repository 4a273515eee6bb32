/**
 * The functions of the contract.
 */
import { isWithinAny, toKey } from './messages.js';

export * from './messages.js';

export const API = 2;

const NAME = /^[a-z][a-z0-9_]*$/;

export const COUNTERS = { name: 'counters' };
export const STORED_ANSWERS = { name: 'stored answers' };
export const PUBLICATIONS = { name: 'publications' };
export const UPSTREAMS = { name: 'upstreams' };
export const WATCHES = { name: 'watches' };

export function definePlugin(definition) {
  const { name, read, create, syntax, examples } = definition;
  if (!NAME.test(name)) throw new TypeError(`name: not lower-case letters, digits and _: ${name}`);
  for (const [part, value] of Object.entries({ read, create }))
    if (typeof value !== 'function') throw new TypeError(`${part}: not a function`);
  for (const [part, value] of Object.entries({ syntax, examples }))
    if (!Array.isArray(value) || value.length === 0)
      throw new TypeError(`${part}: not a list with at least one text`);
  return { ...definition, api: API };
}

export const NO_QUESTIONS = { includes: () => false, matches: () => [] };

export const ALL_QUESTIONS = {
  includes: () => true,
  matches: () => [{ name: { kind: 'any' }, types: 'all' }],
};

export function anyName(types) {
  return { includes: (_, type) => types.has(type), matches: () => [{ name: { kind: 'any' }, types }] };
}

export function namesWithin(zones, types = 'all') {
  return {
    includes: (name, type) => (types === 'all' || types.has(type)) && isWithinAny(name, zones),
    *matches() {
      for (const name of zones) yield { name: { kind: 'suffix', name }, types };
    },
  };
}

export function readBareUse(cursor) {
  if (cursor.argument() !== undefined)
    throw cursor.argumentError('Take the word out: this plugin has no settings.');
}

/** RFC 1035 section 4.2.1. */
const MIN_UDP_SIZE = 512;
const MAX_UINT16 = 0xffff;

export function findHandlerFault(handler) {
  const { role, questions, handle, maxUdpSize, flags, limits } = handler;
  if (role !== 'other') return `the role of its handler is not 'other': ${role}`;
  if (typeof handle !== 'function') return `handle is not a function: ${handle}`;
  if (typeof questions?.includes !== 'function' || typeof questions.matches !== 'function')
    return `its handler states no questions: ${questions}. Write them as in questions: namesWithin(zones)`;
  const isUint16 = (bits) => Number.isInteger(bits) && isBetween(bits, 0, MAX_UINT16);
  if (maxUdpSize !== undefined && !(isUint16(maxUdpSize) && maxUdpSize >= MIN_UDP_SIZE))
    return `not a size of a UDP response: ${maxUdpSize}`;
  if (flags !== undefined && !(isUint16(flags.clear) && isUint16(flags.set)))
    return `not flags of a header: ${JSON.stringify(flags)}`;
  return limits === undefined ? undefined : findLimitsFault(limits);
}

const RESPONSE_KINDS = ['response', 'nodata', 'nxdomain', 'referral', 'error'];
const MAX_COUNTS = 10_000_000;
const MAX_SLIP = 255;

export function findLimitsFault(limits) {
  const { zones, prefixLengths = {}, requestsPerSecond, responsesPerSecond = {}, exceeded = {} } = limits;
  if (!Array.isArray(zones) || zones.some((zone) => typeof zone !== 'string' || toKey(zone) !== zone))
    return `limits: not a list of zones in lower case: ${zones}`;
  for (const rate of [requestsPerSecond, ...RESPONSE_KINDS.map((kind) => responsesPerSecond[kind])])
    if (!isBetween(rate, 0, Number.MAX_VALUE)) return `limits: not a rate: ${rate}`;
  const { requests, responses } = exceeded;
  if (!Array.isArray(requests) || !Array.isArray(responses)) return 'limits: exceeded lacks lists of counts';
  const { window, maxCounts, slip } = limits;
  if (!isBetween(window, Number.MIN_VALUE, Number.MAX_VALUE)) return `limits: not a window: ${window}`;
  for (const [part, value, min, max] of [
    ['prefixLengths.ipv4', prefixLengths.ipv4, 1, 32],
    ['prefixLengths.ipv6', prefixLengths.ipv6, 1, 128],
    ['maxCounts', maxCounts, 1, MAX_COUNTS],
    ['slip', slip, 0, MAX_SLIP],
  ])
    if (!Number.isInteger(value) || !isBetween(value, min, max))
      return `limits: ${part} is not a whole number from ${min} to ${max}: ${value}`;
  return undefined;
}

function isBetween(value, min, max) {
  return typeof value === 'number' && value >= min && value <= max;
}

export function fault(message, { position }, remedy) {
  return Object.assign(new Error(message), { name: 'Fault', position, remedy });
}

export function readLines({ lines }, readers) {
  for (const [name, ...args] of lines) {
    const read = readers.get(name.text);
    if (read === undefined)
      throw fault(`Unknown property '${name.text}'`, name, `Write one of ${[...readers.keys()].join(', ')}.`);
    read(args, name);
  }
}
