/**
 * Answers queries from the table where they lie. One per reader thread, and one on the main thread for TCP.
 *
 * The order of a look-up: the name's node; else a cached answer; else the closest enclosing node says whether the name
 * can exist. Nothing here allocates on the way of a hit, waits, or throws, whatever the packet holds.
 */
import { ACCEPT, accept, writeErrorResponse } from '../wire/acceptance.ts';
import { CLASS, RCODE } from '../wire/types.ts';
import { Counters } from './counters.ts';
import { finishHash, finishQuestion } from './hash.ts';
import {
  BELOW_ASK_ANY,
  BELOW_COMPLETE,
  CACHED,
  CACHED_FLAG,
  EMPTY,
  epochOf,
  HEADER,
  KIND,
  LONGEST_TTL,
  NODE,
  PAGE_SHIFT,
  PROBES,
  padded,
  REMOVED,
  TERMS,
  TERMS_FLAG,
  UNIT_SHIFT,
} from './layout.ts';
import { type TableViews, viewTable } from './memory.ts';
import { PARSED, QuestionReader } from './question.ts';
import { ResponseWriter, TCP_LIMIT } from './response.ts';
import { VERDICT } from './types.ts';

const UDP_WITHOUT_EDNS = 512;
/** Header, root, type and class. */
const LEAST_QUERY = 17;
/** QR and the opcode in the third octet. */
const NOT_A_QUERY = 0xf8;
/** QDCOUNT 1 and ANCOUNT 0, as one number. */
const ONE_QUESTION = 0x00010000;
/** From here on types are questions about the server or the zone, not records (RFC 6895 section 3.1). */
const FIRST_META_TYPE = 249;
const LAST_META_TYPE = 255;
const TYPE_OPT = 41;
const TYPE_OTHER = 0;

export class TableReader {
  readonly #views: TableViews;
  readonly #epoch: number;
  readonly #mostTtl: number;
  readonly #boundsTtls: boolean;
  readonly #question: QuestionReader;
  readonly #response: ResponseWriter;
  readonly #counters: Counters;
  #second = 0;
  /** The memory of the packet at hand, which for a reader thread is always the same. */
  #packet: Uint8Array = new Uint8Array();
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** The slot of the entry that `#find` found, for its recency octet. */
  #recencyAt = 0;
  /** What the answer at hand stands for. */
  #metricsId = 0;

  /**
   * @param reader this reader's number, below the table's number of readers (the main thread may use any of its own)
   * @param udpSize what OPT records tell clients of our own limit
   */
  constructor(memory: SharedArrayBuffer, reader: number, udpSize = 1232) {
    this.#views = viewTable(memory);
    this.#question = new QuestionReader(Atomics.load(this.#views.atoms, HEADER.SEED));
    this.#epoch = epochOf(reader);
    this.#mostTtl = this.#views.words[HEADER.MOST_TTL] ?? 0;
    this.#boundsTtls = this.#mostTtl < LONGEST_TTL;
    this.#response = new ResponseWriter(this.#views, this.#question, udpSize);
    this.#counters = new Counters(memory, reader);
  }

