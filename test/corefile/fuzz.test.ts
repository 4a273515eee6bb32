/**
 * Corefiles generated from their grammar, with right and wrong words in every place: the reader never throws, and every
 * finding has a place.
 */
import { ORDER_PROFILES } from '@portolan/corefile/coredns-version.ts';
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import { describeCorefileProblem, describeCorefileWarning } from '@portolan/corefile/syntax/findings.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { COREFILE_PLUGINS } from '@portolan/frontends/plugins/registry.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const NAMES = COREFILE_PLUGINS.map(({ name }) => name);
/** Every word of every syntax, in lower case: properties and their fixed values. */
const KEYWORDS = [
  ...new Set(COREFILE_PLUGINS.flatMap(({ syntax }) => syntax.join(' ').match(/[a-z_]{2,}/g) ?? [])),
];
const VALUES = [
  '.',
  'a.example',
  'cluster.local',
  'in-addr.arpa',
  '10.0.0.0/8',
  '10.0.0.0/15',
  '2001:db8::/33',
  '::1',
  '192.0.2.1',
  '192.0.2.1:53',
  '192.0.2.1:x',
  'tls://192.0.2.1%n',
  'https://h/p',
  'ftp://x',
  '/etc/resolv.conf',
  '[::1',
  ':8080',
  'x:y:z',
  '0',
  '1',
  '30',
  '-1',
  '99999999999',
  '1.5',
  '10%',
  '5s',
  '1h30m',
  '-5s',
  '0s',
  '1ns',
  '25h',
  's',
  'A',
  'AAAA',
  'ANY',
  'IN',
  'NXDOMAIN',
  'SERVFAIL',
  'NOSUCH',
  '(',
  '(.*)',
  '(.*)\\.a$',
  '{1}.b',
  '0xffee',
  '0x6',
  '{client_ip}',
  '{/x/y}',
  '30-60',
  '-',
  ...[
    '"{{ .Name }} 60 IN A 192.0.2.1"',
    '"{{ .Name "',
    '"{{ nosuch }}"',
    '"two words"',
    '""',
    '"open',
    'app in (a, b)',
    '!',
  ],
  ...['{$SET}', '{$UNSET}', '{%SET%}', '{{$x}}', '#', 'a#b', 'ä', '\\', 'auto', 'answer'],
];

const word = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...VALUES) },
  { weight: 3, arbitrary: fc.constantFrom(...KEYWORDS) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }) },
);
const words = (maxLength: number) => fc.array(word, { maxLength }).map((all) => all.join(' '));
const property = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...KEYWORDS), words(4))
      .map((parts) => `        ${parts.join(' ')}\n`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('        import part\n', '        import s\n', '        }\n', '        {\n'),
  },
);
const body = fc.array(property, { maxLength: 5 }).map((lines) => lines.join(''));
const directive = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.constantFrom(...NAMES), words(4), fc.option(body), fc.constantFrom(' {\n', '\n    {\n'))
      .map(
        ([name, rest, block, open]) =>
          `    ${name} ${rest}${block === null ? '\n' : `${open}${block}    }\n`}`,
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '    import s\n',
      '    import *.conf\n',
      '    import none\n',
      '    nosuch x\n',
      '    etcd\n',
    ),
  },
);
const key = fc.oneof(
  fc.constantFrom(
    '.',
    '.:53',
    'a.example',
    'A.Example:53,',
    'tls://a',
    '10.0.0.0/9',
    'a..b',
    'x:',
    '{$SET}',
    '(s)',
    'import part',
  ),
  word,
);
const block = fc
  .tuple(
    fc.array(key, { maxLength: 3 }),
    fc.array(directive, { maxLength: 5 }),
    fc.constantFrom('}\n', '}\n', '}\n', '', '} }\n'),
  )
  .map(([keys, directives, end]) => `${keys.join(' ')} {\n${directives.join('')}${end}`);
const corefile = fc.array(block, { maxLength: 4 }).map((blocks) => blocks.join(''));

function makeFiles(texts: Readonly<Record<string, string>>): CorefileFiles {
  return {
    read: (path) => texts[path] ?? '',
    findKind: (path) => (texts[path] === undefined ? undefined : 'file'),
    list: () => Object.keys(texts).map((path) => path.slice('/etc/'.length)),
  };
}

describe('a Corefile by its grammar', () => {
  it('is read, right or wrong, and each finding has a place', () => {
    let good = 0;
    let bad = 0;
    fc.assert(
      fc.property(corefile, directive, fc.constantFrom(...ORDER_PROFILES), (text, part, profile) => {
        const reading = readCorefile(text, {
          file: '/etc/Corefile',
          profile,
          defaultPort: 53,
          environment: { SET: 'a.example' },
          files: makeFiles({
            '/etc/part': part,
            '/etc/a.conf': '    log\n',
            '/etc/resolv.conf': 'nameserver 127.0.0.53\n',
          }),
          interfaces: new Map([['lo', ['127.0.0.1']]]),
        });
        for (const warning of reading.warnings)
          expect(describeCorefileWarning(warning)).toMatch(/^\/etc\/[\w.]+:\d+: \S/);
        if (reading.kind === 'good') {
          good += 1;
          for (const { keys } of reading.blocks) expect(keys.length).toBeGreaterThan(0);
          return;
        }
        bad += 1;
        expect(reading.problems.length).toBeGreaterThan(0);
        for (const problem of reading.problems)
          expect(describeCorefileProblem(problem)).toMatch(/^[\s\S]+\n {2}\/etc\/[\w.]+:\d+: [A-Z]/);
      }),
      { numRuns: 600 },
    );
    // Both kinds must be among them, or the grammar proves nothing.
    expect(good).toBeGreaterThan(0);
    expect(bad).toBeGreaterThan(10);
  });
});
