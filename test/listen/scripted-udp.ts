/**
 * A UDP listener by batches with scripted answers on free loopback ports, closed when its test ends.
 */

import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import { listenByBatches, type UdpOptions } from '@portolan/kernel/listen/udp.ts';
import type { UdpListener } from '@portolan/kernel/listen/udp-listener.ts';
import { DnsClient } from '@portolan/testing/client/dns-client.ts';
import { onTestFinished } from 'vitest';
import { answerAuthoritatively } from './scripted-answers.ts';

export async function startUdp({
  threadEntry,
  ...changes
}: Partial<UdpOptions> & { readonly threadEntry: URL }): Promise<UdpListener> {
  const listener = await listenByBatches({
    addresses: [{ address: '127.0.0.1', port: 0 }],
    readers: 1,
    firstReader: 0,
    table: new SharedArrayBuffer(0),
    takeover: false,
    udpSize: 1232,
    handleQuery: async (query) => answerAuthoritatively(query),
    onReaderDead: () => {},
    startThread: makeStartThread(threadEntry),
    clock: systemClock,
    log: silentLog,
    ...changes,
  });
  onTestFinished(() => listener.stop(0));
  return listener;
}

export async function startClient(family?: 'udp4' | 'udp6', from?: string): Promise<DnsClient> {
  const client = await DnsClient.openUdp({ ...(family !== undefined && { family }), from });
  onTestFinished(() => client.close());
  return client;
}

/** The port of the first address that a listener serves. */
export function getPort(listener: UdpListener): number {
  return listener.endpoints[0]?.port ?? 0;
}
