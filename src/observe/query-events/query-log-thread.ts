/**
 * The entry of the thread that writes a query log.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { QueryLogPlan, QueryLogSettings } from '../../config/server/query-log-plan.ts';
import { LineOutput } from './line-output.ts';
import { QueryLogConsumer } from './query-log-consumer.ts';

export interface QueryLogThreadData {
  readonly rings: readonly SharedArrayBuffer[];
  readonly plan: QueryLogPlan;
}

/** Orders of the main thread. */
export type QueryLogOrder =
  | { readonly kind: 'change'; readonly settings: QueryLogSettings }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'stop' };

/** Reports of the thread: it follows the rings; lines could not be written; or all lines are written, as ordered. */
export type QueryLogReport =
  | { readonly kind: 'started' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'stopped' };

const POLL_MILLISECONDS = 10;

if (parentPort === null)
  throw new Error('not a thread: query-log-thread runs only as a worker of the server');

const port = parentPort;
// Set by `QueryLog`; no other code starts this entry.
const { rings, plan } = workerData as QueryLogThreadData;
const output = new LineOutput(plan.file);
const consumer = new QueryLogConsumer({
  rings,
  settings: plan.settings,
  write: (lines) => attempt(() => output.write(lines)),
  now: () => Date.now(),
  random: Math.random,
});

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
    case 'stop':
      clearInterval(timer);
      consumer.finish();
      report({ kind: 'stopped' });
      port.close();
  }
}

const timer = setInterval(() => consumer.poll(), POLL_MILLISECONDS);
port.on('message', obey);
report({ kind: 'started' });
