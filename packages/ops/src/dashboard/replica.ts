/**
 * The servers that a dashboard shows, however they are reached.
 */
import { requestControl } from '@portolan/server/observe/control/control-client.ts';
import type { ControlRequest } from '@portolan/server/observe/control/protocol.ts';

export interface ShownReplica {
  readonly name: string;
  /** Ends without an error when `signal` aborts. */
  ask(request: ControlRequest, signal: AbortSignal): AsyncIterable<unknown>;
}

/** Lists the replicas there are now. */
export type FindReplicas = (signal: AbortSignal) => Promise<readonly ShownReplica[]>;

/** The server at a control socket. @param place the path of the socket, or `@` and its abstract name */
export function socketReplica(place: string): ShownReplica {
  return { name: place, ask: (request, signal) => requestControl(place, request, signal) };
}
