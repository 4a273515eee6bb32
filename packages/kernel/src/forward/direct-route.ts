/**
 * The servers that reader threads may ask by themselves. Readers must do exactly what `Forwarder` would do for the same questions.
 */
import { ROOT } from '@portolan/dns/name.ts';
import { type NameKey, RCODE } from '@portolan/dns/types.ts';
import type { SocketAddress } from '../socket/addresses.ts';
import type { ForwardPlan, Policy } from './forward-plan.ts';
import type { Routes } from './routes.ts';
import type { GroupQuestion, ServerGroup } from './server-group.ts';
import type { DirectStream } from './transport/transport.ts';
import type { Upstream } from './upstream/upstream.ts';

/** How to choose among several servers: the first, a random one, or each in turn. */
export type ServerSelection = 'first' | 'random' | 'round-robin';

export interface RoutedServer {
  readonly upstream: Upstream;
  readonly peer: SocketAddress;
  /** Undefined: use UDP. */
  readonly stream: DirectStream | undefined;
  readonly usesEdns: boolean;
}

export interface DirectRoute<Question extends GroupQuestion> {
  /** At least one. */
  readonly servers: readonly RoutedServer[];
  readonly selection: ServerSelection;
  /** Whether the group has servers besides the one that is asked. */
  readonly hasOthers: boolean;
  readonly group: ServerGroup<Question>;
  readonly plan: ForwardPlan;
  /** Names that other rules handle, with all names below them. */
  readonly exceptions: readonly NameKey[];
}

/** Response codes that readers accept as answers. */
const BELIEVED: readonly number[] = [RCODE.NOERROR, RCODE.NXDOMAIN];
/** The largest UDP size that a reader has room for, in octets. */
const MAX_UDP_SIZE = 4096;

/** Undefined: only `Forwarder` can choose among several servers. */
const SELECTIONS: { readonly [Name in Policy]: ServerSelection | undefined } = {
  sequential: 'first',
  random: 'random',
  'round-robin': 'round-robin',
  // The main thread asks all of them now and then, and chooses.
  fastest: 'first',
  all: undefined,
};

/** @param now milliseconds of a clock that never goes back */
export function findDirectRoute<Question extends GroupQuestion>(
  plan: ForwardPlan,
  { rules }: Routes<Question>,
  now: number,
): DirectRoute<Question> | undefined {
  const route = rules.find(ROOT);
  if (route?.kind !== 'servers' || !isSimple(plan)) return undefined;
  const { upstreams, group, order } = route;
  const selection = upstreams.length > 1 ? SELECTIONS[plan.policy] : 'first';
  if (selection === undefined || (upstreams.length > 1 && order.isExplorationDue(now))) return undefined;
  const usable = order
    .sorted(upstreams)
    .filter(({ state }) => !['looping', 'silent', 'down'].includes(state.kind));
  const chosen = selection === 'first' ? usable.slice(0, 1) : usable;
  const servers = chosen.flatMap((upstream) => toDirect(upstream));
  if (servers.length === 0 || servers.length < chosen.length) return undefined;
  const hasOthers = upstreams.length > 1;
  return { servers, selection, hasOthers, group, plan, exceptions: [...listExceptions(plan)] };
}

function toDirect(upstream: Upstream): readonly RoutedServer[] {
  const { direct } = upstream;
  if (direct === undefined) return [];
  return [{ upstream, peer: direct.peer, stream: direct.stream, usesEdns: upstream.usesEdns() }];
}

/**
 * Whether readers need not ask again by themselves, and all rules are for domains. After the usual time of the server they hand a
 * question over: the main thread asks again, then or when a client repeats it.
 */
function isSimple({ rules, tryNextOn, udpSize, policy, merges }: ForwardPlan): boolean {
  return (
    policy !== 'all' &&
    // Readers always merge equal questions.
    merges &&
    udpSize <= MAX_UDP_SIZE &&
    !tryNextOn.some((code) => BELIEVED.includes(code)) &&
    rules.every(({ names }) => names.every(({ kind }) => kind !== 'ending'))
  );
}

function* listExceptions({ rules }: ForwardPlan): Iterable<NameKey> {
  for (const { names } of rules)
    for (const match of names) if (match.kind === 'domain' && match.name !== ROOT) yield match.name;
}
