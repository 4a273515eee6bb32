/**
 * The server that reader threads may ask by themselves: what they do must be what `Forwarder` would do for the same questions.
 */
import type { SocketAddress } from '../socket/addresses.ts';
import { ROOT } from '../wire/name.ts';
import { type NameKey, RCODE } from '../wire/types.ts';
import type { ForwardPlan } from './forward-plan.ts';
import type { Routes } from './routes.ts';
import type { GroupQuestion, ServerGroup } from './server-group.ts';
import type { Upstream } from './upstream/upstream.ts';

export interface DirectRoute<Question extends GroupQuestion> {
  readonly upstream: Upstream;
  readonly peer: SocketAddress;
  readonly group: ServerGroup<Question>;
  readonly plan: ForwardPlan;
  /** Names that are other rules' concern, with all below them. */
  readonly exceptions: readonly NameKey[];
}

/** Replies that readers do not tell from answers. */
const BELIEVED: readonly number[] = [RCODE.NOERROR, RCODE.NXDOMAIN];
/** Octets of a reply that a reader has room for. */
const MAX_UDP_SIZE = 4096;

export function findDirectRoute<Question extends GroupQuestion>(
  plan: ForwardPlan,
  { rules }: Routes<Question>,
): DirectRoute<Question> | undefined {
  const route = rules.find(ROOT);
  if (route?.kind !== 'servers' || !isSimple(plan)) return undefined;
  const { upstreams, group } = route;
  if (upstreams.length > 1 && plan.policy !== 'sequential') return undefined;
  const able = upstreams.filter(({ state }) => state.kind !== 'looping');
  const upstream = able.find(({ state }) => state.kind !== 'silent' && state.kind !== 'down');
  const peer = upstream?.peer;
  if (upstream === undefined || peer === undefined || !upstream.usesEdns) return undefined;
  return { upstream, peer, group, plan, exceptions: [...exceptionsOf(plan)] };
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
