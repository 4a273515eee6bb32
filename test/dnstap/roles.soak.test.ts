/**
 * `dnstap` in each role, with a Corefile or with blocks that join: all queries have messages, those that readers would answer by themselves
 * among them.
 */
import { join } from 'node:path';
import { decodeMessage } from '@portolan/dns/message.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { readClientQuery } from '@portolan/plugins/dnstap/read-tap-message.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { canRun, ROLES, startRole } from '../support/roles.ts';
import { Collector } from './collector.ts';

afterEach(endAllPrograms);

it.each(ROLES.filter(canRun))('%s shows misses, hits, and what comes over TCP', async (role) => {
  const upstream = await LoopbackUpstream.start(({ query, send }) =>
    send(reply(query, { answers: [makeAddressRecord(query, '192.0.2.7')] })),
  );
  onTestFinished(() => upstream.stop());
  const socket = join((await makeTemporaryFolder()).path, 'tap.sock');
  const collector = await Collector.start(socket);
  const server = await startRole(role, { upstream: upstream.port, joining: `dnstap ${socket} full` });
  for (const transport of ['udp', 'udp', 'tcp', 'udp'] as const)
    expect(await askShort(server, 'www.example.org.', 'A', { transport })).toBe('192.0.2.7');
  const listQueried = () =>
    collector.frames.flatMap((frame) => {
      const query = readClientQuery(frame);
      return query === undefined ? [] : decodeMessage(query).questions.map(({ name }) => name);
    });
  const countQueries = () => listQueried().filter((name) => name === 'www.example.org.').length;
  await waitUntil('all queries', () => countQueries() === 4);
});
