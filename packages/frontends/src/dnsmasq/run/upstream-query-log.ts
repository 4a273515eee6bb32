/**
 * Reports each query to an upstream server at the time it is sent.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import type { Connect } from '@portolan/kernel/forward/connect.ts';

export interface QueryListener {
  /** @param server `127.0.0.1#53` */
  forwarded(name: AbsoluteName, server: string): void;
}

export function reportQueries(connect: Connect, listener: QueryListener): Connect {
  return (server, address, settings, clock) => {
    const transport = connect(server, address, settings, clock);
    return {
      ask(query, events) {
        const [question] = decodeMessage(query.octets).questions;
        if (question !== undefined) listener.forwarded(question.name, `${address}#${server.port}`);
        return transport.ask(query, events);
      },
      get dropped() {
        return transport.dropped;
      },
      close: () => transport.close(),
    };
  };
}
