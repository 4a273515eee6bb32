/**
 * The entry of a reader thread: a loop over the sockets and the table that it was started with.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { TableReader } from '../table/reader.ts';
import { type ReaderData, ReaderLoop } from './reader-loop.ts';
import { threadMessages } from './thread-messages.ts';

if (parentPort === null) throw new Error('not a thread: reader-thread runs only as a worker of the server');

// Set by `UdpReader`, the only one to start this entry.
const data = workerData as ReaderData;
const messages = threadMessages(parentPort);
const loop = new ReaderLoop(data, new TableReader(data.table, data.reader, data.udpSize), messages);
messages.ready();
loop.run();
