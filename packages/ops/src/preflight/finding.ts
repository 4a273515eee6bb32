/**
 * What a preflight finds: whether Portolan can take the place of the DNS program that runs, and what has to be done first.
 */
import type { Remedy } from '@portolan/server/reasons/describe-reason.ts';

/** In the order of the report. */
export const PREFLIGHT_CHECKS = [
  'flags',
  'configuration',
  'privileges',
  'memory',
  'permissions',
  'rollout',
  'owner',
  'scraping',
  'endpoint-slices',
  'nodes',
  'node-network',
] as const;
export type PreflightCheckName = (typeof PREFLIGHT_CHECKS)[number];

export interface PreflightFinding {
  readonly check: PreflightCheckName;
  /** `first`: to do before the swap. `risk`: to know before it. `note`: what stays or differs. */
  readonly severity: 'first' | 'risk' | 'note';
  /** Without its final full stop. */
  readonly sentence: string;
  readonly remedies: readonly Remedy[];
}

/** Something that was read from the cluster, or why it could not be. */
export type Seen<Value> =
  | { readonly kind: 'seen'; readonly value: Value }
  | { readonly kind: 'unseen'; readonly reason: string };

export interface PreflightReport {
  readonly like: string;
  /** `Deployment kube-system/coredns`. */
  readonly workload: string;
  readonly images: Readonly<Record<string, string>>;
  /** Which answers the program gives where the specification leaves a choice. It stays the same. */
  readonly dialect: 'coredns' | 'kube-dns';
  /** Of the Corefile, with the number of server blocks that have each. */
  readonly plugins: Readonly<Record<string, number>>;
  /** The arguments of each container. */
  readonly arguments: Readonly<Record<string, readonly string[]>>;
  readonly go: boolean;
  readonly findings: readonly PreflightFinding[];
  readonly checked: readonly PreflightCheckName[];
  readonly notChecked: readonly { readonly check: PreflightCheckName; readonly reason: string }[];
}

/** Makes findings of one check. */
export class CheckFindings {
  readonly all: PreflightFinding[] = [];
  readonly #check: PreflightCheckName;

  constructor(check: PreflightCheckName) {
    this.#check = check;
  }

  /** @param remedies sentences without final full stop, or with a command */
  add(severity: PreflightFinding['severity'], sentence: string, ...remedies: readonly Remedy[]): void {
    this.all.push({ check: this.#check, severity, sentence, remedies });
  }
}
