/**
 * Searches in place of a client: answers a question for addresses whose name is missing with the first name of the
 * client's search list that exists, in one packet. The reader's side of `autopath`.
 *
 * Every name is judged as it is now: by the publications of the view, and behind them by its cached answers. Where these
 * do not decide, the handler chain searches. Nothing is stored, so there is nothing to become stale.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { AliasedResponse } from './aliased-response.ts';
import { ASKED, matchAskRules } from './ask-rules.ts';
import { COMPOSED, type Composer } from './composer.ts';
import { EntryFinder } from './entry-finder.ts';
import { finishHash } from './hash.ts';
import {
  BODY_AUTHORITATIVE,
  BODY_RCODE,
  CACHED,
  CACHED_FLAG,
  encodeShape,
  HEADER,
  KIND,
  NODE,
  PUBLICATION,
  padded,
  UNIT_SHIFT,
  VIEW,
  VIEW_FLAG,
  ZONE,
  ZONE_FLAG,
} from './layout.ts';
import type { TableViews } from './memory.ts';
import { PARSED, QuestionReader } from './question.ts';
import type { ResponseWriter } from './response.ts';
import { isInScope, isLeftToChain } from './scope.ts';
import { SEARCH_LIST, SearchListFinder } from './search-lists.ts';
import { NO_ROUTE, SEARCH_OUTCOME, SEARCH_OUTCOMES, VERDICT, VIEW_PATHS } from './types.ts';

/** Instead of the length of an answer. PASSED: the client gets the denial of its own name. MISSING: so do all names of its list. */
export const SEARCHED = { PASSED: -3, MISSING: -4 } as const;

/** What is known of a name. */
const JUDGED = { ASK: 0, DENIED: 1, COMPOSED: 2, NODATA: 3, CACHED: 4 } as const;

/** Labels of the names that are searched for, left of those of all services: a name, a domain of it, and the namespace. */
const MIN_LABELS = 3;
const QUESTION_OCTETS = 4;
/** The octets with RD and with CD. */
const FLAGS_AT = 2;
const RECURSION_DESIRED = 0x01;

/** What a search needs of its reader, set before each one. */
export interface Searching {
  /** Of the query, with its client's socket address from `client` on. */
  readonly packet: Uint8Array;
  readonly start: number;
  readonly client: number;
  /** Octets of the whole response. */
  readonly max: number;
  /** The record of the view, as a word, and its flags. */
  readonly record: number;
  readonly flags: number;
  /** The current second, and the maximum TTL. */
  readonly second: number;
  readonly maxTtl: number;
}

export class Search {
  readonly #views: TableViews;
  readonly #question: QuestionReader;
  readonly #composer: Composer;
  readonly #response: ResponseWriter;
  readonly #lists: SearchListFinder;
  /** The name that is tried, as a question of its own. */
  readonly #name: QuestionReader;
  readonly #message = new Uint8Array(HEADER_OCTETS + 2 * 256 + QUESTION_OCTETS);
  readonly #view = new DataView(this.#message.buffer);
  readonly #finder: EntryFinder;
  readonly #aliased: AliasedResponse;
  /** The settings of the zone that denied a type last. */
  #settings = 0;
  /** The cached answer that was found last. */
  #entry = 0;
  /** What the answer adds to the first outcome of the view's searches. */
  outcome = 0;

  constructor(
    views: TableViews,
    keys: Int32Array<ArrayBuffer>,
    question: QuestionReader,
    composer: Composer,
    response: ResponseWriter,
  ) {
    this.#views = views;
    this.#question = question;
    this.#composer = composer;
    this.#response = response;
    this.#lists = new SearchListFinder(views, keys);
    this.#name = new QuestionReader(keys);
    this.#finder = new EntryFinder(views, this.#name);
    this.#aliased = new AliasedResponse(views, question, this.#name, response);
  }

