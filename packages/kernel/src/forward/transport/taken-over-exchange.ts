/**
 * A query that another thread has sent over TCP and given up.
 */
import type { DirectServer, Exchange, Transport } from './transport.ts';

/**
 * The result of that query counts. If it lost its connection, it is repeated once here (RFC 7766 section 6.2.4).
 */
export function continueBy(transport: Pick<Transport, 'ask'>): DirectServer['takeOver'] {
  return (query, events) => {
    let again: Exchange | undefined;
    let isCancelled = false;
    return {
      overdue: () => again?.overdue(),
      cancel() {
        isCancelled = true;
        again?.cancel();
      },
      replied: (...reply) => events.replied(...reply),
      failed() {
        if (!isCancelled) again ??= transport.ask(query, events);
      },
    };
  };
}
