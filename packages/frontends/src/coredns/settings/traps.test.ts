/** Settings that CoreDNS takes, and that rarely do what their author means. */

import { describeCorefileWarning, sortByLine } from '@portolan/corefile/syntax/findings.ts';
import { describe, expect, it } from 'vitest';
import { readCorefile } from './read-corefile.ts';
import { surveyCorefiles } from './survey.ts';

const NO_FILES = {
  read(path: string): string {
    throw new Error(`no such file: ${path}`);
  },
  findKind: () => undefined,
  list: () => [],
};
const SETTINGS = { environment: {}, interfaces: new Map<string, readonly string[]>() };

function read(text: string) {
  const settings = {
    ...SETTINGS,
    file: 'Corefile',
    files: NO_FILES,
    profile: '1.14',
    defaultPort: 53,
  } as const;
  return readCorefile(text, settings);
}

const warnings = (text: string) => read(text).warnings.map(describeCorefileWarning);

describe('a Corefile', () => {
  it.each([
    ['. {\n forward . 127.0.0.1\n}', '127.0.0.1'],
    ['.:5300 {\n forward . 9.9.9.9 [::1]:5300\n}', '::1'],
    ['. {\n bind 127.0.0.1\n forward . 127.0.0.1\n}', '127.0.0.1'],
    ['tls://. {\n forward . tls://127.0.0.1\n}', '127.0.0.1'],
  ])('that forwards to itself is warned of: %s', (text, address) =>
    expect(warnings(text).join('\n')).toContain(
      `forward to ${address} leads back to this server block: no query is answered. Name the servers of the network.`,
    ),
  );

  it.each([
    '. {\n forward . 127.0.0.1:5300\n}',
    '. {\n bind 127.0.0.2\n forward . 127.0.0.1\n}',
    'example.org:5300 {\n forward . 127.0.0.1\n}',
  ])('that forwards to another server is not: %s', (text) =>
    expect(warnings(text).join('\n')).not.toContain('leads back'),
  );

  it.each([
    ['. {\n cache thirty\n whoami\n}', 'thirty'],
    ['. {\n cache 30s\n whoami\n}', '30s'],
  ])('whose cache has a word for a TTL is warned of: %s', (text, word) =>
    expect(warnings(text).join('\n')).toContain(
      `${word} is a zone here, so only names below ${word}. are cached. Give the TTL as a number of seconds, as in cache 30.`,
    ),
  );

  it.each([
    '. {\n cache 30\n whoami\n}',
    '. {\n cache 30 local\n whoami\n}',
    'corp {\n cache corp\n whoami\n}',
  ])('whose cache has a zone is not: %s', (text) =>
    expect(warnings(text).join('\n')).not.toContain('is a zone here'),
  );

  it.each([
    ['*.star.test:5401', 'an asterisk is no wildcard here'],
    ['*.star.test', 'an asterisk is no wildcard here'],
    ['b\u00fccher.test:5401', 'in its ASCII form, which begins with xn--'],
    ['example.org:http', 'what stands behind the colon is no number of a port'],
  ])('with the key %s is told the right cause', (key, cause) => {
    const [warning = ''] = warnings(`${key} {\n whoami\n}`);
    expect(warning).toContain(cause);
    if (/:\d+$/.test(key)) expect(warning).not.toContain('number of a port');
  });

  it('has its problems in the order of lines', () => {
    const reading = read('. {\n whoami x\n hosts {\n  ttl x\n }\n}\n.:54 {\n bogus\n}\n');
    const problems = reading.kind === 'bad' ? reading.problems : [];
    expect(problems.map(({ position: { line } }) => line)).not.toEqual([2, 4, 8]);
    expect(sortByLine(problems).map(({ position: { line } }) => line)).toEqual([2, 4, 8]);
  });

  it('is never said to be refused by both where CoreDNS takes it', () => {
    const survey = (text: string) =>
      surveyCorefiles([{ label: 'x', file: 'Corefile', text, files: NO_FILES }], {
        ...SETTINGS,
      }).corefiles.flatMap(({ problems }) => problems.map(({ refusedBy }) => refusedBy));
    expect(survey('. {\n view v {\n  expr any([1], # == 1)\n }\n whoami\n}')).toEqual(['portolan']);
    expect(survey('. {\n tsig {\n  secret name.key. test-key\n }\n whoami\n}')).toEqual([]);
    expect(survey('. {\n dnstap listen tls://127.0.0.1:6000 {\n  tls /a /b\n }\n whoami\n}')).toEqual([]);
    expect(survey('. {\n nomad\n whoami\n}')).toEqual(['portolan']);
    expect(survey('. {\n whoami x\n}')).toEqual(['both']);
  });
});
