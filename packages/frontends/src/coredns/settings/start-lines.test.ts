import { describe, expect, it } from 'vitest';
import { readCorefile } from './read-corefile.ts';
import { startLines } from './start-lines.ts';

function readStartLines(text: string): readonly string[] {
  const reading = readCorefile(text, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: { read: () => '', findKind: () => undefined, list: () => [] },
    interfaces: new Map(),
  });
  return reading.kind === 'good'
    ? startLines(reading.blocks)
    : reading.problems.map(({ message }) => message);
}

describe('startLines', () => {
  it('shows zones with ports, and bound addresses', () => {
    const text =
      'b.example a.example:54 {\nwhoami\n}\n. {\nbind 127.0.0.1 ::1\nwhoami\n}\n127.0.0.0/8 {\nwhoami\n}\n';
    expect(readStartLines(text)).toEqual([
      '127.in-addr.arpa.:53',
      'b.example.:53',
      'a.example.:54',
      '.:53 on 127.0.0.1',
      '.:53 on ::1',
    ]);
  });

  it('sorts the zones of a listener, with a warning before odd ones', () => {
    expect(readStartLines('A.EXAMPLE.:1 12.0.0.0/15:1 a\\.b:1 -x:1 10.0.0.1:1 {\nwhoami\n}\n')).toEqual([
      'Warning: Domain "-x." does not follow RFC1035 preferred syntax',
      '-x.:1',
      '0.12.in-addr.arpa.:1',
      '1.12.in-addr.arpa.:1',
      'Warning: Domain "10.0.0.1." does not follow RFC1035 preferred syntax',
      '10.0.0.1.:1',
      'a.example.:1',
      'Warning: Domain "a\\\\.b." does not follow RFC1035 preferred syntax',
      'a\\.b.:1',
    ]);
  });
});
