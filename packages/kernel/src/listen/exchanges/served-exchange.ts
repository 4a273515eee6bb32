/**
 * Requests of one connection, each with the way to answer it, whatever they hold.
 */
import type { EventEmitter } from 'node:events';

/** A request, and the way to answer it. */
export interface ServedExchange {
  /** Calls `run` once: when the response was handed to the kernel, or the exchange was given up; now, if that is over. */
  onClose(run: () => void): void;
}

/** `onClose` of an exchange on a stream. A client may give it up before there is a response. */
export function watchClose(stream: EventEmitter): ServedExchange['onClose'] {
  let isClosed = false;
  stream.once('close', () => {
    isClosed = true;
  });
  return (run) => {
    if (isClosed) run();
    else stream.once('close', run);
  };
}

export interface ConnectionExchanges {
  /** Takes no further requests; the connection ends after those in progress. */
  end(): void;
}
