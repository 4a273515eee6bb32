/**
 * A process that serves UDP with scripted answers until it is stopped, to share a port with another one.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import { listenByBatches } from '@portolan/kernel/listen/udp.ts';

const [, , address = '127.0.0.1', port = '0', threadEntry = ''] = process.argv;

const listener = await listenByBatches({
  addresses: [{ address, port: Number(port) }],
  readers: 2,
  firstReader: 0,
  table: new SharedArrayBuffer(0),
  takeover: true,
  udpSize: 1232,
  startThread: makeStartThread(new URL(threadEntry)),
  handleQuery: async () => undefined,
  onReaderDead: () => {},
  clock: systemClock,
  log: silentLog,
});
process.once('message', async () => {
  await listener.stop(1000);
  process.disconnect();
});
process.send?.(listener.endpoints[0]?.port);
