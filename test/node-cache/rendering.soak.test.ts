/**
 * Compares our Corefiles with recorded ones of node-cache: of kubernetes/dns in January 2026, and of
 * kubernetes-sigs/node-local-dns in June.
 */
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FollowedCorefile } from '@portolan/frontends/node-cache/run/followed-corefile.ts';
import { readNodeCacheFlags } from '@portolan/frontends/node-cache/settings/node-cache-flags.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRecording } from '../support/recordings.ts';
import { KNOWN_DIFFERENCES } from './known-differences.ts';

type RecordedFile = string | { readonly hex: string } | { readonly link: string } | null;
type RecordedFiles = Readonly<Record<string, RecordedFile>>;

interface RecordedStep {
  readonly cm?: RecordedFiles | null;
  readonly base?: RecordedFiles;
  readonly write?: RecordedFiles;
  readonly mkdir?: string;
  readonly rename?: readonly [string, string];
  readonly rendered: string | null;
}

interface RecordedCase {
  readonly name: string;
  readonly about: string;
  readonly args: readonly string[];
  readonly template?: string;
  readonly configMap?: RecordedFiles | null;
  readonly besideTemplate?: RecordedFiles;
  readonly files?: RecordedFiles;
  readonly etc?: RecordedFiles;
  readonly env?: Readonly<Record<string, string>>;
  readonly rendered: string | null;
  readonly starts: boolean;
  readonly log: readonly string[];
  readonly steps?: readonly RecordedStep[];
}

const cases = ['rendering', 'rendering-node-local-dns'].flatMap((name) =>
  readRecording<RecordedCase>(`test/node-cache/recordings/${name}.jsonl`),
);
const rendering = cases.filter(
  ({ rendered, args }) => rendered !== null && readNodeCacheFlags(args).kind === 'good',
);

let folder: TemporaryFolder;
let running: FollowedCorefile | undefined;

