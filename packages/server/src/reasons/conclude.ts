/**
 * From the steps of a walk to the verdict: where each resolver library stops, and whether it has an address by then.
 */
import { describeReason, listRemedies, type Remedy } from './describe-reason.ts';
import type { ExplainedStep, Verdict } from './explanation.ts';
import type { Reason, ReasonKind } from './reason.ts';
import {
  listCandidates,
  listReached,
  RESOLVER_LIBRARIES,
  type ResolverLibrary,
  type SearchSettings,
  type StepOutcome,
} from './search-walk.ts';

/** A question of the walk, with its outcome; by name and type. */
export type AnsweredStep = Omit<ExplainedStep, 'number' | 'isReached'>;

/** The steps of one name together: addresses of either type are enough. */
export function outcomeOfName(steps: readonly Pick<AnsweredStep, 'outcome'>[]): StepOutcome | 'unknown' {
  const outcomes = steps.map(({ outcome }) => outcome);
  for (const outcome of ORDER) if (outcomes.includes(outcome)) return outcome;
  return 'nodata';
}

const ORDER = ['answer', 'unknown', 'servfail', 'refused', 'nodata', 'nxdomain'] as const;

export interface Walk {
  readonly steps: readonly ExplainedStep[];
  readonly verdict: Verdict;
}

/** @param answers all questions of the candidates, in the order of the walk */
export function conclude(
  name: string,
  settings: SearchSettings,
  answers: readonly AnsweredStep[],
  library: ResolverLibrary,
): Walk {
  const listSteps = (candidate: string) => answers.filter((step) => step.name === candidate);
  const findOutcome = (candidate: string) => outcomeOfName(listSteps(candidate));
  const reached = listReached(name, settings, library, (candidate) => {
    const outcome = findOutcome(candidate);
    return outcome === 'unknown' ? undefined : outcome;
  });
  const steps = listCandidates(name, settings, library)
    .flatMap((candidate) => listSteps(candidate).map((step) => [step, reached.includes(candidate)] as const))
    .map(([step, isReached], index): ExplainedStep => ({ number: index + 1, isReached, ...step }));
  const last = reached.at(-1);
  const end = last === undefined ? undefined : { candidate: last, outcome: findOutcome(last) };
  return { steps, verdict: judge(name, steps, end) };
}

function judge(
  name: string,
  steps: readonly ExplainedStep[],
  end: { readonly candidate: string; readonly outcome: StepOutcome | 'unknown' } | undefined,
): Verdict {
  const at = steps.filter((step) => step.name === end?.candidate);
  const reached = steps.filter(({ isReached }) => isReached);
  if (end?.outcome === 'answer') return judgeAnswer(name, at, reached);
  if (end?.outcome === 'unknown') {
    const servers = [...new Set(at.flatMap((step) => step.servers ?? []))].join(', ');
    return judgeOpen(end.candidate, servers, findMeant(name, reached)?.reason);
  }
  const blamed = chooseBlamed(name, reached);
  const reason = blamed?.reason;
  const sentence = reason === undefined ? 'does not resolve' : `does not resolve: ${describeReason(reason)}`;
  return { outcome: 'fails', sentence, addresses: [], ...(reason && { reason: reason.kind }) };
}

/** Nobody has asked the last name yet. What the cluster says of the name that was meant counts first. */
function judgeOpen(candidate: string, servers: string, reason: Reason | undefined): Verdict {
  if (reason === undefined) {
    const sentence = `not known: ${candidate} is not cached and would be asked of ${servers}. Add --ask to ask now`;
    return { outcome: 'unknown', sentence, addresses: [] };
  }
  const outside = `Whether ${candidate} exists outside is not known: add --ask to ask ${servers}`;
  const sentence = `does not resolve in the cluster: ${describeReason(reason)}.${askForNear(reason)} ${outside}`;
  return { outcome: 'fails', sentence, addresses: [], reason: reason.kind };
}

/** ` Did you mean cart.shop?` */
function askForNear(reason: Reason): string {
  const [near] = 'near' in reason ? reason.near : [];
  return near === undefined ? '' : ` Did you mean ${near.service}.${near.namespace}?`;
}

function judgeAnswer(name: string, at: readonly ExplainedStep[], reached: readonly ExplainedStep[]): Verdict {
  const addresses = [...new Set(at.flatMap((step) => step.addresses))];
  const shown = addresses.length > 0 ? listed(addresses) : (at.flatMap((step) => step.records)[0] ?? '');
  const stale = at.some(({ source }) => source === 'stale') ? ', from an expired answer' : '';
  const reason = at.some(({ source }) => OUTSIDE.has(source)) ? findShadowed(name, reached) : undefined;
  if (reason !== undefined) {
    const sentence = `resolves to ${shown}${stale}, outside of the cluster: ${describeReason(reason)}`;
    return { outcome: 'resolves', sentence, addresses, reason: reason.kind };
  }
  const wasted = reached.length - at.length;
  const extra = wasted === 0 ? '' : `, after ${wasted} other ${wasted === 1 ? 'question' : 'questions'}`;
  return { outcome: 'resolves', sentence: `resolves to ${shown}${stale}${extra}`, addresses };
}

