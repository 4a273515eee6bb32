/**
 * `trace` in each role with a Corefile: all queries have a span, those that readers would answer by themselves among them.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { startRole } from '../support/roles.ts';
import { ZipkinCollector } from './collector.ts';

afterEach(endAllPrograms);

async function startUpstream(): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(({ query, send }) =>
    send(reply(query, { answers: [makeAddressRecord(query, '192.0.2.7')] })),
  );
  onTestFinished(() => upstream.stop());
  return upstream;
}

const trace = (collector: ZipkinCollector, ...settings: readonly string[]) =>
  `trace ${collector.address} {\n zipkin_max_batch_interval 1ms\n ${settings.join('\n')}\n }`;

describe.each(['coredns', 'node-cache'] as const)('%s', (role) => {
  it('traces misses, hits, and what comes over TCP', async () => {
    const collector = await ZipkinCollector.start();
    const upstream = await startUpstream();
    const server = await startRole(role, { upstream: upstream.port, joining: trace(collector) });
    for (const transport of ['udp', 'udp', 'tcp', 'udp'] as const)
      expect(await askShort(server, 'www.example.org.', 'A', { transport })).toBe('192.0.2.7');
    const listed = () =>
      collector.spans.filter(({ tags }) => tags?.['coredns.io/name'] === 'www.example.org.');
    await waitUntil('the traces', () => listed().length === 4);
    expect(listed().map(({ tags }) => tags?.['coredns.io/proto'])).toEqual(['udp', 'udp', 'tcp', 'udp']);
  });

  it('traces one of three', async () => {
    const collector = await ZipkinCollector.start();
    const upstream = await startUpstream();
    const server = await startRole(role, { upstream: upstream.port, joining: trace(collector, 'every 3') });
    for (let index = 0; index < 12; index += 1) await ask(server, 'www.example.org.', 'A');
    await waitUntil('the traces', () => collector.countTraces() >= 4);
    expect(collector.countTraces()).toBe(4);
  });
});
