/**
 * Queries as `tail` and `top` show them: events of all threads, selected, with the source and the reason of each answer.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { matchRanges } from '@portolan/dns/address-range.ts';
import { uint16At } from '@portolan/dns/header.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { isWithin, labelsBelow, toKey } from '@portolan/dns/name.ts';
import { readName } from '@portolan/dns/name-wire.ts';
import { type NameKey, RCODE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { sharedMonotonic } from '@portolan/kernel/listen/query-events/event-ring.ts';
import type {
  EventExplanation,
  ExplainedEvent,
} from '@portolan/server/observe/query-events/explained-event.ts';
import type { Reason } from '@portolan/server/reasons/reason.ts';
import type { StepOutcome } from '@portolan/server/reasons/search-walk.ts';
import type { Explainer } from './explain.ts';
import type { EVENT_SOURCES } from './settings/control-flags.ts';
import type { EventFilter } from './settings/control-order.ts';

/** Readers ignore fields that they do not know. */
export interface WatchedQuery {
  /** RFC 3339. */
  readonly time: string;
  readonly client: string;
  readonly transport: string;
  readonly name: string;
  readonly type: string;
  readonly rcode: string;
  readonly answers: number;
  readonly milliseconds: number;
  /** The namespace of the name or, for names that a search list made, of the client. */
  readonly namespace: string | undefined;
  /** Whether a search list made the name: no service can have it. */
  readonly isSearched: boolean;
  readonly source: QueryStreamSource;
  readonly reason: Reason['kind'] | undefined;
}

export type QueryStreamSource = (typeof EVENT_SOURCES)[number];

export const RCODE_MASK = 0x0f;
export const AUTHORITATIVE = 0x0400;
/** Questions whose explanation is kept, and milliseconds for which it is. */
const MAX_KEPT = 2_000;
const KEPT_FOR = 1_000;

/** A filter that lets all events pass. */
export const ALL_EVENTS: EventFilter = {
  names: [],
  types: [],
  rcodes: [],
  clients: [],
  namespaces: [],
  reasons: [],
  sources: [],
};

/** The parts of an event that need no explanation. */
export interface ReadEvent<Event extends ExplainedEvent = QueryEvent> {
  readonly event: Event;
  readonly key: NameKey;
  readonly typeNumber: number;
  readonly classNumber: number;
  readonly namespace: string | undefined;
  readonly isSearched: boolean;
  /** Whether the name is in the domain of the cluster. */
  readonly isOfCluster: boolean;
}

interface Explained {
  readonly source: QueryStreamSource;
  readonly reason: Reason['kind'] | undefined;
}

export class QueryStream {
  readonly #explainer: Explainer;
  readonly #isWanted: (read: ReadEvent) => boolean;
  readonly #filter: EventFilter;
  readonly #offset: number;
  readonly #kept = new Map<string, Explained>();
  #keptUntil = 0;

  constructor(
    explainer: Explainer,
    filter: EventFilter,
    clock: Pick<Clock, 'now'>,
    monotonic = sharedMonotonic(),
  ) {
    this.#explainer = explainer;
    this.#filter = filter;
    this.#isWanted = compileFilter(filter);
    this.#offset = clock.now() - monotonic();
  }

