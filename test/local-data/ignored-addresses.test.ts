/**
 * `--ignore-address`: ignores an answer that a forger sends first, and returns the true one.
 */

import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { expect, onTestFinished } from 'vitest';
import { itWithTool } from '../support/tools.ts';
import { findDifferences, runBoth, tell } from './both-programs.ts';

const FORGED = '203.0.113.66';

itWithTool('dnsmasq', 'an ignored address is waited past, as by the real one', async () => {
  const upstream = await LoopbackUpstream.start(({ query, send }) => {
    send(reply(query, { answers: [makeAddressRecord(query, FORGED)] }));
    setTimeout(() => send(reply(query)), 50);
  });
  onTestFinished(() => upstream.stop());
  const port = upstream.address.split(':').at(-1);
  const both = await runBoth([
    `--server=127.0.0.1#${port}`,
    '--ignore-address=203.0.113.64/28',
    '--cache-size=10',
  ]);
  expect(await findDifferences(both, ['www.example A', 'other.example A'])).toEqual({});
  expect((await tell(both.ours, 'third.example A')).answers.join()).toContain('192.0.2.1');
});
