/**
 * The ask rules of a view: which questions go to the handler chain before any node is looked up.
 *
 * They are a small hash table of names inside the view's record. A reader looks for the name of the question and its
 * suffixes there, one probe for each number of labels that rules have.
 */
import { countLabels, finishHash } from './hash.ts';
import { padded, RULE_FLAG, RULES } from './layout.ts';
import type { TableViews } from './memory.ts';
import type { QuestionReader } from './question.ts';
import type { AskRule } from './types.ts';

/** What the rules of a view say of a question. */
export const ASKED = {
  /** No rule matches: nodes are looked up. */
  NO: 0,
  /** The chain answers, or a cached answer of its. */
  CACHED: 1,
  /** The chain answers. */
  ALWAYS: 2,
} as const;

const MAX_TYPES = 4095;
const MAX_OPTIONS = 4095;
const ROOT = Uint8Array.of(0);

interface Encoded {
  readonly name: Uint8Array;
  readonly octets: Uint8Array;
}

/**
 * @param hashOf the unsalted hash of a name
 * @returns octets of whole words; none when there are no rules
 * @throws RangeError for a rule with more types or options than there are
 */
export function encodeAskRules(rules: readonly AskRule[], hashOf: (name: Uint8Array) => number): Uint8Array {
  if (rules.length === 0) return new Uint8Array(0);
  const entries = groupByName(rules).map(encodeEntry);
  const labels = entries.map(({ name }) => countLabels(name));
  const log2 = Math.ceil(Math.log2(entries.length * 2));
  const start = RULES.SLOTS + 8 * 2 ** log2;
  const total = entries.reduce((sum, { octets }) => sum + octets.length, start);
  const block = new Uint8Array(total);
  const words = new Int32Array(block.buffer);
  words[RULES.SHAPE >> 2] = log2 | (Math.min(...labels) << 8) | (Math.max(...labels) << 16);
  let at = start;
  for (const { name, octets } of entries) {
    const hash = finishHash(hashOf(name));
    let slot = hash & (2 ** log2 - 1);
    while (words[(RULES.SLOTS >> 2) + slot * 2 + 1] !== 0) slot = (slot + 1) & (2 ** log2 - 1);
    words[(RULES.SLOTS >> 2) + slot * 2] = hash;
    words[(RULES.SLOTS >> 2) + slot * 2 + 1] = at;
    block.set(octets, at);
    at += octets.length;
  }
  return block;
}

function groupByName(rules: readonly AskRule[]): readonly (readonly AskRule[])[] {
  const groups = new Map<string, AskRule[]>();
  for (const rule of rules) {
    const key = Buffer.from(nameOf(rule)).toString('latin1');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [rule]);
    else group.push(rule);
  }
  return [...groups.values()];
}

const nameOf = ({ name }: AskRule): Uint8Array => (name.kind === 'any' ? ROOT : name.name);

function encodeEntry(rules: readonly AskRule[]): Encoded {
  const [first] = rules;
  const name = first === undefined ? ROOT : nameOf(first);
  const parts = rules.map(encodeRule);
  const head = 4 + padded(name.length);
  const octets = new Uint8Array(parts.reduce((sum, part) => sum + part.length, head));
  new Uint32Array(octets.buffer)[0] = name.length | (rules.length << 8);
  octets.set(name, 4);
  let at = head;
  for (const part of parts) {
    octets.set(part, at);
    at += part.length;
  }
  return { name, octets };
}

function encodeRule({ name, types, ednsOptions }: AskRule): Uint8Array {
  const listed = types === 'all' ? [] : [...types];
  const options = ednsOptions === undefined ? [] : [...ednsOptions];
  if (listed.length > MAX_TYPES || options.length > MAX_OPTIONS)
    throw new RangeError(`too many types or options in an ask rule: ${listed.length}, ${options.length}`);
  const octets = new Uint8Array(4 + padded((listed.length + options.length) * 2));
  const flags =
    (name.kind === 'exact' ? RULE_FLAG.EXACT : RULE_FLAG.SUFFIX) |
    (types === 'all' ? RULE_FLAG.ALL_TYPES : 0) |
    (ednsOptions === undefined ? 0 : RULE_FLAG.WITH_OPTIONS);
  new Uint32Array(octets.buffer, 0, 1)[0] = flags | (listed.length << 8) | (options.length << 20);
  new Uint16Array(octets.buffer, 4).set([...listed, ...options]);
  return octets;
}

