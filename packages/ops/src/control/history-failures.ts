/**
 * Feeds a history with the failures of a server: events of failed and slow answers, each name with the reason that the server finds while
 * it fails.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { sharedMonotonic } from '@portolan/kernel/listen/query-events/event-ring.ts';
import { SLOW_ANSWER } from '@portolan/kernel/listen/query-events/event-writer.ts';
import type { FailureRow, FoundReason } from '@portolan/server/history/failure-minute.ts';
import { cutText } from '@portolan/server/history/history-record.ts';
import type { AnsweredStep } from '@portolan/server/reasons/conclude.ts';
import type { Server } from '@portolan/server/server.ts';
import type { Explainer } from './explain.ts';
import type { KeptIn } from './history-changes.ts';
import { RCODE_MASK, readEvent, toStepOutcome } from './query-stream.ts';
import { findServedDomain } from './served-domain.ts';

export interface HistoryFailuresOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly log: Log;
}

/** Rows that wait for their reasons, and those that get them in one turn: a second has one turn. */
const MAX_WAITING = 300;
const EXPLAINED_AT_ONCE = 20;
/** Rows to explain before other work. */
const PART = 5;
const NO_DATA = 'NODATA';
/** Failures of any upstream server. */
const ANY_UPSTREAM = 'upstream';

interface WaitingRow {
  readonly row: FailureRow;
  readonly event: QueryEvent;
}

export class HistoryFailures {
  readonly #kept: KeptIn;
  readonly #options: HistoryFailuresOptions;
  readonly #monotonic = sharedMonotonic();
  #explainer: Promise<Explainer> | undefined;
  #waiting: WaitingRow[] = [];
  #isExplaining = false;
  #end: () => void = () => {};

  constructor(kept: KeptIn, options: HistoryFailuresOptions) {
    this.#kept = kept;
    this.#options = options;
  }

  /** @param onError called when servers may have failed */
  start(onError: () => void): void {
    const { server } = this.#options;
    const domain = findServedDomain(server);
    this.#end = server.tap.followFailures(
      (events, lost) => this.#take(events, lost, domain, onError),
      domain,
    );
  }

  stop(): void {
    this.#end();
    this.#waiting = [];
  }

  #take(events: readonly QueryEvent[], lost: number, domain: string, onError: () => void): void {
    // A listener that wants all queries loses some of these too.
    if (lost > 0) this.#kept.history.lose(lost);
    // The clock of events and that of the day differ by more or less.
    const offset = this.#options.clock.now() - this.#monotonic();
    let hasErrors = false;
    for (const event of events) {
      if (!isFailed(event)) continue;
      hasErrors ||= (event.responseFlags & RCODE_MASK) === RCODE.SERVFAIL;
      this.#add(event, offset, domain);
    }
    if (hasErrors) onError();
    if (this.#waiting.length > 0 && !this.#isExplaining) void this.#explainSome();
  }

  #add(event: QueryEvent, offset: number, domain: string): void {
    const read = readEvent(event, domain);
    if (read === undefined || read.isSearched) return;
    const rcode = event.responseFlags & RCODE_MASK;
    const isEmpty = rcode === RCODE.NOERROR && event.answers === 0;
    // Only an empty answer for addresses of IPv4 is a failure.
    if (isEmpty && read.typeNumber !== TYPE.A && !isSlow(event)) return;
    const row = this.#kept.history.addFailure({
      at: event.received + offset,
      name: read.key,
      type: typeName(read.typeNumber),
      client: formatAddress(event.client),
      rcode: isEmpty ? NO_DATA : rcodeName(rcode),
      milliseconds: event.sent - event.received,
      weight: event.weight,
    });
    if (row === undefined) return;
    if (rcode === RCODE.NOERROR && !isEmpty) row.found = { ...NOTHING_FOUND, about: [ANY_UPSTREAM] };
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push({ row, event });
  }

  /** Errors first: denials come in floods. */
  async #explainSome(): Promise<void> {
    this.#isExplaining = true;
    const rank = ({ row }: WaitingRow) => (row.rcode === 'SERVFAIL' ? 0 : 1);
    const waiting = this.#waiting.sort((one, other) => rank(one) - rank(other));
    this.#waiting = waiting.slice(EXPLAINED_AT_ONCE);
    const known = new Map<string, FoundReason>();
    try {
      const explainer = await this.#getExplainer();
      for (const [index, { row, event }] of waiting.slice(0, EXPLAINED_AT_ONCE).entries()) {
        const key = `${row.rcode} ${row.type} ${row.name}`;
        row.found = known.get(key) ?? (await findReason(explainer, row, event));
        known.set(key, row.found);
        if (index % PART === PART - 1) await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      this.#options.log.error('failures are kept without their reasons', {
        reason: String(error),
        hint: 'Install the program again.',
      });
    } finally {
      this.#isExplaining = false;
    }
  }

  async #getExplainer(): Promise<Explainer> {
    this.#explainer ??= import('./control-verbs.ts').then(({ createExplainer }) =>
      createExplainer(this.#options),
    );
    return await this.#explainer;
  }
}

