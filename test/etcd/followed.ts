/**
 * The plugin `etcd` of a Corefile with a table and a real etcd: queried through the table as by readers, and through its handler.
 */
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import type { Message } from '@portolan/dns/types.ts';
import { EtcdPlugin } from '@portolan/etcd/plugins/etcd/etcd-plugin.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import { makeQuery as makeHandlerQuery, told } from '@portolan/kernel/chain/testing/queries.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { DEFAULT_VIEW, DEFAULT_VIEW_SETTINGS } from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { SnapshotSettings } from '@portolan/kubernetes/snapshot/snapshot-keeper.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { onTestFinished } from 'vitest';
import type { EtcdCluster } from './etcd-server.ts';
import { showHandler } from './show-handler.ts';

export interface FollowOptions {
  /** Default: `skydns.test`. */
  readonly zone?: string;
  readonly snapshot?: SnapshotSettings;
  /** Answers names outside. Default: REFUSED. */
  readonly lookUp?: Chain;
}

/** Starts the plugin. It ends with the test, or by `end`. */
export function follow(etcd: EtcdCluster, options: FollowOptions = {}) {
  const { zone = 'skydns.test.', snapshot, lookUp = () => ({ kind: 'refused' }) as const } = options;
  const table = new TableWriter({ readers: 1, reservation: 2 ** 26 });
  const settings = {
    kind: 'coredns' as const,
    zones: [toKey(parseName(zone))],
    etcd: etcd.settings,
    path: 'skydns',
    minLease: 30,
    maxLease: 86_400,
    fallthrough: [],
    aliasesBesideText: true,
    snapshot,
  };
  const metrics = new MetricRegistry();
  const plugin = new EtcdPlugin(settings, {
    table,
    clock: systemClock,
    log: silentLog,
    lookUp,
    server: 'dns://:53',
    metrics,
  });
  showHandler(table, plugin.handler);
  const reader = new TableReader(table.memory, 0);
  let ended: Promise<void> | undefined;
  const end = () => {
    table.changeView(DEFAULT_VIEW, DEFAULT_VIEW_SETTINGS);
    ended ??= plugin.stop();
    return ended;
  };
  onTestFinished(end);
  const started = plugin.start();
  /** The response of the table; undefined: it leaves the question to the handler. */
  const askTable = (name: string, type: 'A' | 'AAAA' | 'SRV' | 'TXT' = 'A'): Message | undefined => {
    const packet = new Uint8Array(1_500);
    const query = encodeMessage(makeQuery(name, type));
    packet.set(query);
    reader.enter();
    const length = reader.answer(packet, 0, query.length, packet.length, 'udp', DEFAULT_VIEW);
    reader.leave();
    return length > 0 ? decodeMessage(packet.slice(0, length)) : undefined;
  };
  /** The address of a name; undefined: the table has none. */
  const ask = (name: string): string | undefined => {
    const data = askTable(name)?.answers[0]?.data;
    return data?.kind === 'A' ? data.address : undefined;
  };
  /** What the handler answers, in short. */
  const askHandler = async (name: string, type = 'A'): Promise<readonly string[]> => {
    const answer = await plugin.handler.handle(makeHandlerQuery(name, type), () => ({ kind: 'refused' }));
    return answer.kind === 'message' ? ['message', String(answer.rcode)] : told(answer);
  };
  return { plugin, started, metrics, ask, askTable, askHandler, end };
}
