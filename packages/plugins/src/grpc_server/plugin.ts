/**
 * `grpc_server`: limits of the listeners of `grpc://`.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { readListenerLimit } from '@portolan/corefile/directive/listener-limit.ts';

export interface GrpcServerOptions {
  /** Calls of a connection at the same time, from 0; 0: 1,000. Default: 256. */
  readonly maxStreams: number | undefined;
  /** Connections of all clients, from 0; 0: as many as over TCP. Default: 200. */
  readonly maxConnections: number | undefined;
}

/** Source: plugin/grpc_server of CoreDNS 1.14.7. */
export const grpcServer = definePlugin({
  name: 'grpc_server',
  syntax: ['grpc_server {', '    max_streams NUMBER', '    max_connections NUMBER', '}'],
  read(cursor): GrpcServerOptions {
    let maxStreams: number | undefined;
    let maxConnections: number | undefined;
    cursor.firstUse(() => {
      if (cursor.remainingArguments().length > 0) throw cursor.argumentError();
      cursor.properties({
        max_streams: () => {
          const remedy = 'Give a whole number, 0 for 1000.';
          maxStreams = readListenerLimit(cursor, 'max_streams', maxStreams, remedy);
        },
        max_connections: () => {
          const remedy = 'Give a whole number, 0 for as many as over TCP.';
          maxConnections = readListenerLimit(cursor, 'max_connections', maxConnections, remedy);
        },
      });
    });
    return { maxStreams, maxConnections };
  },
});