  /**
   * Searches for the question read last, whose name the composer has just denied.
   *
   * @returns the length of the response, `VERDICT.ASK`, or one of `SEARCHED`
   */
  search(searching: Searching): number {
    const { atoms } = this.#views;
    const { record, packet, client } = searching;
    // The name may be meant as it is: that of a service, or of an endpoint of one that exists.
    if (this.#composer.isBelowObject || this.#composer.missing < MIN_LABELS) return SEARCHED.PASSED;
    const lists = (atoms[record + (VIEW.SEARCH_LISTS >> 2)] ?? 0) << (UNIT_SHIFT - 2);
    const list = this.#lists.find(lists, packet, client);
    const first = list + SEARCH_LIST.FIRST;
    if (list === 0 || !this.#isBelow(first)) return SEARCHED.PASSED;
    const shape = atoms[first >> 2] ?? 0;
    const base = this.#question.labelStarts[this.#question.labels - (shape >>> 8)] ?? 0;
    this.#begin(searching, base);
    let domain = first + 4 + padded(shape & 0xff);
    const count = atoms[(list + SEARCH_LIST.COUNT) >> 2] ?? 0;
    let tried = 1;
    for (let index = 1; index < count; index++) {
      if (this.#load(base, domain)) {
        const found = this.#try(searching, tried);
        if (found !== JUDGED.DENIED) return found;
        tried++;
      }
      domain += 4 + padded((atoms[domain >> 2] ?? 0) & 0xff);
    }
    this.#note(SEARCH_OUTCOME.missing, tried - 1);
    return SEARCHED.MISSING;
  }

  /** Whether the name is below a domain. @param domain the octet of its shape */
  #isBelow(domain: number): boolean {
    const { atoms } = this.#views;
    const question = this.#question;
    const shape = atoms[domain >> 2] ?? 0;
    const length = shape & 0xff;
    const labels = shape >>> 8;
    if (labels === 0 || question.labels <= labels) return false;
    const from = question.labelStarts[question.labels - labels] ?? 0;
    if (question.nameLength - from !== length) return false;
    // Both are zero behind their ends.
    for (let at = 0; at < length; at += 4)
      if (atoms[(domain + 4 + at) >> 2] !== question.wordAt(from + at)) return false;
    return true;
  }

  /** Copies what the questions for all names of a list begin with. @param base octets of the name */
  #begin({ packet, start }: Searching, base: number): void {
    const message = this.#message;
    message[FLAGS_AT + 1] = packet[start + FLAGS_AT + 1] ?? 0;
    for (let at = 0; at < base; at++) message[HEADER_OCTETS + at] = packet[start + HEADER_OCTETS + at] ?? 0;
  }

