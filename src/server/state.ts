/**
 * The life of a server, from its making to its end.
 */
export type ServerState = 'made' | 'starting' | 'serving' | 'lameduck' | 'draining' | 'stopped';

const LEGAL_MOVES: Readonly<Record<ServerState, readonly ServerState[]>> = {
  made: ['starting', 'draining'],
  /** A start that fails, or is interrupted, ends without having served. */
  starting: ['serving', 'draining'],
  serving: ['lameduck', 'draining'],
  lameduck: ['draining'],
  draining: ['stopped'],
  stopped: [],
};

/** A mistake of this program, never of its input. */
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
