import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log, LogFields } from '@portolan/kernel/base/log.ts';
import { FolderError } from '@portolan/sources/folder-follower.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ClusterObject,
  type EndpointsObject,
  keyOfObject,
  type NamespaceObject,
  type ObjectSink,
  type ServiceObject,
} from '../objects/objects.ts';
import { ManifestSource } from './manifest-source.ts';

let folder: string;
let source: ManifestSource | undefined;
const held = new Map<string, ClusterObject>();
const calls: string[] = [];
const incomplete: boolean[] = [];
let refuses = '';
const logged: { message: string; fields: LogFields }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  held.clear();
  calls.length = 0;
  incomplete.length = 0;
  logged.length = 0;
  refuses = '';
});

afterEach(() => {
  source?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function makeSink<Kind extends ClusterObject>(kind: Kind['kind']): ObjectSink<Kind> {
  return {
    listStarted: () => void calls.push(`${kind} list`),
    listCompleted: () => void calls.push(`${kind} listed`),
    upsert(object) {
      calls.push(`${kind} + ${keyOfObject(object)}`);
      if (refuses === `${kind} ${keyOfObject(object)}`) throw new Error('a defect');
      held.set(`${kind} ${keyOfObject(object)}`, object);
    },
    remove(key) {
      calls.push(`${kind} - ${key}`);
      held.delete(`${kind} ${key}`);
    },
    count: () => held.size,
  };
}

const log: Log = {
  error: (message, fields = {}) => void logged.push({ message, fields }),
  warn: (message, fields = {}) => void logged.push({ message, fields }),
  info() {},
  debug() {},
};

/** The periodic checks are frequent here. */
const hasty = {
  ...systemClock,
  after: (wait: number, run: () => void) => systemClock.after(Math.min(wait, 100), run),
};

async function serve(clock = systemClock, allowEmpty = false): Promise<ManifestSource> {
  const sinks = {
    markIncomplete: (isIncomplete: boolean) => void incomplete.push(isIncomplete),
    services: makeSink<ServiceObject>('Service'),
    endpoints: makeSink<EndpointsObject>('Endpoints'),
    namespaces: makeSink<NamespaceObject>('Namespace'),
  };
  source = new ManifestSource({ folder, allowEmpty, sinks, clock, log });
  await source.start();
  return source;
}

const service = (name: string, address = '10.96.0.7') =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: shop}\nspec: {clusterIP: ${address}}\n`;
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const services = () => [...held.keys()].filter((key) => key.startsWith('Service ')).sort();
const until = (check: () => void) => vi.waitFor(check, { timeout: 5_000, interval: 20 });

describe('at the start', () => {
  it('lists each kind once, whole, namespaces included', async () => {
    write('a.yaml', service('cart'));
    write('ignored.txt', 'no: [manifest');
    write('.hidden.yaml', 'no: [manifest');
    await serve();
    expect(calls).toEqual([
      'Service list',
      'Endpoints list',
      'Namespace list',
      'Namespace + shop',
      'Service + shop/cart',
      'Service listed',
      'Endpoints listed',
      'Namespace listed',
    ]);
  });

  it('reports a bad file with its line and serves the rest', async () => {
    write('a.yaml', service('cart'));
    write('b.yaml', `${service('till')}---\nkind: [\n`);
    const started = await serve();
    expect(services()).toEqual(['Service shop/cart']);
    expect(logged).toMatchObject([
      { message: 'bad manifest', fields: { file: join(folder, 'b.yaml'), line: 7 } },
    ]);
    const missing = [`manifests: cannot be read: ${join(folder, 'b.yaml')}`];
    expect(started.status()).toEqual({ files: 1, badFiles: 1, missing });
    expect(incomplete).toEqual([true]);
  });

  it('takes an empty folder for one that is not filled yet, and says so', async () => {
    const started = await serve();
    expect(incomplete).toEqual([true]);
    expect(logged.map(({ message }) => message)).toEqual(['no manifests found, names are not denied']);
    expect(started.status().missing.join()).toContain('--allow-empty');
    write('a.yaml', service('cart'));
    await until(() => expect(services()).toEqual(['Service shop/cart']));
    expect(incomplete.at(-1)).toBe(false);
  });

  it('takes an empty folder for an empty cluster where that is allowed', async () => {
    const started = await serve(systemClock, true);
    expect(incomplete).toEqual([false]);
    expect(logged).toEqual([]);
    expect(started.status().missing).toEqual([]);
  });

  it('refuses a folder that is not there', async () => {
    rmSync(folder, { recursive: true });
    await expect(serve()).rejects.toThrow(FolderError);
  });
});

describe('later', () => {
  it('hands on what is different and nothing else', async () => {
    write('a.yaml', service('cart'));
    write('b.yaml', service('till', '10.96.0.8'));
    await serve();
    calls.length = 0;
    write('a.yaml', `# a comment\n${service('cart')}---\n${service('door', '10.96.0.9')}`);
    rmSync(join(folder, 'b.yaml'));
    await until(() => expect(services()).toEqual(['Service shop/cart', 'Service shop/door']));
    expect(calls).toEqual(['Service + shop/door', 'Service - shop/till']);
  });

  it('keeps the last good version of a file that turns bad, and reports it', async () => {
    write('a.yaml', service('cart'));
    const started = await serve();
    write('a.yaml', 'kind: [\n');
    await until(() => expect(logged).toMatchObject([{ message: 'bad manifest', fields: { line: 2 } }]));
    expect(services()).toEqual(['Service shop/cart']);
    expect(started.status()).toEqual({ files: 1, badFiles: 1, missing: [] });
    write('a.yaml', service('till'));
    await until(() => expect(services()).toEqual(['Service shop/till']));
    expect(started.status()).toEqual({ files: 1, badFiles: 0, missing: [] });
    // A file that was valid once has no missing objects.
    expect(incomplete.at(-1)).toBe(false);
  });

  it.each(['__proto__', 'constructor', 'toString'])(
    'names a file of kind %s, and serves the others',
    async (kind) => {
      const bad = `apiVersion: v1\nkind: ${kind}\nmetadata: {name: x}\n`;
      write('a.yaml', bad);
      write('b.yaml', service('cart'));
      await serve();
      expect(services()).toEqual(['Service shop/cart']);
      expect(logged).toMatchObject([
        { message: 'bad manifest', fields: { file: join(folder, 'a.yaml'), line: 1 } },
      ]);
      logged.length = 0;
      write('c.yaml', bad);
      write('d.yaml', service('till', '10.96.0.8'));
      await until(() => expect(services()).toEqual(['Service shop/cart', 'Service shop/till']));
      expect(logged).toMatchObject([
        { message: 'bad manifest', fields: { file: join(folder, 'c.yaml'), line: 1 } },
      ]);
    },
  );

  it('passes over an object that cannot be taken in, and serves the others', async () => {
    write('a.yaml', service('odd'));
    write('b.yaml', service('cart', '10.96.0.8'));
    refuses = 'Service shop/odd';
    await serve();
    expect(services()).toEqual(['Service shop/cart']);
    expect(logged).toMatchObject([
      { message: 'item rejected', fields: { item: 'Service shop/odd', reason: 'failed' } },
    ]);
  });

  it('follows editors that write beside and rename', async () => {
    write('a.yaml', service('cart'));
    await serve();
    write('a.yaml.tmp', service('till'));
    renameSync(join(folder, 'a.yaml.tmp'), join(folder, 'a.yaml'));
    await until(() => expect(services()).toEqual(['Service shop/till']));
  });

  it('follows the volumes of ConfigMaps, whose data is swapped as a whole', async () => {
    mkdirSync(join(folder, '..1'));
    write('..1/a.yaml', service('cart'));
    symlinkSync('..1', join(folder, '..data'));
    symlinkSync('..data/a.yaml', join(folder, 'a.yaml'));
    await serve();
    mkdirSync(join(folder, '..2'));
    write('..2/a.yaml', service('till'));
    symlinkSync('..2', join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    rmSync(join(folder, '..1'), { recursive: true });
    await until(() => expect(services()).toEqual(['Service shop/till']));
    expect(logged).toEqual([]);
  });

  it('sees by itself what no notice tells: another folder in the place of the first', async () => {
    write('a.yaml', service('cart'));
    await serve(hasty);
    renameSync(folder, `${folder}-old`);
    await until(() => expect(logged).toMatchObject([{ message: 'folder lost, its last state stays' }]));
    expect(services()).toEqual(['Service shop/cart']);
    mkdirSync(folder);
    write('a.yaml', service('till'));
    await until(() => expect(services()).toEqual(['Service shop/till']));
    rmSync(`${folder}-old`, { recursive: true });
  });

  it('never shows a file that is being written: a change counts when two looks agree', async () => {
    write('a.yaml', service('cart'));
    const looks: (() => void)[] = [];
    const after = (_: number, run: () => void) => {
      looks.push(run);
      return { cancel() {} };
    };
    const reading = await serve({ ...systemClock, after });
    const look = async () => {
      const made = looks.length;
      looks.at(-1)?.();
      await until(() => expect(looks.length).toBeGreaterThan(made));
    };
    calls.length = 0;
    write('a.yaml', '');
    await look();
    write('a.yaml', service('till'));
    await look();
    expect(calls).toEqual([]);
    await look();
    expect(calls).toEqual(['Service + shop/till', 'Service - shop/cart']);
    expect(reading.status().badFiles).toBe(0);
  });
});
