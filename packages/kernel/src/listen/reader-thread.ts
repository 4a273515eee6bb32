/**
 * The entry point of a reader thread: a loop over the sockets and the table that it was started with.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { collectGarbage } from '../base/collect-garbage.ts';
import { composeRecords } from '../records/cluster-composer.ts';
import { TableReader } from '../table/reader.ts';
import { ReaderLoop } from './reader-loop.ts';
import { receiveReaderData } from './reader-threads.ts';
import { threadMessages } from './thread-messages.ts';
import type { InstantAnswers } from './types.ts';

/** For listeners whose queries all go to the handler chain: there is no table to look up. */
const CHAIN_ONLY: InstantAnswers = { enter() {}, leave() {}, setTime() {}, answer: () => -1 };

if (parentPort === null) throw new Error('not a thread: reader-thread runs only as a worker of the server');

const data = receiveReaderData(workerData, parentPort);
const messages = threadMessages(parentPort);
const { table, reader, udpSize } = data;
const answers = table === undefined ? CHAIN_ONLY : new TableReader(table, reader, udpSize, composeRecords);
const loop = new ReaderLoop(data, answers, messages);

async function run(): Promise<void> {
  messages.ready();
  if (loop.run('quiet')) return;
  // Collects the garbage of loading the code: from now on, the thread allocates no memory.
  await collectGarbage();
  loop.run();
}

void run();