  /** Call after a batch was received, before its first `answer`: memory seen from now on stays until `leave`. */
  enter(): void {
    Atomics.add(this.#views.atoms, this.#epoch, 1);
    this.#counters.beginBatch();
  }

  /** Call when the answers of a batch are sent. @param milliseconds since its packets came, where that is measured */
  leave(milliseconds = 0): void {
    Atomics.add(this.#views.atoms, this.#epoch, 1);
    this.#counters.endBatch(milliseconds);
  }

  /** The time that cached answers are judged by: milliseconds since the epoch. Once per batch is enough. */
  setTime(milliseconds: number): void {
    this.#second = Math.floor(milliseconds / 1000);
  }

  /**
   * Answers the query at `start` by writing the response over it.
   *
   * @param capacity octets of `packet` from `start` on that may be written
   * @param limit the server's own maximum for UDP, or `TCP_LIMIT`
   * @returns the response's length, or a `VERDICT`
   */
  answer(packet: Uint8Array, start: number, length: number, capacity: number, limit: number): number {
    if (packet !== this.#packet) this.#bind(packet);
    if (!this.#isPlain(start, length)) return this.#reject(packet, start, length);
    const question = this.#question;
    const parsed = question.parse(packet, this.#view, start, length);
    if (parsed === PARSED.BROKEN) return this.#reject(packet, start, length);
    const { type, dnsClass } = question;
    if (parsed === PARSED.UNUSUAL || dnsClass !== CLASS.IN || type === TYPE_OPT) return VERDICT.ASK;
    if (type >= FIRST_META_TYPE && type <= LAST_META_TYPE) return VERDICT.ASK;
    const answered = this.#lookUp(start, Math.min(capacity, this.#largest(limit)));
    if (answered > 0) this.#counters.count(type, this.#view.getUint16(start + 2), this.#metricsId, answered);
    return answered;
  }

  #lookUp(start: number, most: number): number {
    const node = this.#find(finishHash(this.#question.running), 0, KIND.NODE);
    if (node !== 0) return this.#answerFromNode(start, most, node);
    const cached = this.#findCached();
    if (cached !== 0) return this.#answerFromCache(start, most, cached);
    return this.#answerMissing(start, most);
  }

  #bind(packet: Uint8Array): void {
    this.#packet = packet;
    this.#view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
    this.#response.bind(packet, this.#view);
  }

  /** Whether a packet can be a query of one question: the header alone, in as few looks as possible. */
  #isPlain(start: number, length: number): boolean {
    if (length < LEAST_QUERY) return false;
    return (
      (this.#view.getUint8(start + 2) & NOT_A_QUERY) === 0 && this.#view.getInt32(start + 4) === ONE_QUESTION
    );
  }

  #reject(packet: Uint8Array, start: number, length: number): number {
    const accepted = accept(packet, start, length);
    if (accepted === ACCEPT.DROP) return VERDICT.DROP;
    const rcode = accepted === ACCEPT.NOTIMP ? RCODE.NOTIMP : RCODE.FORMERR;
    const answered = writeErrorResponse(packet, start, length, rcode);
    // Not even a question: type "other", and it stands for nothing.
    this.#counters.count(TYPE_OTHER, rcode, 0, answered);
    return answered;
  }

  #largest(limit: number): number {
    if (limit === TCP_LIMIT) return TCP_LIMIT;
    if (!this.#question.hasOpt) return UDP_WITHOUT_EDNS;
    return Math.max(UDP_WITHOUT_EDNS, Math.min(this.#question.udpSize, limit));
  }

  #termsOf(node: number): number {
    const zone = (this.#views.words[(node + NODE.ZONE) >> 2] ?? 0) & 0xff;
    return Atomics.load(this.#views.atoms, HEADER.ZONES + zone) << UNIT_SHIFT;
  }

  #answerFromNode(start: number, most: number, node: number): number {
    const { words } = this.#views;
    const { type } = this.#question;
    const shape = words[(node + NODE.SHAPE) >> 2] ?? 0;
    const zone = words[(node + NODE.ZONE) >> 2] ?? 0;
    const terms = this.#termsOf(node);
    const flags = words[(terms + TERMS.FLAGS) >> 2] ?? 0;
    const recursion = (flags & TERMS_FLAG.RECURSION_AVAILABLE) !== 0;
    this.#metricsId = (zone >> 8) & 0x0f;
    let entry = (node + NODE.TYPES) >> 2;
    for (let left = zone >>> 16; left > 0; left--, entry += 2) {
      if (words[entry] !== type) continue;
      const body = node + (words[entry + 1] ?? 0);
      return this.#response.writeBody(start, most, body, recursion);
    }
    if ((flags & TERMS_FLAG.KNOWN) === 0) return this.#response.writeCode(start, RCODE.SERVFAIL, recursion);
    if (shape >>> 24 !== 0) return this.#answerOpenType(start, most, flags);
    return this.#response.writeNegative(start, most, terms, RCODE.NOERROR);
  }

  #answerOpenType(start: number, most: number, flags: number): number {
    const cached = (flags & TERMS_FLAG.CACHES_OPEN_TYPES) === 0 ? 0 : this.#findCached();
    return cached === 0 ? VERDICT.ASK : this.#answerFromCache(start, most, cached);
  }

  /** The closest encloser decides: the first node on the way up to the root (RFC 4592 section 3.3.1). */
  #answerMissing(start: number, most: number): number {
    const { words, atoms } = this.#views;
    const question = this.#question;
    const mostLabels = Atomics.load(atoms, HEADER.MOST_LABELS);
    for (let skipped = Math.max(1, question.labels - mostLabels); skipped <= question.labels; skipped++) {
      const node = this.#find(question.hashWithout(skipped), skipped, KIND.NODE);
      if (node === 0) continue;
      const terms = this.#termsOf(node);
      const flags = words[(terms + TERMS.FLAGS) >> 2] ?? 0;
      const recursion = (flags & TERMS_FLAG.RECURSION_AVAILABLE) !== 0;
      this.#metricsId = ((words[(node + NODE.ZONE) >> 2] ?? 0) >> 8) & 0x0f;
      if ((flags & TERMS_FLAG.KNOWN) === 0) return this.#response.writeCode(start, RCODE.SERVFAIL, recursion);
      if ((flags & TERMS_FLAG.ASK_WILDCARDS) !== 0 && this.#hasWildcard(skipped)) return VERDICT.ASK;
      const below = ((words[(node + NODE.SHAPE) >> 2] ?? 0) >> 16) & 0xff;
      if (below !== BELOW_COMPLETE && (below === BELOW_ASK_ANY || below === skipped)) return VERDICT.ASK;
      return this.#response.writeNegative(start, most, terms, RCODE.NXDOMAIN);
    }
    return VERDICT.ASK;
  }

  #hasWildcard(skipped: number): boolean {
    const { name, labelStarts } = this.#question;
    for (let label = 0; label < skipped; label++) {
      const at = labelStarts[label] ?? 0;
      if (name[at] === 1 && name[at + 1] === 0x2a) return true;
    }
    return false;
  }

  #answerFromCache(start: number, most: number, entry: number): number {
    const { words, octets } = this.#views;
    const flags = words[(entry + CACHED.FLAGS) >> 2] ?? 0;
    const body = entry + (words[(entry + CACHED.BODY) >> 2] ?? 0);
    this.#metricsId = (flags >> 8) & 0x0f;
    if (octets[this.#recencyAt] === 0) octets[this.#recencyAt] = 1;
    const recursion = (flags & CACHED_FLAG.RECURSION_AVAILABLE) !== 0;
    const age = this.#second - (words[(entry + CACHED.STORED) >> 2] ?? 0);
    const length = this.#response.writeBody(start, most, body, recursion);
    if (age > 0 || this.#boundsTtls) this.#countDown(entry, flags >>> 16, age);
    return length;
  }

  /** Takes the age of an entry off every TTL that was sent, and tells no longer one than clients may be told. */
  #countDown(entry: number, count: number, age: number): void {
    const { octets } = this.#views;
    const offsets = entry + CACHED.NAME + padded(this.#question.nameLength);
    for (let index = 0; index < count; index++) {
      const where = offsets + index * 2;
      const at = this.#question.end + ((octets[where] ?? 0) | ((octets[where + 1] ?? 0) << 8));
      if (at + 4 > this.#response.recordsEnd) return;
      const left = Math.max(0, this.#view.getUint32(at) - Math.max(0, age));
      this.#view.setUint32(at, Math.min(left, this.#mostTtl));
    }
  }

  #findCached(): number {
    const { words } = this.#views;
    const question = this.#question;
    const flags = question.cachedFlags();
    const hash = finishQuestion(question.running, question.type, question.dnsClass, flags);
    const entry = this.#find(hash, 0, KIND.CACHED);
    if (entry === 0 || (words[(entry + CACHED.EXPIRES) >> 2] ?? 0) <= this.#second) return 0;
    return entry;
  }

  /** The block of this kind and hash whose name is the question's without its first labels, or 0. */
  #find(hash: number, skipped: number, kind: number): number {
    const { atoms, words } = this.#views;
    const index = Atomics.load(atoms, HEADER.INDEX);
    const base = (index >>> 5) << (PAGE_SHIFT - 2);
    const mask = (1 << (index & 31)) - 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (hash + probe) & mask;
      const place = Atomics.load(atoms, base + slot);
      if (place === EMPTY) return 0;
      if (place === REMOVED) continue;
      const block = place << UNIT_SHIFT;
      if (atoms[block >> 2] !== hash || (((words[(block + NODE.SHAPE) >> 2] ?? 0) >> 8) & 0xff) !== kind)
        continue;
      if (!this.#matches(block, skipped, kind)) continue;
      this.#recencyAt = ((base + mask + 1) << 2) + slot;
      return block;
    }
    return 0;
  }

  #matches(block: number, skipped: number, kind: number): boolean {
    const { words, octets } = this.#views;
    const question = this.#question;
    const from = question.labelStarts[skipped] ?? 0;
    const length = question.nameLength - from;
    if (((words[(block + NODE.SHAPE) >> 2] ?? 0) & 0xff) !== length) return false;
    let start = block + CACHED.NAME;
    if (kind === KIND.NODE) start = block + NODE.TYPES + ((words[(block + NODE.ZONE) >> 2] ?? 0) >>> 16) * 8;
    else if (!this.#isSameQuestion(block)) return false;
    if (from > 0) {
      for (let at = 0; at < length; at++) if (octets[start + at] !== question.name[from + at]) return false;
      return true;
    }
    const word = start >> 2;
    for (let at = 0, end = padded(length) >> 2; at < end; at++) {
      if (words[word + at] !== question.nameWords[at]) return false;
    }
    return true;
  }

  #isSameQuestion(entry: number): boolean {
    const { words } = this.#views;
    const { type, dnsClass } = this.#question;
    const kept =
      (words[(entry + CACHED.FLAGS) >> 2] ?? 0) & (CACHED_FLAG.DNSSEC_OK | CACHED_FLAG.CHECKING_DISABLED);
    return (
      words[(entry + CACHED.QUESTION) >> 2] === (type | (dnsClass << 16)) >>> 0 &&
      kept === this.#question.cachedFlags()
    );
  }
}