  /**
   * @param domain the apex of the cluster's zone, read once for many events
   * @returns undefined for events that are filtered out, or have no question
   */
  async describe(event: QueryEvent, domain: string): Promise<WatchedQuery | undefined> {
    const read = readEvent(event, domain);
    if (read === undefined || !this.#isWanted(read)) return undefined;
    const { source, reason } = await this.#explain(read);
    const { sources, reasons } = this.#filter;
    if (sources.length > 0 && !sources.includes(source)) return undefined;
    if (reasons.length > 0 && (reason === undefined || !reasons.includes(reason))) return undefined;
    return {
      time: new Date(event.received + this.#offset).toISOString(),
      client: formatAddress(event.client),
      transport: event.transport,
      name: read.key,
      type: typeName(read.typeNumber),
      rcode: rcodeName(event.responseFlags & RCODE_MASK),
      answers: event.answers,
      milliseconds: Math.round(Math.max(0, event.sent - event.received) * 1000) / 1000,
      namespace: read.namespace,
      isSearched: read.isSearched,
      source,
      reason,
    };
  }

  /**
   * The source and the reason of an answer; undefined for events without a question.
   *
   * @param domain as for `describe`
   */
  async explain(event: ExplainedEvent, domain: string): Promise<EventExplanation | undefined> {
    const read = readEvent(event, domain);
    return read && (await this.#explain(read));
  }

  /** Equal questions within a second have one explanation: names repeat. */
  async #explain({
    event,
    key,
    typeNumber,
  }: Pick<ReadEvent<ExplainedEvent>, 'event' | 'key' | 'typeNumber'>): Promise<Explained> {
    if (event.received >= this.#keptUntil || this.#kept.size >= MAX_KEPT) {
      this.#kept.clear();
      this.#keptUntil = event.received + KEPT_FOR;
    }
    const rcode = event.responseFlags & RCODE_MASK;
    const text = `${key} ${typeNumber} ${rcode} ${event.source}`;
    const known = this.#kept.get(text);
    if (known !== undefined) return known;
    const seen = { rcode: rcodeName(rcode), outcome: toStepOutcome(event) };
    const step = await this.#explainer.lookUp(key, typeName(typeNumber), formatAddress(event.client), seen);
    const explained = {
      source: toWatchedSource(event, step.source),
      reason: toReasonKind(event, step.reason),
    };
    this.#kept.set(text, explained);
    return explained;
  }
}

export function toStepOutcome({ answers, responseFlags }: ExplainedEvent): StepOutcome {
  switch (responseFlags & RCODE_MASK) {
    case RCODE.NOERROR:
      return answers > 0 ? 'answer' : 'nodata';
    case RCODE.NXDOMAIN:
      return 'nxdomain';
    case RCODE.REFUSED:
      return 'refused';
    default:
      return 'servfail';
  }
}

/** What the chain had to fetch is in the cache by now. */
export function toWatchedSource(
  { source: by, responseFlags }: ExplainedEvent,
  found: Awaited<ReturnType<Explainer['lookUp']>>['source'],
): QueryStreamSource {
  if ((responseFlags & RCODE_MASK) === RCODE.REFUSED) return 'block';
  if (found === 'cluster' || found === 'local' || found === 'stale') return found;
  if (by === 'chain') return 'upstream';
  return found === 'cache' || (responseFlags & AUTHORITATIVE) === 0 ? 'cache' : 'local';
}

/** An answer with records has no reason, whatever is found now. */
export function toReasonKind(
  { answers, responseFlags }: ExplainedEvent,
  reason: Reason | undefined,
): Reason['kind'] | undefined {
  return (responseFlags & RCODE_MASK) === 0 && answers > 0 ? undefined : reason?.kind;
}

export function readEvent<Event extends ExplainedEvent>(
  event: Event,
  domain: string,
): ReadEvent<Event> | undefined {
  const { question } = event;
  if (question.length === 0) return undefined;
  const { name, next } = readName(question, 0);
  const key = toKey(name);
  const typeNumber = uint16At(question, next);
  const classNumber = uint16At(question, next + 2);
  // The domain is the apex of a zone.
  const isOfCluster = isWithin(key, domain as NameKey);
  const labels = isOfCluster ? labelsBelow(key, domain as NameKey) : [];
  const isOfService = labels.at(-1) === 'svc' || labels.at(-1) === 'pod';
  const namespace = isOfService && labels.length > 2 ? labels.at(-2) : undefined;
  const isMissing = (event.responseFlags & RCODE_MASK) === 3;
  const isSearched =
    isMissing &&
    labels.length > 0 &&
    (!isOfService || labels.length > 4 || labels.length === 2) &&
    !key.startsWith('_');
  return { event, key, typeNumber, classNumber, namespace, isSearched, isOfCluster };
}

function compileFilter({
  names,
  types,
  rcodes,
  clients,
  namespaces,
}: EventFilter): (read: ReadEvent) => boolean {
  const tests: ((read: ReadEvent) => boolean)[] = [];
  if (rcodes.length > 0) tests.push(({ event }) => rcodes.includes(event.responseFlags & RCODE_MASK));
  if (types.length > 0) tests.push(({ typeNumber }) => types.includes(typeNumber));
  if (clients.length > 0) {
    const isClient = matchRanges(clients);
    tests.push(({ event }) => isClient(event.client));
  }
  if (names.length > 0) tests.push(({ key }) => names.some((name) => isWithin(key, name)));
  if (namespaces.length > 0)
    tests.push(({ namespace }) => namespace !== undefined && namespaces.includes(namespace));
  return (read) => tests.every((test) => test(read));
}