/** @param rules the octet at which the rules of a view begin; @returns one of `ASKED` */
export function matchAskRules(views: TableViews, rules: number, question: QuestionReader): number {
  const { words } = views;
  const shape = words[(rules + RULES.SHAPE) >> 2] ?? 0;
  const { labels } = question;
  const last = Math.min(labels, (shape >>> 16) & 0xff);
  let found: number = ASKED.NO;
  for (let kept = (shape >>> 8) & 0xff; kept <= last && found !== ASKED.ALWAYS; kept++) {
    const entry = findEntry(views, rules, 1 << (shape & 31), question, labels - kept);
    if (entry !== 0) found = Math.max(found, matchEntry(views, entry, question, kept === labels));
  }
  return found;
}

/** The entry of the question's name without its first labels, as an octet; or 0. */
function findEntry(
  { words, octets }: TableViews,
  rules: number,
  slots: number,
  question: QuestionReader,
  skipped: number,
): number {
  const hash = finishHash(question.hashWithout(skipped)) >>> 0;
  const from = question.labelStarts[skipped] ?? 0;
  const length = question.nameLength - from;
  // At least half of the slots are empty.
  for (let slot = hash & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
    const word = (rules + RULES.SLOTS + slot * 8) >> 2;
    const offset = words[word + 1] ?? 0;
    if (offset === 0) return 0;
    const entry = rules + offset;
    if (words[word] !== hash || ((words[entry >> 2] ?? 0) & 0xff) !== length) continue;
    let same = 0;
    while (same < length && octets[entry + 4 + same] === question.name[from + same]) same++;
    if (same === length) return entry;
  }
}

function matchEntry(views: TableViews, entry: number, question: QuestionReader, isWhole: boolean): number {
  const { words } = views;
  const shape = words[entry >> 2] ?? 0;
  let found: number = ASKED.NO;
  let at = entry + 4 + padded(shape & 0xff);
  for (let left = shape >>> 8; left > 0; left--) {
    const rule = words[at >> 2] ?? 0;
    const types = (rule >>> 8) & 0xfff;
    const options = rule >>> 20;
    const isNamed = (rule & RULE_FLAG.SUFFIX) !== 0 || isWhole;
    if (isNamed && ((rule & RULE_FLAG.ALL_TYPES) !== 0 || lists(views, at + 4, types, question.type))) {
      if ((rule & RULE_FLAG.WITH_OPTIONS) === 0) found = Math.max(found, ASKED.CACHED);
      else if (hasOption(views, at + 4 + types * 2, options, question)) return ASKED.ALWAYS;
    }
    at += 4 + padded((types + options) * 2);
  }
  return found;
}

/** Whether one of the numbers (16 bits) at this octet is the wanted one. */
function lists({ octets }: TableViews, start: number, count: number, wanted: number): boolean {
  for (let at = start, end = start + count * 2; at < end; at += 2) {
    if (((octets[at] ?? 0) | ((octets[at + 1] ?? 0) << 8)) === wanted) return true;
  }
  return false;
}

function hasOption(views: TableViews, start: number, count: number, question: QuestionReader): boolean {
  if (!question.hasOpt) return false;
  const { packet, optionsEnd } = question;
  for (let at = question.optionsStart; at + 4 <= optionsEnd; ) {
    const code = ((packet[at] ?? 0) << 8) | (packet[at + 1] ?? 0);
    if (lists(views, start, count, code)) return true;
    at += 4 + (((packet[at + 2] ?? 0) << 8) | (packet[at + 3] ?? 0));
  }
  return false;
}
