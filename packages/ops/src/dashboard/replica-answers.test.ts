import { expect, it } from 'vitest';
import { readDiagnosis, readStatus, readTail, readTop } from './replica-answers.ts';

const STATUS = {
  version: '0.2.0',
  role: 'serve',
  ready: true,
  queries: 1,
  upstreams: [],
  data: { kinds: [] },
  zones: [],
  configuration: { isLastGood: false, rejected: [], changes: 0 },
  cache: { entries: 0, names: 0 },
  readers: { running: 1, down: 0, kernelDrops: 0 },
};

it('takes answers with all that the pages show, and with more', () => {
  const status = { ...STATUS, later: 1 };
  expect(readStatus(status)).toBe(status);
  expect(readDiagnosis({ findings: [], checked: [], notChecked: [] }).findings).toEqual([]);
});

it.each([
  [undefined, 'fields'],
  ['ready', 'fields'],
  [{ ...STATUS, version: 7 }, 'version'],
  [{ ...STATUS, upstreams: {} }, 'upstreams'],
  [{ ...STATUS, cache: undefined }, 'cache.entries'],
  [{ ...STATUS, cache: { entries: 0 } }, 'cache.names'],
])('names what %j lacks', (answer, field) => {
  expect(() => readStatus(answer)).toThrow(
    `the answer of the server has no ${field}: it is of another version`,
  );
});

it('does so for counts and findings too', () => {
  expect(() => readTop({ seconds: 1 })).toThrow('no queries');
  expect(() => readDiagnosis({ findings: [] })).toThrow('no checked');
});

it('takes a query or a number of lost ones from tail', () => {
  const query = {
    time: '2026-11-24T06:00:00.000Z',
    client: '10.0.0.1',
    name: 'a.test.',
    type: 'A',
    rcode: 'NOERROR',
    answers: 1,
    milliseconds: 0.1,
    source: 'cache',
  };
  expect(readTail(query)).toBe(query);
  expect(readTail({ lost: 3 })).toEqual({ lost: 3 });
  expect(() => readTail({ ...query, lost: 'some', client: 7 })).toThrow('no client');
});
