/**
 * The functions of the contract.
 */
import { isWithinAny } from './messages.js';

export * from './messages.js';

export const API = 2;

const NAME = /^[a-z][a-z0-9_]*$/;

export const COUNTERS = { name: 'counters' };
export const STORED_ANSWERS = { name: 'stored answers' };
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
