import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  readSnapshot,
  type SnapshotContent,
  type SnapshotOwner,
  type SnapshotReading,
  writeSnapshot,
} from './snapshot-file.ts';
import { SNAPSHOT_PERIOD, SNAPSHOT_RENEWAL, SnapshotKeeper } from './snapshot-keeper.ts';

const owner = { domain: 'cluster.local.', source: 'https://10.0.0.1:6443' };
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'snapshot-'));
  file = join(folder, 'state');
});
/** Undefined if the snapshot cannot be used, or has no lines. */
const listLines = (reading: SnapshotReading) =>
  reading.kind === 'good' ? linesIn(reading.content) : undefined;

const linesIn = (content: SnapshotContent | undefined) =>
  content?.kind === 'lines' ? [...content.lines] : undefined;

const writeLines = (lines: readonly string[], of: SnapshotOwner = owner, now = 0) =>
  writeSnapshot(file, of, { kind: 'lines', lines }, now);

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the file', () => {
  it('gives back what was written, whatever it was', async () => {
    const line = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\n') && text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.array(line), async (lines) => {
        await writeLines(lines);
        const reading = await readSnapshot(file, owner);
        expect(reading).toMatchObject({ kind: 'good', count: lines.length, written: 0, isVerified: false });
        expect(listLines(reading)).toEqual(lines);
      }),
      { numRuns: 30 },
    );
  });

  it('is written in parts without a difference', async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `${index} ${'x'.repeat(200)}`);
    await writeLines(lines);
    expect(listLines(await readSnapshot(file, owner))).toEqual(lines);
    expect(readdirSync(folder)).toEqual(['state']);
  });

  it('has octets as they are, at a whole word', async () => {
    const part = fc.uint8Array({ maxLength: 600 });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), fc.nat(9), async (parts, count) => {
        await writeSnapshot(file, owner, { kind: 'octets', parts, count }, 7);
        const reading = await readSnapshot(file, Promise.resolve(owner));
        expect(reading).toMatchObject({ kind: 'good', count, written: 7 });
        if (reading.kind !== 'good' || reading.content.kind !== 'octets') throw new Error('no octets');
        expect(Buffer.concat(parts).equals(reading.content.octets)).toBe(true);
        expect(readFileSync(file).indexOf('\n') % 16).toBe(15);
      }),
      { numRuns: 30 },
    );
  });

  it('is not read if it is of a later version, whatever else is in it', async () => {
    writeFileSync(
      file,
      '{"format":"portolan snapshot","version":3,"domain":"a","source":"b","written":""}\n1\n',
    );
    const reason = 'it is of version 3, not 1 or 2';
    expect(await readSnapshot(file, owner)).toEqual({ kind: 'unusable', reason });
  });

  it('is not missed', async () => {
    expect(await readSnapshot(file, owner)).toEqual({ kind: 'none' });
  });

  it('is not believed when any octet of it is another, or its end is missing', async () => {
    for (const state of [
      { kind: 'lines', lines: ['one', 'two'] } as const,
      { kind: 'octets', parts: [Buffer.from('one\ntwo')], count: 2 } as const,
    ]) {
      await writeSnapshot(file, owner, state, 0);
      const octets = readFileSync(file);
      for (let position = 0; position < octets.length; position += 1) {
        const damaged = Buffer.from(octets);
        damaged[position] = (damaged[position] ?? 0) ^ 1;
        writeFileSync(file, damaged);
        expect(await readSnapshot(file, owner)).toMatchObject({ kind: 'unusable' });
        writeFileSync(file, octets.subarray(0, position));
        expect(await readSnapshot(file, owner)).toMatchObject({ kind: 'unusable' });
      }
    }
  });

  it.each([
    [{ ...owner, domain: 'other.' }, 'it is of another zone: cluster.local.'],
    [{ ...owner, source: 'https://other' }, 'it is of another cluster: https://10.0.0.1:6443'],
  ])('is not used for another cluster: %j', async (other, reason) => {
    await writeLines(['one']);
    expect(await readSnapshot(file, other)).toEqual({ kind: 'unusable', reason });
  });
});