/** Where answers of others come from: a wildcard of a stranger may answer a name that means a service. */
const OUTSIDE: ReadonlySet<ExplainedStep['source']> = new Set(['upstream', 'cache', 'stale']);

/** The reason that a name of the cluster has no answer, if the name is that of a service or in a namespace that exists. */
function findShadowed(name: string, reached: readonly ExplainedStep[]): Reason | undefined {
  const reason = findMeant(name, reached)?.reason;
  const isOneLabel = !name.replace(/\.$/, '').includes('.');
  const isGuess = reason?.kind === 'no-such-service' && isOneLabel && reason.near.length === 0;
  return isGuess ? undefined : reason;
}

function listed(addresses: readonly string[]): string {
  const [first = '', ...others] = addresses;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** Reasons about a service that exists. */
const ABOUT_SERVICE: ReadonlySet<ReasonKind> = new Set([
  'endpoints-not-ready',
  'selector-matches-nothing',
  'external-name-target',
  'no-endpoints',
  'service-without-address',
  'no-such-endpoint',
  'no-such-port',
  'excluded-by-config',
  'pods-not-served',
  'other-tenant',
]);

/**
 * The step whose reason explains the failure: the name that was most probably meant. The search list makes names that nobody means.
 *
 * A name of one label means a service of the client's namespace. The first two labels mean a service and its namespace if the
 * namespace exists, or if another one has that service. All other names mean themselves.
 */
export function chooseBlamed<Step extends Pick<ExplainedStep, 'reason' | 'name'>>(
  name: string,
  steps: readonly Step[],
): Step | undefined {
  const explained = steps.filter(({ reason }) => reason !== undefined);
  return (
    explained.find(({ reason }) => reason?.kind === 'zone-not-known') ??
    findMeant(name, steps) ??
    explained.find(({ reason }) => reason?.kind === 'not-a-name-form' && reason.meant !== undefined) ??
    explained.find((step) => step.name.replace(/\.$/, '') === name.replace(/\.$/, '')) ??
    explained.at(-1)
  );
}

/** The step of the service that was meant, if the cluster says why it has no answer; undefined: none was, as far as it knows. */
function findMeant<Step extends Pick<ExplainedStep, 'reason' | 'name'>>(
  name: string,
  steps: readonly Step[],
): Step | undefined {
  const find = (isBlamed: (reason: Reason) => boolean) =>
    steps.find(({ reason }) => reason !== undefined && isBlamed(reason));
  const [first = '', second] = name.replace(/\.$/, '').split('.');
  return (
    find(({ kind }) => ABOUT_SERVICE.has(kind)) ??
    find((reason) => reason.kind === 'no-such-service' && isMeant(reason, first, second)) ??
    find(
      (reason) =>
        reason.kind === 'no-such-namespace' && reason.namespace === second && reason.near.length > 0,
    )
  );
}

function isMeant(
  { service, namespace }: { readonly service: string; readonly namespace: string },
  first: string,
  second: string | undefined,
): boolean {
  return service === first && (second === undefined || namespace === second);
}

/** Libraries that come to another result than the chosen one. */
export function compareLibraries(
  name: string,
  settings: SearchSettings,
  answers: readonly AnsweredStep[],
  chosen: ResolverLibrary,
): readonly { readonly resolver: ResolverLibrary; readonly sentence: string }[] {
  const own = conclude(name, settings, answers, chosen).verdict;
  return RESOLVER_LIBRARIES.filter((library) => library !== chosen).flatMap((resolver) => {
    const { verdict } = conclude(name, settings, answers, resolver);
    const isSame = verdict.outcome === own.outcome && verdict.addresses.join() === own.addresses.join();
    return isSame ? [] : [{ resolver, sentence: verdict.sentence }];
  });
}

/** The remedies of a walk: those of the blamed reason, and how to have fewer questions. */
export function listWalkRemedies(name: string, { steps, verdict }: Walk): readonly Remedy[] {
  const reached = steps.filter(({ isReached }) => isReached);
  // To write the name with its final dot would make the answer of a stranger permanent.
  if (verdict.reason !== undefined) {
    const reason = chooseBlamed(name, reached)?.reason;
    return reason === undefined ? [] : listRemedies(reason);
  }
  const names = new Set(reached.map((step) => step.name));
  if (verdict.outcome !== 'resolves' || names.size <= MANY_NAMES) return [];
  return [
    {
      sentence: `Write ${name.replace(/\.$/, '')}. with its final dot, or set ndots: 2 in the dnsConfig of the pod: ${names.size - 1} of ${names.size} names were made by the search list.`,
    },
  ];
}

const MANY_NAMES = 3;
