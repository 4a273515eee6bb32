/**
 * Migrations that the tool of CoreDNS was recorded with (corefile-migration 1.0.31): Portolan makes the same Corefile, in place, and reports
 * the changes in the same words, but each only once.
 */
import { migrateCorefile } from '@portolan/corefile/migration/migrate-corefile.ts';
import type { CorefileFiles } from '@portolan/corefile/syntax/corefile-files.ts';
import { readStatements, type Statement } from '@portolan/corefile/written/statements.ts';
import { describe, expect, it } from 'vitest';
import { readRecording } from '../support/recordings.ts';

interface RecordedMigration {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly corefile: string;
  readonly direction: 'up' | 'down';
  readonly deprecations?: boolean;
  readonly result?: string;
  readonly error?: string;
  readonly deprecated?: readonly string[];
  readonly unsupported?: readonly string[];
}

const CASES = readRecording<RecordedMigration>('test/corefile/migrations.jsonl');

const NO_FILES: CorefileFiles = { read: () => '', findKind: () => undefined, list: () => [] };

function migrate(
  corefile: string,
  { from, to, direction, deprecations = false }: Omit<RecordedMigration, 'name' | 'corefile'>,
) {
  const settings = { file: 'Corefile', files: NO_FILES, environment: {}, from, to, direction, deprecations };
  const { files, notices } = migrateCorefile(corefile, settings);
  return { text: files[0]?.changed ?? '', notices: notices.map(({ text }) => text) };
}

/** The words of each line, with those of the block that it opens. */
type Outline = readonly [string, readonly Outline[]];

function readOutline(text: string): readonly Outline[] {
  const show = ({ words, inner }: Statement): Outline => [
    words.map((word) => word.text).join(' '),
    inner.map(show),
  ];
  return readStatements(text, 'Corefile', 'blocks').map(show);
}

/** Where the result differs on purpose: the Corefile, or the error. */
const DIFFERENT: Readonly<Record<string, { readonly why: string; readonly result: string }>> = {
  ...everyStub('proxy-stub-domains', '.:53 {\nerrors\nforward . /etc/resolv.conf\ncache 30\n}\n', [
    ['abc.test:53', '1.2.3.4'],
    ['my.test:53', '2.3.4.5'],
  ]),
  ...everyStub('proxy-stub-three', '.:53 {\nerrors\nforward . /etc/resolv.conf\n}\n', [
    ['a.test:53', '1.2.3.4'],
    ['b.test:53', '2.3.4.5'],
    ['c.test:53', '3.4.5.6'],
  ]),
  ...everyStub('proxy-stub-dot-only', '. {\nforward . /etc/resolv.conf\n}\n', [['abc.test', '1.2.3.4']]),
  ...everyStub('proxy-stub-last', '.:53 {\nforward . /etc/resolv.conf\n}\n', [['abc.test:53', '1.2.3.4']]),
  ...everyStub('forward-stub', '.:53 {\nforward . /etc/resolv.conf\n}\n', [['abc.test:53', '1.2.3.4']]),
  'proxy-policy-least-conn': {
    why: 'forward has no such policy; the tool of CoreDNS makes force_tcp of it',
    result: '.:53 {\nerrors\nforward . 10.0.0.1 10.0.0.2:5353\ncache 30\n}\n',
  },
  'proxy-protocol-force-tcp': {
    why: 'the tool of CoreDNS looks for force_tcp in the wrong place',
    result: '.:53 {\nerrors\nforward . 10.0.0.1 10.0.0.2:5353 {\nforce_tcp\n}\ncache 30\n}\n',
  },
  'proxy-all': {
    why: 'the same',
    result:
      '.:53 {\nerrors\nforward . 10.0.0.1 10.0.0.2:5353 {\npolicy round_robin\nexcept a.test\nforce_tcp\n}\ncache 30\n}\n',
  },
  federation: {
    why: 'CoreDNS 1.7.0 does not start with it',
    result: '.:53 {\nkubernetes cluster.local\nforward . /etc/resolv.conf {\nmax_concurrent 1000\n}\n}\n',
  },
  'kubernetes-transfer-no-args': {
    why: 'the tool of CoreDNS ends with a panic',
    result: '.:53 {\nkubernetes\ntransfer {\nto *\n}\n}\n',
  },
  'newer-than-tool': { why: 'the tool of CoreDNS ends with 1.14.2', result: 'same' },
  'brace-less': {
    why: 'a file without braces is a server block too',
    result: '.:53\nerrors\nforward . 10.0.0.1 {\nmax_concurrent 1000\n}\n',
  },
  'one-line': { why: 'no CoreDNS reads it', result: 'error: Corefile:1: an opening brace ends its line' },
  unclosed: { why: 'no CoreDNS reads it', result: 'error: Corefile:1: this brace is not closed' },
  'closing-only': {
    why: 'the tool of CoreDNS loses the key of the block',
    result: 'error: Corefile:1: this closing brace closes nothing',
  },
  'down-1.7.0-1.6.4': withoutMaxConcurrent('down-1.7.0-1.6.4'),
  'down-1.14.2-1.1.3': withoutMaxConcurrent('down-1.14.2-1.1.3'),
  'down-1.8.0-1.7.1': {
    why: 'CoreDNS 1.7.1 does not start with transfer',
    result: '.:53 {\nkubernetes cluster.local {\ntransfer to *\n}\n}\n',
  },
};

