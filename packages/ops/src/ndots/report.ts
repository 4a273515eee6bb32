/**
 * What the search lists of each workload cost in a time, and what to change.
 */
import { makeClusterFirstSearchList, type ResolverLibrary } from '@portolan/server/reasons/search-walk.ts';
import type { QuestionRow } from '../control/question-row.ts';
import type { CountedQuestions } from './counted-questions.ts';
import { countSearched, findLookUps, type NameLookUp, type ResolverSettings } from './look-ups.ts';
import { makePatch, type NdotsPatch } from './patch.ts';
import { type CompleteName, propose } from './proposal.ts';
import { inferNamespace, insertNodeDomains } from './search-lists.ts';
import { DEFAULT_NDOTS, findWorkloads, type Workload } from './workloads.ts';

/** Readers ignore fields that they do not know. */
export interface NdotsReport {
  /** RFC 3339: the end of the time. */
  readonly at: string;
  readonly seconds: number;
  /** That were asked. */
  readonly servers: number;
  readonly questions: number;
  /** Questions that were not seen: there were too many. */
  readonly lost: number;
  readonly searched: number;
  /** Questions that the proposals save together. */
  readonly saved: number;
  readonly workloads: readonly WorkloadReport[];
}

export interface WorkloadReport {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
  /** Addresses that asked. */
  readonly clients: number;
  readonly ndots: number;
  /** Undefined: not known, so nothing is proposed. */
  readonly search: readonly string[] | undefined;
  readonly questions: number;
  readonly lookUps: number;
  /** Questions that the search list made, and the look-ups that found their answer by one of them. */
  readonly searched: number;
  readonly needed: number;
  /** Milliseconds that clients waited for the server's answers to the others. */
  readonly waited: number;
  /** The names that are found by the search list, the most frequent first. */
  readonly needs: readonly NeededSuffix[];
  /** The names that the search list made questions of for nothing, the most frequent first. */
  readonly wasted: readonly WastedName[];
  /** Undefined: no change of `ndots` saves questions without breaking a name. */
  readonly change: NdotsChange | undefined;
  readonly completeNames: readonly CompleteName[];
}

export interface NeededSuffix {
  readonly name: string;
  /** The domain that the list appended. */
  readonly suffix: string;
  readonly lookUps: number;
}

export interface WastedName {
  readonly name: string;
  readonly questions: number;
}

export interface NdotsChange extends NdotsPatch {
  readonly ndots: number;
  readonly saved: number;
}

const MAX_NAMES = 20;

export interface ReportOptions {
  /** Objects of Kubernetes: pods and their owners. */
  readonly objects: readonly unknown[];
  readonly library: ResolverLibrary;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export function makeReport(
  questions: CountedQuestions,
  { objects, library, now }: ReportOptions,
): NdotsReport {
  const { domain, seconds, servers, lost } = questions;
  const groups = groupByWorkload(questions, findWorkloads(objects, domain));
  const workloads = [...groups]
    .map(([workload, rows]) => reportWorkload(workload, rows, { domain, library, end: seconds * 1_000 }))
    .sort((one, other) => countWasted(other) - countWasted(one) || other.questions - one.questions);
  const sum = (value: (each: WorkloadReport) => number) =>
    workloads.reduce((total, each) => total + value(each), 0);
  return {
    at: new Date(now).toISOString(),
    seconds,
    servers,
    questions: sum((each) => each.questions),
    lost,
    searched: sum((each) => each.searched),
    saved: sum((each) => each.change?.saved ?? 0),
    workloads,
  };
}

function countWasted({ searched, needed }: WorkloadReport): number {
  return searched - needed;
}

function groupByWorkload(
  { rows, domain }: CountedQuestions,
  known: ReadonlyMap<string, Workload>,
): ReadonlyMap<Workload, readonly QuestionRow[]> {
  const groups = new Map<Workload, QuestionRow[]>();
  const strangers = new Map<string, QuestionRow[]>();
  for (const row of rows) {
    const workload = known.get(row.client);
    const group = (workload === undefined ? strangers.get(row.client) : groups.get(workload)) ?? [];
    group.push(row);
    if (workload === undefined) strangers.set(row.client, group);
    else groups.set(workload, group);
  }
  for (const [client, group] of strangers) groups.set(makeClient(client, group, domain), group);
  return groups;
}

/** An address without a pod that is known. */
function makeClient(address: string, rows: readonly QuestionRow[], domain: string): Workload {
  const namespace = inferNamespace(listNames(rows), domain);
  const search = namespace === undefined ? undefined : makeClusterFirstSearchList(namespace, domain);
  return { kind: 'Client', namespace, name: address, search, ndots: DEFAULT_NDOTS, options: [] };
}

function listNames(rows: readonly QuestionRow[]): ReadonlySet<string> {
  return new Set(rows.map(({ name }) => name));
}

interface ClusterTime {
  readonly domain: string;
  readonly library: ResolverLibrary;
  /** Of the time, in milliseconds. */
  readonly end: number;
}

function reportWorkload(
  workload: Workload,
  rows: readonly QuestionRow[],
  { domain, library, end }: ClusterTime,
): WorkloadReport {
  const { kind, namespace, name, ndots } = workload;
  const search =
    workload.search && insertNodeDomains(workload.search, namespace ?? '', domain, listNames(rows));
  const settings: ResolverSettings = { search: search ?? [], ndots, library };
  const lookUps = findLookUps(rows, settings, end);
  const proposal = propose(lookUps, settings);
  const sum = (value: (lookUp: NameLookUp) => number) =>
    lookUps.reduce((total, lookUp) => total + value(lookUp), 0);
  return {
    kind,
    namespace,
    name,
    clients: new Set(rows.map(({ client }) => client)).size,
    ndots,
    search,
    questions: rows.reduce((total, { count }) => total + count, 0),
    lookUps: sum(({ count }) => count),
    searched: sum(countSearched),
    needed: sum((lookUp) => (findSuffix(lookUp) === undefined ? 0 : lookUp.count)),
    waited: sum(({ waited }) => waited),
    needs: listNeeds(lookUps),
    wasted: listWasted(lookUps),
    change:
      proposal.ndots === undefined
        ? undefined
        : { ndots: proposal.ndots, saved: proposal.saved, ...makePatch(workload, proposal.ndots) },
    completeNames: proposal.completeNames,
  };
}

/** The domain of the list by which a name was found. */
function findSuffix({ name, resolvedAs }: NameLookUp): string | undefined {
  return resolvedAs === undefined || resolvedAs === name || resolvedAs === `${name}.`
    ? undefined
    : resolvedAs.slice(name.length + 1, -1);
}

function listNeeds(lookUps: readonly NameLookUp[]): readonly NeededSuffix[] {
  return lookUps
    .flatMap((lookUp) => {
      const suffix = findSuffix(lookUp);
      return suffix === undefined || lookUp.count === 0
        ? []
        : { name: lookUp.name, suffix, lookUps: lookUp.count };
    })
    .sort((one, other) => other.lookUps - one.lookUps || (one.name < other.name ? -1 : 1))
    .slice(0, MAX_NAMES);
}

function listWasted(lookUps: readonly NameLookUp[]): readonly WastedName[] {
  return lookUps
    .map((lookUp) => ({
      name: lookUp.name,
      questions: countSearched(lookUp) - (findSuffix(lookUp) === undefined ? 0 : lookUp.count),
    }))
    .filter(({ questions }) => questions > 0)
    .sort((one, other) => other.questions - one.questions || (one.name < other.name ? -1 : 1))
    .slice(0, MAX_NAMES);
}
