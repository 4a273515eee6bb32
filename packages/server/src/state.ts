/**
 * The lifecycle of a server.
 */
export type ServerState = 'made' | 'starting' | 'serving' | 'lameduck' | 'draining' | 'stopped';

const LEGAL_MOVES: Readonly<Record<ServerState, readonly ServerState[]>> = {
  made: ['starting', 'draining'],
  /** A start that fails or is interrupted goes directly to draining. */
  starting: ['serving', 'draining'],
  serving: ['lameduck', 'draining'],
  lameduck: ['draining'],
  draining: ['stopped'],
  stopped: [],
};

/** A bug in this program, never a fault of its input. */
export class ServerStateError extends Error {
  override readonly name = 'ServerStateError';
  readonly from: ServerState;
  readonly to: ServerState;

  constructor(from: ServerState, to: ServerState) {
    super(`a server cannot go from one state to the other: ${from} to ${to}`);
    this.from = from;
    this.to = to;
  }
}

/** @throws ServerStateError */
export function moveServer(from: ServerState, to: ServerState): ServerState {
  if (!LEGAL_MOVES[from].includes(to)) throw new ServerStateError(from, to);
  return to;
}
