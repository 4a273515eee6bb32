import { beforeEach, describe, expect, it } from 'vitest';
import { locateEpoch } from './layout.ts';
import { Reclaimer } from './reclaim.ts';

let atoms: Int32Array;
let reclaimer: Reclaimer;
let freed: string[];

const step = (reader: number): number => Atomics.add(atoms, locateEpoch(reader), 1);
const retire = (name: string): void => reclaimer.retire(() => freed.push(name));

beforeEach(() => {
  atoms = new Int32Array(1024);
  reclaimer = new Reclaimer(atoms, 2);
  freed = [];
});

describe('Reclaimer', () => {
  it('frees at once when no reader is in a batch', () => {
    retire('a');
    reclaimer.collect();
    expect(freed).toEqual(['a']);
  });

  it('waits for each reader that was in a batch, and only for those', () => {
    step(0);
    step(1);
    retire('a');
    reclaimer.collect();
    step(0);
    reclaimer.collect();
    expect(freed).toEqual([]);
    step(1);
    step(0);
    reclaimer.collect();
    expect(freed).toEqual(['a']);
  });

  it('takes a reader that is in its next batch as past', () => {
    step(0);
    retire('a');
    reclaimer.collect();
    step(0);
    step(0);
    reclaimer.collect();
    expect(freed).toEqual(['a']);
  });

  it('does not let what is retired later ride on an older snapshot', () => {
    step(0);
    retire('a');
    reclaimer.collect();
    step(0);
    step(0);
    retire('b');
    reclaimer.collect();
    expect(freed).toEqual(['a']);
    step(0);
    reclaimer.collect();
    expect(freed).toEqual(['a', 'b']);
  });

  it('stops waiting for the dead', () => {
    step(1);
    retire('a');
    reclaimer.collect();
    reclaimer.readerDied(1);
    reclaimer.readerDied(1);
    reclaimer.collect();
    expect(freed).toEqual(['a']);
    expect(reclaimer.pending).toBe(0);
  });
});
