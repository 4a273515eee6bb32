/**
 * Findings: what is wrong with a DNS server or its cluster, found by checks. A check is a pure function over evidence that is collected
 * once, so that each has tests without a cluster.
 */

import type { LossStatus } from '@portolan/kernel/base/losses.ts';
import type { UpstreamStatistics } from '@portolan/kernel/forward/upstream/upstream-statistics.ts';
import type { ServiceEvidence } from './cluster-evidence.ts';
import type { Remedy } from './describe-reason.ts';
import type { Near } from './reason.ts';
import type { FindingKind } from './reason-texts.ts';

export interface Finding {
  readonly kind: FindingKind;
  /** `problem`: names do not resolve because of it. `risk`: they may stop to, or resolve slowly. */
  readonly severity: 'problem' | 'risk';
  /** What it is about: `shop/db`, `10.0.0.2:53`. */
  readonly subject: string;
  /** Without its final full stop. */
  readonly sentence: string;
  readonly remedies: readonly Remedy[];
}

/** `undefined`: not looked at. Times are milliseconds. */
export interface CheckEvidence {
  readonly server: ServerEvidence | undefined;
  readonly services: readonly ServiceEvidence[] | undefined;
  readonly pods: readonly PodEvidence[] | undefined;
  readonly policies: readonly PolicyEvidence[] | undefined;
  readonly traffic: TrafficEvidence | undefined;
}

export interface ServerEvidence {
  readonly dataAge: number | undefined;
  readonly kinds: readonly {
    readonly kind: string;
    readonly state: string;
    /** Since the data was last known to be current; undefined: it was never listed. */
    readonly age: number | undefined;
    readonly words: string | undefined;
  }[];
  /** Sources that have lost many names at once, which are answered as stale. */
  readonly losses: readonly LossStatus[];
  /** Why the latest configuration is not in force; empty: it is. */
  readonly rejected: readonly string[];
  /** Of a node's cache whose packet filter rules are to be set, and are not. */
  readonly missingRules: { readonly reason: string; readonly age: number } | undefined;
  readonly upstreams: readonly UpstreamEvidence[];
  readonly forwardedDomains: readonly ForwardedDomainEvidence[];
  /** Zones whose names the plugin `loop` does not forward, because they come back. */
  readonly loopingZones: readonly string[];
  readonly externalNames: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly target: string;
    /** The domain of its cluster: `cluster.local.`. */
    readonly domain: string;
  }[];
  /** Services with endpoints that are names. */
  readonly fqdnEndpoints: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly target: string;
  }[];
  /** Services with an address of a family that has reverse zones, none of which has the address. */
  readonly unreversedServices: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly address: string;
    /** The domain of its cluster. */
    readonly domain: string;
  }[];
  /** The apexes of the cluster's zones. */
  readonly domains: readonly string[];
  /** Domains of other clusters, with the names below their `svc` that upstream servers denied of late. */
  readonly foreignDomains: ReadonlyMap<string, number>;
}

export interface UpstreamEvidence {
  readonly server: string;
  readonly state: string;
  readonly since: number | undefined;
  readonly lastReply: number | undefined;
  /** The smoothed time that it needs for a reply. */
  readonly roundTrip: number | undefined;
}

export function toUpstreamEvidence({
  upstream,
  state,
  stateAge,
  lastReplyAge,
  smoothedRoundTrip,
}: UpstreamStatistics): UpstreamEvidence {
  return {
    server: upstream,
    state: state.kind,
    since: stateAge,
    lastReply: lastReplyAge,
    roundTrip: smoothedRoundTrip,
  };
}

/** A domain that a rule names, with the servers that its names are asked of. */
export interface ForwardedDomainEvidence {
  /** `.`: all names that no other rule names. */
  readonly domain: string;
  readonly servers: readonly string[];
}

export interface PodEvidence {
  readonly namespace: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly hostNetwork: boolean;
  /** As in the spec; undefined: ClusterFirst. */
  readonly dnsPolicy: string | undefined;
}

export interface PolicyEvidence {
  readonly namespace: string;
  readonly name: string;
  /** Whether it selects a pod of its namespace. */
  selects(labels: ReadonlyMap<string, string>): boolean;
  /** Whether pods that it selects may send nothing else. */
  readonly restrictsEgress: boolean;
  /** Whether it lets queries to port 53 pass, to whatever destination. */
  readonly allows: { readonly udp: boolean; readonly tcp: boolean };
}

/** Queries that were watched for some time. */
export interface TrafficEvidence {
  readonly seconds: number;
  readonly queries: number;
  /** By namespace: queries, and those whose names a search list made. */
  readonly namespaces: ReadonlyMap<string, { readonly queries: number; readonly searched: number }>;
  /** Services that were asked for and do not exist. */
  readonly missing: readonly {
    readonly service: string;
    readonly namespace: string;
    readonly count: number;
    readonly near: readonly Near[];
  }[];
  /** Domains of other clusters: the part of names behind `svc`. */
  readonly foreignDomains: ReadonlyMap<string, number>;
  /** The domain that the server serves. */
  readonly domain: string;
}

/** @typeParam Evidence has one property for each thing that checks look at */
export interface Check<Evidence extends object = CheckEvidence> {
  readonly kind: FindingKind;
  /** All that it needs. */
  readonly needs: readonly (keyof Evidence & string)[];
  find(evidence: Evidence): readonly Finding[];
}

export interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly checked: readonly FindingKind[];
  readonly notChecked: readonly { readonly kind: FindingKind; readonly needs: readonly string[] }[];
}

/** Findings are sorted: problems first. */
export function runChecks<Evidence extends object>(
  checks: readonly Check<Evidence>[],
  evidence: Evidence,
): Diagnosis {
  const lacks = ({ needs }: Check<Evidence>) => needs.filter((witness) => evidence[witness] === undefined);
  const able = checks.filter((check) => lacks(check).length === 0);
  const findings = able.flatMap((check) => check.find(evidence));
  const rank = ({ severity }: Finding) => (severity === 'problem' ? 0 : 1);
  return {
    findings: [...findings].sort((one, other) => rank(one) - rank(other)),
    checked: able.map(({ kind }) => kind),
    notChecked: checks
      .filter((check) => lacks(check).length > 0)
      .map((check) => ({ kind: check.kind, needs: lacks(check) })),
  };
}

export const DOCTOR_EXIT = { HEALTHY: 0, PROBLEM: 1, USAGE: 2, BLIND: 3 } as const;
