/**
 * `.ci/sign`: signatures of a release, by keys that the test makes. In place of cosign stands a script that signs as cosign does, by
 * openssl, and takes only the flags that keep the signature out of a transparency log.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { itWithTool } from '../support/tools.ts';

const folder = await makeTemporaryFolder(afterFile);

interface Run {
  readonly status: number | null;
  readonly text: string;
}

function run(
  command: string,
  words: readonly string[],
  more: { readonly env?: Record<string, string>; readonly input?: string } = {},
): Run {
  const { MINISIGN_KEY: _m, COSIGN_KEY: _c, ...inherited } = process.env;
  const env = { ...inherited, ...more.env };
  const { status, stdout, stderr } = spawnSync(command, words, { env, input: more.input, encoding: 'utf8' });
  return { status, text: `${stdout}${stderr}` };
}

const sign = (where: string, env: Record<string, string> = {}) => run('.ci/sign', [where], { env });

let releases = 0;

/** @returns the folder of a release that has only checksums */
async function makeRelease(): Promise<string> {
  releases += 1;
  return join(await folder.write(`release-${releases}/SHA256SUMS`, `${'0'.repeat(64)}  a.tgz\n`), '..');
}

const COSIGN = `#!/bin/sh
set -eu
case "$*" in
  "sign-blob --yes --tlog-upload=false --key $COSIGN_KEY --output-signature "*)
    openssl dgst -sha256 -sign "$COSIGN_KEY" "$8" | base64 -w0 > "$7" ;;
  "public-key --key $COSIGN_KEY") openssl pkey -in "$COSIGN_KEY" -pubout ;;
  "verify-blob --insecure-ignore-tlog=true --key "*)
    base64 -d "$6" > "$6.der"
    openssl dgst -sha256 -verify "$4" -signature "$6.der" "$7"
    rm "$6.der" ;;
  *) echo "cosign: not expected: $*" >&2; exit 9 ;;
esac
`;

itWithTool('minisign', 'signs by minisign, with and without a password', async () => {
  for (const password of ['', 'open sesame']) {
    const release = await makeRelease();
    const secret = join(release, '..', `${releases}.key`);
    const key = join(release, '..', `${releases}.pub`);
    const input = `${password}\n${password}\n`;
    const words = ['-G', ...(password === '' ? ['-W'] : []), '-s', secret, '-p', key];
    expect(run('minisign', words, { input }).status).toBe(0);
    const signed = sign(release, { MINISIGN_KEY: secret, MINISIGN_PASSWORD: password });
    const [, , line = ''] = ['', ...(await readFile(key, 'utf8')).split('\n')];
    expect(signed).toMatchObject({ status: 0, text: expect.stringContaining(`signed by minisign: ${line}`) });
    const verify = () => run('minisign', ['-Vm', join(release, 'SHA256SUMS'), '-p', key]);
    expect(verify().status).toBe(0);
    await folder.write(`release-${releases}/SHA256SUMS`, 'other');
    expect(verify().status).not.toBe(0);
  }
});

itWithTool('openssl', 'signs by cosign without a transparency log, as openssl can verify', async () => {
  const release = await makeRelease();
  const tools = join(await folder.write('tools/cosign', COSIGN), '..');
  chmodSync(join(tools, 'cosign'), 0o755);
  const secret = await folder.write('cosign.key', '');
  const curve = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  expect(run('openssl', ['genpkey', ...curve, '-out', secret]).status).toBe(0);
  const PATH = `${tools}:${process.env['PATH'] ?? ''}`;
  const signed = sign(release, { PATH, COSIGN_KEY: secret });
  expect(signed).toMatchObject({ status: 0, text: expect.stringContaining('signed by cosign') });
  expect((await readdir(release)).toSorted()).toEqual(['SHA256SUMS', 'SHA256SUMS.sig']);
});

it('says what is missing before a release is built, and that a release is not signed', async () => {
  const release = await makeRelease();
  expect(sign(release)).toMatchObject({ status: 0, text: expect.stringContaining('not signed') });
  expect(await readdir(release)).toEqual(['SHA256SUMS']);
  const empty = join(await folder.write('empty/x', ''), '..');
  const PATH = `${empty}:/usr/bin:/bin`;
  expect(sign('--check', { PATH, COSIGN_KEY: '/nonexistent' })).toMatchObject({ status: 1 });
  const unreadable = sign('--check', { MINISIGN_KEY: '/nonexistent' });
  expect(unreadable).toMatchObject({ status: 1, text: expect.stringMatching(/cannot read|no minisign/) });
  expect(sign('--check').status).toBe(0);
});
