/**
 * What `dnssec` and `sign` make is valid in the eyes of others: delv validates all answers, and the checkers of BIND, Knot DNS and NLnet
 * Labs whole zones. The keys are those of `dnssec-keygen` and `ldns-keygen`.
 */

import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { makeKeyPair, writePublicKey } from '@portolan/plugins/dnssec/testing/keys.ts';
import { signZone } from '@portolan/plugins/sign/sign-zone.ts';
import { readZoneFile } from '@portolan/sources/zone-files/zone-file.ts';
import type { Program } from '@portolan/testing/program.ts';
import fc from 'fast-check';
import { afterEach, describe, expect } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const run = promisify(execFile);
const MILLISECONDS = 120_000;

const ZONE = `$ORIGIN example.
$TTL 60
@ IN SOA ns host 1 7200 3600 1209600 60
@ IN NS ns
@ IN MX 10 web
ns IN A 192.0.2.53
web IN A 192.0.2.80
web IN A 192.0.2.81
www IN CNAME web
dangling IN CNAME nowhere
half IN CNAME web
*.wild IN A 192.0.2.82
a.b IN A 192.0.2.83
Mixed.Case IN MX 10 Mail.Example.
insecure IN NS ns.insecure
ns.insecure IN A 192.0.2.99
secure IN NS ns.secure
ns.secure IN A 192.0.2.98
secure IN DS 12345 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE0000000000000000000000AA
https IN HTTPS 1 Svc.Example. alpn=h2
`;

const POSITIVE = /^; fully validated$/m;
const NEGATIVE = /^; negative response, fully validated$/m;
/** The alias is validated, and then its target is denied. */
const ALIAS_TO_NOTHING = /^; fully validated\n[\s\S]*resolution failed: ncache nx/;
const QUESTIONS: readonly (readonly [string, string, RegExp])[] = [
  ['example', 'SOA', POSITIVE],
  ['example', 'NS', POSITIVE],
  ['example', 'MX', POSITIVE],
  ['example', 'DNSKEY', POSITIVE],
  ['web.example', 'A', POSITIVE],
  ['WeB.eXample', 'A', POSITIVE],
  ['www.example', 'A', POSITIVE],
  ['x.wild.example', 'A', POSITIVE],
  ['mixed.case.example', 'MX', POSITIVE],
  ['https.example', 'HTTPS', POSITIVE],
  ['secure.example', 'DS', POSITIVE],
  ['nowhere.example', 'A', NEGATIVE],
  ['x.y.nowhere.example', 'TXT', NEGATIVE],
  ['web.example', 'AAAA', NEGATIVE],
  ['example', 'AAAA', NEGATIVE],
  ['x.wild.example', 'AAAA', NEGATIVE],
  ['b.example', 'A', NEGATIVE],
  ['insecure.example', 'DS', NEGATIVE],
  ['dangling.example', 'A', ALIAS_TO_NOTHING],
  ['half.example', 'TXT', ALIAS_TO_NOTHING],
];

/** Enough for one more algorithm. */
const FEW = QUESTIONS.filter(([name]) => ['example', 'nowhere.example'].includes(name));

async function serve(folder: TemporaryFolder, block: string): Promise<{ port: number; program: Program }> {
  const port = await findFreePort();
  const conf = await folder.write(
    'Corefile',
    `example:${port} {\n bind 127.0.0.1\n root ${folder.path}\n ${block}\n}\n`,
  );
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  expect(program.ended, program.errors).toBe(undefined);
  return { port, program };
}

/** @returns the names of the pairs of key files in a folder */
async function listKeys({ path }: TemporaryFolder): Promise<readonly string[]> {
  const names = await readdir(path);
  return names.filter((name) => name.endsWith('.key')).map((name) => name.slice(0, -'.key'.length));
}

/** Writes the keys of a folder as trust anchors, for delv. */
async function writeAnchors(folder: TemporaryFolder): Promise<string> {
  const keys = await Promise.all(
    (await listKeys(folder)).map((name) => readFile(join(folder.path, `${name}.key`), 'utf8')),
  );
  const anchors = keys.flatMap((text) => {
    const [, flags, protocol, algorithm, key] = /DNSKEY\s+(\d+) (\d+) (\d+) ([^;\n]+)/.exec(text) ?? [];
    return flags === '257' ? [`"example." static-key ${flags} ${protocol} ${algorithm} "${key}";`] : [];
  });
  return folder.write('anchors', `trust-anchors { ${anchors.join(' ')} };\n`);
}

