/**
 * The states of a watch and the moves between them.
 */
import type { WaitingKind } from './failure.ts';

export interface WaitingReason {
  readonly kind: WaitingKind;
  /** The error message of the server or the network. */
  readonly words: string;
}

/** The state of the watch of one kind of object, for metrics. */
export interface WatchStats {
  /** `services`, `endpoints`, `namespaces`, `pods`, `nodes` or `configmaps`. */
  readonly title: string;
  readonly state: WatchState['kind'];
  /** Milliseconds since the objects held were last proven current; undefined before the first proof. */
  readonly age: number | undefined;
  /** Objects on the server, as far as we know, including those that DNS does not use. */
  readonly objects: number;
  /** How often it was listed completely. */
  readonly lists: number;
  /** How often a comparison found that the store differed from the server. */
  readonly repairs: number;
  /** Objects that could not be understood. */
  readonly malformed: number;
}

export type WatchState =
  /** Not started, or stopped. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'listing'; readonly path: string; readonly objects: number }
  | { readonly kind: 'watching'; readonly path: string }
  /** The watch is open, but no event, bookmark or answered comparison has arrived for `timing.silent`. */
  | { readonly kind: 'silent'; readonly path: string }
  /** `until` is in milliseconds of the clock's `now`. Objects held stay in service. */
  | { readonly kind: 'waiting'; readonly until: number; readonly reason: WaitingReason };

/** The states that may follow each state. A state may follow itself with other fields. */
const legalMoves: Readonly<Record<WatchState['kind'], readonly WatchState['kind'][]>> = {
  idle: ['listing', 'idle'],
  listing: ['listing', 'watching', 'waiting', 'idle'],
  watching: ['watching', 'silent', 'listing', 'waiting', 'idle'],
  silent: ['watching', 'listing', 'waiting', 'idle'],
  waiting: ['listing', 'watching', 'waiting', 'idle'],
};

/** A bug in this program, never caused by its input. */
export class IllegalMoveError extends Error {
  readonly from: WatchState['kind'];
  readonly to: WatchState['kind'];

  constructor(from: WatchState['kind'], to: WatchState['kind']) {
    super(`A watch cannot go from one state to the other: ${from} to ${to}`);
    this.name = 'IllegalMoveError';
    this.from = from;
    this.to = to;
  }
}

/** @throws {IllegalMoveError} */
export function moveWatch(from: WatchState, to: WatchState): WatchState {
  if (!legalMoves[from.kind].includes(to.kind)) throw new IllegalMoveError(from.kind, to.kind);
  return Object.freeze(to);
}

const reasonWords: Readonly<Record<WaitingKind, string>> = {
  unreachable: 'no connection',
  network: 'connection lost',
  authentication: 'not authenticated',
  permission: 'forbidden',
  server: 'the server failed',
  'missing-kind': 'not served',
};

/** For readiness and people: `forbidden: services is forbidden: User ...`. */
export function describeState(state: WatchState): string {
  if (state.kind === 'idle') return 'not started';
  if (state.kind === 'listing') return `still listing, ${state.objects} so far`;
  if (state.kind === 'watching') return 'watching';
  if (state.kind === 'silent') return 'silent: neither event, bookmark nor answered comparison';
  return `${reasonWords[state.reason.kind]}: ${state.reason.words}`;
}
