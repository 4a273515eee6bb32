/**
 * Faults on request: the requests that they affect, how often, and their effect.
 */
import type { Target, Verb } from './target.ts';

export type Fault =
  /** Refused with this status. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly retryAfter?: string;
      readonly message?: string;
    }
  /** Never answered; the connection stays open. */
  | { readonly kind: 'stall' }
  /** The body stops after so many octets; the connection stays open. */
  | { readonly kind: 'stall-body'; readonly afterBytes: number }
  /** The body ends, in good order, after so many octets. */
  | { readonly kind: 'end'; readonly afterBytes: number }
  /** The connection is reset after so many octets of the body. */
  | { readonly kind: 'reset'; readonly afterBytes: number }
  /** The body comes in pieces of so many octets, a turn of the event loop (or `pause` milliseconds) apart. */
  | { readonly kind: 'pieces'; readonly size: number; readonly pause?: number }
  /** This text is put in front of the body. */
  | { readonly kind: 'prefix'; readonly text: string }
  /** The continue token is taken for expired. */
  | { readonly kind: 'expire-continue' };

export interface FaultRule {
  readonly plural?: string;
  readonly verb?: Verb;
  /** Only requests with (or without) a continue token. */
  readonly continued?: boolean;
  /** How many requests meet it; 1 unless told otherwise. */
  readonly times?: number;
  readonly fault: Fault;
}

export class Faults {
  #rules: { readonly rule: FaultRule; left: number }[] = [];

  add(rule: FaultRule): void {
    this.#rules.push({ rule, left: rule.times ?? 1 });
  }

  clear(): void {
    this.#rules = [];
  }

  /** The first fault that this request meets, which thereby is used up by one. */
  take(verb: Verb, target: Target, query: URLSearchParams): Fault | undefined {
    const met = this.#rules.find(
      ({ rule, left }) =>
        left > 0 &&
        (rule.plural === undefined || rule.plural === target.plural) &&
        (rule.verb === undefined || rule.verb === verb) &&
        (rule.continued === undefined || rule.continued === query.has('continue')),
    );
    if (met === undefined) return undefined;
    met.left -= 1;
    return met.rule.fault;
  }
}
