/**
 * What comes of a question that others were asked.
 */
import type { Message } from '../wire/types.ts';

export type FailureReason =
  /** No server replied in time. */
  | 'timeout'
  /** No server could be reached. */
  | 'network'
  /** All servers send our queries back to us. */
  | 'loop'
  /** No rule names a server for it, or no server's name has an address. */
  | 'no-upstream'
  /** Too much is under way already. */
  | 'overloaded'
  /** Its rule says that nobody is to be asked. */
  | 'local-only'
  /** The forwarder was stopped. */
  | 'stopped';

export type ForwardReply =
  | {
      readonly kind: 'reply';
      /** As the server sent it, without what does not belong to the question. Its id means nothing. */
      readonly message: Message;
      readonly upstream: string;
      /** From the question to the reply, in milliseconds. */
      readonly milliseconds: number;
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason; readonly detail: string };
