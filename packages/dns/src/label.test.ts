import { describe, expect, it } from 'vitest';
import { LOWER_CASE, textOfOctet } from './label.ts';

const octets = Array.from({ length: 256 }, (_, octet) => octet);

describe('LOWER_CASE', () => {
  it('changes the 26 capitals of ASCII and nothing else', () => {
    const changed = octets.filter((octet) => LOWER_CASE[octet] !== octet);
    expect(String.fromCharCode(...changed)).toBe('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    const made = changed.map((octet) => LOWER_CASE[octet] ?? 0);
    expect(String.fromCharCode(...made)).toBe('abcdefghijklmnopqrstuvwxyz');
  });
});

describe('textOfOctet', () => {
  it('escapes what zone files give a meaning, and what is not to be seen', () => {
    const plain = octets.filter((octet) => textOfOctet(octet).length === 1);
    const marked = octets.filter((octet) => textOfOctet(octet).length === 2);
    expect(String.fromCharCode(...marked)).toBe('"$().;@\\');
    expect(plain.length + marked.length).toBe(0x7e - 0x20);
    expect([textOfOctet(0x20), textOfOctet(0), textOfOctet(0xff)]).toEqual(['\\032', '\\000', '\\255']);
  });
});
