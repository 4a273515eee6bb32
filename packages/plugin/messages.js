/**
 * Names, record types and answers.
 */
const RCODES = { refused: 5, servfail: 2, notimp: 4, formerr: 1, overloaded: 5, nxdomain: 3 };
const CODES = new Set(['refused', 'servfail', 'notimp', 'formerr', 'overloaded']);
const MAX_LABEL = 63;
const MAX_NAME = 255;

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  DNAME: 39,
  SVCB: 64,
  HTTPS: 65,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
  CAA: 257,
};

export const CLASS = { IN: 1, CH: 3 };

/** The octets of a name: an escape is one. */
const OCTETS = /\\\d{3}|\\[^\d]|[^\\]/gs;

export function toName(text) {
  if (text === '.' || text === '') return '.';
  const name = text.endsWith('.') && !isEscaped(text, text.length - 1) ? text : `${text}.`;
  const labels = splitLabels(name).map((octets) => octets.length);
  const isName =
    /^[\0-\x7f]*$/.test(name) &&
    labels.every((length) => length > 0 && length <= MAX_LABEL) &&
    labels.reduce((sum, length) => sum + length + 1, 1) <= MAX_NAME;
  if (!isName) throw new RangeError(`not a name: ${text}`);
  return name;
}

function splitLabels(name) {
  const labels = [[]];
  for (const octet of name.slice(0, -1).match(OCTETS) ?? [])
    if (octet === '.') labels.push([]);
    else labels.at(-1).push(octet);
  return labels;
}

export function toKey(text) {
  return toName(text).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

export function isWithin(name, ancestor) {
  if (ancestor === '.' || name === ancestor) return true;
  // The dot may be a part of a label: `a\.example.` is not below `example.`.
  return name.endsWith(`.${ancestor}`) && !isEscaped(name, name.length - ancestor.length - 1);
}

export function isWithinAny(name, names) {
  if (names.size === 0) return false;
  for (let at = name; at !== undefined; at = toParent(at)) if (names.has(at)) return true;
  return false;
}

/** The name without its first label; undefined: it is the root. */
function toParent(name) {
  if (name === '.') return undefined;
  let dot = name.indexOf('.');
  while (dot > 0 && isEscaped(name, dot)) dot = name.indexOf('.', dot + 1);
  return name.slice(dot + 1) || '.';
}

/** Whether an odd number of backslashes stands before a character. */
function isEscaped(name, at) {
  let first = at;
  while (first > 0 && name[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}

export function typeOfData(data) {
  return data.kind === 'unknown' ? data.type : TYPE[data.kind];
}

/** All plugins share it. */
export const EMPTY_ANSWER = Object.freeze({
  kind: 'message',
  rcode: 0,
  authoritative: false,
  truncated: false,
  recursionAvailable: false,
  authenticData: false,
  answers: Object.freeze([]),
  authorities: Object.freeze([]),
  additionals: Object.freeze([]),
});

export function isResponse({ kind }) {
  return kind !== 'drop' && !CODES.has(kind);
}

export function toWhole(answer) {
  const { kind } = answer;
  if (kind === 'message') return answer;
  const whole = { ...EMPTY_ANSWER, rcode: RCODES[kind] ?? 0 };
  if (CODES.has(kind)) return answer.reason === undefined ? whole : { ...whole, reason: answer.reason };
  const { authoritative } = answer;
  if (kind === 'forwarded') {
    const { memory: _, ...parts } = answer;
    return { ...EMPTY_ANSWER, ...parts, kind: 'message', recursionAvailable: true };
  }
  if (kind === 'nodata' || kind === 'nxdomain')
    return {
      ...whole,
      authoritative,
      answers: answer.aliases,
      authorities: answer.soa === undefined ? [] : [answer.soa],
    };
  const { records, additionals = [], truncated = false } = answer;
  return { ...whole, authoritative, truncated, answers: records, additionals };
}
