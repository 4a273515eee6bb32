/**
 * A forwarder over real sockets for tests, and questions for it.
 */
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, TYPE } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
} from '@portolan/kernel/forward/forward-plan.ts';
import { Forwarder, type ForwardQuestion, type ForwardReply } from '@portolan/kernel/forward/forwarder.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';

export function planFor(servers: readonly string[], changes: Partial<ForwardPlan> = {}): ForwardPlan {
  const rules = [defaultRule(servers.map((server) => parseUpstream(server)))];
  return { ...DEFAULT_FORWARD_PLAN, loopDetection: false, rules, ...changes };
}

export function forwarderTo(servers: readonly string[], changes: Partial<ForwardPlan> = {}): Forwarder {
  return new Forwarder(planFor(servers, changes), {
    clock: systemClock,
    log: silentLog,
    resolveName: () => Promise.reject(new Error('no names here')),
  });
}

export function questionFor(name: string, changes: Partial<ForwardQuestion> = {}): ForwardQuestion {
  return {
    name: parseName(name),
    type: TYPE.A,
    class: CLASS.IN,
    dnssecOk: false,
    checkingDisabled: false,
    recursionDesired: true,
    ...changes,
  };
}

export function ask(
  forwarder: Forwarder,
  name: string,
  changes: Partial<ForwardQuestion> = {},
): Promise<ForwardReply> {
  return forwarder.resolve(questionFor(name, changes), { address: '10.0.0.1' });
}

/** The addresses of a reply; why there are none, if it failed. */
export function listAddresses(reply: ForwardReply): readonly string[] {
  if (reply.kind === 'failed') return [reply.reason];
  return reply.message.answers.flatMap(({ data }) => (data.kind === 'A' ? [data.address] : []));
}
