/**
 * The entry of a thread with an upstream server that answers every question with an address, at once and with little work.
 */
import { workerData } from 'node:worker_threads';
import { PacketBatch } from '@portolan/kernel/socket/batch.ts';
import { closeDescriptor, setOption } from '@portolan/kernel/socket/descriptor.ts';
import { MSG_WAITFORONE, SO_RCVBUF, SOL_SOCKET } from '@portolan/kernel/socket/linux.ts';
import { openUdpSocket } from '@portolan/kernel/socket/udp-socket.ts';
import { type ThreadData, WORD } from './flood-plan.ts';

const WAIT_MILLISECONDS = 50;
const RECEIVE_BUFFER = 2 ** 22;
/** A compressed owner, class IN and a TTL of 60 s, for both types. */
const ADDRESS = [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];
const TEXT = [0xc0, 0x0c, 0, 16, 0, 1, 0, 0, 0, 60, 0, 4, 3, 97, 98, 99];
const TYPE_TXT = 16;

// Started by `CountingThread` alone.
const { words } = workerData as ThreadData<undefined>;
const counts = new Int32Array(words);
const { fd, endpoint } = openUdpSocket({ address: '127.0.0.1', port: 0 }, WAIT_MILLISECONDS);
setOption(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
const batch = new PacketBatch(512);
Atomics.store(counts, WORD.PORT, endpoint.port);

while (Atomics.load(counts, WORD.STOP) === 0) {
  const received = batch.receive(fd, MSG_WAITFORONE);
  for (let index = 0; index < received; index++) {
    const { octets } = batch;
    const start = batch.startAt(index);
    let end = start + 12;
    while ((octets[end] ?? 0) !== 0) end += (octets[end] ?? 0) + 1;
    const isText = octets[end + 2] === TYPE_TXT;
    octets.set([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], start + 2);
    octets.set(isText ? TEXT : ADDRESS, end + 5);
    batch.answer(index, end + 5 + ADDRESS.length - start);
  }
  if (received > 0) {
    batch.send(fd);
    Atomics.add(counts, WORD.ANSWERED, received);
  }
}
closeDescriptor(fd);
