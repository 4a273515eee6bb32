/**
 * Answers queries from the table in place. One per reader thread, and one on the main thread for TCP.
 *
 * The client's view sets the order of a look-up: its ask rules; its publications one after the other (first the name's
 * node, else its closest encloser); then the cached answers. The code here never waits or throws, whatever the packet
 * holds, and a hit allocates no memory.
 */
import { ACCEPT, accept, writeErrorResponse } from '@portolan/dns/acceptance.ts';
import { EXTENDED_ERROR, extendedErrorOfCached } from '@portolan/dns/extended-error.ts';
import { codeOfMetaType } from '@portolan/dns/meta-types.ts';
import {
  type ClientTransport,
  DEFAULT_UDP_SIZE,
  MAX_MESSAGE_OCTETS,
  maxResponseOctets,
} from '@portolan/dns/response-size.ts';
import { CLASS, RCODE, TYPE } from '@portolan/dns/types.ts';
import { ASKED, matchAskRules } from './ask-rules.ts';
import { COMPOSED, type Composer, type MakeComposer } from './composer.ts';
import { Counters } from './counters.ts';
import { EntryFinder } from './entry-finder.ts';
import { finishHash, HASH_KEYS, hashName } from './hash.ts';
import {
  BODY_STALE,
  CACHED,
  CACHED_FLAG,
  encodeShape,
  endOfBody,
  HEADER,
  KIND,
  locateEpoch,
  MAX_TTL,
  NO_PUBLICATION,
  NODE,
  OTHER_TYPES,
  PUBLICATION,
  padded,
  SOURCES,
  UNIT_SHIFT,
  VIEW,
  VIEW_FLAG,
  ZONE,
  ZONE_FLAG,
} from './layout.ts';
import { type TableViews, viewTable } from './memory.ts';
import { NO_OUTCOME } from './outcomes.ts';
import { isPlainQuery, PARSED, QuestionReader } from './question.ts';
import { ResponseWriter } from './response.ts';
import { isInScope, isLeftToChain } from './scope.ts';
import { SEARCHED, Search } from './search.ts';
import { NO_ROUTE, NODE_OUTCOMES, VERDICT, VIEW_PATHS } from './types.ts';
import { NO_VIEW, ViewFinder } from './view-finder.ts';

/** Types from here on are questions about the server or the zone, not records (RFC 6895 section 3.1). */
const FIRST_META_TYPE = 249;
const LAST_META_TYPE = 255;
const TYPE_OTHER = 0;
/** The look-up continues with the next publication: neither a length nor a verdict. */
const NEXT = -2;
/** The RD bit, in the third octet of a header. */
const RECURSION_DESIRED = 0x01;

const NO_RECORDS = {
  octets: new Uint8Array(),
  view: new DataView(new ArrayBuffer(0)),
  length: 0,
  answers: 0,
  additionals: 0,
  isCut: false,
  isWithoutAdditionals: false,
};

/** A composer for tables without records. */
const withoutRecords: MakeComposer = () => ({
  composition: NO_RECORDS,
  zone: 0,
  outcome: NO_OUTCOME,
  missing: 0,
  isBelowObject: false,
  isStale: false,
  compose: () => COMPOSED.NEXT,
});

