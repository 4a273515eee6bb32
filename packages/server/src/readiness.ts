/**
 * Determines whether this server is ready for queries, and if not, why.
 */
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import { FAILING_CALLS } from '@portolan/kernel/listen/reader-counters.ts';
import type { UdpCounts } from '@portolan/kernel/listen/udp-listener.ts';
import type { SourceStatus } from './object-source.ts';
import type { Readiness } from './observe/health.ts';
import type { Finding } from './reasons/finding.ts';
import type { ServerState } from './state.ts';

/**
 * Once the cluster is known it stays so: stale names are better than none while the API server is away. The note says of
 * which kinds nothing was heard for too long.
 *
 * @param known whether all objects are listed and their names published
 * @param udp the listeners' state: a reader that is down leaves clients without answers
 */
export function judgeReadiness(
  state: ServerState,
  known: boolean,
  source: SourceStatus | undefined,
  udp?: Pick<UdpCounts, 'readers' | 'down'>,
): Readiness {
  switch (state) {
    case 'serving':
      if (!known) return { ready: false, reason: describeMissing(source) };
      return judgeUdp(udp, source);
    case 'made':
    case 'starting':
      return { ready: false, reason: known ? 'starting: sockets are not open' : describeMissing(source) };
    case 'lameduck':
    case 'draining':
    case 'stopped':
      return { ready: false, reason: 'shutting down' };
  }
}

function judgeUdp(
  udp: Pick<UdpCounts, 'readers' | 'down'> | undefined,
  source: SourceStatus | undefined,
): Readiness {
  const reason = findUdpFault(udp);
  return reason === undefined ? noteSilences(source?.silences ?? []) : { ready: false, reason };
}

/** Why clients that ask over UDP may get no answer; undefined: nothing is known to be wrong. */
export function findUdpFault(udp: Pick<UdpCounts, 'readers' | 'down'> | undefined): string | undefined {
  if (udp === undefined) return undefined;
  const { down, readers } = udp;
  if (down > 0) return `reader threads down: ${down} of ${readers.length}`;
  const deaf = readers.filter(({ failing }) => failing >= FAILING_CALLS).length;
  return deaf === 0 ? undefined : `UDP packets cannot be received: ${deaf} of ${readers.length} readers`;
}

function noteSilences(silences: readonly string[]): Readiness {
  return silences.length === 0 ? { ready: true } : { ready: true, note: silences.join('\n') };
}

/**
 * Names from etcd are required at start. While etcd is away, stale names are better than none; the note reports this.
 *
 * @param readiness without regard to etcd
 * @param etcd with `age` in milliseconds as in its statistics; undefined: etcd is not used
 */
export function judgeWithEtcd(
  readiness: Readiness,
  etcd: { readonly isKnown: boolean; readonly age: number | undefined } | undefined,
): Readiness {
  if (!readiness.ready || etcd === undefined) return readiness;
  if (!etcd.isKnown) return { ready: false, reason: 'etcd: not read yet' };
  const { age = 0 } = etcd;
  if (age === 0) return readiness;
  const notes = [readiness.note ?? [], `etcd: not followed for ${formatElapsed(age)}`].flat();
  return { ready: true, note: notes.join('\n') };
}

/** Says what is wrong although queries are answered, a line for each finding. */
export function noteFindings(readiness: Readiness, findings: readonly Finding[]): Readiness {
  if (!readiness.ready || findings.length === 0) return readiness;
  const lines = findings.map(({ kind, sentence }) => `finding=${kind} ${sentence}`);
  return {
    ready: true,
    note: [...(readiness.note === undefined ? [] : [readiness.note]), ...lines].join('\n'),
  };
}

function describeMissing(source: SourceStatus | undefined): string {
  if (source === undefined) return 'starting';
  return source.reasons.length > 0 ? source.reasons.join('; ') : 'publishing names';
}
