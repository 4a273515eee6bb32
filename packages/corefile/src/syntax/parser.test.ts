import type { Environment } from '@portolan/kernel/base/environment.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CorefileFiles } from './corefile-files.ts';
import { CorefileFindings, describeCorefileProblem, describeCorefileWarning } from './findings.ts';
import { parseBlocks } from './parser.ts';

const DIRECTIVES = ['cache', 'errors', 'forward', 'hosts', 'log', 'template', 'whoami'];

function makeFiles(texts: Readonly<Record<string, string>>): CorefileFiles {
  const paths = Object.keys(texts);
  return {
    read: (path) => texts[path] ?? '',
    findKind(path) {
      if (texts[path] !== undefined) return 'file';
      return paths.some((known) => known.startsWith(`${path}/`)) ? 'folder' : undefined;
    },
    list(folder) {
      const below = paths.filter((path) => path.startsWith(`${folder}/`));
      return [...new Set(below.map((path) => path.slice(folder.length + 1).split('/')[0] ?? ''))];
    },
  };
}

function parse(text: string, texts: Readonly<Record<string, string>> = {}, environment: Environment = {}) {
  const findings = new CorefileFindings();
  const settings = { directives: DIRECTIVES, environment, files: makeFiles(texts) };
  const blocks = parseBlocks(text, '/etc/Corefile', settings, findings);
  return {
    blocks: blocks.map(({ keys, directives }) => ({
      keys: keys.map((key) => key.text),
      directives: [...directives.values()].map(({ tokens }) => tokens.map((token) => token.text).join(' ')),
    })),
    problems: findings.problems.map(({ message }) => message),
    described: findings.problems.map(describeCorefileProblem),
    warnings: findings.warnings.map(describeCorefileWarning),
  };
}

