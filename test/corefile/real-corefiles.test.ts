/**
 * Corefiles in real use, each with the reasons why it cannot be used unchanged.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { describe, expect, it } from 'vitest';

const FOLDER = join(import.meta.dirname, 'corefiles');

/** By file: all its problems. Files that are not named have none. */
const PROBLEMS: Readonly<Record<string, readonly string[]>> = {
  // Its words are to be replaced before it is used.
  '17-nodelocal-template': Array.from(
    { length: 4 },
    () => 'plugin/bind: not a valid IP address or interface name: "__PILLAR__LOCAL__DNS__"',
  ),
  // They are of the machine that it runs on.
  '42-encrypted-servers': Array.from(
    { length: 3 },
    () => 'plugin/tls: could not load TLS cert: open support/tls/cert.pem: no such file or directory',
  ),
};

describe('a Corefile in use', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.Corefile'));

  it('is one of 45', () => expect(files).toHaveLength(45));

  for (const file of files)
    it(file, () => {
      const reading = readCorefile(readFileSync(join(FOLDER, file), 'utf8'), {
        file: join(FOLDER, file),
        profile: '1.14',
        defaultPort: 53,
        environment: { CACHE_TTL: '60', UPSTREAM: '192.0.2.1', SECOND_UPSTREAM: '192.0.2.2' },
        files: DISK_FILES,
        interfaces: new Map(),
      });
      const messages =
        reading.kind === 'bad' ? reading.problems.map(({ message }) => message.replace(FOLDER, '')) : [];
      expect(messages).toEqual(PROBLEMS[file.replace('.Corefile', '')] ?? []);
    });
});
