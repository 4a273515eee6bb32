/**
 * Level `debug` of the log: one line for each query, with the steps to its answer. A look follows the steps after the answer was sent,
 * so that answering costs the same. A flood does not fill the log: further queries of a second are counted.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { className, rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { CLASS } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log, LogFields } from '@portolan/kernel/base/log.ts';
import { DryRun } from '@portolan/kernel/chain/dry-run.ts';
import type { QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { type ControlledServer, createExplainer } from './control-verbs.ts';
import type { Explainer } from './explain.ts';
import { readEvent, toReasonKind, toStepOutcome, toWatchedSource } from './query-stream.ts';
import { inParts, WaitingEvents } from './waiting-events.ts';

/** Lines in a second. */
export const MAX_LINES = 100;
const SECOND = 1000;
const RCODE_MASK = 0x0f;

/** Logs queries until `signal`. */
export async function logQueries(
  controlled: Pick<ControlledServer, 'server' | 'clock'>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const explainer = createExplainer(controlled);
  const lines = new BoundedLines(log, controlled.clock);
  const { tap } = controlled.server;
  const waiting = new WaitingEvents((listener) => tap.follow(listener), signal, {
    isWanted: () => lines.take(),
  });
  try {
    for await (const { events, lost } of waiting.batches()) {
      lines.leaveOut(lost);
      const { domain } = explainer;
      for await (const event of inParts(events)) {
        // A query that cannot be described must not end the lines of all others.
        const fields = await describeSteps(event, domain, explainer).catch(() => undefined);
        if (fields !== undefined && !signal.aborted) log.debug('query', fields);
      }
    }
  } finally {
    waiting.end();
    lines.end();
  }
}

/** Decides which queries of a second are logged, and logs how many are not. */
export class BoundedLines {
  readonly #log: Log;
  readonly #clock: Clock;
  #since: number;
  #taken = 0;
  #leftOut = 0;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  take(): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#since >= SECOND) {
      this.#report();
      this.#since = now;
      this.#taken = 0;
    }
    if (this.#taken >= MAX_LINES) {
      this.#leftOut += 1;
      return false;
    }
    this.#taken += 1;
    return true;
  }

  leaveOut(count: number): void {
    this.#leftOut += count;
  }

  end(): void {
    this.#report();
  }

  #report(): void {
    if (this.#leftOut > 0) this.#log.debug('queries not logged', { queries: this.#leftOut });
    this.#leftOut = 0;
  }
}

/** @returns undefined for a query without a question */
async function describeSteps(
  event: QueryEvent,
  domain: string,
  explainer: Explainer,
): Promise<LogFields | undefined> {
  const read = readEvent(event, domain);
  if (read === undefined) return undefined;
  const type = typeName(read.typeNumber);
  const client = formatAddress(event.client);
  const rcode = rcodeName(event.responseFlags & RCODE_MASK);
  const isOfInternet = read.classNumber === CLASS.IN;
  return {
    client: `${client}#${event.clientPort}`,
    transport: event.transport,
    name: read.key,
    type,
    class: isOfInternet ? undefined : className(read.classNumber),
    path: event.source,
    ...(isOfInternet && (await lookUpSteps(event, [read.key, type, client], rcode, explainer))),
    rcode,
    answers: event.answers,
    microseconds: Math.round(Math.max(0, event.sent - event.received) * 1000),
  };
}

type LookedUp = readonly [name: string, type: string, client: string];

/** What a look finds, just after the answer. */
async function lookUpSteps(
  event: QueryEvent,
  question: LookedUp,
  rcode: string,
  explainer: Explainer,
): Promise<LogFields> {
  const look = new DryRun();
  const step = await explainer.lookUp(...question, { rcode, outcome: toStepOutcome(event) }, look);
  const source = toWatchedSource(event, step.source);
  return {
    block: look.zone,
    plugins: [...new Set(look.steps.map(({ handler }) => handler))].join('>') || undefined,
    source,
    upstreams: source === 'upstream' ? await listUpstreams(look, question, explainer) : undefined,
    age: look.entry?.age,
    reason: toReasonKind(event, step.reason),
  };
}

/** The servers that a name is asked of, in their order. Its answer is in a cache by now. */
async function listUpstreams(
  { open }: DryRun,
  question: LookedUp,
  explainer: Explainer,
): Promise<string | undefined> {
  if (open !== undefined) return open.servers.join(',') || undefined;
  const look = new DryRun(true);
  await explainer.lookUp(...question, undefined, look);
  return look.open?.servers.join(',') || undefined;
}
