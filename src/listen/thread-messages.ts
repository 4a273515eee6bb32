/**
 * What a reader thread posts to the main thread. Posting works although the reader's event loop never runs; the other
 * way it would not, which is why orders go through shared memory.
 */
import type { MessagePort } from 'node:worker_threads';
import { reasonOf } from './faults.ts';
import type { ReaderMessages } from './reader-loop.ts';

export type ThreadMessage =
  /** The reader is about to receive its first packet. */
  { readonly kind: 'ready' } | { readonly kind: 'fault'; readonly reason: string };

export function threadMessages(port: MessagePort): ReaderMessages & { ready(): void } {
  const post = (message: ThreadMessage): void => port.postMessage(message);
  return {
    ready: () => post({ kind: 'ready' }),
    reportFault: (error) => post({ kind: 'fault', reason: reasonOf(error) }),
  };
}
