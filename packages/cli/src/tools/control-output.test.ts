import { expect, it } from 'vitest';
import { renderFields } from './control-output.ts';

it('prints durations with units, and no number with more digits than it needs', () => {
  const kinds = [
    { kind: 'services', state: 'watching', age: 11_031.094641999807, objects: 4, words: undefined },
    { kind: 'nodes', state: 'waiting', age: undefined, objects: 0, words: '403 forbidden' },
  ];
  const upstreams = [
    { server: '10.0.0.2:53', since: 200_000.4, lastReply: 0.3512345, roundTrip: 12.25, sent: 7 },
  ];
  const status = {
    version: '0.2.0',
    ready: true,
    reason: undefined,
    data: { age: 11_031.094641999807, kinds },
    upstreams,
    cache: { entries: 1_234_567, share: 0.30000000000000004 },
    logs: { files: ['a', 'b'], none: [] },
  };
  expect(renderFields(status).split('\n')).toEqual([
    'version  0.2.0',
    'ready  true',
    'data.age  11.03s',
    'data.kinds  kind=services state=watching age=11.03s objects=4',
    'data.kinds  kind=nodes state=waiting objects=0 words=403 forbidden',
    'upstreams  server=10.0.0.2:53 since=3m20s lastReply=0.35ms roundTrip=12ms sent=7',
    'cache.entries  1234567',
    'cache.share  0.3',
    'logs.files  a  b',
    '',
  ]);
});