beforeEach(async () => {
  folder = await makeTemporaryFolder();
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function write(place: string, files: RecordedFiles): Promise<void> {
  for (const [name, file] of Object.entries(files)) {
    const path = join(folder.path, place, name);
    await mkdir(dirname(path), { recursive: true });
    if (file === null) await rm(path);
    else if (typeof file === 'string') await writeFile(path, file);
    else if ('hex' in file) await writeFile(path, Buffer.from(file.hex, 'hex'));
    else await symlink(file.link, path);
  }
}

async function prepare(recorded: RecordedCase): Promise<void> {
  const { template, configMap, besideTemplate = {}, files = {}, etc = {} } = recorded;
  await mkdir(join(folder.path, 'base'));
  if (template !== undefined) await write('base', { 'Corefile.base': template });
  await write('base', besideTemplate);
  if (configMap) {
    await mkdir(join(folder.path, 'cm'));
    await write('cm', configMap);
  }
  await write('', files);
  await write('etc', etc);
}

async function start(recorded: RecordedCase) {
  const reading = readNodeCacheFlags(recorded.args.map((word) => word.replaceAll('{DIR}', folder.path)));
  if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
  const template = reading.plan.template.replace(/^\/etc/, join(folder.path, 'etc'));
  const corefile = reading.plan.corefile.replace(/^\/etc/, folder.path);
  const counts = { changes: 0, errors: 0 };
  running = new FollowedCorefile({
    plan: { ...reading.plan, template, corefile },
    environment: recorded.env ?? {},
    defaultConfigFolder: join(folder.path, 'etc/kube-dns'),
    onChange: () => {
      counts.changes += 1;
    },
    onError: () => {
      counts.errors += 1;
    },
    clock: systemClock,
    log: new RecordingLog(),
  });
  await running.start();
  const read = () => readFileSync(corefile, 'utf8').replaceAll(folder.path, '{DIR}');
  return { counts, read, template };
}

/** Of the known differences those that show in the Corefile. */
const RENDERED_OTHERWISE: ReadonlySet<string> = new Set([
  'official-two-ips',
  'official-v6-health-unbracketed',
  'stub-no-server',
  'stub-null-server',
  'stub-port-0',
  'map-not-utf8',
  'map-federations-bad',
  'map-federations-bad-name',
]);

describe('a command line', () => {
  it.each(cases)('of $name is accepted or not as by node-cache', ({ name, args, starts }) => {
    const isAccepted = readNodeCacheFlags(args).kind === 'good';
    if (!isAccepted) expect(starts).toBe(false);
    const isRefusedByOriginal = !starts && name.startsWith('flag-');
    if (isAccepted && isRefusedByOriginal) expect(KNOWN_DIFFERENCES).toHaveProperty(name);
  });
});

/** What the original says of a fault that it falls back from, whether it counts it or not. */
const FAULTS =
  /Failed to (?:sync kube-dns config|read node-cache coreFile|write config file)|Invalid config:/;
/** Faults of the recorded cases that Portolan accepts: a missing folder may appear later, and only keys in use must be text. */
const NO_FAULTS: ReadonlySet<string> = new Set([
  'map-not-utf8',
  'map-missing-dir',
  'map-dir-is-file',
  'run-folder-appears',
  'map-federations-bad',
  'map-federations-bad-name',
]);

/** Whether `coredns_nodecache_setup_errors_total` counts it; the original counts some of these alone. */
function isFault({ name, log }: RecordedCase): boolean {
  return log.some((line) => FAULTS.test(line)) && !NO_FAULTS.has(name);
}

describe('a template is rendered, and a fault counted, as by node-cache', () => {
  it.each(rendering.map((recorded) => [recorded.name, recorded] as const))('%s', async (name, recorded) => {
    await prepare(recorded);
    const { read, counts } = await start(recorded);
    if (name !== 'stub-port-0') expect(counts.errors > 0).toBe(isFault(recorded));
    if (RENDERED_OTHERWISE.has(name)) expect(read()).not.toBe(recorded.rendered);
    else expect(read()).toBe(recorded.rendered);
  });
});

describe('a fault at the start', () => {
  it.each(['template-missing', 'output-folder-missing'])('writes no Corefile: %s', async (name) => {
    const recorded = cases.find((each) => each.name === name);
    if (recorded === undefined) throw new Error(`no such case: ${name}`);
    await prepare(recorded);
    const { counts, read } = await start(recorded);
    expect(counts).toEqual({ changes: 0, errors: 1 });
    expect(read).toThrow('ENOENT');
  });
});

describe('the recording', () => {
  it('is accounted for: each case is rendered, refused, or without a Corefile', () => {
    const refused = cases.filter(({ args }) => readNodeCacheFlags(args).kind !== 'good');
    const without = cases.filter(
      ({ rendered, args }) => rendered === null && readNodeCacheFlags(args).kind === 'good',
    );
    expect(cases).toHaveLength(177);
    expect(rendering.length + refused.length + without.length).toBe(177);
    expect(without.map(({ name }) => name).toSorted()).toEqual([
      'flag-klog-flag',
      'flag-localip-mixed',
      'flag-localip-mixed-rev',
      'flag-syncinterval-bare',
      'output-folder-missing',
      'output-no-conf',
      'template-missing',
    ]);
    for (const name of Object.keys(KNOWN_DIFFERENCES))
      expect(cases.map((recorded) => recorded.name)).toContain(name);
  });
});

/** Cases whose first change is rejected, with an error. */
const REJECTED: ReadonlySet<string> = new Set([
  'run-bad-then-good',
  'run-refused-servers',
  'run-template-after-bad-map',
  'run-template-removed',
]);

async function apply({ cm, base, write: written, mkdir: made, rename: moved }: RecordedStep): Promise<void> {
  if (made !== undefined) await mkdir(join(folder.path, made));
  if (cm) await write('cm', cm);
  if (base) await write('base', base);
  if (written) await write('', written);
  if (moved) await rename(join(folder.path, moved[0]), join(folder.path, moved[1]));
}

describe('changes are followed as by node-cache', () => {
  const changing = rendering.filter(({ steps = [] }) => steps.length > 0);
  it.each(changing.map((recorded) => [recorded.name, recorded] as const))('%s', async (name, recorded) => {
    await prepare(recorded);
    const { read, counts } = await start(recorded);
    for (const step of recorded.steps ?? []) {
      const before = { ...counts, text: read() };
      await apply(step);
      if (name in KNOWN_DIFFERENCES) {
        await waitUntil('another Corefile', () => read() !== before.text);
        return;
      }
      if (step.rendered !== before.text)
        await waitUntil('the recorded Corefile', () => read() === step.rendered);
      else if (REJECTED.has(name)) await waitUntil('an error', () => counts.errors > before.errors);
      expect(read()).toBe(step.rendered);
    }
  });
});
