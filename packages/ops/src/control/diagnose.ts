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
import { inParts, WaitingEvents } from './waiting-events.ts';
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

/** Until the time is over, or the client leaves. */
async function watchTraffic(
  milliseconds: number,
  { server, explainer, clock }: Watcher,
  signal: AbortSignal,
) {
  const { domain } = explainer;
  const queries = new QueryStream(explainer, ALL_EVENTS, clock);
  const counts = new TrafficCounts(domain);
  const waiting = new WaitingEvents((listener) => server.tap.follow(listener), signal, { max: MAX_QUERIES });
  const timer = clock.after(milliseconds, () => waiting.end());
  let left = MAX_QUERIES;
  try {
    for await (const { events } of waiting.batches()) {
      const looked = events.slice(0, left);
      left -= looked.length;
      for await (const event of inParts(looked)) {
        if (signal.aborted) break;
        // A query that cannot be described must not end the diagnosis of all others.
        const query = await queries.describe(event, domain).catch(() => undefined);
        if (query !== undefined) counts.add(query);
      }
    }
  } finally {
    timer.cancel();
    waiting.end();
  }
  return counts.read(milliseconds / 1000, explainer.evidence);
}
