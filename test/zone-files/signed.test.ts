/**
 * The plugin file serves signed zones as they are: delv, which validates, finds a complete proof in each answer, of NSEC and of NSEC3.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, describe, expect } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const run = promisify(execFile);
const TOOLS = ['dnssec-keygen', 'dnssec-signzone', 'delv'];

const ZONE = `$ORIGIN example.
$TTL 60
@ IN SOA ns host 1 7200 3600 1209600 60
@ IN NS ns
ns IN A 192.0.2.53
web IN A 192.0.2.80
www IN CNAME web
dangling IN CNAME nowhere
half IN CNAME web
made IN CNAME x.wild
*.wild IN A 192.0.2.81
known.wild IN A 192.0.2.82
*.cwild IN CNAME web
a.b.c IN A 192.0.2.83
insecure IN NS ns.insecure
ns.insecure IN A 192.0.2.99
secure IN NS ns.secure
ns.secure IN A 192.0.2.98
secure IN DS 12345 13 2 49FD46E6C4B45C55D4AC69CBD3CD34AC1AFE51DE0000000000000000000000AA
z IN TXT "last"
`;

const OPT_OUT = '-A';
const CHAINS: ReadonlyMap<string, readonly string[]> = new Map([
  ['NSEC', []],
  ['NSEC3', ['-3', '-', '-H', '0']],
  ['NSEC3 with salt, iterations and opt-out', ['-3', 'aabbccdd', '-H', '5', OPT_OUT]],
]);

/** Questions, and how delv sees their answers. */
const POSITIVE = /^; fully validated$/m;
const MADE = /^; fully validated$/m;
const MADE_ALIAS_TO_NOTHING = /^; fully validated\n[\s\S]*resolution failed: ncache nx/;
const NEGATIVE = /^; negative response, fully validated$/m;
/** The alias is validated, and then its target is denied. */
const ALIAS_TO_NOTHING = /^; fully validated\n[\s\S]*resolution failed: ncache nx/;
/** A span that opts out cannot show that no name was closer than the wildcard, so that its records count as unsigned. */
const MADE_IN_OPT_OUT = /^; unsigned answer$/m;
const QUESTIONS: readonly (readonly [string, string, RegExp])[] = [
  ['web.example', 'A', POSITIVE],
  ['example', 'SOA', POSITIVE],
  ['example', 'NS', POSITIVE],
  ['www.example', 'A', POSITIVE],
  // A wildcard, its CNAME, and an alias that leads to one.
  ['x.wild.example', 'A', MADE],
  ['x.y.wild.example', 'A', MADE],
  ['x.cwild.example', 'A', MADE],
  ['made.example', 'A', MADE],
  // NXDOMAIN: in the middle, before the first, behind the last, below a name, below an empty non-terminal.
  ['nowhere.example', 'A', NEGATIVE],
  ['0.example', 'A', NEGATIVE],
  ['zz.example', 'A', NEGATIVE],
  ['x.web.example', 'A', NEGATIVE],
  ['x.y.web.example', 'A', NEGATIVE],
  ['x.b.c.example', 'A', NEGATIVE],
  ['dangling.example', 'A', ALIAS_TO_NOTHING],
  // NODATA: at a name, at the apex, at an empty non-terminal, of a wildcard, behind an alias, without a DS.
  ['web.example', 'AAAA', NEGATIVE],
  ['example', 'MX', NEGATIVE],
  ['c.example', 'A', NEGATIVE],
  ['b.c.example', 'A', NEGATIVE],
  ['x.wild.example', 'AAAA', NEGATIVE],
  ['half.example', 'TXT', ALIAS_TO_NOTHING],
  ['x.cwild.example', 'TXT', MADE_ALIAS_TO_NOTHING],
  ['insecure.example', 'DS', NEGATIVE],
  ['secure.example', 'DS', POSITIVE],
];

interface SignedZone {
  readonly path: string;
  /** A file with the trust anchor, for delv. */
  readonly anchors: string;
}

async function sign(flags: readonly string[]): Promise<SignedZone> {
  const { path: folder, write } = await makeTemporaryFolder();
  const file = await write('db', ZONE);
  const options = { cwd: folder };
  await run('dnssec-keygen', ['-q', '-a', 'ECDSAP256SHA256', '-f', 'KSK', 'example'], options);
  await run('dnssec-keygen', ['-q', '-a', 'ECDSAP256SHA256', 'example'], options);
  await run('dnssec-signzone', ['-S', '-q', '-o', 'example', '-f', 'db.signed', ...flags, file], options);
  const signers = await readFile(join(folder, 'dsset-example.'), 'utf8');
  const [, tag, algorithm, digest, hash] = /IN DS (\d+) (\d+) (\d+) ([0-9A-F ]+)/.exec(signers) ?? [];
  const anchor = `trust-anchors { "example." static-ds ${tag} ${algorithm} ${digest} "${hash?.replaceAll(' ', '')}"; };\n`;
  return { path: join(folder, 'db.signed'), anchors: await write('anchors', anchor) };
}

async function serve(path: string): Promise<number> {
  const port = await findFreePort();
  const { write } = await makeTemporaryFolder();
  const conf = await write('Corefile', `.:${port} {\n bind 127.0.0.1\n file ${path} example\n}\n`);
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  expect(program.ended, program.errors).toBe(undefined);
  return port;
}

describe.each([...CHAINS])('a zone that dnssec-signzone has signed, with %s', (_, flags) => {
  itWithTool(
    TOOLS,
    'is validated by delv, whatever the answer',
    async () => {
      const { path, anchors } = await sign(flags);
      const port = await serve(path);
      const found: Record<string, string> = {};
      const expected: Record<string, unknown> = {};
      for (const [name, type, result] of QUESTIONS) {
        const { stdout, stderr } = await run('delv', [
          '@127.0.0.1',
          '-p',
          String(port),
          '-a',
          anchors,
          '+root=example',
          name,
          type,
        ]).catch((error: { stdout: string; stderr: string }) => error);
        found[`${name} ${type}`] = stdout + stderr;
        const isMade = result === MADE || result === MADE_ALIAS_TO_NOTHING;
        const expectation = isMade && flags.includes(OPT_OUT) ? MADE_IN_OPT_OUT : result;
        expected[`${name} ${type}`] = expect.stringMatching(expectation);
      }
      expect(found).toEqual(expected);
    },
    120_000,
  );
});
