/**
 * The entry of a reader thread with scripted answers instead of the table.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { ReaderLoop } from '@portolan/kernel/listen/reader-loop.ts';
import { receiveReaderData } from '@portolan/kernel/listen/reader-threads.ts';
import { threadMessages } from '@portolan/kernel/listen/thread-messages.ts';
import { ScriptedAnswers } from './scripted-answers.ts';

if (parentPort === null) throw new Error('not a thread');

const messages = threadMessages(parentPort);
const loop = new ReaderLoop(receiveReaderData(workerData, parentPort), new ScriptedAnswers(), messages);
messages.ready();
loop.run();
