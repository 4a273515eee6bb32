/**
 * Gives whole zones to secondary servers (AXFR, RFC 5936), and notifies them of changes (RFC 1996).
 *
 * IXFR is answered with the whole zone, or with its SOA record if the client has the same serial (RFC 1995 section 4).
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { findClosest } from '@portolan/dns/name.ts';
import { isNewer } from '@portolan/dns/serial.ts';
import { type Message, type NameKey, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { anyName } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { NamedSecret } from '../tsig/options.ts';
import { notifySecondary } from './notify.ts';
import type { TransferOptions, TransferRule } from './options.ts';
import type { TransferableZone, TransferSource } from './transfer-source.ts';

export interface TransferDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** A key of `tsig` in the block. Default: there is none. */
  readonly keyNamed?: (name: NameKey) => NamedSecret | undefined;
  /** The deviations in which answers are those of CoreDNS. */
  readonly restored: RestoredDeviations;
}

/** Octets of the records in one message: with header and question it stays below 64 KiB. */
const MESSAGE_OCTETS = 63_000;
const TRANSFERS: ReadonlySet<number> = new Set([TYPE.AXFR, TYPE.IXFR]);

export class Transfer {
  readonly handler: Handler;
  readonly #rules: readonly TransferRule[];
  readonly #dependencies: TransferDependencies;
  /** Whether a question for IXFR over UDP gets the SOA record. */
  readonly #answersShort: boolean;
  readonly #sources: TransferSource[] = [];
  #isServing = false;
  #isStopped = false;

  constructor({ rules }: TransferOptions, dependencies: TransferDependencies) {
    this.#rules = rules;
    this.#dependencies = dependencies;
    this.#answersShort = !dependencies.restored.has('ixfr-over-udp');
    this.handler = {
      name: 'transfer',
      role: 'other',
      questions: anyName(TRANSFERS),
      answers: 'unchanged',
      handle: (query, next) => (TRANSFERS.has(query.question.type) ? this.#handle(query, next) : next(query)),
    };
  }

  /** A plugin of the same block whose zones may be transferred. */
  add(source: TransferSource): void {
    this.#sources.push(source);
  }

  /** Secondary servers ask back at once, so they are notified when queries are received. */
  serving(): void {
    this.#isServing = true;
    for (const source of this.#sources) for (const origin of source.origins()) this.notify(origin);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** A zone has changed, or is served from now on. */
  notify(zone: NameKey): void {
    const rule = this.#ruleFor(zone);
    if (!this.#isServing || rule === undefined) return;
    for (const secondary of rule.secondaries) void this.#notify(zone, secondary, rule);
  }

  async #notify(
    zone: NameKey,
    secondary: TransferRule['secondaries'][number],
    { source, key: keyName }: TransferRule,
  ): Promise<void> {
    const { clock, log, keyNamed } = this.#dependencies;
    const key = keyName && keyNamed?.(keyName);
    const fault = await notifySecondary({ zone, secondary, source, clock, key });
    if (fault !== undefined && !this.#isStopped) log.warn(`plugin/transfer: ${fault}`);
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    query.forbidStoring();
    const client = query.dependOnClient();
    const isWhole = client.transport !== 'udp' && client.send !== undefined;
    const mayBeShort = query.question.type === TYPE.IXFR && this.#answersShort;
    if (!isWhole && !mayBeShort) return { kind: 'refused' };
    const rule = this.#ruleFor(query.key);
    if (rule === undefined) return next(query);
    if (!isAllowed(rule, client.address)) return { ...EMPTY_ANSWER, rcode: RCODE.REFUSED };
    const serial = readSerial(query);
    if (serial === 'missing') return { kind: 'servfail' };
    const zone = this.#zoneAt(query.key, client.address);
    if (zone?.soa === undefined) return next(query);
    const isCurrent = serial !== undefined && !isNewer(zone.serial ?? 0, serial);
    if (isCurrent) return this.#sayCurrent(query, zone.soa);
    // Over UDP, a newer SOA record makes the client ask over TCP (RFC 1995 section 2).
    return isWhole
      ? this.#send(query, zone, zone.soa)
      : { ...EMPTY_ANSWER, authoritative: true, answers: [zone.soa] };
  }

  #zoneAt(origin: NameKey, client: string): TransferableZone | undefined {
    for (const source of this.#sources) {
      const zone = source.zoneAt(origin, client);
      if (zone !== undefined) return zone;
    }
    return undefined;
  }

  #sayCurrent(query: Query, soa: ResourceRecord): Answer {
    this.#log(query, 'noop, incremental transfer for up to date zone', soa);
    return { ...EMPTY_ANSWER, answers: [soa] };
  }

  #send(query: Query, zone: TransferableZone, soa: ResourceRecord): Answer {
    const batches = splitIntoBatches(surround(soa, zone.records()));
    const { value: first = [] } = batches.next();
    const end = (records: number) => this.#log(query, `transfer of ${records} records of zone`, soa);
    return {
      ...EMPTY_ANSWER,
      authoritative: true,
      answers: first,
      following: countTo(first.length, batches, end),
    };
  }

  #log({ question, sender }: Query, what: string, { data }: ResourceRecord): void {
    const serial = data.kind === 'SOA' ? data.serial : 0;
    this.#dependencies.log.info(
      `plugin/transfer: Outgoing ${what} "${question.name}" to ${sender.address} for ${serial} SOA serial`,
    );
  }

  #ruleFor(name: NameKey): TransferRule | undefined {
    return findClosest(name, (at) => this.#rules.find(({ zones }) => zones.includes(at)));
  }
}

