/**
 * The entry of the thread that writes a query log.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { QueryLogPlan, QueryLogSettings } from '../../config/server/query-log-plan.ts';
import type { ExplainEvents, ExplainedEvent } from './explained-event.ts';
import { LineOutput } from './line-output.ts';
import { QueryLogConsumer } from './query-log-consumer.ts';

export interface QueryLogThreadData {
  readonly rings: readonly SharedArrayBuffer[];
  readonly plan: QueryLogPlan;
  /** Whether the main thread answers requests for explanations. */
  readonly isExplained: boolean;
}

/** Orders of the main thread. */
export type QueryLogOrder =
  | { readonly kind: 'change'; readonly settings: QueryLogSettings }
  | { readonly kind: 'reopen' }
  /** The answer to a report `explain`. */
  | { readonly kind: 'explained'; readonly explanations: Awaited<ReturnType<ExplainEvents>> }
  | { readonly kind: 'stop' };

/** Reports of the thread: it follows the rings; wants explanations; lines could not be written; or all are written, as ordered. */
export type QueryLogReport =
  | { readonly kind: 'started' }
  | { readonly kind: 'explain'; readonly events: readonly ExplainedEvent[] }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'stopped' };

const POLL_MILLISECONDS = 10;

if (parentPort === null)
  throw new Error('not a thread: query-log-thread runs only as a worker of the server');

const port = parentPort;
// Set by `QueryLog`; no other code starts this entry.
const { rings, plan, isExplained } = workerData as QueryLogThreadData;
const output = new LineOutput(plan.file);
const consumer = new QueryLogConsumer({
  rings,
  settings: plan.settings,
  write: (lines) => attempt(() => output.write(lines)),
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
    report({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  }
}

function obey(order: QueryLogOrder): void {
  switch (order.kind) {
    case 'change':
      consumer.change(order.settings);
      return;
    case 'reopen':
      attempt(() => output.reopen());
      return;
    case 'explained':
      onExplained(order.explanations);
      return;
    case 'stop':
      stopWhenExplained();
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
  report({ kind: 'stopped' });
  port.close();
}

const timer = setInterval(() => consumer.poll(), POLL_MILLISECONDS);
port.on('message', obey);
report({ kind: 'started' });