/** The tool of CoreDNS moves every second one, and forgets the port. */
function everyStub(name: string, root: string, stubs: readonly (readonly [string, string])[]) {
  const blocks = stubs.map(([key, server]) => `${key} {\nerrors\ncache 30\nloop\nforward . ${server}\n}\n`);
  return { [name]: { why: 'every stub domain moves, with its port', result: [root, ...blocks].join('') } };
}

function withoutMaxConcurrent(name: string) {
  const result = CASES.find((each) => each.name === name)?.result ?? '';
  return {
    why: 'forward has the option since 1.6.9',
    result: result.replace(/ \{\s+max_concurrent 1000\s+\}/, ''),
  };
}

/** Notices that the tool of CoreDNS lacks: it looks only at the Corefile as it was, and leaves federation in. */
const FURTHER_NOTICES: readonly string[] = [
  'Plugin "federation" is removed in 1.7.0.',
  'Option "max_concurrent" in plugin "forward" is added as a default in 1.7.0.',
];

describe('a recorded migration', () => {
  for (const recorded of CASES)
    it(recorded.name, () => {
      const expected =
        DIFFERENT[recorded.name]?.result ??
        recorded.result ??
        `error: ${recorded.error?.replace('error while migration: ', '')}`;
      const result = expected === 'same' ? recorded.corefile : expected;
      if (result.startsWith('error: '))
        expect(() => migrate(recorded.corefile, recorded)).toThrow(result.replace('error: ', ''));
      else expect(readOutline(migrate(recorded.corefile, recorded).text)).toEqual(readOutline(result));
    });

  it('differs on purpose only where it is listed', () => {
    const names = CASES.map(({ name }) => name);
    expect(Object.keys(DIFFERENT).filter((name) => !names.includes(name))).toEqual([]);
  });

  const reported = CASES.filter(
    ({ name, deprecated, unsupported }) =>
      Array.isArray(deprecated) && Array.isArray(unsupported) && !DIFFERENT[name]?.result.startsWith('error'),
  );

  it.each(reported.map((each) => [each.name, each] as const))('%s: reports in the same words', (_, each) => {
    const { deprecated = [], unsupported = [], corefile } = each;
    if (each.error !== undefined) return;
    const { text, notices } = migrate(corefile, each);
    const known = new Set([...deprecated, ...unsupported, ...FURTHER_NOTICES]);
    expect(notices.filter((notice) => !known.has(notice))).toEqual([]);
    // Only changes that are made are reported as made.
    const isMade = (notice: string): boolean => {
      const [, added] = /^(?:Plugin|Option) "(\w+)".*is added/.exec(notice) ?? [];
      const [, resolved] = /^Plugin "(import)"/.exec(notice) ?? [];
      return resolved === undefined && (added === undefined || text.includes(added));
    };
    const subjects = (list: readonly string[]) => new Set(list.map((notice) => notice.replace(/ is .*/, '')));
    const further = notices.filter((notice) => FURTHER_NOTICES.includes(notice));
    expect(subjects(notices)).toEqual(subjects([...deprecated, ...unsupported, ...further].filter(isMade)));
  });
});