async function delv(port: number, anchors: string, name: string, type: string): Promise<string> {
  const args = ['@127.0.0.1', '-p', String(port), '-a', anchors, '+root=example', name, type];
  const { stdout, stderr } = await run('delv', args).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return stdout + stderr;
}

async function expectValid(port: number, folder: TemporaryFolder, questions = QUESTIONS): Promise<void> {
  const anchors = await writeAnchors(folder);
  const found: Record<string, string> = {};
  const expected: Record<string, unknown> = {};
  for (const [name, type, result] of questions) {
    found[`${name} ${type}`] = await delv(port, anchors, name, type);
    expected[`${name} ${type}`] = expect.stringMatching(result);
  }
  expect(found).toEqual(expected);
}

/** How the keys of a folder are made, and by which tool. */
const KEYS: ReadonlyMap<string, { readonly tool: string; readonly uses: readonly (readonly string[])[] }> =
  new Map([
    [
      'ECDSA P-256, of two kinds',
      {
        tool: 'dnssec-keygen',
        uses: [
          ['-a', 'ECDSAP256SHA256', '-f', 'KSK'],
          ['-a', 'ECDSAP256SHA256'],
        ],
      },
    ],
    ['ECDSA P-384', { tool: 'dnssec-keygen', uses: [['-a', 'ECDSAP384SHA384', '-f', 'KSK']] }],
    ['Ed25519', { tool: 'dnssec-keygen', uses: [['-a', 'ED25519', '-f', 'KSK']] }],
    ['RSA with SHA-256', { tool: 'dnssec-keygen', uses: [['-a', 'RSASHA256', '-b', '2048', '-f', 'KSK']] }],
    ['RSA with SHA-512', { tool: 'dnssec-keygen', uses: [['-a', 'RSASHA512', '-b', '2048', '-f', 'KSK']] }],
    ['ECDSA P-256 of ldns', { tool: 'ldns-keygen', uses: [['-a', 'ECDSAP256SHA256', '-k']] }],
    ['Ed25519 of ldns', { tool: 'ldns-keygen', uses: [['-a', 'ED25519', '-k']] }],
    ['RSA with SHA-256 of ldns', { tool: 'ldns-keygen', uses: [['-a', 'RSASHA256', '-b', '2048', '-k']] }],
  ]);

async function makeFolder(keys: string): Promise<TemporaryFolder> {
  const folder = await makeTemporaryFolder();
  await folder.write('db', ZONE);
  const { tool = '', uses = [] } = KEYS.get(keys) ?? {};
  for (const flags of uses) await run(tool, [...flags, 'example'], { cwd: folder.path });
  return folder;
}

describe('dnssec', () => {
  for (const [keys, { tool, uses }] of KEYS)
    itWithTool(
      ['delv', tool],
      `signs answers that delv validates, by ${keys}`,
      async () => {
        const folder = await makeFolder(keys);
        const names = await listKeys(folder);
        const { port } = await serve(folder, `dnssec {\n key file ${names.join(' ')}\n }\n file db`);
        await expectValid(port, folder, uses.length > 1 ? QUESTIONS : FEW);
        // Reader threads repeat the second answers.
        await expectValid(port, folder, FEW);
      },
      MILLISECONDS,
    );

  itWithTool(
    ['kdig', 'dnssec-keygen'],
    'answers kdig within the size that it offers, and whole over TCP',
    async () => {
      const folder = await makeFolder('RSA with SHA-256');
      const [name = ''] = await listKeys(folder);
      const { port } = await serve(folder, `dnssec {\n key file ${name}\n }\n file db`);
      const ask = async (...flags: readonly string[]) =>
        (await run('kdig', ['@127.0.0.1', '-p', String(port), '+dnssec', '+retry=0', ...flags])).stdout;
      expect(await ask('example', 'DNSKEY', '+bufsize=512', '+ignore')).toMatch(/Flags: qr aa tc rd;/);
      expect(await ask('example', 'DNSKEY', '+tcp')).toMatch(/\bRRSIG\s+DNSKEY 8 1 3600 /);
      expect(await ask('web.example', 'A', '+bufsize=1232')).toMatch(/\bRRSIG\s+A 8 2 3600 /);
    },
    MILLISECONDS,
  );
});