function listService(name: string): readonly string[] {
  const [, service, namespace] = SERVICE_NAME.exec(name) ?? [];
  return service === undefined ? [] : [`service ${namespace}/${service}`];
}

/** It may be an ExternalName, which leads to upstream servers. */
const SERVICE_NAME = /^([^.]+)\.([^.]+)\.svc\./;

const NOTHING_FOUND: FoundReason = { reason: undefined, sentence: undefined, about: [], isExpected: false };

function isSlow({ sent, received }: QueryEvent): boolean {
  return sent - received >= SLOW_ANSWER;
}

/** As the events of failures alone have it; others see all events. */
function isFailed(event: QueryEvent): boolean {
  return (event.responseFlags & RCODE_MASK) !== RCODE.NOERROR || event.answers === 0 || isSlow(event);
}

async function findReason(
  explainer: Explainer,
  { name, type, client }: FailureRow,
  event: QueryEvent,
): Promise<FoundReason> {
  const seen = { rcode: rcodeName(event.responseFlags & RCODE_MASK), outcome: toStepOutcome(event) };
  // A name without a presentation format has no explanation.
  const step = await explainer.lookUp(name, type, client, seen).catch(() => undefined);
  if (step === undefined) return NOTHING_FOUND;
  return {
    reason: step.reason?.kind,
    sentence: step.sentence === undefined ? undefined : cutText(step.sentence),
    about: listSubjects(step),
    isExpected: isExpected(step),
  };
}

/** What a change may be about that causes such an answer. */
function listSubjects({ reason, name, servers = [] }: AnsweredStep): readonly string[] {
  // A cached error does not say whose it is.
  const upstreams = servers.length === 0 ? [ANY_UPSTREAM] : servers.map((server) => `upstream ${server}`);
  if (reason === undefined) return servers.length === 0 ? [] : upstreams;
  if ('service' in reason)
    return [`service ${reason.namespace}/${reason.service}`, `namespace ${reason.namespace}`];
  switch (reason.kind) {
    case 'upstream-unreachable':
    case 'forwarding-loop':
      return reason.servers.map((server) => `upstream ${server}`);
    case 'upstream-said':
      return [...listService(name), ...upstreams];
    case 'no-such-namespace':
      return listService(name);
    case 'not-forwarded':
      return ['configuration', ANY_UPSTREAM];
    case 'zone-not-known':
      return ['objects', 'server'];
    default:
      return ['configuration'];
  }
}

/**
 * In `example.com.shop.svc.cluster.local`, a search list has put `example` where the name of an endpoint would be, and `com` where that of
 * a service would be.
 */
function isExpected({ reason, name }: AnsweredStep): boolean {
  if (reason?.kind === 'no-data' || reason?.kind === 'not-a-name-form') return true;
  if (reason?.kind !== 'no-such-service' || reason.existedUntil !== undefined) return false;
  return !name.startsWith(`${reason.service}.`) && !name.startsWith('_');
}
