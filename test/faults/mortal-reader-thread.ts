/**
 * The entry of a normal reader thread that dies on a question whose name begins with the label `die`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { ClientTransport } from '@portolan/dns/response-size.ts';
import { type ReaderData, ReaderLoop } from '@portolan/kernel/listen/reader-loop.ts';
import { threadMessages } from '@portolan/kernel/listen/thread-messages.ts';
import { composeRecords } from '@portolan/kernel/records/cluster-composer.ts';
import { TableReader } from '@portolan/kernel/table/reader.ts';
import { readFirstLabel } from '../listen/scripted-answers.ts';

class MortalAnswers extends TableReader {
  override answer(
    packet: Uint8Array,
    start: number,
    length: number,
    capacity: number,
    transport: ClientTransport,
  ): number {
    if (readFirstLabel(packet, start) === 'die') process.exit(3);
    return super.answer(packet, start, length, capacity, transport);
  }
}

if (parentPort === null) throw new Error('not a thread');

// Started by UdpReader alone.
const data = workerData as ReaderData;
const messages = threadMessages(parentPort);
const { table, reader, udpSize } = data;
if (table === undefined) throw new Error('no table');
const answers = new MortalAnswers(table, reader, udpSize, composeRecords);
const loop = new ReaderLoop(data, answers, messages);
messages.ready();
loop.run();
