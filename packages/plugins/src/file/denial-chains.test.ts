import { parseName, toKey } from '@portolan/dns/name.ts';
import { expect, it } from 'vitest';
import { hashName, NsecChain } from './denial-chains.ts';
import { ZoneName } from './zone-name.ts';

const key = (name: string) => toKey(parseName(name));

it('orders names canonically (RFC 4034 section 6.1)', () => {
  // The example of the RFC, in its order.
  const names = [
    'example.',
    'a.example.',
    'yljkjljk.a.example.',
    'z.a.example.',
    'zabc.a.example.',
    'z.example.',
    '\\001.z.example.',
    '*.z.example.',
    '\\200.z.example.',
  ].map(key);
  for (const [index, name] of names.entries()) {
    const chain = new NsecChain(names.filter((each) => each !== name).map((each) => new ZoneName(each)));
    expect(chain.covering(name)?.name).toBe(names.at(index - 1));
    expect(chain.matching(name)).toBeUndefined();
  }
});

it('hashes names (RFC 5155 appendix A)', () => {
  const parameters = { iterations: 12, salt: Buffer.from('aabbccdd', 'hex') };
  expect(hashName(key('example.'), parameters)).toBe('0p9mhaveqvm6t7vbl5lop2u3t2rp3tom');
  expect(hashName(key('x.y.w.example.'), parameters)).toBe('2vptu5timamqttgl4luu9kg21e0aor3s');
});
