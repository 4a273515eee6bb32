/**
 * Queries from port 0, to which answers cannot be sent: the kernel then refuses the rest of the `sendmmsg`.
 */

import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { mayForge, PortZeroSender } from '../support/port-zero-sender.ts';
import { itWhere } from '../support/tools.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';

let threadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
});

itWhere(mayForge, 'raw sockets', 'queries from port 0 cost no other client its answer', async () => {
  const listener = await startUdp({ threadEntry });
  const client = await startClient();
  const sender = new PortZeroSender();
  onTestFinished(() => sender.close());
  const port = getPort(listener);
  for (let round = 0; round < 20; round++) {
    const answers: Promise<unknown>[] = [];
    for (let index = 0; index < 20; index++) {
      if (index % 3 === 0) sender.send(port, queryFor('fast.example', index));
      if (index % 7 === 0) sender.send(port, queryFor('slow.example', index));
      answers.push(
        client.ask(index % 5 === 0 ? 'slow.example' : 'fast.example', { address: '127.0.0.1', port }),
      );
    }
    await Promise.all(answers);
  }
  await waitUntil('all packets to be read', () => listener.count().readers[0]?.packets === 20 * (20 + 7 + 3));
  expect(listener.count().readers[0]).toMatchObject({ refused: 20 * 7, blocked: 0, faults: 0 });
  await waitUntil('slow answers to be tried', () => listener.count().slow.unanswered === 0);
  expect(listener.count().slow).toMatchObject({ unsent: 20 * 3, faults: 0 });
  expect(client.strays).toBe(0);
});