/** Names of up to three labels below the zone, and what each has. At a cut there may be addresses too, which are glue. */
const names = fc.uniqueArray(
  fc.record({
    labels: fc.array(fc.constantFrom('a', 'B', 'c-c', 'x0', '_t', '\\001z'), { minLength: 1, maxLength: 3 }),
    has: fc.constantFrom('address', 'text', 'wildcard', 'delegation', 'secure delegation', 'alias'),
  }),
  { maxLength: 12, selector: ({ labels }) => labels.join('.').toLowerCase() },
);

function writeName({ labels, has }: { readonly labels: readonly string[]; readonly has: string }): string {
  const name = labels.join('.');
  if (has === 'wildcard') return `*.${name} IN A 192.0.2.1\n`;
  if (has === 'text') return `${name} IN TXT "${name.length}"\n${name} IN MX 10 Mail.${name}\n`;
  if (has === 'alias') return `${name} IN CNAME Elsewhere.test.\n`;
  if (has === 'delegation')
    return `${name} IN NS ${name}\n${name} IN A 192.0.2.1\nns.${name} IN A 192.0.2.2\n`;
  if (has === 'secure delegation') return `${name} IN NS ns\n${name} IN DS 1 13 2 ${'0'.repeat(64)}\n`;
  return `${name} IN A 192.0.2.1\n${name} IN AAAA 2001:db8::1\n`;
}

describe('sign', () => {
  itWithTool(
    ['dnssec-verify', 'ldns-verify-zone'],
    'makes zones that checkers take, whatever is in them',
    async () => {
      const folder = await makeTemporaryFolder();
      const anchor = await folder.write('key', writePublicKey('example.', 257));
      const origin = toKey(parseName('example.'));
      const now = Math.floor(Date.now() / 1000);
      const validity = { inception: now - 60, expiration: now + 3600 };
      await fc.assert(
        fc.asyncProperty(names, async (made) => {
          const head =
            '$ORIGIN example.\n$TTL 60\n@ IN SOA ns host 1 2 3 4 60\n@ IN NS ns\nns IN A 192.0.2.53\n';
          const text = head + made.map(writeName).join('');
          const { records, problems } = readZoneFile(text, { file: 'db', origin, readInclude: () => '' });
          expect(problems).toEqual([]);
          const keys = [makeKeyPair('example.', 257)];
          const signed = await signZone(records, { origin, keys, validity, serial: 5 });
          const file = await folder.write('signed', `${signed.map(presentRecord).join('\n')}\n`);
          await run('dnssec-verify', ['-z', '-o', 'example', file]);
          await run('ldns-verify-zone', ['-k', anchor, file]);
        }),
        { numRuns: 30 },
      );
    },
    MILLISECONDS,
  );

  itWithTool(
    ['delv', 'dnssec-keygen', 'dnssec-verify', 'kzonecheck', 'ldns-verify-zone'],
    'makes a zone that all checkers take, and delv validates',
    async () => {
      const folder = await makeFolder('ECDSA P-384');
      const [name = ''] = await listKeys(folder);
      const file = join(folder.path, 'db.example.signed');
      const { port, program } = await serve(
        folder,
        `file ${file} {\n reload 100ms\n }\n sign db {\n key file ${name}\n directory .\n }`,
      );
      await waitUntil('the zone', () => program.output.includes('Successfully reloaded zone'));
      // One key for all: a flag KSK says nothing.
      await run('dnssec-verify', ['-z', '-o', 'example', file]);
      await run('kzonecheck', ['-o', 'example', '--dnssec', 'on', file]);
      await run('ldns-verify-zone', ['-k', join(folder.path, `${name}.key`), file]);
      await expectValid(port, folder);
    },
    MILLISECONDS,
  );
});
