/**
 * The ask rules of a view: which questions go to the handler chain before any node is looked up.
 *
 * They are stored as a table of names inside the view's record (see name-table.ts).
 */
import { padded, RULE_FLAG } from './layout.ts';
import type { TableViews } from './memory.ts';
import {
  encodeNameTable,
  findNameEntry,
  type NameEntry,
  readMaxLabels,
  readMinLabels,
} from './name-table.ts';
import type { QuestionReader } from './question.ts';
import type { AskRule } from './types.ts';

/** How the rules of a view decide on a question: bits. Without one of them, look up nodes. */
export const ASKED = {
  NO: 0,
  /** The chain answers, or a cached answer. */
  CACHED: 1,
  /** Cached answers count only if they are of the handlers before the cache. */
  BEFORE_CACHE: 2,
  /** As `CACHED`, for a name that the nodes lack or deny. */
  IF_MISSING: 4,
  /** The chain answers. */
  ALWAYS: 8,
  /** As `CACHED`, but only cached answers for the family of the client. */
  BY_FAMILY: 16,
} as const;

const MAX_TYPES = 4095;
const MAX_OPTIONS = 4095;
const ROOT = Uint8Array.of(0);

/**
 * @param hashWireName the unsalted hash of a name
 * @returns octets of whole words; empty without rules
 * @throws RangeError for a rule with too many types or options
 */
export function encodeAskRules(
  rules: readonly AskRule[],
  hashWireName: (name: Uint8Array) => number,
): Uint8Array {
  if (rules.length === 0) return new Uint8Array(0);
  return encodeNameTable(groupByName(rules).map(encodeEntry), hashWireName);
}

function groupByName(rules: readonly AskRule[]): readonly (readonly AskRule[])[] {
  const groups = new Map<string, AskRule[]>();
  for (const rule of rules) {
    const key = Buffer.from(toRuleName(rule)).toString('latin1');
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [rule]);
    else group.push(rule);
  }
  return [...groups.values()];
}

const toRuleName = ({ name }: AskRule): Uint8Array => (name.kind === 'any' ? ROOT : name.name);

function encodeEntry(rules: readonly AskRule[]): NameEntry {
  const [first] = rules;
  const parts = rules.map(encodeRule);
  const content = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    content.set(part, at);
    at += part.length;
  }
  return { name: first === undefined ? ROOT : toRuleName(first), tag: rules.length, content };
}

function encodeRule(rule: AskRule): Uint8Array {
  const { name, types, ednsOptions } = rule;
  const listed = types === 'all' ? [] : [...types];
  const options = ednsOptions === undefined ? [] : [...ednsOptions];
  if (listed.length > MAX_TYPES || options.length > MAX_OPTIONS)
    throw new RangeError(`too many types or options in an ask rule: ${listed.length}, ${options.length}`);
  const octets = new Uint8Array(4 + padded((listed.length + options.length) * 2));
  const flags =
    (rule.always === true ? RULE_FLAG.ALWAYS : 0) |
    (name.kind === 'exact' ? 0 : RULE_FLAG.SUFFIX) |
    (types === 'all' ? RULE_FLAG.ALL_TYPES : 0) |
    (ednsOptions === undefined ? 0 : RULE_FLAG.WITH_OPTIONS) |
    (rule.beforeCache === true ? RULE_FLAG.BEFORE_CACHE : 0) |
    (rule.byFamily === true ? RULE_FLAG.BY_FAMILY : 0) |
    (rule.dnssecOk === true ? RULE_FLAG.DNSSEC_OK : 0) |
    (rule.ifMissing === true ? RULE_FLAG.IF_MISSING : 0);
  new Uint32Array(octets.buffer, 0, 1)[0] = flags | (listed.length << 8) | (options.length << 20);
  new Uint16Array(octets.buffer, 4).set([...listed, ...options]);
  return octets;
}

/** @param rules the octet at which the rules of a view begin; @returns bits of `ASKED` */
export function matchAskRules(views: TableViews, rules: number, question: QuestionReader): number {
  const { labels } = question;
  const last = Math.min(labels, readMaxLabels(views, rules));
  let found: number = ASKED.NO;
  for (let kept = readMinLabels(views, rules); kept <= last && (found & ASKED.ALWAYS) === 0; kept++) {
    const entry = findNameEntry(views, rules, question, labels - kept);
    if (entry !== 0) found |= matchEntry(views, entry, question, kept === labels);
  }
  return found;
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
    const isWanted = (rule & RULE_FLAG.DNSSEC_OK) === 0 || question.dnssecOk;
    if (
      isNamed &&
      isWanted &&
      ((rule & RULE_FLAG.ALL_TYPES) !== 0 || lists(views, at + 4, types, question.type))
    ) {
      if ((rule & RULE_FLAG.ALWAYS) !== 0) return ASKED.ALWAYS;
      const cached = (rule & RULE_FLAG.IF_MISSING) === 0 ? ASKED.CACHED : ASKED.IF_MISSING;
      const place =
        ((rule & RULE_FLAG.BEFORE_CACHE) === 0 ? 0 : ASKED.BEFORE_CACHE) |
        ((rule & RULE_FLAG.BY_FAMILY) === 0 ? 0 : ASKED.BY_FAMILY);
      if ((rule & RULE_FLAG.WITH_OPTIONS) === 0) found |= cached | place;
      else if (hasOption(views, at + 4 + types * 2, options, question)) return ASKED.ALWAYS;
    }
    at += 4 + padded((types + options) * 2);
  }
  return found;
}

/** Whether the list of 16-bit numbers at this octet includes `wanted`. */
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
