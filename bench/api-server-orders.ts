/**
 * The messages between the benchmarks and the API server double, which runs in a process of its own.
 */
export type Order =
  /** Gives the probe, a headless service, this one endpoint. */
  | { readonly kind: 'point-probe'; readonly address: string }
  /** Changes the endpoints of headless services, so many times a second, until told otherwise. */
  | { readonly kind: 'start-changes'; readonly perSecond: number }
  /** Changes a slice of the large service, so many times a second, until told otherwise. */
  | { readonly kind: 'start-slices'; readonly perSecond: number }
  | { readonly kind: 'stop-changes' };

/** Times are those of the machine's clock, see `machineTime`. */
export type Notice =
  | { readonly kind: 'listening'; readonly url: string }
  /** The first request was answered whole. */
  | { readonly kind: 'first-answer'; readonly at: number }
  | { readonly kind: 'probe-pointed'; readonly at: number }
  | { readonly kind: 'changes-stopped'; readonly changes: number; readonly milliseconds: number };

export const PROBE = { namespace: 'default', name: 'probe', addresses: [], endpoints: [] } as const;
