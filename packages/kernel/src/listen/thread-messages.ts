/**
 * The messages between a reader thread and the main thread. A reader can post although its event loop never runs, but
 * it does not receive messages by events. So orders go through shared memory, which also says when to fetch a policy.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { describeDefect } from '../base/describe-error.ts';
import type { ReaderPolicy } from '../forward/reader-path/reader-policy.ts';
import type { ReaderMessages } from './reader-loop.ts';

export type ThreadMessage =
  /** The reader is about to receive its first packet. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'fault'; readonly reason: string }
  | { readonly kind: 'deaf'; readonly reason: string }
  | { readonly kind: 'flood'; readonly client: string; readonly share: number }
  | { readonly kind: 'header'; readonly sender: string };

export function threadMessages(port: MessagePort): ReaderMessages & { ready(): void } {
  const post = (message: ThreadMessage): void => port.postMessage(message);
  return {
    ready: () => post({ kind: 'ready' }),
    reportFault: (error) => post({ kind: 'fault', reason: describeDefect(error) }),
    reportDeafness: (reason) => post({ kind: 'deaf', reason }),
    reportFlood: (client, share) => post({ kind: 'flood', client, share }),
    reportHeader: (sender) => post({ kind: 'header', sender }),
    receivePolicy: () => receiveNewestPolicy(port),
  };
}

/** The newest of the policies that have arrived. */
function receiveNewestPolicy(port: MessagePort): ReaderPolicy | undefined {
  let last: ReaderPolicy | undefined;
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
    // Policies are the only messages to a reader.
    last = next.message as ReaderPolicy;
  return last;
}
