/**
 * The entry of a thread that floods a server with ANY questions from one address: for a name of the cluster, which a reader
 * answers, and for new outside names, which a reader cannot answer.
 */
import { workerData } from 'node:worker_threads';
import { encodeMessage } from '@portolan/dns/message.ts';
import { encodeSocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { bindDescriptor, openDescriptor } from '@portolan/kernel/socket/descriptor.ts';
import { libc } from '@portolan/kernel/socket/libc.ts';
import { SOCK_DGRAM } from '@portolan/kernel/socket/linux.ts';
import { MessageRow } from '@portolan/kernel/socket/message-row.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';

export interface FloodPlan {
  readonly port: number;
  readonly perSecond: number;
  /** Two 32-bit words: whether to stop, and how many were sent. */
  readonly counts: SharedArrayBuffer;
}

const ROW = 64;
const LABEL_AT = 13;
const LABEL_OCTETS = 8;

// Started by the test alone.
const { port, perSecond, counts: memory } = workerData as FloodPlan;
const counts = new Int32Array(memory);
const source = { address: '127.0.0.66', port: 0 };
const { fd } = bindDescriptor(openDescriptor(source, SOCK_DGRAM), source, 'udp', 'alone');
const server = encodeSocketAddress({ address: '127.0.0.1', port });
libc().connect(fd, server, server.length);

const row = new MessageRow(ROW, 128, 'connected');
for (let seat = 0; seat < ROW; seat++) {
  const name = seat % 2 === 0 ? 'cart.shop.svc.cluster.local' : `${'x'.repeat(LABEL_OCTETS)}.flood.example`;
  const packet = encodeMessage(makeQuery(name, 'ANY'));
  row.octets.set(packet, row.packetAt(seat));
  row.setLength(seat, packet.length);
}

let sent = 0;
const began = performance.now();
while (Atomics.load(counts, 0) === 0) {
  const due = ((performance.now() - began) / 1000) * perSecond;
  if (sent >= due) {
    Atomics.wait(counts, 0, 0, 1);
    continue;
  }
  for (let seat = 1; seat < ROW; seat += 2) {
    const label = (sent + seat).toString(36).padStart(LABEL_OCTETS, '0');
    row.octets.set(Buffer.from(label, 'latin1'), row.packetAt(seat) + LABEL_AT);
  }
  const left = row.send(fd, ROW, { skips: () => true });
  sent += ROW - left;
  Atomics.store(counts, 1, sent);
}
