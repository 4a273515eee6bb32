/**
 * The explanation of a name: each question that a client's resolver would ask, its answer, and the reason where there is none.
 *
 * It is sent as JSON. Readers ignore fields that they do not know.
 */
import type { Remedy } from './describe-reason.ts';
import type { Near, Reason } from './reason.ts';
import type { ResolverLibrary, StepOutcome } from './search-walk.ts';

export const EXPLANATION_VERSION = 'portolan/v1alpha1';

export interface Explanation {
  readonly apiVersion: typeof EXPLANATION_VERSION;
  readonly kind: 'Explanation';
  /** RFC 3339. */
  readonly at: string;
  readonly question: {
    readonly name: string;
    readonly types: readonly string[];
    readonly resolver: ResolverLibrary;
  };
  readonly client: ExplainedClient;
  readonly verdict: Verdict;
  readonly steps: readonly ExplainedStep[];
  /** Other resolver libraries that come to another result. */
  readonly otherResolvers: readonly { readonly resolver: ResolverLibrary; readonly sentence: string }[];
  readonly upstreams: readonly ExplainedUpstream[];
  readonly remedies: readonly Remedy[];
  /** What could not be looked at. */
  readonly notChecked: readonly string[];
}

export interface ExplainedClient {
  readonly address: string | undefined;
  readonly namespace: string;
  readonly search: readonly string[];
  readonly ndots: number;
  /** Where the search list comes from. */
  readonly source: 'given' | 'pod' | 'assumed';
}

export interface Verdict {
  /** `unknown`: the question was not asked upstream. */
  readonly outcome: 'resolves' | 'fails' | 'unknown';
  readonly sentence: string;
  readonly addresses: readonly string[];
  /** With `resolves`: why the answer may not be what the client means. */
  readonly reason?: Reason['kind'];
}

/** What answered: data of the cluster; other data of this server; a cached answer, fresh or stale; nothing yet; an upstream server. */
export type AnswerSource = 'cluster' | 'local' | 'cache' | 'stale' | 'not-asked' | 'upstream' | 'nothing';

export interface ExplainedStep {
  /** From 1. */
  readonly number: number;
  readonly name: string;
  readonly type: string;
  /** Whether the client's resolver comes so far. */
  readonly isReached: boolean;
  /** Undefined: it would be asked upstream. */
  readonly rcode: string | undefined;
  readonly outcome: StepOutcome | 'unknown';
  readonly source: AnswerSource;
  /** The zone of the server block; undefined: none has the name. */
  readonly zone: string | undefined;
  /** The plugin that answered. */
  readonly plugin: string | undefined;
  /** Of a cached answer: seconds. */
  readonly age?: number;
  readonly left?: number;
  /** The servers that would be asked. */
  readonly servers?: readonly string[];
  readonly records: readonly string[];
  readonly addresses: readonly string[];
  readonly reason?: Reason;
  readonly sentence?: string;
  readonly near?: readonly Near[];
}

export interface ExplainedUpstream {
  readonly server: string;
  readonly state: string;
  /** Milliseconds in this state, and since the last reply. */
  readonly stateAge: number;
  readonly lastReplyAge: number | undefined;
}

/** As in the documentation of `explain`. */
export const EXPLAIN_EXIT = { RESOLVES: 0, FAILS: 1, USAGE: 2, BLIND: 3 } as const;

export function toExplainExitCode({ outcome }: Verdict): (typeof EXPLAIN_EXIT)[keyof typeof EXPLAIN_EXIT] {
  if (outcome === 'resolves') return EXPLAIN_EXIT.RESOLVES;
  return outcome === 'fails' ? EXPLAIN_EXIT.FAILS : EXPLAIN_EXIT.BLIND;
}
