import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConfigFile, readConfigLine } from './config-file.ts';
import { decodeLatin1, unescapeText } from './octets.ts';
import { cutAll } from './pieces.ts';

function valueIn(line: string): string | undefined {
  const reading = readConfigLine(line);
  return reading.kind === 'option' && reading.value !== undefined ? unescapeText(reading.value) : undefined;
}

describe('a line', () => {
  it.each([
    ['', { kind: 'empty' }],
    ['  \t ', { kind: 'empty' }],
    ['# port=53', { kind: 'empty' }],
    ['no-hosts', { kind: 'option', name: 'no-hosts', value: undefined }],
    ['  no-hosts  # why', { kind: 'option', name: 'no-hosts', value: undefined }],
    ['port=53', { kind: 'option', name: 'port', value: '53' }],
    ['port  =  53  ', { kind: 'option', name: 'port', value: '53' }],
    ['port=', { kind: 'option', name: 'port', value: '' }],
    ['server=/a/1.2.3.4#53', { kind: 'option', name: 'server', value: '/a/1.2.3.4#53' }],
    ['server=/a/ #53', { kind: 'option', name: 'server', value: '/a/' }],
    ['a=b=c', { kind: 'option', name: 'a', value: 'b=c' }],
    ['port\t=\t53', { kind: 'option', name: 'port', value: '53' }],
    ['txt-record="a', { kind: 'unterminated' }],
    ['# "', { kind: 'empty' }],
  ])('%j', (line, reading) => {
    expect(readConfigLine(line)).toEqual(reading);
  });
});

describe('quotes', () => {
  it('take the meaning from commas', () => {
    const reading = readConfigLine('txt-record=n,"a,b",c');
    const value = reading.kind === 'option' ? (reading.value ?? '') : '';
    expect(cutAll(value).map(unescapeText)).toEqual(['n', 'a,b', 'c']);
  });

  it('keep spaces and number signs', () => {
    expect(valueIn('txt-record=n,"  # x  "')).toBe('n,  # x  ');
  });

  it('know the escapes of dnsmasq and leave other backslashes alone', () => {
    expect(valueIn(String.raw`t="\\ \" \t \n \r \b \e \x"`)).toBe('\\ " \t \n \r \b \x1b \\x');
    expect(valueIn(String.raw`t=\t`)).toBe(String.raw`\t`);
  });

  it('make the character behind the closing quote an ordinary one', () => {
    expect(valueIn('t="a""b')).toBe('a"b');
    expect(readConfigLine('t="a""b"').kind).toBe('unterminated');
  });

  const quotable = fc.string({
    unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)),
  });

  it('give back any octets that were escaped', () => {
    fc.assert(
      fc.property(quotable, (text) => {
        const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
        expect(valueIn(`txt-record="${escaped}"`)).toBe(text);
      }),
    );
  });
});

describe('a file of any octets', () => {
  it('is read to its end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const lines = decodeLatin1(bytes).split('\n').length;
        for (const { line } of readConfigFile(bytes)) expect(line).toBeLessThanOrEqual(lines);
      }),
    );
  });

  it('ends a line at its first NUL', () => {
    const [line] = readConfigFile(Buffer.from('port=53\0junk\n'));
    expect(line).toMatchObject({ kind: 'option', value: '53' });
  });
});