  /** Makes a question for the first octets of the name with a domain behind. @returns whether that is a name */
  #load(base: number, domain: number): boolean {
    const { atoms } = this.#views;
    const view = this.#view;
    const question = this.#question;
    const length = (atoms[domain >> 2] ?? 0) & 0xff;
    const from = HEADER_OCTETS + base;
    const end = from + length;
    // What the last word has behind the name is written over.
    for (let at = 0; at < length; at += 4) view.setInt32(from + at, atoms[(domain + 4 + at) >> 2] ?? 0, true);
    view.setUint16(end, question.type);
    view.setUint16(end + 2, question.dnsClass);
    const name = this.#name;
    if (name.parse(this.#message, view, 0, end + QUESTION_OCTETS) !== PARSED.QUESTION) return false;
    name.dnssecOk = question.dnssecOk;
    return true;
  }

  /** @returns `JUDGED.DENIED`, or as `search` */
  #try(searching: Searching, tried: number): number {
    const { packet, start, max, flags, second, maxTtl } = searching;
    const recursionAvailable = (flags & VIEW_FLAG.RECURSION_AVAILABLE) !== 0;
    const judged = this.#judge(searching);
    if (judged === JUDGED.DENIED) return judged;
    if (judged === JUDGED.NODATA) {
      this.#note(SEARCH_OUTCOME.denial, tried);
      return this.#response.writeNegative(start, max, this.#settings, RCODE.NOERROR, recursionAvailable);
    }
    if (judged === JUDGED.ASK) return VERDICT.ASK;
    this.#aliased.prepare(start, this.#message);
    if (judged === JUDGED.COMPOSED) {
      this.#note(SEARCH_OUTCOME.records, tried);
      const { composition } = this.#composer;
      return this.#aliased.writeComposed(
        packet,
        start,
        max,
        composition,
        BODY_AUTHORITATIVE,
        recursionAvailable,
      );
    }
    const entry = this.#entry;
    const { words } = this.#views;
    const kept = words[(entry + CACHED.FLAGS) >> 2] ?? 0;
    const isAvailable = (kept & CACHED_FLAG.RECURSION_AVAILABLE) !== 0;
    const age = second - (words[(entry + CACHED.STORED) >> 2] ?? 0);
    const length = this.#aliased.writeCached(packet, start, max, entry, age, maxTtl, isAvailable);
    const counts = words[(entry + (words[(entry + CACHED.BODY) >> 2] ?? 0) + 4) >> 2] ?? 0;
    this.#note((counts & 0xffff) > 0 ? SEARCH_OUTCOME.cachedRecords : SEARCH_OUTCOME.cachedDenial, tried);
    return length;
  }

  #note(kind: number, tried: number): void {
    this.outcome = (Math.max(0, tried - 1) * SEARCH_OUTCOMES + kind) * VIEW_PATHS;
  }

  /** @returns of `JUDGED` */
  #judge(searching: Searching): number {
    const { atoms } = this.#views;
    const { record } = searching;
    const name = this.#name;
    const rules = atoms[record + (VIEW.RULES >> 2)] ?? 0;
    const asked = rules === 0 ? ASKED.NO : matchAskRules(this.#views, (record << 2) + rules, name);
    if ((asked & (ASKED.ALWAYS | ASKED.CACHED)) !== 0) return JUDGED.ASK;
    const count = atoms[record + (VIEW.COUNT >> 2)] ?? 0;
    const route = atoms[record + (VIEW.ROUTE >> 2)] ?? NO_ROUTE;
    const decided = route === NO_ROUTE ? count - 1 : count;
    for (let index = 0; index < count; index++) {
      const publication = (atoms[record + (VIEW.PUBLICATIONS >> 2) + index] ?? 0) << (UNIT_SHIFT - 2);
      if (atoms[publication + (PUBLICATION.NODES >> 2)] === 0) continue;
      const composed = this.#compose(searching, publication);
      if (composed !== COMPOSED.NEXT) return this.#judgeComposed(composed);
      const salt = atoms[publication + (PUBLICATION.SALT >> 2)] ?? 0;
      const id = atoms[publication + (PUBLICATION.ID >> 2)] ?? 0;
      const shape = encodeShape(name.nameLength, KIND.NODE, id);
      if (this.#finder.find(finishHash(name.hash ^ salt), 0, shape) !== 0) return JUDGED.ASK;
      if (!isInScope(atoms, publication, name, index >= decided)) continue;
      const missing = this.#judgeMissing(publication);
      if (missing !== COMPOSED.NEXT) return missing === COMPOSED.NXDOMAIN ? JUDGED.DENIED : JUDGED.ASK;
    }
    return this.#judgeCached(searching);
  }

  /** @returns of `COMPOSED` */
  #compose({ packet, start, client, max }: Searching, publication: number): number {
    const { atoms } = this.#views;
    const block = atoms[publication + (PUBLICATION.RECORDS >> 2)] ?? 0;
    if (block === 0) return COMPOSED.NEXT;
    return this.#composer.compose(
      block << UNIT_SHIFT,
      atoms[publication + (PUBLICATION.ID >> 2)] ?? 0,
      atoms[publication + (PUBLICATION.SALT >> 2)] ?? 0,
      this.#name,
      this.#question.end - start,
      this.#response.freeOctets(start, max),
      this.#response.rotates,
      packet,
      client,
    );
  }

  /** @param composed of `COMPOSED` */
  #judgeComposed(composed: number): number {
    const settings = this.#locateZoneSettings(this.#composer.zone);
    const flags = this.#views.words[(settings + ZONE.FLAGS) >> 2] ?? 0;
    if (composed === COMPOSED.ASK || composed === COMPOSED.HELD || (flags & ZONE_FLAG.KNOWN) === 0)
      return JUDGED.ASK;
    if (composed === COMPOSED.RECORDS || composed === COMPOSED.MADE) return JUDGED.COMPOSED;
    this.#settings = settings;
    if (composed === COMPOSED.NODATA) return JUDGED.NODATA;
    const asksWildcards = (flags & ZONE_FLAG.ASK_WILDCARDS) !== 0;
    return asksWildcards && this.#name.hasWildcard(this.#composer.missing) ? JUDGED.ASK : JUDGED.DENIED;
  }

  /** By the closest encloser, as readers answer questions for a name without a node. @returns of `COMPOSED` */
  #judgeMissing(publication: number): number {
    const { atoms, words } = this.#views;
    const name = this.#name;
    const maxLabels = atoms[publication + (PUBLICATION.MAX_LABELS >> 2)] ?? 0;
    const salt = atoms[publication + (PUBLICATION.SALT >> 2)] ?? 0;
    const id = atoms[publication + (PUBLICATION.ID >> 2)] ?? 0;
    for (let skipped = Math.max(1, name.labels - maxLabels); skipped <= name.labels; skipped++) {
      const shape = encodeShape(name.nameLength - (name.labelStarts[skipped] ?? 0), KIND.NODE, id);
      const node = this.#finder.find(finishHash(name.hashWithout(skipped) ^ salt), skipped, shape);
      if (node === 0) continue;
      const settings = this.#locateZoneSettings((words[(node + NODE.ZONE) >> 2] ?? 0) & 0xffff);
      const flags = words[(settings + ZONE.FLAGS) >> 2] ?? 0;
      const below = (words[(node + NODE.MEANING) >> 2] ?? 0) & 0xff;
      if ((flags & ZONE_FLAG.KNOWN) === 0 || (flags & ZONE_FLAG.MISSING_ASK) !== 0) return COMPOSED.ASK;
      if (isLeftToChain(below, skipped)) return COMPOSED.ASK;
      if ((flags & ZONE_FLAG.ASK_WILDCARDS) !== 0 && name.hasWildcard(skipped)) return COMPOSED.ASK;
      return (flags & ZONE_FLAG.MISSING_NEXT) !== 0 ? COMPOSED.NEXT : COMPOSED.NXDOMAIN;
    }
    return COMPOSED.NEXT;
  }

  #locateZoneSettings(zone: number): number {
    const { atoms } = this.#views;
    const directory = (atoms[HEADER.ZONES] ?? 0) << (UNIT_SHIFT - 2);
    return (atoms[directory + zone] ?? 0) << UNIT_SHIFT;
  }

  #judgeCached({ record, flags, second, packet, start }: Searching): number {
    const { atoms, octets, words } = this.#views;
    const name = this.#name;
    const salt = atoms[record + (VIEW.SALT >> 2)] ?? 0;
    const shape = encodeShape(name.nameLength, KIND.CACHED, flags & 0xffff);
    const entry = this.#finder.find(name.hashOfQuestion(salt), 0, shape);
    if (entry === 0 || (words[(entry + CACHED.EXPIRES) >> 2] ?? 0) <= second) return JUDGED.ASK;
    if ((words[(entry + CACHED.FRESH_UNTIL) >> 2] ?? 0) <= second) return JUDGED.ASK;
    // Answers of the chain, for questions of clients.
    const kept = words[(entry + CACHED.FLAGS) >> 2] ?? 0;
    if ((kept & CACHED_FLAG.HAS_SOURCES) !== 0) return JUDGED.ASK;
    const rcode = (words[(entry + (words[(entry + CACHED.BODY) >> 2] ?? 0)) >> 2] ?? 0) & BODY_RCODE;
    if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return JUDGED.ASK;
    const isDesired = ((packet[start + FLAGS_AT] ?? 0) & RECURSION_DESIRED) !== 0;
    if (isDesired && octets[this.#finder.recencyAt] === 0) octets[this.#finder.recencyAt] = 1;
    if (rcode === RCODE.NXDOMAIN) return JUDGED.DENIED;
    this.#entry = entry;
    return JUDGED.CACHED;
  }
}
