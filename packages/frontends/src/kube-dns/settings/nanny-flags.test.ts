import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { describe, expect, it } from 'vitest';
import { readNannyFlags } from './nanny-flags.ts';

function good(...words: readonly string[]) {
  const reading = readNannyFlags(words);
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  return { ...reading.plan, kubednsServer: formatUpstream(reading.plan.kubednsServer), notes: reading.notes };
}

function problems(...words: readonly string[]): readonly string[] {
  const reading = readNannyFlags(words);
  return reading.kind === 'bad' ? reading.problems.map(describeProblem) : [];
}

describe('flags of dnsmasq-nanny', () => {
  it('have the defaults of kube-dns', () => {
    expect(good()).toEqual({
      configDir: '/etc/k8s/dns/dnsmasq-nanny',
      syncInterval: 10_000,
      logInterval: 0,
      kubednsServer: '127.0.0.1:10053',
      dnsmasqWords: [],
      notes: [],
    });
  });

  it('are read as in the manifests of kube-dns', () => {
    const words = ['-v=2', '-logtostderr', '-configDir=/etc/x', '-restartDnsmasq=true', '--'];
    expect(good(...words, '-k', '--cache-size=1000', '--', 'x')).toMatchObject({
      configDir: '/etc/x',
      dnsmasqWords: ['-k', '--cache-size=1000', '--', 'x'],
    });
  });

  it('take values behind a space, and one dash or two', () => {
    expect(
      good('--configDir', '/x', '-syncInterval', '1m30s', '-v', '4', '-kubednsServer=[::1]:99'),
    ).toMatchObject({ configDir: '/x', syncInterval: 90_000, kubednsServer: '[::1]:99' });
  });

  it('say what has no effect', () => {
    expect(good('-dnsmasqExec=/x', '-restartDnsmasq=0').notes).toEqual([
      expect.stringContaining('-dnsmasqExec has no effect'),
      expect.stringContaining('-restartDnsmasq=false has no effect'),
    ]);
  });

  it.each([
    [['-confDir=/x'], /-confDir: unknown flag. Did you mean -configDir\?/],
    [['-zzzzzzzzzzzz'], /unknown flag. Options of dnsmasq stand behind --./],
    [['word'], /word: unexpected argument/],
    [['-configDir'], /its value is missing/],
    [['-syncInterval=1'], /not a duration/],
    [['-restartDnsmasq=maybe'], /neither true nor false/],
    [['-kubednsServer=a..b'], /not a server/],
  ])('are refused: %j', (words, problem) => {
    expect(problems(...words)).toEqual([expect.stringMatching(problem)]);
  });

  it('show help', () => {
    expect(readNannyFlags(['-v=2', '-help'])).toEqual({ kind: 'help' });
  });
});
