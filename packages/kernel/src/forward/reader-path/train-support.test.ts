import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_SERVERS } from './shared-words.ts';
import { TrainSupport } from './train-support.ts';

const SERVER = 3;
const OTHER = 4;
const MINUTES = 60_000;

let support: TrainSupport;
let train = 0;

/** This many trains, of two queries each, get no reply. */
function lose(count: number, now: number): void {
  for (let index = 0; index < count; index += 1) {
    train += 1;
    support.noteOverdue(SERVER, train, now);
    support.noteOverdue(SERVER, train, now);
  }
}

beforeEach(() => {
  support = new TrainSupport(true);
});

describe('a server', () => {
  it('is sent no trains for ten minutes once four in a row were lost, and then none after one', () => {
    lose(3, 0);
    expect(support.isUsed(SERVER, 0)).toBe(true);
    lose(1, 0);
    expect([support.isUsed(SERVER, 0), support.isUsed(OTHER, 0)]).toEqual([false, true]);
    // Trains sent before the server was known to lose them.
    lose(5, 1);
    expect(support.isUsed(SERVER, 10 * MINUTES - 1)).toBe(false);
    expect(support.isUsed(SERVER, 10 * MINUTES)).toBe(true);
    lose(1, 10 * MINUTES);
    expect(support.isUsed(SERVER, 20 * MINUTES - 1)).toBe(false);
  });

  it('that has replied to a train may lose as many again', () => {
    lose(3, 0);
    support.noteReply(SERVER);
    lose(3, 0);
    expect(support.isUsed(SERVER, 0)).toBe(true);
  });

  it('is sent none for ten minutes where the kernel takes none', () => {
    support.noteRefused(SERVER, 5);
    expect(support.isUsed(SERVER, 10 * MINUTES + 4)).toBe(false);
    expect(support.isUsed(SERVER, 10 * MINUTES + 5)).toBe(true);
  });

  it('that has the place of another is not taken for it', () => {
    lose(4, 0);
    expect(support.isUsed(SERVER + MAX_SERVERS, 0)).toBe(true);
  });
});

it('is of no use where the kernel does not know trains', () => {
  expect(new TrainSupport(false).isUsed(SERVER, 0)).toBe(false);
});
