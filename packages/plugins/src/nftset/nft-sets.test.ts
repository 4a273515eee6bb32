import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { ENFILE, EPERM } from '@portolan/kernel/socket/linux.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NftSets, type WantedAddress } from './nft-sets.ts';
import type { NftSet } from './options.ts';
import { NftDouble } from './testing/nft-double.ts';

const SECOND = 1000;
const TIMED: NftSet = { family: 'inet', table: 'filter', name: 'timed', only: undefined };
const PLAIN: NftSet = { ...TIMED, name: 'plain' };
const SIX: NftSet = { ...TIMED, name: 'six' };

const make = () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const metrics = new MetricRegistry();
  const kernel = new NftDouble(clock);
  kernel.addSet('timed', 'ipv4', true);
  kernel.addSet('plain', 'ipv4', false);
  kernel.addSet('six', 'ipv6', false);
  const sets = new NftSets({ open: () => kernel, clock, log, metrics });
  return { clock, log, metrics, kernel, sets };
};

const ipv4 = (address: string, seconds = 30): WantedAddress => ({ family: 'ipv4', address, seconds });
const ipv6 = (address: string): WantedAddress => ({ family: 'ipv6', address, seconds: 30 });
const warnings = ({ records }: RecordingLog) =>
  records.flatMap(({ level, message, fields }) =>
    level === 'warn' || level === 'info' ? `${message}: ${fields['set']}: ${fields['reason'] ?? ''}` : [],
  );

describe('addresses for sets', () => {
  it('go into all sets of their family, in one transaction', async () => {
    const { kernel, sets } = make();
    const before = kernel.generation;
    const addresses = [ipv4('192.0.2.1'), ipv4('192.0.2.2'), ipv6('2001:db8::1')];
    expect(await sets.add([TIMED, PLAIN, SIX], addresses)).toBe(true);
    expect(['timed', 'plain', 'six'].map((name) => kernel.list(name))).toEqual([
      ['c0000201', 'c0000202'],
      ['c0000201', 'c0000202'],
      ['20010db8000000000000000000000001'],
    ]);
    expect(kernel.generation).toBe(before + 1);
  });

  it('of a family that a rule leaves out stay out', async () => {
    const { kernel, sets } = make();
    expect(await sets.add([{ ...PLAIN, only: 'ipv6' }], [ipv4('192.0.2.1')])).toBe(true);
    expect(kernel.list('plain')).toEqual([]);
  });

  it('that are there for as long as clients use them cost no request', async () => {
    const { clock, kernel, sets } = make();
    await sets.add([TIMED], [ipv4('192.0.2.1', 300)]);
    const { requests } = kernel;
    for (let seconds = 299; seconds >= 0; seconds -= 1)
      expect(sets.add([TIMED], [ipv4('192.0.2.1', seconds)])).toBe(true);
    expect(kernel.requests).toBe(requests);
    // Once a second it is asked whether somebody else has changed the rules.
    clock.advance(SECOND);
    expect(await sets.add([TIMED], [ipv4('192.0.2.1', 299)])).toBe(true);
    expect(kernel.requests).toBe(requests + 1);
    expect(sets.add([TIMED], [ipv4('192.0.2.1', 299)])).toBe(true);
  });

  it('stay longer than their TTL, and then go', async () => {
    const { clock, kernel, sets } = make();
    await sets.add([TIMED], [ipv4('192.0.2.1', 30)]);
    clock.advance(89 * SECOND);
    expect(kernel.list('timed')).toEqual(['c0000201']);
    clock.advance(2 * SECOND);
    expect(kernel.list('timed')).toEqual([]);
  });

  it('get more time before they go', async () => {
    const { clock, kernel, sets } = make();
    await sets.add([TIMED], [ipv4('192.0.2.1', 30)]);
    clock.advance(80 * SECOND);
    expect(await sets.add([TIMED], [ipv4('192.0.2.1', 30)])).toBe(true);
    clock.advance(80 * SECOND);
    expect(kernel.list('timed')).toEqual(['c0000201']);
  });

  it('that somebody has added for good stay', async () => {
    const { clock, kernel, sets } = make();
    kernel.sets.get('timed')?.elements.set('c0000201', Number.POSITIVE_INFINITY);
    expect(await sets.add([TIMED], [ipv4('192.0.2.1', 1)])).toBe(true);
    clock.advance(1_000_000_000);
    expect(kernel.list('timed')).toEqual(['c0000201']);
  });

  it('that a former process has added get more time', async () => {
    const { clock, kernel, sets } = make();
    kernel.sets.get('timed')?.elements.set('c0000201', 5 * SECOND);
    expect(await sets.add([TIMED], [ipv4('192.0.2.1', 30), ipv4('192.0.2.2', 30)])).toBe(true);
    clock.advance(60 * SECOND);
    expect(kernel.list('timed')).toEqual(['c0000201', 'c0000202']);
  });

  it('come back within a second after somebody has emptied the set', async () => {
    const { clock, kernel, sets } = make();
    await sets.add([PLAIN], [ipv4('192.0.2.1')]);
    kernel.sets.get('plain')?.elements.clear();
    kernel.generation += 1;
    clock.advance(SECOND);
    expect(await sets.add([PLAIN], [ipv4('192.0.2.1')])).toBe(true);
    expect(kernel.list('plain')).toEqual(['c0000201']);
  });

  it('that many answers want at once go in together', async () => {
    const { kernel, sets } = make();
    const before = kernel.generation;
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => sets.add([TIMED], [ipv4(`10.0.0.${index % 64}`)])),
    );
    expect(results).not.toContain(false);
    expect(kernel.list('timed')).toHaveLength(64);
    // The first one alone, the others in two.
    expect(kernel.generation).toBe(before + 3);
  });

  it('are in the sets whenever it says so, whatever happens between', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), last: fc.nat(3), seconds: fc.nat(100) }),
      fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.nat(100_000) }),
      fc.record({ kind: fc.constant('flush' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { clock, kernel, sets } = make();
        for (const each of steps) {
          if (each.kind === 'wait') clock.advance(each.milliseconds);
          else if (each.kind === 'flush') {
            kernel.sets.get('timed')?.elements.clear();
            kernel.generation += 1;
            // What it learns a second later at most.
            clock.advance(SECOND);
          } else {
            expect(await sets.add([TIMED], [ipv4(`192.0.2.${each.last}`, each.seconds)])).toBe(true);
            const end = kernel.sets.get('timed')?.elements.get(`c000020${each.last}`) ?? 0;
            expect(end).toBeGreaterThan(clock.monotonic() + each.seconds * SECOND);
          }
        }
      }),
    );
  });
});