describe('a migration in place', () => {
  it('keeps comments, indents, quotation marks and empty lines', () => {
    const corefile = [
      '# the cluster',
      '.:53   {',
      '',
      '\terrors   # all of them',
      '\thealth',
      '\tkubernetes cluster.local {',
      '\t\tupstream # no more',
      '\t}',
      '\tlog . "{remote}  {name}"',
      '\tproxy .   /etc/resolv.conf # the node',
      '\t# the end',
      '}',
    ].join('\n');
    const { text } = migrate(corefile, { from: '1.3.1', to: '1.14.2', direction: 'up' });
    expect(text).toBe(
      [
        '# the cluster',
        '.:53   {',
        '',
        '\terrors   # all of them',
        '\thealth {',
        '\t\tlameduck 5s',
        '\t}',
        '\tkubernetes cluster.local',
        '\tlog . "{remote}  {name}"',
        '\tforward .   /etc/resolv.conf { # the node',
        '\t\tmax_concurrent 1000',
        '\t}',
        '\t# the end',
        '\tready',
        '}',
      ].join('\n'),
    );
  });

  it('follows imports of files and snippets, and changes each file once', () => {
    const texts: Readonly<Record<string, string>> = {
      '/etc/custom/a.override': '# ours\nproxy . 10.0.0.1\n',
      '/etc/custom/b.server': 'b.test {\n  import upstream\n}\n',
      '/etc/custom/c.server': 'c.test {\n  import upstream\n  proxy . 10.0.0.3\n}\n',
    };
    const files: CorefileFiles = {
      read: (path) => texts[path] ?? '',
      findKind: (path) => (path in texts ? 'file' : path === '/etc/custom' ? 'folder' : undefined),
      list: () => Object.keys(texts).map((path) => path.slice('/etc/custom/'.length)),
    };
    const corefile =
      '(upstream) {\n  kubernetes {\n    upstream\n    pods insecure\n  }\n}\n.:53 {\n  import custom/*.override\n  import upstream\n}\nimport custom/*.server\n';
    const migration = migrateCorefile(corefile, {
      file: '/etc/Corefile',
      files,
      environment: {},
      from: '1.4.0',
      to: '1.7.0',
      deprecations: false,
      direction: 'up',
    });
    expect(Object.fromEntries(migration.files.map(({ path, changed }) => [path, changed]))).toEqual({
      '/etc/Corefile':
        '(upstream) {\n  kubernetes {\n    pods insecure\n  }\n}\n.:53 {\n  import custom/*.override\n  import upstream\n  ready\n}\nimport custom/*.server\n',
      '/etc/custom/a.override': '# ours\nforward . 10.0.0.1 {\n    max_concurrent 1000\n}\n',
      '/etc/custom/b.server': 'b.test {\n  import upstream\n  ready\n}\n',
      '/etc/custom/c.server':
        'c.test {\n  import upstream\n  forward . 10.0.0.3 {\n    max_concurrent 1000\n  }\n  ready\n}\n',
    });
    expect(
      migration.notices.map(({ text, position }) => `${position.file}:${position.line} ${text}`),
    ).toContain('/etc/custom/a.override:2 Plugin "proxy" is removed in 1.5.0. It is replaced by "forward".');
  });

  it('ends imports in a circle', () => {
    const files: CorefileFiles = {
      read: () => 'import self\nerrors\n',
      findKind: () => 'file',
      list: () => [],
    };
    const migration = migrateCorefile('. {\n  import self\n  forward . 10.0.0.1\n}\n', {
      file: '/etc/Corefile',
      files,
      environment: {},
      from: '1.6.9',
      to: '1.7.0',
      deprecations: false,
      direction: 'up',
    });
    expect(migration.files[0]?.changed).toContain('max_concurrent 1000');
  });

  it('has nothing left to do the second time', () => {
    for (const recorded of CASES) {
      if (recorded.result === undefined || DIFFERENT[recorded.name]?.result.startsWith('error')) continue;
      const { text } = migrate(recorded.corefile, recorded);
      expect(migrate(text, { ...recorded, from: recorded.to }).text).toBe(text);
    }
  });
});