export class TableReader {
  readonly #views: TableViews;
  readonly #atoms: Int32Array;
  readonly #words: Uint32Array;
  readonly #epoch: number;
  readonly #maxTtl: number;
  readonly #boundsTtls: boolean;
  readonly #question: QuestionReader;
  readonly #finder: EntryFinder;
  readonly #composer: Composer;
  readonly #response: ResponseWriter;
  readonly #counters: Counters;
  readonly #viewFinder: ViewFinder;
  readonly #search: Search;
  /** The current query, for a search. */
  readonly #searching = {
    // Of any memory.
    packet: new Uint8Array() as Uint8Array,
    start: 0,
    client: 0,
    max: 0,
    record: 0,
    flags: 0,
    second: 0,
    maxTtl: 0,
  };
  /** The server's own maximum for UDP, which its OPT records carry. */
  readonly #udpSize: number;
  #second = 0;
  /** The memory of the current packet. A reader thread always uses the same memory. */
  #packet: Uint8Array = new Uint8Array();
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The outcome of the current answer. */
  #outcome = NO_OUTCOME;
  /**
   * For a question that is left open: the route of its view if the table has no say on its name, else `NO_ROUTE`; and
   * the kind of answer that must not be given any more, if any.
   */
  route = NO_ROUTE;
  expired: 'none' | 'recent' | 'rechecked' | 'held' = 'none';
  /** The record of the current view, as a word, and its flags. */
  #record = 0;
  /** The view's first outcome for the current answer, or `NO_OUTCOME`. */
  #outcomes = NO_OUTCOME;
  #flags = 0;
  /** Whether the chain answers for a name that the nodes lack or deny. */
  #asksIfMissing = false;

  /**
   * @param reader this reader's number, below the table's number of readers (the main thread may use any of its own)
   * @param udpSize the server's own maximum for responses over UDP, which OPT records carry; 512 to 4096
   * @param makeComposer of publications with records. Default: there are none
   */
  constructor(
    memory: SharedArrayBuffer,
    reader: number,
    udpSize = DEFAULT_UDP_SIZE,
    makeComposer: MakeComposer = withoutRecords,
  ) {
    this.#views = viewTable(memory);
    this.#atoms = this.#views.atoms;
    this.#words = this.#views.words;
    const keys = this.#atoms.slice(HEADER.KEYS, HEADER.KEYS + HASH_KEYS);
    this.#question = new QuestionReader(keys);
    this.#epoch = locateEpoch(reader);
    this.#udpSize = udpSize;
    this.#maxTtl = this.#views.words[HEADER.MAX_TTL] ?? 0;
    this.#boundsTtls = this.#maxTtl < MAX_TTL;
    this.#finder = new EntryFinder(this.#views, this.#question);
    this.#composer = makeComposer(this.#views, keys, this.#question);
    this.#response = new ResponseWriter(this.#views, this.#question, udpSize);
    this.#counters = new Counters(memory, reader);
    this.#viewFinder = new ViewFinder(this.#views, this.#question);
    this.#search = new Search(this.#views, keys, this.#question, this.#composer, this.#response);
    this.#searching.maxTtl = this.#maxTtl;
  }

  /** The question read last, in memory that the next one overwrites. */
  get question(): QuestionReader {
    return this.#question;
  }

  /** The unsalted hash of a lower-case name in wire form. */
  hashWireName(name: Uint8Array): number {
    return hashName(name, this.#atoms.slice(HEADER.KEYS, HEADER.KEYS + HASH_KEYS));
  }

  /** Call it after receiving a batch, before the first `answer`: memory read from now on stays valid until `leave`. */
  enter(): void {
    Atomics.add(this.#views.atoms, this.#epoch, 1);
    this.#counters.beginBatch();
  }

  /** Call it when the answers of a batch are sent. @param milliseconds since its packets came, if measured */
  leave(milliseconds = 0): void {
    Atomics.add(this.#views.atoms, this.#epoch, 1);
    this.#counters.endBatch(milliseconds);
  }

  /**
   * Sets the time that cached answers are judged by: milliseconds of the monotonic clock that all threads share. Once
   * per batch is enough.
   */
  setTime(milliseconds: number): void {
    this.#second = Math.floor(milliseconds / 1000);
  }

  /**
   * Answers the query at `start` by writing the response over it.
   *
   * @param capacity octets of `packet` from `start` on that may be overwritten, at least 512
   * @param transport of the query; bounds the response
   * @param group the listener group that received it
   * @param client where the client's socket address begins in `packet`; read only if clients see different views
   * @returns the response's length, or a `VERDICT`
   */
  answer(
    packet: Uint8Array,
    start: number,
    length: number,
    capacity: number,
    transport: ClientTransport,
    group = 0,
    client = start,
  ): number {
    if (packet !== this.#packet) this.#bind(packet);
    this.route = NO_ROUTE;
    if (this.expired !== 'none') this.expired = 'none';
    if (!this.#viewFinder.admits(group, packet, client)) return VERDICT.DROP;
    if (!isPlainQuery(this.#view, start, length))
      return this.#viewFinder.asksOdd ? VERDICT.ASK : this.#reject(packet, start, length);
    const question = this.#question;
    const parsed = question.parse(packet, this.#view, start, length);
    if (parsed !== PARSED.QUESTION)
      return this.#viewFinder.asksOdd ? VERDICT.ASK : this.#refuse(packet, start, length, parsed);
    const { type, dnsClass } = question;
    this.#response.begin(transport !== 'udp');
    const view = this.#viewFinder.find();
    if (view < 0) return view === NO_VIEW ? this.#refuseAll(start, length, type) : VERDICT.ASK;
    this.#useView(view);
    const limit = this.#response.cuts ? this.#udpSize : MAX_MESSAGE_OCTETS;
    const wished = maxResponseOctets(transport, question.udpSize, limit);
    const max = Math.min(capacity, wished);
    this.#response.cuts ||= wished <= capacity;
    this.#searching.client = client;
    const isOfRecords =
      dnsClass === CLASS.IN && (type < FIRST_META_TYPE || type === TYPE.ANY || type > LAST_META_TYPE);
    const answered =
      isOfRecords && type !== TYPE.OPT ? this.#lookUp(start, max) : this.#refuseOther(start, type, dnsClass);
    if (answered > 0) {
      const outcome =
        this.#outcomes === NO_OUTCOME
          ? this.#outcome
          : this.#outcomes + this.#viewFinder.toViewPath(packet, client, transport);
      const flags = this.#view.getUint16(start + 2);
      this.#counters.count(type, flags, outcome, answered, length, question.dnssecOk);
    }
    return answered;
  }

  /** Refuses a name that is in no block of the client. */
  #refuseAll(start: number, length: number, type: number): number {
    const answered = this.#response.writeCode(start, RCODE.REFUSED, false);
    this.#counters.count(type, RCODE.REFUSED, NO_OUTCOME, answered, length, this.#question.dnssecOk);
    return answered;
  }

  #useView(view: number): void {
    const atoms = this.#atoms;
    const directory = (atoms[HEADER.VIEWS] ?? 0) << (UNIT_SHIFT - 2);
    this.#record = (atoms[directory + view] ?? 0) << (UNIT_SHIFT - 2);
    this.#flags = atoms[this.#record + (VIEW.CACHE >> 2)] ?? 0;
    this.#outcomes = atoms[this.#record + (VIEW.OUTCOMES >> 2)] ?? NO_OUTCOME;
    this.#response.repeatsOpt = (this.#flags & VIEW_FLAG.REPEATS_OPT) !== 0;
    this.#response.cuts = (this.#flags & VIEW_FLAG.GIVES_OFFERED_SIZE) === 0;
    this.#response.rotates = (this.#flags & VIEW_FLAG.ROTATES) !== 0;
    this.#question.boundUdpSize(this.#words[this.#record + (VIEW.UDP_SIZE >> 2)] ?? 0);
  }

  #lookUp(start: number, max: number): number {
    const atoms = this.#atoms;
    const record = this.#record;
    if (this.#question.hasOptions && !this.#passesOptions(start, max)) return VERDICT.ASK;
    const rules = atoms[record + (VIEW.RULES >> 2)] ?? 0;
    if (rules !== 0) {
      const asked = matchAskRules(this.#views, (record << 2) + rules, this.#question);
      if ((asked & ASKED.ALWAYS) !== 0) return VERDICT.ASK;
      this.#question.isBeforeCache = (asked & ASKED.BEFORE_CACHE) !== 0;
      this.#question.isOverIpv6 =
        (asked & ASKED.BY_FAMILY) !== 0 && this.#viewFinder.isOverIpv6(this.#packet, this.#searching.client);
      if ((asked & ASKED.CACHED) !== 0) return this.#answerCachedOrAsk(start, max);
      this.#asksIfMissing = (asked & ASKED.IF_MISSING) !== 0;
    } else this.#asksIfMissing = false;
    const { hash, nameLength } = this.#question;
    const count = atoms[record + (VIEW.COUNT >> 2)] ?? 0;
    const route = atoms[record + (VIEW.ROUTE >> 2)] ?? NO_ROUTE;
    // Without a route an open question is for the chain anyway, so the last publication need not say so.
    const decided = route === NO_ROUTE ? count - 1 : count;
    let isConcerned = false;
    for (let index = 0; index < count; index++) {
      if (index > 0 && this.#outcomes !== NO_OUTCOME) this.#outcomes += NODE_OUTCOMES * VIEW_PATHS;
      const publication = (atoms[record + (VIEW.PUBLICATIONS >> 2) + index] ?? 0) << (UNIT_SHIFT - 2);
      if (atoms[publication + (PUBLICATION.NODES >> 2)] === 0) continue;
      const block = atoms[publication + (PUBLICATION.RECORDS >> 2)] ?? 0;
      if (block !== 0) {
        const composed = this.#compose(block << UNIT_SHIFT, publication, start, max);
        if (composed !== NEXT) return composed;
      }
      const salt = atoms[publication + (PUBLICATION.SALT >> 2)] ?? 0;
      const id = atoms[publication + (PUBLICATION.ID >> 2)] ?? 0;
      const node = this.#finder.find(finishHash(hash ^ salt), 0, encodeShape(nameLength, KIND.NODE, id));
      if (node === 0 && !isInScope(atoms, publication, this.#question, index >= decided)) continue;
      const answered =
        node === 0 ? this.#answerMissing(publication, start, max) : this.#answerFromNode(start, max, node);
      if (answered !== NEXT) return answered;
      isConcerned ||= node !== 0;
    }
    const answered = this.#answerCachedOrAsk(start, max);
    if (answered === VERDICT.ASK && !isConcerned && !this.#asksIfMissing) this.route = route;
    return answered;
  }

  /** Prepares for the options of the query. @returns whether they may be passed over */
  #passesOptions(start: number, max: number): boolean {
    if ((this.#flags & VIEW_FLAG.ASKS_WITH_OPTIONS) !== 0) return false;
    return !this.#response.repeatsOpt || this.#response.repeatOptions(start, max);
  }

  /** Answers for a name from records. @param block its octet */
  #compose(block: number, publication: number, start: number, max: number): number {
    const composer = this.#composer;
    const response = this.#response;
    const composed = this.#composeName(block, publication, start, max);
    if (composed === COMPOSED.NEXT) return NEXT;
    this.#outcome = composer.outcome;
    if (composed === COMPOSED.RECORDS || composed === COMPOSED.HELD) {
      const length = response.writeComposed(start, composer.composition, this.#offersRecursion);
      return composer.isStale ? this.#explainStale(start, length, max) : length;
    }
    const settings = this.#settingsOfZone(composer.zone);
    const flags = this.#words[(settings + ZONE.FLAGS) >> 2] ?? 0;
    const isMinimal = (flags & ZONE_FLAG.ANY_MINIMAL) !== 0;
    if (this.#question.type === TYPE.ANY && !isMinimal) return this.#refuseAny(start, flags);
    if (composed === COMPOSED.ASK) return this.#answerCachedOrAsk(start, max);
    if ((flags & ZONE_FLAG.KNOWN) === 0) return this.#fail(start, max);
    if (composed === COMPOSED.MADE)
      return response.writeComposed(start, composer.composition, this.#offersRecursion);
    if (composed === COMPOSED.NODATA) {
      if (this.#question.type === TYPE.ANY) return response.writeMinimalAny(start, this.#offersRecursion);
      return this.#deny(start, max, settings, RCODE.NOERROR);
    }
    if ((flags & ZONE_FLAG.ASK_WILDCARDS) !== 0 && this.#question.hasWildcard(composer.missing))
      return this.#answerCachedOrAsk(start, max);
    if (this.#asksIfMissing) return this.#searchOrAsk(start, max, settings);
    return this.#deny(start, max, settings, RCODE.NXDOMAIN);
  }

  /** Searches in place of the client for another name than the one that was denied. @param settings of the name's zone */
  #searchOrAsk(start: number, max: number, settings: number): number {
    const { type } = this.#question;
    const isOpen = (this.#atoms[this.#record + (VIEW.SEARCH_LISTS >> 2)] ?? 0) === 0;
    if (isOpen || (type !== TYPE.A && type !== TYPE.AAAA)) return this.#answerCachedOrAsk(start, max);
    const searching = this.#searching;
    searching.packet = this.#packet;
    searching.start = start;
    searching.max = max;
    searching.record = this.#record;
    searching.flags = this.#flags;
    searching.second = this.#second;
    const found = this.#search.search(searching);
    if (found === SEARCHED.PASSED) return this.#deny(start, max, settings, RCODE.NXDOMAIN);
    if (this.#outcomes !== NO_OUTCOME)
      this.#outcomes = (this.#words[this.#record + (VIEW.SEARCH_OUTCOMES >> 2)] ?? 0) + this.#search.outcome;
    if (found !== SEARCHED.MISSING) return found;
    return this.#response.writeNegative(start, max, settings, RCODE.NXDOMAIN, this.#offersRecursion);
  }

  /** @returns of `COMPOSED` */
  #composeName(block: number, publication: number, start: number, max: number): number {
    return this.#composer.compose(
      block,
      this.#atoms[publication + (PUBLICATION.ID >> 2)] ?? 0,
      this.#atoms[publication + (PUBLICATION.SALT >> 2)] ?? 0,
      this.#question,
      this.#question.end - start,
      this.#response.freeOctets(start, max),
      this.#response.rotates,
      this.#packet,
      this.#searching.client,
    );
  }

  #bind(packet: Uint8Array): void {
    this.#packet = packet;
    this.#view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
    this.#response.bind(packet, this.#view);
  }

  #reject(packet: Uint8Array, start: number, length: number): number {
    const accepted = accept(packet, start, length);
    if (accepted === ACCEPT.DROP) return VERDICT.DROP;
    return this.#writeError(packet, start, length, accepted === ACCEPT.NOTIMP ? RCODE.NOTIMP : RCODE.FORMERR);
  }

  /** @param parsed why the query cannot be answered, of `PARSED` */
  #refuse(packet: Uint8Array, start: number, length: number, parsed: number): number {
    const rcode = parsed === PARSED.BAD_VERSION ? RCODE.BADVERS : RCODE.FORMERR;
    return this.#writeError(packet, start, length, rcode);
  }

  #writeError(packet: Uint8Array, start: number, length: number, rcode: number): number {
    const answered = writeErrorResponse(packet, start, length, rcode, this.#udpSize);
    // The question is unusable: count it as type "other", without an outcome.
    this.#counters.count(TYPE_OTHER, rcode & 15, NO_OUTCOME, answered, length, false);
    return answered;
  }

  /** Answers a question that is not about records of class IN: with an error code if the view says so. */
  #refuseOther(start: number, type: number, dnsClass: number): number {
    const flags = this.#flags;
    if ((flags & VIEW_FLAG.REFUSES_OTHERS) === 0) return VERDICT.ASK;
    if (dnsClass === CLASS.CH && (flags & VIEW_FLAG.ASKS_CHAOS) !== 0) return VERDICT.ASK;
    const outcomes = this.#words[this.#record + (VIEW.REFUSALS >> 2)] ?? 0;
    this.#outcome = dnsClass === CLASS.CH ? outcomes & 0xffff : outcomes >>> 16;
    const code = dnsClass === CLASS.IN ? (codeOfMetaType(type) ?? RCODE.REFUSED) : RCODE.REFUSED;
    return this.#response.writeCode(start, code, this.#offersRecursion);
  }

  #locateNodeSettings(node: number): number {
    return this.#settingsOfZone((this.#words[(node + NODE.ZONE) >> 2] ?? 0) & 0xffff);
  }

  #settingsOfZone(zone: number): number {
    const atoms = this.#atoms;
    const directory = (atoms[HEADER.ZONES] ?? 0) << (UNIT_SHIFT - 2);
    return (atoms[directory + zone] ?? 0) << UNIT_SHIFT;
  }

  get #offersRecursion(): boolean {
    return (this.#flags & VIEW_FLAG.RECURSION_AVAILABLE) !== 0;
  }

  #answerFromNode(start: number, max: number, node: number): number {
    const words = this.#words;
    const { type } = this.#question;
    const meaning = words[(node + NODE.MEANING) >> 2] ?? 0;
    const settings = this.#locateNodeSettings(node);
    const flags = words[(settings + ZONE.FLAGS) >> 2] ?? 0;
    this.#outcome = meaning >>> 16;
    let entry = (node + NODE.TYPES) >> 2;
    for (let left = (words[(node + NODE.ZONE) >> 2] ?? 0) >>> 16; left > 0; left--, entry += 2) {
      if (words[entry] !== type) continue;
      const body = node + (words[entry + 1] ?? 0);
      const length = this.#response.writeBody(start, max, body, this.#offersRecursion);
      return ((words[body >> 2] ?? 0) & BODY_STALE) === 0 ? length : this.#explainStale(start, length, max);
    }
    if (type === TYPE.ANY && (flags & ZONE_FLAG.ANY_MINIMAL) === 0) return this.#refuseAny(start, flags);
    if ((flags & ZONE_FLAG.KNOWN) === 0) return this.#fail(start, max);
    const otherTypes = (meaning >>> 8) & 0xff;
    if (otherTypes === OTHER_TYPES.NEXT) return NEXT;
    if (otherTypes === OTHER_TYPES.NODATA && type === TYPE.ANY)
      return this.#response.writeMinimalAny(start, this.#offersRecursion);
    if (otherTypes === OTHER_TYPES.NODATA) return this.#deny(start, max, settings, RCODE.NOERROR);
    return (flags & ZONE_FLAG.CACHES_OPEN_TYPES) === 0 ? VERDICT.ASK : this.#answerCachedOrAsk(start, max);
  }

  /** Answers by the closest encloser: the first node on the way up to the root (RFC 4592 section 3.3.1). */
  #answerMissing(publication: number, start: number, max: number): number {
    const atoms = this.#atoms;
    const words = this.#words;
    const question = this.#question;
    const maxLabels = atoms[publication + (PUBLICATION.MAX_LABELS >> 2)] ?? 0;
    const salt = atoms[publication + (PUBLICATION.SALT >> 2)] ?? 0;
    const id = atoms[publication + (PUBLICATION.ID >> 2)] ?? 0;
    for (let skipped = Math.max(1, question.labels - maxLabels); skipped <= question.labels; skipped++) {
      const length = question.nameLength - (question.labelStarts[skipped] ?? 0);
      const hash = finishHash(question.hashWithout(skipped) ^ salt);
      const node = this.#finder.find(hash, skipped, encodeShape(length, KIND.NODE, id));
      if (node === 0) continue;
      const settings = this.#locateNodeSettings(node);
      const flags = words[(settings + ZONE.FLAGS) >> 2] ?? 0;
      const meaning = words[(node + NODE.MEANING) >> 2] ?? 0;
      this.#outcome = meaning >>> 16;
      if (question.type === TYPE.ANY && (flags & ZONE_FLAG.ANY_MINIMAL) === 0)
        return this.#refuseAny(start, flags);
      if ((flags & ZONE_FLAG.KNOWN) === 0) return this.#fail(start, max);
      if (isLeftToChain(meaning & 0xff, skipped) || (flags & ZONE_FLAG.MISSING_ASK) !== 0)
        return this.#answerCachedOrAsk(start, max);
      if ((flags & ZONE_FLAG.ASK_WILDCARDS) !== 0 && question.hasWildcard(skipped))
        return this.#answerCachedOrAsk(start, max);
      if ((flags & ZONE_FLAG.MISSING_NEXT) !== 0) return NEXT;
      if (this.#asksIfMissing) return this.#answerCachedOrAsk(start, max);
      return this.#deny(start, max, settings, RCODE.NXDOMAIN);
    }
    return NEXT;
  }

  /** @param settings of the name's zone */
  #deny(start: number, max: number, settings: number, rcode: number): number {
    if (this.#outcomes !== NO_OUTCOME) this.#outcomes += VIEW_PATHS;
    return this.#response.writeNegative(start, max, settings, rcode, this.#offersRecursion);
  }

  /** A question for ANY in a zone without minimal answers to it. @param flags of the zone */
  #refuseAny(start: number, flags: number): number {
    if ((flags & ZONE_FLAG.ANY_REFUSED) === 0) return VERDICT.ASK;
    return this.#response.writeCode(start, RCODE.REFUSED, this.#offersRecursion);
  }

  /** The objects that the zone is made from are not listed yet. */
  #fail(start: number, max: number): number {
    const length = this.#response.writeCode(start, RCODE.SERVFAIL, this.#offersRecursion);
    if ((this.#flags & VIEW_FLAG.EXTENDED_ERRORS) === 0) return length;
    return this.#response.addExtendedError(start, length, max, EXTENDED_ERROR.NOT_READY);
  }

  #answerCachedOrAsk(start: number, max: number): number {
    const entry = this.#findCached();
    if (entry === 0) return VERDICT.ASK;
    const words = this.#words;
    const { octets } = this.#views;
    const flags = words[(entry + CACHED.FLAGS) >> 2] ?? 0;
    const body = entry + (words[(entry + CACHED.BODY) >> 2] ?? 0);
    this.#outcome = words[(entry + CACHED.OUTCOME) >> 2] ?? 0;
    if (this.#outcomes !== NO_OUTCOME)
      this.#outcomes = (words[this.#record + (VIEW.CACHED_OUTCOMES >> 2)] ?? 0) + this.#outcome * VIEW_PATHS;
    // Without RD the client asks for no recursion, so its query does not mark the entry as used.
    const isDesired = (this.#view.getUint8(start + 2) & RECURSION_DESIRED) !== 0;
    if (isDesired && octets[this.#finder.recencyAt] === 0) octets[this.#finder.recencyAt] = 1;
    const recursion = (flags & CACHED_FLAG.RECURSION_AVAILABLE) !== 0;
    const age = this.#second - (words[(entry + CACHED.STORED) >> 2] ?? 0);
    const length = this.#response.writeBody(start, max, body, recursion);
    // If the chain is asked, the packet and those after it are unchanged.
    if (length > 0 && (age > 0 || this.#boundsTtls)) this.#countDown(entry, flags >>> 16, age);
    if (length <= 0 || !this.#question.hasOpt) return length;
    const explained =
      (this.#flags & VIEW_FLAG.EXTENDED_ERRORS) === 0
        ? length
        : this.#explainCached(start, length, max, entry);
    if ((flags & CACHED_FLAG.PASSED_ERRORS) === 0) return explained;
    return this.#response.addPassedErrors(start, length, explained, max, endOfBody(words, body));
  }

  /** Says that a composed answer may be out of date. @param length of the response, or a verdict */
  #explainStale(start: number, length: number, max: number): number {
    const isWanted = this.#question.hasOpt && (this.#flags & VIEW_FLAG.EXTENDED_ERRORS) !== 0;
    if (length <= 0 || !isWanted) return length;
    return this.#response.addExtendedError(start, length, max, EXTENDED_ERROR.STALE_ANSWER);
  }

  /** Adds an extended error to a cached answer that is a failure, or stale. */
  #explainCached(start: number, length: number, max: number, entry: number): number {
    const freshUntil = this.#words[(entry + CACHED.FRESH_UNTIL) >> 2] ?? 0;
    const rcode = (this.#words[(entry + (this.#words[(entry + CACHED.BODY) >> 2] ?? 0)) >> 2] ?? 0) & 0x0f;
    const code = extendedErrorOfCached(rcode, freshUntil <= this.#second);
    return code === undefined ? length : this.#response.addExtendedError(start, length, max, code);
  }

  /** Subtracts the age of an entry from every TTL in the response, and caps it. */
  #countDown(entry: number, count: number, age: number): void {
    const { octets } = this.#views;
    const offsets = entry + CACHED.NAME + padded(this.#question.nameLength);
    for (let index = 0; index < count; index++) {
      const where = offsets + index * 2;
      const at = this.#question.end + ((octets[where] ?? 0) | ((octets[where + 1] ?? 0) << 8));
      if (at + 4 > this.#response.recordsEnd) return;
      const left = Math.max(0, this.#view.getUint32(at) - Math.max(0, age));
      this.#view.setUint32(at, Math.min(left, this.#maxTtl));
    }
  }

  #findCached(): number {
    const atoms = this.#atoms;
    const words = this.#words;
    const question = this.#question;
    const salt = atoms[this.#record + (VIEW.SALT >> 2)] ?? 0;
    const entry = this.#finder.find(
      question.hashOfQuestion(salt),
      0,
      encodeShape(question.nameLength, KIND.CACHED, this.#flags & 0xffff),
    );
    if (entry === 0) return 0;
    const expires = words[(entry + CACHED.EXPIRES) >> 2] ?? 0;
    const freshUntil = words[(entry + CACHED.FRESH_UNTIL) >> 2] ?? 0;
    const isHeld = ((words[(entry + CACHED.FLAGS) >> 2] ?? 0) & CACHED_FLAG.HELD_ONCE_STALE) !== 0;
    if (expires <= this.#second) {
      this.expired = freshUntil < expires && !isHeld ? 'rechecked' : 'recent';
      return 0;
    }
    if (isHeld && freshUntil <= this.#second) {
      this.expired = 'held';
      return 0;
    }
    return isCurrent(this.#views, entry) ? entry : 0;
  }
}

/** @param entry a cached answer, as an octet */
function isCurrent({ atoms }: TableViews, entry: number): boolean {
  if (((atoms[(entry + CACHED.FLAGS) >> 2] ?? 0) & CACHED_FLAG.HAS_SOURCES) === 0) return true;
  const sources = (entry + (atoms[(entry + CACHED.BODY) >> 2] ?? 0) - SOURCES.OCTETS) >> 2;
  return (
    atoms[sources] === atoms[HEADER.PLAN_EPOCH] &&
    isAsItWas(atoms, atoms[sources + 1] ?? 0, atoms[sources + 2] ?? 0) &&
    isAsItWas(atoms, atoms[sources + 3] ?? 0, atoms[sources + 4] ?? 0)
  );
}

function isAsItWas(atoms: Int32Array, publication: number, epoch: number): boolean {
  if (publication === NO_PUBLICATION) return true;
  const directory = (atoms[HEADER.PUBLICATIONS] ?? 0) << (UNIT_SHIFT - 2);
  const record = (atoms[directory + publication] ?? 0) << (UNIT_SHIFT - 2);
  return record !== 0 && atoms[record + (PUBLICATION.EPOCH >> 2)] === epoch;
}