describe('a set that cannot be filled', () => {
  it('is reported once, with a remedy, and found when it comes', async () => {
    const { clock, log, metrics, kernel, sets } = make();
    const later: NftSet = { ...TIMED, name: 'later' };
    expect(await sets.add([later], [ipv4('192.0.2.1')])).toBe(false);
    expect(await sets.add([later], [ipv4('192.0.2.2')])).toBe(false);
    clock.advance(SECOND);
    expect(await sets.add([later], [ipv4('192.0.2.2')])).toBe(false);
    kernel.addSet('later', 'ipv4', true);
    clock.advance(SECOND);
    expect(await sets.add([later], [ipv4('192.0.2.2')])).toBe(true);
    expect(kernel.list('later')).toEqual(['c0000202']);
    expect(warnings(log)).toEqual([
      "addresses not put into a set of nftables: inet filter later: no such table or set. Create it: nft add set inet filter later '{ type ipv4_addr; flags timeout; }'",
      'addresses put into a set of nftables again: inet filter later: ',
    ]);
    expect(metrics.render()).toContain(
      'portolan_nftset_failures_total{set="inet filter later",reason="missing"} 2',
    );
  });

  it('keeps no address out of the other sets', async () => {
    const { kernel, sets } = make();
    const mark = { ...TIMED, name: 'mark' };
    kernel.addSet('mark', 'mark', false);
    expect(await sets.add([mark, PLAIN], [ipv4('192.0.2.1')])).toBe(false);
    expect(kernel.list('plain')).toEqual(['c0000201']);
  });

  it('of the other family is reported', async () => {
    const { log, sets } = make();
    expect(await sets.add([{ ...SIX, only: 'ipv4' }], [ipv4('192.0.2.1')])).toBe(false);
    expect(warnings(log)).toEqual([
      'addresses not put into a set of nftables: inet filter six: its type is ipv6_addr. Write 6# before it, or leave it out.',
    ]);
  });

  it('takes nothing once nobody uses it', async () => {
    const { kernel, sets } = make();
    let goOn = () => {};
    kernel.busy = new Promise((resolve) => {
      goOn = resolve;
    });
    const waiting = [1, 2].map((last) => sets.add([PLAIN], [ipv4(`192.0.2.${last}`)]));
    const closed = sets.close();
    goOn();
    await closed;
    expect(await Promise.all(waiting)).toEqual([false, false]);
    expect(kernel.list('plain')).toEqual([]);
  });

  it('goes while it is in use', async () => {
    const { clock, log, kernel, sets } = make();
    await sets.add([TIMED, PLAIN], [ipv4('192.0.2.1')]);
    kernel.sets.delete('timed');
    // Within the second in which nobody looks for changes.
    expect(await sets.add([TIMED, PLAIN], [ipv4('192.0.2.2')])).toBe(false);
    expect(kernel.list('plain')).toEqual(['c0000201', 'c0000202']);
    kernel.addSet('timed', 'ipv4', true);
    clock.advance(SECOND);
    expect(await sets.add([TIMED, PLAIN], [ipv4('192.0.2.1')])).toBe(true);
    expect(kernel.list('timed')).toEqual(['c0000201']);
    expect(warnings(log)).toHaveLength(2);
  });

  it.each([
    [EPERM, 'not permitted. Run the server with the capability NET_ADMIN.'],
    [ENFILE, 'the set is full. Raise its size.'],
    [12, 'the kernel says ENOMEM'],
  ])('says error %i', async (errno, reason) => {
    const { log, kernel, sets } = make();
    kernel.errno = errno;
    expect(await sets.add([TIMED], [ipv4('192.0.2.1')])).toBe(false);
    expect(warnings(log)).toEqual([`addresses not put into a set of nftables: inet filter timed: ${reason}`]);
  });

  it('is tried again on another socket', async () => {
    const { clock, log, kernel, sets } = make();
    kernel.isGone = true;
    expect(await sets.add([TIMED], [ipv4('192.0.2.1')])).toBe(false);
    kernel.isGone = false;
    clock.advance(SECOND);
    expect(await sets.add([TIMED], [ipv4('192.0.2.1')])).toBe(true);
    expect(warnings(log)[0]).toContain('ENOBUFS');
  });

  it('lets a bounded number of addresses wait for a kernel that hangs', async () => {
    const { kernel, sets } = make();
    let goOn = () => {};
    kernel.busy = new Promise((resolve) => {
      goOn = resolve;
    });
    const waiting = Array.from({ length: 12_000 }, () => sets.add([TIMED], [ipv4('192.0.2.1')]));
    expect(await waiting.at(-1)).toBe(false);
    goOn();
    const results = await Promise.all(waiting);
    expect(results.filter((result) => result)).toHaveLength(10_001);
  });
});
