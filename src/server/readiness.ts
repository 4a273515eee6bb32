/**
 * Whether queries should be sent to this server, and if not, why.
 */
import { formatElapsed } from '../base/duration.ts';
import type { UdpCounts } from '../listen/udp-listener.ts';
import type { Readiness } from '../observe/health.ts';
import type { SourceStatus } from './object-source.ts';
import type { ServerState } from './state.ts';

/**
 * Once the cluster is known it stays so: while its API server is away, the names of before are better than none.
 *
 * @param known whether all objects are listed and their names published
 * @param udp of the listeners: a reader that is down would leave clients without answers
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
      if (udp === undefined || udp.down === 0) return { ready: true };
      return { ready: false, reason: `reader threads down: ${udp.down} of ${udp.readers.length}` };
    case 'made':
    case 'starting':
      return { ready: false, reason: known ? 'starting: sockets are not open' : describeMissing(source) };
    case 'lameduck':
    case 'draining':
    case 'stopped':
      return { ready: false, reason: 'shutting down' };
  }
}

/**
 * Names from etcd are needed too. While etcd is away the names of before are better than none, which the note tells.
 *
 * @param readiness without etcd
 * @param etcd its `age` in milliseconds, as in its statistics; undefined: no names come from there
 */
export function judgeWithEtcd(
  readiness: Readiness,
  etcd: { readonly isKnown: boolean; readonly age: number | undefined } | undefined,
): Readiness {
  if (!readiness.ready || etcd === undefined) return readiness;
  if (!etcd.isKnown) return { ready: false, reason: 'etcd: not read yet' };
  const { age = 0 } = etcd;
  return age > 0 ? { ready: true, note: `etcd: not followed for ${formatElapsed(age)}` } : readiness;
}

function describeMissing(source: SourceStatus | undefined): string {
  if (source === undefined) return 'starting';
  return source.reasons.length > 0 ? source.reasons.join('; ') : 'publishing names';
}
