/**
 * A process that serves wildcard addresses, queries each of the given addresses, fast and slow, and prints the sources of the
 * answers.
 */

import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import { listenByBatches } from '@portolan/kernel/listen/udp.ts';
import { DnsClient } from '@portolan/testing/client/dns-client.ts';
import { answerAuthoritatively } from './scripted-answers.ts';

const [, , threadEntry = '', ...asked] = process.argv;

/** The first address of the same family: routing alone would answer it from itself. */
const ownAddress = (address: string): string | undefined =>
  asked.find((other) => other.includes(':') === address.includes(':'));

const listener = await listenByBatches({
  addresses: ['0.0.0.0', '::'].map((address) => ({ address, port: 5300 })),
  readers: 1,
  firstReader: 0,
  table: new SharedArrayBuffer(0),
  takeover: false,
  udpSize: 1232,
  startThread: makeStartThread(new URL(threadEntry)),
  handleQuery: async (query) => answerAuthoritatively(query),
  onReaderDead: () => {},
  clock: systemClock,
  log: silentLog,
});
const sources: string[] = [];
for (const address of asked) {
  const family = address.includes(':') ? 'udp6' : 'udp4';
  const client = await DnsClient.openUdp({ family, from: ownAddress(address) });
  for (const name of ['fast.example', 'slow.example']) {
    sources.push((await client.ask(name, { address, port: 5300 })).from.address);
  }
  await client.close();
}
await listener.stop(0);
console.log(JSON.stringify(sources));
