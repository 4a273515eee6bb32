/**
 * `https`: limits of the listeners of `https://`.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseInteger } from '@portolan/corefile/directive/go-values.ts';

export interface HttpsOptions {
  /** Connections of all clients, from 0; 0: as many as over TCP. Default: 200. */
  readonly maxConnections: number | undefined;
}

/** `https { max_connections N }`. Source: plugin/https of CoreDNS 1.14.7. */
export const https = definePlugin({
  name: 'https',
  syntax: ['https {', '    max_connections NUMBER', '}'],
  read(cursor): HttpsOptions {
    let maxConnections: number | undefined;
    cursor.firstUse(() => {
      if (cursor.remainingArguments().length > 0) throw cursor.argumentError();
      cursor.properties({
        max_connections: () => {
          maxConnections = readConnections(cursor, maxConnections);
        },
      });
    });
    return { maxConnections };
  },
});

function readConnections(cursor: DirectiveCursor, before: number | undefined): number {
  const remedy = 'Give a whole number, 0 for as many as over TCP.';
  const [text = ''] = cursor.remainingBetween(1, 1);
  const connections = parseInteger(text);
  if (connections.kind === 'bad')
    throw cursor.error(`invalid max_connections value '${text}': ${connections.fault}`, remedy);
  if (connections.value < 0)
    throw cursor.error(`max_connections must be a non-negative integer: ${connections.value}`, remedy);
  if (before !== undefined)
    throw cursor.error('max_connections already defined for this server block', 'Take one of them out.');
  return connections.value;
}
