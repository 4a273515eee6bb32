/**
 * `doctor`: runs all checks over what the server knows, the objects that the caller has read, and queries watched for a moment.
 */
import { ALL_CHECKS } from '@portolan/server/reasons/checks/all-checks.ts';
import { type Diagnosis, runChecks } from '@portolan/server/reasons/finding.ts';
import type { Server } from '@portolan/server/server.ts';
import { readObjectEvidence } from './object-evidence.ts';
import { ALL_EVENTS, QueryStream } from './query-stream.ts';
import type { ControlOrder } from './settings/control-order.ts';
import { TrafficCounts } from './traffic-evidence.ts';
import type { Watcher } from './watch-verbs.ts';

/** Queries that are looked at. */
const MAX_QUERIES = 20_000;

export async function diagnose(
  { watch }: Extract<ControlOrder, { kind: 'doctor' }>,
  watcher: Watcher & { readonly server: Pick<Server, 'findings'> },
  objects: readonly unknown[],
  signal: AbortSignal,
): Promise<Diagnosis> {
  const traffic = watch === 0 ? undefined : await watchTraffic(watch, watcher, signal);
  const server = watcher.server.findings.evidence();
  return runChecks(ALL_CHECKS, { server, ...readObjectEvidence(objects), traffic });
}

async function watchTraffic(
  milliseconds: number,
  { server, explainer, clock }: Watcher,
  signal: AbortSignal,
) {
  const queries = new QueryStream(explainer, ALL_EVENTS, clock);
  const counts = new TrafficCounts(explainer.domain);
  const described: Promise<void>[] = [];
  const end = server.tap.follow((events) => {
    for (const event of events.slice(0, MAX_QUERIES - described.length))
      described.push(queries.describe(event).then((query) => query && counts.add(query)));
  });
  await new Promise<void>((resolve) => {
    const timer = clock.after(milliseconds, resolve);
    signal.addEventListener('abort', () => {
      timer.cancel();
      resolve();
    });
  });
  end();
  await Promise.all(described);
  return counts.read(milliseconds / 1000, explainer.evidence);
}
