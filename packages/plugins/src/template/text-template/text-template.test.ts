import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextTemplate, TextTemplateError } from './text-template.ts';
import type { TemplateStruct } from './values.ts';

const DATA: TemplateStruct = {
  kind: 'struct',
  typeName: '*template.templateData',
  fields: {
    Name: '1f.example.',
    Type: 'TXT',
    Class: 'IN',
    Match: ['1f.example.', '1f'],
    Group: { kind: 'map', entries: new Map([['x', '1f']]) },
    Var: { kind: 'map', entries: new Map() },
    Message: { kind: 'struct', typeName: '*dns.Msg', fields: { Id: 1000, RecursionDesired: true } },
    Meta: ([key]) => (key === 'known' ? 'value' : ''),
  },
};

const fill = (source: string): string => new TextTemplate('answer', source).fill(DATA);

describe('TextTemplate', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['{{ .Name }} 60 IN {{.Type}}', '1f.example. 60 IN TXT'],
    ['{{ if eq .Type `TXT` }}yes{{ else }}no{{ end }}', 'yes'],
    ['{{ if eq .Name `a.` }}a{{ else if eq .Name "1f.example." }}b{{ else }}c{{ end }}', 'b'],
    ['{{ range $i, $e := .Match }}{{ $i }}={{ $e }},{{ end }}', '0=1f.example.,1=1f,'],
    ['{{ range .Var }}x{{ else }}none{{ end }}', 'none'],
    ['{{ range 3 }}{{ . }}{{ end }}', '012'],
    ['{{ with .Group.x }}{{ . }}{{ end }}{{ with .Group.y }}x{{ else }}-{{ end }}', '1f-'],
    ['{{ printf `%03d-%s-%q-%x-%v` 7 .Name .Type 255 .Class }}', '007-1f.example.-"TXT"-ff-IN'],
    [
      '{{ printf "%5s|%-5s|%+d|%.2f|%t|%%|%d" "a" "b" 3 1.5 true }}',
      '    a|b    |+3|1.50|true|%|%!d(MISSING)',
    ],
    ['{{ printf "%d" "x" 1 }}', '%!d(string=x)%!(EXTRA int=1)'],
    ['{{ len .Name }} {{ len .Match }}', '11 2'],
    ['{{ index .Match 1 }} {{ slice .Name 0 1 }} {{ index .Group `x` }}', '1f 1 1f'],
    [
      '{{ and .Name .Type }} {{ or `` .Type }} {{ not true }} {{ and `` (index .Match 9) }}',
      'TXT TXT false ',
    ],
    [
      '{{ lt 1 2 }} {{ le 2 2 }} {{ gt 1 2 }} {{ ge 2 2 }} {{ ne 1 2 }} {{ eq 1 2 1 }}',
      'true true false true true true',
    ],
    ['{{ .Name | printf `%s-%s` .Type }}', 'TXT-1f.example.'],
    ['a {{- .Name -}} \n {{- .Type }} b', 'a1f.example.TXT b'],
    ['{{/* nothing */}}x{{- /* more */ -}} y', 'xy'],
    ['{{ $x := .Name }}{{ $y := .Type }}{{ $x }}{{ $y }}{{ $x = `z` }}{{ $x }}', '1f.example.TXTz'],
    ['{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ end }}{{ $x }}', '2'],
    ['{{ parseInt .Group.x 16 32 }} {{ parseInt `18446744073709551615` 10 64 }}', '31 18446744073709551615'],
    ["{{ html `<a>` }} {{ urlquery `a b'` }} {{ js `'` }}", "&lt;a&gt; a+b%27 \\'"],
    ['{{ print 1 2 `a` `b` 3 }} {{ println .Type }}', '1 2ab3 TXT\n'],
    ['{{ .Group.nosuch }} {{ .Var.x }}', '<no value> <no value>'],
    ['{{ .Meta `nosuch/key` }}{{ .Meta "known" }}{{ `known` | .Meta }}', 'valuevalue'],
    [
      '{{ define `t` }}<{{ . }}>{{ end }}{{ template `t` .Name }}{{ template "t" }}',
      '<1f.example.><<no value>>',
    ],
    ['{{ block `t` .Type }}[{{ . }}]{{ end }}', '[TXT]'],
    [
      '{{ range .Match }}{{ . }}{{ break }}{{ end }}{{ range .Match }}{{ continue }}x{{ end }}',
      '1f.example.',
    ],
    [
      '{{ .Message.Id }} {{ .Message.RecursionDesired }} {{ (index .Match 0) }} {{ .Match }}',
      '1000 true 1f.example. [1f.example. 1f]',
    ],
    ['{{ \'a\' }} {{ 0x1F }} {{ 1.5 }} {{ "\\u0041\\n" }}', '97 31 1.5 A\n'],
    ['{{ $.Name }}{{ with .Group }}{{ $.Type }}{{ .x }}{{ end }}', '1f.example.TXT1f'],
  ];
  for (const [source, expected] of cases)
    it(`fills ${JSON.stringify(source)}`, () => expect(fill(source)).toBe(expected));

  const faults: readonly (readonly [string, string])[] = [
    ['{{ .Name ', 'template: answer:1: unclosed action'],
    ['{{ nosuch .Name }}', 'template: answer:1: function "nosuch" not defined'],
    ['a\n{{ $y }}', 'template: answer:2: undefined variable "$y"'],
    ['{{ end }}', 'template: answer:1: unexpected {{end}}'],
    ['{{ if .Name }}', 'template: answer:1: unexpected EOF'],
    ['{{ if }}{{ end }}', 'template: answer:1: missing value for if'],
    ['{{ break }}', 'template: answer:1: {{break}} outside {{range}}'],
    ['{{ "a }}', 'template: answer:1: unterminated quoted string'],
    ['{{ .Name | 1 }}', 'template: answer:1: non executable command in pipeline stage 2'],
    [
      '{{ .Name }} 60 IN TXT "{{ index .Match 9 }}"',
      'template: answer:1:26: executing "answer" at <index .Match 9>: error calling index: index out of range: 9',
    ],
    [
      '{{ .Name }} 60 IN TXT "{{ parseInt .Name 16 32 }}"',
      'template: answer:1:26: executing "answer" at <parseInt .Name 16 32>: error calling parseInt: strconv.ParseUint: parsing "1f.example.": invalid syntax',
    ],
    [
      '{{ .NoSuch }}',
      `template: answer:1:3: executing "answer" at <.NoSuch>: can't evaluate field NoSuch in type *template.templateData`,
    ],
    [
      '{{ template "t" }}',
      'template: answer:1:0: executing "answer" at <{{ template "t" }}>: template "t" not defined',
    ],
    ['{{ define "t" }}{{ template "t" }}{{ end }}{{ template "t" }}', 'exceeded maximum template depth'],
    ['{{ range 100000 }}{{ range 100000 }}x{{ end }}{{ end }}', 'the template does not come to an end'],
    ['{{ eq .Name 1 }}', 'error calling eq: incompatible types for comparison'],
  ];
  for (const [source, message] of faults)
    it(`refuses ${JSON.stringify(source)}`, () => {
      expect(() => fill(source)).toThrow(TextTemplateError);
      expect(() => fill(source)).toThrow(message);
    });

  it('either fills any text or says what is wrong', () => {
    const words = [
      '{{',
      '}}',
      '-',
      '.',
      '.Name',
      '.Match',
      '$x',
      ':=',
      '|',
      '(',
      ')',
      'if',
      'else',
      'end',
      'range',
      'with',
    ];
    const more = [
      'define',
      'template',
      'block',
      '`t`',
      '"a"',
      'printf',
      'index',
      'eq',
      '1',
      "'a'",
      ' ',
      ',',
      'nil',
      'true',
    ];
    const source = fc.array(fc.oneof(fc.constantFrom(...words, ...more), fc.string({ maxLength: 3 })), {
      maxLength: 25,
    });
    fc.assert(
      fc.property(source, fc.constantFrom('', ' '), (parts, between) => {
        try {
          expect(typeof fill(parts.join(between))).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(TextTemplateError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