describe('parseBlocks', () => {
  it('reads keys over several lines, directives with blocks, and comments', () => {
    const { blocks, problems } = parse(
      '\ufeffa.example, # one\r\nb.example c.example\n{\n  cache 30 {\n    success 10\n  }\n  whoami # two\n}\n. {\n}\n',
    );
    expect(problems).toEqual([]);
    expect(blocks).toEqual([
      { keys: ['a.example', 'b.example', 'c.example'], directives: ['cache 30 { success 10 }', 'whoami'] },
      { keys: ['.'], directives: [] },
    ]);
  });

  it('takes the uses of a directive together', () => {
    expect(parse('. {\nlog a\nwhoami\nlog b\n}').blocks[0]?.directives).toEqual(['log a log b', 'whoami']);
  });

  it('takes the whole file as one block without braces', () => {
    expect(parse('example.org\nwhoami\nerrors\n').blocks).toEqual([
      { keys: ['example.org'], directives: ['whoami', 'errors'] },
    ]);
  });

  it('takes words in quotes as they are, but for the quote itself', () => {
    expect(parse('. {\nlog "a\\"b\\n\\\\c" "" "two\nlines" x"y z"\n}').blocks[0]?.directives).toEqual([
      'log a"b\\n\\\\c  two\nlines x"y z"',
    ]);
  });

  it('replaces variables, in keys, names and arguments, and splits nothing', () => {
    const environment = { Z: 'a b', D: 'log', V: '{$W}', W: 'deep', LOOP: '{$LOOP}' };
    const { blocks, warnings } = parse(
      '{$Z} x{$NOPE}y {\n{$D} {$V}-{%W%} {$} {$V {$LOOP}\ntemplate "{{$x}}{{ $x }}"\n}',
      {},
      environment,
    );
    expect(blocks[0]?.keys).toEqual(['a b', 'xy']);
    expect(blocks[0]?.directives[0]).toMatch(/^\{\$D\} deep-deep \{\$\} \{\$V \{\$LOOP\}$/);
    expect(warnings).toEqual([
      '/etc/Corefile:1: The environment variable NOPE is not set, so nothing stands in its place.',
      '/etc/Corefile:3: "{{$x}}" is taken as an environment variable. Write {{ $x }} to mean a variable of the template.',
    ]);
  });

  it('imports snippets and files, in order, at every level', () => {
    const { blocks, problems } = parse(
      '(inner) {\nwhoami\n}\n(common) {\nerrors\nimport inner\n}\nimport sub/*.server\n. {\nhosts {\nimport lines\n}\nimport common\n}',
      {
        '/etc/lines': '192.0.2.1 a\nfallthrough\n',
        '/etc/sub/b.server': 'b.example {\nimport common\n}',
        '/etc/sub/a.server': 'a.example {\nimport part\n}',
        '/etc/sub/part': 'log\n',
        '/etc/sub/other.override': 'nosuch',
      },
    );
    expect(problems).toEqual([]);
    expect(blocks).toEqual([
      { keys: ['a.example'], directives: ['log'] },
      { keys: ['b.example'], directives: ['errors', 'whoami'] },
      { keys: ['.'], directives: ['hosts { 192.0.2.1 a fallthrough }', 'errors', 'whoami'] },
    ]);
  });

  it('names the package of a plugin that the command line can load', () => {
    expect(parse('. {\nk8s_gateway example.org\n}\n').described).toEqual([
      "/etc/Corefile:2 - Error during parsing: Unknown directive 'k8s_gateway'\n  /etc/Corefile:2: It comes with Portolan as a package: add --plugin=k8s_gateway=@portolan/k8s-gateway.",
    ]);
  });

  it('says what to use in place of plugins that others compile into CoreDNS', () => {
    expect(parse('. {\nunbound\nratelimit 50\n}\n').described).toEqual([
      "/etc/Corefile:2 - Error during parsing: Unknown directive 'unbound'\n  /etc/Corefile:2: Run Unbound beside it, and ask it by forward, as in forward . 127.0.0.1:5335.",
      "/etc/Corefile:3 - Error during parsing: Unknown directive 'ratelimit'\n  /etc/Corefile:3: Use rrl, which comes with Portolan as a package: add --plugin=rrl=@portolan/rrl.",
    ]);
  });

  it('finds all problems at once, each with its place, what to do, and by which import it came', () => {
    const { described } = parse(
      '. {\nproxy . 192.0.2.1\nfoward . 192.0.2.1\nimport nosuch\nimport part\n}\n',
      {
        '/etc/part': '\nErrors {\n x\n}\n',
      },
    );
    expect(described).toEqual([
      "/etc/Corefile:2 - Error during parsing: Unknown directive 'proxy'\n  /etc/Corefile:2: CoreDNS 1.5.0 removed it. Use forward.",
      "/etc/Corefile:3 - Error during parsing: Unknown directive 'foward'\n  /etc/Corefile:3: Did you mean forward?",
      '/etc/Corefile:4 - Error during parsing: File to import not found: nosuch\n  /etc/Corefile:4: There is no /etc/nosuch, and no snippet (nosuch) is defined above this line. A path is relative to the file that holds the import.',
      "/etc/part:2 - Error during parsing: Unknown directive 'Errors'\n  /etc/part:2: Did you mean errors? (imported at /etc/Corefile:5)",
    ]);
  });

  it('ends imports that lead back to themselves', () => {
    const depth = (kind: string) => `Error during parsing: maximum ${kind} import depth (10000) exceeded`;
    expect(parse('import self\n', { '/etc/self': 'import self\n' }).problems).toEqual([
      `/etc/self:1 - ${depth('file')}`,
    ]);
    expect(parse('(s) {\nimport f\n}\n. {\nimport s\n}\n', { '/etc/f': 'import s\n' }).problems).toEqual([
      `/etc/f:1 - ${depth('snippet')}`,
    ]);
    expect(parse('(s) {\nimport s\n}\n. {\nimport s\n}\n').problems).toEqual([
      `/etc/Corefile:3 - ${depth('snippet')}`,
    ]);
  });

  it('bounds imports that double', () => {
    const snippets = Array.from({ length: 30 }, (_, n) => `(s${n + 1}) {\nimport s${n}\nimport s${n}\n}\n`);
    const { problems } = parse(`(s0) {\nlog\n}\n${snippets.join('')}. {\nimport s30\n}\n`);
    expect(problems[0]).toContain('maximum snippet import depth (10000) exceeded');
  });

  it('warns of braces that close and open nothing, and of comments inside words', () => {
    expect(parse('{\nwhoami\n}\n. {\nlog\n{\nclass error\n}\ncache 3#0 x\n}\n}\n').warnings).toEqual([
      '/etc/Corefile:1: This server block has no zone, so it is left out. Write the zones it serves before its brace, for all names a dot.',
      '/etc/Corefile:6: A brace on a line of its own opens no block for the plugin above: the words inside are taken as further uses of it. Put the brace behind the plugin, in the same line.',
      '/etc/Corefile:9: A "#" ends the word "3", and the next blank ends that comment. Put a blank before the "#", or quotation marks around the word.',
      '/etc/Corefile:11: This closing brace closes nothing. Take it out.',
    ]);
  });

  it('reads any words without failing, and every finding has a place', () => {
    const word = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('{', '}', '\n', 'import', '(s)', 's', 'a.example:53', ',') },
      {
        weight: 3,
        arbitrary: fc.constantFrom(...DIRECTIVES, 'part', '*.conf', 'custom/*', 'import s', '"', '#'),
      },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }) },
      { weight: 1, arbitrary: fc.constantFrom('{$V}', '{%V%}', '{$NOPE}', '{$V', '"a b"', '\\', '\r\n') },
    );
    const text = fc.array(fc.tuple(word, fc.constantFrom(' ', '\n', '', '\t')), { maxLength: 60 });
    const join = (words: [string, string][]) => words.map(([before, after]) => before + after).join('');
    fc.assert(
      fc.property(text, text, text, (main, part, snippet) => {
        const texts = { '/etc/part': join(part), '/etc/a.conf': join(snippet), '/etc/custom/x/y': '' };
        const { problems, warnings } = parse(join(main), texts, { V: 'import' });
        for (const problem of problems) expect(problem).toMatch(/^\/etc\/[^:]*:\d+ - /);
        for (const warning of warnings) expect(warning).toMatch(/^\/etc\/[^:]*:\d+: /);
      }),
      { numRuns: 1500 },
    );
  });
});
