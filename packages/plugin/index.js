/**
 * The functions of the contract. The host does not use them: it reads plain values.
 */

export const API = 1;

const NAME = /^[a-z][a-z0-9_]*$/;

export function definePlugin(module) {
  if (module.api !== API)
    throw new TypeError(`api: ${module.api}. This package is for plugins of API ${API}.`);
  if (!NAME.test(module.name))
    throw new TypeError(`name: not lower-case letters, digits and _: ${module.name}`);
  for (const part of ['parse', 'create'])
    if (typeof module[part] !== 'function') throw new TypeError(`${part}: not a function`);
  for (const part of ['syntax', 'examples'])
    if (!Array.isArray(module[part]) || module[part].length === 0)
      throw new TypeError(`${part}: not a list with at least one text`);
  return module;
}

export function all() {
  return { kind: 'all' };
}

export function within(zones, types) {
  return { kind: 'within', zones: zones.map(absolute), ...(types && { types }) };
}

export function anyName(types) {
  return { kind: 'any name', types };
}

export function fault(message, word, remedy) {
  return Object.assign(new Error(message), { name: 'Fault', at: word.at, remedy });
}

export function absolute(name) {
  const lower = name.toLowerCase();
  return lower.endsWith('.') ? lower : `${lower}.`;
}

export function isWithin(name, zone) {
  if (zone === '.') return true;
  const lower = name.toLowerCase();
  return lower === zone || lower.endsWith(`.${zone}`);
}

export function readLines({ lines }, readers) {
  for (const [name, ...args] of lines) {
    const read = readers.get(name.text);
    if (read === undefined)
      throw fault(`Unknown property '${name.text}'`, name, `Write one of ${[...readers.keys()].join(', ')}.`);
    read(args, name);
  }
}
