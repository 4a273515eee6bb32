import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { RecordingLog } from '../../base/testing/recording-log.ts';
import { NodeNetwork, type SetupError } from './node-network.ts';
import { ProgramError } from './run-program.ts';

function start(answers: (hasRules: boolean) => boolean, failure?: string) {
  const clock = new ManualClock();
  const calls: string[] = [];
  const errors: SetupError[] = [];
  const call = (name: string) => async () => {
    if (failure !== undefined) throw new ProgramError(failure);
    calls.push(name);
    return true;
  };
  const remove = (name: string) => async () => {
    await call(name)();
  };
  const network = new NodeNetwork({
    networkInterface: { set: call('interface'), remove: remove('no interface') },
    filter: { name: 'test', set: call('rules'), remove: remove('no rules'), leave: () => {} },
    isAnswered: async (hasRules) => answers(hasRules),
    syncInterval: 60_000,
    onError: (error) => errors.push(error),
    clock,
    log: new RecordingLog(),
  });
  const pass = async (milliseconds: number) => {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      clock.advance(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { network, calls, errors, pass };
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

  it('go before the interface, and stay for a process that has taken over', async () => {
    const alone = start(() => true);
    alone.network.start();
    await alone.pass(1_000);
    await alone.network.stop(false);
    expect(alone.calls.slice(-2)).toEqual(['no rules', 'no interface']);
    const followed = start(() => true);
    followed.network.start();
    await followed.pass(1_000);
    await followed.network.stop(true);
    expect(followed.calls).not.toContain('no rules');
  });

  it('that cannot be set are counted and tried again', async () => {
    const lock = 'iptables-restore: Another app is currently holding the xtables lock';
    const { network, errors, pass } = start(() => true, lock);
    network.start();
    await pass(3_000);
    expect(errors.filter((error) => error === 'iptables_lock').length).toBeGreaterThan(1);
    await network.stop(false);
  });
});
