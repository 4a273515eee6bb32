/**
 * The status of a server: data, configuration, upstream servers, cache and readers.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { countAnswered } from '@portolan/kernel/table/counter-sums.ts';
import { forwardersIn } from '@portolan/plugins/forward/inspected-forwarders.ts';
import type { FollowedKind } from '@portolan/server/followed-kinds.ts';
import { toUpstreamEvidence, type UpstreamEvidence } from '@portolan/server/reasons/finding.ts';
import type { Server } from '@portolan/server/server.ts';
import { readZones, type ZoneDigest } from './published-names.ts';

/** Times are milliseconds. Readers ignore fields that they do not know. */
export interface ServerStatus {
  readonly version: string;
  readonly role: string;
  readonly process: number;
  /** Where it answers over UDP: `127.0.0.1:53`. */
  readonly addresses: readonly string[];
  readonly ready: boolean;
  /** Why it is not ready, or a note. */
  readonly reason: string | undefined;
  readonly queries: number;
  readonly data: {
    /** Since the data was last known to be current; undefined: unknown, or a folder, which is always current. */
    readonly age: number | undefined;
    readonly kinds: readonly FollowedKind[];
  };
  /** Of clusters. Servers with the same services have the same digest. */
  readonly zones: readonly ZoneDigest[];
  readonly configuration: {
    /** Whether an earlier configuration is in force because the latest has errors. */
    readonly isLastGood: boolean;
    /** What is wrong with the latest one, as sentences. */
    readonly rejected: readonly string[];
    readonly changes: number;
    /** RFC 3339. */
    readonly changedAt: string | undefined;
  };
  readonly upstreams: readonly UpstreamStatus[];
  readonly cache: { readonly entries: number; readonly names: number };
  readonly readers: { readonly running: number; readonly down: number; readonly kernelDrops: number };
  /** `isKept`: also while nobody looks. One query of `sampling` has an event, for as many; undefined: none has. */
  readonly statistics: { readonly isKept: boolean; readonly sampling: number | undefined };
  readonly logs: {
    readonly level: string | undefined;
    readonly queryLog: string | undefined;
    /** Lines about queries that were left out, in all logs; undefined: none. */
    readonly lost: number | undefined;
  };
}

export interface UpstreamStatus extends UpstreamEvidence {
  readonly sent: number;
  readonly timeouts: number;
  readonly errors: number;
}

export interface StatusParts {
  readonly server: Server;
  readonly role: string;
  readonly level: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

export function readStatus({ server, role, level }: StatusParts): ServerStatus {
  const stats = server.stats();
  const { rejected } = server;
  const { plan: queryLog, dropped } = server.queryLog;
  const { ready, reason, config, udp, table } = stats;
  return {
    version: server.version,
    role,
    process: process.pid,
    addresses: server.addresses,
    ready,
    reason,
    queries: countAnswered(stats.queries),
    data: { age: server.dataAge, kinds: server.kinds },
    zones: readZones(server),
    configuration: {
      isLastGood: rejected.length > 0,
      rejected,
      changes: config?.changes ?? 0,
      changedAt: config?.changedAt === undefined ? undefined : new Date(config.changedAt).toISOString(),
    },
    upstreams: readUpstreams(server),
    cache: { entries: table.cached, names: table.nodes },
    readers: {
      running: udp?.readers.length ?? 0,
      down: udp?.down ?? 0,
      kernelDrops: udp?.kernelDrops ?? 0,
    },
    statistics: { isKept: server.plan.keepsStatistics === true, sampling: server.tap.sampling },
    logs: {
      level,
      queryLog: queryLog === undefined ? undefined : (queryLog.file ?? '-'),
      lost: dropped || undefined,
    },
  };
}

/** With those that are switched off. */
export function readUpstreams(server: Pick<Server, 'engine'>): readonly UpstreamStatus[] {
  const inspections = server.engine.serverBlocks.inspect();
  return forwardersIn(inspections).flatMap((forwarder) => [
    ...forwarder.statistics().upstreams.map((each) => ({
      ...toUpstreamEvidence(each),
      sent: each.sent,
      timeouts: each.timeouts,
      errors: each.networkErrors,
    })),
    ...forwarder.switchedOff.map((name) => ({
      server: name,
      state: 'off',
      since: undefined,
      lastReply: undefined,
      roundTrip: undefined,
      sent: 0,
      timeouts: 0,
      errors: 0,
    })),
  ]);
}