describe('the keeper', () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  let generation = 0;
  let state: readonly string[] | undefined;
  let isCurrent = true;
  const keep = (more: { readonly maxAge?: number; readonly cluster?: string } = {}) =>
    new SnapshotKeeper({
      file,
      owner: async () => ({ ...owner, cluster: more.cluster }),
      maxAge: more.maxAge ?? 86_400_000,
      maxAgeName: '--snapshot-max-age',
      generation: () => generation,
      state: () => state && { kind: 'lines', lines: state },
      isCurrent: () => isCurrent,
      clock,
      log,
    });
  const linesInFile = async () => {
    const reading = await readSnapshot(file, owner);
    return reading.kind === 'good' ? listLines(reading) : reading.kind;
  };
  /** Advances the clock to the next check, and waits for its end. */
  const look = async () => {
    clock.advance(SNAPSHOT_PERIOD);
    await expect.poll(() => clock.pending).toBe(1);
  };

  beforeEach(() => {
    log.records.length = 0;
    state = ['one'];
  });

  it('writes after changes, not before its time and not without a change', async () => {
    const keeper = keep();
    keeper.start();
    clock.advance(SNAPSHOT_PERIOD - 1);
    expect(await linesInFile()).toBe('none');
    clock.advance(1);
    await expect.poll(() => keeper.count().written).toBe(1);
    expect(await linesInFile()).toEqual(['one']);
    await look();
    expect(keeper.count().written).toBe(1);
    generation += 1;
    state = ['two'];
    await look();
    expect(keeper.count()).toMatchObject({ written: 2, lastWritten: clock.now() });
    expect(await linesInFile()).toEqual(['two']);
    await keeper.stop();
  });

  it('waits for a state that is whole', async () => {
    const keeper = keep();
    keeper.start();
    state = undefined;
    await look();
    expect(await linesInFile()).toBe('none');
    state = ['two'];
    await look();
    expect(await linesInFile()).toEqual(['two']);
    await keeper.stop();
  });

  it('writes what is left at the end, and nothing after it', async () => {
    const keeper = keep();
    keeper.start();
    await keeper.stop();
    expect(await linesInFile()).toEqual(['one']);
    expect(clock.pending).toBe(0);
  });

  it('does not use a state older than the maximum, and says how old it is', async () => {
    await writeLines(['one'], owner, clock.now() - 90_000_000);
    const keeper = keep();
    expect(await keeper.read()).toBeUndefined();
    expect(log.records.at(-1)?.fields['reason']).toBe(
      'it is too old: 25h0m; at most 24h0m by --snapshot-max-age',
    );
    expect(linesIn(await keep({ maxAge: 0 }).read())).toEqual(['one']);
  });

  it('knows the age of the state that it uses', async () => {
    await writeLines(['one'], owner, clock.now() - 5_000);
    const keeper = keep();
    await keeper.read();
    expect(log.records.at(-1)?.fields).toMatchObject({ age: '5s', clusterVerified: false });
    expect(keeper.count().age).toBe(5_000);
  });

  it('grows old by the time that passes, whatever the wall clock is set to', async () => {
    await writeLines(['one'], owner, clock.now() - 5_000);
    const keeper = keep();
    await keeper.read();
    for (const hour of [3_600_000, -7_200_000]) {
      clock.adjust(hour);
      expect(keeper.count().age).toBe(5_000);
    }
    keeper.start();
    await look();
    expect(keeper.count()).toMatchObject({ written: 1, age: 0 });
    clock.adjust(2 * SNAPSHOT_RENEWAL);
    await look();
    expect(keeper.count()).toMatchObject({ written: 1, age: SNAPSHOT_PERIOD });
    await keeper.stop();
  });

  it('uses no state of another cluster at the same address', async () => {
    await writeLines(['one'], { ...owner, cluster: 'a' }, clock.now());
    expect(await keep({ cluster: 'b' }).read()).toBeUndefined();
    expect(linesIn(await keep({ cluster: 'a' }).read())).toEqual(['one']);
    // While the server is unreachable, only the address can be compared.
    expect(linesIn(await keep().read())).toEqual(['one']);
  });

  it('renews the file of a quiet cluster each hour, while the state is known to be current', async () => {
    const keeper = keep();
    keeper.start();
    await look();
    expect(keeper.count().written).toBe(1);
    isCurrent = false;
    clock.advance(SNAPSHOT_RENEWAL);
    await expect.poll(() => clock.pending).toBe(1);
    expect(keeper.count().written).toBe(1);
    isCurrent = true;
    await look();
    expect(keeper.count()).toMatchObject({ written: 2, age: 0 });
    await keeper.stop();
  });

  it('reports a file that cannot be written, keeps the old one and tries again', async () => {
    await writeLines(['old']);
    const away = `${folder}-away`;
    renameSync(folder, away);
    const keeper = keep();
    keeper.start();
    await look();
    expect(keeper.count()).toMatchObject({ written: 0, errors: 1 });
    expect(log.records[0]?.fields['reason']).toMatch(
      /^cannot write snapshot, an older one stays: .*state: ENOENT/,
    );
    renameSync(away, folder);
    expect(await linesInFile()).toEqual(['old']);
    expect(readdirSync(folder)).toEqual(['state']);
    await look();
    expect(keeper.count()).toMatchObject({ written: 1, errors: 1 });
    expect(await linesInFile()).toEqual(['one']);
    await keeper.stop();
  });

  it('reports a file that cannot be used and starts without it', async () => {
    writeFileSync(file, 'nonsense\n');
    const keeper = keep();
    expect(await keeper.read()).toBeUndefined();
    expect(keeper.count().errors).toBe(1);
    expect(log.records).toEqual([
      {
        level: 'warn',
        message: 'snapshot ignored',
        fields: { file, reason: 'its end is missing', remedy: expect.stringContaining('another file') },
      },
    ]);
  });
});
