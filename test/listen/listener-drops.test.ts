/**
 * What a listener drops under load is counted where its address says.
 */

import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { listenByDatagrams } from '@portolan/kernel/listen/datagram.ts';
import { DROPPED, ListenerDrops, makeListenerDrops } from '@portolan/kernel/listen/listener-drops.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { mayForge, PortZeroSender } from '../support/port-zero-sender.ts';
import { itWhere } from '../support/tools.ts';
import { ScriptedAnswers } from './scripted-answers.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';

let threadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
});

/** A listener with room for one question on the main thread, which is never answered. */
async function listen(kind: 'batches' | 'datagrams') {
  const drops = makeListenerDrops();
  const addresses = [{ address: '127.0.0.1', port: 0, drops }];
  const common = { addresses, handleQuery: () => new Promise<undefined>(() => {}), maxUnanswered: 1 };
  const listener =
    kind === 'batches'
      ? await startUdp({ threadEntry, ...common })
      : await listenByDatagrams({
          ...common,
          drops,
          answers: new ScriptedAnswers(),
          udpSize: 1232,
          clock: systemClock,
          log: silentLog,
        });
  if (kind === 'datagrams') onTestFinished(() => listener.stop(0));
  return { port: getPort(listener), counts: new ListenerDrops(drops) };
}

const KINDS = ['batches', 'datagrams'] as const;

it.each(KINDS)('queries without room are counted: by %s', async (kind) => {
  const { port, counts } = await listen(kind);
  const client = await startClient();
  for (let id = 1; id <= 4; id++) client.send(queryFor('slow', id), { address: '127.0.0.1', port });
  await waitUntil('the queries', () => counts.read(DROPPED.QUERIES) === 3);
  await client.ask('fast', { address: '127.0.0.1', port });
  expect(counts.read(DROPPED.RESPONSES)).toBe(0);
});

for (const kind of KINDS)
  itWhere(mayForge, 'raw sockets', `responses that cannot be sent are counted: by ${kind}`, async () => {
    const { port, counts } = await listen(kind);
    const sender = new PortZeroSender();
    onTestFinished(() => sender.close());
    for (let id = 1; id <= 3; id++) sender.send(port, queryFor('fast', id));
    await waitUntil('the responses', () => counts.read(DROPPED.RESPONSES) === 3);
    expect(counts.read(DROPPED.QUERIES)).toBe(0);
  });
