/**
 * How an upstream server does, and what may follow on what. Replies to real queries count; probes are sent only to servers
 * that are left out.
 *
 *     untried   no reply and no failure yet
 *     well      the last thing heard of it was a reply
 *     failing   queries went unanswered since; it is asked as before
 *     down      too many did: asked last, and probed with growing pauses
 *     looping   our own query came back: not asked, and probed with growing pauses
 */
export type UpstreamState =
  | { readonly kind: 'untried' }
  | { readonly kind: 'well' }
  | { readonly kind: 'failing'; readonly failures: number }
  | { readonly kind: 'down'; readonly probes: number }
  | { readonly kind: 'looping'; readonly probes: number };

export type UpstreamEvent =
  /** Any reply to a query of ours. */
  | 'replied'
  /** No reply in time, or an error of the network. */
  | 'failed'
  /** Our own query came back to us. */
  | 'looped'
  /** A probe was sent. */
  | 'probed'
  /** A probe for loops did not come back. */
  | 'loop-ended';

/** A lossy path loses a few in a row by chance; a dead server all of them. */
const FAILURES_UNTIL_DOWN = 6;

export const UNTRIED: UpstreamState = { kind: 'untried' };
const WELL: UpstreamState = { kind: 'well' };

type Moves = {
  readonly [Kind in UpstreamState['kind']]: {
    readonly [Event in UpstreamEvent]?: (
      state: Extract<UpstreamState, { readonly kind: Kind }>,
    ) => UpstreamState;
  };
};

/** What is not here leaves a state as it is. */
const MOVES: Moves = {
  untried: { replied: () => WELL, failed: () => failing(1), looped },
  well: { failed: () => failing(1), looped },
  failing: { replied: () => WELL, failed: ({ failures }) => failing(failures + 1), looped },
  down: { replied: () => WELL, probed: ({ probes }) => ({ kind: 'down', probes: probes + 1 }), looped },
  // A loop answers too, in the end: only a probe that stays away ends this.
  looping: {
    probed: ({ probes }) => ({ kind: 'looping', probes: probes + 1 }),
    'loop-ended': () => UNTRIED,
  },
};

function failing(failures: number): UpstreamState {
  return failures < FAILURES_UNTIL_DOWN ? { kind: 'failing', failures } : { kind: 'down', probes: 0 };
}

function looped(): UpstreamState {
  return { kind: 'looping', probes: 0 };
}

/** The state after an event. The same object if it changes nothing. */
export function nextState(state: UpstreamState, event: UpstreamEvent): UpstreamState {
  // Each kind is looked up under its own name, so the move takes it.
  const move = MOVES[state.kind][event] as ((state: UpstreamState) => UpstreamState) | undefined;
  return move === undefined ? state : move(state);
}

const PROBE_PAUSES = {
  down: { first: 500, most: 30_000 },
  looping: { first: 5000, most: 300_000 },
} as const;

/**
 * Milliseconds until the next probe; undefined for a server that needs none.
 *
 * @param random from 0 to below 1: spreads the probes of many servers and programs
 */
export function probePause(state: UpstreamState, random: number): number | undefined {
  if (state.kind !== 'down' && state.kind !== 'looping') return undefined;
  const { first, most } = PROBE_PAUSES[state.kind];
  return Math.min(first * 2 ** Math.min(state.probes, 20), most) * (0.75 + random / 2);
}
