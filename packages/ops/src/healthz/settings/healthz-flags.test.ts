import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHealthzFlags } from './healthz-flags.ts';
import type { HealthzPlan } from './healthz-plan.ts';

function plan(...words: readonly string[]): HealthzPlan {
  const reading = readHealthzFlags(words);
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  return reading.plan;
}

function complaints(...words: readonly string[]): readonly string[] {
  const reading = readHealthzFlags(words);
  return reading.kind === 'bad' ? reading.problems.map(describeProblem) : [];
}

const LOOK = 'nslookup kubernetes.default.svc.cluster.local 127.0.0.1 >/dev/null';

it('is without flags what the original is, but for a command that hangs', () => {
  expect(plan()).toEqual({
    checks: [{ path: '/healthz', command: 'echo healthz' }],
    port: 8_080,
    period: 2_000,
    latency: 30_000,
    timeout: 30_000,
    showsOutput: false,
  });
});

describe('the arguments of older pods', () => {
  it('are taken as they stand: one command', () => {
    const { checks, port } = plan(`-cmd=${LOOK}`, '-port=8080', '-quiet');
    expect(checks).toEqual([{ path: '/healthz', command: LOOK }]);
    expect(port).toBe(8_080);
  });

  it('are taken as they stand: pairs, in their order', () => {
    const { checks } = plan(
      `--cmd=${LOOK}`,
      '--url=/healthz-dnsmasq',
      '--cmd',
      'ls',
      '--url=/healthz-kubedns',
      '--port=8080',
      '--quiet',
      '-v=2',
      '-logtostderr',
    );
    expect(checks).toEqual([
      { path: '/healthz-dnsmasq', command: LOOK },
      { path: '/healthz-kubedns', command: 'ls' },
    ]);
  });

  it('choose times, output and what is logged', () => {
    expect(plan('-period=5s', '-latency', '1m', '-timeout=500ms', '-output')).toMatchObject({
      period: 5_000,
      latency: 60_000,
      timeout: 500,
      showsOutput: true,
    });
    expect(plan('-latency=10s', '-timeout=0').timeout).toBe(10_000);
    expect(readHealthzFlags(['-quiet'])).toMatchObject({ logLevel: 'warn' });
    expect(readHealthzFlags(['-quiet=false', '-v=4'])).toMatchObject({ logLevel: 'debug' });
  });

  it('ask for help, and for the version', () => {
    expect(readHealthzFlags(['-help']).kind).toBe('help');
    expect(readHealthzFlags(['-version']).kind).toBe('version');
  });
});

describe('wrong flags', () => {
  it.each([
    [
      ['-cmd=a', '-cmd=b'],
      '-cmd and -url: not as many of one as of the other: "2 and 1". Give each -cmd a -url',
    ],
    [['-url=/a', '-url=/b'], '-cmd and -url: not as many of one as of the other: "1 and 2"'],
    [['-cmd=a', '-cmd=b', '-url=/a', '-url=/a'], '-url: given twice: "/a"'],
    [['-url=healthz'], '-url: not a path: "healthz"'],
    [['-url=/a?b'], '-url: not a path: "/a?b"'],
    [['-port=x'], '-port: not a whole number: "x"'],
    [['-period=0'], '-period: no time at all: "0". Give more than 0, as in 2s.'],
    [['-latency=0s'], '-latency: no time at all'],
    [['-period=2'], '-period: not a duration of at most 24h: "2". Give a number and its unit, as in 2s.'],
    [['-quite'], '-quite: unknown flag. Did you mean -quiet?'],
    [['ls'], 'ls: unexpected argument'],
  ])('are named, with what to do: %s', (words, complaint) => {
    expect(complaints(...words).join('\n')).toContain(complaint);
  });

  it('never crash it, whatever they are', () => {
    const word = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .tuple(fc.constantFrom('cmd', 'url', 'port', 'period', 'latency', 'quiet'), fc.string())
        .map(([name, value]) => `-${name}=${value}`),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        expect(['help', 'version', 'bad', 'good']).toContain(readHealthzFlags(words).kind);
      }),
    );
  });
});
