import { ProgramError } from '@portolan/kernel/base/run-program.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { describe, expect, it } from 'vitest';
import { NodeNetwork, type ProbeWay, type SetupError } from './node-network.ts';

/** A node whose filter and interface record their calls. */
function start(answers: (hasRules: boolean) => boolean, given: Setting = {}) {
  const setting = { ...given };
  const { leftovers = 0, isServed = false, ways = [{ kind: 'path' }] as const, filterFault } = setting;
  const clock = new ManualClock();
  const calls: string[] = [];
  const errors: SetupError[] = [];
  const call = async (name: string) => {
    if (setting.failure !== undefined)
      throw new ProgramError(setting.failure, `${setting.failure}\nWarning: noise`);
    calls.push(name);
  };
  const filter = {
    name: 'test',
    isSet: false,
    set: async () => {
      await call('rules');
      filter.isSet = true;
      return true;
    },
    remove: async () => {
      await call('no rules');
      filter.isSet = false;
    },
    leave: () => void calls.push('rules left'),
  };
  const remaining = [...ways];
  let left = leftovers;
  const removeLeftovers = async () => {
    const removed = left;
    left = 0;
    if (removed > 0) await call('no leftovers');
    return removed;
  };
  const log = new RecordingLog();
  const network = new NodeNetwork({
    networkInterface: {
      set: async () => {
        await call('interface');
        return true;
      },
      remove: () => call('no interface'),
    },
    filter: filterFault === undefined ? filter : undefined,
    filterFault,
    leftovers: {
      areThere: async () => left > 0,
      remove: removeLeftovers,
    },
    clearLeftovers: removeLeftovers,
    isServed: async () => isServed,
    isAnswered: async (hasRules) => answers(hasRules),
    // The last one stays.
    probeWay: () => (remaining.length > 1 ? remaining.shift() : remaining[0]) ?? { kind: 'path' },
    endProbes: async () => {},
    syncInterval: 60_000,
    onError: (error) => errors.push(error),
    clock,
    log,
  });
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      clock.advance(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const leave = (count: number) => {
    left = count;
  };
  const fail = (failure: string | undefined) => {
    setting.failure = failure;
  };
  return { network, filter, calls, errors, log, pass, leave, fail };
}

interface Setting {
  /** The error of every program. */
  failure?: string | undefined;
  /** Why there is no packet filter. */
  readonly filterFault?: string;
  /** Whether iptables has rules of others. */
  readonly leftovers?: number;
  /** The ways of probes, one for each time that it is asked for. */
  readonly ways?: readonly ProbeWay[];
  /** Whether another process serves. */
  readonly isServed?: boolean;
}

describe('the rules of a node', () => {
  it('are not set before DNS is answered', async () => {
    let isAnswered = false;
    const { network, calls, pass } = start(() => isAnswered);
    await network.prepare();
    network.start();
    await pass(5_000);
    expect(calls).not.toContain('rules');
    isAnswered = true;
    await pass(2_000);
    expect(calls).toContain('rules');
    expect(network.hasRules).toBe(true);
  });

  it('are removed after two probes without an answer, and return with the answers', async () => {
    let isAnswered = true;
    const { network, calls, pass } = start(() => isAnswered);
    network.start();
    await pass(12_000);
    isAnswered = false;
    await pass(1_000);
    expect(network.hasRules).toBe(true);
    await pass(2_000);
    expect(network.hasRules).toBe(false);
    isAnswered = true;
    await pass(2_000);
    expect(calls.filter((call) => call.endsWith('rules'))).toEqual(['rules', 'no rules', 'rules']);
  });

  it('are not set again at once where they keep DNS from being answered', async () => {
    const { network, calls, pass } = start((hasRules) => !hasRules);
    network.start();
    await pass(50_000);
    expect(calls.filter((call) => call.endsWith('rules'))).toEqual(['rules', 'no rules']);
    await pass(20_000);
    expect(calls.filter((call) => call === 'rules')).toHaveLength(2);
  });

  it('are checked again each interval', async () => {
    const { network, calls, pass } = start(() => true);
    network.start();
    await pass(121_500);
    expect(calls.filter((call) => call === 'rules')).toHaveLength(3);
    expect(calls.filter((call) => call === 'interface')).toHaveLength(3);
  });

  it('are set again at once when they ended without us', async () => {
    const { network, filter, calls, pass } = start(() => true);
    network.start();
    await pass(2_000);
    filter.isSet = false;
    await pass(2_000);
    expect(calls.filter((call) => call === 'rules')).toHaveLength(2);
  });

  it.each<readonly [ProbeWay, string]>([
    [{ kind: 'path' }, 'rules stand while probes on the way of pods are answered'],
    [
      { kind: 'lo', reason: 'no veth' },
      'rules stand while probes over lo are answered: queries of pods take another way',
    ],
  ])('are reported with the way of their probes, once: %j', async (way, message) => {
    const { network, filter, log, pass } = start(() => true, { ways: [way] });
    expect(network.rulesIn).toBeUndefined();
    network.start();
    await pass(2_000);
    expect(network.rulesIn).toEqual({ filter: 'test', probe: way.kind });
    filter.isSet = false;
    expect(network.rulesIn).toBeUndefined();
    await pass(2_000);
    expect(
      log.records
        .filter((record) => record.message.startsWith('rules stand'))
        .map((record) => record.message),
    ).toEqual([message]);
  });

  it('are removed where packets of pods get no answer once they stand, although others did before', async () => {
    const { network, calls, pass } = start((hasRules) => !hasRules);
    network.start();
    await pass(2_500);
    expect(calls.filter((call) => call.endsWith('rules'))).toEqual(['rules', 'no rules']);
  });

  it('go before the interface', async () => {
    const { network, calls, pass } = start(() => true);
    network.start();
    await pass(1_000);
    await network.stop();
    expect(calls.slice(-2)).toEqual(['no rules', 'no interface']);
    await network.leave();
    expect(calls).not.toContain('rules left');
  });

  it('stay while sockets are closed, and then for a process that has taken over', async () => {
    let isAnswered = true;
    const { network, calls, pass } = start(() => isAnswered, { isServed: true });
    network.start();
    await pass(12_000);
    await network.hold();
    isAnswered = false;
    await pass(10_000);
    await network.stopUnlessServed();
    await network.stop();
    expect(calls).not.toContain('no rules');
    expect(calls.at(-1)).toBe('rules left');
  });

  it('go in the end where no process has taken over', async () => {
    const { network, calls, pass } = start(() => true);
    network.start();
    await pass(1_000);
    await network.hold();
    await network.stopUnlessServed();
    expect(calls.slice(-2)).toEqual(['no rules', 'no interface']);
  });

  it('return as soon as the interface is repaired that another program removed', async () => {
    let isThere = true;
    const { network, calls, pass } = start(() => isThere);
    network.start();
    await pass(12_000);
    const before = calls.filter((call) => call === 'interface').length;
    isThere = false;
    await pass(3_000);
    expect(calls.filter((call) => call === 'interface').length).toBeGreaterThan(before);
    isThere = true;
    await pass(2_000);
    expect(calls.at(-1)).toBe('rules');
    await network.stop();
  });

  it('that cannot be set are counted and tried again', async () => {
    const lock = 'iptables-restore: Another app is currently holding the xtables lock';
    const { network, errors, pass } = start(() => true, { failure: lock });
    network.start();
    await pass(3_000);
    expect(errors.filter((error) => error === 'iptables_lock').length).toBeGreaterThan(1);
    await network.stop();
  });
});

describe('rules that are missing', () => {
  it('are told of, with the reason and for how long', async () => {
    let isAnswered = true;
    const { network, filter, pass, fail } = start(() => isAnswered, { failure: 'nft -i: not permitted' });
    expect(network.missingRules).toEqual({ reason: 'the server has just started', age: 0 });
    network.start();
    await pass(3_000);
    expect(network.missingRules).toEqual({ reason: 'nft -i: not permitted', age: 3_000 });
    fail(undefined);
    await pass(2_000);
    expect(network.missingRules).toBeUndefined();
    filter.isSet = false;
    expect(network.missingRules?.reason).toBe('they have gone, and are set again');
    await pass(2_000);
    expect(network.missingRules).toBeUndefined();
    isAnswered = false;
    await pass(5_000);
    expect(network.missingRules?.reason).toBe('no answer at the local addresses');
    expect(network.missingRules?.age).toBeLessThan(5_000);
    await network.stop();
    expect(network.missingRules).toBeUndefined();
  });

  it('for want of a packet filter are told of, and those that are not wanted are not', () => {
    const filterFault = 'no packet filter: iptables: not installed';
    const { network } = start(() => true, { filterFault });
    expect(network.missingRules?.reason).toBe(filterFault);
    expect(network.wantsRules).toBe(true);
  });

  it('have one line of the log a minute, and one for each new reason', async () => {
    const { network, log, pass, fail } = start(() => true, { failure: 'one' });
    const lines = () =>
      log.records.filter(({ level, message }) => level === 'error' && message === 'rules not set').length;
    network.start();
    await pass(30_000);
    expect(lines()).toBe(1);
    await pass(32_000);
    expect(lines()).toBe(2);
    fail('two');
    await pass(3_000);
    expect(lines()).toBe(3);
  });
});

describe('rules that an earlier process left', () => {
  it('go before we serve, unless another one does', async () => {
    const alone = start(() => false, { leftovers: 12 });
    await alone.network.prepare();
    expect(alone.calls).toEqual(['interface', 'no leftovers']);
    const second = start(() => false, { leftovers: 12, isServed: true });
    await second.network.prepare();
    expect(second.calls).toEqual(['interface']);
  });

  it('go once ours stand, and whenever there are some again', async () => {
    const { network, calls, pass, leave } = start(() => true, { leftovers: 12, isServed: true });
    network.start();
    await pass(1_000);
    expect(calls.slice(-2)).toEqual(['rules', 'no leftovers']);
    leave(12);
    await pass(62_000);
    expect(calls.filter((call) => call === 'no leftovers')).toHaveLength(2);
  });

  it('that cannot be removed keep nobody from serving, and are counted', async () => {
    const failure = 'iptables-restore: Another app is currently holding the xtables lock';
    const { network, errors } = start(() => false, { failure, leftovers: 12 });
    await network.prepare();
    expect(errors).toEqual(['interface_add', 'iptables_lock']);
  });
});
