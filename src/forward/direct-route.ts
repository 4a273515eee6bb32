/**
 * The servers that reader threads may ask by themselves: what they do must be what `Forwarder` would do for the same questions.
 */
import type { SocketAddress } from '../socket/addresses.ts';
import { ROOT } from '../wire/name.ts';
import { type NameKey, RCODE } from '../wire/types.ts';
import type { ForwardPlan, Policy } from './forward-plan.ts';
import type { Routes } from './routes.ts';
import type { GroupQuestion, ServerGroup } from './server-group.ts';
import type { StreamTerms } from './transport/transport.ts';
import type { Upstream } from './upstream/upstream.ts';

/** Which of several servers is asked: the first, any of them, or each in its turn. */
export type ServerSelection = 'first' | 'random' | 'round-robin';

export interface RoutedServer {
  readonly upstream: Upstream;
  readonly peer: SocketAddress;
  /** Undefined: it is asked over UDP. */
  readonly stream: StreamTerms | undefined;
}

export interface DirectRoute<Question extends GroupQuestion> {
  /** At least one. */
  readonly servers: readonly RoutedServer[];
  readonly selection: ServerSelection;
  readonly group: ServerGroup<Question>;
  readonly plan: ForwardPlan;
  /** Names that are other rules' concern, with all below them. */
  readonly exceptions: readonly NameKey[];
}

/** Replies that readers do not tell from answers. */
const BELIEVED: readonly number[] = [RCODE.NOERROR, RCODE.NXDOMAIN];
/** Octets of a reply that a reader has room for. */
const MAX_UDP_SIZE = 4096;

/** Undefined: which of several servers is asked only `Forwarder` can say. */
const SELECTIONS: { readonly [Name in Policy]: ServerSelection | undefined } = {
  sequential: 'first',
  random: 'random',
  'round-robin': 'round-robin',
  fastest: undefined,
  all: undefined,
};

export function findDirectRoute<Question extends GroupQuestion>(
  plan: ForwardPlan,
  { rules }: Routes<Question>,
): DirectRoute<Question> | undefined {
  const route = rules.find(ROOT);
  if (route?.kind !== 'servers' || !isSimple(plan)) return undefined;
  const { upstreams, group } = route;
  const selection = upstreams.length > 1 ? SELECTIONS[plan.policy] : 'first';
  if (selection === undefined) return undefined;
  const usable = upstreams.filter(({ state }) => !['looping', 'silent', 'down'].includes(state.kind));
  const chosen = selection === 'first' ? usable.slice(0, 1) : usable;
  const servers = chosen.flatMap((upstream) => toDirect(upstream));
  if (servers.length === 0 || servers.length < chosen.length) return undefined;
  return { servers, selection, group, plan, exceptions: [...exceptionsOf(plan)] };
}

function toDirect(upstream: Upstream): readonly RoutedServer[] {
  const { direct, usesEdns } = upstream;
  return direct === undefined || !usesEdns ? [] : [{ upstream, peer: direct.peer, stream: direct.stream }];
}

/** Whether nothing but the first server's time-out makes another query leave, and every rule is one for a domain. */
function isSimple({ rules, retry, tryNextOn, udpSize, policy }: ForwardPlan): boolean {
  return (
    retry.trigger === 'timeout' &&
    policy !== 'all' &&
    udpSize <= MAX_UDP_SIZE &&
    !tryNextOn.some((code) => BELIEVED.includes(code)) &&
    rules.every(({ names }) => names.every(({ kind }) => kind !== 'ending'))
  );
}

function* exceptionsOf({ rules }: ForwardPlan): Iterable<NameKey> {
  for (const { names } of rules)
    for (const match of names) if (match.kind === 'domain' && match.name !== ROOT) yield match.name;
}