function isAllowed({ toAll, secondaries }: TransferRule, client: string): boolean {
  const address = client.replace(/^::ffff:(?=\d+\.)/, '');
  return toAll || secondaries.some((secondary) => secondary.address === address);
}

/** The serial of the client's zone in a question for IXFR; undefined: a question for AXFR. */
function readSerial({ question, authorities }: Query): number | 'missing' | undefined {
  if (question.type !== TYPE.IXFR) return undefined;
  const [record, ...more] = authorities;
  return record?.data.kind === 'SOA' && more.length === 0 ? record.data.serial : 'missing';
}

/** The SOA record comes first and last (RFC 5936 section 2.2). */
function* surround(soa: ResourceRecord, records: Iterable<ResourceRecord>): Generator<ResourceRecord> {
  yield soa;
  yield* records;
  yield soa;
}

/** The records in as few messages as possible. */
function* splitIntoBatches(
  records: Iterable<ResourceRecord>,
): Generator<readonly ResourceRecord[], undefined> {
  let batch: ResourceRecord[] = [];
  let octets = 0;
  for (const record of records) {
    const length = computeRecordSize(record);
    if (batch.length > 0 && octets + length > MESSAGE_OCTETS) {
      yield batch;
      batch = [];
      octets = 0;
    }
    batch.push(record);
    octets += length;
  }
  yield batch;
  return undefined;
}

/** @param onEnd called with the number of all records, when the last batch is taken */
function* countTo(
  before: number,
  batches: Iterable<readonly ResourceRecord[]>,
  onEnd: (records: number) => void,
): Generator<readonly ResourceRecord[]> {
  let records = before;
  for (const batch of batches) {
    records += batch.length;
    yield batch;
  }
  onEnd(records);
}

const HEADER: Message['header'] = {
  id: 0,
  response: true,
  opcode: 0,
  rcode: 0,
  authoritative: false,
  truncated: false,
  recursionDesired: false,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
};

/** Octets of a record without compression, and a header's more. */
function computeRecordSize(record: ResourceRecord): number {
  const sections = { questions: [], answers: [record], authorities: [], additionals: [], edns: undefined };
  return encodeMessage({ header: HEADER, ...sections }, { compresses: false }).length;
}
