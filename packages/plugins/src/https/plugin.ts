/**
 * `https`: limits of the listeners of `https://`.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { readListenerLimit } from '@portolan/corefile/directive/listener-limit.ts';

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
          const remedy = 'Give a whole number, 0 for as many as over TCP.';
          maxConnections = readListenerLimit(cursor, 'max_connections', maxConnections, remedy);
        },
      });
    });
    return { maxConnections };
  },
});
