/**
 * The state of an upstream server, as a transition table. Replies to real queries count; probes are sent only to silent servers.
 *
 *     untried   no reply and no failure yet
 *     well      the last event was a reply
 *     failing   some consecutive queries were overdue or refused; it is asked as before
 *     silent    more of them than losses explain, for a while, or two questions in a row that another server answered: asked last, and
 *               probed to tell slow names from a dead server
 *     down      no reply for five seconds, not even to probes, or the network has refused all queries for as long as a restart
 *               takes: probed with growing pauses
 *     looping   our own query came back: not asked, and probed with growing pauses
 */
export type UpstreamState =
  | { readonly kind: 'untried' }
  | { readonly kind: 'well' }
  | { readonly kind: 'failing'; readonly failures: number }
  | { readonly kind: 'silent'; readonly probes: number }
  | { readonly kind: 'down'; readonly probes: number }
  | { readonly kind: 'looping'; readonly probes: number };

export type UpstreamEvent =
  /** Any reply to a query of this server. */
  | 'replied'
  /** A time-out, or an error of the network. */
  | 'failed'
  /** More queries failed, and for longer, than losses explain. */
  | 'fell-silent'
  /** The network has refused every query for longer than a restart takes. */
  | 'gone'
  /** Our own query came back to us. */
  | 'looped'
  /** A probe was sent. */
  | 'probed'
  /** A probe for loops did not come back. */
  | 'loop-ended';

/** Probes without a reply until a silent server is down. */
const PROBES_UNTIL_DOWN = 7;

export const UNTRIED: UpstreamState = { kind: 'untried' };
const WELL: UpstreamState = { kind: 'well' };

type UpstreamMoves = {
  readonly [Kind in UpstreamState['kind']]: {
    readonly [Event in UpstreamEvent]?: (
      state: Extract<UpstreamState, { readonly kind: Kind }>,
    ) => UpstreamState;
  };
};

/** Missing combinations leave a state unchanged. */
const MOVES: UpstreamMoves = {
  untried: { replied: () => WELL, failed: () => failing(1), gone: down, looped },
  well: { failed: () => failing(1), gone: down, looped },
  failing: {
    replied: () => WELL,
    failed: ({ failures }) => failing(failures + 1),
    'fell-silent': () => ({ kind: 'silent', probes: 0 }),
    gone: down,
    looped,
  },
  silent: {
    replied: () => WELL,
    gone: down,
    probed: ({ probes }) => (probes < PROBES_UNTIL_DOWN ? { kind: 'silent', probes: probes + 1 } : down()),
    looped,
  },
  down: { replied: () => WELL, probed: ({ probes }) => ({ kind: 'down', probes: probes + 1 }), looped },
  // A server in a loop answers in the end, too: only a probe that does not come back ends this state.
  looping: {
    probed: ({ probes }) => ({ kind: 'looping', probes: probes + 1 }),
    'loop-ended': () => UNTRIED,
  },
};

function failing(failures: number): UpstreamState {
  return { kind: 'failing', failures };
}

function down(): UpstreamState {
  return { kind: 'down', probes: 0 };
}

function looped(): UpstreamState {
  return { kind: 'looping', probes: 0 };
}

/** The state after an event; the same object if unchanged. */
export function nextState(state: UpstreamState, event: UpstreamEvent): UpstreamState {
  // Each kind is looked up under its own name, so the types match.
  const move = MOVES[state.kind][event] as ((state: UpstreamState) => UpstreamState) | undefined;
  return move === undefined ? state : move(state);
}

const PROBE_PAUSES = {
  down: { first: 500, max: 30_000 },
  looping: { first: 5000, max: 300_000 },
} as const;
/** Milliseconds between the probes of a silent server. */
const SILENT_PAUSE = 700;

/**
 * Milliseconds until the next probe; undefined if the server needs none.
 *
 * @param random from 0 to below 1: spreads the probes of many servers and processes
 */
export function probePause(state: UpstreamState, random: number): number | undefined {
  if (state.kind === 'silent') return state.probes === 0 ? 0 : SILENT_PAUSE;
  if (state.kind !== 'down' && state.kind !== 'looping') return undefined;
  const { first, max } = PROBE_PAUSES[state.kind];
  return Math.min(first * 2 ** Math.min(state.probes, 20), max) * (0.75 + random / 2);
}
