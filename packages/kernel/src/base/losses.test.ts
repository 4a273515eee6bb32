import { describe, expect, it } from 'vitest';
import { DEFAULT_LOSS_RULE, Losses, type LossRule } from './losses.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { RecordingLog } from './testing/recording-log.ts';

const SOURCE = { kind: 'services', subject: 'cluster.local.' };
const MINUTE = 60_000;

/** A source of names, whose losses are judged. */
function makeSource(present: number, rule: LossRule | undefined = DEFAULT_LOSS_RULE) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const losses = new Losses(rule, { clock, log });
  const stale: number[] = [];
  const source = { present };
  const guard = losses.guard(SOURCE, {
    count: () => stale.length,
    remove: (mark) => stale.splice(0, stale.length, ...stale.filter((each) => each !== mark)),
  });
  /** @returns how many go at once */
  const lose = (names: number): number => {
    const mark = guard.judge(names, () => source.present);
    source.present -= names;
    if (mark !== 0) stale.push(...Array.from({ length: names }, () => mark));
    return mark === 0 ? names : 0;
  };
  const back = (names: number) => {
    stale.splice(0, names);
    source.present += names;
    guard.settle();
  };
  return { clock, log, losses, stale, lose, back };
}

describe('a sudden loss', () => {
  it.each([
    [100, 50, 0],
    [100, 49, 49],
    [100, 100, 0],
    [20, 20, 0],
    [19, 19, 19],
    [40, 20, 0],
    [41, 20, 20],
    [1, 1, 1],
  ])('of a source of %d names that loses %d lets %d go', (present, lost, gone) => {
    expect(makeSource(present).lose(lost)).toBe(gone);
  });

  it('counts what went at once within the time, and nothing older', () => {
    const { clock, lose } = makeSource(50);
    for (let index = 0; index < 24; index++) expect(lose(1)).toBe(1);
    expect(lose(1)).toBe(0);
    clock.advance(30_000);
    expect(lose(1)).toBe(1);
  });

  it('ends with its time, whatever is lost meanwhile', () => {
    const { clock, lose, stale, losses } = makeSource(1000);
    lose(900);
    clock.advance(5 * MINUTE);
    lose(100);
    expect(losses.list()).toEqual([{ ...SOURCE, names: 1000, of: 1000, age: 5 * MINUTE, left: 10 * MINUTE }]);
    clock.advance(5 * MINUTE);
    expect(stale).toHaveLength(100);
    clock.advance(5 * MINUTE);
    expect(stale).toHaveLength(0);
    expect(losses.list()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('ends when it is accepted', () => {
    const { lose, losses, stale, clock, log } = makeSource(30);
    lose(30);
    expect(losses.accept()).toMatchObject([{ ...SOURCE, names: 30 }]);
    expect([stale.length, clock.pending]).toEqual([0, 0]);
    expect(losses.accept()).toEqual([]);
    expect(log.records.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'source lost many names at once, answering them as stale'],
      ['warn', 'lost names removed'],
    ]);
  });

  it('ends when all names are back', () => {
    const { lose, back, losses, clock, log } = makeSource(30);
    lose(30);
    back(29);
    expect(losses.list()).toMatchObject([{ names: 1 }]);
    back(1);
    expect([losses.list(), clock.pending]).toEqual([[], 0]);
    expect(log.records.at(-1)).toMatchObject({ level: 'info', message: 'the lost names are back' });
  });

  it('ends when it is turned off, and then everything goes at once', () => {
    const { lose, losses, stale } = makeSource(100);
    lose(60);
    losses.follow(undefined);
    expect(stale).toHaveLength(0);
    expect(lose(40)).toBe(40);
  });

  it('is counted', () => {
    const { lose, losses } = makeSource(30);
    expect(losses.count()).toEqual([{ kind: 'services', stale: 0, lost: 0 }]);
    lose(30);
    expect(losses.count()).toEqual([{ kind: 'services', stale: 30, lost: 30 }]);
    losses.accept();
    expect(losses.count()).toEqual([{ kind: 'services', stale: 0, lost: 30 }]);
    losses.follow(undefined);
    expect(losses.count()).toEqual([]);
  });

  it('needs as much memory for a million losses as for a few', () => {
    const { clock, lose } = makeSource(10 ** 9, { share: 100, names: 10 ** 6, within: 30_000, hold: MINUTE });
    for (let index = 0; index < 10_000; index++) {
      clock.advance(1);
      expect(lose(1)).toBe(1);
    }
  });
});
