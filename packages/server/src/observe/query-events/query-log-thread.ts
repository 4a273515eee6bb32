/**
 * The thread of the query log: follows the rings of all threads, writes the lines of the query log, and gives those of the server's own
 * log to the main thread, which has the log.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { QueryLogPlan } from '../../plan/query-log-plan.ts';
import type { QueryLine } from './event-lines.ts';
import type { ExplainEvents, ExplainedEvent } from './explained-event.ts';
import { LineOutput } from './line-output.ts';
import { type EventSource, QueryLogConsumer } from './query-log-consumer.ts';

export interface QueryLogThreadData {
  readonly sources: readonly EventSource[];
  /** Whether the main thread answers requests for explanations. */
  readonly isExplained: boolean;
}

/** Orders of the main thread. */
export type QueryLogOrder =
  | { readonly kind: 'follow'; readonly sources: readonly EventSource[] }
  /** Undefined: no query log. A report `changed` answers it. */
  | { readonly kind: 'change'; readonly plan: QueryLogPlan | undefined }
  | { readonly kind: 'reopen' }
  /** The answer to a report `explain`. */
  | { readonly kind: 'explained'; readonly explanations: Awaited<ReturnType<ExplainEvents>> }
  /** The answer to a report `say`. */
  | { readonly kind: 'said' }
  | { readonly kind: 'stop' };

export type QueryLogReport =
  /** It follows the rings. */
  | { readonly kind: 'started' }
  /** The plan is in force; or there is no query log now, since its file cannot be opened. */
  | { readonly kind: 'changed'; readonly error: Error | undefined }
  | { readonly kind: 'explain'; readonly events: readonly ExplainedEvent[] }
  | { readonly kind: 'say'; readonly lines: readonly QueryLine[] }
  /** Lines could not be written. */
  | { readonly kind: 'failed'; readonly reason: string };

const POLL_MILLISECONDS = 10;
/** Messages that the main thread may be behind: a machine under load wakes it late. */
const MAX_UNSAID = 8;

if (parentPort === null)
  throw new Error('not a thread: query-log-thread runs only as a worker of the server');

const port = parentPort;
// Set by `QueryLog`; no other code starts this entry.
const { sources, isExplained } = workerData as QueryLogThreadData;
let output: LineOutput | undefined;
/** Lines that the main thread has not written yet, in messages. */
let unsaid = 0;
const consumer = new QueryLogConsumer({
  sources,
  settings: undefined,
  write: (lines) => attempt(() => output?.write(lines)),
  say: (lines) => {
    unsaid += 1;
    report({ kind: 'say', lines });
  },
  hasSaid: () => unsaid < MAX_UNSAID,
  now: () => Date.now(),
  random: Math.random,
  explain: isExplained ? askForExplanations : undefined,
});
let onExplained: (explanations: Awaited<ReturnType<ExplainEvents>>) => void = () => {};

/** One request at a time. */
function askForExplanations(events: readonly ExplainedEvent[]): ReturnType<ExplainEvents> {
  return new Promise((resolve) => {
    onExplained = resolve;
    report({ kind: 'explain', events });
  });
}

function report(message: QueryLogReport): void {
  port.postMessage(message);
}

function attempt(run: () => void): void {
  try {
    run();
  } catch (error) {
    report({ kind: 'failed', reason: describeError(error) });
  }
}

function obey(order: QueryLogOrder): void {
  switch (order.kind) {
    case 'follow':
      consumer.follow(order.sources);
      return;
    case 'change':
      report({ kind: 'changed', error: change(order.plan) });
      return;
    case 'reopen':
      attempt(() => output?.reopen());
      return;
    case 'explained':
      onExplained(order.explanations);
      return;
    case 'said':
      unsaid -= 1;
      return;
    case 'stop':
      stopWhenExplained();
  }
}

/** @returns why the file cannot be opened */
function change(plan: QueryLogPlan | undefined): Error | undefined {
  consumer.change(undefined);
  const before = output;
  output = undefined;
  try {
    const isSame = plan !== undefined && before !== undefined && plan.file === before.file;
    output = isSame ? before : plan && new LineOutput(plan.file);
    consumer.change(plan?.settings);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    if (output !== before) before?.close();
  }
}

/** Waits for explanations of lines that are left, which `poll` bounds. */
function stopWhenExplained(): void {
  consumer.poll();
  if (consumer.isWaiting) {
    setTimeout(stopWhenExplained, POLL_MILLISECONDS);
    return;
  }
  clearInterval(timer);
  consumer.finish();
  port.close();
}

const timer = setInterval(() => consumer.poll(), POLL_MILLISECONDS);
port.on('message', obey);
report({ kind: 'started' });
